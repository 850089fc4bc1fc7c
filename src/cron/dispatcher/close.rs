//! Closing the row of an execution whose owner is gone: one that came to its end by what it has saved,
//! any other as interrupted, with an incident.

use std::process::ExitStatus;
use std::time::Duration;

use super::left_group::kill_left_in;
use super::units::{end_units_by, wish};
use super::{Dispatcher, blocking};
use crate::bus::ServiceManager as _;
use crate::child::leftovers::kill_marked;
use crate::cron::run::EXECUTION_VARIABLE;
use crate::cron::worker::cancelled;
use crate::dispatch::ending::{ASKED_TO_END, Seen, cause};
use crate::dispatch::placement::open_door;
use crate::error::Result;
use crate::fault;
use crate::ledger::{Cause, Execution, ExecutionFacts, Group, Owner, Status, Untold, rows};

/// Exit status of a worker that was asked to end.
const STOPPED: i32 = 1;
/// How long after a worker this process may be asked to stop by the same stop of its unit.
const TOGETHER: Duration = Duration::from_secs(3);
/// How often, and how long after each other, it is looked whether a manager ends.
const LOOKS: u32 = 20;
/// See [`LOOKS`].
pub(super) const LOOK_AGAIN: Duration = Duration::from_millis(100);

impl Dispatcher {
    /// Closes the row of an execution whose owner has ended, if it is still open. Whatever it started
    /// is killed first. Returns whether there was something to close.
    pub(super) async fn close(
        &self,
        id: &str,
        witnessed: Witnessed,
        claim: Option<&str>,
    ) -> Result<bool> {
        let Some(row) = self.row(id).await?.filter(|row| row.status.is_open()) else {
            self.forget_units(id).await;
            return Ok(false);
        };
        let execution = id.to_owned();
        let facts = self
            .with_ledger(move |ledger| ledger.read(|c| rows::facts_of(c, &execution)))
            .await?
            .unwrap_or_default();
        let seen = self.look_back(id, &facts, witnessed).await;
        if !seen.other_boot {
            let groups = self.groups_of(&facts).await?;
            self.kill_what_is_left(id, groups).await;
        }
        // Whoever asked for its end wrote down why.
        let mut known = facts.cause.clone().zip(facts.detail.clone());
        if known.is_none() && witnessed == Witnessed::Nothing {
            let lapsed = self.lapsed(&row, &facts).await?;
            known = lapsed.map(|why| (Cause::CannotTell, why));
        }
        let (cause, detail) = known.unwrap_or_else(|| cause(&seen));
        let cancelled = is_cancelled(&facts);
        let why = (detail.as_str(), cancelled);
        if let Some(closed) = self.close_by_document(&row, why, claim).await? {
            return Ok(closed);
        }
        let (told, detail) = match row.status {
            // Nobody had begun it.
            Status::Claimed => ("is given up: ", detail),
            _ => ("was ", format!("interrupted: {detail}")),
        };
        let closed = self
            .close_as_dead((&row, &facts), (cause, &detail), claim)
            .await?;
        if closed {
            fault::point("dispatcher.closed");
            (self.parts.say)(&format!("Run {id} of job {} {told}{detail}.", row.job_id));
            self.tell_of_ends(Some(id)).await?;
        }
        Ok(closed)
    }

    /// What tells why a run ended.
    async fn look_back(&self, id: &str, facts: &ExecutionFacts, witnessed: Witnessed) -> Seen {
        use std::os::unix::process::ExitStatusExt as _;
        let status = match witnessed {
            Witnessed::Exit(status) => Some(status),
            Witnessed::End | Witnessed::Nothing => None,
        };
        let mut seen = Seen {
            other_boot: self.is_of_another_boot(facts),
            signal: status.and_then(|status| status.signal()),
            exit: status.and_then(|status| status.code()),
            dispatcher_gone: witnessed == Witnessed::Nothing && facts.mode == "degraded",
            asked_to_end: facts.detail.as_deref() == Some(ASKED_TO_END),
            ..Seen::default()
        };
        seen.dispatcher_stops = seen.asked_to_end && self.is_being_stopped().await;
        self.look_at_unit(id, facts, &mut seen).await;
        seen
    }

    /// An interruption is a failure that somebody should see, unless somebody asked for it.
    async fn close_as_dead(
        &self,
        (row, facts): (&Execution, &ExecutionFacts),
        (cause, detail): (Cause, &str),
        claim: Option<&str>,
    ) -> Result<bool> {
        let (id, job_id, owner) = (row.id.clone(), row.job_id.clone(), owner_of(row));
        let cancelled = is_cancelled(facts);
        let (detail, now) = (detail.to_owned(), self.now());
        let untold = Untold {
            execution_id: id.clone(),
            claim: claim.map(str::to_owned),
            error: Some(detail.clone()),
            ..Untold::default()
        };
        self.with_ledger(move |ledger| {
            // First: a kill after the end leaves a job that is told by whoever comes next.
            ledger.record_untold(&untold, &owner)?;
            let closed = ledger.finish_dead(&id, &owner, (&cause, &detail), now)?;
            if closed && !cancelled {
                ledger.record_failure(&job_id, &detail, None, now)?;
            }
            Ok(closed)
        })
        .await
    }

