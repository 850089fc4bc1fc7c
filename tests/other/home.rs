//! Each program goes on with the home of the other.

use serde_json::{Value, json};

use super::Other;
use crate::common::Sandbox;
use crate::common::jobs::{home, job, script, stored, with};

/// Keys that a run changes, by the meaning that both programs give them.
const OF_A_RUN: [&str; 13] = [
    "next_run_at",
    "last_run_at",
    "last_status",
    "last_error",
    "last_delivery_error",
    "last_dispatch",
    "last_failure",
    "failure_streak",
    "fire_claim",
    "pending_slot",
    "repeat",
    "x_hermes",
    "last_success_at",
];

fn at(sandbox: &Sandbox, now: &str, words: &[&str]) -> (i32, String) {
    let mut command = sandbox.hermes();
    let output = command.env("__HERMES_NOW", now).args(words).output();
    let output = output.expect("it runs");
    let said = [output.stdout, output.stderr].concat();
    (
        output.status.code().expect("a status"),
        String::from_utf8_lossy(&said).into_owned(),
    )
}

/// What a run leaves alone must be as it was.
fn is_left_alone(before: &Value, after: &Value) {
    // A one-shot has ended with its run.
    let once = before["schedule"]["kind"] == "once";
    for (key, value) in before.as_object().expect("a job") {
        if once && (key == "enabled" || key == "state") {
            continue;
        }
        if !OF_A_RUN.contains(&key.as_str()) {
            assert_eq!(after.get(key), Some(value), "{key}");
        }
    }
}

#[test]
#[ignore = "needs the package of the other program"]
fn what_it_made_we_run_and_what_we_wrote_it_reads() {
    let sandbox = home();
    script(&sandbox, "ok.sh", "echo fine");
    let mut other = Other::start(&sandbox);
    let texts = ["every 30m", "0 12 * * *", "2026-06-17T12:00:00+00:00"];
    for (index, text) in texts.iter().enumerate() {
        let job = json!({"prompt": "", "schedule": text, "name": format!("job {index}"),
            "script": "ok.sh", "no_agent": true});
        other.ask(&json!({"do": "create", "job": job}));
    }
    let before = stored(&sandbox);
    let now = "2026-06-17T12:00:30+00:00";
    let (code, said) = at(&sandbox, now, &["cron", "tick"]);
    assert_eq!((code, said.matches("  ok (").count()), (0, 3), "{said}");
    let after = stored(&sandbox);
    for (before, after) in before.iter().zip(&after) {
        is_left_alone(before, after);
        assert_eq!(after["last_status"], "ok", "{after}");
    }
    let listed = other.ask(&json!({"do": "list", "at": now}));
    assert_eq!(listed.as_array().map(Vec::len), Some(3), "{listed}");
    let id = before[0]["id"].as_str().expect("an id");
    let runs = other.ask(&json!({"do": "runs", "id": id}));
    assert_eq!(
        (&runs[0]["status"], &runs[0]["source"]),
        (&json!("completed"), &json!("builtin"))
    );
    assert_eq!(
        other.tick("2026-06-17T12:01:30+00:00"),
        0,
        "all slots have run"
    );
    assert_eq!(
        other.ask(&json!({"do": "recover"})),
        0,
        "no row stayed open"
    );
    assert_eq!(
        other.tick("2026-06-17T12:31:00+00:00"),
        1,
        "it goes on where we stopped"
    );
}

#[test]
#[ignore = "needs the package of the other program"]
fn what_we_made_it_runs_and_what_it_wrote_we_read() {
    let sandbox = home();
    script(&sandbox, "ok.sh", "echo fine");
    let now = "2026-06-17T10:00:00+00:00";
    for (name, text) in [
        ("often", "every 30m"),
        ("noon", "0 12 * * *"),
        ("once", "in 2h"),
    ] {
        let words = [
            "cron",
            "create",
            text,
            "--script",
            "ok.sh",
            "--no-agent",
            "--name",
            name,
        ];
        let (code, said) = at(&sandbox, now, &words);
        assert_eq!(code, 0, "{said}");
    }
    let before = stored(&sandbox);
    let mut other = Other::start(&sandbox);
    let noon = "2026-06-17T12:00:30+00:00";
    assert_eq!(other.tick(noon), 3);
    let after = stored(&sandbox);
    for (before, after) in before.iter().zip(&after) {
        is_left_alone_by_it(before, after);
        assert_eq!(after["last_status"], "ok", "{after}");
    }
    let (_, said) = at(&sandbox, noon, &["cron", "runs", "--json"]);
    let runs: Value =
        serde_json::from_str(said.lines().collect::<String>().as_str()).expect("JSON");
    let rows = runs["homes"][0]["runs"].as_array().expect("runs").clone();
    assert_eq!(rows.len(), 3);
    assert!(
        rows.iter().all(|row| row["status"] == "completed"),
        "{rows:?}"
    );
    let (code, said) = at(&sandbox, "2026-06-17T12:01:30+00:00", &["cron", "tick"]);
    assert_eq!((code, said.trim()), (0, "nothing is due"));
    let (code, said) = at(&sandbox, "2026-06-17T12:31:00+00:00", &["cron", "tick"]);
    assert!(code == 0 && said.contains("  ok ("), "{said}");
}

/// Beside that, whatever it does not know must be there still.
fn is_left_alone_by_it(before: &Value, after: &Value) {
    let ended = after["state"] == "completed";
    for (key, value) in before.as_object().expect("a job") {
        let of_an_end = ended && ["enabled", "state"].contains(&key.as_str());
        if key == "x_hermes" || !(OF_A_RUN.contains(&key.as_str()) || of_an_end) {
            assert_eq!(after.get(key), Some(value), "{key}");
        }
    }
}

#[test]
#[ignore = "needs the package of the other program"]
fn unknown_fields_and_each_others_pauses_are_honoured() {
    let odd = json!({"x_hermes": {"timeout_seconds": 60}, "from_tomorrow": {"deep": [1, null]}});
    let sandbox = with(&[job("aaaaaaaaaaaa", &odd), job("bbbbbbbbbbbb", &json!({}))]);
    let mut other = Other::start(&sandbox);
    let now = "2026-06-17T10:20:30+00:00";
    other.ask(&json!({"do": "pause", "id": "bbbbbbbbbbbb", "at": now}));
    let (code, said) = at(&sandbox, now, &["cron", "tick"]);
    assert_eq!((code, said.matches("  ok (").count()), (0, 1), "{said}");
    assert_eq!(at(&sandbox, now, &["cron", "resume", "bbbbbbbbbbbb"]).0, 0);
    assert_eq!(at(&sandbox, now, &["cron", "pause", "aaaaaaaaaaaa"]).0, 0);
    assert_eq!(
        other.tick("2026-06-17T10:51:00+00:00"),
        1,
        "only the one that we resumed"
    );
    assert_eq!(
        other.ask(&json!({"do": "remove", "id": "bbbbbbbbbbbb"})),
        true
    );
    let left = stored(&sandbox);
    assert_eq!(left.len(), 1);
    assert_eq!(left[0]["from_tomorrow"], odd["from_tomorrow"]);
    assert_eq!(left[0]["x_hermes"]["timeout_seconds"], 60);
    assert_eq!(left[0]["future_key"].to_string(), "[1.5]");
}
