//! Slots that a dispatcher took, and was gone before a worker had begun them: they are run after all, or
//! passed by, as any slot is that comes late.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::close::owner_of;
use super::{Dispatcher, blocking};
use crate::cron::catch_up;
use crate::cron::claim::{Obstacle, is_armed};
use crate::cron::job::{Job, RawJob};
use crate::cron::lateness::{self, ONCE_GRACE_SECONDS};
use crate::cron::schedule::Schedule;
use crate::cron::unrun::once_missed;
use crate::error::Result;
use crate::ledger::{Execution, Outcome, SlotAt};

/// A slot that is run after all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unbegun {
    /// The job, as it is now.
    pub job: RawJob,
    /// The slot.
    pub slot: SlotAt,
}

/// The moment at which a slot is judged, and the operator's switch for those that come late.
pub(in crate::cron) struct Terms {
    pub(in crate::cron) now: Timestamp,
    pub(in crate::cron) zone: TimeZone,
    pub(in crate::cron) catches_up: bool,
}

impl Dispatcher {
    /// Judges slots that nobody has begun, by one look at the store: those that nobody wants any more, or that
    /// come too late, are passed by. Gives those that are to be run, and the rows that are closed.
    pub(super) async fn sift(
        &self,
        unbegun: Vec<(Execution, SlotAt)>,
    ) -> Result<(Vec<Unbegun>, Vec<String>)> {
        let (mut wanted, mut closed) = (Vec::new(), Vec::new());
        if unbegun.is_empty() {
            return Ok((wanted, closed));
        }
        let file = self.jobs();
        let jobs = blocking(move || Ok(file.read()?.jobs.jobs)).await?;
        let terms = Terms {
            now: self.now(),
            zone: self.zone(),
            catches_up: self.parts.settings.catch_up_missed,
        };
        for (row, slot) in unbegun {
            let is_its = |job: &&RawJob| Job::read(job).id() == Some(row.job_id.as_str());
            match terms.judge(jobs.iter().find(is_its), slot.at) {
                Ok(job) => wanted.push(Unbegun {
                    job: job.clone(),
                    slot,
                }),
                Err(passed_by) => {
                    if self.pass_by(&row, passed_by).await? {
                        closed.push(row.id);
                    }
                }
            }
        }
        Ok((wanted, closed))
    }

    /// Closes the row of a run that nobody has begun and nobody is to begin any more.
    async fn pass_by(&self, row: &Execution, (outcome, why): (Outcome, String)) -> Result<bool> {
        let (id, owner, now) = (row.id.clone(), owner_of(row), self.now());
        let told = format!("Run {id} of job {} is given up: {why}.", row.job_id);
        let passed_by =
            self.with_ledger(move |ledger| ledger.pass_by(&id, &owner, (outcome, &why), now));
        let closed = passed_by.await?;
        if closed {
            (self.parts.say)(&told);
        }
        Ok(closed)
    }
}

impl Terms {
    /// The job, where its slot is still to be run; else what becomes of the slot, and why.
    pub(in crate::cron) fn judge<'j>(
        &self,
        job: Option<&'j RawJob>,
        slot: Timestamp,
    ) -> std::result::Result<&'j RawJob, (Outcome, String)> {
        let job = job.ok_or_else(|| (Outcome::Skipped, Obstacle::Gone.text()))?;
        if !is_armed(&Job::read(job)) {
            return Err((Outcome::Skipped, Obstacle::NotArmed.text()));
        }
        let late = self.now.duration_since(slot);
        let schedule = job.get("schedule").map(Schedule::from_json);
        let passed_by = match schedule {
            Some(Ok(Schedule::Once { .. })) => (late.as_secs() > ONCE_GRACE_SECONDS)
                .then(|| (Outcome::Missed, once_missed(late.as_secs()))),
            schedule => {
                let grace = match &schedule {
                    Some(Ok(schedule)) => lateness::grace(schedule, self.now, &self.zone),
                    _ => lateness::MIN_GRACE_SECONDS,
                };
                let objection = || catch_up::objection(job, late, self.catches_up);
                let why = (late.as_secs() > grace).then(objection).flatten();
                why.map(|why| (Outcome::Skipped, why))
            }
        };
        passed_by.map_or(Ok(job), Err)
    }
}
