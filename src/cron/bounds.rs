//! Tests: the bounds of the decisions of a pass, on each of them and beyond.

use std::collections::HashSet;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::cases::job;
use super::due::{Due, Note, OrderKind, Policy, Reason, Scene, Witness, due};
use super::next::Zones;
use super::seasons::{at, zone};
use crate::config::Settings;
use crate::config::settings::Cron;

/// What is known beside the record.
#[derive(Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and any of them may hold"
)]
struct Around {
    zone: Option<&'static str>,
    last_pass: Option<&'static str>,
    no_catch_up: bool,
    running: bool,
    /// Whoever holds a claim is gone.
    dead: bool,
    /// A run of the job is open in the ledger.
    open: bool,
    /// When a run of any slot ended well.
    done: Option<&'static str>,
}

impl Witness for Around {
    fn completed(&self, _: &str, _: Timestamp) -> Option<Timestamp> {
        self.done.map(|time| at(&stamp(time)))
    }

    fn is_dead(&self, _: &str) -> bool {
        self.dead
    }

    fn is_open(&self, _: &str) -> bool {
        self.open
    }
}

const ALONE: Around = Around {
    zone: None,
    last_pass: None,
    no_catch_up: false,
    running: false,
    dead: false,
    open: false,
    done: None,
};

/// A time of the day of these tests, or a stamp as it is.
fn stamp(time: &str) -> String {
    if time.contains('T') {
        return time.to_owned();
    }
    format!("2026-06-17T{time}+00:00")
}

/// A pass at a time over a job every half hour, with what is said over it: times of the day are stamps.
fn pass(change: &Value, now: &str, around: Around) -> Due {
    fn dated(value: &Value) -> Value {
        match value {
            Value::String(text) if text.len() == 8 && text.as_bytes()[2] == b':' => {
                stamp(text).into()
            }
            Value::Object(map) => {
                let pairs = map.iter().map(|(key, value)| (key.clone(), dated(value)));
                Value::Object(pairs.collect())
            }
            other => other.clone(),
        }
    }
    let raw = job(dated(change));
    let zones = Zones::of(zone(around.zone.unwrap_or("UTC")));
    let running = around.running.then(|| "job000000001".to_owned());
    let scene = Scene {
        now: at(&stamp(now)),
        last_pass: around.last_pass.map(|time| at(&stamp(time))),
        zones: &zones,
        policy: Policy {
            catch_up_missed: !around.no_catch_up,
            ..Policy::default()
        },
        machine: "here:1",
        running: &HashSet::from_iter(running),
        witness: &around,
    };
    due([(0, &raw)], &scene, &mut || "new".to_owned())
}

/// How many orders it gives, and why it changes the record.
fn told(change: &Value, now: &str, around: Around) -> (usize, Vec<Reason>) {
    let found = pass(change, now, around);
    let reasons = found.changes.into_iter().flat_map(|change| change.reasons);
    (found.orders.len(), reasons.collect())
}

fn with(change: &Value, more: &Value) -> Value {
    let mut change = change.clone();
    let more = more.as_object().unwrap().clone();
    change.as_object_mut().unwrap().extend(more);
    change
}

/// A one-shot of two minutes to ten.
fn once() -> Value {
    json!({
        "schedule": {"kind": "once", "run_at": "09:58:00"}, "next_run_at": "09:58:00",
        "repeat": {"times": 1, "completed": 0},
    })
}

#[test]
fn a_one_shot_runs_for_two_minutes() {
    assert_eq!(told(&once(), "10:00:00", ALONE).0, 1);
    assert_eq!(
        told(&once(), "10:00:01", ALONE),
        (0, vec![Reason::OnceMissed])
    );
}

