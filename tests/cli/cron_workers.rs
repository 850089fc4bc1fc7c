//! What a worker owes to those who watch it: progress, an acknowledgement in time, and last words without
//! secrets.

#![expect(
    clippy::disallowed_methods,
    reason = "a pass is looked at while its worker stands still; the ledger is read as it is"
)]

use std::process::{Child, Command, Stdio};

use rusqlite::Connection;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::agent::STALLS;
use crate::common::jobs::{NOW, agent, hermes, job, said, script, stored, with, workers};

const ID: &str = "aaaaaaaaaaaa";

/// A job that is due.
fn due(more: &Value) -> Value {
    let mut job = job(ID, &json!({"next_run_at": "2026-06-17T09:59:50+00:00"}));
    let object = job.as_object_mut().expect("an object");
    object.extend(more.as_object().expect("an object").clone());
    job
}

/// Texts of the first row.
pub(super) fn row<const N: usize>(sandbox: &Sandbox, sql: &str) -> [String; N] {
    let ledger = Connection::open(sandbox.home().join("cron/executions.db")).expect("the ledger");
    let text = |row: &rusqlite::Row<'_>| {
        let texts: Vec<Option<String>> = (0..N).map(|at| row.get(at)).collect::<Result<_, _>>()?;
        Ok(std::array::from_fn(|at| {
            texts[at].clone().unwrap_or_default()
        }))
    };
    ledger.query_row(sql, [], text).expect("a row")
}

/// Looks at the record of its own run until that says something new of its progress, and that the claim
/// was renewed with it.
const WATCHES: &str = r#"
seen() {
    hermes cron runs --json | grep -o '"progress_at": *"[^"]*"' | head -n 1
    tr -d ' \n' <"$HERMES_HOME/cron/jobs.json" | grep -o '"fire_claim":{"at":"[^"]*"'
}
first=$(seen)
until now=$(seen); [ "${now%%"fire"*}" != "${first%%"fire"*}" ] && [ "${now#*fire}" != "${first#*fire}" ]; do :; done
echo moved"#;

#[test]
fn progress_of_a_run_moves_whatever_kind_of_run_it_is() {
    let asks = json!({"no_agent": false, "script": null, "prompt": "Well?"});
    for (what, more, words) in [
        ("a script", json!({}), ["cron", "tick"].as_slice()),
        ("an agent", asks, &["cron", "tick"]),
        ("a run by hand", json!({}), &["cron", "run", ID]),
    ] {
        let mut more = more;
        more["x_hermes"] = json!({"timeout_seconds": 60});
        let sandbox = with(&[due(&more)]);
        script(&sandbox, "ok.sh", WATCHES);
        let program = sandbox.home().join("scripts/ok.sh");
        let program = json!([program]).to_string();
        sandbox.write(
            "config.toml",
            format!("[agent]\ncommand = {program}\nenv = [\"HERMES_HOME\"]\n"),
        );
        let output = sandbox
            .hermes()
            .env("__HERMES_PACE", "20")
            .args(words)
            .output()
            .expect("it runs");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{what}: {told}");
        let [began, moved] = row(&sandbox, "SELECT started_at, progress_at FROM executions");
        assert!(moved > began, "{what}: {began}, {moved}");
        assert_eq!(stored(&sandbox)[0]["last_status"], "ok", "{what}");
    }
}

/// Waits for the end of a process; whether it came within so many seconds.
fn ends_within(pid: u32, seconds: i64) -> bool {
    let pid = Pid::from_raw(i32::try_from(pid).expect("a pid")).expect("a pid");
    let fd = pidfd_open(pid, PidfdFlags::empty()).expect("it is not reaped");
    let patience = Timespec {
        tv_sec: seconds,
        tv_nsec: 0,
    };
    let mut fds = [PollFd::new(&fd, PollFlags::IN)];
    poll(&mut fds, Some(&patience)).expect("poll") > 0
}

/// Whether a process was stopped.
pub(super) fn stands_still(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .is_some_and(|rest| rest.starts_with(" T"))
}

/// Leaves a line for each run.
const RAN: &str = "echo ran >>\"$HERMES_HOME/ran\"";

