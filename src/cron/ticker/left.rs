//! What a ticker does about runs that it did not start itself: those of dead owners, and those that go on
//! without the dispatcher that started them.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use super::Ticker;
use crate::cron::dispatcher::{Fate, Held, Unbegun};
use crate::cron::job::Job;
use crate::cron::scan::{DueJob, LeftOut};
use crate::cron::scan_driver;
use crate::error::Result;

/// Longest time between two sweeps of open rows.
const SWEEP: Duration = Duration::from_secs(300);

/// What is shown of a run that another dispatcher started.
const ADOPTED: &str =
    "goes on without the dispatcher that started it; the next one waits for its end";

impl Ticker {
    /// Under an emergency stop, which keeps jobs from starting: those that run are seen to all the same.
    pub(super) async fn look_after_runs(&mut self) -> Result<()> {
        let home = &self.dispatcher.parts.home;
        if scan_driver::other_scheduler(home).is_some() || !home.ledger().exists() {
            return Ok(());
        }
        match self.take_turn()? {
            Some(_lock) => {
                if self.sweep_if_due(false).await? {
                    self.dispatcher.end_units_left().await;
                }
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Sweeps, where that is due or something was left open. `starts`: what was claimed and never run may
    /// be run now.
    /// Returns whether it did.
    pub(super) async fn sweep_if_due(&mut self, starts: bool) -> Result<bool> {
        let awake = self.dispatcher.parts.clock.now().monotonic;
        let is_due = self.swept_at.is_none_or(|at| awake >= at + SWEEP);
        let sweeps = self.dispatcher.take_unsettled() || is_due;
        if sweeps {
            self.swept_at = Some(awake);
            if let Err(error) = self.sweep(starts).await {
                // Soon again: what goes on is not waited for before it was seen.
                self.dispatcher.leave_unsettled();
                return Err(error);
            }
        }
        Ok(sweeps)
    }

    /// Closes what dead owners left, and waits for what goes on without a dispatcher.
    async fn sweep(&mut self, starts: bool) -> Result<()> {
        let swept = self.dispatcher.sweep(&self.waited_for).await?;
        for unbegun in swept.unadopted.into_iter().filter(|_| starts) {
            self.run_after_all(unbegun);
        }
        // A pass by hand waits for its own runs alone.
        let turns = self.markers.is_some();
        for id in swept.alive.into_iter().filter(|_| turns) {
            if self.waited_for.contains(&id) {
                continue;
            }
            let left = self.dispatcher.hold_left_behind(&id).await?;
            self.waited_for.insert(id.clone());
            (self.dispatcher.parts.say)(&format!(
                "Execution {id} goes on in its worker; waiting for its end."
            ));
            let row = id.clone();
            let _it_is_said_above = self
                .dispatcher
                .with_ledger(move |ledger| ledger.record_detail(&row, ADOPTED))
                .await;
            let room = left.takes_room.then(|| Arc::clone(&self.room));
            self.see_to(id, left.held, room);
        }
        for id in swept.undelivered {
            if self.waited_for.insert(id.clone()) {
                self.see_to(id, None, None);
            }
        }
        Ok(())
    }

    /// Waits for the end of a run that somebody left, and sees to what it leaves, beside the others. It
    /// takes a place in this room: at once, or before those that wait for theirs.
    fn see_to(&mut self, id: String, held: Option<Held>, room: Option<Arc<Semaphore>>) {
        let dispatcher = Arc::clone(&self.dispatcher);
        let place = room
            .as_ref()
            .and_then(|room| Arc::clone(room).try_acquire_owned().ok());
        let more = room.filter(|_| place.is_none());
        self.tasks.spawn(async move {
            let wait = dispatcher.wait_for_stranger(&id);
            let crowd = async {
                let _place = match more {
                    Some(room) => room.acquire_owned().await.ok(),
                    None => place,
                };
                std::future::pending::<()>().await;
            };
            let waited = tokio::select! {
                biased;
                () = crowd => Ok(()),
                waited = wait => waited,
            };
            drop(held);
            let error = waited.err().map(|error| error.in_full());
            if let Some(error) = &error {
                dispatcher.leave_unsettled();
                (dispatcher.parts.say)(&format!("The end of run {id} is not on record: {error}."));
            }
            let fate = Fate::Ended {
                execution_id: id,
                ok: error.is_none(),
                error,
            };
            (String::new(), fate)
        });
    }

    /// A slot that a dispatcher took, and was gone before a worker had it, is run now.
    fn run_after_all(&mut self, Unbegun { job, slot }: Unbegun) {
        let job_id = Job::read(&job).id().unwrap_or_default().to_owned();
        if self.running.contains_key(&job_id) {
            return;
        }
        (self.dispatcher.parts.say)(&format!(
            "A slot of job {job_id} was taken and never run; it is run now."
        ));
        self.after_all.push((job_id.clone(), slot.at));
        self.submit(DueJob {
            job_id,
            job,
            slot: Some(slot),
            manual: false,
            stagger: Duration::ZERO,
        });
    }

    /// Keeps what became of what a scan left out, for whoever asks after a pass by hand. Gives how many jobs the
    /// pass met before it and in it, beside those that the scan handed out. A slot that is run after all was
    /// met already.
    pub(super) fn account_for(&mut self, left_out: Vec<LeftOut>) -> usize {
        let after_all = std::mem::take(&mut self.after_all);
        let is_run = |left: &LeftOut| {
            let mut run = after_all.iter();
            run.any(|(id, slot)| *id == left.job_id && left.slot == Some(*slot))
        };
        let left_out = left_out.into_iter().filter(|left| !is_run(left));
        self.left_out = left_out.map(|left| (left.job_id, left.fate)).collect();
        after_all.len() + self.left_out.len()
    }
}
