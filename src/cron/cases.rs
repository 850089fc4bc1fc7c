//! Tests: the field cases about missed runs, one-shots and catch-up, as scans.

use std::collections::HashSet;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use super::due::{Due, NoWitness, OrderKind, Policy, Reason, Scene, Witness, due};
use super::lateness::Lateness;
use super::next::{self, Zones};
use super::schedule::Schedule;
use super::seasons::{at, cron, zone};

/// A job every half hour, with what is said over it.
pub(super) fn job(change: Value) -> Map<String, Value> {
    let mut job = json!({
        "id": "job000000001", "enabled": true, "state": "scheduled",
        "repeat": {"times": null, "completed": 0}, "next_run_at": null, "last_run_at": null,
        "schedule": {"kind": "interval", "minutes": 30},
    });
    let (Some(job), Value::Object(change)) = (job.as_object_mut(), change) else {
        panic!("two objects")
    };
    job.extend(change);
    job.clone()
}

fn scan(job: &Map<String, Value>, now: &str, policy: Policy, witness: &dyn Witness) -> Due {
    let zones = Zones::of(zone("Europe/Berlin"));
    let scene = Scene {
        now: at(now),
        last_pass: None,
        zones: &zones,
        policy,
        machine: "here:1",
        running: &HashSet::new(),
        witness,
    };
    due([(0, job)], &scene, &mut || "new".to_owned())
}

fn scanned(change: Value, now: &str) -> Due {
    scan(&job(change), now, Policy::default(), &NoWitness)
}

#[test]
fn b68_a_late_run_is_yesterdays_and_leaves_todays_slot_alone() {
    let evening = json!({
        "schedule": {"kind": "cron", "expr": "30 19 * * *"},
        "next_run_at": "2026-06-16T19:30:00+02:00",
    });
    let found = scanned(evening.clone(), "2026-06-17T10:57:00+02:00");
    let [order] = found.orders.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(
        order.scheduled_instant().as_deref(),
        Some("2026-06-16T17:30:00+00:00")
    );
    assert_eq!(order.kind, OrderKind::Scheduled(Lateness::CatchUp));
    assert_eq!(
        found.changes[0].set["next_run_at"],
        "2026-06-17T19:30:00+02:00"
    );
    let never = Policy {
        catch_up_missed: false,
        ..Policy::default()
    };
    let found = scan(
        &job(evening),
        "2026-06-17T10:57:00+02:00",
        never,
        &NoWitness,
    );
    assert!(found.orders.is_empty());
    assert_eq!(found.changes[0].reasons, [Reason::Skipped]);
}

#[test]
fn b74_a_missed_one_shot_is_seen() {
    let once = json!({
        "schedule": {"kind": "once", "run_at": "2026-06-17T09:00:00+02:00"},
        "repeat": {"times": 1, "completed": 0},
    });
    let found = scanned(once, "2026-06-17T14:00:00+02:00");
    assert!(found.orders.is_empty());
    assert_eq!(found.changes[0].reasons, [Reason::OnceMissed]);
}

#[test]
fn b75_a_late_one_shot_does_not_run_whether_its_slot_is_stored_or_not() {
    for next in [json!("2026-06-17T09:00:00+02:00"), Value::Null] {
        let once = json!({
            "schedule": {"kind": "once", "run_at": "2026-06-17T09:00:00+02:00"},
            "repeat": {"times": 1, "completed": 0}, "next_run_at": next,
        });
        let found = scanned(once, "2026-06-17T14:00:00+02:00");
        assert!(found.orders.is_empty());
        assert_eq!(found.changes[0].reasons, [Reason::OnceMissed], "{found:?}");
    }
}

#[test]
fn b76_a_one_shot_of_the_past_is_refused_where_it_is_written() {
    let zone = TimeZone::UTC;
    let now = at("2026-06-17T12:00:00Z");
    let judge = |text: &str| {
        let reading = Schedule::parse(text, now, &zone).expect("a schedule");
        reading.schedule.must_come(now, &zone)
    };
    let refusal = judge("2026-06-15T12:00").expect_err("two days ago");
    assert!(
        refusal.message.contains("2026-06-15T12:00:00+00:00"),
        "{refusal}"
    );
    assert!(judge("2026-06-17T11:57:59").is_err());
    for good in [
        "2026-06-17T11:58:00",
        "2026-06-18",
        "in 0m",
        "every 5m",
        "0 9 * * *",
    ] {
        assert_eq!(judge(good), Ok(()), "{good}");
    }
}

