//! Slots that nobody runs, and what is told of them: in the ledger, to whoever listens, and in a document
//! where the job itself is gone. Pure.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::catch_up::{Passed, passed_over};
use super::due::{Change, Reason, Scene};
use super::job::{Job, RawJob};
use super::next::next_in_cadence;
use super::schedule::Schedule;
use super::stamp::Stamp;
use crate::ledger::store::utc;
use crate::ledger::{Outcome, Slot, SlotRange};
use crate::output::human;

/// The record of a slot that was passed over for this reason.
pub(super) fn skipped(job_id: &str, slot: Timestamp, reason: &str) -> Slot {
    Slot {
        job_id: job_id.to_owned(),
        scheduled_at: utc(slot),
        outcome: Outcome::Skipped,
        reason: Some(reason.to_owned()),
        execution_id: None,
    }
}

/// Why slots were missed for which another one stands, whatever becomes of that.
pub(super) const STOOD_FOR: &str =
    "nobody was there to run it; the first one that was missed stands for it";
/// Why slots were left out while nothing was to be started.
pub(super) const UNDER_STOP: &str = "an emergency stop was in force";
/// Why slots were missed after one that comes too late to be run.
pub(super) const LATE_AS_WELL: &str =
    "nobody was there to run it, and no late run stands for those that were missed";
/// Why slots were missed after one that had run.
const JUMPED: &str = "nobody was there to run it, and the slot before it had run";

/// Why a one-shot that is found so many seconds after its time is not run any more.
pub(super) fn once_missed(late_seconds: i64) -> String {
    let late = human::duration(late_seconds);
    format!("missed: nobody ran it in time, and it was found {late} late")
}

/// What is to be recorded of slots that do not run.
#[derive(Debug, Default)]
pub struct Records {
    /// One by one.
    pub slots: Vec<Slot>,
    /// Too many for that.
    pub ranges: Vec<SlotRange>,
}

impl Records {
    /// Whether there is nothing to record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty() && self.ranges.is_empty()
    }

    /// Of slots that were passed over, each became this.
    pub(super) fn add(
        &mut self,
        job_id: &str,
        passed: &Passed,
        (outcome, reason): (Outcome, &str),
    ) {
        let slot = |at: &Timestamp| Slot {
            outcome,
            ..skipped(job_id, *at, reason)
        };
        self.slots.extend(passed.slots.iter().map(slot));
        self.ranges.extend(passed.rest.map(|rest| SlotRange {
            job_id: job_id.to_owned(),
            first_at: utc(rest.first),
            last_at: utc(rest.last),
            count: rest.count.and_then(|count| i64::try_from(count).ok()),
            outcome,
            reason: Some(reason.to_owned()),
        }));
    }

    /// Of the slots between one that has run already and now: whoever ran it was gone when they came.
    pub(super) fn jumped(&mut self, job: &RawJob, job_id: &str, scene: &Scene<'_>) {
        let view = Job::read(job);
        let taken = view.pending_slot();
        let taken = taken.and_then(|slot| scene.zones.instant(slot.scheduled_at));
        let first = taken.into_iter().chain(stood(job, scene)).min();
        let over = first.map(|first| passed_over(job, first, scene.now, &scene.zones.configured));
        self.add(job_id, &over.unwrap_or_default(), (Outcome::Missed, JUMPED));
    }
}

/// The slot that stands in a job.
pub(super) fn stood(job: &RawJob, scene: &Scene<'_>) -> Option<Timestamp> {
    let text = job.get("next_run_at").and_then(Value::as_str)?;
    scene.zones.instant(text)
}

