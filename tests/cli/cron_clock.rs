//! The ticker of serve under clocks that are suspended and set, and zones that change while it runs.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests look at the ledger themselves"
)]

use jiff::Timestamp;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::jobs::{create, hermes, job, script, stored, with};
use crate::common::serving::{self, Serving};

const ID: &str = "aaaaaaaaaaaa";
const MINUTE: u32 = 60;

/// A serve at an instant, with one job that leaves a line for each run.
fn serve(more: &Value, now: &str) -> (Sandbox, Serving) {
    let sandbox = with(&[job(ID, more)]);
    serving::configure(&sandbox, "");
    script(&sandbox, "ok.sh", "echo ran >>\"$HERMES_HOME/runs\"");
    let mut serve = Serving::at(&sandbox, now);
    serve.clock("settle");
    (sandbox, serve)
}

/// Lets awake time pass, minute by minute, with each run to its end.
fn pass(serve: &mut Serving, minutes: u32) {
    serve.pass(minutes * MINUTE, MINUTE);
}

/// Slots that ran, in UTC, from the ledger; there must be a line of the job for each.
fn slots(sandbox: &Sandbox) -> Vec<String> {
    let ledger = Connection::open(sandbox.home().join("cron/executions.db")).expect("the ledger");
    let sql = "SELECT scheduled_instant FROM executions WHERE status = 'completed' ORDER BY 1";
    let mut statement = ledger.prepare(sql).expect("a statement");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    let slots: Vec<String> = rows.collect::<rusqlite::Result<_>>().expect("rows");
    let lines = std::fs::read_to_string(sandbox.home().join("runs")).unwrap_or_default();
    assert_eq!(lines.lines().count(), slots.len(), "{slots:?}");
    slots
}

fn next(sandbox: &Sandbox) -> Timestamp {
    let next = stored(sandbox)[0]["next_run_at"].clone();
    next.as_str()
        .and_then(|text| text.parse().ok())
        .expect("a next run")
}

fn at(text: &str) -> Timestamp {
    text.parse().expect("an instant")
}

const HALF_HOURS: &str = r#"{"kind": "cron", "expr": "*/30 * * * *", "display": "*/30 * * * *"}"#;

/// Every half hour, from 10:30 on.
fn half_hours() -> Value {
    let schedule: Value = serde_json::from_str(HALF_HOURS).expect("JSON");
    json!({"schedule": schedule, "next_run_at": "2026-06-17T10:30:00+00:00"})
}

#[test]
fn b48_the_ticker_keeps_the_cadence_over_a_day() {
    let every = json!({"kind": "interval", "minutes": 5, "display": "every 5m"});
    let more = json!({"schedule": every, "next_run_at": "2026-06-17T10:05:00+00:00"});
    let (sandbox, mut serve) = serve(&more, "2026-06-17T10:00:10Z");
    pass(&mut serve, 60);
    let slots = slots(&sandbox);
    assert_eq!(slots.len(), 12, "{slots:?}");
    assert_eq!(slots[11], "2026-06-17T11:00:00+00:00");
}

#[test]
fn a_host_that_slept_catches_up_once_and_the_missed_slots_are_on_record() {
    let (sandbox, mut serve) = serve(&half_hours(), "2026-06-17T10:00:10Z");
    pass(&mut serve, 31);
    serve.clock("suspend 18000");
    pass(&mut serve, 2);
    assert_eq!(
        slots(&sandbox),
        ["2026-06-17T10:30:00+00:00", "2026-06-17T11:00:00+00:00"]
    );
    assert_eq!(next(&sandbox), at("2026-06-17T16:00:00Z"));
    let ledger = Connection::open(sandbox.home().join("cron/executions.db")).expect("the ledger");
    let sql = "SELECT count(*) FROM cron_slots WHERE outcome = 'missed'";
    let missed: i64 = ledger.query_row(sql, [], |row| row.get(0)).expect("a row");
    assert_eq!(missed, 9, "11:30 to 15:30");
    pass(&mut serve, 30);
    assert_eq!(
        slots(&sandbox).last().map(String::as_str),
        Some("2026-06-17T16:00:00+00:00")
    );
}

