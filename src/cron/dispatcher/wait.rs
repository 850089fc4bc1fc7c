//! Waiting for ends, and finding the rows of owners that are proved dead. Whoever learns of an end
//! writes it; an owner that cannot be checked is never dead.

use std::collections::HashSet;
use std::time::Duration;

use super::close::{LOOK_AGAIN, Witnessed};
use super::in_hand::Grip;
use super::launch::Risk;
use super::unbegun::Unbegun;
use super::{Dispatcher, Fate, Order};
use crate::child::spawn::Watch;
use crate::cron::job::Job;
use crate::cron::owner_probe::is_unbegun;
use crate::dispatch::handover::offer_left;
use crate::dispatch::launcher::Worker;
use crate::error::Result;
use crate::host::liveness::Liveness;
use crate::ledger::{Execution, ExecutionFacts, Owner, SlotAt, Status, rows};

/// How often it is looked at a run of another dispatcher whose owner lives.
const STRANGER: Duration = Duration::from_secs(5);
/// Most open rows that one sweep looks at.
pub(super) const MOST: u32 = 1000;

/// What a sweep found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Executions whose owner is proved dead, closed now.
    pub closed: Vec<String>,
    /// Executions that go on in a worker whose dispatcher is gone: to be waited for.
    pub alive: Vec<String>,
    /// Executions that ended and whose owner died before their result was delivered: still to be closed,
    /// by [`Dispatcher::wait_for_stranger`], which delivers and so may take its time.
    pub undelivered: Vec<String>,
    /// Slots that were claimed and never adopted, by a dispatcher that is gone: to be run after all.
    pub unadopted: Vec<Unbegun>,
}

/// An execution that goes on although the ticker that started it is gone.
#[derive(Debug)]
pub(in crate::cron) struct LeftBehind {
    /// A hold on it, where it is not placed: as long as it is held, a stop of this process waits for it, and
    /// ends it as one of its own.
    pub(in crate::cron) held: Option<Held>,
    /// It counts among the jobs that may run at once.
    pub(in crate::cron) takes_room: bool,
}

/// An execution that somebody left behind and that is ours as long as this lives.
#[derive(Debug)]
pub(in crate::cron) struct Held {
    _grip: Grip,
    _risk: Risk,
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
            if !self.liveness_of(&row).await?.is_over() {
                return Ok(Some(order.met_by(&row)));
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
        let is_free = ours || self.liveness_of(&row).await?.is_over();
        if !is_free || self.is_being_handed_over(&row) {
            return Ok(false);
        }
        let (id, heir, now) = (id.to_owned(), self.owner.clone(), self.now());
        self.with_ledger(move |ledger| ledger.inherit(&id, &owner, &heir, now))
            .await
    }

    /// Waits until an execution has ended, whoever runs it, and closes its row where it is still open:
    /// `true`. `claim` is the one that was written into its job.
    pub(super) async fn see_it_end(
        &self,
        worker: Option<Worker>,
        pid: Option<u32>,
        (id, claim): (&str, &str),
    ) -> Result<bool> {
        let pid = match pid {
            Some(pid) => Some(pid),
            None => self.owner_of(id).await?,
        };
        // A service that took the place of the process that we started ends as somebody else.
        let status = match worker {
            Some(mut worker) if pid.is_none_or(|pid| pid == worker.pid()) => {
                Some(worker.wait().await?)
            }
            _ => None,
        };
        if let Some(watch) = pid.map(Watch::of).transpose()?.flatten() {
            watch.ended().await?;
        }
        let witnessed = status.map_or(Witnessed::End, Witnessed::Exit);
        self.close(id, witnessed, Some(claim)).await
    }

    async fn owner_of(&self, id: &str) -> Result<Option<u32>> {
        let row = self.row(id).await?;
        Ok(row
            .and_then(|row| row.pid)
            .and_then(|pid| u32::try_from(pid).ok()))
    }

    /// The slot that a row is of; none for a run that somebody asked for.
    pub(super) async fn slot_of(&self, row: &Execution) -> Result<Option<SlotAt>> {
        let row = row.clone();
        self.with_ledger(move |ledger| ledger.read(|c| rows::slot_of(c, &row)))
            .await
    }

    pub(super) async fn row(&self, id: &str) -> Result<Option<Execution>> {
        let id = id.to_owned();
        self.with_ledger(move |ledger| ledger.read(|c| rows::execution_by_id(c, &id)))
            .await
    }

    /// All open rows, each with what is recorded of it, whatever number of newer ones there is.
    pub(super) async fn open_rows(&self) -> Result<Vec<(Execution, Option<ExecutionFacts>)>> {
        self.with_ledger(|ledger| {
            ledger.read(|c| {
                let open = rows::open_executions(c, MOST)?.unwrap_or_default();
                let facts = |row: Execution| Ok((rows::facts_of(c, &row.id)?, row));
                let open = open.into_iter().map(facts);
                open.map(|found| found.map(|(facts, row)| (row, facts)))
                    .collect()
            })
        })
        .await
    }

