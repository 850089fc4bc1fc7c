//! Ends a run that somebody no longer wants: the cause is written first, then its worker is asked to
//! end, once it is certain that the process is that worker and nobody else by now.

use std::time::Duration;

use jiff::Timestamp;

use super::owner_probe::{boot_of, liveness, seen_of, ticks};
use super::worker::cancelled;
use crate::child::spawn::Watch;
use crate::dispatch::handover::offer_left;
use crate::error::{Error, Kind, Result};
use crate::host::identity_probe::OwnIdentity;
use crate::host::liveness::{Identity, Liveness};
use crate::ledger::{Execution, ExecutionFacts, Ledger, Status};
use crate::output::human;

/// A worker gives what it runs 10 s to end, then makes it end, and then writes what became of it.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// What is to be done about a run.
#[derive(Debug)]
pub enum Target {
    /// Its worker lives, and is held so that nobody else is meant by its pid.
    Worker {
        /// Its pid.
        pid: u32,
        /// The hold on it.
        watch: Watch,
    },
    /// It has ended already.
    Ended(Status),
    /// Nobody runs it any more, though its row says so.
    Abandoned,
}

/// Looks who runs an execution.
///
/// # Errors
/// When nobody of ours runs it, it has not begun, or who runs it cannot be told.
pub fn look(row: &Execution, facts: Option<&ExecutionFacts>, own: &OwnIdentity) -> Result<Target> {
    if !row.status.is_open() {
        return Ok(Target::Ended(row.status.clone()));
    }
    let recorded = facts.and_then(|facts| {
        let pid = u32::try_from(facts.worker_pid?).ok()?;
        Some((pid, facts.worker_start, facts))
    });
    let Some((pid, start, facts)) = recorded else {
        return without_worker(row, own);
    };
    let watch = Watch::of(pid)?;
    let recorded = Identity {
        pid,
        start_ticks: ticks(start),
        boot: boot_of(facts),
        ..Identity::default()
    };
    // Looked at after it is held: the pid cannot pass to somebody else in between.
    match (liveness(&recorded, own), watch) {
        (Liveness::Alive, Some(watch)) => Ok(Target::Worker { pid, watch }),
        (liveness, _) if liveness.is_over() => Ok(Target::Abandoned),
        (Liveness::Alive, None) => Ok(Target::Abandoned),
        (liveness, _) => Err(Error::new(
            Kind::Refused,
            format!("whether pid {pid} is still its worker cannot be told ({liveness:?})"),
        )
        .with_hint("nothing was stopped; look at it with: hermes cron doctor --only ledger")),
    }
}

/// A row that no worker of ours has adopted.
fn without_worker(row: &Execution, own: &OwnIdentity) -> Result<Target> {
    if seen_of(row, None, own).is_over() {
        return Ok(Target::Abandoned);
    }
    let pid = row.pid.unwrap_or_default();
    Err(if row.status == Status::Claimed {
        Error::new(
            Kind::Busy,
            format!("it is being handed to its worker by pid {pid}"),
        )
        .with_hint("try again in a moment")
    } else {
        Error::new(
            Kind::Refused,
            format!("pid {pid} runs it inside itself, and is no worker of ours"),
        )
        .with_hint("Hermes Agent ends its own runs; a signal would end all that it does")
    })
}

/// Writes the cause and asks the worker to end. It sees the cause, and writes the end itself.
///
/// # Errors
/// When the cause cannot be written: then nothing is asked of anybody.
pub fn cancel(ledger: &Ledger, id: &str, watch: &Watch, now: Timestamp) -> Result<()> {
    ledger.record_cause(id, &cancelled(), "a person asked for its end", now)?;
    watch.ask_to_end()
}

/// What is told of a run that was cancelled before anybody had begun it.
const NEVER_BEGAN: &str = "a person cancelled it before it began";

/// Writes down that a run which nobody has begun, and whose dispatcher is gone, is not wanted any more. The
/// next sweep closes its row by that, instead of running it after all.
///
/// # Errors
/// While a worker may be on its way with it, and when the cause cannot be written.
pub fn give_up(ledger: &Ledger, row: &Execution, now: Timestamp) -> Result<()> {
    if let Some(left) = offer_left(row, now) {
        let message = "it is on offer, and a worker may be on its way with it";
        let hint = format!(
            "try again in {}: hermes cron cancel {}",
            human::span(left.as_secs_f64().ceil()),
            row.id
        );
        return Err(Error::new(Kind::Busy, message).with_hint(hint));
    }
    ledger
        .record_cause(&row.id, &cancelled(), NEVER_BEGAN, now)
        .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::identity_probe::own_identity;

    fn row(status: Status, pid: u32) -> Execution {
        Execution {
            id: "e".to_owned(),
            job_id: "j".to_owned(),
            source: "direct".to_owned(),
            process_id: "p".to_owned(),
            pid: Some(i64::from(pid)),
            process_started_at: None,
            status,
            handoff_pending: false,
            handoff_started_at: None,
            claimed_at: None,
            started_at: None,
            finished_at: None,
            error: None,
            delivery_outcome: None,
            scheduled_instant: None,
            progress_at: None,
        }
    }

    fn worker(pid: u32, start: Option<u64>) -> ExecutionFacts {
        ExecutionFacts {
            worker_pid: Some(i64::from(pid)),
            worker_start: start.and_then(|start| i64::try_from(start).ok()),
            ..ExecutionFacts::default()
        }
    }

    #[test]
    fn only_the_very_worker_is_asked() {
        let own = own_identity();
        let running = row(Status::Running, own.pid);
        let this = worker(own.pid, own.start_ticks);
        assert!(matches!(
            look(&running, Some(&this), &own).unwrap(),
            Target::Worker { .. }
        ));
        let another = worker(own.pid, Some(1));
        assert!(matches!(
            look(&running, Some(&another), &own).unwrap(),
            Target::Abandoned
        ));
        let rebooted = ExecutionFacts {
            boot_id: Some("00000000-0000-0000-0000-000000000000".to_owned()),
            ..this
        };
        assert!(matches!(
            look(&running, Some(&rebooted), &own).unwrap(),
            Target::Abandoned
        ));
    }

    #[test]
    fn a_run_of_the_other_program_is_left_to_it() {
        let own = own_identity();
        let error = look(&row(Status::Running, own.pid), None, &own).unwrap_err();
        assert_eq!(error.kind(), Kind::Refused);
        let error = look(&row(Status::Claimed, own.pid), None, &own).unwrap_err();
        assert_eq!(error.kind(), Kind::Busy);
        let gone = look(&row(Status::Running, u32::MAX), None, &own).unwrap();
        assert!(matches!(gone, Target::Abandoned));
        let ended = look(&row(Status::Failed, own.pid), None, &own).unwrap();
        assert!(matches!(ended, Target::Ended(Status::Failed)));
    }
}
