//! What a pass and its workers keep to: one pass at a time, so many jobs at once, no worker without orders.

#![expect(
    clippy::disallowed_methods,
    reason = "a pass is looked at while its jobs run"
)]

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::common::jobs::{NOW, document, job, said, script, stored, with};

/// Says that it runs and how many do, and goes on as soon as nobody holds the gate.
const COUNTED: &str = "mkdir -p live; : >\"live/$HERMES_JOB_ID\"; ls live | wc -l >>counts; \
                       echo begun >begun; flock -s gate true; rm \"live/$HERMES_JOB_ID\"";

/// How many of so many due jobs ran at once at most, with this said in the configuration.
fn at_once(jobs: usize, expected: usize, config: &str) -> usize {
    let due = json!({"next_run_at": "2026-06-17T09:59:50+00:00"});
    let jobs: Vec<_> = (1..=jobs)
        .map(|number| job(&format!("{number:012}"), &due))
        .collect();
    let sandbox = with(&jobs);
    sandbox.write("config.yaml", format!("timezone: UTC\n{config}"));
    script(&sandbox, "ok.sh", COUNTED);
    let begun = sandbox.fifo("begun");
    let begun = std::fs::File::options().read(true).write(true).open(begun);
    let mut begun = BufReader::new(begun.expect("a FIFO")).lines();
    let gate = sandbox.write("gate", "");
    let patience = std::time::Duration::from_secs(10);
    let gate = hermes::cron::jobs_lock::take(&gate, patience).expect("a lock");
    let mut pass = Command::new(env!("CARGO_BIN_EXE_hermes"))
        .env_clear()
        .env("HOME", sandbox.user_home())
        .env("PATH", "/usr/bin:/bin")
        .env("__HERMES_NOW", NOW)
        .args(["cron", "tick"])
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    for _job in 0..expected {
        begun.next().expect("a line").expect("text");
    }
    let (_, runs, _) = document(&sandbox, &["cron", "runs"]);
    let runs = runs["homes"][0]["runs"].as_array().expect("runs").clone();
    let running = |run: &&Value| run["status"] == "running";
    assert_eq!(runs.iter().filter(running).count(), expected);
    drop(gate);
    assert!(pass.wait().expect("its end").success());
    let counts = std::fs::read_to_string(sandbox.home().join("counts")).expect("counts");
    let counts: Vec<usize> = counts
        .lines()
        .map(|line| line.trim().parse().expect("a number"))
        .collect();
    assert_eq!(counts.len(), jobs.len(), "each had its run in the end");
    counts.into_iter().max().expect("one")
}

#[test]
fn as_many_jobs_run_at_once_as_the_configuration_says() {
    assert_eq!(at_once(5, 2, "cron:\n  max_parallel_jobs: 2\n"), 2);
}

#[test]
fn where_nothing_is_said_eight_jobs_run_at_once() {
    assert_eq!(at_once(9, 8, ""), 8);
}

#[test]
fn zero_is_no_cap_on_jobs_that_run_at_once() {
    assert_eq!(at_once(11, 11, "cron:\n  max_parallel_jobs: 0\n"), 11);
}

#[test]
fn a_one_shot_that_has_run_is_kept_as_long_as_the_configuration_says() {
    let done = |id: &str, ran: &str| {
        let once = json!({"kind": "once", "run_at": ran, "display": "once"});
        let over = json!({"schedule": once, "repeat": {"times": 1, "completed": 1},
            "state": "completed", "enabled": false, "next_run_at": null, "last_run_at": ran,
            "last_status": "ok"});
        job(id, &over)
    };
    for (config, kept) in [
        ("", 1),
        ("cron:\n  completed_retention_days: 0\n", 2),
        ("cron:\n  completed_retention_days: 1\n", 0),
        ("cron:\n  completed_retention_days: 30\n", 2),
    ] {
        let sandbox = with(&[
            done("aaaaaaaaaaaa", "2026-06-14T10:00:00+00:00"),
            done("bbbbbbbbbbbb", "2026-06-07T10:00:00+00:00"),
        ]);
        sandbox.write("config.yaml", format!("timezone: UTC\n{config}"));
        assert_eq!(said(&sandbox, &["cron", "tick"]).0, 0);
        assert_eq!(stored(&sandbox).len(), kept, "{config}");
    }
}

#[test]
fn a_pass_beside_another_one_does_nothing_and_is_no_failure() {
    let due = json!({"next_run_at": "2026-06-17T09:59:50+00:00"});
    let sandbox = with(&[job("aaaaaaaaaaaa", &due)]);
    let lock = sandbox.write("cron/.tick.lock", "");
    let patience = std::time::Duration::from_secs(10);
    let lock = hermes::cron::jobs_lock::take(&lock, patience).expect("a lock");
    let before = stored(&sandbox);
    let (code, out, _) = said(&sandbox, &["cron", "tick"]);
    assert_eq!((code, out.as_str()), (0, ""));
    let (_, told, _) = document(&sandbox, &["cron", "tick"]);
    assert_eq!((&told["pass"], &told["runs"]), (&json!("busy"), &json!([])));
    assert_eq!(stored(&sandbox), before);
    drop(lock);
    let (_, told, _) = document(&sandbox, &["cron", "tick"]);
    assert_eq!(told["runs"][0]["outcome"], "ok", "{told}");
}

#[test]
fn a_job_that_is_resumed_runs_once_besides_its_slots_where_that_is_asked() {
    let paused = json!({"enabled": false, "state": "paused", "next_run_at": null,
        "paused_at": "2026-06-17T09:00:00+00:00", "name": "x"});
    for (flags, at, runs) in [
        (&["--run-now"][..], "2026-06-17T10:00:00+00:00", 1),
        (
            &["--at", "2026-06-17T11:10"],
            "2026-06-17T11:10:00+00:00",
            0,
        ),
    ] {
        let sandbox = with(&[job("aaaaaaaaaaaa", &paused)]);
        let words = [&["cron", "resume", "x"][..], flags].concat();
        assert_eq!(said(&sandbox, &words).0, 0);
        let kept = &stored(&sandbox)[0];
        assert_eq!(
            (&kept["next_run_at"], &kept["state"]),
            (&json!(at), &json!("scheduled"))
        );
        assert_eq!(kept["manual_run_at"], at, "as Hermes Agent marks it");
        let (_, told, _) = document(&sandbox, &["cron", "tick"]);
        assert_eq!(told["runs"].as_array().map(Vec::len), Some(runs), "{told}");
        assert_eq!(stored(&sandbox)[0]["repeat"]["completed"], 0);
    }
    let sandbox = with(&[job("aaaaaaaaaaaa", &paused)]);
    for (at, left_out) in [("2026-06-17T10:00:30", 0), ("2026-06-18T09:00", 1)] {
        let words = ["cron", "resume", "x", "--at", at, "--dry-run"];
        let (_, told, _) = document(&sandbox, &words);
        let warnings = told["warnings"].as_array().map(Vec::len);
        assert_eq!(warnings, Some(left_out), "{told}");
        let (_, _, said) = said(&sandbox, &words);
        assert_eq!(said.matches("left out").count(), left_out, "{said}");
    }
    let past = ["cron", "resume", "x", "--at", "2026-06-17T09:00"];
    assert_eq!(said(&sandbox, &past).0, 64);
}
