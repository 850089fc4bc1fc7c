//! What a run leaves behind in its job: pure changes of the raw object, so that keys we do not know
//! survive. The meaning of each key is the other program's.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::job::{Job, RawJob};
use super::next::next_in_cadence;
use super::schedule::Schedule;
use super::stamp::Stamp;
use crate::clock::iso;
use crate::ledger::SlotAt;

/// Longest detail of a failure that a job keeps, in characters.
const DETAIL: usize = 500;

/// How a run ended, as far as its job cares.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// It did what was asked.
    pub ok: bool,
    /// What went wrong, redacted.
    pub error: Option<&'a str>,
    /// Its result was not delivered, and why.
    pub delivery_error: Option<&'a str>,
    /// An agent took part: failures of it in a row are counted.
    pub with_agent: bool,
    /// A person asked for it: it is no slot's run and leaves the schedule alone.
    pub manual: bool,
    /// The claim that this run holds; somebody else's stays.
    pub claim: Option<&'a str>,
    /// Digest of what a monitor has seen.
    pub monitor_digest: Option<&'a str>,
    /// The slot that it accounts for.
    pub settles: Settles,
}

/// Which slot off the schedule is accounted for by a run. A later one may be pending by now, and must
/// not go with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settles {
    /// None: a person asked for it.
    Nothing,
    /// This one.
    Slot(Timestamp),
    /// This one, which stood as a wall clock without an offset: so whichever is pending is meant.
    Naive(Timestamp),
}

impl Settles {
    /// What a run of this slot accounts for, or of none.
    #[must_use]
    pub fn of(slot: Option<SlotAt>) -> Self {
        slot.map_or(Self::Nothing, |SlotAt { at, is_naive }| {
            if is_naive {
                Self::Naive(at)
            } else {
                Self::Slot(at)
            }
        })
    }

    /// Takes the slot off what is pending.
    pub fn settle(self, job: &mut RawJob, zone: &TimeZone) {
        let stamp = job
            .get("pending_slot")
            .and_then(|pending| pending.get("scheduled_at"))
            .and_then(Value::as_str)
            .and_then(Stamp::parse);
        let pending = stamp.and_then(|stamp| stamp.instant(zone));
        let is_meant = match (self, pending) {
            (Self::Nothing, _) => false,
            (Self::Slot(slot), Some(pending)) => slot == pending,
            (Self::Slot(_), None) | (Self::Naive(_), _) => true,
        };
        if is_meant {
            job.remove("pending_slot");
        }
    }
}

/// Marks the end of a run in its job.
pub fn mark(job: &mut RawJob, run: &Run<'_>, now: Timestamp, zone: &TimeZone) {
    let at = iso(now, zone);
    job.insert("last_run_at".into(), json!(at));
    let status = match (run.ok, run.delivery_error) {
        (true, None) => "ok",
        (true, Some(_)) => "delivery_failed",
        (false, _) => "error",
    };
    job.insert("last_status".into(), json!(status));
    job.insert("last_error".into(), json!(run.error));
    job.insert("last_delivery_error".into(), json!(run.delivery_error));
    if run.ok {
        set_own(job, "last_success_at", json!(at));
    } else {
        let detail: String = run.error.unwrap_or("failed").chars().take(DETAIL).collect();
        job.insert("last_failure".into(), json!({"at": at, "detail": detail}));
    }
    if run.with_agent {
        let streak = job
            .get("failure_streak")
            .and_then(Value::as_u64)
            .unwrap_or(0);
        job.insert(
            "failure_streak".into(),
            json!(if run.ok { 0 } else { streak + 1 }),
        );
    }
    if let Some(digest) = run.monitor_digest {
        set_own(job, "monitor_digest", json!(digest));
    }
    release(job, run.claim);
    run.settles.settle(job, zone);
    if !run.manual {
        count(job);
    }
    go_on(job, run, now, zone);
}

/// Changes one key of our own corner of a job. A corner that is no object is made one.
pub(super) fn set_own(job: &mut RawJob, key: &str, value: Value) {
    let mut corner = match job.remove("x_hermes") {
        Some(Value::Object(corner)) => corner,
        _ => Map::new(),
    };
    corner.insert(key.to_owned(), value);
    job.insert("x_hermes".to_owned(), Value::Object(corner));
}

