//! What the views and a run by hand say agrees with what happens.

use serde_json::{Value, json};

use crate::common::jobs::{document, hermes, home, job, said, script, serving, store, with};

const ID: &str = "aaaaaaaaaaaa";

/// A job that failed long ago and waits for a slot too far off.
fn silent(schedule: &Value) -> Value {
    job(
        ID,
        &json!({
            "schedule": schedule, "next_run_at": "2026-06-17T20:00:00+00:00",
            "last_status": "error", "last_run_at": "2026-06-17T05:00:00+00:00",
        }),
    )
}

#[test]
fn a_failed_job_that_the_next_pass_brings_forward_shows_the_run_that_comes() {
    let hourly = json!({"kind": "cron", "expr": "0 * * * *", "display": "hourly"});
    let sandbox = with(&[silent(&hourly)]);
    let _serving = serving(&sandbox, 5);
    let (_, out, _) = said(&sandbox, &["cron", "list"]);
    assert!(out.contains("in 1h") && !out.contains("in 10h"), "{out}");
    assert!(out.contains("brings its next run forward"), "{out}");
    let (_, out, _) = said(&sandbox, &["cron", "show", ID]);
    assert!(out.contains("in 1h, 2026-06-17 11:00:00"), "{out}");
    let (_, out, _) = said(&sandbox, &["cron", "status"]);
    assert!(out.contains("note") && !out.contains("waits"), "{out}");
    let words = ["cron", "edit", ID, "--name", "other", "--dry-run"];
    let (_, out, _) = said(&sandbox, &words);
    assert!(out.contains("next run  2026-06-17 11:00:00"), "{out}");
    // What the pass makes of it.
    let (_, told, _) = document(&sandbox, &["cron", "tick", "--dry-run"]);
    let next = &told["changes"][0]["set"]["next_run_at"];
    assert_eq!(*next, "2026-06-17T11:00:00+00:00", "{told}");
}

#[test]
fn a_run_of_what_is_not_there_could_not_be_launched_as_its_dry_run_says() {
    for more in [
        json!({"script": "gone.sh"}),
        json!({"workdir": "/nowhere/at/all"}),
        json!({"x_hermes": {"env_file": "/nowhere/at/all"}}),
    ] {
        let sandbox = with(&[job(ID, &more)]);
        let (dry, ..) = said(&sandbox, &["cron", "run", ID, "--dry-run"]);
        let (code, told, _) = document(&sandbox, &["cron", "run", ID]);
        assert_eq!((dry, code), (2, 2), "{told}");
        assert_eq!(told["outcome"], "could_not_be_launched", "{told}");
        assert!(told["exit_status"].is_null(), "{told}");
        let (_, told, _) = document(&sandbox, &["cron", "runs"]);
        assert_eq!(told["homes"][0]["runs"][0]["status"], "failed", "{told}");
    }
    // One that fails and takes its script along was launched.
    let sandbox = with(&[job(ID, &json!({}))]);
    script(&sandbox, "ok.sh", "rm \"$0\"; exit 3");
    let (code, told, _) = document(&sandbox, &["cron", "run", ID]);
    assert_eq!((code, &told["outcome"]), (1, &json!("failed")), "{told}");
}

#[test]
fn a_run_tells_the_exit_status_of_its_job_or_the_signal_that_ended_it() {
    let sandbox = with(&[job(ID, &json!({}))]);
    for (text, status, signal) in [
        ("exit 0", json!(0), Value::Null),
        ("echo failed >&2; exit 42", json!(42), Value::Null),
        ("kill -9 $$", Value::Null, json!(9)),
    ] {
        script(&sandbox, "ok.sh", text);
        let (_, told, _) = document(&sandbox, &["cron", "run", ID]);
        assert_eq!(told["exit_status"], status, "{text}: {told}");
        assert_eq!(told["signal"], signal, "{text}: {told}");
    }
}

#[test]
fn status_says_how_many_jobs_it_does_not_name() {
    let jobs: Vec<_> = (0..7)
        .map(|number| {
            let pending = json!({
                "scheduled_at": "2026-06-17T09:50:00+00:00", "at": "2026-06-17T09:59:00+00:00",
                "by": "elsewhere:7",
            });
            job(
                &format!("{number:012}"),
                &json!({ "pending_slot": pending }),
            )
        })
        .collect();
    let sandbox = with(&jobs);
    let _serving = serving(&sandbox, 5);
    let (_, out, _) = said(&sandbox, &["cron", "status"]);
    assert!(out.contains("waits to start"), "{out}");
    assert!(out.contains("and 2 more: hermes cron list"), "{out}");
}

#[test]
fn a_stop_that_does_not_say_since_when_is_told_once() {
    let sandbox = home();
    store(&sandbox, &[job(ID, &json!({}))]);
    sandbox.write("ESTOP", "");
    let output = hermes(&sandbox, &["cron", "status"])
        .output()
        .expect("it runs");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.contains("an emergency stop is in force"), "{err}");
    assert!(!err.contains("in force, in force"), "{err}");
}
