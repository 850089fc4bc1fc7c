//! Telling a job of the end of its run, where the run itself did not: at once, or, while the job store is
//! locked or cannot be read, with a later sweep. Until it was told the ledger keeps that it is to be.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::Dispatcher;
use crate::cron::claim::Holder;
use crate::cron::finish::{self, Run, Settles};
use crate::cron::job::{Job, RawJob};
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
            match row {
                Some(row) => self.tell_job((&row, slot), &end).await,
                // Its row was one of too many; nothing is left to tell.
                None => self.forget_untold(&end.execution_id).await,
            }
        }
        Ok(())
    }

    /// Marks the end of a run in its job, unless that was done by the run itself before it was gone.
    pub(super) async fn tell_job(&self, (row, slot): (&Execution, Option<SlotAt>), end: &Untold) {
        let (zone, now) = (self.zone(), self.now());
        let (row, end) = (row.clone(), end.clone());
        let id = end.execution_id.clone();
        let told = self
            .with_jobs(move |jobs| {
                let job = jobs.find(&row.job_id);
                let told = job.is_some_and(|job| tell(job, (&row, slot), &end, (now, &zone)));
                Ok(if told {
                    Change::Write(())
                } else {
                    Change::Nothing(())
                })
            })
            .await;
        match told {
            Ok(()) => self.forget_untold(&id).await,
            Err(error) => {
                self.leave_unsettled();
                (self.parts.say)(&format!(
                    "A job is still to be told of the end of its run {id}: {}.",
                    error.in_full()
                ));
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
fn is_same(one: &str, other: &str) -> bool {
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
