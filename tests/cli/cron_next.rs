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
            "zone": {"name": "Europe/Berlin", "source": "--tz"},
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
    assert!(zone(&sandbox, None).contains("UTC, from TZ"));
    sandbox
        .hermes()
        .env_remove("TZ")
        .args(["cron", "next", "every 5m"])
        .assert()
        .success()
        .stdout(predicate::str::contains("from the host"));
    sandbox
        .hermes()
        .env("TZ", "Garbage/None")
        .args(["cron", "next", "every 5m"])
        .assert()
        .success()
        .stdout(predicate::str::contains("UTC, from the host"))
        .stderr(predicate::str::contains(
            "TZ is 'Garbage/None', which is no time zone",
        ));
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
    for option in [
        ["--tz", "Mars/Base"],
        ["--from", "soon"],
        ["--count", "0"],
        ["--last-run", "garbage"],
    ] {
        let mut command = sandbox.hermes();
        command
            .args(["cron", "next", "every 5m"])
            .args(option)
            .assert()
            .code(64);
    }
}

#[test]
fn a_one_shot_in_a_fold_says_which_pass_is_meant() {
    let at = |text: &str| {
        let from = ["--from", "2026-06-17", "--tz", "Europe/Berlin"];
        let (document, _) = next(&Sandbox::new(), &[&[text][..], &from].concat());
        document
    };
    let found = at("2026-10-25T02:30");
    assert_eq!(found["next"][0], "2026-10-25T02:30:00+02:00");
    let warning = found["warnings"][0].as_str().expect("a warning");
    assert!(
        warning.contains("first pass") && warning.contains("second is 2026-10-25T02:30:00+01:00"),
        "{warning}"
    );
    let second = at("2026-10-25T02:30:00+01:00");
    assert_eq!(second["warnings"], serde_json::json!([]), "it says which");
}

