//! The probes of everything between a dispatcher and its service manager: runtime directory, both
//! doors, system bus, logind, linger. They fill plain data and judge nothing; none of them starts or
//! changes anything.
//!
//! What a probe may still start by connecting: a user's bus is activated by its socket, so the first
//! connection may start `dbus-daemon` (dbus.service of the user manager), as any program's would.

mod doors;
mod system;

use std::{
    future::Future,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::{fs::FileType, io::Errno};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, timeout_at};

use super::placement::hindrance;
use super::runtime_dir::{Candidate, Kind, Origin, RuntimeDir, Seen};
use crate::bus::{
    Client, Door, DoorReport, Failure, FailureKind, LingerMarker, Patience, Placement,
    SessionBusReport, Stage, StageReport, SystemBusReport, failure_of,
};

pub use doors::{DOORS_COMMAND, door_paths, doors, doors_from_stdin};
use system::{SystemAnswer, system_bus};

/// What of the time is kept for the last question, after doors that used up all of theirs.
const GRACE: Duration = Duration::from_millis(100);

/// The places of a host, so that tests can have their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// Socket of the system bus.
    pub system_bus: PathBuf,
    /// PID 1's own socket; only root is let in.
    pub system_private: PathBuf,
    /// Who listens at both: root.
    pub system_owner: u32,
    /// Where linger is marked.
    pub linger: PathBuf,
    /// Where logind makes runtime directories.
    pub run_user: PathBuf,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            system_bus: "/run/dbus/system_bus_socket".into(),
            system_private: "/run/systemd/private".into(),
            system_owner: 0,
            linger: "/var/lib/systemd/linger".into(),
            run_user: "/run/user".into(),
        }
    }
}

/// Whose buses are probed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subject {
    /// The account.
    pub uid: u32,
    /// Its group, needed to become it.
    pub gid: u32,
    /// Its name, under which linger is marked.
    pub name: Option<String>,
    /// `XDG_RUNTIME_DIR` of the environment that is judged; empty counts as unset.
    pub runtime_dir: Option<String>,
}

/// Everything that the probes of this file find.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusFacts {
    /// The runtime directory.
    pub runtime_dir: RuntimeDir,
    /// The user manager's doors.
    pub session_bus: SessionBusReport,
    /// The system bus, PID 1, logind.
    pub system_bus: SystemBusReport,
    /// The marker of linger.
    pub linger_marker: LingerMarker,
}

/// The managers that answered, to be asked further about their units. A manager that does not answer
/// is not among them, so that nothing waits for it twice.
#[derive(Debug, Clone, Default)]
pub struct Managers {
    /// PID 1.
    pub system: Option<Client>,
    /// The user's. Root reaches it by its private socket.
    pub user: Option<Client>,
}

/// Probes all of it, both managers at once, in [`Patience::total`] at worst.
pub async fn probe(subject: &Subject, places: &Places, patience: Patience) -> (BusFacts, Managers) {
    let until = Instant::now() + patience.total;
    let patience = Patience {
        total: patience.total.saturating_sub(GRACE),
        ..patience
    };
    let runtime_dir = runtime_dir(subject, places);
    let (doors, system) = tokio::join!(
        doors::session_doors(subject, &runtime_dir, patience),
        system_bus(subject.uid, places, patience)
    );
    let SystemAnswer {
        report: system_bus,
        bus,
        manager: system,
    } = system;
    let (mut session_bus, user) = match doors {
        Ok((doors, user)) => (report(subject.uid, doors, None), user),
        Err(failure) => (report(subject.uid, Vec::new(), Some(failure)), None),
    };
    let runtime_dir = match session_bus.answering().and_then(folder) {
        Some(folder) => runtime_dir.answered_in(folder),
        None => runtime_dir,
    };
    session_bus.placement = place(&mut session_bus.doors, &system_bus, bus.as_ref(), until).await;
    let linger_marker = subject.name.as_deref().map_or_else(
        || unnamed(subject.uid),
        |name| linger_marker(&places.linger, name),
    );
    let facts = BusFacts {
        runtime_dir,
        session_bus,
        system_bus,
        linger_marker,
    };
    (facts, Managers { system, user })
}

/// The runtime directory in which a door is.
fn folder(door: &DoorReport) -> Option<&str> {
    let end = match door.door {
        Door::Private => "/systemd/private",
        _ => "/bus",
    };
    door.path.strip_suffix(end)
}

