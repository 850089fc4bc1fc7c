//! What a serve does about runs and slots while an emergency stop is in force, after another serve was
//! killed, and when it is stopped itself.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests look at the ledger themselves, and wait for processes"
)]

use std::io::{BufRead as _, BufReader, Write as _};

use rusqlite::Connection;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde_json::{Value, json};

use super::cron_workers::stands_still;
use crate::common::Sandbox;
use crate::common::jobs::{
    NOW, document, ended, job, said, script, settled, store, stored, with, workers,
};
use crate::common::log::Log;
use crate::common::serving::{self, Serving};

const ID: &str = "aaaaaaaaaaaa";
const OTHER: &str = "bbbbbbbbbbbb";

/// Says that it began and, unless it is free, waits until it is told to go on.
const HELD: &str = "echo \"$HERMES_JOB_ID begins\" >>\"$HERMES_HOME/order\"; \
                    [ -e \"$HERMES_HOME/free\" ] || { echo began >\"$HERMES_HOME/began\"; \
                    read -r status <\"$HERMES_HOME/go\"; }; \
                    echo \"$HERMES_JOB_ID ends\" >>\"$HERMES_HOME/order\"";

/// A home of jobs that are due, and the pipe by which one of them says that it began.
fn due(ids: &[&str], config: &str) -> (Sandbox, BufReader<std::fs::File>) {
    let late = json!({"next_run_at": "2026-06-17T09:59:50+00:00"});
    let jobs: Vec<_> = ids.iter().map(|id| job(id, &late)).collect();
    let sandbox = with(&jobs);
    sandbox.write("config.yaml", format!("timezone: UTC\n{config}"));
    script(&sandbox, "ok.sh", HELD);
    sandbox.fifo("go");
    let path = sandbox.fifo("began");
    let began = std::fs::File::options().read(true).write(true).open(path);
    (sandbox, BufReader::new(began.expect("a pipe")))
}

fn begins(began: &mut BufReader<std::fs::File>) {
    let mut line = String::new();
    began.read_line(&mut line).expect("a line");
}

/// Lets the one that waits go on, and all others run through.
fn let_go(sandbox: &Sandbox) {
    sandbox.write("free", "");
    let mut go = std::fs::OpenOptions::new();
    let go = go.write(true).open(sandbox.home().join("go"));
    go.expect("it reads").write_all(b"0\n").expect("it reads");
}

fn order(sandbox: &Sandbox) -> String {
    std::fs::read_to_string(sandbox.home().join("order")).unwrap_or_default()
}

fn rows(sandbox: &Sandbox) -> Vec<Value> {
    let (_, runs, _) = document(sandbox, &["cron", "runs"]);
    runs["homes"][0]["runs"].as_array().expect("runs").clone()
}

/// A serve that writes a log.
fn logging(sandbox: &Sandbox) -> (Serving, Log) {
    let (child, log) = Log::of(serving::command(sandbox, NOW, &[]));
    (Serving::ready(sandbox, child), log)
}

/// Kills the one worker of the home, as nobody should.
fn kill_worker(sandbox: &Sandbox) {
    let held: Vec<_> = workers(sandbox)
        .into_iter()
        .filter_map(|(_, fd)| fd)
        .collect();
    assert!(!held.is_empty(), "there is one");
    for fd in &held {
        pidfd_send_signal(fd, Signal::KILL).expect("it waits, and lives");
        ended(fd);
    }
}

/// A home whose one run was begun by the pass of a serve that was killed.
fn left(config: &str) -> Sandbox {
    let (sandbox, mut began) = due(&[ID], config);
    let first = Serving::at(&sandbox, NOW);
    begins(&mut began);
    first.kill();
    sandbox
}

