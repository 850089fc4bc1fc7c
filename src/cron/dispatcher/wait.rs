//! Waiting for ends, and closing the rows of owners that are proved dead. Whoever learns of an end
//! writes it; an owner that cannot be checked is never dead.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::{Dispatcher, Fate, Order, blocking};
use crate::bus::ServiceManager as _;
use crate::child::leftovers::kill_marked;
use crate::child::spawn::Watch;
use crate::cron::finish::{self, Run, Settles};
use crate::cron::job::Job;
use crate::cron::jobs_file::Change;
use crate::cron::run::EXECUTION_VARIABLE;
use crate::dispatch::ending::{Seen, cause};
use crate::dispatch::launcher::Worker;
use crate::dispatch::mode::Manager;
use crate::dispatch::placement::{Wish, open_door};
use crate::error::Result;
use crate::host::liveness::{BootMark, Identity, Liveness, judge};
use crate::host::liveness_probe;
use crate::ledger::{Execution, ExecutionFacts, Owner, Status, rows};

/// A row that was just offered, or just claimed, is left alone for so long: the handover's time.
const HANDOVER: Duration = crate::dispatch::handover::DEADLINE;
/// Exit status of a worker that was asked to end.
const STOPPED: i32 = 1;
/// How often, and how long after each other, it is looked whether a manager ends.
const LOOKS: u32 = 20;
/// See [`LOOKS`].
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// How often it is looked at a run of another dispatcher whose owner lives.
const STRANGER: Duration = Duration::from_secs(5);
/// Most open rows that one sweep looks at.
const MOST: u32 = 1000;

/// What a sweep found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Executions whose owner is proved dead, closed now.
    pub closed: Vec<String>,
    /// Executions that go on in a worker whose dispatcher is gone: to be waited for.
    pub alive: Vec<String>,
    /// Slots that were claimed and never adopted, by a dispatcher that is gone: to be run after all.
    pub unadopted: Vec<(String, jiff::Timestamp)>,
}

impl Dispatcher {
    /// A fate where a run of the job goes on already, in a worker that may be another dispatcher's.
    pub(super) async fn runs_already(&self, order: &Order) -> Result<Option<Fate>> {
        let job_id = Job::read(&order.job).id().unwrap_or_default().to_owned();
        let open = self
            .with_ledger(move |ledger| ledger.read(|c| rows::open_executions(c, MOST)))
            .await?
            .unwrap_or_default();
        let of_job = |row: &Execution| row.job_id == job_id && !self.was_left_behind(row);
        for row in open.into_iter().filter(of_job) {
            if !self.liveness(&row, None).await?.is_over() {
                let since = row.claimed_at.map(|stamp| stamp.text).unwrap_or_default();
                let reason = format!("a run of it is still going on ({}, since {since})", row.id);
                return Ok(Some(Fate::Skipped(reason)));
            }
        }
        Ok(None)
    }

    /// A row of ours that we claimed and could neither offer nor close.
    fn was_left_behind(&self, row: &Execution) -> bool {
        row.process_id == self.owner.process_id
            && row.status == Status::Claimed
            && !self.in_hand.has(&row.id)
    }

    /// Takes over a row that was claimed and never adopted, if its owner is proved dead, or is this
    /// process, which left it behind.
    pub(super) async fn inherit(&self, id: &str, owner: Owner) -> Result<bool> {
        let Some(row) = self.row(id).await? else {
            return Ok(false);
        };
        let ours = row.process_id == self.owner.process_id;
        let is_free = ours || self.liveness(&row, None).await?.is_over();
        if !is_free || self.is_being_handed_over(&row) {
            return Ok(false);
        }
        let (id, heir, now) = (id.to_owned(), self.owner.clone(), self.now());
        self.with_ledger(move |ledger| ledger.inherit(&id, &owner, &heir, now))
            .await
    }

    /// Whether the owner of a row lives.
    async fn liveness(&self, row: &Execution, facts: Option<&ExecutionFacts>) -> Result<Liveness> {
        let unsigned = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
        let boot = facts.and_then(|facts| {
            let id = facts.boot_id.clone()?;
            Some(BootMark {
                id,
                init_start: unsigned(facts.pid1_start),
            })
        });
        let pid = row.pid.and_then(|pid| u32::try_from(pid).ok()).unwrap_or(0);
        let recorded = Identity {
            pid,
            start_ticks: unsigned(row.process_started_at),
            boot,
            ..Identity::default()
        };
        let own = self.parts.identity.clone();
        blocking(move || {
            let boot = own.boot_id.map(|id| BootMark {
                id,
                init_start: own.init_start,
            });
            Ok(judge(&recorded, &liveness_probe::observe_here(pid, boot)))
        })
        .await
    }

