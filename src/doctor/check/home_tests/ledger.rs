//! The ledger: what never launched, what never ended, what was cut short.

use serde_json::{Value, json};

use super::fixture::{Fixture, GONE, codes, own_start};
use crate::doctor::finding::Severity;

const JOB: &str = "00000000000a";

#[test]
fn b02_dispatches_that_never_start_are_told_once_for_all_jobs() {
    let fixture = Fixture::healthy();
    for minutes in [1, 2, 3] {
        for job in [JOB, "00000000000b"] {
            fixture.row(
                job,
                &json!({"status": "failed", "claimed_at": fixture.ago(minutes),
                    "finished_at": fixture.ago(minutes), "error": "systemd-run is unavailable"}),
            );
        }
    }
    let found = fixture.findings("HM601");
    assert_eq!((found.len(), found[0].severity), (1, None));
    let first = fixture.now - jiff::SignedDuration::from_mins(3);
    let since = format!("jobs never launch since {first} (3m ago)");
    assert!(found[0].summary.starts_with(&since), "{}", found[0].summary);
    assert!(
        found[0]
            .summary
            .contains("the last 6 dispatches, of 2 jobs")
    );
    let seen = &found[0].evidence[0].observed;
    assert_eq!(
        seen,
        "6 × failed, never started: systemd-run is unavailable"
    );
}

#[test]
fn b02_one_job_that_never_launches_among_others_that_do() {
    let fixture = Fixture::healthy();
    for minutes in [1, 2, 3] {
        fixture.row(
            JOB,
            &json!({"status": "failed", "claimed_at": fixture.ago(minutes)}),
        );
    }
    fixture.run("00000000000b", 0, "completed");
    let found = fixture.findings("HM601");
    assert_eq!(found[0].subject.name, JOB);
}

#[test]
fn b25_words_that_nobody_knows_are_quoted_and_the_words_of_a_job_are_none_of_them() {
    let words = "scope-broker: quota class 7 exhausted";
    let failed = |times: i64, columns: Value| {
        let fixture = Fixture::healthy();
        for minutes in 0..times {
            let mut row = json!({"status": "failed", "claimed_at": fixture.ago(3 + minutes),
                "finished_at": fixture.ago(3 + minutes), "error": words});
            for (key, value) in columns.as_object().unwrap() {
                row[key] = value.clone();
            }
            fixture.row(JOB, &row);
        }
        fixture.all_findings()
    };
    for times in [1, 2, 3] {
        let found = failed(times, json!({}));
        let launch = found.iter().find(|found| found.code == "HM332").unwrap();
        assert_eq!(
            launch.summary,
            format!("the last job did not launch: '{words}'")
        );
        assert_eq!(launch.evidence[0].observed, words);
        let streak = found.iter().any(|found| found.code == "HM601");
        assert_eq!(streak, times >= 3);
    }
    let silent = failed(1, json!({"error": null}));
    assert!(silent[0].summary.ends_with("no reason was recorded"));
    // It has started, so the words are its own.
    let started = failed(1, json!({"started_at": "2026-11-29T10:00:00+00:00"}));
    assert!(
        !started.iter().any(|found| found.code == "HM332"),
        "{started:?}"
    );
    let secret = failed(1, json!({"error": "broker: token=abcdef"}));
    assert!(!secret[0].summary.contains("abcdef"), "{secret:?}");
}

fn open(fixture: &Fixture, columns: &Value) {
    let mut row = json!({"status": "running", "claimed_at": fixture.ago(5),
        "started_at": fixture.ago(5)});
    for (key, value) in columns.as_object().unwrap() {
        row[key] = value.clone();
    }
    fixture.row(JOB, &row);
}

#[test]
fn b96_a_row_whose_owner_is_gone_or_another_process_is_abandoned() {
    let fixture = Fixture::healthy();
    open(&fixture, &json!({"pid": GONE, "process_started_at": 100}));
    assert!(fixture.one("HM602").summary.contains("has ended"));
    let fixture = Fixture::healthy();
    let other = own_start() + 100_000;
    open(
        &fixture,
        &json!({"pid": std::process::id(), "process_started_at": other}),
    );
    assert!(
        fixture
            .one("HM602")
            .summary
            .contains("is another process now")
    );
}

#[test]
fn b94_unknown_is_not_dead() {
    let fixture = Fixture::healthy();
    open(&fixture, &json!({"pid": std::process::id()}));
    let found = fixture.one("HM603");
    assert_eq!(found.severity, Some(Severity::Info));
    assert!(found.summary.contains("unverified"));
}

#[test]
fn alive_and_working_is_well_and_alive_and_silent_hangs() {
    let fixture = Fixture::healthy();
    let own = json!({"pid": std::process::id(), "process_started_at": own_start()});
    open(&fixture, &own);
    assert_eq!(codes(&fixture.all_findings()), [""; 0]);
    let mut silent = own;
    silent["claimed_at"] = fixture.ago(300).into();
    silent["started_at"] = fixture.ago(300).into();
    open(&fixture, &silent);
    assert!(fixture.one("HM604").summary.contains("no progress for 5h"));
}

