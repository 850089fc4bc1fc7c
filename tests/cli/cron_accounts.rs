//! What is on record of slots is what became of them: of jobs that are refused, brought forward, paused,
//! or run because somebody asked.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests look at the ledger themselves"
)]

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::jobs::{agent, document, job, said, script, stored, with};

const ID: &str = "aaaaaaaaaaaa";

/// One pass at an instant: its document and what it said.
fn pass(sandbox: &Sandbox, now: &str) -> (Value, String) {
    let output = crate::common::jobs::hermes(sandbox, &["cron", "tick", "--json"])
        .env("__HERMES_NOW", now)
        .output()
        .expect("it runs");
    let told = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    (told, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Slots on record: instant, outcome and reason.
fn slots(sandbox: &Sandbox) -> Vec<(String, String, String)> {
    let path = sandbox.home().join("cron/executions.db");
    let ledger = Connection::open(path).expect("the ledger");
    let sql = "SELECT scheduled_at, outcome, coalesce(reason, '') FROM cron_slots ORDER BY 1";
    let mut statement = ledger.prepare(sql).expect("a statement");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    let rows = rows.expect("rows");
    rows.collect::<rusqlite::Result<_>>().expect("rows")
}

/// The same pass, in which the process is killed at a place.
fn killed(sandbox: &Sandbox, now: &str, place: &str) {
    let output = crate::common::jobs::hermes(sandbox, &["cron", "tick"])
        .env("__HERMES_NOW", now)
        .env("__HERMES_FAULT", place)
        .output()
        .expect("it runs");
    assert!(!output.status.success(), "{place}");
}

/// The clock and the outcome of each slot on record.
fn outcomes(sandbox: &Sandbox) -> Vec<(String, String)> {
    let short = |(at, outcome, _): (String, String, String)| (at[11..16].to_owned(), outcome);
    slots(sandbox).into_iter().map(short).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(at, outcome): &(&str, &str)| ((*at).to_owned(), (*outcome).to_owned());
    expected.iter().map(owned).collect()
}

#[test]
fn slots_of_a_job_that_is_refused_are_not_said_to_be_stood_for_by_a_run() {
    let stood = "2026-06-17T09:00:00+00:00";
    let refused = json!({"next_run_at": stood, "deliver": "telegram:1"});
    let sandbox = with(&[job(ID, &refused)]);
    pass(&sandbox, "2026-06-17T10:00:10Z");
    let expected = [
        ("09:00", "refused"),
        ("09:30", "missed"),
        ("10:00", "missed"),
    ];
    assert_eq!(outcomes(&sandbox), pairs(&expected));
    for (_, _, why) in slots(&sandbox) {
        assert!(!why.contains("run stands"), "{why}");
    }
}

#[test]
fn a_job_that_is_brought_forward_runs_once_and_goes_on_from_there() {
    let silent = json!({
        "next_run_at": "2026-06-17T14:00:00+00:00", "last_status": "error", "last_error": "x",
        "last_run_at": "2026-06-17T05:00:00+00:00",
    });
    let sandbox = with(&[job(ID, &silent)]);
    let (told, _) = pass(&sandbox, "2026-06-17T10:00:00Z");
    assert_eq!(told["runs"].as_array().map(Vec::len), Some(1), "{told}");
    let kept = &stored(&sandbox)[0];
    assert_eq!(kept["pending_slot"], Value::Null, "its slot had its run");
    assert_eq!(kept["next_run_at"], "2026-06-17T10:30:00+00:00");
    // The slot that lay so far off is one of the cadence still, and is not told as left out.
    assert_eq!(outcomes(&sandbox), pairs(&[("10:00", "run")]));
    let (told, _) = pass(&sandbox, "2026-06-17T10:01:00Z");
    assert_eq!(told["runs"], json!([]));
    let next = &stored(&sandbox)[0]["next_run_at"];
    assert_eq!(
        next, "2026-06-17T10:30:00+00:00",
        "the old one does not come back"
    );
}

#[test]
fn b75_a_late_one_shot_is_told_of_whether_its_next_run_is_written_or_not() {
    let run_at = "2026-06-17T05:00:00+00:00";
    for next in [json!(run_at), Value::Null] {
        let once = json!({
            "schedule": {"kind": "once", "run_at": run_at, "display": "once"},
            "repeat": {"times": 1, "completed": 0}, "next_run_at": next,
        });
        let sandbox = with(&[job(ID, &once)]);
        let (told, said_) = pass(&sandbox, "2026-06-17T10:00:00Z");
        assert_eq!(told["runs"], json!([]));
        assert!(said_.contains("was due at 2026-06-17T05:00:00"), "{said_}");
        assert_eq!(stored(&sandbox), [Value::Null; 0], "{next}");
        assert_eq!(outcomes(&sandbox), pairs(&[("05:00", "missed")]), "{next}");
        let (_, incidents, _) = document(&sandbox, &["cron", "incidents"]);
        assert!(
            incidents.to_string().contains("missed: nobody ran it"),
            "{incidents}"
        );
        let folder = sandbox.home().join("cron/output").join(ID);
        assert_eq!(std::fs::read_dir(folder).expect("its documents").count(), 1);
    }
}

#[test]
fn slots_before_a_pause_were_missed_and_those_of_the_pause_were_skipped() {
    let paused = json!({
        "next_run_at": "2026-06-17T08:00:00+00:00", "enabled": false, "state": "paused",
        "paused_at": "2026-06-17T09:15:00+00:00",
    });
    let sandbox = with(&[job(ID, &paused)]);
    assert_eq!(said(&sandbox, &["cron", "resume", ID]).0, 0);
    let expected = [
        ("08:00", "missed"),
        ("08:30", "missed"),
        ("09:00", "missed"),
        ("09:30", "skipped"),
        ("10:00", "skipped"),
    ];
    assert_eq!(outcomes(&sandbox), pairs(&expected));
}

#[test]
fn b73_a_run_that_is_asked_for_takes_no_slot_of_a_job_that_is_armed() {
    for (next, then) in [
        ("2026-06-17T10:20:00+00:00", "2026-06-17T10:20:10Z"),
        ("2026-06-17T09:50:00+00:00", "2026-06-17T10:01:10Z"),
    ] {
        let sandbox = with(&[job(ID, &json!({"next_run_at": next}))]);
        script(&sandbox, "ok.sh", "echo ran >>\"$HERMES_HOME/runs\"");
        assert_eq!(said(&sandbox, &["cron", "resume", ID, "--run-now"]).0, 0);
        let (told, _) = pass(&sandbox, "2026-06-17T10:00:10Z");
        assert_eq!(told["runs"].as_array().map(Vec::len), Some(1), "{told}");
        let kept = &stored(&sandbox)[0];
        assert_eq!(kept["next_run_at"], next, "the slot stands again");
        assert_eq!(kept["x_hermes"]["next_after_run"], Value::Null, "{kept}");
        assert_eq!(outcomes(&sandbox), pairs(&[]), "no slot went");
        pass(&sandbox, then);
        assert_eq!(outcomes(&sandbox), pairs(&[(&next[11..16], "run")]));
        let runs = std::fs::read_to_string(sandbox.home().join("runs")).expect("runs");
        assert_eq!(runs, "ran\nran\n");
    }
}

#[test]
fn a_prompt_for_one_run_of_the_other_program_is_not_dropped() {
    let at = "2026-06-17T09:59:50+00:00";
    let asked = json!({
        "no_agent": false, "script": null, "prompt": "the usual", "next_run_at": at,
        "manual_run_at": at, "manual_run_prompt": "something else",
    });
    let sandbox = with(&[job(ID, &asked)]);
    agent(&sandbox, &["say done"], "");
    let (told, _) = pass(&sandbox, "2026-06-17T10:00:00Z");
    let run = told["runs"][0].to_string();
    assert!(
        run.contains("refused") && run.contains("manual_run_prompt"),
        "{told}"
    );
    // It is asked for no more, and the next slot is one of its own.
    let (told, _) = pass(&sandbox, "2026-06-17T10:29:55Z");
    assert_eq!(told["runs"][0]["outcome"], "ok", "{told}");
}

#[test]
fn what_our_own_corner_says_and_cannot_mean_is_shown() {
    let own = json!({"catch_up": "max-lateness=1h", "timeout_seconds": "10m"});
    let stood = json!({"x_hermes": own, "next_run_at": "2026-06-17T09:00:00+00:00"});
    let sandbox = with(&[job(ID, &stood)]);
    let (_, out, _) = said(&sandbox, &["cron", "show", ID]);
    assert!(out.contains("x_hermes.catch_up is no policy"), "{out}");
    assert!(
        out.contains("x_hermes.timeout_seconds is no whole number"),
        "{out}"
    );
    let (_, shown, _) = document(&sandbox, &["cron", "show", ID]);
    let coming = shown["next"].as_array().expect("instants");
    assert_eq!(
        coming[0], "2026-06-17T10:30:00+00:00",
        "what has passed is not to come"
    );
}

#[test]
fn a_delivery_command_that_is_not_there_is_said_to_be_missing() {
    let own = json!({"deliver_command": ["nosuchmail", "me"]});
    let sandbox = with(&[job(ID, &json!({"x_hermes": own}))]);
    said(&sandbox, &["cron", "run", ID]);
    let kept = stored(&sandbox)[0]["last_delivery_error"].to_string();
    assert!(kept.contains("'nosuchmail' was not found"), "{kept}");
    assert!(!kept.contains("exited"), "{kept}");
    let cron = sandbox.home().join("cron");
    assert!(
        hermes::cron::fire_lock::path(&cron, ID).exists(),
        "under the lock of both programs"
    );
}

/// A home west of UTC, whose job has a next run without an offset: 09:00 there is 13:00.
fn naive(more: &Value) -> Sandbox {
    let mut stood = json!({"next_run_at": "2026-06-17T09:00:00"});
    let object = stood.as_object_mut().expect("an object");
    object.extend(more.as_object().expect("an object").clone());
    let sandbox = with(&[job(ID, &stood)]);
    sandbox.write("config.yaml", "timezone: America/New_York\n");
    script(&sandbox, "ok.sh", "echo ran >>\"$HERMES_HOME/runs\"");
    sandbox
}

fn runs(sandbox: &Sandbox) -> usize {
    let runs = std::fs::read_to_string(sandbox.home().join("runs")).unwrap_or_default();
    runs.lines().count()
}

/// The slot that each row of a run names, and the slot that our own record has it under.
fn rows_of_slots(sandbox: &Sandbox) -> Vec<(Option<String>, String)> {
    let path = sandbox.home().join("cron/executions.db");
    let ledger = Connection::open(path).expect("the ledger");
    let sql = "SELECT e.scheduled_instant, s.scheduled_at FROM executions e
        JOIN cron_slots s ON s.execution_id = e.id";
    let mut statement = ledger.prepare(sql).expect("a statement");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    let rows = rows.expect("rows");
    rows.collect::<rusqlite::Result<_>>().expect("rows")
}

#[test]
fn a_next_run_without_an_offset_is_on_record_under_the_instant_that_it_was_taken_for() {
    for zone in ["UTC", "America/New_York"] {
        let sandbox = naive(&json!({}));
        // A wall clock without an offset is the host's.
        let at = |clock: &str| {
            let host: jiff::Timestamp = format!("2026-06-17T{clock}Z").parse().expect("an instant");
            let hours = if zone == "UTC" { 0 } else { 4 };
            (host + jiff::SignedDuration::from_hours(hours)).to_string()
        };
        let pass = |now: &str| {
            let output = crate::common::jobs::hermes(&sandbox, &["cron", "tick", "--json"])
                .env("__HERMES_NOW", at(now))
                .env("TZ", zone)
                .output()
                .expect("it runs");
            serde_json::from_slice::<Value>(&output.stdout).expect("a document")
        };
        let told = pass("10:00:10");
        assert_eq!(told["runs"].as_array().map(Vec::len), Some(1), "{told}");
        let utc = |clock: &str| at(clock).replace('Z', "+00:00");
        let of_runs = rows_of_slots(&sandbox);
        assert_eq!(of_runs, [(None, utc("09:00:00"))], "{zone}");
        let on_record: Vec<_> = slots(&sandbox)
            .into_iter()
            .map(|(at, outcome, _)| (at, outcome))
            .collect();
        let expected = [("09:00", "run"), ("09:30", "missed"), ("10:00", "missed")]
            .map(|(clock, outcome)| (utc(&format!("{clock}:00")), outcome.to_owned()));
        assert_eq!(on_record, expected, "{zone}");
        let kept = &stored(&sandbox)[0];
        assert!(kept.get("pending_slot").is_none(), "{kept}");
        // A store that is restored shows it again.
        let text = std::fs::read_to_string(sandbox.home().join("cron/jobs.json")).expect("it");
        let next = kept["next_run_at"].as_str().expect("a next run");
        sandbox.write("cron/jobs.json", text.replace(next, "2026-06-17T09:00:00"));
        pass("10:01:10");
        assert_eq!(runs(&sandbox), 1, "{zone}");
    }
}

#[test]
fn a_slot_without_an_offset_is_run_once_wherever_its_dispatcher_is_killed() {
    for place in [
        "scan.recorded",
        "scan.saved",
        "dispatcher.claimed",
        "dispatcher.row",
        "dispatcher.offered",
        "dispatcher.spawned",
    ] {
        let sandbox = naive(&json!({}));
        killed(&sandbox, "2026-06-17T09:00:10Z", place);
        crate::common::jobs::settled(&sandbox);
        pass(&sandbox, "2026-06-17T09:01:10Z");
        pass(&sandbox, "2026-06-17T09:02:10Z");
        // A worker that was only just started is nobody's to wait for.
        crate::common::jobs::settled(&sandbox);
        assert_eq!(runs(&sandbox), 1, "{place}");
        assert_eq!(outcomes(&sandbox), pairs(&[("09:00", "run")]), "{place}");
        let kept = &stored(&sandbox)[0];
        assert_eq!(kept["repeat"]["completed"], 1, "{place}: {kept}");
        assert!(kept.get("pending_slot").is_none(), "{place}: {kept}");
    }
    // A worker that was killed has run it, and its job counts it.
    let sandbox = naive(&json!({}));
    let output = crate::common::jobs::hermes(&sandbox, &["cron", "tick"])
        .env("__HERMES_NOW", "2026-06-17T09:00:10Z")
        .env("__HERMES_FAULT", "worker.ran")
        .output();
    assert!(output.is_ok());
    assert_eq!(outcomes(&sandbox), pairs(&[("09:00", "run")]));
    assert_eq!(stored(&sandbox)[0]["repeat"]["completed"], 1);
}

#[test]
fn a_slot_without_an_offset_that_is_not_run_is_on_record_as_any_other() {
    let late = json!({"x_hermes": {"catch_up": "skip"}});
    let refused = json!({"deliver": "telegram:1"});
    for (more, outcome) in [(&late, "skipped"), (&refused, "refused")] {
        let sandbox = naive(more);
        pass(&sandbox, "2026-06-17T10:00:10Z");
        let expected = [("09:00", outcome), ("09:30", "missed"), ("10:00", "missed")];
        assert_eq!(outcomes(&sandbox), pairs(&expected));
    }
    let sandbox = naive(&json!({}));
    let words = ["cron", "edit", ID, "--schedule", "every 2h"];
    assert_eq!(said(&sandbox, &words).0, 0);
    assert_eq!(outcomes(&sandbox)[0], pairs(&[("09:00", "skipped")])[0]);
}
