//! The claim of the job while its run goes on: taken over from the dispatcher, and renewed.

use std::time::Duration;

use super::Worker;
use crate::cron::claim::{self, Holder};
use crate::cron::finish;
use crate::cron::jobs_file::Change;

/// Longest wait for the store's lock before the run begins.
const TAKE_OVER: Duration = Duration::from_secs(5);

impl Worker {
    /// From now on the claim names this process: whether the job runs is a question about it, and not
    /// about a dispatcher that may be gone. A claim that cannot be handed on now still ends with us.
    pub(super) async fn take_over_claim(&mut self) {
        let Some(from) = self.work.claim.clone() else {
            return;
        };
        let to = Holder::parse(&from).handed_to(self.owner.pid);
        let file = self.jobs().with_patience(TAKE_OVER);
        let (id, now, zone) = (self.work.task.job_id.clone(), self.now(), self.zone.clone());
        let (old, new, settles) = (from, to.clone(), self.work.settles);
        let of_a_slot = !self.work.manual;
        let hand_on = move || {
            file.update(now, |jobs| {
                let pair = (old.as_str(), new.as_str(), settles);
                Ok(if claim::hand_on(jobs, &id, pair, now, &zone) {
                    if let Some(job) = jobs.find(&id).filter(|_| of_a_slot) {
                        finish::count_once(job);
                    }
                    Change::Write(true)
                } else {
                    Change::Nothing(false)
                })
            })
        };
        if let Ok(Ok(true)) = tokio::task::spawn_blocking(hand_on).await {
            self.work.claim = Some(to);
        }
    }

    /// Progress that cannot be written now is written a minute later.
    pub(super) async fn show_progress(&self) {
        let _a_minute_later = self.ledger.progress(self.id(), &self.owner, self.now());
        if let Some(claim) = self.work.claim.clone() {
            let (file, id, now) = (self.jobs(), self.work.task.job_id.clone(), self.now());
            let zone = self.zone.clone();
            let renew = move || {
                file.update(now, |jobs| {
                    let renewed = claim::renew(jobs, &id, &claim, now, &zone);
                    Ok(if renewed {
                        Change::Write(())
                    } else {
                        Change::Nothing(())
                    })
                })
            };
            let _a_minute_later = tokio::task::spawn_blocking(renew).await;
        }
    }
}
