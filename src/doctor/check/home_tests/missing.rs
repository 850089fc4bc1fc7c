//! Slots without a record: recomputed from the schedule, in its zone, as far as the ledger proves it.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::fixture::{Fixture, codes};
use crate::doctor::check::all;
use crate::doctor::evidence::Read;
use crate::doctor::finding::Severity;
use crate::ledger::{Ledger, Outcome, Slot};

/// A job at 09:00 every day, which was made long ago.
fn daily(fixture: &Fixture, expr: &str, next: &str) {
    let mut job = fixture.hourly();
    job["schedule"]["expr"] = expr.into();
    job["created_at"] = "2026-01-01T00:00:00+01:00".into();
    job["next_run_at"] = next.into();
    job["last_run_at"] = serde_json::Value::Null;
    fixture.jobs(&[job]);
    std::fs::remove_file(fixture.path("cron/executions.db")).unwrap();
}

/// A good run of the job for a slot, on time or late by so many minutes.
fn ran(fixture: &Fixture, slot: &str, late: i64) {
    let slot: Timestamp = slot.parse().unwrap();
    let claimed = slot + SignedDuration::from_mins(late);
    let end = claimed + SignedDuration::from_secs(30);
    fixture.row(
        "00000000000b",
        &json!({"status": "completed", "claimed_at": claimed.to_string(),
            "started_at": claimed.to_string(), "finished_at": end.to_string(),
            "scheduled_instant": slot.to_string(), "delivery_outcome": "suppressed"}),
    );
}

#[test]
fn b51_b81_occurrences_without_a_record_are_counted_and_named() {
    let fixture = Fixture::healthy();
    daily(&fixture, "0 9 * * *", "2026-11-30T09:00:00+01:00");
    for day in [24, 25, 26] {
        ran(&fixture, &format!("2026-11-{day}T08:00:00Z"), 0);
    }
    let found = fixture.one("HM607");
    assert_eq!(found.severity, Some(Severity::Warning));
    assert_eq!(
        found.summary,
        "job 'job-00000000000b' has 3 occurrences without a record"
    );
    let last = &found.evidence[0].observed;
    assert_eq!(last, "2026-11-29 09:00 Europe/Berlin: no row");
}

#[test]
fn a_slot_whose_record_says_why_it_was_not_run_is_not_missing() {
    let fixture = Fixture::healthy();
    daily(&fixture, "0 9 * * *", "2026-11-30T09:00:00+01:00");
    for day in [24, 25, 26] {
        ran(&fixture, &format!("2026-11-{day}T08:00:00Z"), 0);
    }
    let slots = [27, 29].map(|day| Slot {
        job_id: "00000000000b".to_owned(),
        scheduled_at: format!("2026-11-{day}T08:00:00+00:00"),
        outcome: Outcome::Skipped,
        reason: Some("a run of it is still going on".to_owned()),
        execution_id: None,
    });
    let path = fixture.path("cron/executions.db");
    let mut ledger = Ledger::open(&path, TimeZone::UTC).unwrap();
    ledger.record_slots(&slots, fixture.now).unwrap();
    drop(ledger);
    let found = fixture.one("HM607");
    assert!(
        found.summary.contains("1 occurrence without a record"),
        "{}",
        found.summary
    );
}

/// What the store had too many of to be read proves nothing of what is older.
#[test]
fn nothing_is_claimed_of_slots_before_the_records_were_cut() {
    let fixture = Fixture::healthy();
    daily(&fixture, "0 9 * * *", "2026-11-30T09:00:00+01:00");
    for day in [24, 25, 26] {
        ran(&fixture, &format!("2026-11-{day}T08:00:00Z"), 0);
    }
    let missing = |cut: Option<&str>| {
        let mut evidence = fixture.evidence();
        let Read::Got(ledger) = &mut evidence.homes[0].databases.ledger else {
            panic!("the ledger is there");
        };
        ledger.slots_cut = cut.map(|cut| cut.parse().unwrap());
        let check = all().find(|check| check.id == "ledger-missing").unwrap();
        let found = (check.run)(&evidence).findings.pop();
        found.map_or(0, |found| found.evidence.len())
    };
    assert_eq!(missing(None), 3);
    assert_eq!(missing(Some("2026-11-27T07:59:58Z")), 3);
    // Of the very slot at which they were cut, another job's record may have been read.
    assert_eq!(missing(Some("2026-11-27T08:00:00Z")), 2);
    assert_eq!(missing(Some("2026-11-29T08:00:00Z")), 0);
}