/// The record of the slot that stands in a job, where a change puts another in its place without a run.
pub(super) fn moved(job: &RawJob, change: &Change, scene: &Scene<'_>) -> Option<Slot> {
    let why = change.reasons.iter().find_map(|reason| match reason {
        Reason::OffSchedule => Some("its schedule does not have it any more"),
        Reason::ZoneChanged => Some("it was planned by the clock of another zone"),
        Reason::Rearmed => Some("the last run failed, and the job was silent for too long"),
        Reason::ClockWentBack => Some("the clock was set back, and it lay too far off"),
        _ => None,
    })?;
    let stood = stood(job, scene)?;
    let next = change.set.get("next_run_at").and_then(Value::as_str)?;
    if stood > scene.now && comes_all_the_same(job, next, (stood, scene)) {
        return None;
    }
    Some(skipped(
        &change.job_id,
        stood,
        &format!("not run: {why}; the next run was set to {next}"),
    ))
}

/// The time of a one-shot, as its schedule has it.
fn own_time(job: &RawJob, scene: &Scene<'_>) -> Option<Timestamp> {
    match job.get("schedule").map(Schedule::from_json) {
        Some(Ok(Schedule::Once { at, .. })) => at.instant(&scene.zones.system),
        _ => None,
    }
}

/// Whether a slot that lies ahead is one of the cadence still that begins with an earlier one.
fn comes_all_the_same(job: &RawJob, next: &str, (stood, scene): (Timestamp, &Scene<'_>)) -> bool {
    let schedule = job.get("schedule").map(Schedule::from_json);
    let first = scene.zones.instant(next);
    let (Some(Ok(schedule)), Some(first)) = (schedule, first) else {
        return false;
    };
    let zone = &scene.zones.configured;
    let before = SignedDuration::from_nanos(1);
    let last = stood.checked_sub(before).unwrap_or(stood);
    let next = next_in_cadence(&schedule, first, last, zone);
    next.is_some_and(|next| next.instant == stood)
}

/// A one-shot whose record is removed, and of which somebody must learn.
#[derive(Clone, Debug)]
pub(super) struct Gone {
    pub(super) job_id: String,
    pub(super) name: String,
    pub(super) why: Reason,
    slot: Option<Timestamp>,
    late_seconds: i64,
}

impl Gone {
    /// The job, as it stood, and why it goes.
    pub(super) fn of(job: &RawJob, job_id: &str, why: Reason, scene: &Scene<'_>) -> Self {
        let slot = stood(job, scene).or_else(|| own_time(job, scene));
        let name = job.get("name").and_then(Value::as_str);
        Self {
            job_id: job_id.to_owned(),
            name: name.unwrap_or_default().to_owned(),
            why,
            slot,
            late_seconds: slot.map_or(0, |slot| scene.now.duration_since(slot).as_secs()),
        }
    }

    /// What the ledger says of its slot.
    pub(super) fn slot(&self) -> Option<Slot> {
        let outcome = if self.why == Reason::OnceMissed {
            Outcome::Missed
        } else {
            Outcome::Skipped
        };
        self.slot.map(|slot| Slot {
            outcome,
            ..skipped(&self.job_id, slot, &self.error())
        })
    }

    /// What went wrong.
    pub(super) fn error(&self) -> String {
        match self.why {
            Reason::OnceMissed => once_missed(self.late_seconds),
            _ => "it counts as run, and no run of it is on record".to_owned(),
        }
    }

    /// The same for whoever listens.
    pub(super) fn sentence(&self, zone: &TimeZone) -> String {
        format!(
            "The one-shot {} ({}) will not run: {}; {}.",
            self.job_id,
            human::printable(&self.name),
            self.was_due(zone),
            self.error()
        )
    }

    /// What stays of it in a document.
    pub(super) fn body(&self, zone: &TimeZone) -> String {
        format!(
            "The job was a one-shot, and its record is removed from the store: {}; {}.",
            self.was_due(zone),
            self.error()
        )
    }

    fn was_due(&self, zone: &TimeZone) -> String {
        self.slot.map_or_else(
            || "its time cannot be read".to_owned(),
            |slot| format!("it was due at {}", Stamp::of(slot, zone)),
        )
    }
}
