//! Tests: the due scan, minute by minute as the ticker has it, over two years of clock changes in six
//! zones, a leap day and ends of years among them.

use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use super::due::{NoWitness, OrderKind, Policy, Scene, due};
use super::lateness::Lateness;
use super::next::{self, Zones};
use super::seasons::{ZONES, at, cron, zone};
use super::ticker::pace::next_start;

/// Slots that the ticker hands out of one job between two instants, with the lateness of each. A pass
/// comes at each whole minute; those at which nothing can be due are left out, as the ticker does.
fn handed_out(expr: &str, zone_name: &str, from: Timestamp, to: Timestamp) -> Vec<Timestamp> {
    let (schedule, zones) = (cron(expr), Zones::of(zone(zone_name)));
    let first = next::next_fire(&schedule, from, &zones.configured).expect("a slot");
    let job = json!({
        "id": "job000000001", "enabled": true, "state": "scheduled",
        "schedule": {"kind": "cron", "expr": expr}, "repeat": {"times": null, "completed": 0},
        "next_run_at": first.stamp.to_string(), "last_run_at": null,
    });
    let mut job: Map<String, Value> = job.as_object().expect("an object").clone();
    let (mut now, mut slots) = (from, Vec::new());
    while now < to {
        let running = HashSet::new();
        let scene = Scene {
            now,
            last_pass: None,
            zones: &zones,
            policy: Policy::default(),
            machine: "here:1",
            running: &running,
            witness: &NoWitness,
        };
        let found = due([(0, &job)], &scene, &mut || "new".to_owned());
        for change in found.changes {
            job.extend(change.set);
            for key in change.unset {
                job.remove(&key);
            }
        }
        for order in found.orders {
            assert_eq!(
                order.kind,
                OrderKind::Scheduled(Lateness::OnTime),
                "{expr} {zone_name} at {now}"
            );
            slots.push(order.slot.expect("a slot").at);
            let next = next::next_in_cadence(&schedule, now, now, &zones.configured);
            let next = next.expect("a next slot").stamp.to_string();
            job.insert("next_run_at".into(), json!(next));
            job.insert("last_run_at".into(), json!(first.stamp.to_string()));
            job.remove("pending_slot");
        }
        let stored = job["next_run_at"]
            .as_str()
            .and_then(|text| zones.instant(text));
        let stored = stored.expect("an instant");
        // The pass at which it can be due: the first whole minute that is not before it.
        now = next_start(now.max(stored - SignedDuration::from_millis(1)));
    }
    slots
}

#[test]
fn the_ticker_hands_out_what_the_schedule_names_through_every_change() {
    let (from, to) = (at("2027-06-01T00:00:00Z"), at("2029-06-01T00:00:00Z"));
    for name in ZONES {
        for expr in [
            "30 2 * * *",
            "30 1 * * *",
            "0 0 * * *",
            "59 23 31 12 *",
            "0 9 29 2 *",
            "0 */3 * * 0",
        ] {
            let (schedule, zone) = (cron(expr), zone(name));
            let named: Vec<_> = next::occurrences_between(&schedule, None, (from, to), &zone)
                .map(|fire| fire.instant)
                .filter(|instant| *instant < to)
                .collect();
            assert!(!named.is_empty(), "{expr} {name}");
            assert_eq!(handed_out(expr, name, from, to), named, "{expr} {name}");
        }
    }
}

#[test]
fn a_steady_job_is_handed_out_through_the_hours_around_a_change() {
    for (name, change) in [
        ("Europe/Berlin", "2026-03-29T01:00:00Z"),
        ("Europe/Berlin", "2026-10-25T01:00:00Z"),
        ("America/New_York", "2026-11-01T06:00:00Z"),
        ("Australia/Lord_Howe", "2026-04-04T15:00:00Z"),
        ("America/Santiago", "2026-09-06T04:00:00Z"),
        ("Africa/Casablanca", "2026-02-15T02:00:00Z"),
        ("Asia/Kolkata", "2026-03-29T01:00:00Z"),
    ] {
        let (from, to) = (
            at(change) - SignedDuration::from_hours(6),
            at(change) + SignedDuration::from_hours(6),
        );
        for expr in ["*/20 * * * *", "0 * * * *", "* * * * *"] {
            let (schedule, zone) = (cron(expr), zone(name));
            let named: Vec<_> = next::occurrences_between(&schedule, None, (from, to), &zone)
                .map(|fire| fire.instant)
                .filter(|instant| *instant < to)
                .collect();
            assert_eq!(handed_out(expr, name, from, to), named, "{expr} {name}");
        }
    }
}