    /// Tells jobs of ends that they were not told of, and looks at all open rows: those of dead owners are
    /// closed, those that go on without a dispatcher are reported. `ours` are the executions that this process waits for already.
    ///
    /// # Errors
    /// When the ledger cannot be read; a row that cannot be closed does not stop the others.
    pub async fn sweep(&self, ours: &HashSet<String>) -> Result<Swept> {
        self.tell_of_ends(None).await?;
        let open = self.open_rows().await?.into_iter();
        let (mut swept, mut unbegun) = (Swept::default(), Vec::new());
        for (row, facts) in open.filter(|(row, _)| !ours.contains(&row.id)) {
            let liveness = self.liveness(&row, facts.as_ref()).await?;
            if !liveness.is_over() && !self.was_left_behind(&row) {
                if row.process_id != self.owner.process_id && !self.in_hand.has(&row.id) {
                    swept.alive.push(row.id);
                }
                continue;
            }
            if self.is_being_handed_over(&row) {
                // For half a minute at most: the next pass looks again, and not the next sweep alone.
                self.leave_unsettled();
                continue;
            }
            // Nobody has inherited it yet.
            if is_unbegun(&row, facts.as_ref())
                && let Some(slot) = self.slot_of(&row).await?
            {
                unbegun.push((row, slot));
                continue;
            }
            if self.is_undelivered(&row).await {
                swept.undelivered.push(row.id);
                continue;
            }
            match self.close(&row.id, Witnessed::Nothing, None).await {
                Ok(true) => swept.closed.push(row.id),
                Ok(false) => {}
                Err(error) => {
                    // Soon again, and not only when a sweep is due.
                    self.leave_unsettled();
                    (self.parts.say)(&format!(
                        "Execution {} cannot be closed: {}.",
                        row.id,
                        error.in_full()
                    ));
                }
            }
        }
        let (wanted, passed_by) = self.sift(unbegun).await?;
        swept.unadopted = wanted;
        swept.closed.extend(passed_by);
        Ok(swept)
    }

    /// The same, and whatever is left to be delivered is delivered before this returns.
    ///
    /// # Errors
    /// As [`Dispatcher::sweep`].
    pub async fn sweep_out(&self) -> Result<Swept> {
        let swept = self.sweep(&HashSet::new()).await?;
        for id in &swept.undelivered {
            self.wait_for_stranger(id).await?;
        }
        Ok(swept)
    }

    /// Takes an execution in hand that goes on although the ticker that started it is gone.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub(in crate::cron) async fn hold_left_behind(&self, id: &str) -> Result<LeftBehind> {
        let name = id.to_owned();
        let facts = self
            .with_ledger(move |ledger| ledger.read(|c| rows::facts_of(c, &name)))
            .await?;
        let row = self.row(id).await?;
        let takes_room = row.is_some_and(|row| row.source == "builtin");
        let is_placed = facts.is_none_or(|facts| facts.unit.is_some());
        let held = || Held {
            _grip: self.in_hand.take(id),
            _risk: Risk::of(&self.at_risk),
        };
        Ok(LeftBehind {
            held: (takes_room && !is_placed).then(held),
            takes_room,
        })
    }

    /// Waits for an execution that another dispatcher left behind, and sees to what it leaves.
    ///
    /// # Errors
    /// When its end cannot be learned.
    pub async fn wait_for_stranger(&self, id: &str) -> Result<()> {
        let mut witnessed = Witnessed::Nothing;
        // Its owner may change, from a dispatcher to a worker, and may live on after its end.
        while let Some(row) = self.row(id).await?.filter(|row| row.status.is_open()) {
            let liveness = self.liveness_of(&row).await?;
            if liveness.is_over() && !self.is_being_handed_over(&row) {
                if row.status == Status::Claimed {
                    // It never began: the next sweep sees to it that it does.
                    self.leave_unsettled();
                    return Ok(());
                }
                break;
            }
            if liveness == Liveness::Alive {
                witnessed = Witnessed::End;
            }
            let pid = row.pid.and_then(|pid| u32::try_from(pid).ok());
            match pid.map(Watch::of).transpose()?.flatten() {
                Some(watch) => {
                    let _or_not_yet = tokio::time::timeout(STRANGER, watch.ended()).await;
                }
                // What cannot be told now may stay so: another container's process, say.
                None if matches!(liveness, Liveness::Unverified(_)) => {
                    tokio::time::sleep(STRANGER).await;
                }
                None => tokio::time::sleep(LOOK_AGAIN).await,
            }
        }
        self.close(id, witnessed, None).await.map(drop)
    }

    /// A row on offer, whose worker may be on its way although the dispatcher is gone.
    fn is_being_handed_over(&self, row: &Execution) -> bool {
        offer_left(row, self.now()).is_some()
    }
}
