//! What a scan does with slots of jobs that are under way.

use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::*;
use crate::cron::due::{NoWitness, Policy, Witness};
use crate::cron::next::Zones;

/// A job of each minute whose slot of 9:50 waits for room.
fn waiting() -> RawJob {
    json!({
        "id": "w", "enabled": true, "state": "scheduled",
        "schedule": {"kind": "interval", "minutes": 1},
        "repeat": {"times": null, "completed": 0},
        "next_run_at": "2026-06-17T09:59:00+00:00",
        "last_dispatch": {"scheduled_at": "2026-06-17T09:50:00+00:00"},
        "pending_slot": {
            "scheduled_at": "2026-06-17T09:50:00+00:00",
            "at": "2026-06-17T09:50:00+00:00", "by": "h:1",
        },
    })
    .as_object()
    .unwrap()
    .clone()
}

/// The slot of 9:50 has run, and its dispatcher is gone.
struct Ran;

impl Witness for Ran {
    fn completed(&self, _: &str, slot: Timestamp) -> Option<Timestamp> {
        let ran: Timestamp = "2026-06-17T09:50:00Z".parse().ok()?;
        (slot == ran).then_some(ran)
    }

    fn is_dead(&self, _: &str) -> bool {
        true
    }

    fn is_open(&self, _: &str) -> bool {
        false
    }
}

#[test]
fn a_slot_that_had_run_keeps_the_cadence_and_those_after_it_are_on_record() {
    let zones = Zones::of(TimeZone::UTC);
    let scene = Scene {
        now: "2026-06-17T10:01:30Z".parse().unwrap(),
        last_pass: None,
        zones: &zones,
        policy: Policy::default(),
        machine: "h:2",
        running: &HashSet::new(),
        witness: &Ran,
    };
    let mut jobs = JobList::from(vec![waiting()]);
    let (_, Records { slots, .. }) = scan(
        &mut jobs,
        (&scene, &InFlight::new(), None),
        Earlier::default(),
        &mut String::new,
    );
    let next = &jobs.got(0).unwrap()["next_run_at"];
    assert_eq!(
        next, "2026-06-17T10:02:00+00:00",
        "whole minutes, as before"
    );
    let on_record: Vec<_> = slots
        .iter()
        .map(|slot| &slot.scheduled_at[11..16])
        .collect();
    let passed = (51..60).map(|minute| format!("09:{minute}"));
    let passed: Vec<_> = passed.chain(["10:00".into(), "10:01".into()]).collect();
    assert_eq!(on_record, passed);
    assert!(slots.iter().all(|slot| slot.outcome == Outcome::Missed));
}

#[test]
fn b49_a_slot_that_comes_while_its_job_waits_is_passed_over_and_says_why() {
    let now: Timestamp = "2026-06-17T10:01:30Z".parse().unwrap();
    let zones = Zones::of(TimeZone::UTC);
    let why = "an earlier slot of it waits for room since T, behind long";
    let in_flight = InFlight::from([("w".to_owned(), why.to_owned())]);
    let running = in_flight.keys().cloned().collect();
    let scene = Scene {
        now,
        last_pass: None,
        zones: &zones,
        policy: Policy::default(),
        machine: "h:1",
        running: &running,
        witness: &NoWitness,
    };
    let before = waiting();
    let mut jobs = JobList::from(vec![before.clone()]);
    let (change, Records { slots, .. }) = scan(
        &mut jobs,
        (&scene, &in_flight, None),
        Earlier::default(),
        &mut String::new,
    );
    let Change::Write((found, _)) = change else {
        panic!("the slot goes off the schedule");
    };
    assert!(found.orders.is_empty(), "it is not started once more");
    let at: Vec<_> = slots
        .iter()
        .map(|slot| slot.scheduled_at.as_str())
        .collect();
    let passed = ["09:59", "10:00", "10:01"].map(|at| format!("2026-06-17T{at}:00+00:00"));
    assert_eq!(at, passed);
    let why = Some(why.to_owned());
    assert!(
        slots
            .iter()
            .all(|slot| slot.outcome == Outcome::Skipped && slot.reason == why)
    );
    let after = jobs.got(0).unwrap();
    assert_eq!(after["next_run_at"], "2026-06-17T10:02:00+00:00");
    for key in ["pending_slot", "last_dispatch"] {
        assert_eq!(
            after[key], before[key],
            "the slot that waits is still to run"
        );
    }
}

#[test]
fn a_job_that_nothing_finds_by_its_id_is_refused_at_its_slots_and_starts_no_other() {
    let due = |id: Value, next: &str| {
        let mut job = waiting();
        job.remove("pending_slot");
        job.insert("id".into(), id);
        job.insert("next_run_at".into(), next.into());
        job
    };
    let (soon, past) = ("2026-06-17T10:05:00+00:00", "2026-06-17T10:00:00+00:00");
    let zones = Zones::of(TimeZone::UTC);
    let scene = Scene {
        now: "2026-06-17T10:00:30Z".parse().unwrap(),
        last_pass: None,
        zones: &zones,
        policy: Policy::default(),
        machine: "h:1",
        running: &HashSet::new(),
        witness: &NoWitness,
    };
    let mut jobs = JobList::from(vec![
        due(json!("w"), soon),
        due(json!("w"), past),
        due(json!(7), past),
        due(json!("x"), past),
    ]);
    let (change, records) = scan(
        &mut jobs,
        (&scene, &InFlight::new(), None),
        Earlier::default(),
        &mut String::new,
    );
    let Change::Write((found, _)) = change else {
        panic!("the slots go off the schedule");
    };
    let started: Vec<_> = found.orders.iter().map(|order| &order.job_id).collect();
    assert_eq!(started, ["x"]);
    let refused: Vec<_> = records
        .slots
        .iter()
        .map(|slot| (slot.job_id.as_str(), slot.outcome))
        .collect();
    assert_eq!(refused, [("w", Outcome::Refused), ("7", Outcome::Refused)]);
    for index in [1, 2] {
        let job = jobs.got(index).unwrap();
        assert_eq!(job["next_run_at"], "2026-06-17T10:01:00+00:00");
        assert!(job.get("pending_slot").is_none(), "it is not tried again");
    }
}

#[test]
fn what_a_repair_takes_away_is_kept_in_a_backup() {
    let zones = Zones::of(TimeZone::UTC);
    let scene = Scene {
        now: "2026-06-17T10:01:30Z".parse().unwrap(),
        last_pass: None,
        zones: &zones,
        policy: Policy::default(),
        machine: "h:2",
        running: &HashSet::new(),
        witness: &NoWitness,
    };
    let scanned = |change: (&str, Value)| {
        let mut job = waiting();
        job.shift_remove("pending_slot");
        job.insert(change.0.to_owned(), change.1);
        let mut jobs = JobList::from(vec![job]);
        let (change, _) = scan(
            &mut jobs,
            (&scene, &InFlight::new(), None),
            Earlier::default(),
            &mut String::new,
        );
        change
    };
    for lossy in [
        ("schedule", json!("every 5m")),
        ("next_run_at", json!("soon")),
        ("repeat", json!({"times": 5, "completed": "two"})),
    ] {
        let change = scanned(lossy.clone());
        assert!(matches!(change, Change::WriteAfterBackup(_)), "{lossy:?}");
    }
    let due = scanned(("name", json!("n")));
    assert!(matches!(due, Change::Write(_)));
}
