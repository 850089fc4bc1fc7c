//! Closing the row of an execution whose owner is gone: one that came to its end by what it has saved,
//! any other as interrupted, with an incident.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use jiff::tz::TimeZone;

use super::left_group::{Group, kill_left_in};
use super::{Dispatcher, blocking};
use crate::bus::ServiceManager as _;
use crate::child::leftovers::kill_marked;
use crate::cron::claim::Holder;
use crate::cron::finish::{self, Run, Settles};
use crate::cron::job::{Job, RawJob};
use crate::cron::jobs_file::Change;
use crate::cron::run::EXECUTION_VARIABLE;
use crate::cron::stamp::Stamp;
use crate::cron::worker::CANCELLED;
use crate::dispatch::ending::{Seen, cause};
use crate::dispatch::mode::Manager;
use crate::dispatch::placement::{Wish, open_door};
use crate::error::Result;
use crate::ledger::{Cause, Execution, ExecutionFacts, Owner, SlotAt, Status, rows};

/// Exit status of a worker that was asked to end.
const STOPPED: i32 = 1;
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
            self.forget_unit(id).await;
            return Ok(false);
        };
        let execution = id.to_owned();
        let facts = self
            .with_ledger(move |ledger| ledger.read(|c| rows::facts_of(c, &execution)))
            .await?
            .unwrap_or_default();
        let slot = self.slot_of(&row).await?;
        let seen = self.look_back(&facts, witnessed).await;
        if !seen.other_boot {
            let group = self.group_of(&facts);
            self.kill_what_is_left(id, group).await;
        }
        // Whoever asked for its end wrote down why.
        let known = facts.cause.clone().zip(facts.detail.clone());
        let (cause, detail) = known.unwrap_or_else(|| cause(&seen));
        let cancelled = is_cancelled(&facts);
        let why = (detail.as_str(), cancelled);
        let of = (&row, slot);
        if let Some(closed) = self.close_by_document(of, why, claim).await? {
            return Ok(closed);
        }
        let (told, detail) = match row.status {
            // Nobody had begun it.
            Status::Claimed => ("is given up: ", detail),
            _ => ("was ", format!("interrupted: {detail}")),
        };
        let closed = self.close_as_dead(&row, &facts, (cause, &detail)).await?;
        if closed {
            (self.parts.say)(&format!("Run {id} of job {} {told}{detail}.", row.job_id));
            let run = Ended {
                ok: false,
                error: Some(&detail),
                monitor_digest: None,
            };
            self.tell_job(of, run, claim).await;
        }
        Ok(closed)
    }

    /// What tells why a run ended.
    async fn look_back(&self, facts: &ExecutionFacts, witnessed: Witnessed) -> Seen {
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
            ..Seen::default()
        };
        self.look_at_unit(facts, &mut seen).await;
        seen
    }

    /// An interruption is a failure that somebody should see, unless somebody asked for it.
    async fn close_as_dead(
        &self,
        row: &Execution,
        facts: &ExecutionFacts,
        (cause, detail): (Cause, &str),
    ) -> Result<bool> {
        let (id, job_id, owner) = (row.id.clone(), row.job_id.clone(), owner_of(row));
        let cancelled = is_cancelled(facts);
        let (detail, now) = (detail.to_owned(), self.now());
        self.with_ledger(move |ledger| {
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

    /// The process group of what a worker ran; none in a unit, which ends with all that is in it, and none
    /// where the pids of the record are not ours.
    fn group_of(&self, facts: &ExecutionFacts) -> Option<Group> {
        let number = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
        let own = &self.parts.identity;
        let is_here = facts.boot_id.is_some() && facts.boot_id == own.boot_id;
        let is_ours = is_here
            && own
                .init_start
                .is_some_and(|start| number(facts.pid1_start) == Some(start));
        let group = Group {
            number: u32::try_from(facts.pgid?).ok()?,
            since: number(facts.worker_start)?,
        };
        (is_ours && facts.unit.is_none()).then_some(group)
    }

    /// Whatever the worker started and left: found by the mark in its environment, which goes along
    /// wherever a process goes, and by the group, whatever became of its environment.
    async fn kill_what_is_left(&self, id: &str, group: Option<Group>) {
        let id = id.to_owned();
        let kill = move || {
            let _killed = kill_marked(EXECUTION_VARIABLE, &id);
            let _killed = group.map(kill_left_in);
            Ok(())
        };
        let _as_far_as_it_went = blocking(kill).await;
    }

    async fn look_at_unit(&self, facts: &ExecutionFacts, seen: &mut Seen) {
        let Some(unit) = &facts.unit else { return };
        let Some(client) = open_door(&wish(facts)).await else {
            seen.manager_gone = true;
            return;
        };
        match client.end(unit).await {
            Ok(end) => seen.unit = Some(end),
            Err(_) => seen.manager_gone = true,
        }
        let _gone_is_stopped = client.stop(unit).await;
        let _gone_is_forgotten = client.forget(unit).await;
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

    /// A unit ends with its run, whatever else is left in it; one that failed after its run had ended
    /// stays until somebody forgets it.
    async fn forget_unit(&self, id: &str) {
        let id = id.to_owned();
        let facts = self
            .with_ledger(move |ledger| ledger.read(|c| rows::facts_of(c, &id)))
            .await;
        if let Ok(Some(facts)) = facts
            && let Some(unit) = &facts.unit
            && let Some(client) = open_door(&wish(&facts)).await
        {
            let _gone_is_stopped = client.stop(unit).await;
            let _gone_is_forgotten = client.forget(unit).await;
        }
    }

    /// Marks an end in the job, unless that was done by the run itself before it was gone.
    pub(super) async fn tell_job(
        &self,
        (row, slot): (&Execution, Option<SlotAt>),
        ended: Ended<'_>,
        claim: Option<&str>,
    ) {
        let (id, row, claim) = (row.job_id.clone(), row.clone(), claim.map(str::to_owned));
        let (ok, error) = (ended.ok, ended.error.map(str::to_owned));
        let digest = ended.monitor_digest.map(str::to_owned);
        let (zone, now) = (self.zone(), self.now());
        let told = self
            .with_jobs(move |jobs| {
                let Some(job) = jobs.find(&id) else {
                    return Ok(Change::Nothing(()));
                };
                let by = claim_of(job, &row, claim.as_deref());
                if by.is_none() && is_marked(job, &row) {
                    return Ok(Change::Nothing(()));
                }
                let run = Run {
                    ok,
                    error: error.as_deref(),
                    delivery_error: None,
                    with_agent: !Job::read(job).no_agent.is_true(),
                    manual: slot.is_none() && row.scheduled_instant.is_none(),
                    claim: by.as_deref(),
                    monitor_digest: digest.as_deref(),
                    settles: Settles::of(slot),
                };
                finish::mark(job, &run, now, &zone);
                Ok(Change::Write(()))
            })
            .await;
        if let Err(error) = told {
            (self.parts.say)(&format!(
                "A job could not be told of the end of its run: {}.",
                error.in_full()
            ));
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

/// How a run ended whose owner could not say so in its job.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended<'a> {
    pub(super) ok: bool,
    pub(super) error: Option<&'a str>,
    pub(super) monitor_digest: Option<&'a str>,
}

/// Whether somebody asked for the end of a run: that is no failure of it.
fn is_cancelled(facts: &ExecutionFacts) -> bool {
    facts.cause == Some(Cause::Other(CANCELLED.to_owned()))
}

/// The owner that a row names.
pub(super) fn owner_of(row: &Execution) -> Owner {
    Owner {
        process_id: row.process_id.clone(),
        pid: row.pid.and_then(|pid| u32::try_from(pid).ok()).unwrap_or(0),
        start_ticks: None,
    }
}

/// The claim of the job, where it is that of this run: it names the run's owner, or bears the mark of the
/// claim that was written for it. On any other claim another run hangs.
fn claim_of(job: &RawJob, row: &Execution, claim: Option<&str>) -> Option<String> {
    let by = Job::read(job).fire_claim()?.by.to_owned();
    let holder = Holder::parse(&by).pid.map(i64::from);
    let names_owner = holder.is_some() && holder == row.pid;
    let is_ours = names_owner || claim.is_some_and(|claim| is_same(&by, claim));
    is_ours.then_some(by)
}

/// Whether two claims are of one run: a worker that takes a claim over keeps its mark.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    let mark = Holder::parse(one).token;
    mark.is_some() && mark == Holder::parse(other).token
}

/// Whether the end of a run was marked in the job since this one began: its claim is gone, and so it was
/// its own.
fn is_marked(job: &RawJob, row: &Execution) -> bool {
    let ran = Job::read(job).last_run_at.text().and_then(Stamp::parse);
    let ran = ran.and_then(|stamp| stamp.instant(&TimeZone::UTC));
    let begun = row.claimed_at.as_ref().and_then(|claimed| claimed.at);
    matches!((ran, begun), (Some(ran), Some(begun)) if ran >= begun)
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

/// Which manager an execution's unit belongs to.
fn wish(facts: &ExecutionFacts) -> Wish {
    let uid = rustix::process::geteuid().as_raw();
    let system = facts.manager.as_deref() == Some("system");
    Wish {
        execution_id: facts.execution_id.clone(),
        description: String::new(),
        manager: if system {
            Manager::System
        } else {
            Manager::User
        },
        runtime_dir: Some(PathBuf::from(format!("/run/user/{uid}"))),
        uid,
        limits: crate::bus::Limits::default(),
    }
}
