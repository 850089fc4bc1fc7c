//! Jobs that run: one pass through the binary, and what it leaves in the store, the ledger and the home.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests look at the ledger themselves"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::jobs::settled;

const NOW: &str = "2026-06-17T10:00:30Z";

fn job(id: &str, more: &Value) -> Value {
    let mut job = json!({
        "id": id, "name": id, "prompt": "", "script": "job.sh", "no_agent": true,
        "schedule": {"kind": "interval", "minutes": 30, "display": "every 30m"},
        "schedule_display": "every 30m", "repeat": {"times": null, "completed": 0},
        "enabled": true, "state": "scheduled", "deliver": "local", "workdir": null,
        "created_at": "2026-06-17T09:00:00+00:00", "next_run_at": "2026-06-17T10:00:00+00:00",
        "last_run_at": null, "future_key": [1.50]
    });
    let object = job.as_object_mut().expect("an object");
    for (key, value) in more.as_object().expect("an object") {
        object.insert(key.clone(), value.clone());
    }
    job
}

fn with_jobs(script: &str, jobs: &[Value]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("config.yaml", "timezone: UTC\n");
    let path = sandbox.write("scripts/job.sh", script);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a mode");
    let store = json!({"jobs": jobs, "updated_at": "2026-06-17T09:00:00+00:00"});
    sandbox.write("cron/jobs.json", store.to_string());
    sandbox
}

fn tick(sandbox: &Sandbox) -> Value {
    let output = sandbox
        .hermes()
        .env("__HERMES_NOW", NOW)
        .args(["cron", "tick", "--json"])
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    serde_json::from_str(&text).unwrap_or_else(|_| {
        Value::String(format!("{text}{}", String::from_utf8_lossy(&output.stderr)))
    })
}

fn stored(sandbox: &Sandbox, index: usize) -> Value {
    let text = fs::read_to_string(sandbox.home().join("cron/jobs.json")).expect("the store");
    serde_json::from_str::<Value>(&text).expect("a store")["jobs"][index].clone()
}

fn rows(sandbox: &Sandbox, sql: &str) -> Vec<Vec<String>> {
    let connection =
        Connection::open(sandbox.home().join("cron/executions.db")).expect("the ledger");
    let mut select = connection.prepare(sql).expect("a query");
    let columns = select.column_count();
    let rows = select
        .query_map([], |row| {
            (0..columns)
                .map(|index| {
                    row.get_ref(index).map(|value| match value {
                        rusqlite::types::ValueRef::Text(text) => {
                            String::from_utf8_lossy(text).into_owned()
                        }
                        rusqlite::types::ValueRef::Integer(number) => number.to_string(),
                        _ => String::new(),
                    })
                })
                .collect::<rusqlite::Result<Vec<_>>>()
        })
        .expect("rows");
    rows.collect::<rusqlite::Result<_>>().expect("rows")
}

#[test]
fn a_due_job_runs_and_leaves_its_traces_everywhere() {
    let sandbox = with_jobs(
        "#!/bin/sh\necho \"it rains, $HERMES_JOB_ID\"\n",
        &[job("a1b2c3d4e5f6", &json!({}))],
    );
    let pass = tick(&sandbox);
    assert_eq!(pass["runs"][0]["outcome"], "ok", "{pass}");
    let job = stored(&sandbox, 0);
    assert_eq!(
        (&job["last_status"], &job["repeat"]["completed"]),
        (&json!("ok"), &json!(1)),
        "{job}"
    );
    assert_eq!(
        job["next_run_at"], "2026-06-17T10:30:00+00:00",
        "a steady cadence"
    );
    assert_eq!(
        (&job["fire_claim"], job.get("pending_slot")),
        (&Value::Null, None)
    );
    assert_eq!(job["future_key"].to_string(), "[1.5]");
    let row = &rows(
        &sandbox,
        "SELECT status, job_id, source, scheduled_instant, error FROM executions",
    )[0];
    assert_eq!(
        row[..4],
        [
            "completed",
            "a1b2c3d4e5f6",
            "builtin",
            "2026-06-17T10:00:00+00:00"
        ]
    );
    let facts = &rows(&sandbox, "SELECT mode, mechanism FROM execution_facts")[0];
    assert_eq!(facts[1], "child", "{facts:?}");
    assert_eq!(
        rows(&sandbox, "SELECT outcome FROM cron_slots")[0][0],
        "run"
    );
    let output = fs::read_dir(sandbox.home().join("cron/output/a1b2c3d4e5f6")).expect("outputs");
    let document = fs::read_to_string(output.flatten().next().expect("a document").path());
    assert!(document.expect("text").contains("it rains, a1b2c3d4e5f6"));
    for marker in ["ticker_heartbeat", "ticker_last_success"] {
        let path = sandbox.home().join("cron").join(marker);
        assert!(!path.exists(), "{marker}: no ticker is alive");
    }
    assert_eq!(tick(&sandbox)["runs"], json!([]), "nothing is due any more");
}