#[test]
fn a_one_shot_that_somebody_may_run_is_not_missed() {
    let missed = (0, vec![Reason::OnceMissed]);
    let held = (0, Vec::new());
    let claim = json!({"at": "09:20:00", "by": "there:2"});
    let dead = Around {
        dead: true,
        ..ALONE
    };
    let open = Around {
        open: true,
        ..ALONE
    };
    for key in ["run_claim", "fire_claim"] {
        // A claim that cannot be read is one.
        let unread = with(&once(), &json!({key: "somebody"}));
        assert_eq!(told(&unread, "10:05:00", ALONE), held, "{key}");
        let claimed = with(&once(), &json!({key: claim}));
        assert_eq!(told(&claimed, "10:05:00", ALONE), held, "{key}");
        assert_eq!(told(&claimed, "10:05:00", dead), missed, "{key}");
    }
    assert_eq!(told(&once(), "10:05:00", open), held);
    let unplanned = with(&once(), &json!({"next_run_at": null}));
    let found = pass(&unplanned, "10:05:00", open);
    assert!(matches!(found.notes[..], [Note::MissedOnce { .. }]));
    assert!(found.changes.is_empty());
    assert_eq!(told(&unplanned, "10:05:00", ALONE), missed);
}

#[test]
fn a_one_shot_that_has_had_its_times_does_not_run() {
    let over = json!({"repeat": {"times": 1, "completed": 1}});
    let over = with(&once(), &over);
    assert_eq!(
        told(&over, "09:59:00", ALONE),
        (0, vec![Reason::OnceWedged])
    );
    let ran = with(&over, &json!({"last_run_at": "09:00:00"}));
    assert_eq!(
        told(&ran, "09:59:00", ALONE),
        (0, vec![Reason::OnceExhausted])
    );
    let more = with(&once(), &json!({"repeat": {"times": 2, "completed": 1}}));
    assert_eq!(told(&more, "09:59:00", ALONE).0, 1);
}

#[test]
fn an_overdue_slot_waits_until_the_next_one_has_come_since_the_last_pass() {
    let waits = |now: &str, around: Around| {
        let found = pass(&json!({"next_run_at": "09:00:00"}), now, around);
        found.orders[0].wait.is_some()
    };
    let since = |last_pass| Around {
        last_pass: Some(last_pass),
        ..ALONE
    };
    assert!(waits("10:00:00", ALONE));
    assert!(waits("10:00:00", since("09:00:00")));
    assert!(!waits("10:00:00", since("09:45:00")));
    assert!(waits("09:59:59", since("09:45:00")));
    let running = Around {
        running: true,
        ..ALONE
    };
    assert!(!waits("10:00:00", running));
}

#[test]
fn an_overdue_slot_lapses_with_its_grace_at_the_earliest() {
    let lapses = |catch_up: Value, now: &str, around: Around| {
        let own = json!({"next_run_at": "09:00:00", "x_hermes": {"catch_up": catch_up}});
        let found = pass(&own, now, around);
        let lapses = found.orders[0].wait.expect("it may wait").lapses;
        lapses.map(|lapses| lapses.to_string()[11..19].to_owned())
    };
    let time = |time: &str| Some(time.to_owned());
    let limit = |seconds: u32| json!({"max_lateness_seconds": seconds});
    // Ten minutes late: within the quarter of an hour that is the grace of such a job.
    assert_eq!(lapses(limit(60), "09:10:00", ALONE), time("09:15:00"));
    assert_eq!(lapses(limit(7200), "09:10:00", ALONE), time("11:00:00"));
    assert_eq!(lapses(json!("once"), "09:10:00", ALONE), None);
    let never = Around {
        no_catch_up: true,
        ..ALONE
    };
    assert_eq!(lapses(json!("once"), "09:10:00", never), time("09:15:00"));
}

#[test]
fn a_clock_that_went_back_brings_forward_what_lies_more_than_two_periods_ahead() {
    let went_back = |slot: &str, ran: &str, held: Value| {
        let job = json!({
            "next_run_at": slot, "last_run_at": ran, "last_status": "ok", "quota_hold_until": held,
        });
        let reasons = told(&job, "10:00:00", ALONE).1;
        reasons.contains(&Reason::ClockWentBack)
    };
    assert!(!went_back("11:00:00", "10:30:00", Value::Null));
    assert!(went_back("11:00:01", "10:30:00", Value::Null));
    // A minute ahead is the slack of clocks.
    assert!(!went_back("14:00:00", "10:01:00", Value::Null));
    assert!(went_back("14:00:00", "10:01:01", Value::Null));
    assert!(!went_back("14:00:00", "10:30:00", json!("10:00:01")));
    assert!(went_back("14:00:00", "10:30:00", json!("10:00:00")));
}

