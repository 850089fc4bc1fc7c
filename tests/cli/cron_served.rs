//! `hermes cron run` beside a serve of the home, which then runs the job.

#![expect(
    clippy::disallowed_methods,
    reason = "these tests stop watching a run while it goes on"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Resource, Signal, kill_process};
use serde_json::json;

use crate::common::Sandbox;
use crate::common::jobs::{NOW, document, job, said, script, stored, with};
use crate::common::log::Log;
use crate::common::serving::{self, Serving};

const ID: &str = "aaaaaaaaaaaa";

/// Prints who started the worker, and waits until somebody writes to the FIFO `go`.
const HELD: &str = "cut -d' ' -f4 /proc/$PPID/stat; read -r status <\"$HERMES_HOME/go\"; \
                    echo done; exit $status";

/// A serve, and a job that ends with what is written to its FIFO.
fn held() -> (Sandbox, Serving) {
    let sandbox = with(&[job(ID, &json!({}))]);
    serving::configure(&sandbox, "");
    script(&sandbox, "ok.sh", HELD);
    sandbox.fifo("go");
    let serve = Serving::at(&sandbox, NOW);
    (sandbox, serve)
}

/// Lets the job end; waits until it is there.
fn let_go(sandbox: &Sandbox, status: &str) {
    std::fs::write(sandbox.home().join("go"), format!("{status}\n")).expect("it reads");
}

/// `hermes cron run`, seen to have begun by its first line, which is returned.
fn begun(sandbox: &Sandbox) -> (Child, BufReader<std::process::ChildStdout>, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hermes"))
        .env_clear()
        .env("HOME", sandbox.user_home())
        .env("PATH", "/usr/bin:/bin")
        .env("__HERMES_NOW", NOW)
        .args(["cron", "run", ID])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut out = BufReader::new(child.stdout.take().expect("its stdout"));
    let mut first = String::new();
    out.read_line(&mut first).expect("a line");
    (child, out, first.trim().to_owned())
}

fn rows(sandbox: &Sandbox) -> Vec<serde_json::Value> {
    let (_, runs, _) = document(sandbox, &["cron", "runs"]);
    runs["homes"][0]["runs"].as_array().expect("runs").clone()
}

#[test]
fn serve_runs_it_and_the_command_ends_as_the_job_does() {
    let (sandbox, serve) = held();
    for (status, code, outcome) in [("0", 0, "completed"), ("3", 1, "failed")] {
        let (mut child, mut out, parent) = begun(&sandbox);
        assert_eq!(parent, serve.pid().to_string(), "a worker of serve runs it");
        let_go(&sandbox, status);
        let mut rest = String::new();
        out.read_to_string(&mut rest).expect("text");
        assert_eq!(rest, "done\n");
        assert_eq!(child.wait().expect("its end").code(), Some(code));
        let row = rows(&sandbox)
            .into_iter()
            .find(|row| row["status"] == outcome)
            .expect("its row");
        assert_eq!(
            (&row["source"], &row["scheduled_instant"]),
            (&json!("direct"), &json!(null))
        );
    }
    let kept = &stored(&sandbox)[0];
    assert_eq!(
        kept["next_run_at"], "2026-06-17T10:20:00+00:00",
        "no slot was taken"
    );
    assert_eq!(kept["repeat"]["completed"], 0);
    assert_eq!(serve.stop().code(), Some(0));
}

#[test]
fn b52_what_serve_refuses_ends_with_2() {
    let (sandbox, _serve) = held();
    let foreign = job("bbbbbbbbbbbb", &json!({"deliver": "telegram:1"}));
    crate::common::jobs::store(&sandbox, &[job(ID, &json!({})), foreign]);
    let (code, told, _) = document(&sandbox, &["cron", "run", "bbbbbbbbbbbb"]);
    assert_eq!(
        (code, &told["outcome"]),
        (2, &json!("was_refused")),
        "{told}"
    );
    assert!(told["error"].to_string().contains("telegram:1"), "{told}");
    let (mut child, _out, _) = begun(&sandbox);
    let (code, told, _) = document(&sandbox, &["cron", "run", ID]);
    assert_eq!(
        (code, &told["outcome"]),
        (2, &json!("was_not_run")),
        "{told}"
    );
    let_go(&sandbox, "0");
    assert_eq!(child.wait().expect("its end").code(), Some(0));
}

