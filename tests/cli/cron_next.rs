//! `hermes cron next` through the binary.

use predicates::prelude::*;
use serde_json::Value;

use crate::common::Sandbox;

/// The document and the exit code for these arguments.
fn next(sandbox: &Sandbox, arguments: &[&str]) -> (Value, i32) {
    let mut command = sandbox.hermes();
    let output = command
        .args(["cron", "next", "--json"])
        .args(arguments)
        .output();
    let output = output.expect("it runs");
    let document = serde_json::from_slice(&output.stdout).expect("one document");
    (document, output.status.code().expect("a code"))
}

#[test]
fn a_text_is_read_and_its_instants_are_shown() {
    let from = [
        "--from",
        "2026-03-28T12:00:00+01:00",
        "--tz",
        "Europe/Berlin",
        "--count",
        "3",
    ];
    let (document, code) = next(&Sandbox::new(), &[&["daily at 2:30"][..], &from].concat());
    assert_eq!(code, 0);
    assert_eq!(
        document,
        serde_json::json!({
            "schedule": {"kind": "cron", "expr": "30 2 * * *", "display": "daily at 2:30"},
            // The first is skipped by the clock: it keeps its wall clock and fires at 03:30+02:00.
            "next": [
                "2026-03-29T02:30:00+01:00",
                "2026-03-30T02:30:00+02:00",
                "2026-03-31T02:30:00+02:00",
            ],
            "warnings": [
                "On 2026-03-29 the clock skips 02:30: it fires at 03:30:00 instead, once.",
                "On 2026-10-25 the clock repeats 02:30: it fires in the first pass only.",
            ],
        })
    );
}

#[test]
fn the_last_run_is_the_base_of_an_interval() {
    let (document, _) = next(
        &Sandbox::new(),
        &[
            "every 2h",
            "--from",
            "2026-06-17T08:00:00+02:00",
            "--tz",
            "Europe/Berlin",
            "--last-run",
            "2026-06-17T05:00:00.5+00:00",
            "--count",
            "2",
        ],
    );
    let next = [
        "2026-06-17T09:00:00.500000+02:00",
        "2026-06-17T11:00:00.500000+02:00",
    ];
    assert_eq!(document["next"], serde_json::json!(next));
}

#[test]
fn a_one_shot_comes_once_or_never() {
    let sandbox = Sandbox::new();
    let from = ["--from", "2026-06-17T10:02:01", "--tz", "UTC"];
    let (document, code) = next(&sandbox, &[&["2026-06-17T10:00:30"][..], &from].concat());
    assert_eq!(
        (&document["next"], code),
        (&serde_json::json!(["2026-06-17T10:00:30+00:00"]), 0)
    );
    let (document, code) = next(&sandbox, &[&["2026-06-17T10:00:00"][..], &from].concat());
    assert_eq!((&document["next"], code), (&serde_json::json!([]), 0));
    let warning = document["warnings"][0].as_str().expect("a warning");
    assert!(warning.contains("never fires"), "{warning}");
}

#[test]
fn a_refusal_says_what_was_wrong_and_what_would_be_right() {
    let sandbox = Sandbox::new();
    for (text, category, hint) in [
        ("Tuesdays at 9am", "timestamp", "every tuesday at 9am"),
        ("every 0h", "duration", "every 1m"),
        ("0 0 30 2 *", "compute", "`L`"),
        ("0 9 ? * MON", "unrecognised", "`*`"),
        ("in 30s", "in_duration", "whole minutes"),
        ("0 9 15W * *", "cron_expression", "weekday"),
        ("-5m", "unrecognised", "every 5m"),
        ("in 999999999999m", "other", "duration"),
        ("", "unrecognised", "every 30m"),
    ] {
        let (document, code) = next(&sandbox, &[text]);
        assert_eq!(code, 1, "{text}");
        let error = &document["error"];
        assert_eq!(error["category"], category, "{text}");
        assert!(
            error["hint"].as_str().expect("a hint").contains(hint),
            "{text}: {error}"
        );
        assert!(!error["message"].as_str().expect("a message").is_empty());
    }
}

#[test]
fn a_person_gets_words_weekdays_and_warnings() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.hermes();
    command.args([
        "cron",
        "next",
        "5/10 9 * * 1-5",
        "--from",
        "2026-06-17",
        "--tz",
        "UTC",
    ]);
    command
        .args(["--count", "1"])
        .assert()
        .success()
        .stdout(
            "Schedule  cron, 5/10 9 * * 1-5\n\
             Means     at 09:05, 09:15, 09:25, 09:35, 09:45 and 09:55 on Monday to Friday\n\
             Zone      UTC, from --tz\n\
             Next      Wed 2026-06-17 09:05:00 +00:00\n",
        )
        .stderr(predicate::str::contains("`5/10` starts at 5"));
}

#[test]
fn the_zone_comes_with_its_source() {
    let sandbox = Sandbox::new();
    let zone = |sandbox: &Sandbox, variable: Option<&str>| {
        let mut command = sandbox.hermes();
        command.args(["cron", "next", "every 5m"]);
        if let Some(zone) = variable {
            command.env("HERMES_TIMEZONE", zone);
        }
        String::from_utf8(command.output().expect("it runs").stdout).expect("text")
    };
    assert!(zone(&sandbox, None).contains("from the host"));
    sandbox.write("config.yaml", "timezone: Asia/Kolkata\n");
    let from_file = zone(&sandbox, None);
    assert!(from_file.contains("Asia/Kolkata, from "), "{from_file}");
    assert!(from_file.contains("config.yaml:1\n"), "{from_file}");
    let variable = zone(&sandbox, Some("Europe/Berlin"));
    assert!(
        variable.contains("Europe/Berlin, from HERMES_TIMEZONE\n"),
        "{variable}"
    );
}

#[test]
fn wrong_options_are_usage_errors() {
    let sandbox = Sandbox::new();
    for option in [["--tz", "Mars/Base"], ["--from", "soon"], ["--count", "0"]] {
        let mut command = sandbox.hermes();
        command
            .args(["cron", "next", "every 5m"])
            .args(option)
            .assert()
            .code(64);
    }
}