    /// Another PID 1 of the same boot is another container, which may live beside this one.
    fn is_of_another_boot(&self, facts: &ExecutionFacts) -> bool {
        let own = &self.parts.identity.boot_id;
        matches!((&facts.boot_id, own), (Some(then), Some(now)) if then != now)
    }

    /// The process groups of what a worker ran; none in a unit, which ends with all that is in it, and none
    /// where the pids of the record are not ours.
    async fn groups_of(&self, facts: &ExecutionFacts) -> Result<Vec<Group>> {
        let own = &self.parts.identity;
        let start = facts.pid1_start.and_then(|start| u64::try_from(start).ok());
        let is_here = facts.boot_id.is_some() && facts.boot_id == own.boot_id;
        let is_ours = is_here && start.is_some() && start == own.init_start;
        if !is_ours || facts.unit.is_some() {
            return Ok(Vec::new());
        }
        let id = facts.execution_id.clone();
        self.with_ledger(move |ledger| ledger.groups_of(&id)).await
    }

    /// Whatever the worker started and left: found by the mark in its environment, which goes along
    /// wherever a process goes, and by its groups, whatever became of its environment.
    async fn kill_what_is_left(&self, id: &str, groups: Vec<Group>) {
        let id = id.to_owned();
        let kill = move || {
            let _killed = kill_marked(EXECUTION_VARIABLE, &id);
            for group in groups {
                let _killed = kill_left_in(group);
            }
            Ok(())
        };
        let _as_far_as_it_went = blocking(kill).await;
    }

    /// Whether this process is being stopped, or will be within a moment: a stop of the unit asks all that is
    /// in it at once.
    async fn is_being_stopped(&self) -> bool {
        let mut stopping = self.stopping.subscribe();
        let stopped = stopping.wait_for(|stopping| *stopping);
        matches!(tokio::time::timeout(TOGETHER, stopped).await, Ok(Ok(_)))
    }

    async fn look_at_unit(&self, id: &str, facts: &ExecutionFacts, seen: &mut Seen) {
        let Some(unit) = &facts.unit else {
            return self.end_units(id, facts).await;
        };
        let Some(client) = open_door(&wish(facts)).await else {
            seen.manager_gone = true;
            return;
        };
        match client.end(unit).await {
            Ok(end) => seen.unit = Some(end),
            Err(_) => seen.manager_gone = true,
        }
        end_units_by(&client, id).await;
        // The worker was asked to end, and left it to us to learn why: its unit was stopped, by
        // somebody, or with the whole manager, which then goes as well.
        let asked = seen.signal.is_none() && seen.exit.is_none_or(|status| status == STOPPED);
        if seen.unit == Some(crate::bus::UnitEnd::Gone) && asked {
            seen.manager_gone = is_going(facts).await;
            if !seen.manager_gone && seen.exit == Some(STOPPED) {
                seen.signal = Some(15);
            }
        }
    }

    /// A unit ends with its run, whatever else is left in it.
    async fn forget_units(&self, id: &str) {
        let execution = id.to_owned();
        let facts = self
            .with_ledger(move |ledger| ledger.read(|c| rows::facts_of(c, &execution)))
            .await;
        if let Ok(Some(facts)) = facts {
            self.end_units(id, &facts).await;
        }
    }
}

/// What this process has seen of the end of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Witnessed {
    /// It was our child, and ended so.
    Exit(ExitStatus),
    /// It was somebody else's, lived while this process did, and is gone: no restart took it along.
    End,
    /// It was gone when this process came.
    Nothing,
}

/// Whether somebody asked for the end of a run: that is no failure of it.
fn is_cancelled(facts: &ExecutionFacts) -> bool {
    facts.cause == Some(cancelled())
}

/// The owner that a row names.
pub(super) fn owner_of(row: &Execution) -> Owner {
    Owner {
        process_id: row.process_id.clone(),
        pid: row.pid.and_then(|pid| u32::try_from(pid).ok()).unwrap_or(0),
        start_ticks: None,
    }
}

/// Whether the manager of an execution's unit ends, within a moment.
async fn is_going(facts: &ExecutionFacts) -> bool {
    for _ in 0..LOOKS {
        if open_door(&wish(facts)).await.is_none() {
            return true;
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    false
}
