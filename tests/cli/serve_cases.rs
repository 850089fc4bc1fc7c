//! Field cases of passes and runs that break off, of slots that wait, and of restarts: what a serve does
//! about that which the doctor names.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::cron_cases::{BEFORE, SLOT, heard, held, ledger, let_go, rows};
use super::cron_workers::stands_still;
use crate::common::Sandbox;
use crate::common::jobs::{hermes, job, script, settled, store, stored, with, workers};
use crate::common::log::Log;
use crate::common::serving::{self, Serving, send};

/// Leaves a line for each run.
pub(super) const RAN: &str = "echo ran >>\"$HERMES_HOME/runs\"";

/// A home in which these jobs leave a line for each run.
pub(super) fn counted(jobs: &[Value]) -> Sandbox {
    let sandbox = with(jobs);
    serving::configure(&sandbox, "");
    script(&sandbox, "ok.sh", RAN);
    sandbox
}

/// How many those are.
pub(super) fn runs(sandbox: &Sandbox) -> usize {
    let text = std::fs::read_to_string(sandbox.home().join("runs"));
    text.unwrap_or_default().lines().count()
}

/// A row as it is read.
pub(super) fn row(id: &str, status: &str, slot: &str) -> (String, String, Option<String>) {
    (id.to_owned(), status.to_owned(), Some(slot.to_owned()))
}

/// A serve with a log, which comes to this place as somebody asked.
fn faulty(sandbox: &Sandbox, fault: &str, now: &str) -> (Serving, Log) {
    let mut command = serving::command(sandbox, now, &[]);
    command.env("__HERMES_FAULT", fault);
    let (child, log) = Log::of(command);
    (Serving::ready(sandbox, child), log)
}

/// Slots that did not run: job, and why.
fn left_out(sandbox: &Sandbox) -> Vec<(String, String)> {
    let ledger = ledger(&sandbox.home());
    let sql = "SELECT job_id, outcome || ': ' || coalesce(reason, '') FROM cron_slots
        WHERE outcome <> 'run' ORDER BY 1";
    let mut statement = ledger.prepare(sql).expect("a statement");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    let rows = rows.expect("rows");
    rows.collect::<rusqlite::Result<_>>().expect("rows")
}

#[test]
fn b37_b41_a_pass_that_breaks_off_is_told_holds_no_lock_and_the_next_one_runs() {
    let sandbox = counted(&[job("a", &json!({"next_run_at": SLOT}))]);
    let (mut serve, mut log) = faulty(&sandbox, "ticker.pass:2!", BEFORE);
    serve.clock("settle");
    serve.clock("advance 60");
    log.wait_for("internal error: a defect that was asked for");
    log.wait_for("A turn of the driver cron broke off");
    assert_eq!(runs(&sandbox), 0);
    assert_eq!(serve.page("/healthz").0, 200);
    serve.pass(60, 60);
    assert_eq!(rows(&sandbox), [row("a", "completed", SLOT)]);
    assert_eq!(serve.page("/readyz").0, 200, "it turns again");
    assert_eq!(serve.stop().code(), Some(0));
}

#[test]
fn b37_a_run_that_breaks_off_holds_its_job_no_longer() {
    let sandbox = counted(&[job("a", &json!({"next_run_at": SLOT}))]);
    let (mut serve, mut log) = faulty(&sandbox, "dispatcher.row!", BEFORE);
    serve.clock("settle");
    serve.pass(60, 60);
    assert_eq!(rows(&sandbox), [row("a", "claimed", SLOT)]);
    serve.pass(60, 60);
    log.wait_for("A run broke off");
    assert_eq!(rows(&sandbox), [row("a", "completed", SLOT)]);
    serve.pass(30 * 60, 60);
    let later = row("a", "completed", "2026-06-17T10:50:00+00:00");
    assert_eq!(rows(&sandbox).get(1), Some(&later));
    assert_eq!((rows(&sandbox).len(), runs(&sandbox)), (2, 2));
    assert_eq!(serve.stop().code(), Some(0));
}

#[test]
fn b70_a_schedule_in_utc_runs_every_slot_of_the_night_on_which_its_host_sets_the_clock_back() {
    let schedule = json!({"kind": "cron", "expr": "9,19,29,39,49,59 0-1 * * *", "display": ""});
    let first = "2026-10-25T00:09:00+00:00";
    let made = "2026-10-24T09:00:00+00:00";
    let more = json!({"schedule": schedule, "next_run_at": first, "created_at": made});
    let sandbox = counted(&[job("a", &more)]);
    let mut command = serving::command(&sandbox, "2026-10-25T00:08:10Z", &[]);
    command.env("TZ", "Europe/London");
    let mut serve = Serving::ready(&sandbox, command.spawn().expect("it starts"));
    serve.clock("settle");
    serve.pass(112 * 60, 60);
    assert_eq!(serve.stop().code(), Some(0));
    let ran: Vec<_> = rows(&sandbox).into_iter().filter_map(|row| row.2).collect();
    let wanted: Vec<_> = [0, 1]
        .iter()
        .flat_map(|hour| (0..6).map(move |ten| format!("2026-10-25T0{hour}:{ten}9:00+00:00")))
        .collect();
    assert_eq!(ran, wanted);
    assert_eq!(runs(&sandbox), 12);
}

