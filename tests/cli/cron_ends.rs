//! Ends of runs that cannot be written at that moment: the worker tries again, and whoever finds it gone
//! books the run by what it has saved.

#![expect(
    clippy::disallowed_methods,
    reason = "a pass is looked at while its worker stands still; the ledger is read as it is"
)]

use std::process::{Child, Command, Stdio};

use hermes::ledger::Ledger;
use jiff::tz::TimeZone;
use rusqlite::Connection;
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, prlimit};
use serde_json::json;

use super::cron_workers::{row, still};
use crate::common::jobs::{NOW, job, script, settled, stored, with};
use crate::common::{Sandbox, serving};

const ID: &str = "aaaaaaaaaaaa";

/// Refuses the end that a worker writes, and none that somebody else books.
const STUBBORN: &str = "CREATE TRIGGER stubborn BEFORE UPDATE OF status ON executions \
                        WHEN NEW.status = 'completed' AND NEW.error IS NULL \
                        BEGIN SELECT RAISE(ABORT, 'not yet'); END";

/// A home with a ledger and a job that is due.
fn home(does: &str) -> Sandbox {
    let sandbox = with(&[job(
        ID,
        &json!({"next_run_at": "2026-06-17T09:59:50+00:00"}),
    )]);
    script(&sandbox, "ok.sh", does);
    let path = sandbox.home().join("cron/executions.db");
    drop(Ledger::open(&path, TimeZone::UTC).expect("a ledger"));
    sandbox
}

/// A pass whose worker pauses so many milliseconds before it tries again.
fn pass(sandbox: &Sandbox, pause: &str, fault: Option<&str>) -> Child {
    let mut tick = Command::new(env!("CARGO_BIN_EXE_hermes"));
    tick.args(["cron", "tick"])
        .env("HOME", sandbox.user_home())
        .env("PATH", "/usr/bin:/bin")
        .env("TZ", "UTC")
        .env("__HERMES_NOW", NOW)
        .env("__HERMES_PACE", pause)
        .envs(fault.map(|fault| ("__HERMES_FAULT", fault)));
    let mut shell = serving::patient(sandbox, &tick, "");
    shell.stdout(Stdio::null()).stderr(Stdio::null());
    shell.spawn().expect("it starts")
}

fn ledger(sandbox: &Sandbox) -> Connection {
    Connection::open(sandbox.home().join("cron/executions.db")).expect("the ledger")
}

fn go_on(worker: Pid) {
    kill_process(worker, Signal::CONT).expect("it lives");
}

/// Status, error, and number of executions.
fn executions(sandbox: &Sandbox) -> [String; 3] {
    row(
        sandbox,
        "SELECT status, error, count(*) || '' FROM executions",
    )
}

#[test]
fn an_end_for_which_there_is_no_room_is_written_when_there_is_some() {
    let sandbox = home("prlimit --pid \"$PPID\" --fsize=0: || exit 9\necho fine");
    let mut pass = pass(&sandbox, "1", Some("worker.insists~"));
    let worker = still(&sandbox, &mut pass);
    let maximum = getrlimit(Resource::Fsize).maximum;
    let room = Rlimit {
        current: maximum,
        maximum,
    };
    prlimit(Some(worker), Resource::Fsize, room).expect("room");
    go_on(worker);
    assert!(pass.wait().expect("its end").success());
    assert_eq!(executions(&sandbox), ["completed", "", "1"]);
    let kept = &stored(&sandbox)[0];
    assert_eq!(kept["last_status"], "ok", "{kept}");
    assert!(kept["fire_claim"].is_null(), "{kept}");
    let documents = std::fs::read_dir(sandbox.home().join("cron/output").join(ID));
    assert_eq!(documents.expect("its output").count(), 1);
}

#[test]
fn an_end_that_the_ledger_does_not_take_at_once_is_its_workers_all_the_same() {
    let sandbox = home("echo fine");
    ledger(&sandbox).execute_batch(STUBBORN).expect("a trigger");
    let mut pass = pass(&sandbox, "1", Some("worker.insists~"));
    let worker = still(&sandbox, &mut pass);
    let gone = ledger(&sandbox).execute_batch("DROP TRIGGER stubborn");
    gone.expect("no trigger");
    go_on(worker);
    assert!(pass.wait().expect("its end").success());
    assert_eq!(executions(&sandbox), ["completed", "", "1"]);
}

