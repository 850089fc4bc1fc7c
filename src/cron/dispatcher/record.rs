//! What an order leaves behind where no worker writes it: failed launches, skipped and refused slots.

use super::{Dispatcher, Fate, Hold, Order};
use crate::cron::claim::Obstacle;
use crate::cron::finish::{self, Settles};
use crate::cron::job::Job;
use crate::cron::jobs_file::Change;
use crate::ledger::store::utc;
use crate::ledger::{End, Execution, Outcome, Slot, Untold};

impl Order {
    /// Whether a ticker asks, which asks again.
    fn is_of_a_ticker(&self) -> bool {
        self.source != "direct"
    }

    /// Whether the next pass meets it again: it left no row, and nothing was decided.
    fn is_met_again(&self, fate: &Fate) -> bool {
        let nothing_was_done = matches!(
            fate,
            Fate::Waits(_)
                | Fate::NotLaunched {
                    execution_id: None,
                    ..
                }
        );
        nothing_was_done && self.is_of_a_ticker()
    }

    /// A run of the job goes on. A slot that comes while another is run is left out; a run by hand takes no
    /// slot, and keeps it waiting.
    pub(in crate::cron) fn met_by(&self, run: &Execution) -> Fate {
        let since = run.claimed_at.as_ref().map(|stamp| stamp.text.as_str());
        let (id, since) = (&run.id, since.unwrap_or_default());
        let why = format!("a run of it is still going on ({id}, since {since})");
        let is_by_hand = run.source == "direct";
        let is_left_out = self.slot.is_some() && !is_by_hand;
        if is_left_out || !self.is_of_a_ticker() {
            Fate::Skipped(why)
        } else {
            Fate::Waits(why)
        }
    }

    /// Something stood against the claim. Whose run it is that holds the job its row will say.
    pub(in crate::cron) fn stopped_by(&self, obstacle: &Obstacle) -> Fate {
        let is_held = matches!(obstacle, Obstacle::Held { .. });
        if is_held && self.is_of_a_ticker() {
            Fate::Waits(obstacle.text())
        } else {
            Fate::Skipped(obstacle.text())
        }
    }
}

impl Dispatcher {
    /// Leaves an order that was not begun to a later pass.
    pub(in crate::cron) async fn leave(&self, order: &Order, why: String) -> Fate {
        let fate = Fate::Waits(why);
        self.let_go(order, &fate, "").await;
        fate
    }

    /// Closes the row of a launch that failed, and tells the job.
    pub(super) async fn launch_failed(&self, claimed: &Hold, id: &str, error: &str) {
        let words = format!("dispatch failed: {error}");
        let (row, owner, now) = (id.to_owned(), self.owner.clone(), self.now());
        let (job_id, detail) = (claimed.job_id.clone(), words.clone());
        let untold = Untold {
            execution_id: row.clone(),
            claim: Some(claimed.by.clone()),
            error: Some(words),
            ..Untold::default()
        };
        let closed = self
            .with_ledger(move |ledger| {
                ledger.record_untold(&untold, &owner)?;
                let end = End {
                    ok: false,
                    error: Some(&detail),
                    delivery: None,
                };
                ledger.finish(&row, &owner, end, now)?;
                ledger.record_failure(&job_id, &detail, None, now).map(drop)
            })
            .await;
        let told = match closed {
            Ok(()) => self.tell_of_ends(Some(id)).await,
            Err(error) => Err(error),
        };
        if let Err(error) = told {
            self.leave_unsettled();
            (self.parts.say)(&format!(
                "The ledger could not be told of a failed launch: {}.",
                error.in_full()
            ));
        }
    }

    /// Tells the slot of an attempt that it was refused: the row of the attempt says that it failed.
    pub(super) async fn slot_refused(&self, id: &str, why: &str) {
        let (id, why, now) = (id.to_owned(), why.to_owned(), self.now());
        let told = self.with_ledger(move |ledger| ledger.refuse_slot(&id, &why, now));
        if let Err(error) = told.await {
            (self.parts.say)(&format!(
                "The ledger could not be told of a slot: {}.",
                error.in_full()
            ));
        }
    }

    /// Lets go of the claim alone: the slot, off the schedule and not run, comes back with the next
    /// scan, and so does a run that somebody asked for.
    pub(super) async fn put_back(&self, claimed: &Hold) {
        let (id, by) = (claimed.job_id.clone(), claimed.by.clone());
        let _it_ends_by_its_age = self
            .with_jobs(move |jobs| {
                let ours = jobs.find(&id).is_some_and(|job| finish::put_back(job, &by));
                Ok(if ours {
                    Change::Write(())
                } else {
                    Change::Nothing(())
                })
            })
            .await;
    }

    /// Lets go of a job that was not run. A slot that is accounted for does not come back; a one-shot that is
    /// still to be run must be free for the next pass. A claim that cannot be let go of now ends by its own
    /// age.
    pub(super) async fn let_go(&self, order: &Order, fate: &Fate, by: &str) {
        let is_over = match fate {
            Fate::Skipped(_) => order.slot.is_some(),
            Fate::Refused(_) => true,
            _ => false,
        };
        let is_to_come = order.is_met_again(fate);
        if !is_over && !is_to_come {
            return;
        }
        let id = Job::read(&order.job).id().unwrap_or_default().to_owned();
        let (by, settles) = (by.to_owned(), Settles::of(order.slot));
        let (zone, now, machine) = (self.zone(), self.now(), self.parts.machine.clone());
        let _it_ends_by_its_age = self
            .with_jobs(move |jobs| {
                let changes = jobs.find(&id).is_some_and(|job| {
                    if is_over {
                        finish::decline(job, (&by, settles), now, &zone);
                    }
                    is_over || finish::end_lease(job, &machine)
                });
                Ok(if changes {
                    Change::Write(())
                } else {
                    Change::Nothing(())
                })
            })
            .await;
    }

    /// Sees to it that a slot that does not run has a record, and a refusal an incident. One that is still to
    /// be run has none: whatever was said of it now would not hold.
    pub(super) async fn account_for(&self, order: &Order, fate: &Fate) {
        let (outcome, reason) = match fate {
            Fate::Skipped(reason) => (Outcome::Skipped, reason),
            Fate::Refused(reason) => (Outcome::Refused, reason),
            Fate::Waits(_) | Fate::NotLaunched { .. } | Fate::Ended { .. } => return,
        };
        let job_id = Job::read(&order.job).id().unwrap_or_default().to_owned();
        let slot = order.slot.map(|slot| Slot {
            job_id: job_id.clone(),
            scheduled_at: utc(slot.at),
            outcome,
            reason: Some(reason.clone()),
            execution_id: None,
        });
        let (now, reason) = (self.now(), reason.clone());
        let recorded = self
            .with_ledger(move |ledger| {
                ledger.record_slots(slot.as_slice(), now)?;
                if outcome == Outcome::Refused {
                    ledger.record_failure(&job_id, &reason, None, now)?;
                }
                Ok(())
            })
            .await;
        if let Err(error) = recorded {
            (self.parts.say)(&format!(
                "The ledger could not be told of a slot: {}.",
                error.in_full()
            ));
        }
    }
}
