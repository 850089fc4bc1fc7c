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
    /// Whichever is pending: the slot of this run is a wall clock without an offset.
    Whichever,
}

impl Settles {
    /// What an order accounts for.
    #[must_use]
    pub fn of(manual: bool, slot: Option<Timestamp>) -> Self {
        match slot {
            _ if manual => Self::Nothing,
            Some(slot) => Self::Slot(slot),
            None => Self::Whichever,
        }
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
            (Self::Slot(_), None) | (Self::Whichever, _) => true,
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
    let schedule = job.get("schedule").map(Schedule::from_json);
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
    let stored = job
        .get("next_run_at")
        .and_then(Value::as_str)
        .and_then(Stamp::parse);
    let stored = stored.and_then(|stamp| stamp.instant(zone));
    // What is due by now and is not the slot of this run is the next scan's, which accounts for it.
    let asked_for = Job::read(job).is_manual();
    let is_ours = |at: Timestamp| match run.settles {
        Settles::Slot(slot) => at <= slot,
        Settles::Nothing => asked_for && at <= now,
        Settles::Whichever => at <= now,
    };
    if once || stored.is_some_and(|at| !is_ours(at)) {
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
mod tests {
    use super::*;

    fn job(json: &Value) -> RawJob {
        json.as_object().unwrap().clone()
    }

    fn now() -> Timestamp {
        "2026-06-17T10:00:00Z".parse().unwrap()
    }

    fn run(ok: bool) -> Run<'static> {
        Run {
            ok,
            error: (!ok).then_some("Script exited with code 3"),
            delivery_error: None,
            with_agent: false,
            manual: false,
            claim: Some("host:1:aa"),
            monitor_digest: None,
            settles: Settles::Whichever,
        }
    }

    fn recurring() -> RawJob {
        job(&json!({
            "id": "a", "enabled": true, "state": "scheduled",
            "schedule": {"kind": "interval", "minutes": 30, "display": "every 30m"},
            "repeat": {"times": null, "completed": 4},
            "next_run_at": "2026-06-17T10:30:00+00:00",
            "fire_claim": {"at": "x", "by": "host:1:aa"}, "pending_slot": {"x": 1}, "future": [1]
        }))
    }

    #[test]
    fn b73_a_good_run_keeps_the_slot_that_was_planned() {
        let mut job = recurring();
        mark(&mut job, &run(true), now(), &TimeZone::UTC);
        assert_eq!(job["next_run_at"], "2026-06-17T10:30:00+00:00");
        assert_eq!(
            (&job["last_status"], &job["repeat"]["completed"]),
            (&json!("ok"), &json!(5))
        );
        assert_eq!(job["fire_claim"], Value::Null);
        assert!(!job.contains_key("pending_slot") && job.contains_key("future"));
    }

    #[test]
    fn b143_the_last_success_survives_a_failure_and_a_delivery_error() {
        let mut job = recurring();
        mark(&mut job, &run(true), now(), &TimeZone::UTC);
        let later = now() + jiff::SignedDuration::from_hours(1);
        mark(&mut job, &run(false), later, &TimeZone::UTC);
        let undelivered = Run {
            delivery_error: Some("no mailer"),
            ..run(true)
        };
        assert_eq!(
            job["x_hermes"]["last_success_at"],
            "2026-06-17T10:00:00+00:00"
        );
        assert_eq!(job["last_failure"]["detail"], "Script exited with code 3");
        mark(&mut job, &undelivered, later, &TimeZone::UTC);
        assert_eq!(job["last_status"], "delivery_failed");
        assert_eq!(
            job["last_failure"]["detail"], "Script exited with code 3",
            "it is sticky"
        );
    }

    #[test]
    fn a_slot_that_passed_during_the_run_is_still_to_be_run() {
        let mut job = recurring();
        let by_hand = Run {
            manual: true,
            settles: Settles::Nothing,
            ..run(true)
        };
        let of_nine = Run {
            settles: Settles::Slot("2026-06-17T09:00:00Z".parse().unwrap()),
            ..run(true)
        };
        for run in [&by_hand, &of_nine] {
            job.insert("next_run_at".into(), json!("2026-06-17T09:30:00+00:00"));
            mark(&mut job, run, now(), &TimeZone::UTC);
            assert_eq!(job["next_run_at"], "2026-06-17T09:30:00+00:00");
        }
        job.insert("next_run_at".into(), json!("2026-06-17T09:59:00+00:00"));
        job.insert("manual_run_at".into(), json!("2026-06-17T09:59:00+00:00"));
        mark(&mut job, &by_hand, now(), &TimeZone::UTC);
        assert!(
            job["next_run_at"].as_str() > Some("2026-06-17T10:00:00"),
            "a run that somebody asked for is no slot"
        );
    }

    #[test]
    fn a_one_shot_ends_with_its_one_run_however_that_went() {
        for ok in [true, false] {
            let mut job = recurring();
            job.insert(
                "schedule".into(),
                json!({"kind": "once", "run_at": "2026-06-17T09:59:00+00:00"}),
            );
            job.insert("repeat".into(), json!({"times": 1, "completed": 0}));
            let by_hand = Run {
                manual: true,
                ..run(ok)
            };
            mark(&mut job, &by_hand, now(), &TimeZone::UTC);
            assert_eq!(job["enabled"], true, "a run by hand is not its one run");
            count_once(&mut job);
            mark(&mut job, &run(ok), now(), &TimeZone::UTC);
            assert_eq!(job["repeat"]["completed"], 1);
            assert_eq!(
                (&job["enabled"], &job["state"], &job["next_run_at"]),
                (&json!(false), &json!("completed"), &Value::Null)
            );
        }
    }

    #[test]
    fn b61_a_recurring_job_never_ends_itself() {
        let mut job = recurring();
        job.insert(
            "schedule".into(),
            json!({"kind": "cron", "expr": "no such thing"}),
        );
        job.insert("next_run_at".into(), Value::Null);
        mark(&mut job, &run(true), now(), &TimeZone::UTC);
        assert_eq!(
            (&job["enabled"], &job["state"]),
            (&json!(true), &json!("error"))
        );
    }

    #[test]
    fn runs_that_are_used_up_end_the_job() {
        let mut job = recurring();
        job.insert("repeat".into(), json!({"times": 5, "completed": 4}));
        mark(&mut job, &run(true), now(), &TimeZone::UTC);
        assert_eq!(
            (&job["enabled"], &job["state"]),
            (&json!(false), &json!("completed"))
        );
        assert_eq!(job["next_run_at"], Value::Null);
    }

    #[test]
    fn a_run_by_hand_counts_for_nothing_and_leaves_the_slot() {
        let mut job = recurring();
        let manual = Run {
            manual: true,
            ..run(true)
        };
        mark(&mut job, &manual, now(), &TimeZone::UTC);
        assert_eq!(job["repeat"]["completed"], 4);
        assert_eq!(job["next_run_at"], "2026-06-17T10:30:00+00:00");
    }

    #[test]
    fn a_claim_of_somebody_else_stays() {
        let mut job = recurring();
        let stranger = Run {
            claim: Some("host:2:bb"),
            ..run(true)
        };
        mark(&mut job, &stranger, now(), &TimeZone::UTC);
        assert_eq!(job["fire_claim"]["by"], "host:1:aa");
    }

    #[test]
    fn failures_of_the_agent_are_counted_and_a_success_clears_them() {
        let mut job = recurring();
        let failed = Run {
            with_agent: true,
            ..run(false)
        };
        mark(&mut job, &failed, now(), &TimeZone::UTC);
        mark(&mut job, &failed, now(), &TimeZone::UTC);
        assert_eq!(job["failure_streak"], 2);
        let good = Run {
            with_agent: true,
            ..run(true)
        };
        mark(&mut job, &good, now(), &TimeZone::UTC);
        assert_eq!(job["failure_streak"], 0);
    }
}
