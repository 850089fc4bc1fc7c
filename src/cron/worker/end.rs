//! The end of a run: all that it leaves behind, in one order, each part whatever became of the last.

use std::path::Path;

use jiff::Timestamp;

use super::insist::{Insistence, wants_room};
use super::{Ending, Seat, Worker, cancelled};
use crate::child::leftovers::kill_marked;
use crate::cron::delivery::{Delivered, FAILED};
use crate::cron::finish::{self, Run};
use crate::cron::fire_lock;
use crate::cron::jobs_file::Change;
use crate::cron::output::Document;
use crate::cron::redact::{redact, without};
use crate::cron::run::{EXECUTION_VARIABLE, Report};
use crate::dispatch::ending::{ASKED_TO_END, own_cause};
use crate::dispatch::mode::Mode;
use crate::dispatch::placement::own_cgroup;
use crate::error::{Error, Result};
use crate::fault;
use crate::ledger::{Cause, End, Untold};

impl Worker {
    /// Told to stop, and not by somebody who wanted this run to end. In a unit of our own whoever learns why the
    /// unit was stopped writes the end; beside a dispatcher that lives it is the dispatcher, who knows whether
    /// he is being stopped as well.
    pub(super) fn stopped(&mut self) -> Result<Ending> {
        let _as_far_as_it_went = kill_marked(EXECUTION_VARIABLE, self.id());
        if self.seat.unit.is_some() {
            return Ok(Ending::Stopped);
        }
        let Some((cause, detail)) = self.why_stopped() else {
            let _he_finds_us_gone = self.ledger.record_detail(self.id(), ASKED_TO_END);
            return Ok(Ending::Stopped);
        };
        let detail = detail.as_str();
        let (now, owner, id) = (self.now(), self.owner.clone(), self.id().to_owned());
        let run = Run {
            error: Some(detail),
            ..self.run_of(false)
        };
        let untold = self.try_mark_job(&run).err().map(|_| self.untold(&run));
        if let Some(untold) = untold {
            self.ledger.record_untold(&untold, &owner)?;
        }
        // The dispatcher may be gone by now: nobody else would say that it did not end well.
        if self
            .ledger
            .finish_dead(&id, &owner, (&cause, detail), now)?
        {
            let job = &self.work.task.job_id;
            self.ledger.record_failure(job, detail, None, now)?;
        }
        Ok(Ending::Stopped)
    }

    /// Whoever asked wrote down why; else where we are tells. `None`: the dispatcher is to say.
    fn why_stopped(&self) -> Option<(Cause, String)> {
        let by_itself = if self.payload.unplaced_mode == Mode::Degraded.word() {
            own_cause(self.dispatcher.gone_for().map(|gone| gone.as_secs()))
        } else {
            Some((Cause::Signal, ASKED_TO_END))
        };
        let by_itself = by_itself.map(|(cause, detail)| (cause, detail.to_owned()));
        self.cause().or(by_itself)
    }

