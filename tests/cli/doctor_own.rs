//! What the doctor says of the sessions and timers of our own serve.

use serde_json::Value;

use crate::common::Sandbox;
use crate::common::serving::{self, Serving};

/// The clock of the serve an hour and ten minutes after its begin.
const LATER: &str = "2026-06-02T00:10:00Z";

/// The codes of its findings and their summaries, at this time.
fn told(sandbox: &Sandbox, now: &str) -> Vec<(String, String)> {
    let output = sandbox
        .hermes()
        .env("__HERMES_NOW", now)
        .args(["cron", "doctor", "--only", "loops", "--json"])
        .output()
        .expect("it runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let word = |finding: &Value, key: &str| finding[key].as_str().expect("a word").to_owned();
    let findings = report["findings"].as_array().expect("findings");
    let told = findings
        .iter()
        .map(|finding| (word(finding, "code"), word(finding, "summary")));
    told.collect()
}

#[test]
fn b115_timers_of_our_serve_are_driven_while_it_lives_and_only_then() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let mut serve = Serving::start(&sandbox);
    for kind in ["loop", "heartbeat"] {
        let args = [kind, "start", "30m", "ask:", "check"];
        sandbox.hermes().args(args).assert().code(0);
    }
    // The first wake-up of the loop is answered, and that is stored.
    serve.clock("settle");
    assert_eq!(told(&sandbox, serving::BEGIN), []);
    serve.kill();
    let found = told(&sandbox, LATER);
    let codes: Vec<_> = found.iter().map(|(code, _)| code.as_str()).collect();
    assert_eq!(codes, ["HM701", "HM701"], "{found:?}");
    for (kind, (_, summary)) in ["loop", "heartbeat"].iter().zip(&found) {
        assert!(summary.starts_with(&format!("the {kind} of session ")));
        assert!(summary.contains("is not driven: overdue by"), "{summary}");
    }
    // The next serve takes them over.
    let mut serve = Serving::at(&sandbox, LATER);
    serve.clock("settle");
    assert_eq!(told(&sandbox, LATER), []);
    assert_eq!(serve.stop().code(), Some(0));
}

#[test]
fn a_session_of_ours_that_was_closed_under_its_loop_has_ended() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let mut serve = Serving::start(&sandbox);
    let args = ["loop", "start", "30m", "ask:", "check"];
    sandbox.hermes().args(args).assert().code(0);
    let listed = sandbox.hermes().args(["loop", "list", "--json"]).output();
    let listed: Value = serde_json::from_slice(&listed.expect("it runs").stdout).expect("JSON");
    let session = listed["loops"][0]["session"].as_str().expect("a session");
    sandbox
        .hermes()
        .args(["session", "close", session])
        .assert()
        .code(0);
    // The store is written behind the answer.
    serve.clock("settle");
    let found = told(&sandbox, serving::BEGIN);
    assert_eq!(found.len(), 1, "{found:?}");
    let (code, summary) = &found[0];
    assert_eq!(code, "HM705");
    assert!(summary.contains("has ended (tui_close)"), "{summary}");
    sandbox
        .hermes()
        .args(["loop", "stop", session])
        .assert()
        .code(0);
    serve.clock("settle");
    assert_eq!(told(&sandbox, serving::BEGIN), []);
    assert_eq!(serve.stop().code(), Some(0));
}
