//! The bus part of the second stage: one single-threaded runtime on a thread of its own.

use std::time::Duration;

use crate::bounded::{Started, start};
use crate::bus::{
    Failure, FailureKind, LogindReport, Patience, Placement, SessionBusReport, SystemBusReport,
};
use crate::host::bus_probe::{
    BusFacts, Managers, Places, Subject, linger_marker, probe, runtime_dir,
};
use crate::host::facts::{Fact, Gap, GapKind, ManagerKind, UnitFacts};
use crate::host::unit_probe::{dispatcher_units, from_unit};

/// What the buses say.
pub(super) struct Answers {
    /// Doors, logind, linger.
    pub(super) facts: BusFacts,
    /// Units as their managers describe them.
    pub(super) units: Vec<UnitFacts>,
    /// Why the managers could not be asked for theirs.
    pub(super) gap: Option<Gap>,
}

/// Starts to ask. `named` are units to ask for beside those that look like a dispatcher's.
pub(super) fn ask(
    subject: Subject,
    named: Vec<(String, ManagerKind)>,
    within: Duration,
) -> Started<Option<Answers>> {
    start("buses", move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .ok()?;
        Some(runtime.block_on(answers(&subject, &named, within)))
    })
}

async fn answers(subject: &Subject, named: &[(String, ManagerKind)], within: Duration) -> Answers {
    let usual = Patience::default();
    let patience = Patience {
        total: usual.total.min(within),
        stage: usual.stage.min(within),
    };
    let (facts, managers) = probe(subject, &Places::default(), patience).await;
    let (mut units, gap) = match dispatcher_units(&managers).await {
        Fact::Known(units) => (units, None),
        Fact::Unknown(gap) => (Vec::new(), Some(gap)),
    };
    for (name, manager) in named {
        let known = |unit: &UnitFacts| unit.name == *name && unit.manager == Some(*manager);
        if !units.iter().any(known) {
            units.extend(one(&managers, name, *manager).await);
        }
    }
    Answers { facts, units, gap }
}

async fn one(managers: &Managers, name: &str, manager: ManagerKind) -> Option<UnitFacts> {
    let client = match manager {
        ManagerKind::System => managers.system.as_ref(),
        ManagerKind::User => managers.user.as_ref(),
    };
    // What its manager has not loaded does not run; whether it is installed its file tells.
    let idle = || UnitFacts {
        name: name.to_owned(),
        manager: Some(manager),
        active_state: Some("inactive".to_owned()),
        ..UnitFacts::default()
    };
    let asked = client?.unit(name).await.ok()?;
    Some(asked.map_or_else(idle, |unit| from_unit(&unit, manager)))
}

/// Why nothing is known of units then.
pub(super) fn late_gap() -> Gap {
    Gap {
        kind: GapKind::Deadline,
        why: "the buses did not answer in time".to_owned(),
        would_tell: Vec::new(),
    }
}

/// What is left to say of buses that never answered.
pub(super) fn late(subject: &Subject) -> BusFacts {
    let places = Places::default();
    let mute = || Failure::said(FailureKind::Mute, "no answer before the deadline over all");
    BusFacts {
        runtime_dir: runtime_dir(subject, &places),
        session_bus: SessionBusReport {
            uid: subject.uid,
            doors: Vec::new(),
            placement: Placement::Unknown(mute()),
            not_tried: Some(mute()),
        },
        system_bus: SystemBusReport {
            doors: Vec::new(),
            logind: LogindReport {
                failure: Some(mute()),
                ..LogindReport::default()
            },
            user_manager: None,
            user_manager_failure: Some(mute()),
        },
        linger_marker: linger_marker(&places.linger, subject.name.as_deref().unwrap_or_default()),
    }
}