    pub(super) fn run_of(&self, ok: bool) -> Run<'_> {
        Run {
            ok,
            error: None,
            delivery_error: None,
            with_agent: self.work.task.work.needs_agent(),
            manual: self.work.manual,
            claim: self.work.claim.as_deref(),
            monitor_digest: None,
            settles: self.work.settles,
        }
    }

    /// Writes all that a run leaves behind, and insists on it for a while. What cannot be written is said in
    /// the row, which goes last.
    pub(super) async fn end(
        &mut self,
        report: Report,
        started: Timestamp,
        oom: bool,
    ) -> Result<Ending> {
        if report.cancelled || report.time_limit || report.signal.is_some() {
            // What left the group of a run that was ended ends as well; a delivery would bear the mark too.
            let _as_far_as_it_went = kill_marked(EXECUTION_VARIABLE, self.id());
        }
        let error = self.error_of(&report, oom);
        let mut troubles = Vec::new();
        let mut insistence = Insistence::new();
        let saved = loop {
            match self.save_document(&report, error.as_deref(), started).await {
                Err(error) if wants_room(&error) && insistence.again(&error).await => {}
                saved => break saved,
            }
        };
        let not_kept =
            |error: Error| troubles.push(format!("its output was not kept: {}", error.in_full()));
        let document = saved.map_err(not_kept).ok();
        fault::point("worker.saved");
        let delivered = self.deliver(&report, error.as_deref()).await;
        let delivery_error = match &delivered {
            Ok(how) => how.objection().map(str::to_owned),
            Err(error) => Some(self.without_secrets(&error.in_full())),
        };
        if !report.cancelled {
            // Whoever asked for its end came too late for the run.
            let _the_row_tells_it = self.ledger.retract_cause(self.id(), &cancelled());
        }
        fault::point("worker.delivered");
        let run = Run {
            error: error.as_deref(),
            delivery_error: delivery_error.as_deref(),
            monitor_digest: report.monitor_digest.as_deref(),
            ..self.run_of(report.ok)
        };
        let marked = loop {
            match self.try_mark_job(&run) {
                Err(error) if insistence.again(&error).await => {}
                marked => break marked,
            }
        };
        // Whoever comes next tells the job.
        let untold = marked.is_err().then(|| self.untold(&run));
        troubles.extend(marked.err().map(|trouble| trouble.in_full()));
        fault::point("worker.marked");
        self.write_cause(&report, error.as_deref(), oom);
        let sent = (delivered.is_err(), delivery_error.as_deref());
        let failed = error.as_deref().filter(|_| !report.cancelled);
        self.see_to_incidents((report.ok, failed), sent, document.as_deref());
        let told: Vec<_> = error.into_iter().chain(troubles).collect();
        let told = (!told.is_empty()).then(|| told.join("; "));
        let delivery = delivered.map_or(FAILED, Delivered::word);
        let end = End {
            ok: report.ok,
            error: told.as_deref(),
            delivery: Some(delivery),
        };
        loop {
            match self.write(end, untold.as_ref()) {
                Err(error) if insistence.again(&error).await => {}
                ended => return ended.map(|_| Ending::Ran(report.ok)),
            }
        }
    }

    /// Writes the end, and before it what the job is still to be told.
    fn write(&mut self, end: End<'_>, untold: Option<&Untold>) -> Result<bool> {
        if let Some(untold) = untold {
            self.ledger.record_untold(untold, &self.owner)?;
        }
        let (id, now) = (self.id().to_owned(), self.now());
        self.ledger.finish(&id, &self.owner, end, now)
    }

    fn error_of(&self, report: &Report, oom: bool) -> Option<String> {
        let error = report.error.as_deref()?;
        let error = self.without_secrets(error);
        Some(match (oom, memory_max()) {
            (true, Some(limit)) => format!("killed at its memory limit ({limit} bytes): {error}"),
            (true, None) => format!("killed by the kernel for want of memory: {error}"),
            _ => error,
        })
    }

    /// Words that are kept, without what only the job may know.
    fn without_secrets(&self, words: &str) -> String {
        let words = without(words, self.secrets.iter().map(String::as_str));
        redact(&words, &self.payload.environment)
    }

    async fn save_document(
        &self,
        report: &Report,
        error: Option<&str>,
        started: Timestamp,
    ) -> Result<String> {
        let now = self.now();
        let document = Document {
            job_id: &self.work.task.job_id,
            name: &self.work.task.name,
            execution_id: self.id(),
            mode: self.mode(),
            outcome: error.unwrap_or("ok"),
            seconds: now.duration_since(started).as_secs(),
            monitor_digest: report.monitor_digest.as_deref(),
            body: &report.body,
        };
        let retention = self.work.task.output_retention;
        let _lock = fire_lock::take(&self.home.cron(), &self.work.task.job_id).await?;
        let path = document.save(&self.home, retention, now, &self.zone)?;
        Ok(path.to_string_lossy().into_owned())
    }

    pub(super) fn try_mark_job(&self, run: &Run<'_>) -> Result<()> {
        let id = &self.work.task.job_id;
        let now = self.now();
        self.jobs().update(now, |jobs| {
            let Some(job) = jobs.find(id) else {
                return Ok(Change::Nothing(()));
            };
            finish::mark(job, run, now, &self.zone);
            Ok(Change::Write(()))
        })
    }

    /// What the job is still to be told.
    fn untold(&self, run: &Run<'_>) -> Untold {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Untold {
            execution_id: self.id().to_owned(),
            claim: owned(run.claim),
            error: owned(run.error),
            delivery_error: owned(run.delivery_error),
            monitor_digest: owned(run.monitor_digest),
        }
    }

    fn write_cause(&self, report: &Report, error: Option<&str>, oom: bool) {
        let cause = match (oom, report.time_limit, report.signal) {
            (true, _, _) => Cause::Oom,
            (_, true, _) => Cause::TimeLimit,
            (_, _, Some(_)) => Cause::Signal,
            _ => return,
        };
        let detail = error.unwrap_or_default();
        let _the_row_says_it_too = self
            .ledger
            .record_cause(self.id(), &cause, detail, self.now());
    }

    /// `failed`: what went wrong, where somebody must learn of it: whoever cancelled a run knows how it ended.
    /// Whether its result arrived is another question.
    fn see_to_incidents(
        &self,
        (ok, failed): (bool, Option<&str>),
        (is_a_failure, undelivered): (bool, Option<&str>),
        document: Option<&str>,
    ) {
        let (job, now) = (&self.work.task.job_id, self.now());
        let resolved = (ok, undelivered.is_none());
        let _told_by_the_row_as_well = self.ledger.resolve_incidents(job, resolved, now);
        if let Some(error) = failed {
            let _told_by_the_row_as_well = self.ledger.record_failure(job, error, document, now);
        }
        let Some(why) = undelivered else { return };
        let _told_by_the_row_as_well = self.ledger.record_delivery_error(self.id(), why);
        if is_a_failure {
            let _told_by_the_job_as_well = self.ledger.record_undelivered(job, why, document, now);
        }
    }
}