#[test]
fn b95_a_hand_over_whose_worker_lives_is_left_alone() {
    let fixture = Fixture::healthy();
    open(
        &fixture,
        &json!({"status": "claimed", "pid": GONE, "process_started_at": 1, "handoff_pending": 1,
            "handoff_started_at": fixture.epoch(-10)}),
    );
    assert_eq!(codes(&fixture.all_findings()), [""; 0]);
    fixture.sql(
        "cron/executions.db",
        &format!(
            "UPDATE executions SET id = 'e1', handoff_started_at = {} WHERE handoff_pending",
            fixture.epoch(-100)
        ),
    );
    assert_eq!(fixture.findings("HM602").len(), 1);
    let ready = json!({"pid": std::process::id(), "execution_id": "e1"}).to_string();
    fixture.write("cron/external-workers/e1.ready", &ready);
    assert_eq!(codes(&fixture.all_findings()), [""; 0]);
}

#[test]
fn b100_a_last_row_that_ended_unknown_is_told_with_its_reason() {
    let fixture = Fixture::healthy();
    fixture.row(
        JOB,
        &json!({"status": "unknown", "claimed_at": fixture.ago(3), "started_at": fixture.ago(3),
            "finished_at": fixture.ago(2), "error": "worker exited with status -9"}),
    );
    let found = fixture.one("HM605");
    assert_eq!(found.severity, Some(Severity::Warning));
    assert!(
        found
            .summary
            .contains("1 × signal by its error (mode unknown); it has not run well since")
    );
    fixture.run(JOB, 2, "completed");
    assert_eq!(fixture.findings("HM605")[0].severity, Some(Severity::Info));
}

#[test]
fn b29_kills_are_counted_by_cause_and_mode_for_seven_days() {
    let fixture = Fixture::healthy();
    fixture.sql("cron/executions.db", crate::ledger::facts::SCHEMA);
    for (id, minutes, cause) in [
        ("k1", 30, "oom"),
        ("k2", 60, "oom"),
        ("k3", 90, "reboot"),
        ("k4", 8 * 1440, "oom"),
    ] {
        fixture.run(JOB, minutes, "unknown");
        fixture.sql(
            "cron/executions.db",
            &format!(
                "UPDATE executions SET id = '{id}' WHERE status = 'unknown' AND length(id) = 32;
                 INSERT INTO execution_facts(execution_id, mode, cause, recorded_at)
                 VALUES ('{id}', 'scoped', '{cause}', '2026-11-29T00:00:00Z')"
            ),
        );
    }
    let found = &fixture.findings("HM605")[0];
    assert!(
        found
            .summary
            .contains("3 times in the last 7 days: 2 × oom (scoped), 1 × reboot (scoped)"),
        "{}",
        found.summary
    );
}

#[test]
fn b80_b99_slots_that_are_booked_on_a_run_before_them() {
    let fixture = Fixture::healthy();
    let booked = |slot: i64| {
        json!({"status": "completed", "claimed_at": fixture.ago(30), "started_at": fixture.ago(30),
            "finished_at": fixture.ago(29), "scheduled_instant": fixture.ago(slot),
            "delivery_outcome": "suppressed"})
    };
    fixture.row(JOB, &booked(5));
    assert!(
        fixture
            .one("HM608")
            .summary
            .contains("stamped on an older run")
    );
    let fixture = Fixture::healthy();
    std::fs::remove_file(fixture.path("cron/executions.db")).unwrap();
    fixture.row(JOB, &booked(-30));
    let found = fixture.findings("HM608");
    assert!(found[0].summary.contains("future slot"));
    // What is printed as the way out, a run, is one when it went well.
    fixture.run(JOB, 3, "failed");
    assert_eq!(fixture.findings("HM608").len(), 1);
    fixture.run(JOB, 2, "completed");
    assert_eq!(codes(&fixture.findings("HM608")), [""; 0]);
}

#[test]
fn b101_done_and_bookkeeping_lost() {
    let fixture = Fixture::healthy();
    fixture.row(
        JOB,
        &json!({"status": "failed", "claimed_at": fixture.ago(3), "started_at": fixture.ago(3),
            "finished_at": fixture.ago(2),
            "error": "Fire claim ownership lost before terminal completion."}),
    );
    assert!(
        fixture
            .one("HM610")
            .summary
            .contains("bookkeeping was lost")
    );
}