#[test]
fn b84_a_slot_of_the_past_fires_once_and_the_next_lies_ahead() {
    let now = "2026-06-17T12:00:00+02:00";
    for schedule in [
        json!({"kind": "interval", "minutes": 5}),
        json!({"kind": "cron", "expr": "*/5 * * * *"}),
    ] {
        let mut job =
            job(json!({"schedule": schedule, "next_run_at": "2026-06-17T11:00:00+02:00"}));
        let found = scan(&job, now, Policy::default(), &NoWitness);
        assert_eq!(found.orders.len(), 1);
        job.extend(found.changes[0].set.clone());
        assert!(at(job["next_run_at"].as_str().expect("text")) > at(now));
        // The run claims its slot, and the next pass finds nothing.
        job.shift_remove("pending_slot");
        assert_eq!(
            scan(&job, now, Policy::default(), &NoWitness),
            Due::default()
        );
    }
}

/// Knows one finished slot.
struct Finished(&'static str, &'static str);

impl Witness for Finished {
    fn completed(&self, _: &str, slot: Timestamp) -> Option<Timestamp> {
        (slot == at(self.0)).then(|| at(self.1))
    }

    fn is_dead(&self, _: &str) -> bool {
        false
    }

    fn is_open(&self, _: &str) -> bool {
        false
    }
}

/// Knows one run that goes on.
struct GoesOn;

impl Witness for GoesOn {
    fn completed(&self, _: &str, _: Timestamp) -> Option<Timestamp> {
        None
    }

    fn is_dead(&self, _: &str) -> bool {
        false
    }

    fn is_open(&self, _: &str) -> bool {
        true
    }
}

#[test]
fn a_failed_job_is_silent_only_where_no_run_of_it_goes_on() {
    let failed = job(json!({
        "next_run_at": "2026-06-17T12:00:00+02:00", "last_status": "error",
        "last_run_at": "2026-06-17T10:30:00+02:00",
    }));
    let (now, policy) = ("2026-06-17T11:40:00+02:00", Policy::default());
    let silent = scan(&failed, now, policy, &NoWitness);
    assert!(silent.changes[0].reasons.contains(&Reason::Rearmed));
    let slow = scan(&failed, now, policy, &GoesOn);
    assert!(
        slow.changes.is_empty() && slow.orders.is_empty(),
        "{slow:?}"
    );
}

#[test]
fn b85_a_slot_that_has_run_is_not_run_again() {
    let job = job(json!({
        "schedule": {"kind": "cron", "expr": "0 22 * * *"},
        "next_run_at": "2026-06-16T22:00:00+02:00",
    }));
    let ran = Finished("2026-06-16T22:00:00+02:00", "2026-06-16T22:03:00+02:00");
    let found = scan(&job, "2026-06-16T22:30:00+02:00", Policy::default(), &ran);
    assert!(found.orders.is_empty());
    assert_eq!(found.changes[0].reasons, [Reason::AlreadyRun]);
    assert_eq!(
        found.changes[0].set["next_run_at"],
        "2026-06-17T22:00:00+02:00"
    );
    // A run that ended long before the slot was of another one.
    let stale = Finished("2026-06-16T22:00:00+02:00", "2026-06-16T21:58:00+02:00");
    assert_eq!(
        scan(&job, "2026-06-16T22:30:00+02:00", Policy::default(), &stale)
            .orders
            .len(),
        1
    );
}

#[test]
fn b86_an_edited_schedule_takes_effect() {
    let zones = Zones::of(TimeZone::UTC);
    let later =
        Schedule::from_json(&json!({"kind": "once", "run_at": "2026-06-18T09:00:00+00:00"}));
    let now = at("2026-06-17T12:00:00Z");
    let next = next::next_run(&later.expect("a schedule"), None, now, &zones);
    assert_eq!(next.as_deref(), Some("2026-06-18T09:00:00+00:00"));
    // A slot that the edited expression does not have is moved, not fired.
    let found = scanned(
        json!({
            "schedule": {"kind": "cron", "expr": "0 10 * * *"},
            "next_run_at": "2026-06-17T09:00:00+02:00",
        }),
        "2026-06-17T09:00:30+02:00",
    );
    assert!(found.orders.is_empty());
    assert_eq!(found.changes[0].reasons, [Reason::OffSchedule]);
    assert!(!next::on_lattice(
        &cron("0 10 * * *"),
        at("2026-06-17T09:00:00Z"),
        &TimeZone::UTC
    ));
}

#[test]
fn a_bad_record_stops_no_other() {
    let zones = Zones::of(TimeZone::UTC);
    let scene = Scene {
        now: at("2026-06-17T12:00:00Z"),
        last_pass: None,
        zones: &zones,
        policy: Policy::default(),
        machine: "here:1",
        running: &HashSet::new(),
        witness: &NoWitness,
    };
    let good = job(json!({"next_run_at": "2026-06-17T11:59:00+00:00"}));
    let mut jobs = vec![good.clone()];
    for bad in [
        json!({"schedule": 5, "next_run_at": {}, "repeat": [], "enabled": [1]}),
        json!({"id": [], "schedule": {"kind": "cron", "expr": "\u{0}"}, "next_run_at": "x"}),
        json!({"schedule": {"kind": "interval", "minutes": 1e300}, "next_run_at": "2026-06-17"}),
        json!({"schedule": {"kind": "once"}, "next_run_at": "9999-12-31T23:59:59-23:59"}),
        json!({"pending_slot": {"scheduled_at": "x"}, "run_claim": 5, "fire_claim": {"at": 1}}),
    ] {
        jobs.push(job(bad));
    }
    jobs.push(Map::new());
    jobs.push(good);
    let found = due(jobs.iter().enumerate(), &scene, &mut || "new".to_owned());
    let run: Vec<usize> = found.orders.iter().map(|order| order.index).collect();
    assert!(
        run.contains(&0) && run.contains(&(jobs.len() - 1)),
        "{run:?}"
    );
}

