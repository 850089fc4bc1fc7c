//! Tests: schedules over two years of clock changes in six zones, and the field cases about zones.

use std::collections::HashSet;

use jiff::civil::date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::next::{self, Zones};
use super::schedule::Schedule;
use super::stamp::Stamp;

pub(super) const ZONES: [&str; 6] = [
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Santiago",
    "Africa/Casablanca",
    "Asia/Kolkata",
];

pub(super) fn zone(name: &str) -> TimeZone {
    TimeZone::get(name).expect("a zone")
}

pub(super) fn at(text: &str) -> Timestamp {
    Stamp::parse(text)
        .and_then(|stamp| stamp.instant(&TimeZone::UTC))
        .expect("an instant")
}

pub(super) fn cron(expr: &str) -> Schedule {
    Schedule::from_json(&json!({"kind": "cron", "expr": expr})).expect("an expression")
}

fn every(minutes: i64) -> Schedule {
    Schedule::Interval { minutes }
}

/// All instants of an expression in a span, as the stores write them.
fn fires(expr: &str, (from, to): (&str, &str), zone: &TimeZone) -> Vec<String> {
    let schedule = cron(expr);
    let found = next::occurrences_between(&schedule, None, (at(from), at(to)), zone);
    found.map(|fire| fire.stamp.to_string()).collect()
}

#[test]
fn a_daily_job_runs_once_a_day_through_every_change() {
    let (from, to) = (at("2026-01-01T00:00:00Z"), at("2028-01-01T00:00:00Z"));
    for name in ZONES {
        let zone = zone(name);
        for clock in [
            "30 2 * * *",
            "15 1 * * *",
            "0 0 * * *",
            "45 23 * * *",
            "30 1 * * *",
        ] {
            let schedule = cron(clock);
            let fires: Vec<_> =
                next::occurrences_between(&schedule, None, (from, to), &zone).collect();
            let days: HashSet<_> = fires.iter().map(|fire| fire.stamp.wall().date()).collect();
            assert_eq!((fires.len(), days.len()), (730, 730), "{clock} {name}");
            for pair in fires.windows(2) {
                let [a, b] = pair else { continue };
                let gap = b.instant.duration_since(a.instant).as_secs();
                assert!(
                    (82_800..=90_000).contains(&gap),
                    "{clock} {name}: {} {}",
                    a.stamp,
                    b.stamp
                );
            }
        }
    }
}

#[test]
fn a_steady_job_never_falls_silent_through_any_change() {
    let (from, to) = (at("2026-01-01T00:00:00Z"), at("2028-01-01T00:00:00Z"));
    for name in ZONES {
        let zone = zone(name);
        for (expr, most) in [
            ("*/20 * * * *", 1200),
            ("0 * * * *", 3600),
            ("*/30 * * * *", 1800),
        ] {
            let schedule = cron(expr);
            let mut last = from;
            for fire in next::occurrences_between(&schedule, None, (from, to), &zone) {
                let gap = fire.instant.duration_since(last).as_secs();
                // Lord Howe turns by half an hour, which an hourly job feels.
                let most = if name == "Australia/Lord_Howe" {
                    most.max(5400)
                } else {
                    most
                };
                assert!(
                    gap > 0 && gap <= most,
                    "{expr} {name}: {gap} s before {}",
                    fire.stamp
                );
                last = fire.instant;
            }
        }
    }
}

#[test]
fn both_passes_of_a_fold_and_the_shadow_of_a_gap() {
    let berlin = zone("Europe/Berlin");
    let autumn = ("2026-10-25T01:50:00+02:00", "2026-10-25T03:00:00+01:00");
    assert_eq!(
        fires("*/30 * * * *", autumn, &berlin),
        [
            "2026-10-25T02:00:00+02:00",
            "2026-10-25T02:30:00+02:00",
            "2026-10-25T02:00:00+01:00",
            "2026-10-25T02:30:00+01:00",
            "2026-10-25T03:00:00+01:00",
        ]
    );
    assert_eq!(fires("0,30 2 * * *", autumn, &berlin).len(), 2);
    let spring = ("2026-03-29T01:50:00+01:00", "2026-03-29T05:00:00+02:00");
    assert_eq!(
        fires("15,45 2 * * *", spring, &berlin),
        ["2026-03-29T02:15:00+01:00", "2026-03-29T02:45:00+01:00"]
    );
    // Shifted times and real ones that meet are one.
    assert_eq!(
        fires("0,30 2,3 * * *", spring, &berlin),
        ["2026-03-29T02:00:00+01:00", "2026-03-29T03:30:00+02:00"]
    );
    // Who goes on from a shifted time meets the next; who asks anew after the gap meets tomorrow's.
    let two = cron("15,45 2 * * *");
    let next =
        |from: &str| next::next_fire(&two, at(from), &berlin).map(|fire| fire.stamp.to_string());
    assert_eq!(
        next("2026-03-29T03:15:00+02:00").as_deref(),
        Some("2026-03-29T02:45:00+01:00")
    );
    assert_eq!(
        next("2026-03-29T03:20:00+02:00").as_deref(),
        Some("2026-03-30T02:15:00+02:00")
    );
}

