//! Field cases of the scheduler's behaviour, through a serve on a clock of the test's own.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests look at the ledger themselves"
)]

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::jobs::{job, script, store, stored, with};
use crate::common::serving::{self, Serving};

pub(super) const SLOT: &str = "2026-06-17T10:20:00+00:00";
pub(super) const BEFORE: &str = "2026-06-17T10:19:10Z";
/// Far longer than any of these takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A job whose run says so in a FIFO of its own.
pub(super) fn telling(sandbox: &Sandbox, id: &str) -> Value {
    sandbox.fifo(id);
    let name = format!("{id}.sh");
    script(sandbox, &name, &format!("echo ran >\"$HERMES_HOME/{id}\""));
    job(id, &json!({"script": name}))
}

/// Waits until such a job has run.
pub(super) fn heard(sandbox: &Sandbox, id: &str) {
    let path = sandbox.home().join(id);
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(std::fs::read_to_string(path)));
    let text = receiver.recv_timeout(PATIENCE).expect("it has not run");
    assert_eq!(text.expect("text"), "ran\n", "{id}");
}

/// Job `a` runs until the test writes to `go`, and says when it has begun.
pub(super) fn held() -> (Sandbox, Value) {
    let sandbox = with(&[]);
    serving::configure(&sandbox, "");
    sandbox.fifo("go");
    sandbox.fifo("begun");
    let held = "echo ran >\"$HERMES_HOME/begun\"; read -r _ <\"$HERMES_HOME/go\"";
    script(&sandbox, "held.sh", held);
    let job = job("a", &json!({"script": "held.sh"}));
    (sandbox, job)
}

pub(super) fn let_go(sandbox: &Sandbox) {
    std::fs::write(sandbox.home().join("go"), "\n").expect("it reads");
}

pub(super) fn ledger(home: &Path) -> Connection {
    Connection::open(home.join("cron/executions.db")).expect("the ledger")
}

/// Job and status of every row, and its slot.
pub(super) fn rows(sandbox: &Sandbox) -> Vec<(String, String, Option<String>)> {
    let ledger = ledger(&sandbox.home());
    let sql =
        "SELECT job_id, status, scheduled_instant FROM executions ORDER BY job_id, claimed_at";
    let mut statement = ledger.prepare(sql).expect("a statement");
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let rows = statement.query_map([], row).expect("rows");
    rows.collect::<rusqlite::Result<_>>().expect("rows")
}

#[test]
fn b49_a_long_job_holds_up_no_other() {
    let (sandbox, a) = held();
    let b = telling(&sandbox, "b");
    store(&sandbox, &[a, b]);
    let mut serve = Serving::at(&sandbox, BEFORE);
    serve.clock("settle");
    serve.clock("advance 60");
    heard(&sandbox, "begun");
    heard(&sandbox, "b");
    let_go(&sandbox);
    assert_eq!(serve.stop().code(), Some(0));
}

#[test]
fn b91_a_store_that_changes_under_a_long_job_is_read_at_the_next_tick() {
    let (sandbox, a) = held();
    let (b, late) = (telling(&sandbox, "b"), telling(&sandbox, "late"));
    store(&sandbox, std::slice::from_ref(&a));
    let mut serve = Serving::at(&sandbox, BEFORE);
    serve.clock("settle");
    serve.clock("advance 60");
    heard(&sandbox, "begun");
    let mut held = a;
    held["next_run_at"] = "2026-06-17T10:50:00+00:00".into();
    let mut b = b;
    b["next_run_at"] = "2026-06-17T10:21:00+00:00".into();
    let mut late = late;
    late["next_run_at"] = "2026-06-17T10:22:00+00:00".into();
    store(&sandbox, &[held, b, late]);
    for id in ["b", "late"] {
        serve.clock("advance 60");
        heard(&sandbox, id);
    }
    let_go(&sandbox);
    assert_eq!(serve.stop().code(), Some(0));
}

