//! `hermes pause` and `hermes resume`: the emergency stop of a home.

use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::jobs::{document, home, job, said, with};

#[test]
fn a_stop_is_written_as_the_other_program_reads_it_and_lifted() {
    let sandbox = home();
    let (code, set, _) = document(
        &sandbox,
        &["pause", "--reason", "the database moves", "--for", "2h"],
    );
    assert_eq!((code, &set["schema"]), (0, &json!("hermes.pause/1")));
    let text = std::fs::read_to_string(sandbox.home().join("ESTOP")).expect("a stop");
    let body: Value = serde_json::from_str(&text).expect("a document");
    assert_eq!(
        body,
        json!({
            "reason": "the database moves",
            "engaged_at": "2026-06-17T10:00:00+00:00",
            "expires_at": "2026-06-17T12:00:00+00:00",
        })
    );
    // Another one takes its place, with reason and end, which is said before and after.
    let was = "the stop that was since now, ends in 2h: the database moves.";
    let (_, out, _) = said(&sandbox, &["pause", "--dry-run"]);
    assert!(out.contains(&format!("This would replace {was}")), "{out}");
    let again = std::fs::read_to_string(sandbox.home().join("ESTOP")).expect("a stop");
    assert_eq!(again, text);
    let (_, out, err) = said(&sandbox, &["pause", "--for", "1h"]);
    assert!(err.contains("Hermes Agent knows of no end"), "{err}");
    assert!(out.contains(&format!("This replaced {was}")), "{out}");
    let (_, told, _) = document(&sandbox, &["pause"]);
    let hour = json!({
        "reason": null,
        "since": "2026-06-17T10:00:00Z",
        "until": "2026-06-17T11:00:00Z",
    });
    assert_eq!(told["replaces"], hour);
    let text = std::fs::read_to_string(sandbox.home().join("ESTOP")).expect("a stop");
    assert_eq!(
        text,
        r#"{"engaged_at":"2026-06-17T10:00:00+00:00","reason":null}"#
    );
    let (code, lifted, _) = document(&sandbox, &["resume"]);
    assert_eq!((code, &lifted["lifted"]), (0, &json!(true)));
    assert!(!sandbox.home().join("ESTOP").exists());
    let (code, out, _) = said(&sandbox, &["resume"]);
    assert!(code == 0 && out.contains("No stop is in force"), "{out}");
}

#[test]
fn under_a_stop_nothing_is_due() {
    let late = json!({"next_run_at": "2026-06-17T09:59:30+00:00"});
    let sandbox = with(&[job("aaaaaaaaaaaa", &late)]);
    assert_eq!(said(&sandbox, &["pause"]).0, 0);
    let (code, out, err) = said(&sandbox, &["cron", "tick"]);
    assert!(code != 0 || !out.contains("fine"), "{code} {out}{err}");
    assert!(
        !sandbox.home().join("cron/executions.db").exists(),
        "nothing ran"
    );
    assert_eq!(said(&sandbox, &["resume"]).0, 0);
    assert_eq!(said(&sandbox, &["cron", "tick"]).0, 0);
    assert!(sandbox.home().join("cron/executions.db").exists());
}

#[test]
fn a_stop_of_no_length_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("config.yaml", "timezone: UTC\n");
    let output = sandbox.hermes().args(["pause", "--for", "0s"]).output();
    assert_eq!(output.expect("it runs").status.code(), Some(64));
    assert!(!sandbox.home().join("ESTOP").exists());
}

#[test]
fn the_stop_of_the_root_is_lifted_at_the_root() {
    let sandbox = home();
    sandbox.write("profiles/ops/config.yaml", "");
    assert_eq!(said(&sandbox, &["pause"]).0, 0);
    let (code, _, err) = said(&sandbox, &["-p", "ops", "resume"]);
    assert_eq!(code, 1);
    assert!(err.contains("hermes resume --profile default"), "{err}");
    assert_eq!(said(&sandbox, &["-p", "default", "resume"]).0, 0);
    assert!(!sandbox.home().join("ESTOP").exists());
}

#[test]
fn a_home_that_is_not_there_is_not_stopped() {
    let sandbox = Sandbox::new();
    let (code, _, err) = said(&sandbox, &["pause"]);
    assert!(code == 1 && err.contains("no home"), "{err}");
    assert_eq!(said(&sandbox, &["pause", "--for", "soon"]).0, 64);
}