/// What was booked by somebody else: it counts once, and says so.
fn is_booked_later(sandbox: &Sandbox) {
    let [status, error, count] = executions(sandbox);
    assert_eq!((status.as_str(), count.as_str()), ("completed", "1"));
    assert!(error.contains("was booked later"), "{error}");
    let kept = &stored(sandbox)[0];
    assert_eq!(
        (&kept["last_status"], &kept["repeat"]["completed"]),
        (&json!("ok"), &json!(1)),
        "{kept}"
    );
}

#[test]
fn a_worker_that_tries_in_vain_leaves_its_run_to_whoever_waits_for_it() {
    let sandbox = home("echo fine");
    ledger(&sandbox).execute_batch(STUBBORN).expect("a trigger");
    assert!(pass(&sandbox, "1", None).wait().expect("its end").success());
    is_booked_later(&sandbox);
}

#[test]
fn a_worker_that_is_told_to_stop_does_not_go_on_trying() {
    let sandbox = home("echo fine");
    ledger(&sandbox).execute_batch(STUBBORN).expect("a trigger");
    let hour = "3600000";
    let mut pass = pass(&sandbox, hour, Some("worker.insists~"));
    let worker = still(&sandbox, &mut pass);
    kill_process(worker, Signal::TERM).expect("it lives");
    go_on(worker);
    assert!(pass.wait().expect("its end").success());
    is_booked_later(&sandbox);
}

/// The store as it is, and one that cannot be read in its place.
fn breaks(sandbox: &Sandbox) -> Vec<u8> {
    let store = sandbox.home().join("cron/jobs.json");
    let kept = std::fs::read(&store).expect("the store");
    std::fs::write(&store, "{\"jobs\": [").expect("a store");
    kept
}

/// What the job says of its last run, whether somebody still has it, and how many runs it counts.
fn told(sandbox: &Sandbox) -> (serde_json::Value, bool, serde_json::Value) {
    let kept = &stored(sandbox)[0];
    let is_held = !kept["fire_claim"].is_null();
    let count = kept["repeat"]["completed"].clone();
    (kept["last_status"].clone(), is_held, count)
}

#[test]
fn a_job_that_could_not_be_told_of_an_end_is_told_by_the_next_pass() {
    for (does, status) in [("echo fine", "ok"), ("exit 3", "error")] {
        let sandbox = home(does);
        let mut first = pass(&sandbox, "1", Some("worker.saved~"));
        let worker = still(&sandbox, &mut first);
        let kept = breaks(&sandbox);
        go_on(worker);
        first.wait().expect("its end");
        let [ended, error, _] = executions(&sandbox);
        assert!(
            ended == "completed" || ended == "failed",
            "{ended}: {error}"
        );
        sandbox.write("cron/jobs.json", kept);
        assert_eq!(told(&sandbox), (json!(null), true, json!(0)), "{status}");
        assert!(pass(&sandbox, "1", None).wait().expect("its end").success());
        assert_eq!(told(&sandbox), (json!(status), false, json!(1)));
        // And once only.
        assert!(pass(&sandbox, "1", None).wait().expect("its end").success());
        assert_eq!(told(&sandbox), (json!(status), false, json!(1)));
        assert_eq!(executions(&sandbox), [ended, error, "1".to_owned()]);
    }
}

#[test]
fn a_job_is_told_of_an_end_whose_dispatcher_was_killed_before_it_could() {
    for (place, status) in [("worker.ran", "error"), ("worker.saved", "ok")] {
        let sandbox = home("echo fine");
        let mut first = pass(&sandbox, "1", Some(&format!("{place}~")));
        let worker = still(&sandbox, &mut first);
        first.kill().expect("it lives");
        first.wait().expect("its end");
        kill_process(worker, Signal::KILL).expect("it lives");
        settled(&sandbox);
        let killed = pass(&sandbox, "1", Some("dispatcher.closed"));
        assert!(
            !{ killed }.wait().expect("its end").success(),
            "it is killed"
        );
        assert_eq!(told(&sandbox), (json!(null), true, json!(0)), "{place}");
        assert!(pass(&sandbox, "1", None).wait().expect("its end").success());
        assert_eq!(told(&sandbox), (json!(status), false, json!(1)), "{place}");
    }
}