#[test]
fn b62_what_is_paused_or_removed_while_it_waits_for_its_start_does_not_run() {
    let (sandbox, a) = held();
    sandbox.write(
        "config.yaml",
        "timezone: UTC\ncron:\n  max_parallel_jobs: 1\n",
    );
    script(&sandbox, "ok.sh", RAN);
    let soon = json!({"next_run_at": "2026-06-17T10:21:00+00:00"});
    store(&sandbox, &[a, job("bbb", &soon), job("ccc", &soon)]);
    let mut serve = Serving::at(&sandbox, BEFORE);
    serve.clock("settle");
    serve.clock("advance 60");
    heard(&sandbox, "begun");
    serve.clock("advance 60");
    while stored(&sandbox)[2]["pending_slot"].is_null() {}
    for words in [["pause", "bbb"].as_slice(), &["remove", "ccc", "--yes"]] {
        let mut command = hermes(&sandbox, &["cron"]);
        command
            .args(words)
            .env("__HERMES_NOW", "2026-06-17T10:21:20Z");
        command.assert().success();
    }
    let_go(&sandbox);
    serve.clock("settle");
    assert_eq!(runs(&sandbox), 0);
    assert_eq!(rows(&sandbox), [row("a", "completed", SLOT)]);
    let skipped = |id: &str, why: &str| {
        let told = format!("skipped: it was {why} before it could start");
        (id.to_owned(), told)
    };
    let told = [
        skipped("bbb", "paused, or ended,"),
        skipped("ccc", "removed"),
    ];
    assert_eq!(left_out(&sandbox), told);
    assert_eq!(serve.stop().code(), Some(0));
}

/// A worker of this serve that stands still, as soon as there is one besides this. It may not have opened
/// anything yet.
fn standing(serve: &Serving, but: u32) -> u32 {
    let of = serve.pid().to_string();
    let is_child = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        after_name.split_whitespace().nth(1) == Some(&of)
    };
    loop {
        let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
        let mut pids = entries.filter_map(|entry| entry.file_name().to_string_lossy().parse().ok());
        let found = pids.find(|pid| *pid != but && is_child(pid) && stands_still(*pid));
        if let Some(pid) = found {
            return pid;
        }
    }
}

#[test]
fn b89_a_slot_whose_worker_never_acknowledged_before_the_host_slept_runs_after_it_once() {
    let daily = json!({"kind": "interval", "minutes": 1440, "display": "every 1d"});
    let daily = json!({"schedule": daily, "next_run_at": SLOT});
    let sandbox = counted(&[job("a", &daily)]);
    let (mut serve, _log) = faulty(&sandbox, "worker.payload~", BEFORE);
    serve.clock("settle");
    serve.clock("advance 60");
    let first = standing(&serve, 0);
    serve.clock("suspend 28800");
    send(first, Signal::KILL);
    let second = standing(&serve, first);
    assert_eq!(runs(&sandbox), 0);
    send(second, Signal::CONT);
    serve.clock("settle");
    assert_eq!(rows(&sandbox), [row("a", "completed", SLOT)]);
    serve.pass(120, 60);
    assert_eq!(runs(&sandbox), 1, "once");
    assert_eq!(serve.stop().code(), Some(0));
}

#[test]
fn b60_a_job_without_a_next_run_gets_one_and_what_is_malformed_keeps_no_other_from_firing() {
    let bad = |id: &str, key: &str, value: Value| {
        let mut bad = job(id, &json!({"next_run_at": SLOT}));
        bad[key] = value;
        bad
    };
    let sandbox = counted(&[
        json!("no job at all"),
        bad("origin", "origin", json!(5)),
        bad("repeat", "repeat", json!("twice")),
        bad("schedule", "schedule", json!(7)),
        bad("script", "script", json!({})),
        bad("healed", "next_run_at", Value::Null),
        job("good", &json!({"next_run_at": SLOT})),
    ]);
    let mut serve = Serving::at(&sandbox, BEFORE);
    serve.clock("settle");
    let next = "2026-06-17T10:49:10+00:00";
    let healed = stored(&sandbox)
        .into_iter()
        .find(|job| job["id"] == "healed");
    assert_eq!(healed.expect("it is there")["next_run_at"], next);
    serve.pass(30 * 60, 60);
    for (id, slot) in [("good", SLOT), ("origin", SLOT), ("healed", next)] {
        let ran = row(id, "completed", slot);
        assert!(rows(&sandbox).contains(&ran), "{id}: {:?}", rows(&sandbox));
    }
    let told = left_out(&sandbox);
    let only = |told: &(String, String)| told.0 == "script" && told.1.starts_with("refused: ");
    assert!(!told.is_empty() && told.iter().all(only), "{told:?}");
    assert_eq!(serve.stop().code(), Some(0));
}

