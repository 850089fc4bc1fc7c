//! A run that came to its end, and whose worker was gone before it had told so: the document that it
//! saved says how it ended. Its result is delivered once; where it may be on its way already, never again.

use tokio::sync::watch;

use super::close::owner_of;
use super::{Dispatcher, blocking};
use crate::cron::delivery::{Command, Deliver as _, Delivered, FAILED, Parcel, UNKNOWN};
use crate::cron::fire_lock;
use crate::cron::job::Job;
use crate::cron::jobs_file::Change;
use crate::cron::redact::redact;
use crate::cron::task;
use crate::cron::view_log_file::{Saved, saved_of};
use crate::error::Result;
use crate::fault;
use crate::ledger::{End, Execution, Status, Untold};

/// Why a result did not arrive whose worker was gone before it had said so.
const NOBODY_SAID: &str = "its worker was gone before it could say why";

/// To whom a result goes.
struct Target {
    name: String,
    argv: Vec<String>,
}

impl Dispatcher {
    /// Closes a row by what its run has saved, and delivers that; `None`: it has saved nothing.
    pub(super) async fn close_by_document(
        &self,
        row: &Execution,
        (why, cancelled): (&str, bool),
        claim: Option<&str>,
    ) -> Result<Option<bool>> {
        let Some(saved) = self.saved(row).await? else {
            return Ok(None);
        };
        let target = self.target(row).await?.filter(|to| !to.argv.is_empty());
        // What nobody has begun to send, nobody wants any more where its run was cancelled.
        let unwanted = target.is_some() && cancelled && row.delivery_outcome.is_none();
        let given_up = unwanted.then(|| Delivered::Cancelled.word().to_owned());
        let begun = row.delivery_outcome.clone().or(given_up);
        // Written before anything is sent: whoever is killed from here on leaves it unknown.
        let word = match (&begun, &target) {
            (Some(word), _) => word.clone(),
            (None, Some(_)) => UNKNOWN.to_owned(),
            (None, None) => Delivered::Suppressed.word().to_owned(),
        };
        let late = format!("the run came to its end, and was booked later: {why}");
        let untold = Untold {
            execution_id: row.id.clone(),
            claim: claim.map(str::to_owned),
            error: saved.error.clone(),
            delivery_error: (word == Delivered::Cancelled.word())
                .then(|| Delivered::Cancelled.objection().map(str::to_owned))
                .flatten(),
            monitor_digest: saved.monitor_digest.clone(),
        };
        let said = (late.as_str(), word.as_str(), cancelled);
        if !self.book(row, &saved, untold, said).await? {
            return Ok(Some(false));
        }
        fault::point("dispatcher.closed");
        (self.parts.say)(&format!(
            "Run {} of job {} has ended: {late}.",
            row.id, row.job_id
        ));
        self.tell_of_ends(Some(&row.id)).await?;
        fault::point("dispatcher.booked");
        if begun.as_deref() == Some(FAILED) {
            self.tell_undelivered(row, &saved).await;
        }
        if let Some(target) = target.filter(|_| begun.is_none()) {
            self.deliver_late(row, &saved, &target).await;
        }
        Ok(Some(true))
    }

    /// Whether a run has a result that nobody has begun to deliver, and somebody to deliver it to.
    pub(super) async fn is_undelivered(&self, row: &Execution) -> bool {
        row.delivery_outcome.is_none()
            && matches!(self.saved(row).await, Ok(Some(_)))
            && matches!(self.target(row).await, Ok(Some(target)) if !target.argv.is_empty())
    }

    async fn saved(&self, row: &Execution) -> Result<Option<Saved>> {
        if row.status != Status::Running {
            return Ok(None);
        }
        let (home, job, id) = (self.parts.home.clone(), row.job_id.clone(), row.id.clone());
        blocking(move || Ok(saved_of(&home, &job, &id))).await
    }

    async fn target(&self, row: &Execution) -> Result<Option<Target>> {
        let id = row.job_id.clone();
        self.with_jobs(move |jobs| {
            let target = jobs.find(&id).map(|job| {
                let job = Job::read(job);
                Target {
                    name: job.label().to_owned(),
                    argv: task::deliver_command(&job),
                }
            });
            Ok(Change::Nothing(target))
        })
        .await
    }