fn report(uid: u32, doors: Vec<DoorReport>, not_tried: Option<Failure>) -> SessionBusReport {
    let placement = Placement::Unknown(Failure::of(FailureKind::Unknown));
    SessionBusReport {
        uid,
        doors,
        placement,
        not_tried,
    }
}

fn unnamed(uid: u32) -> LingerMarker {
    let text = format!("uid {uid} has no name, and linger is marked by name");
    LingerMarker::Unknown(Failure::said(FailureKind::Unknown, text))
}

/// Looks at the runtime directories that the account might have.
#[must_use]
pub fn runtime_dir(subject: &Subject, places: &Places) -> RuntimeDir {
    let uid = subject.uid;
    let conventional = places
        .run_user
        .join(uid.to_string())
        .to_string_lossy()
        .into_owned();
    let named = subject
        .runtime_dir
        .as_deref()
        .filter(|path| !path.is_empty());
    let mut candidates = Vec::new();
    if let Some(path) = named {
        candidates.push(candidate(Origin::Environment, path, uid));
    }
    if named != Some(conventional.as_str()) {
        candidates.push(candidate(Origin::Conventional, &conventional, uid));
    }
    RuntimeDir::choose(uid, candidates)
}

fn candidate(origin: Origin, path: &str, uid: u32) -> Candidate {
    let seen = path.starts_with('/').then(|| look(Path::new(path)));
    Candidate::judge(origin, path, seen, uid)
}

fn look(path: &Path) -> Seen {
    match path.symlink_metadata() {
        Ok(found) => Seen::There {
            kind: match FileType::from_raw_mode(found.mode()) {
                FileType::Directory => Kind::Directory,
                FileType::Symlink => Kind::Link,
                _ => Kind::Other,
            },
            uid: found.uid(),
            mode: found.mode(),
            changed_at: found.ctime(),
            inode: found.ino(),
        },
        Err(error) => Seen::Not(failure_of(&error)),
    }
}

/// Looks for the marker of linger.
#[must_use]
pub fn linger_marker(folder: &Path, name: &str) -> LingerMarker {
    let is_absent = |path: &Path| match path.symlink_metadata() {
        Ok(_) => Ok(false),
        Err(error) if error.raw_os_error() == Some(Errno::NOENT.raw_os_error()) => Ok(true),
        Err(error) => Err(failure_of(&error)),
    };
    match (is_absent(&folder.join(name)), is_absent(folder)) {
        (Ok(false), _) => LingerMarker::Present,
        (Ok(true), Ok(true)) => LingerMarker::NoDirectory,
        (Ok(true), _) => LingerMarker::Absent,
        (Err(failure), _) => LingerMarker::Unknown(failure),
    }
}

/// Finds out whether the user manager can place processes, and adds that as the last stage of every
/// door at which it answers.
async fn place(
    doors: &mut [DoorReport],
    system: &SystemBusReport,
    client: Option<&Client>,
    until: Instant,
) -> Placement {
    let told = doors.iter().find_map(|door| door.manager.as_ref()?.pid);
    // Where no door is open to us, PID 1 still knows the user manager's process.
    let pid = told.or_else(|| system.user_manager.as_ref()?.main_pid);
    let placement = match (pid, hindrance(system)) {
        (None, _) => Placement::Unknown(Failure::said(
            FailureKind::Unknown,
            "no user manager whose process is known",
        )),
        (Some(_), Some(hindrance)) => hindrance,
        (Some(pid), None) => match client {
            Some(client) => before(until, client.placement(pid))
                .await
                .unwrap_or_else(Placement::Unknown),
            None => Placement::Unknown(Failure::of(FailureKind::NoSystemBus)),
        },
    };
    let failure = match &placement {
        Placement::Able => None,
        Placement::Unable(failure) | Placement::Unknown(failure) => Some(failure.clone()),
    };
    for door in doors.iter_mut().filter(|door| door.answers()) {
        let failure = failure.clone();
        door.stages.push(StageReport {
            stage: Stage::ManagerCanPlace,
            failure,
            ms: 0,
        });
    }
    placement
}

async fn before<T>(until: Instant, work: impl Future<Output = T>) -> Result<T, Failure> {
    let mute = || Failure::said(FailureKind::Mute, "no answer before the deadline over all");
    timeout_at(until, work).await.map_err(|_| mute())
}

#[cfg(test)]
mod tests;