#[test]
fn b69_a_restart_before_the_slot_runs_nothing_and_the_slot_runs_once() {
    let daily = json!({"kind": "cron", "expr": "0 9 * * *", "display": "0 9 * * *"});
    let nine = "2026-06-17T09:00:00+00:00";
    let sandbox = with(&[job("a", &json!({"schedule": daily, "next_run_at": nine}))]);
    serving::configure(&sandbox, "");
    for (now, minutes) in [("2026-06-17T06:10:10Z", 5), ("2026-06-17T06:16:00Z", 10)] {
        let mut serve = Serving::at(&sandbox, now);
        serve.pass(minutes * 60, 60);
        assert_eq!(serve.stop().code(), Some(0));
        assert_eq!(rows(&sandbox), []);
    }
    for now in ["2026-06-17T08:58:10Z", "2026-06-17T09:20:00Z"] {
        let mut serve = Serving::at(&sandbox, now);
        serve.pass(5 * 60, 60);
        assert_eq!(serve.stop().code(), Some(0));
        let ran = (
            "a".to_owned(),
            "completed".to_owned(),
            Some(nine.to_owned()),
        );
        assert_eq!(rows(&sandbox), [ran]);
    }
}

#[test]
fn b90_a_missed_slot_pauses_nothing() {
    for catch_up in ["true", "false"] {
        let sandbox = with(&[job("a", &json!({}))]);
        let config = format!("timezone: UTC\ncron:\n  catch_up_missed: {catch_up}\n");
        sandbox.write("config.yaml", config);
        serving::configure(&sandbox, "");
        let mut serve = Serving::at(&sandbox, "2026-06-17T18:00:10Z");
        serve.pass(2 * 60, 60);
        let kept = &stored(&sandbox)[0];
        assert_eq!(
            (&kept["enabled"], &kept["state"], &kept["paused_at"]),
            (&json!(true), &json!("scheduled"), &json!(null))
        );
        let next: Timestamp = kept["next_run_at"]
            .as_str()
            .and_then(|at| at.parse().ok())
            .expect("a next run");
        assert!(
            next > "2026-06-17T18:00:00Z".parse().expect("an instant"),
            "{next}"
        );
        assert_eq!(serve.stop().code(), Some(0));
    }
}

#[test]
fn b92_a_serve_without_jobs_ticks_and_takes_up_a_first_one() {
    let sandbox = with(&[]);
    serving::configure(&sandbox, "");
    std::fs::remove_file(sandbox.home().join("cron/jobs.json")).expect("the store");
    let mut serve = Serving::at(&sandbox, BEFORE);
    serve.pass(60, 60);
    let beat = sandbox.home().join("cron/ticker_heartbeat");
    assert!(
        std::fs::read_to_string(beat)
            .expect("a heartbeat")
            .contains(&serve.pid().to_string())
    );
    let first = json!({"next_run_at": "2026-06-17T10:21:00+00:00"});
    store(&sandbox, &[job("a", &first)]);
    serve.pass(60, 60);
    let row = &rows(&sandbox)[0];
    assert_eq!((row.0.as_str(), row.1.as_str()), ("a", "completed"));
    assert_eq!(serve.stop().code(), Some(0));
}

