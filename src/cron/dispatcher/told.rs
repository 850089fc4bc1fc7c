//! Telling a job of the end of its run, where the run itself did not: at once, or, while the job store is
//! locked or cannot be read, with a later sweep. Until it was told the ledger keeps that it is to be.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::Dispatcher;
use crate::cron::claim::Holder;
use crate::cron::finish::{self, Run, Settles};
use crate::cron::job::{Claim, Job, RawJob};
use crate::cron::jobs_file::Change;
use crate::cron::stamp::Stamp;
use crate::error::Result;
use crate::ledger::{Execution, SlotAt, Status, Untold, rows};

impl Dispatcher {
    /// Tells jobs of ends of runs that they were not told of: of one run, or all. What cannot be told now is
    /// left to a later sweep.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub(super) async fn tell_of_ends(&self, of: Option<&str>) -> Result<()> {
        let of = of.map(str::to_owned);
        let untold = self.with_ledger(move |ledger| {
            let untold = ledger.untold(of.as_deref())?.into_iter();
            let with_row = |end: Untold| {
                let row = ledger.read(|c| rows::execution_by_id(c, &end.execution_id))?;
                let slot = row
                    .as_ref()
                    .map(|row| ledger.read(|c| rows::slot_of(c, row)));
                Ok((end, row, slot.transpose()?.flatten()))
            };
            untold.map(with_row).collect::<Result<Vec<_>>>()
        });
        for (end, row, slot) in untold.await? {
            let Some(row) = row else {
                // Its row was one of too many; nothing is left to tell.
                self.forget_untold(&end.execution_id).await;
                continue;
            };
            // The others would wait as long for the store.
            if !self.tell_job((&row, slot), &end).await {
                break;
            }
        }
        Ok(())
    }

    /// Marks the end of a run in its job, unless that was done by the run itself before it was gone. `false`: the
    /// store could not be had.
    async fn tell_job(&self, (row, slot): (&Execution, Option<SlotAt>), end: &Untold) -> bool {
        let (zone, now) = (self.zone(), self.now());
        let (row, end) = (row.clone(), end.clone());
        let id = end.execution_id.clone();
        let told = self
            .with_jobs(move |jobs| {
                let Some(job) = jobs.find(&row.job_id) else {
                    return Ok(Change::Nothing(Some(row.job_id.clone())));
                };
                let told = tell(job, (&row, slot), &end, (now, &zone));
                Ok(if told {
                    Change::Write(None)
                } else {
                    Change::Nothing(None)
                })
            })
            .await;
        match told {
            Ok(removed) => {
                if let Some(job) = removed {
                    let close = self.with_ledger(move |ledger| ledger.close_with_job(&job, now));
                    let _it_stays_to_be_closed_by_somebody = close.await;
                }
                self.forget_untold(&id).await;
                true
            }
            Err(error) => {
                self.leave_unsettled();
                (self.parts.say)(&format!(
                    "A job is still to be told of the end of its run {id}: {}.",
                    error.in_full()
                ));
                false
            }
        }
    }

    /// What stays on record is told again, and then found to be marked.
    async fn forget_untold(&self, id: &str) {
        let id = id.to_owned();
        let forget = self.with_ledger(move |ledger| ledger.forget_untold(&id));
        if forget.await.is_err() {
            self.leave_unsettled();
        }
    }
}

/// Marks the end of a run in its job, unless that was done by the run itself; says whether it did.
pub(in crate::cron) fn tell(
    job: &mut RawJob,
    (row, slot): (&Execution, Option<SlotAt>),
    end: &Untold,
    (now, zone): (Timestamp, &TimeZone),
) -> bool {
    let by = claim_of(job, row, end.claim.as_deref());
    if by.is_none() && is_marked(job, row) {
        return false;
    }
    let run = Run {
        ok: row.status == Status::Completed,
        error: end.error.as_deref(),
        delivery_error: end.delivery_error.as_deref(),
        with_agent: !Job::read(job).no_agent.is_true(),
        manual: slot.is_none() && row.scheduled_instant.is_none(),
        claim: by.as_deref(),
        monitor_digest: end.monitor_digest.as_deref(),
        settles: Settles::of(slot),
    };
    // It ended when its row says, however late the job learns of it.
    let ended = row.finished_at.as_ref().and_then(|stamp| stamp.at);
    finish::mark(job, &run, ended.unwrap_or(now), zone);
    true
}

/// The claim of the job, where it is that of this run; on any other claim another run hangs.
fn claim_of(job: &RawJob, row: &Execution, claim: Option<&str>) -> Option<String> {
    let view = Job::read(job);
    let held = view.fire_claim()?;
    let ended = row.finished_at.as_ref().and_then(|stamp| stamp.at);
    is_of_run(held, claim, (row.pid, ended)).then(|| held.by.to_owned())
}

/// Whether a claim is that of a run: it bears the mark of the claim that was written for it, or, where that is
/// not known, names the run's owner and is no younger than the run's end. One of the same dispatcher may be of
/// another run.
fn is_of_run(
    held: Claim<'_>,
    claim: Option<&str>,
    (pid, ended): (Option<i64>, Option<Timestamp>),
) -> bool {
    if let Some(claim) = claim {
        return is_same(held.by, claim);
    }
    let holder = Holder::parse(held.by).pid.map(i64::from);
    let is_younger = instant(held.at)
        .zip(ended)
        .is_some_and(|(at, end)| at > end);
    holder.is_some() && holder == pid && !is_younger
}

fn instant(text: &str) -> Option<Timestamp> {
    Stamp::parse(text).and_then(|stamp| stamp.instant(&TimeZone::UTC))
}

/// Whether two claims are of one run: a worker that takes a claim over keeps its mark.
fn is_same(one: &str, other: &str) -> bool {
    let mark = Holder::parse(one).token;
    mark.is_some() && mark == Holder::parse(other).token
}

/// Whether the end of a run was marked in the job since this one began: its claim is gone, and so it was
/// its own.
fn is_marked(job: &RawJob, row: &Execution) -> bool {
    let ran = Job::read(job).last_run_at.text().and_then(instant);
    let begun = row.claimed_at.as_ref().and_then(|claimed| claimed.at);
    matches!((ran, begun), (Some(ran), Some(begun)) if ran >= begun)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_of_the_same_dispatcher_may_be_of_another_run() {
        let held = |by, at| Claim { at, by };
        let (before, after) = ("2026-06-17T09:59:00Z", "2026-06-17T10:01:00Z");
        let of = (Some(77), "2026-06-17T10:00:00Z".parse().ok());
        for (by, at, claim, is_its) in [
            ("host:77:mark", after, Some("host:78:mark"), true),
            ("host:77:other", before, Some("host:77:mark"), false),
            ("host:77", before, Some("host:77:mark"), false),
            ("host:77:mark", before, None, true),
            ("host:77:mark", after, None, false),
            ("host:78:mark", before, None, false),
            ("named", before, None, false),
        ] {
            let found = is_of_run(held(by, at), claim, of);
            assert_eq!(found, is_its, "{by} {at} {claim:?}");
        }
    }
}