#[test]
fn rows_of_slots_are_cut_as_well() {
    let fixture = Fixture::healthy();
    daily(&fixture, "0 9 * * *", "2026-11-30T09:00:00+01:00");
    for day in [24, 25, 26] {
        ran(&fixture, &format!("2026-11-{day}T08:00:00Z"), 0);
    }
    assert_eq!(fixture.findings("HM607")[0].evidence.len(), 3);
    // Five hundred of another job are all that is read.
    fixture.sql(
        "cron/executions.db",
        "CREATE TABLE IF NOT EXISTS cron_slot_ranges (job_id TEXT, first_at TEXT, last_at TEXT,
            slots INTEGER, outcome TEXT, reason TEXT, recorded_at TEXT);
         WITH RECURSIVE number(n) AS (SELECT 100 UNION ALL SELECT n + 1 FROM number WHERE n < 599)
         INSERT INTO cron_slot_ranges SELECT 'other', '2026-11-29T07:00:00.' || n || 'Z',
            '2026-11-29T07:00:00.' || n || 'Z', 1, 'skipped', NULL, '' FROM number",
    );
    assert_eq!(fixture.findings("HM607")[0].evidence.len(), 1);
}

/// Every slot of every job is looked up among those of its own job only.
#[test]
fn as_many_slots_on_record_as_are_read_are_told_apart_by_job() {
    let fixture = Fixture::healthy();
    daily(&fixture, "* * * * *", "2026-11-30T09:00:00+01:00");
    let from: Timestamp = "2026-11-24T08:00:00Z".parse().unwrap();
    for minutes in [0, 1] {
        ran(
            &fixture,
            &(from + SignedDuration::from_mins(minutes)).to_string(),
            0,
        );
    }
    let record = |jobs: usize| {
        let mut evidence = fixture.evidence();
        let Read::Got(ledger) = &mut evidence.homes[0].databases.ledger else {
            panic!("the ledger is there");
        };
        let slots = (0..20_000_usize).map(|number| Slot {
            job_id: format!("{:012x}", 11 + number % jobs),
            scheduled_at: (from + SignedDuration::from_mins(i64::try_from(number).unwrap()))
                .to_string(),
            outcome: Outcome::Skipped,
            reason: None,
            execution_id: None,
        });
        ledger.slots_without_row = slots.collect();
        let check = all().find(|check| check.id == "ledger-missing").unwrap();
        let found = (check.run)(&evidence).findings.pop();
        found.map_or(String::new(), |found| found.summary)
    };
    assert_eq!(record(1), "", "all are on record");
    // Of three jobs each has a third of them.
    let between = fixture.now.duration_since(from).as_secs() / 60;
    let told = record(3);
    let missing: i64 = told
        .split_whitespace()
        .find_map(|word| word.parse().ok())
        .unwrap();
    assert!((missing * 3 - between * 2).abs() < 200, "{told}: {between}");
}

#[test]
fn b51_after_the_next_run_on_time_it_is_history() {
    let fixture = Fixture::healthy();
    daily(&fixture, "0 9 * * *", "2026-11-30T09:00:00+01:00");
    for day in [25, 26, 29] {
        ran(&fixture, &format!("2026-11-{day}T08:00:00Z"), 0);
    }
    assert_eq!(fixture.one("HM607").severity, Some(Severity::Info));
}

