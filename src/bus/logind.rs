//! Questions to logind about one account, and to the system bus about who is on it. Nothing is
//! started: logind is activatable, so its name must have an owner before it is asked.

use std::collections::HashMap;

use tokio::task::JoinSet;
use zbus::{OwnedObjectPath, OwnedVariant};

use super::{
    bag::Bag,
    client::{CallError, Client, Target},
    dial::BUS,
    report::{Failure, FailureKind, LogindReport, LogindSession, LogindUser, Placement},
};

const LOGIND: &str = "org.freedesktop.login1";
const LOGIND_OBJECT: Target<'static> = Target {
    name: LOGIND,
    path: "/org/freedesktop/login1",
    interface: "org.freedesktop.login1.Manager",
};
/// The error of `GetUser` for an account that is neither logged in nor lingering.
const NO_SUCH_USER: &str = "org.freedesktop.login1.NoSuchUser";

type SessionRow = (String, u32, String, String, OwnedObjectPath);

impl Client {
    /// All that logind knows of `uid`.
    pub async fn logind(&self, uid: u32) -> LogindReport {
        let mut report = LogindReport {
            failure: None,
            file_state: None,
            user: None,
            kill_user_processes: None,
            set_linger: None,
        };
        match self.ask_logind(uid).await {
            Ok((user, kills)) => {
                report.user = user;
                report.kill_user_processes = kills;
            }
            Err(failure) => {
                if failure.kind == FailureKind::NoManager {
                    report.file_state = self.logind_file_state().await;
                }
                report.failure = Some(failure);
            }
        }
        report
    }

    async fn ask_logind(&self, uid: u32) -> Result<(Option<LogindUser>, Option<bool>), Failure> {
        let owned: bool = self
            .call(BUS, "NameHasOwner", &LOGIND)
            .await
            .map_err(|error| error.failure())?;
        if !owned {
            return Err(Failure::said(
                FailureKind::NoManager,
                format!("{LOGIND} has no owner"),
            ));
        }
        let user = self
            .logind_user(uid)
            .await
            .map_err(|error| error.failure())?;
        let manager = self
            .properties_at(LOGIND, LOGIND_OBJECT.path, LOGIND_OBJECT.interface)
            .await;
        Ok((
            user,
            manager
                .ok()
                .and_then(|manager| bag(manager).flag("KillUserProcesses")),
        ))
    }

    async fn logind_user(&self, uid: u32) -> Result<Option<LogindUser>, CallError> {
        let path: OwnedObjectPath = match self.call(LOGIND_OBJECT, "GetUser", &uid).await {
            Ok(path) => path,
            Err(error) if error.name() == Some(NO_SUCH_USER) => return Ok(None),
            Err(error) => return Err(error),
        };
        let user = bag(self
            .properties_at(LOGIND, &path, "org.freedesktop.login1.User")
            .await?);
        Ok(Some(LogindUser {
            linger: user.flag("Linger"),
            state: user.word("State"),
            sessions: self.sessions_of(uid).await?,
        }))
    }

    async fn sessions_of(&self, uid: u32) -> Result<Vec<LogindSession>, CallError> {
        let rows: Vec<SessionRow> = self.call(LOGIND_OBJECT, "ListSessions", &()).await?;
        let mut sessions = Vec::new();
        for (id, _, _, _, path) in rows.into_iter().filter(|row| row.1 == uid) {
            // A session may end between the list and the question; then its id is all we have.
            let asked = self
                .properties_at(LOGIND, &path, "org.freedesktop.login1.Session")
                .await;
            let session = bag(asked.unwrap_or_default());
            sessions.push(LogindSession {
                id,
                class: session.word("Class"),
                r#type: session.word("Type"),
                state: session.word("State"),
                leader: session.pid("Leader"),
            });
        }
        Ok(sessions)
    }

    /// Why nobody owns logind's name: `masked` for a masked unit.
    async fn logind_file_state(&self) -> Option<String> {
        let files = self
            .installed_units(&["systemd-logind.service"])
            .await
            .ok()?;
        files.into_iter().next().map(|file| file.state)
    }

    /// Whether process `pid` holds a connection to this bus.
    ///
    /// This is what decides whether a user manager can place a process: it asks PID 1 over the
    /// system bus, and once that bus was restarted it has no connection there, for good.
    pub async fn holds_connection(&self, pid: u32) -> Result<bool, CallError> {
        let names: Vec<String> = self.call(BUS, "ListNames", &()).await?;
        let mut asking = JoinSet::new();
        for name in names.into_iter().filter(|name| name.starts_with(':')) {
            let client = self.clone();
            asking.spawn(async move {
                // A name may be gone by now; that is no answer to our question.
                client
                    .call::<_, u32>(BUS, "GetConnectionUnixProcessID", &name)
                    .await
                    .ok()
            });
        }
        while let Some(answer) = asking.join_next().await {
            if answer.is_ok_and(|holder| holder == Some(pid)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the user manager with this process can place foreign processes.
    pub async fn placement(&self, manager_pid: u32) -> Placement {
        match self.holds_connection(manager_pid).await {
            Ok(true) => Placement::Able,
            Ok(false) => Placement::Unable(Failure::said(
                FailureKind::LostSystemBus,
                format!("process {manager_pid} has no connection to the system bus"),
            )),
            Err(error) => Placement::Unknown(error.failure()),
        }
    }
}

fn bag(properties: HashMap<String, OwnedVariant>) -> Bag {
    let mut bag = Bag::default();
    bag.extend(properties);
    bag
}