#[test]
fn what_waits_for_room_does_not_begin_under_an_emergency_stop_and_runs_after_it() {
    let third = "cccccccccccc";
    let (sandbox, mut began) = due(&[ID, OTHER, third], "cron:\n  max_parallel_jobs: 1\n");
    let mut serve = Serving::at(&sandbox, NOW);
    begins(&mut began);
    assert_eq!(said(&sandbox, &["pause"]).0, 0);
    let_go(&sandbox);
    serve.clock("settle");
    let runs = rows(&sandbox);
    assert_eq!(runs.len(), 1, "{runs:?}");
    assert_eq!(runs[0]["status"], "completed");
    assert_eq!(said(&sandbox, &["resume"]).0, 0);
    serve.pass(120, 60);
    let runs = rows(&sandbox);
    let slots: Vec<_> = runs.iter().map(|run| &run["scheduled_instant"]).collect();
    assert_eq!(slots, [&json!("2026-06-17T09:59:50+00:00"); 3], "{runs:?}");
    assert_eq!(serve.stop().code(), Some(0));
}

#[test]
fn under_an_emergency_stop_the_row_of_a_dead_worker_is_closed_all_the_same() {
    // By the next serve, and by the pass that the doctor names.
    for by_serve in [true, false] {
        let sandbox = left("");
        assert_eq!(said(&sandbox, &["pause"]).0, 0);
        kill_worker(&sandbox);
        if by_serve {
            let mut next = Serving::at(&sandbox, NOW);
            next.clock("settle");
            assert_eq!(next.stop().code(), Some(0));
        } else {
            said(&sandbox, &["cron", "tick"]);
        }
        let runs = rows(&sandbox);
        assert_eq!(runs.len(), 1, "{runs:?}");
        assert_eq!(runs[0]["status"], "unknown", "{by_serve}: {runs:?}");
    }
}

#[test]
fn a_run_that_a_serve_left_behind_is_adopted_under_an_emergency_stop_and_ends_with_the_next_serve()
{
    let sandbox = left("agent:\n  cron_drain_timeout: 1\n");
    assert_eq!(said(&sandbox, &["pause"]).0, 0);
    let (next, mut log) = logging(&sandbox);
    log.wait_for("waiting for its end");
    assert_eq!(next.stop().code(), Some(0));
    let row = &rows(&sandbox)[0];
    assert_eq!(row["status"], "unknown", "{row}");
    assert_eq!(row["facts"]["cause"], "gateway_restart", "{row}");
}

#[test]
fn a_run_that_goes_on_after_a_kill_of_its_serve_keeps_its_place_among_the_parallel_ones() {
    let config = "cron:\n  max_parallel_jobs: 1\n";
    let (sandbox, mut began) = due(&[ID, OTHER], config);
    let first = Serving::at(&sandbox, NOW);
    begins(&mut began);
    first.kill();
    let ahead = order(&sandbox);
    let (mut next, mut log) = logging(&sandbox);
    log.wait_for("waiting for its end");
    // Time enough for one that needs no place.
    for _ in 0..20 {
        assert_eq!(rows(&sandbox).len(), 1, "{}", order(&sandbox));
    }
    assert_eq!(order(&sandbox), ahead);
    let_go(&sandbox);
    next.clock("settle");
    next.pass(60, 60);
    let order = order(&sandbox);
    let told: Vec<_> = order.lines().map(|line| line.split_once(' ')).collect();
    let words: Vec<_> = told.iter().flatten().map(|(_, what)| *what).collect();
    assert_eq!(words, ["begins", "ends", "begins", "ends"], "{order}");
    assert_eq!(next.stop().code(), Some(0));
}

#[test]
fn a_stop_ends_its_runs_whatever_number_of_newer_ones_there_is() {
    let (sandbox, mut began) = due(&[ID], "agent:\n  cron_drain_timeout: 1\n");
    let serve = Serving::at(&sandbox, NOW);
    begins(&mut began);
    let ledger = Connection::open(sandbox.home().join("cron/executions.db")).expect("the ledger");
    let newer = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1100) \
                 INSERT INTO execution_facts (execution_id, mode, recorded_at) \
                 SELECT printf('%032x', i), 'in_process', '2026-06-17T10:30:00+00:00' FROM n";
    ledger.execute(newer, []).expect("newer ones");
    drop(ledger);
    assert_eq!(serve.stop().code(), Some(0));
    assert!(workers(&sandbox).is_empty(), "it was left alone");
    let row = &rows(&sandbox)[0];
    assert_eq!(row["status"], "unknown", "{row}");
    assert_eq!(row["facts"]["cause"], "gateway_restart", "{row}");
}

