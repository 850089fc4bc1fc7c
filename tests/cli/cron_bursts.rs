//! Overdue jobs after an outage, through the binary: so many in each pass, and nobody else waits for them.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests look at the ledger themselves"
)]

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::jobs::{document, job, said, store, stored, with};
use crate::common::serving::{self, Serving};

const MISSED: &str = "2026-06-16T21:17:00+00:00";

/// Daily jobs that were due last night.
fn overdue(count: usize) -> Vec<Value> {
    let daily = json!({"kind": "cron", "expr": "17 21 * * *", "display": "17 21 * * *"});
    let more = json!({"schedule": daily, "next_run_at": MISSED});
    (0..count)
        .map(|number| job(&format!("{number:012x}"), &more))
        .collect()
}

fn count(sandbox: &Sandbox, what: &str) -> i64 {
    let ledger = Connection::open(sandbox.home().join("cron/executions.db")).expect("the ledger");
    let sql = format!("SELECT count(*) FROM executions WHERE {what}");
    ledger.query_row(&sql, [], |row| row.get(0)).expect("a row")
}

#[test]
fn b78_after_an_outage_so_many_overdue_jobs_start_in_each_pass_and_none_is_lost() {
    let mut jobs = overdue(10);
    let on_time = json!({"next_run_at": "2026-06-17T10:00:00+00:00"});
    jobs.push(job("ffffffffffff", &on_time));
    let sandbox = with(&jobs);
    serving::configure(&sandbox, "");
    let mut serve = Serving::at(&sandbox, "2026-06-17T10:00:10Z");
    serve.clock("settle");
    assert_eq!(count(&sandbox, "job_id = 'ffffffffffff'"), 1, "on time");
    for started in [4, 8, 10, 10] {
        let missed = format!("scheduled_instant = '{MISSED}' AND status = 'completed'");
        assert_eq!(count(&sandbox, &missed), started);
        let waits = stored(&sandbox)
            .iter()
            .filter(|job| job["next_run_at"] == MISSED && job["last_dispatch"].is_null())
            .count();
        assert_eq!(i64::try_from(waits), Ok(10 - started), "as they were");
        serve.pass(60, 60);
    }
    assert_eq!(serve.stop().code(), Some(0));
    let counter = std::fs::read_to_string(sandbox.home().join("cron/catch_up_occurrences"));
    assert_eq!(counter.expect("a counter").trim(), "10");
}

#[test]
fn b78_a_dry_run_says_which_overdue_jobs_wait_and_a_pass_by_hand_leaves_them() {
    let sandbox = with(&overdue(5));
    sandbox.write("config.toml", "[cron]\nmax_catch_ups_per_tick = 2\n");
    let (_, told, _) = document(&sandbox, &["cron", "tick", "--dry-run"]);
    let sizes = ["orders", "held"].map(|key| told[key].as_array().map(Vec::len));
    assert_eq!(sizes, [Some(2), Some(3)], "{told}");
    let (_, page, _) = said(&sandbox, &["cron", "tick", "--dry-run"]);
    assert!(page.contains("5 jobs are due."), "{page}");
    assert_eq!(
        page.matches("left to a later pass (cron.max_catch_ups_per_tick)")
            .count(),
        3
    );
    let (_, told, err) = document(&sandbox, &["cron", "tick"]);
    assert_eq!(told["runs"].as_array().map(Vec::len), Some(2), "{told}");
    assert!(
        err.contains("3 overdue jobs wait for later passes"),
        "{err}"
    );
    sandbox.write("config.toml", "[cron]\nmax_catch_ups_per_tick = 0\n");
    let (_, told, _) = document(&sandbox, &["cron", "tick"]);
    assert_eq!(told["runs"].as_array().map(Vec::len), Some(3), "{told}");
}

#[test]
fn b77_a_dry_run_shows_what_a_jobs_own_policy_skips() {
    let skips =
        json!({"next_run_at": "2026-06-17T06:00:00+00:00", "x_hermes": {"catch_up": "skip"}});
    let sandbox = with(&[]);
    store(&sandbox, &[job("aaaaaaaaaaaa", &skips)]);
    let (_, told, _) = document(&sandbox, &["cron", "tick", "--dry-run"]);
    assert_eq!(told["orders"], json!([]), "{told}");
    let reason = "missed, skipped: 4h late, and the job catches nothing up";
    assert_eq!(told["skipped"][0]["reason"], reason, "{told}");
    let (_, told, _) = document(&sandbox, &["cron", "tick"]);
    assert_eq!(told["runs"], json!([]), "{told}");
    let (_, runs, _) = document(&sandbox, &["cron", "runs"]);
    let slots = &runs["homes"][0]["slots_not_run"];
    let of = |at: &str| {
        let slots = slots.as_array().expect("slots");
        slots
            .iter()
            .find(|slot| slot["scheduled_at"] == at)
            .cloned()
    };
    let six = of("2026-06-17T06:00:00+00:00").unwrap_or_else(|| panic!("no record: {runs}"));
    assert_eq!(
        (&six["outcome"], &six["reason"]),
        (&json!("skipped"), &json!(reason))
    );
    assert!(of("2026-06-17T09:30:00+00:00").is_some(), "{slots}");
    assert!(
        stored(&sandbox)[0]["last_dispatch"].is_null(),
        "nothing was dispatched"
    );
}