#[test]
fn b71_a_clock_that_steps_forward_makes_what_is_due_fire_within_a_tick() {
    let (sandbox, mut serve) = serve(&half_hours(), "2026-06-17T10:00:10Z");
    serve.clock("step 2026-06-17T10:31:00Z");
    pass(&mut serve, 1);
    assert_eq!(slots(&sandbox), ["2026-06-17T10:30:00+00:00"]);
}

#[test]
fn a_clock_that_steps_back_repeats_no_slot_and_the_ticker_goes_on() {
    let (sandbox, mut serve) = serve(&half_hours(), "2026-06-17T10:00:10Z");
    pass(&mut serve, 61);
    assert_eq!(slots(&sandbox).len(), 2);
    // Two slots are gone through once more.
    serve.clock("step 2026-06-17T10:05:00Z");
    pass(&mut serve, 57);
    assert_eq!(slots(&sandbox).len(), 2, "10:30 and 11:00 have run");
    pass(&mut serve, 30);
    assert_eq!(
        slots(&sandbox).last().map(String::as_str),
        Some("2026-06-17T11:30:00+00:00")
    );
    assert_eq!(slots(&sandbox).len(), 3);
}

#[test]
fn a_clock_that_was_far_ahead_for_a_while_does_not_silence_a_job() {
    let (sandbox, mut serve) = serve(&half_hours(), "2026-06-17T10:00:10Z");
    serve.clock("step 2026-07-01T08:00:00Z");
    pass(&mut serve, 2);
    assert_eq!(
        slots(&sandbox),
        ["2026-06-17T10:30:00+00:00"],
        "it caught up"
    );
    serve.clock("step 2026-06-17T10:32:00Z");
    pass(&mut serve, 2);
    assert_eq!(
        next(&sandbox),
        at("2026-06-17T11:00:00Z"),
        "not in two weeks"
    );
    pass(&mut serve, 30);
    assert_eq!(
        slots(&sandbox),
        ["2026-06-17T10:30:00+00:00", "2026-06-17T11:00:00+00:00"]
    );
}

#[test]
fn b72_a_zone_that_changes_while_serve_runs_is_noticed() {
    let daily = json!({"kind": "cron", "expr": "0 9 * * *", "display": "0 9 * * *"});
    let more = json!({"schedule": daily, "next_run_at": "2026-06-17T09:00:00+02:00"});
    let sandbox = with(&[job(ID, &more)]);
    serving::configure(&sandbox, "");
    script(&sandbox, "ok.sh", "echo ran >>\"$HERMES_HOME/runs\"");
    sandbox.write("config.yaml", "timezone: Europe/Berlin\n");
    let mut serve = Serving::at(&sandbox, "2026-06-17T06:55:10Z");
    serve.clock("settle");
    sandbox.write("config.yaml", "timezone: America/New_York\n");
    pass(&mut serve, 10);
    assert_eq!(
        next(&sandbox),
        at("2026-06-17T13:00:00Z"),
        "9:00 of New York"
    );
    assert_eq!(
        stored(&sandbox)[0]["next_run_at"],
        "2026-06-17T09:00:00-04:00"
    );
    serve.clock("suspend 21300");
    pass(&mut serve, 2);
    assert_eq!(slots(&sandbox), ["2026-06-17T13:00:00+00:00"]);
    assert_eq!(
        stored(&sandbox)[0]["last_run_at"]
            .as_str()
            .map(|at| &at[19..]),
        Some("-04:00")
    );
}

#[test]
fn a_shell_with_another_zone_than_serve_is_told_so() {
    let sandbox = with(&[]);
    serving::configure(&sandbox, "");
    script(&sandbox, "ok.sh", "true");
    sandbox.write("config.yaml", "");
    let serve = Serving::at(&sandbox, "2026-06-17T06:55:10Z");
    let warnings = |zone: &str| {
        let mut command = hermes(&sandbox, &create("0 9 * * *", &["--dry-run", "--json"]));
        let output = command.env("TZ", zone).output().expect("it runs");
        let made: Value = serde_json::from_slice(&output.stdout).expect("a document");
        made["warnings"].to_string()
    };
    let said = warnings("Asia/Tokyo");
    let pid = serve.pid();
    let both =
        format!("in UTC, from TZ of serve pid {pid}, and this command in Asia/Tokyo, from TZ");
    assert!(said.contains(&both), "{said}");
    assert_eq!(warnings("UTC"), "[]");
}