/// A pass over one job that is due, whose worker stands still at this place; and the worker.
fn held(sandbox: &Sandbox, place: &str, does: &str) -> (Child, Pid) {
    script(sandbox, "ok.sh", does);
    let mut pass = Command::new(env!("CARGO_BIN_EXE_hermes"))
        .env_clear()
        .env("HOME", sandbox.user_home())
        .env("PATH", "/usr/bin:/bin")
        .env("__HERMES_NOW", NOW)
        .env("__HERMES_FAULT", format!("{place}~"))
        .args(["cron", "tick"])
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    let worker = still(sandbox, &mut pass);
    (pass, worker)
}

/// The worker that stands still, as soon as one does.
pub(super) fn still(sandbox: &Sandbox, pass: &mut Child) -> Pid {
    loop {
        let mut workers = workers(sandbox).into_iter().map(|(pid, _)| pid);
        if let Some(pid) = workers.find(|pid| stands_still(*pid)) {
            let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
            return pid.expect("a pid");
        }
        assert_eq!(pass.try_wait().expect("it can be asked"), None, "it waits");
    }
}

/// A worker that adopts its row, and says so only after that many seconds.
fn acknowledges_after(seconds: i64) {
    let sandbox = with(&[due(&json!({}))]);
    let (mut pass, worker) = held(&sandbox, "worker.adopted", RAN);
    assert!(!ends_within(pass.id(), seconds), "it is waited for");
    kill_process(worker, Signal::CONT).expect("it lives");
    assert!(pass.wait().expect("its end").success());
    let ran = std::fs::read_to_string(sandbox.home().join("ran")).expect("it ran");
    assert_eq!(ran, "ran\n", "once");
    let sql = "SELECT status, count(*) || '' FROM executions";
    assert_eq!(row(&sandbox, sql), ["completed", "1"]);
}

#[test]
fn an_offer_that_comes_to_nothing_is_made_once_more_and_the_second_worker_runs_the_job_once() {
    let sandbox = with(&[due(&json!({}))]);
    script(&sandbox, "ok.sh", RAN);
    let faults = sandbox.home().join("faults");
    std::fs::create_dir(&faults).expect("a directory");
    sandbox.write("faults/worker.payload", "");
    let output = hermes(&sandbox, &["cron", "tick"])
        .env("__HERMES_FAULT", format!("@{}", faults.display()))
        .output()
        .expect("it runs");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let why = "the worker did not adopt its execution (it was killed by signal 9)";
    assert!(
        told.contains(&format!("is offered again: {why}.")),
        "{told}"
    );
    let ran = std::fs::read_to_string(sandbox.home().join("ran")).expect("it ran");
    assert_eq!(ran, "ran\n", "once");
    let sql = "SELECT status, mode, mechanism, detail, (SELECT count(*) || '' FROM executions)
               FROM executions JOIN execution_facts ON execution_id = id";
    let noted = format!("offered twice: {why}");
    let expected = ["completed", "in_process", "child", &noted, "1"];
    assert_eq!(row(&sandbox, sql), expected);
    let sql = "SELECT outcome, count(*) || '' FROM cron_slots";
    assert_eq!(row(&sandbox, sql), ["run", "1"]);
}

#[test]
fn what_cannot_be_recorded_of_a_run_does_not_end_it() {
    let sandbox = with(&[due(&json!({}))]);
    let go = sandbox.fifo("go");
    let does = "echo begun; read -r _ <\"$HERMES_HOME/go\"";
    let (mut pass, worker) = held(&sandbox, "worker.acknowledged", does);
    let ledger = Connection::open(sandbox.home().join("cron/executions.db")).expect("the ledger");
    let renamed = |from: &str, to: &str| {
        let sql = format!("ALTER TABLE {from} RENAME TO {to}");
        ledger.execute(&sql, []).expect("another name");
    };
    renamed("execution_facts", "away");
    let [id] = row(&sandbox, "SELECT id FROM executions");
    kill_process(worker, Signal::CONT).expect("it lives");
    let log = sandbox.home().join(format!("run/executions/{id}.log"));
    while !std::fs::read_to_string(&log).is_ok_and(|text| text.contains("begun")) {
        assert_eq!(
            pass.try_wait().expect("it can be asked"),
            None,
            "it goes on"
        );
    }
    renamed("away", "execution_facts");
    std::fs::write(go, "\n").expect("it reads");
    assert!(pass.wait().expect("its end").success());
    assert_eq!(
        row(&sandbox, "SELECT status FROM executions"),
        ["completed"]
    );
}

