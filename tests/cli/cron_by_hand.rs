//! `hermes cron run|logs|cancel`: jobs that a person runs, follows and ends.

#![expect(
    clippy::disallowed_methods,
    reason = "one of these tests reads the output of a run as it comes"
)]

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::common::Sandbox;
use crate::common::jobs::{agent, document, hermes, home, job, said, script, store, stored, with};

const ID: &str = "aaaaaaaaaaaa";

fn runs(sandbox: &Sandbox) -> Vec<serde_json::Value> {
    let (_, runs, _) = document(sandbox, &["cron", "runs"]);
    runs["homes"][0]["runs"].as_array().expect("runs").clone()
}

#[test]
fn a_run_shows_what_it_prints_and_takes_no_slot() {
    let sandbox = with(&[job(ID, &json!({}))]);
    script(
        &sandbox,
        "ok.sh",
        "echo one; echo two >&2; echo \"$HERMES_JOB_ID\"",
    );
    let (code, out, err) = said(&sandbox, &["cron", "run", ID]);
    assert_eq!(code, 0, "{err}");
    let mut lines: Vec<_> = out.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, [ID, "one", "two"]);
    assert!(err.contains("succeeded"), "{err}");
    let kept = &stored(&sandbox)[0];
    assert_eq!(kept["next_run_at"], "2026-06-17T10:20:00+00:00");
    assert_eq!(
        kept["repeat"]["completed"], 0,
        "it is no run of the schedule"
    );
    assert_eq!(
        (&kept["last_status"], &kept["fire_claim"]),
        (&json!("ok"), &json!(null))
    );
    let rows = runs(&sandbox);
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (&rows[0]["status"], &rows[0]["source"]),
        (&json!("completed"), &json!("direct"))
    );
    assert_eq!(rows[0]["scheduled_instant"], json!(null));
    assert_eq!(rows[0]["facts"]["mode"], "in_process");
}

#[test]
fn a_run_that_fails_ends_with_1_and_one_that_cannot_start_with_2() {
    let foreign = job("bbbbbbbbbbbb", &json!({"deliver": "telegram:1"}));
    let gone = job("cccccccccccc", &json!({"script": "gone.sh"}));
    let asks = job(
        "dddddddddddd",
        &json!({"no_agent": false, "script": null, "prompt": "p"}),
    );
    let sandbox = with(&[job(ID, &json!({})), foreign, gone, asks]);
    script(&sandbox, "ok.sh", "echo partly; echo broken >&2; exit 3");
    let (code, out, err) = said(&sandbox, &["cron", "run", ID]);
    assert_eq!(code, 1);
    assert!(
        out.contains("partly") && err.contains("exited with code 3"),
        "{out}{err}"
    );
    let (code, told, _) = document(&sandbox, &["cron", "run", ID]);
    assert_eq!((code, &told["outcome"]), (1, &json!("failed")));
    for (id, outcome, reason) in [
        ("bbbbbbbbbbbb", "was_refused", "telegram:1"),
        ("dddddddddddd", "was_refused", "no agent is configured"),
    ] {
        let (code, told, _) = document(&sandbox, &["cron", "run", id]);
        assert_eq!((code, &told["outcome"]), (2, &json!(outcome)), "{told}");
        assert!(told["error"].to_string().contains(reason), "{told}");
    }
    let (code, told, _) = document(&sandbox, &["cron", "run", "cccccccccccc"]);
    let word = json!("could_not_be_launched");
    assert_eq!((code, &told["outcome"]), (2, &word), "{told}");
    let (code, told, _) = document(&sandbox, &["cron", "run", "nobody"]);
    assert_eq!((code, &told["error"]["kind"]), (2, &json!("not_found")));
    sandbox.write("ESTOP", "");
    let (code, _, err) = said(&sandbox, &["cron", "run", ID]);
    assert_eq!(code, 2);
    assert!(err.contains("hermes resume"), "{err}");
}

