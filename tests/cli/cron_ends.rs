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
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, getrlimit, kill_process, pidfd_open, prlimit,
};
use serde_json::json;

use super::cron_workers::{row, still};
use crate::common::jobs::{NOW, end_of, job, said, script, settled, store, stored, with};
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
    assert!(end_of(&mut pass).success());
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
    assert!(end_of(&mut pass).success());
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
    assert!(end_of(&mut pass(&sandbox, "1", None)).success());
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
    assert!(end_of(&mut pass).success());
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
        end_of(&mut first);
        let [ended, error, _] = executions(&sandbox);
        assert!(
            ended == "completed" || ended == "failed",
            "{ended}: {error}"
        );
        sandbox.write("cron/jobs.json", kept);
        assert_eq!(told(&sandbox), (json!(null), true, json!(0)), "{status}");
        assert!(end_of(&mut pass(&sandbox, "1", None)).success());
        assert_eq!(told(&sandbox), (json!(status), false, json!(1)));
        // And once only.
        assert!(end_of(&mut pass(&sandbox, "1", None)).success());
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
        // Neither sees the end of the other: a worker that stands still goes on where its parent has died.
        let dispatcher = i32::try_from(first.id()).ok().and_then(Pid::from_raw);
        kill_process(dispatcher.expect("a pid"), Signal::STOP).expect("it lives");
        kill_process(worker, Signal::KILL).expect("it lives");
        first.kill().expect("it lives");
        end_of(&mut first);
        settled(&sandbox);
        let killed = pass(&sandbox, "1", Some("dispatcher.closed"));
        assert!(
            !{ killed }.wait().expect("its end").success(),
            "it is killed"
        );
        assert_eq!(told(&sandbox), (json!(null), true, json!(0)), "{place}");
        assert!(end_of(&mut pass(&sandbox, "1", None)).success());
        assert_eq!(told(&sandbox), (json!(status), false, json!(1)), "{place}");
    }
}

/// A delivery that says that it began, and then takes as long as one may.
const DELIVERS: &str = "sleep 1000 & echo $! >\"$HERMES_HOME/begun\"; wait";

#[test]
fn a_delivery_is_cancelled_at_once_and_the_run_keeps_its_own_end() {
    for (does, status) in [("echo fine", "completed"), ("exit 3", "failed")] {
        let sandbox = home(does);
        let own = json!({"deliver_command": ["/bin/sh", "-c", DELIVERS]});
        let due = json!({"next_run_at": "2026-06-17T09:59:50+00:00", "x_hermes": own});
        store(&sandbox, &[job(ID, &due)]);
        let begun = sandbox.fifo("begun");
        let mut pass = Command::new(env!("CARGO_BIN_EXE_hermes"));
        let mut pass = pass
            .args(["cron", "tick"])
            .env_clear()
            .env("HOME", sandbox.user_home())
            .env("HERMES_HOME", sandbox.home())
            .env("PATH", "/usr/bin:/bin")
            .env("__HERMES_NOW", NOW)
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts");
        let child = std::fs::read_to_string(begun).expect("it began");
        let child = child.trim().parse().ok().and_then(Pid::from_raw);
        let child = pidfd_open(child.expect("a pid"), PidfdFlags::empty()).expect("it lives");
        let (code, out, err) = said(&sandbox, &["cron", "cancel", ID]);
        assert_eq!(code, 0, "{out}{err}");
        let told = format!("had ended by itself: {status}. Its delivery is cancelled");
        assert!(out.contains(&told), "{out}{err}");
        let mut fds = [PollFd::new(&child, PollFlags::IN)];
        assert_eq!(
            poll(&mut fds, Some(&Timespec::default())),
            Ok(1),
            "its child"
        );
        end_of(&mut pass);
        let kept = row(
            &sandbox,
            "SELECT status, delivery_outcome, coalesce(cause, 'none'), detail
             FROM executions JOIN execution_facts ON id = execution_id",
        );
        let why = "a person cancelled its delivery";
        assert_eq!(kept, [status, "cancelled", "none", why]);
        assert_eq!(stored(&sandbox)[0]["last_delivery_error"], why);
        let (_, out, _) = said(&sandbox, &["cron", "runs"]);
        assert!(out.contains("delivery cancelled"), "{out}");
        let (_, incidents, _) = said(&sandbox, &["cron", "incidents"]);
        assert!(!incidents.contains("not delivered"), "{incidents}");
    }
}
