//! A worker places itself outside of its dispatcher's cgroup: a scope around its own pid, and where the
//! move is refused, a service that is given its three pipes. Run by the worker, before it reads its
//! payload, so that nothing is adopted by a process that a restart would kill.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use super::handover::{Mechanism, PLACING};
use super::mode::Manager;
use crate::bus::{
    Client, Door, Limits, Patience, Scope, Service, ServiceManager, StartError, dial,
};

/// What a worker asks for.
#[derive(Clone, Debug)]
pub struct Wish {
    /// The execution, whose id makes the unit's name.
    pub execution_id: String,
    /// What people see in `systemctl status`.
    pub description: String,
    /// Which manager.
    pub manager: Manager,
    /// Its way to PID 1 is known to hang, and it would hang at a scope: a service is asked for at once.
    pub services_only: bool,
    /// Runtime directory of the user manager.
    pub runtime_dir: Option<PathBuf>,
    /// The uid that runs this.
    pub uid: u32,
    /// Limits on the unit.
    pub limits: Limits,
}

/// Where the worker is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placed {
    /// In a unit of its own.
    In {
        /// How it came there.
        mechanism: Mechanism,
        /// The unit.
        unit: String,
        /// Properties that this systemd did not take.
        dropped: Vec<String>,
    },
    /// A service has taken the three pipes and goes on in our place: this process must end.
    HandedOn {
        /// The unit.
        unit: String,
    },
    /// Where it was.
    Nowhere {
        /// What stood in the way.
        because: String,
    },
}

/// Start of the name of every unit that we make.
pub const UNIT_PREFIX: &str = "hermes-worker-";

/// The unit that a worker of this execution is in already, by its own cgroup: then it was started as
/// the service.
#[must_use]
pub fn placed_in(cgroup: &str, execution_id: &str) -> Option<String> {
    let unit = cgroup.rsplit('/').find(|part| !part.is_empty())?;
    let start = format!("{UNIT_PREFIX}{execution_id}-");
    unit.starts_with(&start).then(|| unit.to_owned())
}

/// The execution for which a unit was made, by its name.
#[must_use]
pub fn execution_of(unit: &str) -> Option<&str> {
    let (id, _fresh) = unit.strip_prefix(UNIT_PREFIX)?.rsplit_once('-')?;
    Some(id)
}

/// A fresh name: a failed unit keeps its own.
fn unit_name(execution_id: &str, kind: &str) -> String {
    let fresh = Uuid::new_v4().simple().to_string();
    format!(
        "{UNIT_PREFIX}{execution_id}-{}.{kind}",
        fresh.get(..8).unwrap_or(&fresh)
    )
}

/// Places this process, within [`PLACING`].
pub async fn place(wish: &Wish, argv: &[String]) -> Placed {
    let until = Instant::now() + PLACING;
    let Some(client) = open_door(wish).await else {
        let because = format!("the {} manager does not answer", wish.manager.word());
        return Placed::Nowhere { because };
    };
    let refused = if wish.services_only {
        "the manager would hang at one".to_owned()
    } else {
        match try_scope(&client, wish, until).await {
            Ok(placed) => return placed,
            Err(refused) => refused,
        }
    };
    if Instant::now() >= until {
        // Whoever did not answer in that time would start a service for which nobody waits any more.
        let because = format!("no scope ({refused})");
        return Placed::Nowhere { because };
    }
    match try_service(&client, wish, argv, until).await {
        Ok(placed) => placed,
        Err(also) => Placed::Nowhere {
            because: format!("no scope ({refused}), and no service ({also})"),
        },
    }
}

/// The doors of the manager, the private one first: it needs no bus daemon.
fn doors(wish: &Wish) -> Vec<(Door, PathBuf, u32)> {
    match (wish.manager, &wish.runtime_dir) {
        (Manager::System, _) => vec![
            (Door::Private, PathBuf::from("/run/systemd/private"), 0),
            (
                Door::SystemBus,
                PathBuf::from("/run/dbus/system_bus_socket"),
                0,
            ),
        ],
        (Manager::User, Some(directory)) => vec![
            (Door::Private, directory.join("systemd/private"), wish.uid),
            (Door::SessionBus, directory.join("bus"), wish.uid),
        ],
        (Manager::User, None) => Vec::new(),
    }
}

/// The first door behind which the manager answers.
pub async fn open_door(wish: &Wish) -> Option<Client> {
    for (door, path, owner) in doors(wish) {
        let (report, client) = dial(door, &path, owner, Patience::default()).await;
        // A manager that is on its way down places nothing, and takes along what it has.
        let stopping = |state: &str| state == "stopping";
        let state = report
            .manager
            .as_ref()
            .and_then(|manager| manager.state.as_deref());
        if report.answers() && !state.is_some_and(stopping) {
            return client;
        }
    }
    None
}