/// Waits until the group of the one run is on record, which comes right after its start.
fn group_is_known(sandbox: &Sandbox) {
    let ledger = Connection::open(sandbox.home().join("cron/executions.db")).expect("the ledger");
    let sql = "SELECT count(*) FROM execution_groups";
    let known = || ledger.query_row(sql, [], |row| row.get::<_, i64>(0));
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while known().unwrap_or_default() == 0 {
        assert!(std::time::Instant::now() < until, "no group is on record");
        std::thread::yield_now();
    }
}

/// Whether what a run left in its group, without a mark, is killed with its killed worker; what is on record of
/// the group is changed before.
fn what_is_left_is_killed(change: &str) -> bool {
    let (sandbox, mut began) = due(&[ID], "");
    script(
        &sandbox,
        "ok.sh",
        "env -i /bin/sleep 600 </dev/null >/dev/null 2>&1 & \
         echo $! >\"$HERMES_HOME/pid\"; echo began >\"$HERMES_HOME/began\"; sleep 600",
    );
    let mut serve = Serving::at(&sandbox, NOW);
    begins(&mut began);
    let pid = std::fs::read_to_string(sandbox.home().join("pid")).expect("a pid");
    let pid = Pid::from_raw(pid.trim().parse().expect("a pid")).expect("a pid");
    let left = pidfd_open(pid, PidfdFlags::empty()).expect("it lives");
    group_is_known(&sandbox);
    let ledger = Connection::open(sandbox.home().join("cron/executions.db")).expect("the ledger");
    ledger.execute_batch(change).expect("another record");
    kill_worker(&sandbox);
    serve.clock("settle");
    assert_eq!(rows(&sandbox)[0]["status"], "unknown");
    // It was killed before its row was closed, and its end takes a moment.
    let patience = Timespec {
        tv_sec: if change.is_empty() { 10 } else { 0 },
        tv_nsec: 200_000_000,
    };
    let ended = poll(&mut [PollFd::new(&left, PollFlags::IN)], Some(&patience));
    let _for_the_next_test = pidfd_send_signal(&left, Signal::KILL);
    ended.expect("poll") > 0
}

#[test]
fn what_stayed_in_the_group_of_a_killed_worker_is_killed_without_a_mark_as_well() {
    assert!(what_is_left_is_killed(""), "it goes on");
}

#[test]
fn a_group_is_killed_by_its_record_alone_and_never_on_a_likeness() {
    for change in [
        "DELETE FROM execution_groups",
        "UPDATE execution_groups SET session = session + 1",
        "UPDATE execution_groups SET leader_start = leader_start + 100000",
    ] {
        assert!(!what_is_left_is_killed(change), "{change}");
    }
}

/// Passes until the job has run once more.
fn runs_once_more(sandbox: &Sandbox, serve: &mut Serving) {
    let count = || order(sandbox).lines().count();
    let before = count();
    serve.pass(120, 60);
    assert!(count() > before, "it runs");
}