#[test]
fn an_interrupted_watcher_leaves_the_run_alone_and_says_how_to_go_on() {
    let (sandbox, _serve) = held();
    let (mut child, _out, _) = begun(&sandbox);
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    kill_process(pid.expect("a pid"), Signal::INT).expect("a signal");
    assert_eq!(child.wait().expect("its end").code(), Some(1));
    let mut said_of_it = String::new();
    let mut err = child.stderr.take().expect("its stderr");
    err.read_to_string(&mut said_of_it).expect("text");
    let id = rows(&sandbox)[0]["id"].as_str().expect("an id").to_owned();
    for command in ["hermes cron logs", "hermes cron cancel"] {
        let told = format!("{command} {}", &id[..8]);
        assert!(said_of_it.contains(&told), "{said_of_it}");
    }
    assert_eq!(rows(&sandbox)[0]["status"], "running");
    let_go(&sandbox, "0");
    let (code, out, _) = said(&sandbox, &["cron", "logs", &id, "-f"]);
    assert!(code == 0 && out.ends_with("done\n"), "{out}");
    assert_eq!(rows(&sandbox)[0]["status"], "completed");
}

#[test]
fn a_watcher_outlives_a_serve_that_is_killed() {
    let (sandbox, serve) = held();
    let (mut child, mut out, _) = begun(&sandbox);
    serve.kill();
    let_go(&sandbox, "0");
    let mut rest = String::new();
    out.read_to_string(&mut rest).expect("text");
    assert_eq!(
        (rest.as_str(), child.wait().expect("its end").code()),
        ("done\n", Some(0))
    );
    assert_eq!(rows(&sandbox)[0]["status"], "completed");
}

#[test]
fn detached_it_comes_back_as_soon_as_serve_runs_it() {
    let (sandbox, _serve) = held();
    let (code, out, err) = said(&sandbox, &["cron", "run", ID, "--detach"]);
    assert_eq!(code, 0, "{err}");
    let id = out.trim();
    let row = &rows(&sandbox)[0];
    assert_eq!(
        (&row["id"], &row["status"]),
        (&json!(id), &json!("running"))
    );
    let_go(&sandbox, "0");
    assert_eq!(said(&sandbox, &["cron", "logs", id, "-f"]).0, 0);
    assert_eq!(rows(&sandbox)[0]["status"], "completed");
}

#[test]
fn a_serve_that_runs_no_jobs_leaves_it_to_the_command() {
    let sandbox = with(&[job(ID, &json!({}))]);
    serving::configure(&sandbox, "");
    let child = serving::command(&sandbox, NOW, &["--no-cron"]).spawn();
    let _serve = Serving::ready(&sandbox, child.expect("serve starts"));
    let (code, out, err) = said(&sandbox, &["cron", "run", ID]);
    assert_eq!((code, out.as_str()), (0, "fine\n"), "{err}");
}

#[test]
fn a_pass_by_hand_waits_for_its_own_runs_alone() {
    let (sandbox, _serve) = held();
    let (mut child, _out, _) = begun(&sandbox);
    let (code, out, err) = said(&sandbox, &["cron", "tick"]);
    assert_eq!((code, out.as_str()), (0, "nothing is due\n"), "{err}");
    assert_eq!(rows(&sandbox)[0]["status"], "running");
    let_go(&sandbox, "0");
    assert_eq!(child.wait().expect("its end").code(), Some(0));
}