async fn try_scope(client: &Client, wish: &Wish, until: Instant) -> Result<Placed, String> {
    let scope = Scope {
        name: unit_name(&wish.execution_id, "scope"),
        description: wish.description.clone(),
        pids: vec![std::process::id()],
        limits: wish.limits.clone(),
    };
    let within = until.saturating_duration_since(Instant::now());
    match timeout_at(until, client.place(&scope, within)).await {
        Err(_) => Err("no end of the job within its time".to_owned()),
        // The reply alone says nothing: our own cgroup does.
        Ok(Ok(started)) if is_in(&scope.name) => Ok(Placed::In {
            mechanism: Mechanism::Scope,
            unit: started.unit,
            dropped: started.dropped.into_iter().map(str::to_owned).collect(),
        }),
        Ok(Ok(_)) => Err("the job ended well, and this process did not move".to_owned()),
        Ok(Err(error)) => {
            forget_failed(client, &scope.name, &error).await;
            Err(error.to_string())
        }
    }
}

async fn try_service(
    client: &Client,
    wish: &Wish,
    argv: &[String],
    until: Instant,
) -> Result<Placed, String> {
    let own = |fd: std::io::Result<OwnedFd>| fd.map_err(|error| error.to_string());
    let service = Service {
        name: unit_name(&wish.execution_id, "service"),
        description: wish.description.clone(),
        argv: argv.to_vec(),
        environment: Vec::new(),
        directory: None,
        stdio: [
            own(std::io::stdin().as_fd().try_clone_to_owned())?,
            own(std::io::stdout().as_fd().try_clone_to_owned())?,
            own(std::io::stderr().as_fd().try_clone_to_owned())?,
        ],
        limits: wish.limits.clone(),
    };
    let within = until.saturating_duration_since(Instant::now());
    match timeout_at(until, client.launch(&service, within)).await {
        Err(_) => Err("no end of the job within its time".to_owned()),
        Ok(Ok(started)) => Ok(Placed::HandedOn { unit: started.unit }),
        Ok(Err(error)) => {
            forget_failed(client, &service.name, &error).await;
            Err(error.to_string())
        }
    }
}

/// A failed unit stays until somebody forgets it.
async fn forget_failed(client: &Client, unit: &str, error: &StartError) {
    if matches!(error, StartError::Failed { .. }) {
        let _gone_is_fine = client.forget(unit).await;
    }
}

fn is_in(unit: &str) -> bool {
    own_cgroup().is_some_and(|cgroup| cgroup.rsplit('/').next() == Some(unit))
}

/// The cgroup of this process: the unified line, else systemd's own of version 1.
#[must_use]
pub fn own_cgroup() -> Option<String> {
    let text = fs_err::read_to_string(Path::new("/proc/self/cgroup")).ok()?;
    let unified = text.lines().find_map(|line| line.strip_prefix("0::"));
    let legacy = || {
        text.lines()
            .find_map(|line| line.split_once(":name=systemd:"))
            .map(|(_, path)| path)
    };
    unified
        .filter(|path| *path != "/")
        .or_else(legacy)
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_knows_that_it_is_the_service() {
        let cgroup = "/user.slice/user@990.service/app.slice/hermes-worker-abc-12345678.service";
        assert_eq!(
            placed_in(cgroup, "abc").as_deref(),
            Some("hermes-worker-abc-12345678.service")
        );
        assert_eq!(placed_in(cgroup, "abd"), None);
        assert_eq!(placed_in("/system.slice/hermes.service", "abc"), None);
        assert_eq!(placed_in("/", "abc"), None);
    }

    #[test]
    fn names_are_fresh() {
        assert_ne!(unit_name("abc", "scope"), unit_name("abc", "scope"));
        let cgroup = format!("/app.slice/{}", unit_name("abc", "scope"));
        assert!(placed_in(&cgroup, "abc").is_some());
        assert_eq!(execution_of(&unit_name("a-bc", "service")), Some("a-bc"));
        assert_eq!(execution_of("hermes.service"), None);
    }

    #[test]
    fn without_a_runtime_directory_the_user_manager_has_no_door() {
        let wish = Wish {
            execution_id: "abc".into(),
            description: String::new(),
            manager: Manager::User,
            services_only: false,
            runtime_dir: None,
            uid: 990,
            limits: Limits::default(),
        };
        assert!(doors(&wish).is_empty());
    }
}