#[test]
fn b103_a_row_that_cannot_be_written_fails_its_own_job_alone_and_is_tried_again() {
    let sandbox = with(&[
        job("a", &json!({})),
        job("b", &json!({})),
        job("c", &json!({})),
    ]);
    serving::configure(&sandbox, "");
    let mut serve = Serving::at(&sandbox, BEFORE);
    serve.clock("settle");
    ledger(&sandbox.home())
        .execute_batch(
            "CREATE TRIGGER full BEFORE INSERT ON executions WHEN NEW.job_id = 'a'
             BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END",
        )
        .expect("a trigger");
    serve.pass(60, 60);
    let ran: Vec<_> = rows(&sandbox)
        .into_iter()
        .map(|row| (row.0, row.1))
        .collect();
    let completed = |id: &str| (id.to_owned(), "completed".to_owned());
    assert_eq!(ran, [completed("b"), completed("c")]);
    ledger(&sandbox.home())
        .execute_batch("DROP TRIGGER full")
        .expect("no trigger");
    serve.pass(120, 60);
    let ran: Vec<_> = rows(&sandbox)
        .into_iter()
        .map(|row| (row.0, row.1, row.2))
        .collect();
    let a = (
        "a".to_owned(),
        "completed".to_owned(),
        Some(SLOT.to_owned()),
    );
    assert_eq!(ran.first(), Some(&a), "{ran:?}");
    assert_eq!(ran.len(), 3, "{ran:?}");
    assert_eq!(serve.stop().code(), Some(0));
}

#[test]
fn b113_a_stop_waits_for_a_job() {
    let (sandbox, a) = held();
    store(&sandbox, &[a]);
    let mut serve = Serving::at(&sandbox, BEFORE);
    serve.clock("settle");
    serve.clock("advance 60");
    heard(&sandbox, "begun");
    serve.signal(rustix::process::Signal::TERM);
    let_go(&sandbox);
    assert_eq!(serve.wait().code(), Some(0));
    let ran = (
        "a".to_owned(),
        "completed".to_owned(),
        Some(SLOT.to_owned()),
    );
    assert_eq!(rows(&sandbox), [ran]);
}

#[test]
fn b113_a_job_that_does_not_listen_ends_with_the_drain_and_all_that_it_started() {
    let sandbox = with(&[job("a", &json!({}))]);
    serving::configure(&sandbox, "");
    let drain = "agent:\n  cron_drain_timeout: 1\ntimezone: UTC\n";
    sandbox.write("config.yaml", drain);
    for name in ["own", "left"] {
        sandbox.fifo(name);
    }
    let deaf = "trap '' TERM INT HUP
setsid sh -c 'echo $$ >\"$HERMES_HOME/left\"; exec sleep 1000' </dev/null >/dev/null 2>&1 &
echo $$ >\"$HERMES_HOME/own\"
while :; do sleep 1000; done";
    script(&sandbox, "ok.sh", deaf);
    let mut serve = Serving::at(&sandbox, BEFORE);
    serve.clock("settle");
    serve.clock("advance 60");
    let held = ["own", "left"].map(|name| {
        let told = std::fs::read_to_string(sandbox.home().join(name)).expect("a pid");
        let pid = told
            .trim()
            .parse()
            .ok()
            .and_then(rustix::process::Pid::from_raw);
        let flags = rustix::process::PidfdFlags::empty();
        rustix::process::pidfd_open(pid.expect("a pid"), flags).expect("it runs")
    });
    serve.signal(rustix::process::Signal::TERM);
    assert_eq!(serve.wait().code(), Some(0));
    for held in held {
        let mut fds = [rustix::event::PollFd::new(
            &held,
            rustix::event::PollFlags::IN,
        )];
        let ended = rustix::event::poll(&mut fds, Some(&rustix::event::Timespec::default()));
        let _ended = rustix::process::pidfd_send_signal(&held, rustix::process::Signal::KILL);
        assert_eq!(ended, Ok(1), "it outlived serve");
    }
    let ended = ("a".to_owned(), "unknown".to_owned(), Some(SLOT.to_owned()));
    assert_eq!(rows(&sandbox), [ended]);
    let sql = "SELECT cause FROM execution_facts";
    let cause = ledger(&sandbox.home()).query_row(sql, [], |row| row.get::<_, String>(0));
    assert_eq!(cause.as_deref(), Ok("gateway_restart"));
    let kept = &stored(&sandbox)[0];
    assert_eq!(kept["last_status"], "error");
    let error = kept["last_error"].as_str().expect("an error");
    assert!(error.contains("its dispatcher was stopped"), "{error}");
}