#[test]
fn a_failing_job_fails_alone_and_opens_an_incident() {
    let good = job("aaaaaaaaaaaa", &json!({}));
    let bad = job("bbbbbbbbbbbb", &json!({"script": "bad.sh"}));
    let sandbox = with_jobs("#!/bin/sh\necho fine\n", &[bad, good]);
    sandbox.write(
        "scripts/bad.sh",
        "echo token sk-abcdefghijklmnopqrstuvwxyz >&2; exit 3\n",
    );
    let pass = tick(&sandbox);
    assert_eq!(pass["runs"].as_array().map(Vec::len), Some(2), "{pass}");
    let failed = stored(&sandbox, 0);
    assert_eq!(failed["last_status"], "error");
    let error = failed["last_error"].as_str().expect("an error");
    assert!(
        error.contains("exited with code 3") && error.contains("[redacted]"),
        "{error}"
    );
    assert!(!error.contains("sk-abc"), "{error}");
    assert_eq!(stored(&sandbox, 1)["last_status"], "ok");
    let incident = &rows(
        &sandbox,
        "SELECT job_id, state, failure_type FROM cron_incidents",
    )[0];
    assert_eq!(incident[..], ["bbbbbbbbbbbb", "detected", "script"]);
}

#[test]
fn b85_a_slot_that_has_run_never_runs_again_in_a_restored_store() {
    let jobs = [job("a1b2c3d4e5f6", &json!({}))];
    let sandbox = with_jobs("#!/bin/sh\necho x >>\"$HERMES_HOME/count\"\n", &jobs);
    tick(&sandbox);
    let old = json!({"jobs": jobs, "updated_at": "x"});
    sandbox.write("cron/jobs.json", old.to_string());
    tick(&sandbox);
    let count = fs::read_to_string(sandbox.home().join("count")).expect("it ran");
    assert_eq!(count, "x\n");
    assert_eq!(rows(&sandbox, "SELECT count(*) FROM executions")[0][0], "1");
}

#[test]
fn a_job_that_needs_what_we_do_not_do_is_refused_with_the_reason_and_not_half_run() {
    let chat = job("cccccccccccc", &json!({"deliver": "telegram:1"}));
    let sandbox = with_jobs("#!/bin/sh\necho x >>\"$HERMES_HOME/count\"\n", &[chat]);
    let pass = tick(&sandbox);
    assert_eq!(pass["runs"][0]["outcome"], "refused", "{pass}");
    assert!(
        pass["runs"][0]["reason"]
            .as_str()
            .is_some_and(|why| why.contains("telegram:1"))
    );
    assert!(!sandbox.home().join("count").exists());
    let slot = &rows(&sandbox, "SELECT outcome, reason FROM cron_slots")[0];
    assert_eq!(slot[0], "refused");
    assert_eq!(rows(&sandbox, "SELECT count(*) FROM executions")[0][0], "0");
}

#[test]
fn b77_a_job_with_a_lateness_limit_is_skipped_and_the_slots_are_accounted_for() {
    let late = job(
        "dddddddddddd",
        &json!({"next_run_at": "2026-06-17T06:00:00+00:00",
            "x_hermes": {"catch_up": {"max_lateness_seconds": 3600}}}),
    );
    let sandbox = with_jobs("#!/bin/sh\ntrue\n", &[late]);
    assert_eq!(tick(&sandbox)["runs"], json!([]));
    let slots = rows(
        &sandbox,
        "SELECT outcome, reason FROM cron_slots ORDER BY scheduled_at",
    );
    assert_eq!(slots.len(), 9, "06:00 and each half hour up to 10:00");
    assert!(slots[0][1].contains("too late"), "{slots:?}");
    assert!(stored(&sandbox, 0).get("pending_slot").is_none());
}