/// Lets go of the claims of a run. A claim that is not ours is somebody else's run.
pub fn release(job: &mut RawJob, claim: Option<&str>) {
    let holder = |job: &RawJob, key: &str| {
        job.get(key)
            .and_then(|held| held.get("by"))
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    if claim.is_some() && holder(job, "fire_claim").as_deref() == claim {
        job.insert("fire_claim".into(), Value::Null);
    }
    if job.contains_key("run_claim") {
        job.insert("run_claim".into(), Value::Null);
    }
}

/// Lets go of a job that is still to be run, where this claim still holds it; says whether it did.
pub fn put_back(job: &mut RawJob, claim: &str) -> bool {
    let held = Job::read(job).fire_claim().map(|held| held.by == claim);
    if held == Some(true) {
        release(job, Some(claim));
    }
    held == Some(true)
}

/// Ends the lease of a one-shot that this machine took and does not run; says whether there was one.
pub fn end_lease(job: &mut RawJob, machine: &str) -> bool {
    let held = Job::read(job)
        .run_claim()
        .is_some_and(|held| held.by == machine);
    if held {
        job.insert("run_claim".into(), Value::Null);
    }
    held
}

/// Lets go of a job that was not run: its slot is accounted for, and a run that somebody asked for and that
/// must not be is not asked for again at each scan.
pub fn decline(
    job: &mut RawJob,
    (claim, settles): (&str, Settles),
    now: Timestamp,
    zone: &TimeZone,
) {
    release(job, Some(claim));
    settles.settle(job, zone);
    if Job::read(job).is_manual() {
        move_on(job, settles, now, zone);
    }
}

/// Counts a run of the schedule. A one-shot was counted before its side effects, where that could be
/// written, and is not counted twice.
fn count(job: &mut RawJob) {
    if is_once(job) {
        count_once(job);
        return;
    }
    if let Some(repeat) = job.get_mut("repeat").and_then(Value::as_object_mut) {
        let completed = repeat
            .get("completed")
            .and_then(Value::as_i64)
            .unwrap_or(0)
            .max(0);
        repeat.insert("completed".into(), json!(completed.saturating_add(1)));
    }
}

fn is_once(job: &RawJob) -> bool {
    let kind = job
        .get("schedule")
        .and_then(|schedule| schedule.get("kind"));
    kind.and_then(Value::as_str) == Some("once")
}

/// Counts the one run of a one-shot, however often it is told; of any other job it counts nothing. To
/// be written before the side effects: a one-shot whose end nobody saw must not run again.
pub fn count_once(job: &mut RawJob) {
    if !is_once(job) {
        return;
    }
    if !job.get("repeat").is_some_and(Value::is_object) {
        job.insert("repeat".into(), json!({"times": 1, "completed": 0}));
    }
    if let Some(repeat) = job.get_mut("repeat").and_then(Value::as_object_mut) {
        let completed = repeat.get("completed").and_then(Value::as_i64).unwrap_or(0);
        repeat.insert("completed".into(), json!(completed.max(1)));
    }
}

/// Ends a job whose runs are used up, and sees to it that any other has a next slot.
fn go_on(job: &mut RawJob, run: &Run<'_>, now: Timestamp, zone: &TimeZone) {
    let once = is_once(job);
    let repeat = |key: &str| {
        job.get("repeat")
            .and_then(|repeat| repeat.get(key))
            .and_then(Value::as_i64)
    };
    let used_up =
        repeat("times").is_some_and(|times| times > 0 && repeat("completed").unwrap_or(0) >= times);
    if used_up || (once && repeat("completed").unwrap_or(0) > 0) {
        job.insert("enabled".into(), json!(false));
        job.insert("state".into(), json!("completed"));
        job.insert("next_run_at".into(), Value::Null);
        return;
    }
    if !once {
        move_on(job, run.settles, now, zone);
    }
}

/// Our own note of the slot that comes after a run that somebody asked for, which takes none, and of when
/// that run is: it says nothing of any other.
const SET_ASIDE: &str = "next_after_run";

/// Puts a run that somebody asks for before this slot. Both programs read a next run that is named so as
/// one that was asked for.
pub(super) fn ask_for(job: &mut RawJob, at: &str, slot: &str) {
    set_own(job, SET_ASIDE, json!({"run": at, "slot": slot}));
    job.insert("next_run_at".into(), json!(at));
    job.insert("manual_run_at".into(), json!(at));
}

/// The slot that waits behind a run that was asked for.
#[must_use]
pub fn set_aside(job: &RawJob) -> Option<&str> {
    let asked_for = Job::read(job).is_manual();
    let note = job.get("x_hermes")?.get(SET_ASIDE)?;
    let of_this = note.get("run")? == job.get("manual_run_at")?;
    note.get("slot")?.as_str().filter(|_| asked_for && of_this)
}

/// Sees to it that a recurring job has a next slot.
fn move_on(job: &mut RawJob, settles: Settles, now: Timestamp, zone: &TimeZone) {
    let schedule = job.get("schedule").map(Schedule::from_json);
    let stored = job
        .get("next_run_at")
        .and_then(Value::as_str)
        .and_then(Stamp::parse);
    let stored = stored.and_then(|stamp| stamp.instant(zone));
    // What is due by now and is not the slot of this run is the next scan's, which accounts for it.
    let asked_for = Job::read(job).is_manual();
    let is_ours = |at: Timestamp| match settles {
        Settles::Slot(slot) | Settles::Naive(slot) => at <= slot,
        Settles::Nothing => asked_for && at <= now,
    };
    if stored.is_some_and(|at| !is_ours(at)) {
        return;
    }
    if let Some(slot) = set_aside(job).map(str::to_owned) {
        if let Some(Value::Object(corner)) = job.get_mut("x_hermes") {
            corner.remove(SET_ASIDE);
        }
        // Where it has come meanwhile it is the next scan's, as after any run by hand.
        job.insert("next_run_at".into(), slot.into());
        return;
    }
    let next = match &schedule {
        Some(Ok(schedule)) => next_in_cadence(schedule, stored.unwrap_or(now), now, zone),
        _ => None,
    };
    match next {
        Some(next) => {
            job.insert("next_run_at".into(), json!(next.stamp.to_string()));
        }
        // It stays enabled: a person must see that it no longer fires.
        None => {
            job.insert("state".into(), json!("error"));
        }
    }
}

#[cfg(test)]
mod tests;
