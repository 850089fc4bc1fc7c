//! `hermes cron edit|pause|resume|remove`, and how a job is named.

#![expect(
    clippy::disallowed_methods,
    reason = "one of these tests answers a question on a terminal"
)]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use predicates::prelude::*;
use serde_json::{Value, json};

use crate::common::jobs::{create, document, hermes, home, job, said, store, stored, with};

const ID: &str = "aaaaaaaaaaaa";

#[test]
fn b86_an_edit_takes_effect_on_the_next_run() {
    let once = json!({
        "schedule": {"kind": "once", "run_at": "2026-06-17T12:00:00+00:00", "display": "once"},
        "repeat": {"times": 1, "completed": 0}, "next_run_at": "2026-06-17T12:00:00+00:00",
    });
    let sandbox = with(&[job(ID, &once), job("bbbbbbbbbbbb", &json!({}))]);
    let untouched = stored(&sandbox)[1].clone();
    let words = ["cron", "edit", ID, "--schedule", "2026-06-18T12:00"];
    let (code, changed, _) = document(&sandbox, &words);
    assert_eq!(code, 0, "{changed}");
    let kept = stored(&sandbox);
    assert_eq!(kept[0]["next_run_at"], "2026-06-18T12:00:00+00:00");
    assert_eq!(kept[0]["schedule"]["run_at"], "2026-06-18T12:00:00+00:00");
    assert_eq!(
        kept[0]["future_key"].to_string(),
        "[1.5]",
        "as it was written"
    );
    assert_eq!(kept[1], untouched);
    assert!(
        changed["changed"].to_string().contains("next_run_at"),
        "{changed}"
    );
}

#[test]
fn an_edit_that_makes_no_sense_changes_nothing() {
    let sandbox = with(&[job(ID, &json!({}))]);
    let before = stored(&sandbox);
    for (words, reason) in [
        (&["--script", "gone.sh"][..], "missing"),
        (&["--script", ""], "names no script"),
        (&["--schedule", "2020-01-01T00:00"], "has passed"),
        (
            &["--agent", "--script", ""],
            "neither a prompt nor a script",
        ),
        (&["--deliver", "telegram:1"], "telegram:1"),
        (&["--deliver-command", "mail 'me"], "within a quotation"),
    ] {
        let words = [&["cron", "edit", ID], words].concat();
        let (code, _, err) = said(&sandbox, &words);
        assert!(code != 0 && err.contains(reason), "{words:?}: {code} {err}");
    }
    assert_eq!(stored(&sandbox), before);
    let (code, out, _) = said(
        &sandbox,
        &["cron", "edit", ID, "--name", "job aaaaaaaaaaaa"],
    );
    assert_eq!(code, 0);
    assert!(out.contains("Nothing is to be changed"), "{out}");
}

