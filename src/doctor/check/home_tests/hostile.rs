//! Homes that nobody would write: no look and no check may panic, hang, or take them for healthy.

use proptest::prelude::*;

use super::fixture::{Fixture, looping};
use crate::bus::hostile::words;
use crate::doctor::check::all;

/// Files that are read, and what may lie in them.
fn file() -> impl Strategy<Value = (&'static str, Vec<u8>)> {
    let name = prop::sample::select(vec![
        "cron/jobs.json",
        "cron/jobs.json.bak",
        "cron/executions.db",
        "state.db",
        "kanban.db",
        "config.yaml",
        "config.toml",
        "runtime/active_sessions.json",
        "spawn-ledger.json",
        "cron/ticker_heartbeat",
        "cron/ticker_last_error",
        "cron/catch_up_occurrences",
        "cron/external-workers/x.json",
        "ESTOP",
    ]);
    let words = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        "\"",
        ":",
        ",",
        "jobs",
        "id",
        "null",
        "1e999",
        "-",
        "\u{0}",
        "\u{1b}[2J",
        "schedule",
        "kind",
        "cron",
        "expr",
        "*/0 * * * *",
        "next_run_at",
        "9999-12-31T23:59:59+14:00",
        "0001-01-01T00:00:00-14:00",
        "repeat",
        "entries",
        "\n",
        "\u{202e}",
        "\u{feff}",
    ]);
    let text = prop::collection::vec(words, 0..40).prop_map(|words| words.concat().into_bytes());
    let bytes = prop::collection::vec(any::<u8>(), 0..400);
    (name, prop_oneof![text, bytes])
}

