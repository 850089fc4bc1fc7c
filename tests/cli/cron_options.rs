//! What jobs and settings ask for, through runs of the binary: deliveries, monitors, limits, room, stagger,
//! and how much is kept.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests look at the ledger themselves, and at how long something took"
)]

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

use hermes::cron::catch_up::stagger;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::jobs::{
    agent, create, document, hermes, job, said, script, store, stored, with,
};
use crate::common::serving::{self, Serving};

const ID: &str = "aaaaaaaaaaaa";
const BEFORE: &str = "2026-06-17T10:19:10Z";

fn read(sandbox: &Sandbox, name: &str) -> String {
    std::fs::read_to_string(sandbox.home().join(name)).unwrap_or_default()
}

fn last_run(sandbox: &Sandbox) -> Value {
    let (_, runs, _) = document(sandbox, &["cron", "runs"]);
    runs["homes"][0]["runs"][0].clone()
}

#[test]
fn a_result_is_delivered_by_the_command_of_its_job() {
    let own = json!({"deliver_command": ["/bin/sh", "-c", "cat >\"$HERMES_HOME/got\""]});
    let sandbox = with(&[job(ID, &json!({"x_hermes": own}))]);
    assert_eq!(said(&sandbox, &["cron", "run", ID]).0, 0);
    assert!(
        read(&sandbox, "got").contains("fine"),
        "{}",
        read(&sandbox, "got")
    );
    let kept = &stored(&sandbox)[0];
    assert_eq!(
        (&kept["last_status"], &kept["last_delivery_error"]),
        (&json!("ok"), &Value::Null)
    );
    assert_eq!(last_run(&sandbox)["delivery_outcome"], "delivered");
}

#[test]
fn a_monitor_asks_its_agent_only_where_its_output_has_changed() {
    let watch = json!({
        "no_agent": false, "script": null, "prompt": "What is new?", "monitor_script": "watch.sh",
    });
    let sandbox = with(&[job(ID, &watch)]);
    agent(&sandbox, &["echo"], "");
    for (seen, asked) in [("one", true), ("one", false), ("two", true), ("two", false)] {
        script(&sandbox, "watch.sh", &format!("echo {seen}"));
        let (code, out, err) = said(&sandbox, &["cron", "run", ID]);
        assert_eq!(code, 0, "{err}");
        assert_eq!(out.contains("What is new?"), asked, "{seen}: {out}");
        assert!(out.contains(seen), "{out}");
    }
}

#[test]
fn a_run_past_its_limit_is_ended_and_says_so() {
    let sandbox = with(&[]);
    script(&sandbox, "ok.sh", "exec sleep 600");
    let words = create("every 30m", &["--name", "slow", "--timeout", "1s"]);
    assert_eq!(said(&sandbox, &words).0, 0);
    let (code, _, err) = said(&sandbox, &["cron", "run", "slow"]);
    let told = "script ok.sh ran longer than its time limit of 1s";
    assert!(code == 1 && err.contains(told), "{err}");
    assert_eq!(stored(&sandbox)[0]["last_error"], told);
    assert_eq!(last_run(&sandbox)["facts"]["cause"], "time_limit");
}

#[test]
fn b78_a_staggered_job_waits_its_part_after_the_pass_and_a_run_by_hand_does_not() {
    let more = json!({
        "next_run_at": "2026-06-17T10:00:00+00:00", "x_hermes": {"stagger_seconds": 2},
    });
    let waits = |job: &Value| stagger(job.as_object().expect("a job")).as_secs() == 2;
    let mut jobs = (0..1000).map(|number| job(&format!("{number:012x}"), &more));
    let job = jobs.find(waits).expect("one that waits the whole");
    let id = job["id"].as_str().expect("an id").to_owned();
    let sandbox = with(&[job]);
    let begun = std::time::Instant::now();
    assert_eq!(said(&sandbox, &["cron", "tick"]).0, 0);
    assert!(begun.elapsed().as_secs() >= 2, "{:?}", begun.elapsed());
    assert_eq!(stored(&sandbox)[0]["last_status"], "ok");
    let dry = hermes(&sandbox, &["cron", "run", &id])
        .timeout(std::time::Duration::from_secs(60))
        .output();
    assert!(dry.expect("it runs").status.success());
}

#[test]
fn b49_a_job_beyond_the_room_waits_and_its_next_slot_says_behind_whom() {
    let every = json!({"kind": "interval", "minutes": 1, "display": "every 1m"});
    let waits = json!({"schedule": every, "script": "fast.sh"});
    let far = json!({"script": "fast.sh", "next_run_at": "2026-06-17T23:00:00+00:00"});
    let sandbox = with(&[job("a", &json!({})), job("b", &waits), job("c", &far)]);
    serving::configure(&sandbox, "");
    sandbox.write(
        "config.yaml",
        "timezone: UTC\ncron:\n  max_parallel_jobs: 1\n",
    );
    for name in ["begun", "go"] {
        sandbox.fifo(name);
    }
    let held = "echo ran >\"$HERMES_HOME/begun\"; read -r _ <\"$HERMES_HOME/go\"";
    script(&sandbox, "ok.sh", held);
    script(
        &sandbox,
        "fast.sh",
        "echo \"$HERMES_JOB_ID\" >>\"$HERMES_HOME/order\"",
    );
    let mut serve = Serving::at(&sandbox, BEFORE);
    serve.clock("settle");
    serve.clock("advance 60");
    assert_eq!(read(&sandbox, "begun"), "ran\n");
    serve.clock("advance 60");
    // A run by hand needs no room. The second one is taken up after the pass.
    for _ in 0..2 {
        assert_eq!(said(&sandbox, &["cron", "run", "c"]).0, 0);
    }
    assert_eq!(read(&sandbox, "order"), "c\nc\n", "b waits");
    std::fs::write(sandbox.home().join("go"), "\n").expect("it reads");
    serve.clock("settle");
    assert_eq!(read(&sandbox, "order"), "c\nc\nb\n", "b ran once");
    assert_eq!(serve.stop().code(), Some(0));
    let ledger = Connection::open(sandbox.home().join("cron/executions.db")).expect("the ledger");
    let sql = "SELECT reason FROM cron_slots WHERE job_id = 'b' AND outcome = 'skipped'";
    let reason: String = ledger.query_row(sql, [], |row| row.get(0)).expect("a row");
    assert!(
        reason.contains("waits for room") && reason.ends_with("behind a"),
        "{reason}"
    );
}