#[test]
fn a_run_that_came_to_its_end_before_it_was_cancelled_is_told_as_that() {
    let sandbox = with(&[due(&json!({}))]);
    let (mut pass, worker) = held(&sandbox, "worker.ran", RAN);
    let mut cancel = Command::new(env!("CARGO_BIN_EXE_hermes"))
        .env_clear()
        .env("HOME", sandbox.user_home())
        .args(["cron", "cancel", ID])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let sql = "SELECT cause FROM execution_facts";
    while row(&sandbox, sql) != ["cancelled"] {
        assert_eq!(
            cancel.try_wait().expect("it can be asked"),
            None,
            "it waits"
        );
    }
    kill_process(worker, Signal::CONT).expect("it lives");
    let told = cancel.wait_with_output().expect("its end").stdout;
    let told = String::from_utf8_lossy(&told);
    assert!(told.contains("had ended by itself: completed"), "{told}");
    assert!(pass.wait().expect("its end").success());
    assert_eq!(
        row(&sandbox, "SELECT status FROM executions"),
        ["completed"]
    );
    assert_eq!(row(&sandbox, sql), [""], "nobody ended it");
}

#[test]
fn b26_a_worker_that_acknowledges_late_is_waited_for() {
    acknowledges_after(0);
}

#[test]
#[ignore = "takes as long as the slow worker: tests/run long"]
fn b26_a_worker_that_acknowledges_after_12_seconds_is_waited_for_at_length() {
    acknowledges_after(12);
}

#[test]
fn last_words_of_a_worker_are_kept_without_secrets() {
    let sandbox = with(&[due(&json!({}))]);
    sandbox.write(".env", "MY_TOKEN=hunter2hunter2\n");
    let output = hermes(&sandbox, &["cron", "tick"])
        .env("__HERMES_FAULT", "worker.payload=no hunter2hunter2 here")
        .output()
        .expect("it runs");
    let told = [output.stdout, output.stderr].concat();
    let told = String::from_utf8_lossy(&told).into_owned();
    let [error] = row(&sandbox, "SELECT error FROM executions");
    let [incident] = row(&sandbox, "SELECT error FROM cron_incidents");
    let kept = stored(&sandbox)[0]["last_error"].to_string();
    for text in [&error, &incident, &kept] {
        assert!(text.contains("signal 9): no [redacted] here"), "{text}");
    }
    assert!(!told.contains("hunter2"), "{told}");
}

#[test]
fn an_agent_that_is_silent_for_too_long_is_ended_and_says_so() {
    let asks = json!({"no_agent": false, "script": null, "prompt": "Well?"});
    let sandbox = with(&[due(&asks)]);
    agent(&sandbox, STALLS, "inactivity_timeout = 1");
    let (code, _, err) = said(&sandbox, &["cron", "run", ID]);
    assert_eq!(code, 1, "{err}");
    let sql = "SELECT status, error FROM executions";
    let [status, error] = row(&sandbox, sql);
    assert_eq!(status, "failed");
    assert!(error.contains("was silent for 1s"), "{error}");
    assert_eq!(
        row(&sandbox, "SELECT cause FROM execution_facts"),
        ["time_limit"]
    );
}

/// A worker whose payload never comes, and whose stdin nobody closes.
#[test]
#[ignore = "takes as long as a handover: tests/run long"]
fn a_worker_whose_stdin_stays_open_ends_with_its_handover_at_length() {
    let sandbox = with(&[]);
    let mut worker = Command::new(env!("CARGO_BIN_EXE_hermes"))
        .env_clear()
        .env("HOME", sandbox.user_home())
        .args(["worker", "--execution", "0123456789abcdef0123456789abcdef"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let open = worker.stdin.take();
    let ended = ends_within(worker.id(), 40);
    if !ended {
        worker.kill().expect("it lives");
    }
    let output = worker.wait_with_output().expect("its end");
    drop(open);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        ended && said.contains("no payload came within the handover"),
        "{said}"
    );
}
