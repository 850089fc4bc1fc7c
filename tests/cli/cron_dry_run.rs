//! `--dry-run` of every verb that changes something: the home is left byte for byte.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

use serde_json::json;

use crate::common::Sandbox;
use crate::common::jobs::{create, document, job, said, script, settled, with};
use crate::common::tree::{Entry, differences, tree};

#[test]
fn a_dry_run_of_any_change_leaves_every_byte() {
    let sandbox = with(&[job("aaaaaaaaaaaa", &json!({}))]);
    let before = tree(sandbox.user_home());
    for words in [
        &create("every 1h", &[])[..],
        &["cron", "edit", "aaaaaaaaaaaa", "--schedule", "every 2h"],
        &["cron", "pause", "aaaaaaaaaaaa"],
        &["cron", "resume", "aaaaaaaaaaaa"],
        &["cron", "remove", "aaaaaaaaaaaa"],
        &["cron", "run", "aaaaaaaaaaaa"],
        &["cron", "tick"],
        &["cron", "tick", "--at", "2026-06-17T10:20:30"],
        &["pause"],
        &["pause", "--for", "2h", "--reason", "rollout"],
        &["resume"],
    ] {
        unchanged(&sandbox, &before, words);
    }
    // What is paused, stopped, running or seen to have failed.
    sandbox.write("ESTOP", "");
    unchanged(&sandbox, &tree(sandbox.user_home()), &["resume"]);
    std::fs::remove_file(sandbox.home().join("ESTOP")).expect("it goes");
    script(&sandbox, "ok.sh", "exit 3");
    assert_eq!(said(&sandbox, &["cron", "run", "aaaaaaaaaaaa"]).0, 1);
    let (_, told, _) = document(&sandbox, &["cron", "incidents"]);
    let incident = told["homes"][0]["incidents"][0]["id"]
        .as_str()
        .expect("an id");
    let before = tree(sandbox.user_home());
    unchanged(&sandbox, &before, &["cron", "incidents", "ack", incident]);
    assert_eq!(said(&sandbox, &["cron", "pause", "aaaaaaaaaaaa"]).0, 0);
    let before = tree(sandbox.user_home());
    unchanged(&sandbox, &before, &["cron", "resume", "aaaaaaaaaaaa"]);
    let go = sandbox.fifo("go");
    script(&sandbox, "ok.sh", "read -r word <\"$HERMES_HOME/go\"");
    let (code, told, _) = document(&sandbox, &["cron", "run", "aaaaaaaaaaaa", "--detach"]);
    assert_eq!(code, 0, "{told}");
    // It reads: as soon as its dispatcher has written what it saw of that, nothing is written any more.
    let mut held = std::fs::File::create(&go).expect("it reads");
    let (mut before, mut same) = (tree(sandbox.user_home()), 0);
    while same < 5 {
        said(&sandbox, &["cron", "runs"]);
        let now = tree(sandbox.user_home());
        same = if now == before { same + 1 } else { 0 };
        before = now;
    }
    let id = told["execution"].as_str().expect("an id");
    unchanged(&sandbox, &before, &["cron", "cancel", id]);
    held.write_all(b"end\n").expect("it reads");
    drop(held);
    settled(&sandbox);
}

/// A dry run is well, and leaves everything as it was.
fn unchanged(sandbox: &Sandbox, before: &BTreeMap<PathBuf, Entry>, words: &[&str]) {
    let words = [words, &["--dry-run"]].concat();
    let (code, out, err) = said(sandbox, &words);
    assert_eq!(code, 0, "{words:?}: {out}{err}");
    let after = tree(sandbox.user_home());
    assert_eq!(differences(before, &after), [""; 0], "{words:?}");
}

#[test]
fn a_dry_run_of_a_pass_does_as_little_as_the_pass_while_a_stop_is_in_force() {
    let due = json!({"next_run_at": "2026-06-17T09:59:50+00:00"});
    let sandbox = with(&[job("aaaaaaaaaaaa", &due)]);
    let words = ["cron", "tick", "--dry-run"];
    assert!(said(&sandbox, &words).1.contains("run     aaaaaaaaaaaa"));
    sandbox.write("ESTOP", "");
    let (code, out, err) = said(&sandbox, &words);
    assert_eq!(code, 1, "as the pass: {out}");
    assert!(
        out.contains("a pass would do nothing: an emergency stop"),
        "{out}{err}"
    );
    assert!(!out.contains("aaaaaaaaaaaa"), "{out}");
    let (code, told, _) = document(&sandbox, &words);
    assert_eq!((code, &told["orders"]), (1, &json!([])));
    let why = told["standing"].as_str().expect("a reason");
    assert!(why.contains("emergency stop"), "{why}");
    assert_eq!(said(&sandbox, &["cron", "tick"]).0, 1, "the pass itself");
}

#[test]
fn a_dry_run_of_a_pass_names_the_jobs_that_it_would_refuse() {
    let at = "2026-06-17T09:59:50+00:00";
    let asks = json!({"next_run_at": at, "no_agent": false, "script": null, "prompt": "p"});
    let sandbox = with(&[
        job("aaaaaaaaaaaa", &json!({"next_run_at": at})),
        job(
            "bbbbbbbbbbbb",
            &json!({"next_run_at": at, "deliver": "telegram:1"}),
        ),
        job("cccccccccccc", &asks),
    ]);
    let words = ["cron", "tick", "--dry-run"];
    let (_, out, _) = said(&sandbox, &words);
    for line in [
        "run     aaaaaaaaaaaa  for",
        "refuse  bbbbbbbbbbbb  for",
        "refuse  cccccccccccc  for",
        "it needs delivery to telegram:1",
        "no agent is configured",
    ] {
        assert!(out.contains(line), "{line}: {out}");
    }
    let (_, told, _) = document(&sandbox, &words);
    let refused = |order: &serde_json::Value| order["refused"].is_string();
    let orders = told["orders"].as_array().expect("orders");
    let refused: Vec<_> = orders.iter().map(refused).collect();
    assert_eq!(refused, [false, true, true], "{told}");
    let (_, told, _) = document(&sandbox, &["cron", "tick"]);
    let runs = told["runs"].as_array().expect("runs");
    let refused = runs
        .iter()
        .filter(|run| run["outcome"] == "refused")
        .count();
    assert_eq!((runs.len(), refused), (3, 2), "what the pass did: {told}");
}
