//! `hermes session`: what is open, and what a serve that starts now would reap.

use predicates::prelude::*;
use serde_json::Value;

use crate::common::Sandbox;

fn json_of(now: &str, args: &[&str]) -> Value {
    let output = Sandbox::with_sample_home()
        .hermes()
        .env("__HERMES_NOW", now)
        .args(args)
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn open_sessions_are_listed_and_ended_ones_counted() {
    let list = json_of("2026-11-29T23:00:00Z", &["session", "list", "--json"]);
    assert_eq!(list["schema"], "hermes.session.list/1");
    let first = &list["sessions"][0];
    assert_eq!(first["session"], "20260101_090000_aaaaaa");
    assert_eq!(first["source"], "desktop");
    let timer = first["timers"][0].as_str().expect("a timer");
    assert!(timer.starts_with("loop not driven: "), "{timer}");
    assert_eq!(
        (&first["owner"], &first["holder"]),
        (&"Hermes Agent".into(), &Value::Null)
    );
    assert_eq!(list["left_out"]["startup_orphan_reap"], 1);
}

#[test]
fn the_dry_run_gives_each_session_its_reasons_and_says_what_it_cannot_see() {
    let plan = json_of(
        "2026-12-29T23:00:00Z",
        &["session", "reap", "--dry-run", "--json"],
    );
    assert_eq!(plan["schema"], "hermes.session.reap/1");
    let rows = plan["sessions"].as_array().expect("rows");
    let of = |id: &str| {
        rows.iter()
            .find(|row| row["stored_id"] == id)
            .expect("a row")
    };
    // They are past every limit, but a serve that starts would leave them to the program that made them.
    for (id, source) in [
        ("20260101_090000_aaaaaa", "desktop"),
        ("20260101_093000_cccccc", "cli"),
    ] {
        let row = of(id);
        assert_eq!(row["verdict"], "keep");
        let owner = format!("owned by Hermes Agent ('{source}'), which ends its own");
        assert_eq!(row["because"], owner);
    }
    assert_eq!(plan["left_out"]["ended: startup_orphan_reap"], 1);
    assert!(
        plan["unseen"]
            .as_array()
            .is_some_and(|unseen| unseen.len() == 3)
    );
}

#[test]
fn b129_a_session_left_open_by_a_dead_process_is_reaped_past_the_limit() {
    let sandbox = Sandbox::with_sample_home();
    let store = rusqlite_of(&sandbox);
    // Two of ours, begun on the command line; a serve that starts would drive the loop of one.
    store
        .execute_batch(
            "CREATE TABLE hermes_sessions (id TEXT PRIMARY KEY, source TEXT, title TEXT, cwd TEXT,
                 model TEXT, parent_id TEXT, hidden INTEGER DEFAULT 0, agent_session TEXT,
                 preview TEXT DEFAULT '', message_count INTEGER DEFAULT 0, started_at REAL,
                 last_active REAL, ended_at REAL, end_reason TEXT);
             INSERT INTO hermes_sessions (id, source, started_at, last_active)
                 SELECT column1, 'cli', started_at, started_at FROM sessions, (VALUES ('ours'), ('looping'))
                 WHERE id = '20260101_090000_aaaaaa';
             INSERT INTO state_meta SELECT 'loop:looping', value FROM state_meta
                 WHERE key = 'loop:20260101_090000_aaaaaa'",
        )
        .expect("sessions of ours");
    drop(store);
    let run = |now: &str| {
        let command = ["session", "reap", "--dry-run"];
        let output = sandbox
            .hermes()
            .env("__HERMES_NOW", now)
            .args(command)
            .output();
        String::from_utf8(output.expect("it runs").stdout).expect("UTF-8")
    };
    let line = |text: &str, id: &str| {
        text.lines()
            .find(|line| line.starts_with(id))
            .expect("a row")
            .to_owned()
    };
    assert!(line(&run("2026-11-29T23:00:00Z"), "ours").contains("keep"));
    let plan = run("2026-11-30T05:00:00Z");
    assert!(line(&plan, "looping").contains("keep"));
    assert!(line(&plan, "20260101_090000").contains("keep"));
    let reaped = line(&plan, "ours");
    assert!(
        reaped.contains("would be reaped (sweep)") && reaped.contains("6h 20m"),
        "{reaped}"
    );
}

fn rusqlite_of(sandbox: &Sandbox) -> rusqlite::Connection {
    #[expect(
        clippy::disallowed_methods,
        reason = "the other program's writer, played by a test"
    )]
    rusqlite::Connection::open(sandbox.home().join("state.db")).expect("a store")
}

#[test]
fn the_real_run_and_the_cap_want_a_serve() {
    for args in [
        ["session", "reap"].as_slice(),
        &["session", "reap", "--dry-run", "--reaper", "cap"],
    ] {
        Sandbox::with_sample_home()
            .hermes()
            .args(args)
            .assert()
            .code(1)
            .stdout(predicate::str::is_empty());
    }
}