#[test]
fn b114_done_and_not_delivered() {
    let fixture = Fixture::healthy();
    let deliver = |outcome: Value, to: &str| {
        std::fs::remove_file(fixture.path("cron/executions.db")).unwrap();
        fixture.row(
            JOB,
            &json!({"status": "completed", "claimed_at": fixture.ago(20),
                "started_at": fixture.ago(20), "finished_at": fixture.ago(19),
                "delivery_outcome": outcome}),
        );
        fixture.only_job(|job| job["deliver"] = to.into());
        fixture.findings("HM611").len()
    };
    assert_eq!(deliver(Value::Null, "telegram:1"), 1);
    assert_eq!(deliver("failed".into(), "telegram:1"), 1);
    assert_eq!(deliver("queued".into(), "telegram:1"), 1);
    assert_eq!(deliver("delivered".into(), "telegram:1"), 0);
    assert_eq!(deliver(Value::Null, "local"), 0);
}

#[test]
fn b82_a_one_shot_that_fires_again_and_again() {
    const ONCE: &str = "00000000000c";
    let claimed = |minutes: [i64; 3]| {
        let fixture = Fixture::healthy();
        fixture.jobs(&[fixture.once(10)]);
        for minutes in minutes {
            fixture.run(ONCE, minutes, "unknown");
        }
        fixture
    };
    let fixture = claimed([10, 9, 8]);
    let found = &fixture.findings("HM612")[0];
    assert!(found.summary.contains("was started 3 times"));
    let entry = crate::doctor::catalog::find("HM612").unwrap();
    assert_eq!((found.severity, entry.severity), (None, Severity::Error));
    // Nothing advises to start it once more.
    for code in ["HM505", "HM605"] {
        let causes = &fixture.findings(code)[0].causes;
        assert!(causes.contains(&"HM612"), "{code}");
    }
    // Three claims within an hour are runs by hand, a loop of last week is the past, and what has ended or
    // was paused does not go on.
    for minutes in [[60, 30, 8], [9_010, 9_009, 9_008]] {
        let found = claimed(minutes).findings("HM612");
        assert_eq!(codes(&found), [""; 0], "{minutes:?}");
    }
    for state in ["completed", "paused"] {
        let mut job = fixture.once(10);
        job["state"] = state.into();
        job["enabled"] = false.into();
        fixture.jobs(&[job]);
        assert_eq!(codes(&fixture.findings("HM612")), [""; 0], "{state}");
    }
}

#[test]
fn b109_one_slot_that_was_run_twice() {
    let fixture = Fixture::healthy();
    fixture.run(JOB, 20, "completed");
    assert!(
        fixture
            .one("HM613")
            .summary
            .contains("ran 2 times for one slot")
    );
}

#[test]
fn b28_files_of_workers_that_are_left_over() {
    let fixture = Fixture::healthy();
    fixture.write("cron/external-workers/e9.json", "{}");
    fixture.write(
        "cron/external-workers/e9.stderr",
        "x\nNo module named 'y'\n\n",
    );
    let found = fixture.one("HM614");
    assert!(found.evidence[0].observed.contains("No module named 'y'"));
}

#[test]
fn b94_files_of_a_worker_that_may_live_are_left_alone() {
    let fixture = Fixture::healthy();
    let ready = format!(r#"{{"pid": {}}}"#, std::process::id());
    fixture.write("cron/external-workers/e8.ready", &ready);
    fixture.write("cron/external-workers/e8.json", "{}");
    fixture.write("cron/external-workers/e9.json", "{}");
    let remedy = fixture.one("HM614").remedies.remove(0);
    let named = |name: &str| remedy.argv.iter().any(|word| word.contains(name));
    assert!(named("/e9.json") && !named("/e8."), "{:?}", remedy.argv);
    let directory = fixture.path("cron/external-workers").display().to_string();
    assert!(!remedy.argv.contains(&directory), "{:?}", remedy.argv);
    // Which of them have a row that is open is in the ledger: without it nothing is said.
    fixture.write("cron/executions.db", "this is no database");
    assert!(fixture.findings("HM614").is_empty());
}

#[test]
fn a_cause_that_nobody_recorded_is_not_guessed() {
    let told = |error: &str| {
        let fixture = Fixture::healthy();
        fixture.row(
            JOB,
            &json!({"status": "unknown", "claimed_at": fixture.ago(3), "started_at": fixture.ago(3),
                "finished_at": fixture.ago(2), "error": error}),
        );
        let found = fixture.one("HM605");
        let (_, causes) = found.summary.split_once("7 days: 1 × ").expect("causes");
        causes.split_once(" (").expect("a mode").0.to_owned()
    };
    for (error, cause) in [
        ("worker exited with status -9", "signal by its error"),
        ("killed by SIGKILL.", "signal by its error"),
        (
            "Gateway restarted while the run was in flight",
            "gateway restart by its error",
        ),
        ("MemoryError: out of memory", "oom by its error"),
        // Words that only look like one.
        ("no heartbeat since 2026-11-15", "cause not recorded"),
        (
            "the room is loom-shaped; please restart nothing",
            "cause not recorded",
        ),
        ("overkilled", "cause not recorded"),
        ("", "cause not recorded"),
    ] {
        assert_eq!(told(error), cause, "{error}");
    }
}