    /// Ends the row, and sees to the incidents as the worker would have.
    async fn book(
        &self,
        row: &Execution,
        saved: &Saved,
        untold: Untold,
        (late, delivery, cancelled): (&str, &str, bool),
    ) -> Result<bool> {
        let (id, job_id, owner) = (row.id.clone(), row.job_id.clone(), owner_of(row));
        let failed = saved.error.clone();
        let told = failed
            .as_ref()
            .map_or_else(|| late.to_owned(), |error| format!("{error}; {late}"));
        let document = saved.path.to_string_lossy().into_owned();
        let (now, delivery) = (self.now(), delivery.to_owned());
        self.with_ledger(move |ledger| {
            ledger.record_untold(&untold, &owner)?;
            let end = End {
                ok: failed.is_none(),
                error: Some(&told),
                delivery: Some(&delivery),
            };
            if !ledger.finish(&id, &owner, end, now)? {
                return Ok(false);
            }
            let cancelled_on_its_way = delivery == Delivered::Cancelled.word();
            let nothing_is_left =
                delivery != UNKNOWN && delivery != FAILED && !cancelled_on_its_way;
            let resolved = (failed.is_none() && !cancelled, nothing_is_left);
            ledger.resolve_incidents(&job_id, resolved, now)?;
            if let Some(error) = failed.filter(|_| !cancelled) {
                ledger.record_failure(&job_id, &error, Some(&document), now)?;
            }
            Ok(true)
        })
        .await
    }

    /// A delivery that fails is told in the row and in the job; the run is not touched by it.
    async fn deliver_late(&self, row: &Execution, saved: &Saved, target: &Target) {
        let parcel = Parcel {
            job: &target.name,
            execution_id: &row.id,
            ok: saved.error.is_none(),
            text: saved.error.as_deref().unwrap_or(&saved.body),
        };
        // Its row has ended: there is no run to cancel any more.
        let (_nobody_cancels, cancel) = watch::channel(false);
        let command = Command {
            argv: &target.argv,
            environment: &self.parts.environment,
            guard: true,
            cancel,
        };
        let delivered = match fire_lock::take(&self.parts.home.cron(), &row.job_id).await {
            Ok(_lock) => command.deliver(&parcel).await,
            Err(error) => Err(error),
        };
        let word = delivered.as_ref().map_or(FAILED, |how| how.word());
        let error = delivered.err();
        let error = error.map(|error| redact(&error.in_full(), &self.parts.environment));
        let result = format!("The result of run {} of job {}", row.id, row.job_id);
        let told = match &error {
            Some(error) => format!("{result} was not delivered: {error}."),
            None => format!("{result} was delivered after all."),
        };
        (self.parts.say)(&told);
        let settled = self
            .settle_delivery(row, (word, error.clone()), saved)
            .await;
        let marked = match error {
            Some(error) => self.mark_undelivered(row, error).await.map(drop),
            None => Ok(()),
        };
        self.say_if_lost(settled.and(marked));
    }

    /// Tells of a delivery that has failed, and whose worker may not have come to say why.
    async fn tell_undelivered(&self, row: &Execution, saved: &Saved) {
        let told = match self.mark_undelivered(row, NOBODY_SAID.to_owned()).await {
            Ok(why) => self.settle_delivery(row, (FAILED, Some(why)), saved).await,
            Err(error) => Err(error),
        };
        self.say_if_lost(told);
    }

    fn say_if_lost(&self, told: Result<()>) {
        if let Err(error) = told {
            (self.parts.say)(&format!("What became of a delivery is not kept: {error}."));
        }
    }

    async fn settle_delivery(
        &self,
        row: &Execution,
        (word, error): (&'static str, Option<String>),
        saved: &Saved,
    ) -> Result<()> {
        let (id, job_id, now) = (row.id.clone(), row.job_id.clone(), self.now());
        let document = saved.path.to_string_lossy().into_owned();
        self.with_ledger(move |ledger| {
            ledger.settle_delivery(&id, word)?;
            let Some(error) = error else {
                return ledger.resolve_incidents(&job_id, (false, true), now);
            };
            ledger.record_delivery_error(&id, &error)?;
            ledger
                .record_undelivered(&job_id, &error, Some(&document), now)
                .map(drop)
        })
        .await
    }

    /// Marks it in the job, which may know better why; gives the reason.
    async fn mark_undelivered(&self, row: &Execution, error: String) -> Result<String> {
        let id = row.job_id.clone();
        self.with_jobs(move |jobs| {
            let Some(job) = jobs.find(&id) else {
                return Ok(Change::Nothing(error.clone()));
            };
            let known = job.get("last_delivery_error").and_then(|why| why.as_str());
            if let Some(known) = known.filter(|_| error == NOBODY_SAID) {
                return Ok(Change::Nothing(known.to_owned()));
            }
            if Job::read(job).last_status.text() == Some("ok") {
                job.insert("last_status".into(), "delivery_failed".into());
            }
            job.insert("last_delivery_error".into(), error.clone().into());
            Ok(Change::Write(error.clone()))
        })
        .await
    }
}