#[test]
fn b87_b108_a_run_that_dies_with_its_serve_is_interrupted_and_its_job_fires_again() {
    let (sandbox, a) = held();
    store(&sandbox, std::slice::from_ref(&a));
    let mut serve = Serving::at(&sandbox, BEFORE);
    serve.clock("settle");
    serve.clock("advance 60");
    heard(&sandbox, "begun");
    serve.clock("advance 35");
    assert_eq!(rows(&sandbox), [row("a", "running", SLOT)]);
    let left = workers(&sandbox);
    serve.kill();
    for (pid, _) in &left {
        send(*pid, Signal::KILL);
    }
    settled(&sandbox);
    let marker = stored(&sandbox)[0]["fire_claim"]["by"].clone();
    assert!(marker.is_string(), "{:?}", stored(&sandbox));
    script(&sandbox, "held.sh", RAN);
    let mut next = Serving::at(&sandbox, "2026-06-17T10:25:10Z");
    next.clock("settle");
    assert_eq!(rows(&sandbox), [row("a", "unknown", SLOT)]);
    let sql = "SELECT error FROM cron_incidents WHERE state = 'detected'";
    let told = ledger(&sandbox.home()).query_row(sql, [], |row| row.get::<_, String>(0));
    let told = told.expect("an incident");
    assert!(told.contains("interrupted"), "{told}");
    assert!(stored(&sandbox)[0]["fire_claim"].is_null());
    assert_eq!(runs(&sandbox), 0, "its slot is not run twice");
    next.pass(26 * 60, 60);
    let later = row("a", "completed", "2026-06-17T10:50:00+00:00");
    assert_eq!(rows(&sandbox), [row("a", "unknown", SLOT), later]);
    assert_eq!(next.stop().code(), Some(0));
}

#[test]
fn b101_work_that_is_done_is_no_failure_where_its_job_or_its_claim_is_gone() {
    let elsewhere =
        "sed -i 's/\"by\": *\"[^\"]*\"/\"by\":\"elsewhere:1:ff\"/' \"$HERMES_HOME/cron/jobs.json\"";
    for words in ["hermes cron remove a --yes", elsewhere] {
        let sandbox = counted(&[job("a", &json!({"next_run_at": SLOT}))]);
        script(&sandbox, "ok.sh", &format!("{words} && {RAN}"));
        let mut serve = Serving::at(&sandbox, BEFORE);
        serve.clock("settle");
        serve.pass(60, 60);
        assert_eq!(runs(&sandbox), 1, "{words}");
        assert_eq!(rows(&sandbox), [row("a", "completed", SLOT)], "{words}");
        let sql = "SELECT count(*) FROM executions WHERE error IS NOT NULL";
        let told = ledger(&sandbox.home()).query_row(sql, [], |row| row.get::<_, i64>(0));
        assert_eq!(told, Ok(0), "{words}");
        let kept = stored(&sandbox);
        let by = kept.first().map(|job| &job["fire_claim"]["by"]);
        let theirs = json!("elsewhere:1:ff");
        assert!(
            by.is_none_or(|by| *by == theirs),
            "it is left to whoever has it: {kept:?}"
        );
        assert_eq!(serve.stop().code(), Some(0));
    }
}

#[test]
fn b32_jobs_find_this_program_by_its_name_at_every_tick_and_by_hand() {
    let minutely = json!({
        "next_run_at": SLOT,
        "schedule": {"kind": "interval", "minutes": 1, "display": "every 1m"},
    });
    let sandbox = counted(&[job("a", &minutely)]);
    script(
        &sandbox,
        "ok.sh",
        &format!("command -v hermes >>\"$HERMES_HOME/found\" && hermes --version && {RAN}"),
    );
    // Another one of that name comes first on the service's own path.
    script(&sandbox, "hermes", "exit 127");
    let path = format!("{}:/usr/bin:/bin", sandbox.home().join("scripts").display());
    let mut command = serving::command(&sandbox, BEFORE, &[]);
    command.env("PATH", &path);
    let mut serve = Serving::ready(&sandbox, command.spawn().expect("it starts"));
    serve.clock("settle");
    serve.pass(3 * 60, 60);
    assert_eq!(serve.stop().code(), Some(0));
    let mut by_hand = hermes(&sandbox, &["cron", "run", "a"]);
    by_hand.env("PATH", &path).assert().success();
    let found = std::fs::read_to_string(sandbox.home().join("found")).expect("it ran");
    let own = env!("CARGO_BIN_EXE_hermes");
    assert_eq!(found.lines().collect::<Vec<_>>(), [own; 4]);
    assert_eq!(runs(&sandbox), 4);
}