    /// Waits until an execution has ended, whoever runs it, and closes its row where it is still open.
    pub(super) async fn see_it_end(
        &self,
        worker: Option<Worker>,
        pid: Option<u32>,
        id: &str,
    ) -> Result<()> {
        let status = match worker {
            Some(mut worker) if pid.is_none_or(|pid| pid == worker.pid()) => {
                Some(worker.wait().await?)
            }
            _ => None,
        };
        let pid = match pid {
            Some(pid) => Some(pid),
            None => self.owner_of(id).await?,
        };
        if let Some(watch) = pid.map(Watch::of).transpose()?.flatten() {
            watch.ended().await?;
        }
        self.close(id, status).await.map(drop)
    }

    async fn owner_of(&self, id: &str) -> Result<Option<u32>> {
        let row = self.row(id).await?;
        Ok(row
            .and_then(|row| row.pid)
            .and_then(|pid| u32::try_from(pid).ok()))
    }

    async fn row(&self, id: &str) -> Result<Option<Execution>> {
        let id = id.to_owned();
        self.with_ledger(move |ledger| ledger.read(|c| rows::execution_by_id(c, &id)))
            .await
    }

    /// Closes the row of an execution whose owner has ended, if it is still open. Whatever it started
    /// is killed first. Returns whether there was something to close.
    async fn close(&self, id: &str, status: Option<std::process::ExitStatus>) -> Result<bool> {
        use std::os::unix::process::ExitStatusExt as _;
        let Some(row) = self.row(id).await?.filter(|row| row.status.is_open()) else {
            self.forget_unit(id).await;
            return Ok(false);
        };
        let execution = id.to_owned();
        let facts = self
            .with_ledger(move |ledger| ledger.read(|c| rows::facts_of(c, &execution)))
            .await?
            .unwrap_or_default();
        let mut seen = Seen {
            other_boot: self.is_of_another_boot(&facts),
            signal: status.and_then(|status| status.signal()),
            exit: status.and_then(|status| status.code()),
            dispatcher_gone: status.is_none() && facts.mode == "degraded",
            ..Seen::default()
        };
        self.look_at_unit(&facts, &mut seen).await;
        if !seen.other_boot {
            self.kill_what_is_left(id).await;
        }
        let (cause, detail) = cause(&seen);
        let owner = Owner {
            process_id: row.process_id.clone(),
            pid: row.pid.and_then(|pid| u32::try_from(pid).ok()).unwrap_or(0),
            start_ticks: None,
        };
        let (execution, now) = (id.to_owned(), self.now());
        let detail = format!("interrupted: {detail}");
        let told = detail.clone();
        let closed = self
            .with_ledger(move |ledger| ledger.finish_dead(&execution, &owner, (&cause, &told), now))
            .await?;
        if closed {
            self.tell_job(&row, &detail).await;
        }
        Ok(closed)
    }

    fn is_of_another_boot(&self, facts: &ExecutionFacts) -> bool {
        let own = &self.parts.identity;
        let other_id =
            matches!((&facts.boot_id, &own.boot_id), (Some(then), Some(now)) if then != now);
        let start = facts.pid1_start.and_then(|start| u64::try_from(start).ok());
        other_id || matches!((start, own.init_start), (Some(then), Some(now)) if then != now)
    }