/// Whether a run may have ended because the kernel killed in our cgroup meanwhile. In a unit of its own it was
/// something of the run; in the dispatcher's cgroup it may have been anybody, unless the run was killed too.
pub(super) fn may_be_oom(report: &Report, is_placed: bool) -> bool {
    report.signal == Some(9) || (is_placed && !report.ok)
}

/// How often the kernel has killed in our cgroup for want of memory; 0 without a memory controller.
pub(super) fn oom_kills() -> u64 {
    let Some(cgroup) = own_cgroup() else { return 0 };
    let path = Path::new("/sys/fs/cgroup")
        .join(cgroup.trim_start_matches('/'))
        .join("memory.events");
    let text = fs_err::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
    line.and_then(|count| count.trim().parse().ok())
        .unwrap_or(0)
}

/// The limit of our cgroup, in bytes, where there is one.
fn memory_max() -> Option<u64> {
    let cgroup = own_cgroup()?;
    let path = Path::new("/sys/fs/cgroup")
        .join(cgroup.trim_start_matches('/'))
        .join("memory.max");
    fs_err::read_to_string(path).ok()?.trim().parse().ok()
}

/// Root's units are PID 1's; anybody else's are his own manager's.
pub(super) fn manager_word() -> &'static str {
    if rustix::process::geteuid().is_root() {
        "system"
    } else {
        "user"
    }
}

pub(super) fn properties(seat: &Seat) -> String {
    serde_json::json!({ "rejected": seat.dropped, "unplaced_because": seat.because }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_had_killed_is_no_want_of_memory_of_a_run() {
        let report = |ok, signal| Report {
            ok,
            error: None,
            body: String::new(),
            monitor_digest: None,
            time_limit: false,
            cancelled: false,
            signal,
        };
        for (report, placed, unplaced) in [
            (report(false, Some(9)), true, true),
            (report(false, None), true, false),
            (report(false, Some(15)), true, false),
            (report(true, None), false, false),
        ] {
            let may_be = [true, false].map(|is_placed| may_be_oom(&report, is_placed));
            assert_eq!(may_be, [placed, unplaced], "{report:?}");
        }
    }
}