#[test]
fn b49_a_slow_job_and_one_that_fails_keep_no_other_from_its_slot() {
    let (sandbox, mut serve) = held();
    // Its first pass is over before the clock moves.
    serve.clock("settle");
    let due = |script: &str| json!({"script": script, "next_run_at": "2026-06-17T10:01:00+00:00"});
    let jobs = [
        job(ID, &due("ok.sh")),
        job("bbbbbbbbbbbb", &due("bad.sh")),
        job("cccccccccccc", &due("good.sh")),
    ];
    crate::common::jobs::store(&sandbox, &jobs);
    script(&sandbox, "bad.sh", "exit 7");
    script(&sandbox, "good.sh", "echo done >\"$HERMES_HOME/told\"");
    let told = sandbox.fifo("told");
    serve.clock("advance 60");
    // The first one is under way once it reads, and goes on until it is told something.
    let mut go = std::fs::OpenOptions::new();
    let mut go = go
        .write(true)
        .open(sandbox.home().join("go"))
        .expect("it reads");
    // The last one comes all the same.
    assert_eq!(std::fs::read_to_string(&told).expect("text"), "done\n");
    let of = |id: &str| rows(&sandbox).into_iter().find(|row| row["job_id"] == id);
    assert_eq!(of(ID).expect("its row")["status"], "running");
    go.write_all(b"0\n").expect("it reads");
    drop(go);
    serve.clock("settle");
    for (id, status) in [
        (ID, "completed"),
        ("bbbbbbbbbbbb", "failed"),
        ("cccccccccccc", "completed"),
    ] {
        let row = of(id).expect("its row");
        assert_eq!(row["status"], status, "{id}");
        assert_eq!(row["scheduled_instant"], "2026-06-17T10:01:00+00:00");
    }
}

#[test]
fn a_run_that_lost_its_serve_is_marked_as_adopted_by_the_next_one() {
    let (sandbox, serve) = held();
    let (mut child, _out, _) = begun(&sandbox);
    serve.kill();
    let mut next = Serving::at(&sandbox, NOW);
    let words = "goes on without the dispatcher that started it";
    // Its first pass adopts the run; the clock does not settle as long as the job runs.
    let looks = (0..500).map(|_| said(&sandbox, &["cron", "status"]).1);
    let seen = looks.into_iter().find(|out| out.contains(words));
    let seen = seen.expect("it is marked");
    assert!(seen.contains(&format!("of job {ID}, began ")), "{seen}");
    let (_, status, _) = document(&sandbox, &["cron", "status"]);
    let detail = status["homes"][0]["running"][0]["facts"]["detail"].to_string();
    assert!(detail.contains(words), "{status}");
    let (_, out, _) = said(&sandbox, &["cron", "runs"]);
    assert!(out.contains(words), "{out}");
    let_go(&sandbox, "0");
    assert_eq!(child.wait().expect("its end").code(), Some(0));
    next.clock("settle");
    let (_, out, _) = said(&sandbox, &["cron", "status"]);
    assert!(!out.contains(words), "{out}");
    assert_eq!(next.stop().code(), Some(0));
}

/// A serve that writes a log, at an instant.
fn logging(sandbox: &Sandbox) -> (Serving, Log) {
    let (child, log) = Log::of(serving::command(sandbox, NOW, &[]));
    let mut serve = Serving::ready(sandbox, child);
    serve.clock("settle");
    (serve, log)
}

#[test]
fn a_job_that_is_refused_at_every_slot_is_told_once_and_recorded_each_time() {
    let minutely = json!({
        "deliver": "telegram:1", "next_run_at": "2026-06-17T10:01:00+00:00",
        "schedule": {"kind": "interval", "minutes": 1, "display": "every 1m"},
    });
    let sandbox = with(&[job(ID, &minutely)]);
    serving::configure(&sandbox, "");
    let (mut serve, log) = logging(&sandbox);
    serve.pass(240, 60);
    assert_eq!(serve.stop().code(), Some(0));
    let told: Vec<_> = log
        .rest()
        .filter(|line| line.contains("is refused"))
        .collect();
    assert!(
        told.len() == 1 && told[0].contains("telegram:1"),
        "{told:?}"
    );
    let (_, runs, _) = document(&sandbox, &["cron", "runs"]);
    let slots = runs["homes"][0]["slots_not_run"]
        .as_array()
        .expect("slots")
        .clone();
    assert!(slots.len() >= 4, "{slots:?}");
    assert!(
        slots.iter().all(|slot| slot["outcome"] == "refused"),
        "{slots:?}"
    );
}