#[test]
fn a_run_that_was_asked_for_keeps_its_time_whatever_the_last_one_did() {
    let asked = "2026-06-17T12:00:00+02:00";
    for (status, ran) in [
        ("error", "2026-06-17T08:00:00+02:00"),
        ("ok", "2026-06-17T20:00:00+02:00"),
    ] {
        let change = json!({
            "schedule": {"kind": "interval", "minutes": 5}, "last_status": status,
            "last_run_at": ran, "next_run_at": asked,
        });
        let mut failed = job(change);
        let (now, policy) = ("2026-06-17T11:00:00+02:00", Policy::default());
        let forward = scan(&failed, now, policy, &NoWitness);
        assert!(!forward.changes.is_empty(), "a slot is brought forward");
        failed.insert("manual_run_at".into(), asked.into());
        let found = scan(&failed, now, policy, &NoWitness);
        assert!(
            found.orders.is_empty() && found.changes.is_empty(),
            "{found:?}"
        );
        let found = scan(&failed, asked, policy, &NoWitness);
        assert_eq!(found.orders[0].kind, OrderKind::Manual);
    }
}

/// A daily job of nine, stored in UTC, in a home that goes by another zone since.
fn nine_of_utc(now: &str, zone_name: &str, more: &Value) -> Due {
    let mut raw = job(json!({
        "schedule": {"kind": "cron", "expr": "0 9 * * *"},
        "next_run_at": "2026-12-01T09:00:00+00:00", "last_run_at": "2026-11-30T09:00:04+00:00",
    }));
    raw.extend(more.as_object().cloned().unwrap_or_default());
    scan_in(zone_name, &raw, now)
}

fn scan_in(zone_name: &str, raw: &Map<String, Value>, now: &str) -> Due {
    let zones = Zones::of(zone(zone_name));
    let scene = Scene {
        now: at(now),
        last_pass: None,
        zones: &zones,
        policy: Policy::default(),
        machine: "here:1",
        running: &HashSet::new(),
        witness: &NoWitness,
    };
    due([(0, raw)], &scene, &mut || "new".to_owned())
}

#[test]
fn b72_a_slot_ahead_keeps_its_wall_clock_in_another_zone() {
    for (zone_name, next) in [
        ("Asia/Tokyo", "2026-12-01T09:00:00+09:00"),
        ("America/New_York", "2026-11-30T09:00:00-05:00"),
    ] {
        let found = nine_of_utc("2026-11-30T12:00:00Z", zone_name, &json!({}));
        assert!(found.orders.is_empty());
        assert_eq!(found.changes[0].set["next_run_at"], next, "{zone_name}");
        assert_eq!(found.changes[0].reasons, [Reason::ZoneChanged]);
    }
}

#[test]
fn b72_what_was_planned_by_hand_or_is_right_here_stays() {
    let next = "2026-12-01T09:00:00+00:00";
    let hold = json!({"quota_hold_until": next, "quota_hold_cron_expr": "0 9 * * *"});
    let ladder = json!({"unreachable_retry": {"attempt": 1, "at": next, "expr": "0 9 * * *"}});
    let every_hour = json!({"schedule": {"kind": "cron", "expr": "0 * * * *"},
        "next_run_at": "2026-11-30T13:00:00+00:00"});
    let interval = json!({"schedule": {"kind": "interval", "minutes": 1440}});
    // 10:00 in Tokyo, whatever the offset it is written with.
    let written_as_utc = json!({"schedule": {"kind": "cron", "expr": "0 10 * * *"},
        "next_run_at": "2026-12-01T01:00:00+00:00"});
    for more in [
        json!({"manual_run_at": next}),
        hold,
        ladder,
        every_hour,
        interval,
        written_as_utc,
    ] {
        let found = nine_of_utc("2026-11-30T12:00:00Z", "Asia/Tokyo", &more);
        assert!(found.changes.is_empty(), "{more}: {found:?}");
    }
    // The offset before a gap is the zone's own, in the hour after it as well.
    let shifted = job(json!({
        "schedule": {"kind": "cron", "expr": "15,45 2 * * *"},
        "next_run_at": "2026-03-29T02:45:00+01:00",
    }));
    let found = scan_in("Europe/Berlin", &shifted, "2026-03-29T03:20:00+02:00");
    assert!(found.changes.is_empty(), "{found:?}");
}
