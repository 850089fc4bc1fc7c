//! What breaks a home in its databases and its configuration.

use std::os::unix::fs::PermissionsExt as _;

use hermes::ledger::{Claim, Ledger, Owner};
use jiff::{SignedDuration, Timestamp};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::{Break, GONE, at, changed};
use crate::common::Sandbox;

/// A session of the sample home with a loop, and one with a heartbeat.
const LOOPING: &str = "loop:20260101_090000_aaaaaa";
const BEATING: &str = "heartbeat:20260101_091500_bbbbbb";

pub(super) const BREAKS: &[Break] = &[
    ("HM602", |sandbox| running(sandbox, (GONE, 1), 600)),
    ("HM612", |sandbox| {
        let schedule = json!({"kind": "once", "run_at": at(600), "display": "once"});
        changed(
            sandbox,
            &json!({"schedule": schedule, "repeat": {"times": 1, "completed": 0}}),
        );
        let mut ledger = ledger(sandbox);
        for number in 0..3_i64 {
            let id = format!("{number:032}");
            claim(&mut ledger, &id, (GONE, 1), 600 + number);
        }
    }),
    ("HM901", |sandbox| {
        sandbox.write("config.toml", "[cron\n");
        editor(sandbox);
    }),
    ("HM901", |sandbox| {
        sandbox.write("config.toml/x", "");
    }),
    ("HM902", |sandbox| {
        sandbox.write("config.toml", "[cron]\nmax_parallel_jobs = \"many\"\n");
        editor(sandbox);
    }),
    ("HM903", |sandbox| {
        sandbox.write("config.toml", "timezone = \"Nowhere/Land\"\n");
        editor(sandbox);
    }),
];

/// The same, of the sample home, whose sessions are Hermes Agent's and held by nobody.
pub(super) const OF_SESSIONS: &[Break] = &[
    ("HM702", |sandbox| {
        let text = row(sandbox, LOOPING).expect("a loop");
        let mut row: Value = serde_json::from_str(&text).expect("a row");
        let now = Timestamp::now().as_duration().as_secs_f64();
        row["status"] = "active".into();
        row["awaiting_response"] = true.into();
        row["last_fired_at"] = (now - 86_400.0).into();
        set(sandbox, LOOPING, &row.to_string());
    }),
    ("HM704", |sandbox| set(sandbox, LOOPING, UNREADABLE)),
    ("HM704", |sandbox| set(sandbox, BEATING, UNREADABLE)),
];

/// The begin of a row that was cut off.
pub(super) const UNREADABLE: &str = "{\"prompt\": \"check the bu";

/// An editor that empties what it opens.
fn editor(sandbox: &Sandbox) {
    let bin = sandbox.user_home().join("bin");
    std::fs::create_dir_all(&bin).expect("a directory");
    let path = bin.join("vi");
    std::fs::write(&path, "#!/bin/sh\nfor file; do :; done\n: >\"$file\"\n").expect("an editor");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(path, mode).expect("a mode");
}

fn owner((pid, ticks): (u32, u64)) -> Owner {
    Owner {
        process_id: "0".repeat(32),
        pid,
        start_ticks: Some(ticks),
    }
}

/// The job runs, by a process that started at this tick, since so many seconds.
pub(super) fn running(sandbox: &Sandbox, process: (u32, u64), ago: i64) {
    let mut ledger = ledger(sandbox);
    let id = "0".repeat(32);
    claim(&mut ledger, &id, process, ago);
    let at = Timestamp::now() - SignedDuration::from_secs(ago);
    ledger.start(&id, &owner(process), at).expect("a start");
}

fn ledger(sandbox: &Sandbox) -> Ledger {
    let path = sandbox.home().join("cron/executions.db");
    Ledger::open(&path, jiff::tz::TimeZone::UTC).expect("a ledger")
}

/// The job is claimed, so many seconds ago.
fn claim(ledger: &mut Ledger, id: &str, process: (u32, u64), ago: i64) {
    let at = Timestamp::now() - SignedDuration::from_secs(ago);
    let claim = Claim {
        id,
        job_id: "00000000000a",
        source: "builtin",
        slot: Some(at.into()),
    };
    ledger.claim(&claim, &owner(process), at).expect("a claim");
}

fn state(sandbox: &Sandbox) -> Connection {
    Connection::open(sandbox.home().join("state.db")).expect("a store")
}

fn row(sandbox: &Sandbox, key: &str) -> Option<String> {
    let sql = "SELECT value FROM state_meta WHERE key = ?1";
    state(sandbox).query_row(sql, [key], |row| row.get(0)).ok()
}

fn set(sandbox: &Sandbox, key: &str, value: &str) {
    let sql = "UPDATE state_meta SET value = ?2 WHERE key = ?1";
    let changed = state(sandbox).execute(sql, [key, value]).expect("a change");
    assert_eq!(changed, 1, "{key}");
}

/// What is kept of rows that could not be read.
pub(super) fn kept(sandbox: &Sandbox) -> Vec<String> {
    let store = state(sandbox);
    let sql = "SELECT value FROM state_meta WHERE key GLOB 'unreadable:*'";
    let mut statement = store.prepare(sql).expect("a statement");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.collect::<rusqlite::Result<_>>().expect("rows")
}