#[test]
fn b63_so_many_outputs_of_a_job_are_kept_as_the_settings_say() {
    let sandbox = with(&[job(ID, &json!({}))]);
    sandbox.write(
        "config.yaml",
        "timezone: UTC\ncron:\n  output_retention: 2\n",
    );
    for number in 0..4 {
        script(&sandbox, "ok.sh", &format!("echo run {number}"));
        assert_eq!(said(&sandbox, &["cron", "run", ID]).0, 0);
    }
    let entries = std::fs::read_dir(sandbox.home().join("cron/output").join(ID)).expect("outputs");
    let texts = entries.map(|entry| std::fs::read_to_string(entry.expect("one").path()));
    let mut texts: Vec<String> = texts.map(|text| text.expect("text")).collect();
    texts.sort_unstable();
    assert_eq!(texts.len(), 2);
    for number in [2, 3] {
        let told = format!("run {number}\n");
        assert!(texts.iter().any(|text| text.contains(&told)), "{texts:?}");
    }
}

#[test]
fn the_log_of_a_run_that_goes_on_is_kept_however_many_are_newer() {
    let sandbox = with(&[
        job(ID, &json!({})),
        job("bbbbbbbbbbbb", &json!({"script": "fast.sh"})),
    ]);
    sandbox.fifo("go");
    script(
        &sandbox,
        "ok.sh",
        "echo begun; read -r _ <\"$HERMES_HOME/go\"; echo done",
    );
    script(&sandbox, "fast.sh", "true");
    let (code, out, err) = said(&sandbox, &["cron", "run", ID, "--detach"]);
    assert_eq!(code, 0, "{err}");
    let id = out.trim().to_owned();
    let mut follower = Command::new(env!("CARGO_BIN_EXE_hermes"))
        .env_clear()
        .env("HOME", sandbox.user_home())
        .args(["cron", "logs", &id, "-f"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut out = BufReader::new(follower.stdout.take().expect("its stdout"));
    let mut line = String::new();
    out.read_line(&mut line).expect("a line");
    assert_eq!(line, "begun\n");
    for number in 0..201 {
        sandbox.write(&format!("run/executions/{number:032x}.log"), "x\n");
    }
    assert_eq!(said(&sandbox, &["cron", "run", "bbbbbbbbbbbb"]).0, 0);
    let logs = std::fs::read_dir(sandbox.home().join("run/executions")).expect("logs");
    let logs = logs.filter(|entry| {
        let path = entry.as_ref().expect("one").path();
        path.extension().is_some_and(|ending| ending == "log")
    });
    assert_eq!(
        logs.count(),
        202,
        "the newest 200, and of both runs that went on"
    );
    std::fs::write(sandbox.home().join("go"), "\n").expect("it reads");
    let mut rest = String::new();
    out.read_to_string(&mut rest).expect("text");
    assert!(follower.wait().expect("its end").success());
    assert_eq!(rest, "done\n");
    assert_eq!(said(&sandbox, &["cron", "logs", &id]).1, "begun\ndone\n");
}

#[test]
fn what_changes_on_the_host_counts_from_the_next_pass_on() {
    let sandbox = with(&[job(ID, &json!({}))]);
    store(&sandbox, &[job(ID, &json!({}))]);
    serving::configure(&sandbox, "");
    // The worker is told of a runtime directory once there is one that may be believed.
    let told = "tr '\\0' '\\n' </proc/$PPID/environ | grep -c ^XDG_RUNTIME_DIR= >>\"$HERMES_HOME/told\"; true";
    script(&sandbox, "ok.sh", told);
    let runtime = sandbox.user_home().join("runtime");
    let mut command = serving::command(&sandbox, BEFORE, &[]);
    command.env("XDG_RUNTIME_DIR", &runtime);
    let mut serve = Serving::ready(&sandbox, command.spawn().expect("serve starts"));
    serve.clock("settle");
    serve.clock("advance 30");
    assert_eq!(said(&sandbox, &["cron", "run", ID]).0, 0);
    rustix::fs::mkdir(&runtime, rustix::fs::Mode::RWXU).expect("a directory");
    serve.pass(30, 30);
    assert_eq!(serve.stop().code(), Some(0));
    assert_eq!(read(&sandbox, "told"), "0\n1\n");
}