#[test]
fn nothing_is_claimed_before_the_first_row_of_todays_schedule() {
    let fixture = Fixture::healthy();
    daily(&fixture, "0 9 * * *", "2026-11-30T09:00:00+01:00");
    // It ran at 07:00 until the 27th; then somebody moved it.
    for day in [20, 21, 27] {
        ran(&fixture, &format!("2026-11-{day}T06:00:00Z"), 0);
    }
    for day in [28, 29] {
        ran(&fixture, &format!("2026-11-{day}T08:00:00Z"), 0);
    }
    assert_eq!(codes(&fixture.all_findings()), [""; 0]);
}

#[test]
fn b64_a_daily_job_across_both_changes_of_the_clock_misses_nothing() {
    for (now, first) in [
        ("2026-10-28T00:00:00Z", "2026-10-22"),
        ("2026-04-01T00:00:00Z", "2026-03-26"),
    ] {
        let mut fixture = Fixture::healthy();
        fixture.now = now.parse().unwrap();
        let first: jiff::civil::Date = first.parse().unwrap();
        daily(&fixture, "30 2 * * *", "2027-01-01T02:30:00+01:00");
        for day in 0..6 {
            let date = first.checked_add(jiff::Span::new().days(day)).unwrap();
            let wall = date.at(2, 30, 0, 0);
            let instant = Fixture::zone()
                .to_ambiguous_zoned_datetime(wall)
                .compatible()
                .unwrap();
            ran(&fixture, &instant.timestamp().to_string(), 0);
        }
        assert!(fixture.findings("HM607").is_empty(), "{now}");
    }
}

#[test]
fn an_hourly_job_owes_both_passes_of_the_repeated_hour() {
    let mut fixture = Fixture::healthy();
    fixture.now = "2026-10-25T06:30:00Z".parse().unwrap();
    daily(&fixture, "0 * * * *", "2026-10-25T08:00:00+01:00");
    for hour in [22, 23] {
        ran(&fixture, &format!("2026-10-24T{hour}:00:00Z"), 0);
    }
    // 02:00 comes twice, at 00:00 and 01:00 UTC; the second pass has no row.
    for hour in [0, 2, 3, 4, 5, 6] {
        ran(&fixture, &format!("2026-10-25T0{hour}:00:00Z"), 0);
    }
    let found = &fixture.findings("HM607")[0];
    assert!(
        found.summary.contains("1 occurrence without a record"),
        "{}",
        found.summary
    );
    assert_eq!(
        found.evidence[0].observed,
        "2026-10-25 02:00 Europe/Berlin: no row"
    );
}

#[test]
fn intervals_owe_a_slot_only_after_two_whole_intervals_of_silence() {
    let fixture = Fixture::healthy();
    std::fs::remove_file(fixture.path("cron/executions.db")).unwrap();
    for minutes in [600, 568, 530, 280, 20] {
        fixture.run("00000000000a", minutes, "completed");
    }
    fixture.jobs(&[fixture.job("00000000000a")]);
    let found = fixture.one("HM607");
    // Two pauses of about four hours each, in half-hour steps.
    assert!(
        found.summary.contains("14 occurrences"),
        "{}",
        found.summary
    );
}

#[test]
fn a_slot_that_is_booked_on_an_older_run_counts_as_missing() {
    let fixture = Fixture::healthy();
    daily(&fixture, "0 9 * * *", "2026-11-30T09:00:00+01:00");
    for day in [25, 26, 27, 28] {
        ran(&fixture, &format!("2026-11-{day}T08:00:00Z"), 0);
    }
    fixture.sql(
        "cron/executions.db",
        "UPDATE executions SET scheduled_instant = '2026-11-29T08:00:00Z'
         WHERE scheduled_instant LIKE '2026-11-28%'",
    );
    let found = &fixture.findings("HM607")[0];
    assert!(found.summary.contains("2 occurrences"), "{}", found.summary);
    assert!(found.causes.contains(&"HM608"));
}
