//! The system bus, PID 1 and logind.

use tokio::time::Instant;

use super::{Places, before};
use crate::bus::polkit::set_linger;
use crate::bus::{
    CallError, Client, Door, DoorReport, Failure, FailureKind, LogindReport, Patience, Right,
    SystemBusReport, Unit, UserManagerUnit, dial,
};

/// What came of dialling the system's doors.
#[derive(Debug)]
pub(super) struct SystemAnswer {
    pub(super) report: SystemBusReport,
    /// The bus, whether or not PID 1 answers on it.
    pub(super) bus: Option<Client>,
    /// PID 1, if it answers at either door.
    pub(super) manager: Option<Client>,
}

/// Dials the system bus (and, as root, PID 1's own socket) and asks logind and PID 1 about `uid`.
pub(super) async fn system_bus(uid: u32, places: &Places, patience: Patience) -> SystemAnswer {
    let until = Instant::now() + patience.total;
    let root = rustix::process::geteuid().is_root();
    let (bus, private) = tokio::join!(
        dial(
            Door::SystemBus,
            &places.system_bus,
            places.system_owner,
            patience
        ),
        async {
            if root {
                Some(
                    dial(
                        Door::Private,
                        &places.system_private,
                        places.system_owner,
                        patience,
                    )
                    .await,
                )
            } else {
                None
            }
        }
    );
    let (bus_report, bus_client) = bus;
    let bus_answers = bus_report.answers();
    let mut doors = vec![bus_report];
    let mut private_client = None;
    if let Some((report, client)) = private {
        private_client = client.filter(|_| report.answers());
        doors.insert(0, report);
    }
    let manager = bus_client
        .clone()
        .filter(|_| bus_answers)
        .or(private_client);
    let (logind, (user_manager, user_manager_failure)) = tokio::join!(
        logind(bus_client.as_ref(), doors.last(), uid, until),
        user_manager(manager.as_ref(), uid, until)
    );
    let report = SystemBusReport {
        doors,
        logind,
        user_manager,
        user_manager_failure,
    };
    SystemAnswer {
        report,
        bus: bus_client,
        manager,
    }
}

async fn logind(
    client: Option<&Client>,
    bus: Option<&DoorReport>,
    uid: u32,
    until: Instant,
) -> LogindReport {
    let failed = |failure| LogindReport {
        failure,
        ..LogindReport::default()
    };
    let Some(client) = client.filter(|client| client.door == Door::SystemBus) else {
        let refusal = bus.and_then(DoorReport::refusal);
        return failed(refusal.map(|(_, why)| why.clone()));
    };
    let mut report = before(until, client.logind(uid))
        .await
        .unwrap_or_else(|mute| failed(Some(mute)));
    let own = rustix::process::geteuid();
    let user = report.user.as_ref();
    let lingers = user.and_then(|user| user.linger) == Some(true);
    if report.failure.is_none() && !lingers && !own.is_root() {
        let action = set_linger(own.as_raw() == uid);
        let right = before(until, client.right(action)).await;
        report.set_linger = Some(right.unwrap_or_else(Right::Unknown));
    }
    report
}

async fn user_manager(
    manager: Option<&Client>,
    uid: u32,
    until: Instant,
) -> (Option<UserManagerUnit>, Option<Failure>) {
    let Some(client) = manager else {
        return (
            None,
            Some(Failure::said(
                FailureKind::NoManager,
                "PID 1 could not be asked",
            )),
        );
    };
    let asking = async {
        let unit = client.unit(&format!("user@{uid}.service")).await?;
        Ok(match unit {
            Some(unit) => Some(user_manager_unit(unit)),
            None => masked(client, uid).await?,
        })
    };
    match before(until, asking).await {
        Ok(Ok(unit)) => (unit, None),
        Ok(Err::<_, CallError>(error)) => (None, Some(error.failure())),
        Err(mute) => (None, Some(mute)),
    }
}

/// A masked unit is seldom loaded; its file tells.
async fn masked(client: &Client, uid: u32) -> Result<Option<UserManagerUnit>, CallError> {
    let own = format!("user@{uid}.service");
    let files = client.installed_units(&[&own, "user@.service"]).await?;
    let masked = files.iter().any(|file| file.state.starts_with("masked"));
    Ok(masked.then(|| UserManagerUnit {
        load_state: "masked".to_owned(),
        active_state: "inactive".to_owned(),
        sub_state: "dead".to_owned(),
        ..UserManagerUnit::default()
    }))
}

fn user_manager_unit(unit: Unit) -> UserManagerUnit {
    UserManagerUnit {
        load_state: unit.load_state.unwrap_or_default(),
        active_state: unit.active_state.unwrap_or_default(),
        sub_state: unit.sub_state.unwrap_or_default(),
        result: unit.result.unwrap_or_default(),
        main_pid: unit.main_pid,
        active_enter_us: unit.active_enter_us,
    }
}