#[test]
fn a_failed_job_is_armed_anew_after_a_period_and_its_grace() {
    let armed = |now: &str, more: &Value, around: Around| {
        let failed = json!({
            "next_run_at": "14:00:00", "last_run_at": "09:00:00", "last_status": "error",
        });
        let (_, reasons) = told(&with(&failed, more), now, around);
        reasons.contains(&Reason::Rearmed)
    };
    let none = json!({});
    assert!(!armed("09:45:00", &none, ALONE));
    assert!(armed("09:45:01", &none, ALONE));
    let claimed = |time: &str| json!({"fire_claim": {"at": time, "by": "there:2:ff"}});
    assert!(!armed("10:00:00", &claimed("09:55:01"), ALONE));
    assert!(armed("10:00:00", &claimed("09:55:00"), ALONE));
    assert!(armed("10:00:00", &claimed("10:00:01"), ALONE));
    let dead = Around {
        dead: true,
        ..ALONE
    };
    assert!(armed("10:00:00", &claimed("09:59:00"), dead));
    for around in [
        Around {
            open: true,
            ..ALONE
        },
        Around {
            running: true,
            ..ALONE
        },
    ] {
        assert!(!armed("10:00:00", &none, around));
    }
    let held = |time: &str| json!({"quota_hold_until": time});
    assert!(!armed("10:00:00", &held("10:00:01"), ALONE));
    assert!(armed("10:00:00", &held("10:00:00"), ALONE));
}

#[test]
fn a_slot_that_was_taken_comes_back_where_nobody_can_have_it_any_more() {
    let restored = |taken: &str, by: &str, around: Around| {
        let pending = json!({"scheduled_at": "09:59:00", "at": taken, "by": by});
        let job = json!({"next_run_at": "10:30:00", "pending_slot": pending});
        let (orders, reasons) = told(&job, "10:00:00", around);
        assert_eq!(orders, usize::from(reasons.contains(&Reason::SlotRestored)));
        orders == 1
    };
    let dead = Around {
        dead: true,
        ..ALONE
    };
    let running = Around {
        running: true,
        ..ALONE
    };
    assert!(!restored("09:55:01", "there:2", ALONE));
    assert!(restored("09:55:00", "there:2", ALONE));
    assert!(restored("10:00:01", "there:2", ALONE));
    assert!(restored("soon", "there:2", ALONE));
    assert!(restored("09:59:59", "there:2", dead));
    assert!(restored("09:59:59", "here:1", ALONE));
    assert!(!restored("09:59:59", "here:1", running));
}

#[test]
fn a_claim_of_a_one_shot_lasts_half_an_hour() {
    let runs = |job: &Value, claimed: &str, around: Around| {
        let claim = json!({"run_claim": {"at": claimed, "by": "there:2"}});
        told(&with(job, &claim), "09:59:00", around).0 == 1
    };
    let dead = Around {
        dead: true,
        ..ALONE
    };
    let goes_on = Around { open: true, ..dead };
    assert!(!runs(&once(), "09:58:30", ALONE));
    assert!(!runs(&once(), "09:29:01", ALONE));
    assert!(runs(&once(), "09:29:00", ALONE));
    assert!(runs(&once(), "09:59:01", ALONE));
    assert!(runs(&once(), "09:58:30", dead));
    assert!(!runs(&once(), "09:58:30", goes_on));
    // Other jobs have no such claim.
    assert!(runs(&json!({"next_run_at": "09:58:00"}), "09:58:30", ALONE));
}

#[test]
fn a_slot_is_due_when_it_comes_and_done_a_minute_early_at_most() {
    let job = json!({"next_run_at": "10:00:00"});
    assert_eq!(told(&job, "09:59:59", ALONE), (0, Vec::new()));
    assert_eq!(told(&job, "10:00:00", ALONE).0, 1);
    let done = |time| Around {
        done: Some(time),
        ..ALONE
    };
    let already = (0, vec![Reason::AlreadyRun]);
    assert_eq!(told(&job, "10:00:00", done("09:59:00")), already);
    assert_eq!(told(&job, "10:00:00", done("09:58:59")).0, 1);
    // One that lies ahead may be done as well, where the clock was set back.
    let ahead = with(&once(), &json!({"next_run_at": "10:30:00"}));
    assert_eq!(told(&ahead, "10:00:00", done("10:30:00")), already);
    // A run that was asked for has no slot that could be done.
    let asked = with(&job, &json!({"manual_run_at": "10:00:00"}));
    let found = pass(&asked, "10:00:00", done("10:00:00"));
    assert_eq!(found.orders[0].kind, OrderKind::Manual);
}

