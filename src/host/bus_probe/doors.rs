//! The doors of a user manager, dialled as the account that owns them.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::Subject;
use crate::{
    bus::{Client, Door, DoorReport, Failure, FailureKind, Patience, Stage, StageReport, dial},
    child::own_self::ask_as,
    host::runtime_dir::RuntimeDir,
};

/// The hidden subcommand that answers [`doors_from_stdin`].
pub const DOORS_COMMAND: &str = "__doors";

/// What of the time is kept for the start of a child: a few milliseconds; on a busy host more.
const CHILD_START: Duration = Duration::from_millis(300);

/// What a child is asked to dial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct DoorsRequest {
    uid: u32,
    folder: String,
    stage_ms: u64,
    total_ms: u64,
}

/// Both doors, and the client of the manager, if it answers.
type Dialled = (Vec<DoorReport>, Option<Client>);

/// Dials the doors in every directory that may be believed, all at once: the first in which the manager
/// answers counts, else the first. As the account itself: directly, or from a child that becomes it,
/// because a user's bus lets not even root in.
pub(super) async fn session_doors(
    subject: &Subject,
    dir: &RuntimeDir,
    patience: Patience,
) -> Result<Dialled, Failure> {
    let mut folders = dir.believable();
    let Some(first) = folders.next() else {
        return Ok((doors_without_directory(dir), None));
    };
    let second = async {
        match folders.next() {
            Some(second) => Some(Box::pin(doors_in(subject, second, patience)).await),
            None => None,
        }
    };
    let first = Box::pin(doors_in(subject, first, patience));
    let (first, second) = tokio::join!(first, second);
    let answers = |dialled: &Result<Dialled, Failure>| {
        let doors = dialled.as_ref().map(|(doors, _)| doors.as_slice());
        doors.unwrap_or_default().iter().any(DoorReport::answers)
    };
    match second {
        Some(second) if answers(&second) && !answers(&first) => second,
        _ => first,
    }
}

async fn doors_in(subject: &Subject, folder: &str, patience: Patience) -> Result<Dialled, Failure> {
    let own = rustix::process::geteuid().as_raw();
    if own == subject.uid {
        return Ok(doors(subject.uid, folder, patience).await);
    }
    if own != 0 {
        let text = format!("the doors of uid {} are not open to uid {own}", subject.uid);
        return Err(Failure::said(FailureKind::PermissionDenied, text));
    }
    let [private, _] = door_paths(folder);
    let (doors, (report, client)) = tokio::join!(
        doors_of_child(subject, folder, patience),
        dial(Door::Private, &private, subject.uid, patience)
    );
    Ok((doors?, client.filter(|_| report.answers())))
}

async fn doors_of_child(
    subject: &Subject,
    folder: &str,
    patience: Patience,
) -> Result<Vec<DoorReport>, Failure> {
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let request = DoorsRequest {
        uid: subject.uid,
        folder: folder.to_owned(),
        stage_ms: millis(patience.stage),
        total_ms: millis(patience.total.saturating_sub(CHILD_START)),
    };
    let input = serde_json::to_vec(&request).map_err(|error| unknown(&error))?;
    let account = (subject.uid, subject.gid);
    let output = ask_as(account, &[DOORS_COMMAND], &input, patience.total).await;
    serde_json::from_slice(&output.map_err(|error| unknown(&error))?)
        .map_err(|error| unknown(&error))
}

fn unknown(error: &dyn std::error::Error) -> Failure {
    Failure::said(
        FailureKind::Unknown,
        format!("asking as that account: {error}"),
    )
}

/// The answer of the hidden subcommand: dials what the request names and returns the reports as JSON.
pub async fn doors_from_stdin(request: &[u8]) -> serde_json::Result<Vec<u8>> {
    let request: DoorsRequest = serde_json::from_slice(request)?;
    let patience = Patience {
        stage: Duration::from_millis(request.stage_ms),
        total: Duration::from_millis(request.total_ms),
    };
    let (reports, _) = doors(request.uid, &request.folder, patience).await;
    serde_json::to_vec(&reports)
}

/// Dials both doors in a runtime directory, at once. The client is that of the first door at which the
/// manager answers, the private one first.
pub async fn doors(
    uid: u32,
    folder: &str,
    patience: Patience,
) -> (Vec<DoorReport>, Option<Client>) {
    let [private, bus] = door_paths(folder);
    let ((mut private, private_client), (mut bus, bus_client)) = tokio::join!(
        dial(Door::Private, &private, uid, patience),
        dial(Door::SessionBus, &bus, uid, patience)
    );
    let by_private = private_client.filter(|_| private.answers());
    let by_bus = bus_client.filter(|_| bus.answers());
    for report in [&mut private, &mut bus] {
        let passed = StageReport {
            stage: Stage::RuntimeDir,
            failure: None,
            ms: 0,
        };
        report.stages.insert(0, passed);
    }
    (vec![private, bus], by_private.or(by_bus))
}

/// The private socket and the bus of a user manager.
#[must_use]
pub fn door_paths(folder: &str) -> [PathBuf; 2] {
    let folder = Path::new(folder);
    [folder.join("systemd/private"), folder.join("bus")]
}

/// Both doors, neither of them tried, because there is no directory to believe.
fn doors_without_directory(dir: &RuntimeDir) -> Vec<DoorReport> {
    let last = dir
        .candidates
        .last()
        .map(|last| last.path.clone())
        .unwrap_or_default();
    let [private, bus] = door_paths(&last);
    [(Door::Private, private), (Door::SessionBus, bus)]
        .map(|(door, path)| DoorReport {
            door,
            path: path.to_string_lossy().into_owned(),
            stages: vec![StageReport {
                stage: Stage::RuntimeDir,
                failure: dir.refusal().cloned(),
                ms: 0,
            }],
            manager: None,
        })
        .into()
}