#[test]
fn a_ledger_that_is_replaced_or_removed_under_serve_is_opened_anew() {
    let (sandbox, _began) = due(&[], "");
    let minutely = json!({
        "next_run_at": "2026-06-17T10:01:00+00:00",
        "schedule": {"kind": "interval", "minutes": 1, "display": "every 1m"},
    });
    store(&sandbox, &[job(ID, &minutely)]);
    sandbox.write("free", "");
    let mut serve = Serving::at(&sandbox, NOW);
    runs_once_more(&sandbox, &mut serve);
    let (ledger, backup) = (
        sandbox.home().join("cron/executions.db"),
        sandbox.home().join("backup.db"),
    );
    let remove = |end: &str| {
        let path = sandbox.home().join(format!("cron/executions.db{end}"));
        let _not_there_is_removed = std::fs::remove_file(path);
    };
    std::fs::copy(&ledger, &backup).expect("a copy");
    ["-wal", "-shm"].into_iter().for_each(remove);
    std::fs::rename(&backup, &ledger).expect("its place");
    let before = rows(&sandbox).len();
    runs_once_more(&sandbox, &mut serve);
    assert!(rows(&sandbox).len() > before, "the new one is written");
    ["", "-wal", "-shm"].into_iter().for_each(remove);
    runs_once_more(&sandbox, &mut serve);
    let runs = rows(&sandbox);
    assert!(!runs.is_empty(), "an empty one was made");
    assert!(
        runs.iter().all(|run| run["status"] == "completed"),
        "{runs:?}"
    );
    assert_eq!(serve.stop().code(), Some(0));
}

#[test]
fn serve_says_once_who_keeps_it_from_its_passes() {
    let (sandbox, _began) = due(&[], "");
    let (mut serve, mut log) = logging(&sandbox);
    serve.clock("settle");
    let path = sandbox.home().join("cron/.tick.lock");
    let lock = hermes::files::try_lock(&path)
        .expect("it can")
        .expect("it is free");
    serve.pass(600, 60);
    let told = log.wait_for("No pass over the jobs for");
    let who = format!("held by pid {} (", std::process::id());
    let place = path.display().to_string();
    assert!(told.contains(&who) && told.contains(&place), "{told}");
    drop(lock);
    // What another test starts at this moment has it for as long as it takes to become a program.
    hermes::cron::jobs_lock::take(&path, std::time::Duration::from_secs(10)).expect("it is free");
    serve.pass(60, 60);
    assert_eq!(serve.stop().code(), Some(0));
    let rest: Vec<_> = log.rest().collect();
    let again = rest.iter().filter(|line| line.contains("No pass over"));
    assert_eq!(again.count(), 0, "{rest:?}");
    assert!(
        rest.iter().any(|line| line.contains("lock is free again")),
        "{rest:?}"
    );
}

#[test]
fn only_a_stop_of_its_serve_is_why_a_degraded_worker_ended_and_a_signal_is_told_as_one() {
    for is_stopped in [false, true] {
        let (sandbox, mut began) = due(&[ID], "");
        let mut command = serving::command(&sandbox, NOW, &[]);
        command.env("INVOCATION_ID", "0123456789abcdef0123456789abcdef");
        let (child, mut log) = Log::of(command);
        let mut serve = Serving::ready(&sandbox, child);
        begins(&mut began);
        if is_stopped {
            serve.signal(Signal::TERM);
        }
        for fd in workers(&sandbox).into_iter().filter_map(|(_, fd)| fd) {
            pidfd_send_signal(&fd, Signal::TERM).expect("it lives");
        }
        let said = log.wait_for("was interrupted: ");
        if is_stopped {
            assert_eq!(serve.wait().code(), Some(0));
        } else {
            assert_eq!(serve.stop().code(), Some(0));
        }
        let row = &rows(&sandbox)[0];
        // Where a manager can be asked from here the run is placed, and no stop of serve ends it.
        let is_placed = row["facts"]["mode"] == "scoped";
        assert!(is_placed || row["facts"]["mode"] == "degraded", "{row}");
        let (cause, why) = if is_stopped && !is_placed {
            ("gateway_restart", "its dispatcher was stopped")
        } else {
            ("signal", "SIGTERM")
        };
        assert_eq!(row["facts"]["cause"], cause, "{row}");
        assert!(is_placed || said.contains(why), "{said}");
        assert_eq!(row["status"], "unknown", "{row}");
        let (_, list, _) = document(&sandbox, &["cron", "list"]);
        assert!(list.to_string().contains("interrupted: "), "{list}");
    }
}