    /// Whatever the worker started and left: found by the mark in its environment, since a process
    /// group may have been left, and its number belong to somebody else by now.
    async fn kill_what_is_left(&self, id: &str) {
        let id = id.to_owned();
        let kill = move || {
            let _killed = kill_marked(EXECUTION_VARIABLE, &id);
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

    async fn tell_job(&self, row: &Execution, error: &str) {
        let (id, error) = (row.job_id.clone(), error.to_owned());
        let slot = row.scheduled_instant.as_ref().and_then(|slot| slot.at);
        let settles = slot.map_or(Settles::Nothing, Settles::Slot);
        // Of a claim that names anybody else another run hangs.
        let owner = row.pid.map(|pid| format!(":{pid}:"));
        let of_a_slot = row.scheduled_instant.is_some();
        let (zone, now) = (self.zone(), self.now());
        let told = self
            .with_jobs(move |jobs| {
                let Some(job) = jobs.find(&id) else {
                    return Ok(Change::Nothing(()));
                };
                let by = Job::read(job).fire_claim().map(|held| held.by.to_owned());
                let by = by.filter(|by| owner.as_ref().is_some_and(|owner| by.contains(owner)));
                let run = Run {
                    ok: false,
                    error: Some(&error),
                    delivery_error: None,
                    with_agent: false,
                    // It was counted, or not, when it was claimed.
                    manual: true,
                    claim: by.as_deref(),
                    monitor_digest: None,
                    settles,
                };
                if of_a_slot {
                    finish::count_once(job);
                }
                finish::mark(job, &run, now, &zone);
                Ok(Change::Write(()))
            })
            .await;
        if let Err(error) = told {
            (self.parts.say)(&format!(
                "A job could not be told of its interrupted run: {error}."
            ));
        }
    }

    /// Looks at all open rows: those of dead owners are closed, those that go on without a dispatcher
    /// are reported. `ours` are the executions that this process waits for already.
    ///
    /// # Errors
    /// When the ledger cannot be read; a row that cannot be closed does not stop the others.
    pub async fn sweep(&self, ours: &HashSet<String>) -> Result<Swept> {
        let open = self
            .with_ledger(|ledger| {
                let rows = ledger
                    .read(|c| rows::open_executions(c, MOST))?
                    .unwrap_or_default();
                let facts = ledger.read(|c| rows::facts(c, MOST))?.unwrap_or_default();
                Ok((rows, facts))
            })
            .await?;
        let (rows, facts) = open;
        let mut swept = Swept::default();
        for row in rows.into_iter().filter(|row| !ours.contains(&row.id)) {
            let facts = facts.iter().find(|facts| facts.execution_id == row.id);
            let liveness = self.liveness(&row, facts).await?;
            if !liveness.is_over() && !self.was_left_behind(&row) {
                if row.process_id != self.owner.process_id && !self.in_hand.has(&row.id) {
                    swept.alive.push(row.id);
                }
                continue;
            }
            if self.is_being_handed_over(&row) {
                continue;
            }
            if let Some(slot) = unadopted(&row, facts) {
                swept.unadopted.push((row.job_id, slot));
                continue;
            }
            match self.close(&row.id, None).await {
                Ok(true) => swept.closed.push(row.id),
                Ok(false) => {}
                Err(error) => {
                    (self.parts.say)(&format!("Execution {} cannot be closed: {error}.", row.id));
                }
            }
        }
        Ok(swept)
    }

    /// Waits for an execution that another dispatcher left behind.
    ///
    /// # Errors
    /// When its end cannot be learned.
    pub async fn wait_for_stranger(&self, id: &str) -> Result<()> {
        // Its owner may change, from a dispatcher to a worker, and may live on after its end.
        while let Some(row) = self.row(id).await?.filter(|row| row.status.is_open()) {
            if self.liveness(&row, None).await?.is_over() && !self.is_being_handed_over(&row) {
                if row.status == Status::Claimed {
                    // It never began: the next sweep sees to it that it does.
                    self.unsettled.store(true, Ordering::Relaxed);
                    return Ok(());
                }
                break;
            }
            let pid = row.pid.and_then(|pid| u32::try_from(pid).ok());
            match pid.map(Watch::of).transpose()?.flatten() {
                Some(watch) => {
                    let _or_not_yet = tokio::time::timeout(STRANGER, watch.ended()).await;
                }
                None => tokio::time::sleep(LOOK_AGAIN).await,
            }
        }
        self.close(id, None).await.map(drop)
    }

    /// A row on offer, whose worker may be on its way although the dispatcher is gone.
    fn is_being_handed_over(&self, row: &Execution) -> bool {
        let offered = row.handoff_started_at.filter(|_| row.handoff_pending);
        offered.is_some_and(|since| {
            let age = self.now().duration_since(since);
            !age.is_negative() && age.unsigned_abs() < HANDOVER
        })
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

/// The slot of a row that nobody adopted and nobody has inherited yet.
fn unadopted(row: &Execution, facts: Option<&ExecutionFacts>) -> Option<jiff::Timestamp> {
    let slot = row.scheduled_instant.as_ref()?.at?;
    (row.status == Status::Claimed && facts.is_none()).then_some(slot)
}