#[test]
fn what_was_stored_with_another_offset_runs_where_that_was_the_one_of_its_day() {
    let at_ten = |expr: &str, next: &str, now: &str, zone: Option<&'static str>| {
        let job = json!({"schedule": {"kind": "cron", "expr": expr}, "next_run_at": next});
        told(&job, now, Around { zone, ..ALONE })
    };
    let noon = at_ten("0 12 * * *", "2026-06-17T12:00:00+02:00", "10:00:00", None);
    assert_eq!(noon, (0, vec![Reason::ZoneChanged]));
    // Half past two comes twice; between the two, the first one was an hour ago less twenty minutes.
    let slot = "2026-10-25T02:30:00+02:00";
    let now = "2026-10-25T01:10:00+00:00";
    let fold = at_ten("30 2 * * *", slot, now, Some("Europe/Berlin"));
    assert_eq!(fold.0, 1, "{fold:?}");
    let west = "2026-06-17T09:00:00-02:00";
    assert_eq!(at_ten("0 9 * * *", west, "11:00:30", None).0, 1);
    let off = (0, vec![Reason::OffSchedule]);
    assert_eq!(at_ten("0 12 * * *", west, "11:00:30", None), off);
}

#[test]
fn only_a_stamp_that_stood_without_an_offset_names_its_slot_so() {
    let naive = |next: &str, more: &Value| {
        let job = with(&json!({"next_run_at": next}), more);
        let found = pass(&job, "10:00:00", ALONE);
        found.orders[0].slot.expect("a slot").is_naive
    };
    assert!(naive("2026-06-17T09:59:30", &json!({})));
    let failed = json!({"last_run_at": "09:00:00", "last_status": "error"});
    assert!(
        !naive("2026-06-17T14:00:00", &failed),
        "it was brought forward"
    );
}

#[test]
fn a_repair_keeps_what_is_there() {
    let paused = json!({
        "next_run_at": "09:00:00", "state": "paused", "paused_at": "08:00:00",
        "paused_reason": "on holiday",
    });
    let found = pass(&paused, "10:00:00", ALONE);
    assert_eq!(found.changes[0].reasons, [Reason::Contradiction]);
    let set = &found.changes[0].set;
    assert!(!set.contains_key("paused_at") && !set.contains_key("paused_reason"));
    let failed = json!({"next_run_at": null, "state": "error"});
    let found = pass(&failed, "10:00:00", ALONE);
    assert_eq!(found.changes[0].set["state"], "scheduled");
    let counted = json!({"next_run_at": "10:30:00", "repeat": {"times": 3, "completed": -3}});
    let found = pass(&counted, "10:00:00", ALONE);
    assert_eq!(found.changes[0].set["repeat"]["completed"], 0);
}

#[test]
fn a_claim_outlives_three_silences_of_an_agent() {
    let life = |silence: Option<u64>| {
        let settings = Cron {
            inactivity_timeout: silence.map(Duration::from_secs),
            ..Settings::default().cron
        };
        Policy::of(&settings).run_claim_seconds
    };
    assert_eq!(
        [None, Some(600), Some(601)].map(life),
        [1_800, 1_800, 1_803]
    );
}

#[test]
fn a_one_shot_that_is_over_is_kept_for_a_week() {
    let over = |ended: &str| {
        let change = json!({"state": "completed", "enabled": false, "last_run_at": ended});
        told(&with(&once(), &change), "10:00:00", ALONE).1
    };
    assert_eq!(over("2026-06-10T10:00:00+00:00"), []);
    assert_eq!(over("2026-06-10T09:59:59+00:00"), [Reason::Retired]);
}