/// A job whose fields hold what they should not.
fn job() -> impl Strategy<Value = serde_json::Value> {
    let keys = prop::sample::select(vec![
        "id",
        "name",
        "schedule",
        "enabled",
        "state",
        "repeat",
        "next_run_at",
        "last_run_at",
        "created_at",
        "fire_claim",
        "run_claim",
        "pending_slot",
        "last_dispatch",
        "script",
        "workdir",
        "last_error",
        "last_fire_error",
        "failure_streak",
        "deliver",
        "manual_run_at",
    ]);
    let texts = words().prop_map(serde_json::Value::from);
    let values = prop::sample::select(vec![
        serde_json::json!(null),
        serde_json::json!(-1),
        serde_json::json!(1e300),
        serde_json::json!(""),
        serde_json::json!("../../etc/passwd"),
        serde_json::json!("9999-12-31T23:59:59.999999+00:00"),
        serde_json::json!("0001-01-01T00:00:00+23:59"),
        serde_json::json!({"kind": "cron", "expr": "* * * * * * *"}),
        serde_json::json!({"kind": "interval", "minutes": i64::MAX}),
        serde_json::json!({"kind": "once", "run_at": "0001-01-01T00:00:00+00:00"}),
        serde_json::json!({"at": "x", "by": "h:99999999999999999999:1"}),
        serde_json::json!({"lateness_seconds": 1e300, "kind": "late"}),
        serde_json::json!([[[[]]]]),
    ]);
    let values = prop_oneof![values, texts];
    prop::collection::vec((keys, values), 0..12).prop_map(|fields| {
        let fields = fields
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value));
        serde_json::Value::Object(fields.collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_file_of_a_home_can_stop_the_doctor(files in prop::collection::vec(file(), 1..4)) {
        let fixture = Fixture::healthy();
        for (name, bytes) in &files {
            let path = fixture.path(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        fixture.all_findings();
    }

    #[test]
    fn no_record_of_a_job_can_stop_the_doctor(jobs in prop::collection::vec(job(), 1..6)) {
        let fixture = Fixture::healthy();
        fixture.jobs(&jobs);
        fixture.all_findings();
    }

    #[test]
    fn no_row_can_stop_the_doctor(
        stamp in prop::sample::select(vec!["x", "", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"]),
        number in prop::sample::select(vec!["-1", "1e308", "9223372036854775807", "x'ff'", "NULL", "0"]),
        words in words(),
    ) {
        let fixture = Fixture::healthy();
        let words = words.replace('\'', "''").replace('\0', "");
        fixture.sql("cron/executions.db", crate::ledger::facts::SCHEMA);
        fixture.sql("cron/executions.db", &format!(
            "INSERT INTO executions(id, job_id, status, claimed_at, finished_at, error, delivery_outcome)
             VALUES ('{words}', '{words}', 'unknown', '2026-11-29T21:00:00+00:00',
             '2026-11-29T21:00:00+00:00', '{words}', '{words}'),
             ('{words}2', '00000000000b', 'failed', '2026-11-29T21:00:00+00:00',
             '2026-11-29T21:00:00+00:00', '{words}', 'failed');
             INSERT INTO execution_facts(execution_id, mode, cause, recorded_at)
             VALUES ('{words}', '{words}', '{words}', '{words}')"));
        fixture.sql("state.db", &format!(
            "INSERT INTO sessions(id, source, started_at, last_activity_at) VALUES ('{words}', '{words}', 1, 1);
             INSERT INTO state_meta VALUES ('loop:{words}', '{{\"status\": \"active\", \"next_due_at\": 1}}');
             INSERT INTO gateway_routing VALUES ('{words}', '{words}', '{words}', 0);
             INSERT INTO session_turn_leases VALUES ('{words}', '{words}', 1, 1e12)"));
        fixture.sql("cron/executions.db", &format!(
            "INSERT OR REPLACE INTO executions(id, job_id, status, pid, process_started_at, claimed_at, started_at,
             finished_at, scheduled_instant, handoff_pending, handoff_started_at)
             VALUES ('x', '00000000000b', 'running', {number}, {number}, '{stamp}', '{stamp}', '{stamp}',
             '{stamp}', 1, {number});
             UPDATE executions SET scheduled_instant = '{stamp}', finished_at = '{stamp}'"));
        fixture.sql("state.db", &format!(
            "INSERT OR REPLACE INTO sessions(id, source, started_at, last_activity_at) VALUES ('s', 'tui', {number}, {number});
             INSERT OR REPLACE INTO state_meta VALUES ('loop:s', '{{\"next_due_at\": 1e300, \"interval_seconds\": -5}}');
             INSERT OR REPLACE INTO state_meta VALUES ('heartbeat:s', '{{\"interval_seconds\": 1e300}}');
             INSERT INTO gateway_heartbeats VALUES ('b', {number}, {number}, {number}, '', '')"));
        fixture.all_findings();
    }
}

#[test]
fn what_cannot_be_read_is_no_pass_for_those_who_depend_on_it() {
    for (store, checks) in [
        ("cron/jobs.json", &["jobs-records", "jobs-last-run"][..]),
        ("cron/executions.db", &["ledger-missing"][..]),
        ("state.db", &["loops", "sessions"][..]),
    ] {
        let fixture = Fixture::healthy();
        fixture.write(store, "{ garbage");
        let evidence = fixture.evidence();
        for id in checks {
            let check = all().find(|check| check.id == *id).unwrap();
            let outcome = (check.run)(&evidence);
            let gap = outcome.unchecked.iter().find(|gap| gap.matters).unwrap();
            assert!(gap.what.ends_with(store), "{id}: {gap:?}");
        }
    }
}

#[test]
fn counters_of_any_size_are_compared() {
    let fixture = Fixture::healthy();
    fixture.session("s1");
    let mut row = looping(fixture.epoch(60));
    row["ticks_fired"] = 200_000_000_000_000_000_u64.into();
    row["max_ticks"] = row["ticks_fired"].clone();
    fixture.timer("loop:s1", &row);
    assert_eq!(fixture.findings("HM703").len(), 1);
}