#[test]
fn a_prompt_runs_through_the_agent() {
    let asks = json!({"no_agent": false, "prompt": "and so?", "name": "asks"});
    let sandbox = with(&[job(ID, &asks)]);
    script(&sandbox, "ok.sh", "echo seen");
    agent(&sandbox, &["echo"], "");
    let (code, out, err) = said(&sandbox, &["cron", "run", "asks"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("seen") && out.contains("and so?"), "{out}");
    agent(&sandbox, &["complain no credit", "exit 5"], "");
    let (code, _, err) = said(&sandbox, &["cron", "run", "asks"]);
    assert!(code == 1 && err.contains("no credit"), "{err}");
    assert_eq!(stored(&sandbox)[0]["failure_streak"], 1);
}

#[test]
fn a_paused_job_runs_by_hand_and_stays_paused() {
    let paused =
        json!({"enabled": false, "state": "paused", "paused_at": "2026-06-17T09:00:00+00:00"});
    let sandbox = with(&[job(ID, &paused)]);
    assert_eq!(said(&sandbox, &["cron", "run", ID]).0, 0);
    let kept = &stored(&sandbox)[0];
    assert_eq!(
        (&kept["state"], &kept["enabled"]),
        (&json!("paused"), &json!(false))
    );
}

#[test]
fn b96_a_run_that_was_abandoned_is_closed_by_the_next_one() {
    let sandbox = with(&[job(ID, &json!({}))]);
    let path = sandbox.home().join("cron/executions.db");
    let mut ledger =
        hermes::ledger::Ledger::open(&path, jiff::tz::TimeZone::UTC).expect("a ledger");
    let id = "e".repeat(32);
    let claim = hermes::ledger::Claim {
        id: &id,
        job_id: ID,
        source: "direct",
        slot: None,
    };
    let gone = hermes::ledger::Owner {
        process_id: "0".repeat(32),
        pid: 4_000_000,
        start_ticks: Some(1),
    };
    let then = "2026-06-17T09:00:00Z".parse().expect("an instant");
    ledger.claim(&claim, &gone, then).expect("a claim");
    ledger.start(&id, &gone, then).expect("a start");
    drop(ledger);
    let (code, _, err) = said(&sandbox, &["cron", "run", ID]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("had lost its process"), "{err}");
    let rows = runs(&sandbox);
    let abandoned = rows
        .iter()
        .find(|row| row["id"] == id.as_str())
        .expect("the row");
    assert_eq!(abandoned["status"], "unknown");
    assert!(!abandoned["facts"]["cause"].is_null());
}

#[test]
fn a_run_in_the_background_is_followed_refused_twice_and_cancelled() {
    let sandbox = with(&[job(ID, &json!({}))]);
    script(
        &sandbox,
        "ok.sh",
        "trap 'echo stopped; exit 1' TERM; echo begun; sleep 600 & wait",
    );
    let (code, out, err) = said(&sandbox, &["cron", "run", ID, "--detach"]);
    assert_eq!(code, 0, "{err}");
    let id = out.trim().to_owned();
    assert_eq!(id.len(), 32, "{out}");
    let mut follower = Command::new(env!("CARGO_BIN_EXE_hermes"))
        .env_clear()
        .env("HOME", sandbox.user_home())
        .env("TZ", "UTC")
        .args(["cron", "logs", &id[..8], "-f"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(follower.stdout.take().expect("its stdout")).lines();
    assert_eq!(lines.next().expect("a line").expect("text"), "begun");
    let (code, _, err) = said(&sandbox, &["cron", "run", ID]);
    assert_eq!(code, 2);
    assert!(err.contains("still going on") && err.contains(&id), "{err}");
    let (code, _, err) = said(&sandbox, &["cron", "run", ID, "--dry-run"]);
    assert!(code == 2 && err.contains("goes on already"), "{err}");
    let (code, out, _) = said(&sandbox, &["cron", "cancel", &id, "--dry-run"]);
    assert!(code == 0 && out.contains("Would end run"), "{out}");
    assert!(runs(&sandbox)[0]["status"] == "running");
    let (code, told, _) = document(&sandbox, &["cron", "cancel", &id]);
    assert_eq!((code, &told["stopped"]), (0, &json!(true)), "{told}");
    assert!(
        follower.wait().expect("its end").success(),
        "the follower ends with the run"
    );
    assert_eq!(lines.next().expect("a line").expect("text"), "stopped");
    let row = &runs(&sandbox)[0];
    assert_eq!(
        (&row["status"], &row["facts"]["cause"]),
        (&json!("failed"), &json!("cancelled"))
    );
    let (_, incidents, _) = document(&sandbox, &["cron", "incidents"]);
    assert_eq!(
        incidents["homes"][0]["incidents"],
        json!([]),
        "a person asked for it"
    );
    let (code, out, _) = said(&sandbox, &["cron", "cancel", &id]);
    assert!(code == 0 && out.contains("has ended already"), "{out}");
    assert_eq!(said(&sandbox, &["cron", "run", "--detach", "nobody"]).0, 2);
}

#[test]
fn logs_are_kept_and_after_them_the_document() {
    let sandbox = with(&[job(ID, &json!({}))]);
    assert_eq!(said(&sandbox, &["cron", "run", ID]).0, 0);
    let id = runs(&sandbox)[0]["id"].as_str().expect("an id").to_owned();
    for word in [&id[..], &id[..6], ID, "JOB aaaaaaaaaaaa"] {
        let (code, out, err) = said(&sandbox, &["cron", "logs", word]);
        assert_eq!((code, out.as_str()), (0, "fine\n"), "{word}: {err}");
    }
    let log = sandbox.home().join(format!("run/executions/{id}.log"));
    std::fs::remove_file(log).expect("a log");
    let (code, logs, _) = document(&sandbox, &["cron", "logs", &id]);
    assert_eq!(code, 0);
    assert!(
        logs["output"]
            .as_str()
            .is_some_and(|text| text.contains("- outcome: ok")),
        "{logs}"
    );
    std::fs::remove_dir_all(sandbox.home().join("cron/output")).expect("documents");
    let (code, _, err) = said(&sandbox, &["cron", "logs", &id]);
    assert!(code == 1 && err.contains("no output of run"), "{err}");
    assert_eq!(said(&sandbox, &["cron", "logs", "ffff"]).0, 1);
}

#[test]
fn an_interrupted_run_is_cancelled_with_what_it_started() {
    let sandbox = home();
    store(&sandbox, &[job(ID, &json!({}))]);
    script(&sandbox, "ok.sh", "echo begun; exec sleep 600");
    let mut child = Command::new(env!("CARGO_BIN_EXE_hermes"))
        .env_clear()
        .env("HOME", sandbox.user_home())
        .env("PATH", "/usr/bin:/bin")
        .args(["cron", "run", ID])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("its stdout")).lines();
    assert_eq!(lines.next().expect("a line").expect("text"), "begun");
    let pid = i32::try_from(child.id()).expect("a pid");
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::SIGINT)
        .expect("a signal");
    assert_eq!(child.wait().expect("its end").code(), Some(1));
    let row = &runs(&sandbox)[0];
    assert_eq!(
        (&row["status"], &row["facts"]["cause"]),
        (&json!("failed"), &json!("cancelled"))
    );
    hermes(&sandbox, &["cron", "run", ID, "--dry-run"])
        .assert()
        .code(0);
}

/// Makes a shell with these words the way in which results go out.
fn deliver(sandbox: &Sandbox, words: &str) {
    let own = json!({"deliver_command": ["/bin/sh", "-c", words]});
    store(sandbox, &[job(ID, &json!({"x_hermes": own}))]);
}

const UNREACHABLE: &str = "cat >\"$HERMES_HOME/seen\"; echo timed out >&2; exit 7";

/// The kinds of the open incidents.
fn incidents(sandbox: &Sandbox) -> Vec<String> {
    let (_, told, _) = document(sandbox, &["cron", "incidents"]);
    let open = told["homes"][0]["incidents"].as_array().expect("incidents");
    let kind = |incident: &serde_json::Value| incident["failure_type"].as_str().map(str::to_owned);
    let mut kinds: Vec<_> = open.iter().filter_map(kind).collect();
    kinds.sort_unstable();
    kinds
}

#[test]
fn b144_a_result_that_does_not_arrive_is_told_in_every_way_and_the_run_stays_good() {
    let sandbox = home();
    deliver(&sandbox, UNREACHABLE);
    let (code, _, err) = said(&sandbox, &["cron", "run", ID]);
    assert_eq!(code, 0, "the run was good: {err}");
    let why = "the delivery command '/bin/sh' exited with code 7: timed out";
    assert!(
        err.contains("succeeded") && err.contains(&format!("Its result was not delivered: {why}")),
        "{err}"
    );
    assert_eq!(stored(&sandbox)[0]["last_status"], "delivery_failed");
    let row = &runs(&sandbox)[0];
    assert_eq!(
        (&row["status"], &row["delivery_outcome"]),
        (&json!("completed"), &json!("failed"))
    );
    assert!(row["delivery_error"].to_string().contains(why), "{row}");
    let (_, out, _) = said(&sandbox, &["cron", "runs"]);
    assert!(
        out.contains("completed, by hand, not delivered") && out.contains(why),
        "{out}"
    );
    assert_eq!(incidents(&sandbox), ["delivery"]);
}

#[test]
fn an_end_of_a_run_and_of_its_delivery_have_incidents_of_their_own() {
    let sandbox = home();
    deliver(&sandbox, UNREACHABLE);
    script(&sandbox, "ok.sh", "exit 3");
    let (code, told, _) = document(&sandbox, &["cron", "run", ID]);
    assert_eq!(
        (code, &told["outcome"], &told["delivery_outcome"]),
        (1, &json!("failed"), &json!("failed")),
        "{told}"
    );
    assert!(told["error"].to_string().contains("code 3"), "{told}");
    assert!(
        told["delivery_error"].to_string().contains("code 7"),
        "{told}"
    );
    assert_eq!(incidents(&sandbox), ["delivery", "script"]);
    script(&sandbox, "ok.sh", "echo fine");
    assert_eq!(said(&sandbox, &["cron", "run", ID]).0, 0);
    assert_eq!(
        incidents(&sandbox),
        ["delivery"],
        "a good run ends the other"
    );
    deliver(&sandbox, "cat >\"$HERMES_HOME/letter\"");
    let (code, _, err) = said(&sandbox, &["cron", "run", ID]);
    assert!(code == 0 && !err.contains("delivered"), "{err}");
    let letter = std::fs::read_to_string(sandbox.home().join("letter"));
    assert_eq!(letter.expect("it came"), "fine\n");
    assert_eq!(incidents(&sandbox), [""; 0]);
    let arrived = |run: &serde_json::Value| run["delivery_outcome"] == "delivered";
    assert_eq!(runs(&sandbox).iter().filter(|run| arrived(run)).count(), 1);
}