#[test]
fn leap_days_and_year_ends() {
    let utc = TimeZone::UTC;
    let leap = fires(
        "0 0 29 2 *",
        ("2026-01-01T00:00Z", "2037-01-01T00:00Z"),
        &utc,
    );
    assert_eq!(
        leap,
        [
            "2028-02-29T00:00:00+00:00",
            "2032-02-29T00:00:00+00:00",
            "2036-02-29T00:00:00+00:00"
        ]
    );
    let last = fires(
        "59 23 L * *",
        ("2026-11-01T00:00Z", "2027-03-15T00:00Z"),
        &utc,
    );
    assert_eq!(last.len(), 4);
    assert_eq!(
        last.last().map(String::as_str),
        Some("2027-02-28T23:59:00+00:00")
    );
    let year = fires(
        "*/5 * * * *",
        ("2026-12-31T23:57:00Z", "2027-01-01T00:05:00Z"),
        &utc,
    );
    assert_eq!(
        year,
        ["2027-01-01T00:00:00+00:00", "2027-01-01T00:05:00+00:00"]
    );
    assert_eq!(
        fires(
            "0 9 * * * 0 2028",
            ("2027-12-31T00:00Z", "2028-01-02T00:00Z"),
            &utc
        )
        .len(),
        1
    );
}

#[test]
fn b64_the_wall_clock_is_kept_over_a_change() {
    for (last, next, zone_name) in [
        (
            "2026-10-23T09:00:00+02:00",
            "2026-10-26T09:00:00+01:00",
            "Europe/Berlin",
        ),
        (
            "2027-03-26T09:00:00+01:00",
            "2027-03-29T09:00:00+02:00",
            "Europe/Berlin",
        ),
        (
            "2026-10-23T09:00:00+00:00",
            "2026-10-26T09:00:00+00:00",
            "UTC",
        ),
    ] {
        let zones = Zones::of(zone(zone_name));
        let found = next::next_run(&cron("0 9 * * 1-5"), Some(last), at(last), &zones);
        assert_eq!(found.as_deref(), Some(next));
    }
}

#[test]
fn b65_a_one_shot_without_offset_gets_the_rules_of_its_day() {
    let zone = zone("America/New_York");
    let made = at("2026-02-10T12:00:00-05:00");
    let reading = Schedule::parse("2026-04-01T09:00", made, &zone).expect("a schedule");
    assert_eq!(reading.to_json()["run_at"], "2026-04-01T09:00:00-04:00");
}

#[test]
fn b70_a_schedule_in_utc_knows_no_change_of_the_host() {
    let span = ("2026-10-25T00:58:00Z", "2026-10-25T02:00:00Z");
    let found = fires("59,9,19,29,39,49 * * * *", span, &TimeZone::UTC);
    assert_eq!(found.len(), 7, "{found:?}");
}

#[test]
fn b73_the_cadence_is_steady_whatever_the_runs_take() {
    let zone = TimeZone::UTC;
    let mut slot = at("2026-06-17T10:00:00Z");
    for _ in 0..12 {
        // A run ends a minute and a half after its slot; the next slot does not move.
        let ended = slot
            .checked_add(SignedDuration::from_secs(97))
            .expect("later");
        let next = next::next_in_cadence(&every(5), slot, ended, &zone)
            .expect("a slot")
            .instant;
        assert_eq!(next.duration_since(slot).as_secs(), 300);
        slot = next;
    }
    // A restart eleven minutes before a slot of four hours leaves the slot where it was.
    let (last, due) = (at("2026-06-17T06:00:00Z"), at("2026-06-17T10:00:00Z"));
    let restart = due
        .checked_sub(SignedDuration::from_mins(11))
        .expect("earlier");
    let next = next::next_in_cadence(&every(240), last, restart, &zone).expect("a slot");
    assert_eq!(next.instant, due);
}

#[test]
fn the_zone_of_a_day_that_was_skipped() {
    // Samoa had no 30 December 2011: a job of that day runs a day later, once.
    let apia = zone("Pacific/Apia");
    let span = ("2011-12-29T12:00:00-10:00", "2012-01-01T00:00:00+14:00");
    let found = fires("0 9 30 12 *", span, &apia);
    assert_eq!(found, ["2011-12-30T09:00:00-10:00"]);
    let shown = at(&found[0]).to_zoned_datetime(apia).datetime();
    assert_eq!(shown.date(), date(2011, 12, 31));
}

#[test]
fn a_gap_loses_no_slot_whatever_its_length() {
    for (expr, name, from, expected) in [
        (
            "30 2,3 * * *",
            "Antarctica/Troll",
            "2027-03-28T00:50:00Z",
            [
                "2027-03-28T03:30:00+02:00",
                "2027-03-28T02:30:00+00:00",
                "2027-03-29T02:30:00+02:00",
            ],
        ),
        (
            "20,40 2 * * *",
            "Australia/Lord_Howe",
            "2027-10-03T01:50:00+10:30",
            [
                "2027-10-03T02:40:00+11:00",
                "2027-10-03T02:20:00+10:30",
                "2027-10-04T02:20:00+11:00",
            ],
        ),
    ] {
        let (schedule, zone) = (cron(expr), zone(name));
        let mut base = at(from);
        for stamp in expected {
            let fire = next::next_fire(&schedule, base, &zone).expect("a slot");
            assert_eq!(fire.stamp.to_string(), stamp, "{expr} after {base}");
            assert!(next::on_lattice(&schedule, fire.instant, &zone));
            base = fire.instant;
        }
    }
}

#[test]
fn a_slot_that_is_handed_out_late_in_a_gap_leaves_the_next_one() {
    let (two, zone) = (cron("15,45 2 * * *"), zone("Europe/Berlin"));
    for (slot, now, next) in [
        // A pass comes some seconds after its slot.
        (
            "2026-03-29T03:15:00+02:00",
            "2026-03-29T03:15:04+02:00",
            "2026-03-29T02:45:00+01:00",
        ),
        (
            "2026-03-29T03:45:00+02:00",
            "2026-03-29T03:45:04+02:00",
            "2026-03-30T02:15:00+02:00",
        ),
    ] {
        let found = next::next_in_cadence(&two, at(slot), at(now), &zone).expect("a slot");
        assert_eq!(found.stamp.to_string(), next);
    }
}