#[test]
fn a_one_shot_that_waited_for_room_is_free_for_the_next_serve_of_a_machine_with_a_name() {
    for is_killed in [false, true] {
        let config = "agent:\n  cron_drain_timeout: 1\ncron:\n  max_parallel_jobs: 1\n";
        let (sandbox, mut began) = due(&[ID], config);
        let at = "2026-06-17T10:01:00+00:00";
        let once = json!({"kind": "once", "run_at": at, "display": "once"});
        let own =
            json!({"schedule": once, "next_run_at": at, "repeat": {"times": 1, "completed": 0}});
        let (first, waits) = (stored(&sandbox)[0].clone(), job(OTHER, &own));
        store(&sandbox, &[first, waits]);
        let named = |now| {
            let mut command = serving::command(&sandbox, now, &[]);
            command.env("HERMES_MACHINE_ID", "box");
            Serving::ready(&sandbox, command.spawn().expect("it starts"))
        };
        let mut serve = named(NOW);
        begins(&mut began);
        let passed = sandbox.home().join("cron/ticker_last_success");
        while !passed.exists() {
            assert!(serve.is_alive(), "its first pass ends");
        }
        let is_leased = || stored(&sandbox)[1]["run_claim"]["by"] == "box";
        let mut minutes = 0..2;
        while !is_leased() && minutes.next().is_some() {
            // The clock may move before that pass has looked for the next one, which then comes a minute later.
            serve.clock("advance 60");
            let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
            while !is_leased() && std::time::Instant::now() < until {
                std::thread::yield_now();
            }
        }
        let mut tick = sandbox.hermes();
        tick.args(["cron", "tick"])
            .env("__HERMES_NOW", "2026-06-17T10:05:00Z")
            .env("HERMES_MACHINE_ID", "box");
        tick.assert().success();
        assert!(
            is_leased(),
            "a pass by hand of the same name knows nothing of who waits"
        );
        if is_killed {
            serve.kill();
            let_go(&sandbox);
            settled(&sandbox);
        } else {
            sandbox.write("free", "");
            assert_eq!(serve.stop().code(), Some(0));
            assert_eq!(stored(&sandbox)[1]["run_claim"], Value::Null, "given back");
        }
        let mut next = named("2026-06-17T10:02:40Z");
        next.clock("settle");
        assert_eq!(next.stop().code(), Some(0));
        let kept = &stored(&sandbox)[1];
        assert_eq!(kept["last_status"], "ok", "{is_killed}: {kept}");
    }
}

#[test]
fn a_claim_that_somebody_took_while_the_lock_was_waited_for_is_none_of_the_future() {
    let (sandbox, _began) = due(&[ID], "");
    let due = json!({"next_run_at": "2026-06-17T10:01:00+00:00"});
    store(&sandbox, &[job(ID, &due)]);
    let mut command = serving::command(&sandbox, NOW, &[]);
    command.env("__HERMES_FAULT", "dispatcher.claims~");
    let mut serve = Serving::ready(&sandbox, command.spawn().expect("it starts"));
    // Its first pass is over: the next one is at the minute.
    serve.clock("settle");
    serve.begin_clock("advance 60");
    while !stands_still(serve.pid()) {
        assert!(serve.is_alive(), "it is about to claim");
    }
    let path = sandbox.home().join("cron/.jobs.lock");
    let patience = std::time::Duration::from_secs(30);
    let lock = hermes::cron::jobs_lock::take(&path, patience).expect("the lock");
    serve.signal(Signal::CONT);
    serve.hear_clock();
    serve.clock("advance 120");
    // Meanwhile another scheduler takes the job, and runs it.
    let mut claimed = stored(&sandbox)[0].clone();
    claimed["fire_claim"] = json!({"at": "2026-06-17T10:02:30+00:00", "by": "elsewhere:1:aa"});
    store(&sandbox, &[claimed]);
    drop(lock);
    serve.clock("settle");
    assert_eq!(stored(&sandbox)[0]["fire_claim"]["by"], "elsewhere:1:aa");
    assert_eq!(rows(&sandbox), [Value::Null; 0], "it is another's run");
    assert_eq!(serve.stop().code(), Some(0));
}