#[test]
fn a_job_of_the_other_program_can_be_renamed_without_losing_what_it_needs() {
    let foreign = json!({"no_agent": false, "prompt": "p", "script": null, "skills": ["x"]});
    let sandbox = with(&[job(ID, &foreign)]);
    let (code, out, err) = said(&sandbox, &["cron", "edit", ID, "--name", "new"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(err.contains("skills"), "{err}");
    assert_eq!(
        (&stored(&sandbox)[0]["name"], &stored(&sandbox)[0]["skills"]),
        (&json!("new"), &json!(["x"]))
    );
}

#[test]
fn b62_a_pause_is_final_and_a_resume_arms_anew() {
    let late = json!({"next_run_at": "2026-06-17T09:00:00+00:00"});
    let sandbox = with(&[job(ID, &late)]);
    let (code, out, _) = said(&sandbox, &["cron", "pause", ID, "--reason", "on holiday"]);
    assert!(code == 0 && out.contains("Paused job"), "{out}");
    let paused = &stored(&sandbox)[0];
    assert_eq!(
        (&paused["enabled"], &paused["state"]),
        (&json!(false), &json!("paused"))
    );
    assert_eq!(paused["paused_at"], "2026-06-17T10:00:00+00:00");
    hermes(&sandbox, &["cron", "tick", "--dry-run", "--json"])
        .assert()
        .stdout(predicate::str::contains("\"orders\": []"));
    let (code, again, _) = document(&sandbox, &["cron", "pause", ID]);
    assert_eq!((code, &again["changed"]), (0, &json!([])));
    let (code, _, err) = said(&sandbox, &["cron", "resume", ID]);
    assert_eq!(code, 0);
    assert!(err.contains("no scheduler is alive"), "{err}");
    assert_eq!(
        stored(&sandbox)[0]["next_run_at"],
        "2026-06-17T10:30:00+00:00"
    );
    assert_eq!(stored(&sandbox)[0]["enabled"], json!(true));
}

#[test]
fn removal_wants_a_yes_and_leaves_a_backup() {
    let sandbox = with(&[job(ID, &json!({})), job("bbbbbbbbbbbb", &json!({}))]);
    let before = std::fs::read(sandbox.home().join("cron/jobs.json")).expect("the store");
    let (code, _, err) = said(&sandbox, &["cron", "remove", ID]);
    assert_eq!(code, 64);
    assert!(err.contains("--yes"), "{err}");
    assert_eq!(stored(&sandbox).len(), 2);
    let (code, removed, _) = document(&sandbox, &["cron", "remove", ID, "--yes"]);
    assert_eq!((code, &removed["job"]["id"]), (0, &json!(ID)));
    assert_eq!(stored(&sandbox).len(), 1);
    let backups = std::fs::read_dir(sandbox.home().join("cron/backups")).expect("backups");
    let backups: Vec<_> = backups.map(|entry| entry.expect("one").path()).collect();
    assert_eq!(backups.len(), 1);
    assert_eq!(std::fs::read(&backups[0]).expect("a backup"), before);
    assert_eq!(said(&sandbox, &["cron", "remove", ID, "--yes"]).0, 1);
}

#[test]
fn a_job_is_named_by_its_id_or_a_name_that_only_it_has() {
    let named = |id: &str, name: &str| job(id, &json!({"name": name}));
    let sandbox = with(&[
        named("aaaaaaaaaaaa", "Nightly"),
        named("bbbbbbbbbbbb", "digest"),
        named("cccccccccccc", "Digest"),
        named("dddddddddddd", "aaaaaaaaaaaa"),
    ]);
    let shown = |word: &str| document(&sandbox, &["cron", "show", word]);
    assert_eq!(shown("nightly").1["job"]["id"], "aaaaaaaaaaaa");
    assert_eq!(
        shown("aaaaaaaaaaaa").1["job"]["name"],
        "Nightly",
        "an id goes before a name"
    );
    let (code, several, _) = shown("DIGEST");
    assert_eq!((code, &several["error"]["kind"]), (1, &json!("not_found")));
    let hints = several["error"]["hints"].to_string();
    assert!(
        hints.contains("bbbbbbbbbbbb") && hints.contains("cccccccccccc"),
        "{hints}"
    );
    let (code, none, _) = shown("nigthly");
    assert_eq!(code, 1);
    assert_eq!(none["error"]["hint"], "did you mean Nightly?");
    let (_, nothing, _) = shown("zzz");
    assert!(
        nothing["error"]["hint"]
            .as_str()
            .is_some_and(|hint| hint.contains("hermes cron list"))
    );
}

#[test]
fn b59_changes_of_several_writers_all_survive() {
    let sandbox = home();
    let jobs: Vec<_> = (0..4)
        .map(|number| job(&format!("{number:012}"), &json!({})))
        .collect();
    store(&sandbox, &jobs);
    let failed = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (sandbox, failed) = (&sandbox, &failed);
            scope.spawn(move || {
                let id = format!("{number:012}");
                let name = format!("new {number}");
                let create = create("in 1h", &["--name", &name]);
                for words in [&["cron", "pause", &id][..], &create] {
                    if said(sandbox, words).0 != 0 {
                        failed.store(true, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert!(!failed.load(Ordering::Relaxed));
    let kept = stored(&sandbox);
    assert_eq!(kept.len(), 8);
    let paused = |job: &&Value| job["state"] == "paused";
    assert_eq!(kept.iter().filter(paused).count(), 4);
}

#[test]
fn what_was_changed_is_told_in_the_words_of_the_command_line() {
    let sandbox = with(&[job(ID, &json!({}))]);
    let words = [
        "--timeout",
        "20m",
        "--deliver-command",
        "mail me",
        "--schedule",
        "every 2h",
    ];
    let (code, out, _) = said(&sandbox, &[&["cron", "edit", ID], &words[..]].concat());
    assert_eq!(code, 0, "{out}");
    let changed = out.lines().find(|line| line.contains("changed"));
    let changed = changed.expect("what was changed");
    for word in ["timeout", "deliver-command", "schedule", "next run"] {
        assert!(changed.contains(word), "{word}: {changed}");
    }
    assert!(!changed.contains('_'), "{changed}");
    let (_, told, _) = document(&sandbox, &["cron", "edit", ID, "--timeout", "5m"]);
    assert_eq!(told["changed"], json!(["x_hermes.timeout_seconds"]));
}

/// On a terminal the question is asked, and only a yes removes.
#[test]
fn removal_on_a_terminal_asks() {
    let sandbox = with(&[job(ID, &json!({}))]);
    for (answer, code, left) in [("\n", 1, 1), ("no\n", 1, 1), ("y\n", 0, 0)] {
        let pty = nix::pty::openpty(None, None).expect("a terminal");
        let end = || Stdio::from(pty.slave.try_clone().expect("its end"));
        let mut child = Command::new(env!("CARGO_BIN_EXE_hermes"))
            .env_clear()
            .env("HOME", sandbox.user_home())
            .args(["cron", "remove", ID])
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .expect("it starts");
        let mut terminal = File::from(pty.master);
        let mut shown = Vec::new();
        while !shown.ends_with(b"[y/N]\r\n") {
            let mut byte = [0];
            terminal.read_exact(&mut byte).expect("a question");
            shown.extend(byte);
        }
        let question = String::from_utf8_lossy(&shown);
        assert!(
            question.contains(&format!("Remove job {ID} (job {ID})?")),
            "{question}"
        );
        assert_eq!(stored(&sandbox).len(), 1, "nothing before the answer");
        terminal.write_all(answer.as_bytes()).expect("an answer");
        let status = child.wait().expect("its end");
        assert_eq!(
            (status.code(), stored(&sandbox).len()),
            (Some(code), left),
            "{answer:?}"
        );
    }
}

#[test]
#[ignore = "waits for a lock as long as a writer does: tests/run long"]
fn b107_a_store_whose_lock_stays_taken_is_told_with_its_holder_at_length() {
    let sandbox = with(&[job(ID, &json!({}))]);
    let before = stored(&sandbox);
    let path = sandbox.write("cron/.jobs.lock", "");
    let patience = std::time::Duration::from_secs(10);
    let _held = hermes::cron::jobs_lock::take(&path, patience).expect("a lock");
    let (code, _, err) = said(&sandbox, &["cron", "pause", ID]);
    assert_eq!(code, 1, "{err}");
    let own = format!("held by pid {} (", std::process::id());
    let program = std::env::args().next().expect("a program");
    for part in [
        ".jobs.lock",
        "within 30s",
        &own,
        &program,
        " old)",
        "nothing was written",
    ] {
        assert!(err.contains(part), "{part}: {err}");
    }
    assert_eq!(stored(&sandbox), before);
}
