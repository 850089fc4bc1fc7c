//! What verbs of `cron` once left unsaid.

use serde_json::{Value, json};

use super::cron_list::with_runs;
use crate::common::jobs::{create, document, home, job, said, script, stored, with};

const ID: &str = "aaaaaaaaaaaa";

#[test]
fn a_dry_run_of_a_run_refuses_what_the_run_refuses_and_shows_the_limits_that_hold() {
    let asks = json!({"no_agent": false, "script": null, "prompt": "p"});
    let sandbox = with(&[job(ID, &json!({})), job("bbbbbbbbbbbb", &asks)]);
    for more in [&[][..], &["--dry-run"]] {
        let words = [&["cron", "run", "bbbbbbbbbbbb"], more].concat();
        let (code, _, err) = said(&sandbox, &words);
        assert!(code == 2 && err.contains("no agent is configured"), "{err}");
    }
    let (code, told, _) = document(&sandbox, &["cron", "run", ID, "--dry-run"]);
    assert_eq!(code, 0, "{told}");
    assert_eq!(
        (&told["task"]["timeout"], &told["task"]["output_retention"]),
        (&json!(3600), &json!(50)),
        "{told}"
    );
}

#[test]
fn a_run_by_hand_without_a_scheduler_says_so_in_every_form() {
    let sandbox = with(&[job(ID, &json!({}))]);
    let words = "no slot will fire: no scheduler is alive";
    let (code, told, err) = document(&sandbox, &["cron", "run", ID]);
    assert!(code == 0 && err.contains(words), "{err}");
    assert_eq!(told["output"], "fine\n", "{told}");
    let (code, _, err) = said(&sandbox, &["cron", "run", ID, "--detach"]);
    assert!(code == 0 && err.contains(words), "{err}");
    crate::common::jobs::settled(&sandbox);
}

#[test]
fn status_names_the_jobs_whose_last_run_failed() {
    let failed = json!({
        "last_status": "error", "last_error": "exit status 3\nmore", "failure_streak": 3,
        "last_run_at": "2026-06-17T09:50:00+00:00",
    });
    let sandbox = with(&[job(ID, &failed), job("bbbbbbbbbbbb", &json!({}))]);
    let (_, out, _) = said(&sandbox, &["cron", "status"]);
    let line = format!("{ID} job {ID}, failed 10m ago, 3 times in a row: exit status 3");
    assert!(out.contains(&line), "{out}");
    let (_, told, _) = document(&sandbox, &["cron", "status"]);
    let failed = told["homes"][0]["failed"].as_array().expect("a list");
    assert!(failed.len() == 1 && failed[0]["id"] == ID, "{told}");
}

#[test]
fn logs_and_cancel_name_the_jobs_that_may_be_meant() {
    let named = json!({"name": "s"});
    let sandbox = with(&[job(ID, &named), job("bbbbbbbbbbbb", &named)]);
    for verb in ["logs", "cancel"] {
        let (code, _, err) = said(&sandbox, &["cron", verb, "s"]);
        assert!(code == 1 && err.contains("2 jobs are named 's'"), "{err}");
        assert!(err.contains(ID) && err.contains("bbbbbbbbbbbb"), "{err}");
    }
}

#[test]
fn show_tells_stagger_interpreter_and_no_more_slots_than_there_are() {
    let more = json!({
        "x_hermes": {"stagger_seconds": 90}, "interpreter": "dash",
        "repeat": {"times": 4, "completed": 3},
    });
    let sandbox = with(&[job(ID, &more)]);
    let (_, out, _) = said(&sandbox, &["cron", "show", ID]);
    for words in ["up to 1m 30s after the slot", "dash"] {
        assert!(out.contains(words), "{words}: {out}");
    }
    let (_, told, _) = document(&sandbox, &["cron", "show", ID]);
    assert_eq!(told["next"], json!(["2026-06-17T10:20:00+00:00"]), "{told}");
}

#[test]
fn a_prompt_that_nobody_is_asked_and_a_count_that_is_over_are_told() {
    let sandbox = home();
    script(&sandbox, "ok.sh", "echo fine");
    let mut words = create("every 1h", &["--dry-run"]);
    words.insert(3, "Sum up");
    let (code, _, err) = said(&sandbox, &words);
    assert!(
        code == 0 && err.contains("--no-agent runs the script alone"),
        "{err}"
    );
    let done = json!({"repeat": {"times": 9, "completed": 3}});
    let sandbox = with(&[job(ID, &done)]);
    for (times, taken) in [("2", false), ("3", false), ("4", true)] {
        let (code, _, err) = said(&sandbox, &["cron", "edit", ID, "--repeat", times]);
        assert_eq!(code == 0, taken, "{times}: {err}");
        assert!(taken || err.contains("it has run 3 times already"), "{err}");
    }
    let kept: Vec<Value> = stored(&sandbox);
    assert_eq!(kept[0]["repeat"]["times"], 4);
}

#[test]
fn next_asks_no_profile_that_is_not_there() {
    let sandbox = home();
    let (code, _, err) = said(&sandbox, &["cron", "next", "@daily", "--profile", "nope"]);
    assert!(
        code == 1 && err.contains("there is no profile 'nope'"),
        "{err}"
    );
}

#[test]
fn an_incident_ends_with_the_removal_of_its_job() {
    let sandbox = with_runs();
    let states = |of: &str| {
        let (_, told, _) = document(&sandbox, &["cron", "incidents", "--state", of]);
        told["homes"][0]["incidents"]
            .as_array()
            .expect("some")
            .clone()
    };
    let open = states("open");
    assert!(!open.is_empty(), "something failed");
    let (code, _, err) = said(&sandbox, &["cron", "remove", ID, "--yes"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(states("open"), [Value::Null; 0]);
    let closed = states("all");
    assert_eq!(closed.len(), open.len());
    for (closed, open) in closed.iter().zip(&open) {
        assert_eq!(closed["id"], open["id"]);
        let end = [&closed["state"], &closed["closed_because"]];
        assert_eq!(end, ["closed", "removed"], "{closed}");
        assert!(closed["closed_at"].is_string(), "{closed}");
    }
    let (_, out, _) = said(&sandbox, &["cron", "incidents", "--state", "all"]);
    assert!(out.contains("closed, removed"), "{out}");
}