#[test]
fn an_emergency_stop_of_the_other_program_is_honoured() {
    let sandbox = with_jobs("#!/bin/sh\ntrue\n", &[job("a1b2c3d4e5f6", &json!({}))]);
    sandbox.write("ESTOP", "");
    sandbox
        .hermes()
        .env("__HERMES_NOW", NOW)
        .args(["cron", "tick"])
        .assert()
        .code(1)
        .stderr(predicates::str::contains("emergency stop"));
    assert_eq!(stored(&sandbox, 0)["last_run_at"], Value::Null);
}

/// Kills the dispatcher or the worker at one step of the handover, lets the next scheduler come, and
/// looks at what is left: no slot runs twice, none is lost without a record, nothing stays open.
fn killed_at(place: &str) -> (Sandbox, usize) {
    let sandbox = with_jobs(
        "#!/bin/sh\necho x >>\"$HERMES_HOME/count\"\n",
        &[job("a1b2c3d4e5f6", &json!({}))],
    );
    let tick_at = |now: &str, fault: Option<&str>| {
        let mut command = sandbox.hermes();
        command.env("__HERMES_NOW", now).args(["cron", "tick"]);
        if let Some(fault) = fault {
            command.env("__HERMES_FAULT", fault);
        }
        command.output().expect("it runs")
    };
    tick_at(NOW, Some(place));
    for later in ["2026-06-17T10:06:00Z", "2026-06-17T10:12:00Z"] {
        settled(&sandbox);
        tick_at(later, None);
    }
    settled(&sandbox);
    let open = rows(
        &sandbox,
        "SELECT status FROM executions WHERE status IN ('claimed','running')",
    );
    assert!(open.is_empty(), "{place}: a row stayed open");
    let slots = rows(
        &sandbox,
        "SELECT outcome FROM cron_slots WHERE scheduled_at = '2026-06-17T10:00:00+00:00'",
    );
    assert_eq!(slots.len(), 1, "{place}: the slot has no record");
    let count = fs::read_to_string(sandbox.home().join("count")).unwrap_or_default();
    (sandbox, count.lines().count())
}

#[test]
fn b79_killed_before_a_worker_has_the_row_the_slot_runs_once_after_all() {
    for place in ["dispatcher.claimed", "dispatcher.row", "dispatcher.offered"] {
        let (sandbox, count) = killed_at(place);
        assert_eq!(count, 1, "{place}");
        let status = rows(&sandbox, "SELECT status FROM executions");
        assert_eq!(status, [["completed"]], "{place}");
    }
}

#[test]
fn b95_killed_after_the_worker_was_started_the_slot_runs_once() {
    let (_, count) = killed_at("dispatcher.spawned");
    assert_eq!(count, 1);
}

#[test]
fn b26_a_worker_that_dies_before_it_adopts_is_a_failed_launch_with_its_words() {
    for place in ["worker.placed", "worker.payload"] {
        let (sandbox, count) = killed_at(place);
        assert_eq!(count, 0, "{place}");
        let row = &rows(&sandbox, "SELECT status, error FROM executions")[0];
        assert_eq!(row[0], "failed", "{place}");
        assert!(
            row[1].contains("did not adopt") && row[1].contains("signal 9"),
            "{row:?}"
        );
        assert_eq!(stored(&sandbox, 0)["last_status"], "error");
    }
}

#[test]
fn b82_a_worker_that_dies_after_it_adopted_is_never_run_again() {
    for place in [
        "worker.adopted",
        "worker.acknowledged",
        "worker.ran",
        "worker.delivered",
        "worker.marked",
    ] {
        let (sandbox, count) = killed_at(place);
        let begun = !matches!(place, "worker.adopted" | "worker.acknowledged");
        assert_eq!(count, usize::from(begun), "{place}");
        let row = &rows(&sandbox, "SELECT status, error FROM executions")[0];
        if matches!(place, "worker.delivered" | "worker.marked") {
            // Its document tells how it ended.
            assert_eq!(row[0], "completed", "{place}");
            assert!(row[1].contains("booked later"), "{row:?}");
            continue;
        }
        assert_eq!(row[0], "unknown", "{place}");
        let cause = &rows(&sandbox, "SELECT cause FROM execution_facts")[0][0];
        assert!(
            ["signal", "cannot_tell", "gateway_restart"].contains(&cause.as_str()),
            "{place}: {cause}"
        );
    }
}