/// One pass by hand in a shell of another zone, with the daily job at nine by the clock of serve.
fn pass_by_hand(serve: &[&str]) -> (Sandbox, Serving, Value) {
    let daily = json!({"kind": "cron", "expr": "0 9 * * *", "display": "0 9 * * *"});
    let more = json!({"schedule": daily, "next_run_at": "2026-06-17T09:00:00+00:00"});
    let sandbox = with(&[job(ID, &more)]);
    serving::configure(&sandbox, "");
    script(&sandbox, "ok.sh", "echo ran >>\"$HERMES_HOME/runs\"");
    sandbox.write("config.yaml", "");
    let child = serving::command(&sandbox, "2026-06-17T08:58:10Z", serve).spawn();
    let mut serve = Serving::ready(&sandbox, child.expect("serve starts"));
    serve.clock("settle");
    let tick = |more: &[&str]| {
        let mut command = hermes(&sandbox, &[&["cron", "tick", "--json"], more].concat());
        command.env("__HERMES_NOW", "2026-06-17T08:59:30Z");
        let output = command.env("TZ", "Asia/Tokyo").output().expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        serde_json::from_slice::<Value>(&output.stdout).expect("a document")
    };
    let foreseen = tick(&["--dry-run"])["changes"].take();
    assert_eq!(tick(&[])["pass"], "done");
    (sandbox, serve, foreseen)
}

#[test]
fn a_pass_by_hand_goes_by_the_zone_of_the_serve_that_ticks() {
    let (sandbox, mut serve, foreseen) = pass_by_hand(&[]);
    assert_eq!(foreseen, json!([]));
    assert_eq!(
        stored(&sandbox)[0]["next_run_at"],
        "2026-06-17T09:00:00+00:00"
    );
    pass(&mut serve, 3);
    assert_eq!(slots(&sandbox), ["2026-06-17T09:00:00+00:00"]);
}

#[test]
fn a_pass_by_hand_goes_by_its_own_zone_where_serve_leaves_jobs_alone() {
    let (sandbox, _serve, foreseen) = pass_by_hand(&["--no-cron"]);
    assert_eq!(foreseen[0]["reason"], "zone_changed");
    assert_eq!(
        stored(&sandbox)[0]["next_run_at"],
        "2026-06-18T09:00:00+09:00"
    );
}

#[test]
fn b72_a_zone_further_east_makes_no_job_late() {
    let daily = json!({"kind": "cron", "expr": "0 9 * * *", "display": "0 9 * * *"});
    let more = json!({"schedule": daily, "next_run_at": "2026-06-17T09:00:00+02:00"});
    let sandbox = with(&[job(ID, &more)]);
    serving::configure(&sandbox, "");
    script(&sandbox, "ok.sh", "echo ran >>\"$HERMES_HOME/runs\"");
    sandbox.write("config.yaml", "timezone: Europe/Berlin\n");
    let mut serve = Serving::at(&sandbox, "2026-06-16T23:45:10Z");
    serve.clock("settle");
    sandbox.write("config.yaml", "timezone: Asia/Tokyo\n");
    pass(&mut serve, 10);
    assert_eq!(
        stored(&sandbox)[0]["next_run_at"],
        "2026-06-17T09:00:00+09:00"
    );
    pass(&mut serve, 300);
    assert_eq!(slots(&sandbox), ["2026-06-17T00:00:00+00:00"]);
    let ledger = Connection::open(sandbox.home().join("cron/executions.db")).expect("the ledger");
    let sql = "SELECT reason FROM cron_slots WHERE outcome = 'skipped'";
    let why: String = ledger.query_row(sql, [], |row| row.get(0)).expect("a row");
    assert!(why.contains("by the clock of another zone"), "{why}");
}