#[test]
fn a_pass_without_descriptors_is_told_with_its_cause_and_its_slot_runs_later() {
    let due = json!({"next_run_at": "2026-06-17T10:02:00+00:00"});
    let sandbox = with(&[job(ID, &due)]);
    serving::configure(&sandbox, "");
    let (mut serve, mut log) = logging(&sandbox);
    serve.limit(Resource::Nofile, Some(4));
    serve.pass(180, 60);
    let line = log.wait_for("A pass over the jobs failed");
    assert!(line.contains("Too many open files"), "{line}");
    let marker = sandbox.home().join("cron/ticker_last_error");
    assert!(!marker.exists(), "there is no descriptor for it either");
    serve.limit(Resource::Nofile, None);
    // Passes are rarer where descriptors ran out.
    serve.pass(1800, 60);
    let (_, runs, _) = document(&sandbox, &["cron", "runs"]);
    let runs = runs["homes"][0]["runs"].as_array().expect("runs").clone();
    let slots: Vec<_> = runs.iter().map(|run| &run["scheduled_instant"]).collect();
    assert!(
        slots.contains(&&json!("2026-06-17T10:02:00+00:00")),
        "{slots:?}"
    );
    assert_eq!(serve.stop().code(), Some(0));
}

/// A serve whose job is begun by its own pass, killed, and the next one that has the job.
fn inherited(drain: &str) -> (Sandbox, Serving, Log) {
    let due = json!({"next_run_at": "2026-06-17T09:59:50+00:00"});
    let sandbox = with(&[job(ID, &due)]);
    sandbox.write(
        "config.yaml",
        format!("timezone: UTC\nagent:\n  cron_drain_timeout: {drain}\n"),
    );
    serving::configure(&sandbox, "");
    let path = sandbox.fifo("began");
    let began = std::fs::File::options().read(true).write(true).open(path);
    let mut began = BufReader::new(began.expect("a FIFO"));
    script(
        &sandbox,
        "ok.sh",
        "echo began >\"$HERMES_HOME/began\"; read -r status <\"$HERMES_HOME/go\"; echo done",
    );
    sandbox.fifo("go");
    let first = Serving::at(&sandbox, NOW);
    let mut line = String::new();
    began.read_line(&mut line).expect("a line");
    first.kill();
    let (child, mut log) = Log::of(serving::command(&sandbox, NOW, &[]));
    let next = Serving::ready(&sandbox, child);
    log.wait_for("waiting for its end");
    (sandbox, next, log)
}

#[test]
fn b113_a_stop_waits_for_a_run_that_another_serve_left_behind() {
    let (sandbox, mut next, _log) = inherited("60");
    next.signal(Signal::TERM);
    let_go(&sandbox, "0");
    assert_eq!(next.wait().code(), Some(0));
    assert_eq!(rows(&sandbox)[0]["status"], "completed");
}

#[test]
fn b113_a_run_that_another_serve_left_behind_does_not_outlive_the_stop_of_the_next_one() {
    let (sandbox, next, _log) = inherited("1");
    assert_eq!(next.stop().code(), Some(0));
    let row = &rows(&sandbox)[0];
    assert_eq!(row["status"], "unknown", "{row}");
    assert_eq!(row["facts"]["cause"], "gateway_restart", "{row}");
}

#[test]
fn slots_of_an_emergency_stop_are_on_record_as_left_out_by_it() {
    let minutely = json!({
        "next_run_at": "2026-06-17T10:01:00+00:00",
        "schedule": {"kind": "interval", "minutes": 1, "display": "every 1m"},
    });
    let sandbox = with(&[job(ID, &minutely)]);
    serving::configure(&sandbox, "");
    let mut serve = Serving::at(&sandbox, NOW);
    serve.pass(60, 60);
    let stop = sandbox.write("ESTOP", "");
    serve.pass(240, 60);
    std::fs::remove_file(stop).expect("it goes");
    serve.pass(60, 60);
    assert_eq!(serve.stop().code(), Some(0));
    let (_, runs, _) = document(&sandbox, &["cron", "runs"]);
    let slots = runs["homes"][0]["slots_not_run"].as_array().expect("slots");
    let told = |slot: &&serde_json::Value| {
        slot["outcome"] == "skipped" && slot["reason"] == "an emergency stop was in force"
    };
    assert!(slots.iter().filter(told).count() >= 3, "{slots:?}");
}
