//! What is told of a serve that stops or was killed, and of whoever keeps the passes from a home.

use std::io::{BufRead as _, BufReader};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::jobs::{NOW, document, job, said, script, with};
use crate::common::serving::{self, Serving};

const ID: &str = "aaaaaaaaaaaa";

/// A serve whose pass has begun a job, which goes on until somebody writes to the FIFO `go`.
fn held() -> (Sandbox, Serving) {
    let due = json!({"next_run_at": "2026-06-17T09:59:50+00:00"});
    let sandbox = with(&[job(ID, &due)]);
    serving::configure(&sandbox, "");
    let path = sandbox.fifo("began");
    let began = std::fs::File::options().read(true).write(true).open(path);
    let mut began = BufReader::new(began.expect("a FIFO"));
    script(
        &sandbox,
        "ok.sh",
        "echo began >\"$HERMES_HOME/began\"; read -r status <\"$HERMES_HOME/go\"",
    );
    sandbox.fifo("go");
    let serve = Serving::at(&sandbox, NOW);
    began.read_line(&mut String::new()).expect("a line");
    (sandbox, serve)
}

/// What the doctor finds of this code.
fn found(sandbox: &Sandbox, code: &str) -> Value {
    let home = sandbox.home().display().to_string();
    let words = ["cron", "doctor", "--only", code, "--home", &home];
    let (_, report, _) = document(sandbox, &words);
    let findings = report["findings"].as_array().expect("findings").clone();
    let mut of = findings.into_iter().filter(|found| found["code"] == code);
    of.next().unwrap_or_else(|| panic!("no {code}: {report:#}"))
}

fn summary(found: &Value) -> &str {
    found["summary"].as_str().expect("a text")
}

#[test]
fn b113_a_serve_that_waits_for_its_jobs_is_told_as_stopping_and_not_as_firing() {
    let (sandbox, mut serve) = held();
    assert_eq!(said(&sandbox, &["cron", "status"]).0, 0, "it fires");
    serve.signal(Signal::TERM);
    let record = sandbox.home().join("run/serve.json");
    let told = || std::fs::read_to_string(&record).unwrap_or_default();
    while !told().contains("\"stopping\"") {
        std::thread::yield_now();
    }
    let words = "serve is stopping, and waits for 1 job";
    for verb in ["list", "status"] {
        let (code, out, err) = said(&sandbox, &["cron", verb]);
        assert_eq!(code, 1, "{out}{err}");
        assert!(err.contains(words) || out.contains(words), "{out}{err}");
        assert!(err.contains("serve --passive"), "{err}");
        assert!(!out.contains("jobs fire"), "{out}");
    }
    let (_, status, _) = document(&sandbox, &["cron", "status"]);
    assert_eq!(status["homes"][0]["will_fire"], false, "{status}");
    let found = found(&sandbox, "HM402");
    let pid = format!("(pid {})", serve.pid());
    assert!(summary(&found).contains(words), "{found}");
    assert!(summary(&found).contains(&pid), "{found}");
    assert_eq!(found["severity"], "warning", "{found}");
    let next = found["remedies"][0]["argv"].as_array().expect("a command");
    assert!(next.iter().any(|word| word == "--passive"), "{found}");
    std::fs::write(sandbox.home().join("go"), "0\n").expect("it reads");
    assert_eq!(serve.wait().code(), Some(0));
    assert!(!record.exists(), "nothing is left of it");
}

#[test]
fn b36_of_a_serve_that_was_killed_is_told_what_is_known() {
    let (sandbox, serve) = held();
    let pid = serve.pid();
    serve.kill();
    let found = found(&sandbox, "HM402");
    let words = format!(
        "nothing ticks this home (1 job); the serve that did, pid {pid}, is gone, and ended without a word: \
         it was killed"
    );
    assert!(summary(&found).starts_with(&words), "{found}");
    assert_eq!(found["severity"], "error", "{found}");
    std::fs::write(sandbox.home().join("go"), "0\n").expect("it reads");
}

#[test]
fn b40_of_a_serve_that_has_just_ended_is_told_which_it_was_and_no_guess() {
    let sandbox = with(&[job(ID, &json!({}))]);
    serving::configure(&sandbox, "");
    let mut serve = Serving::at(&sandbox, NOW);
    serve.clock("settle");
    let pid = serve.pid();
    assert_eq!(serve.stop().code(), Some(0));
    let found = found(&sandbox, "HM402");
    let tail = format!("nothing that ticks it runs now: the one that did, pid {pid}, is gone");
    assert!(summary(&found).ends_with(&tail), "{found}");
}

#[test]
fn b107_whoever_keeps_passes_from_a_home_is_named_with_pid_command_and_age() {
    let sandbox = with(&[job(ID, &json!({}))]);
    let now: jiff::Timestamp = NOW.parse().expect("an instant");
    let (own, at) = (std::process::id(), now.as_second());
    sandbox.write("cron/ticker_heartbeat", format!("{}.0 {own}", at - 20));
    sandbox.write("cron/ticker_last_success", format!("{}.0", at - 3600));
    let path = sandbox.write("cron/.tick.lock", "");
    let patience = std::time::Duration::from_secs(10);
    let _held = hermes::cron::jobs_lock::take(&path, patience).expect("the lock");
    let found = found(&sandbox, "HM406");
    let evidence = found["evidence"].as_array().expect("evidence");
    let lock = evidence.iter().find(|seen| seen["kind"] == "lock");
    let words = lock.and_then(|seen| seen["observed"].as_str());
    let words = words.unwrap_or_else(|| panic!("no lock: {found:#}"));
    assert!(
        words.starts_with(&format!("held by pid {own} (")),
        "{words}"
    );
    assert!(
        words.contains("main") && words.ends_with(" old)"),
        "{words}"
    );
}