#[test]
fn the_last_hours_of_the_calendar_are_shown_as_they_are_and_kept_by_no_job() {
    let sandbox = Sandbox::new();
    let said = |words: &[&str]| {
        let output = sandbox.hermes().args(words).output().expect("it runs");
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    let text = "9999-12-31T23:59";
    let shown = said(&["cron", "next", text, "--tz", "UTC"]);
    assert!(
        shown.contains("Next      9999-12-31T23:59:00+00:00"),
        "{shown}"
    );
    let refused = said(&["cron", "create", text, "p"]);
    assert!(
        refused.contains("beyond what a clock can show"),
        "{refused}"
    );
}

#[test]
fn a_day_that_a_zone_leaves_out_is_told_with_the_day_that_stands_for_it() {
    let from = ["--from", "2011-12-01", "--tz", "Pacific/Apia"];
    let (document, _) = next(&Sandbox::new(), &[&["0 9 * * *"][..], &from].concat());
    let warnings = document["warnings"].to_string();
    assert!(
        warnings
            .contains("On 2011-12-30 the clock skips 09:00: it fires at 09:00:00 on 2011-12-31"),
        "{warnings}"
    );
}

#[test]
fn the_days_of_the_week_go_up_to_seven() {
    let (document, _) = next(&Sandbox::new(), &["0 9 * * 8"]);
    let message = document["error"]["message"].as_str().expect("a message");
    assert!(message.contains("0 to 7"), "{message}");
}

#[test]
fn seconds_in_front_are_told_with_the_text_that_is_right() {
    let sandbox = Sandbox::new();
    let (document, code) = next(&sandbox, &["0 30 9 * * *"]);
    assert_eq!(code, 1);
    let hint = document["error"]["hint"].as_str().expect("a hint");
    assert!(
        hint.contains("seconds come last") && hint.contains("`30 9 * * * 0`"),
        "{hint}"
    );
    assert!(hint.ends_with("without them `30 9 * * *`"), "{hint}");
    for right in ["30 9 * * * 0", "30 9 * * *"] {
        let (document, code) = next(&sandbox, &[right, "--from", "2026-06-17", "--tz", "UTC"]);
        assert_eq!(code, 0, "{right}");
        assert_eq!(document["next"][0], "2026-06-17T09:30:00+00:00", "{right}");
    }
    let (document, _) = next(&sandbox, &["15 30 99 * * *"]);
    let hint = document["error"]["hint"].as_str().expect("a hint");
    assert!(
        !hint.contains("come last"),
        "that makes no sense either: {hint}"
    );
}

#[test]
fn a_time_that_the_clock_skips_is_told() {
    let sandbox = Sandbox::new();
    let at = [
        "2027-03-28T02:30",
        "--tz",
        "Europe/Berlin",
        "--from",
        "2026-06-17",
    ];
    let (document, code) = next(&sandbox, &at);
    let warnings = document["warnings"].as_array().expect("warnings");
    assert_eq!((code, warnings.len()), (0, 1), "{document}");
    let said = "the clock skips 02:30:00: it fires at 2027-03-28T03:30:00 instead";
    assert!(warnings[0].to_string().contains(said), "{document}");
}

#[test]
fn steps_that_start_anew_and_days_that_are_counted_are_told() {
    let sandbox = Sandbox::new();
    for (text, said) in [
        ("0 0 */2 * *", "starts anew on the 1st of each month"),
        (
            "0 0 * * */2",
            "starts anew with each week: the last gap is 1",
        ),
        ("every 2d", "counted from one slot to the next"),
        ("0 9 15,31 * *", "Not every month has day 31"),
        ("0 9 28-31 * *", "Not every month has days 29, 30 and 31"),
    ] {
        let (document, code) = next(&sandbox, &[text]);
        assert_eq!(code, 0, "{text}");
        let warnings = document["warnings"].to_string();
        assert!(warnings.contains(said), "{text}: {warnings}");
        assert!(!warnings.contains("last run"), "{warnings}");
    }
}

#[test]
fn b65_a_zone_that_nobody_knows_is_told_with_what_is_used_instead() {
    let sandbox = crate::common::jobs::with(&[]);
    let told = |words: &[&str], variable: &str| {
        let mut command = sandbox.hermes();
        command.args(words).env("HERMES_TIMEZONE", variable);
        let output = command.output().expect("it runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout), text(&output.stderr))
    };
    let create = [
        "create",
        "every 1h",
        "--script",
        "ok.sh",
        "--no-agent",
        "--dry-run",
    ];
    let verbs = [&["next", "every 1h"][..], &create, &["list"], &["status"]];
    for verb in verbs {
        let words = [&["cron"], verb].concat();
        sandbox.write("config.yaml", "\ntimezone: Mars/Base\n");
        let (_, err) = told(&words, "");
        for part in ["config.yaml:2:", "'Mars/Base'", " in UTC, from TZ"] {
            assert!(err.contains(part), "{verb:?}: {part}: {err}");
        }
        let as_json = [&words[..], &["--json"]].concat();
        let warned = |variable: &str| {
            let (out, _) = told(&as_json, variable);
            let document: Value = serde_json::from_str(&out).expect("a document");
            let homes = &document["homes"][0];
            let holder = if homes.is_null() { &document } else { homes };
            holder["warnings"].to_string()
        };
        assert!(warned("").contains("'Mars/Base'"), "{verb:?}");
        assert_eq!(warned("Asia/Tokyo"), "[]", "{verb:?}");
        let (_, err) = told(&words, "Asia/Tokyo");
        assert!(!err.contains("Mars/Base"), "it is not asked: {err}");
        sandbox.write("config.yaml", "timezone: Asia/Kolkata\n");
        let (_, err) = told(&words, "Mars/Base");
        for part in ["HERMES_TIMEZONE is 'Mars/Base'", "Asia/Kolkata, from "] {
            assert!(err.contains(part), "{verb:?}: {part}: {err}");
        }
    }
    for verb in ["list", "status"] {
        let (out, _) = told(&["cron", verb], "Asia/Tokyo");
        assert!(out.contains("Asia/Tokyo, from HERMES_TIMEZONE"), "{out}");
    }
    let (document, _) = next(&sandbox, &["every 1h"]);
    assert_eq!(document["zone"]["name"], "Asia/Kolkata");
    let source = document["zone"]["source"].as_str().expect("a source");
    assert!(source.ends_with("config.yaml:1"), "{source}");
}

#[test]
fn a_configuration_of_which_nothing_counts_is_among_the_warnings() {
    let sandbox = Sandbox::new();
    sandbox.write("config.yaml", "timezone: [\n");
    let (told, code) = next(&sandbox, &["0 9 * * *"]);
    assert_eq!(code, 0);
    let warnings = told["warnings"].to_string();
    assert!(
        warnings.contains("config.yaml") && warnings.contains("Nothing in that file counts"),
        "{told}"
    );
}
