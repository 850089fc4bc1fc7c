//! Which process has a session live: what serve tells other programs, and what it reads of them.

use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::serving::{self, Serving};

const REGISTRY: &str = "runtime/active_sessions.json";

fn leases(sandbox: &Sandbox) -> Vec<Value> {
    let Ok(text) = std::fs::read_to_string(sandbox.home().join(REGISTRY)) else {
        return Vec::new();
    };
    let document: Value = serde_json::from_str(&text).expect("JSON");
    document["entries"].as_array().expect("entries").clone()
}

/// Waits until serve has told of so many sessions.
fn told(sandbox: &Sandbox, serve: &Serving, count: usize) -> Vec<Value> {
    loop {
        let leases = leases(sandbox);
        if leases.len() == count {
            return leases;
        }
        assert_eq!(serve.page("/healthz").0, 200);
    }
}

/// A session with a loop; its stored id.
fn set(serve: &mut Serving) -> String {
    let mut client = serve.client();
    let made = client.call("session.create", &json!({"source": "tui"}));
    let params = json!({"session_id": made["session_id"], "name": "loop", "arg": "5m ask: check"});
    client.call("command.dispatch", &params);
    client.wait_for("message.complete");
    serve.clock("settle");
    made["stored_session_id"]
        .as_str()
        .expect("an id")
        .to_owned()
}

#[test]
fn other_programs_learn_which_sessions_are_ours() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let mut serve = Serving::start(&sandbox);
    // A draft is nobody's business.
    serve.client().call("session.create", &json!({}));
    let stored = set(&mut serve);
    let lease = &told(&sandbox, &serve, 1)[0];
    assert_eq!(lease["session_id"], stored.as_str());
    assert_eq!(lease["surface"], "serve");
    assert_eq!(lease["pid"], serve.pid());
    assert_eq!(lease["lease_id"].as_str().map(str::len), Some(32));
    assert_eq!(
        lease["metadata"]["live_session_id"].as_str().map(str::len),
        Some(8)
    );
    // Killed, it leaves its lease behind, and the next one takes it over.
    serve.kill();
    assert_eq!(leases(&sandbox).len(), 1);
    let serve = Serving::start(&sandbox);
    while told(&sandbox, &serve, 1)[0]["pid"] != serve.pid() {}
    let list = sandbox.hermes().args(["loop", "list"]).assert().code(0);
    let list = String::from_utf8_lossy(&list.get_output().stdout).into_owned();
    assert!(list.contains("active"), "{list}");
    assert_eq!(serve.stop().code(), Some(0));
    assert!(leases(&sandbox).is_empty());
}

/// Another process of the family that has a session of ours live; any that lives will do.
struct Elsewhere {
    other: Serving,
    lease: Value,
    _sandbox: Sandbox,
}

impl Elsewhere {
    fn with(ours: &Sandbox, session: &str) -> Self {
        let sandbox = Sandbox::new();
        serving::configure(&sandbox, "");
        let other = Serving::start(&sandbox);
        let lease = json!({
            "lease_id": "0".repeat(32), "session_id": session, "surface": "tui", "pid": other.pid(),
            "started_at": 1.0, "updated_at": 1.0,
        });
        ours.write(REGISTRY, json!({"entries": [lease]}).to_string());
        Self {
            other,
            lease,
            _sandbox: sandbox,
        }
    }
}

/// A serve whose session with a loop another process has live, once it has let wake-ups pass; the
/// session's stored id.
fn left_to_another(sandbox: &Sandbox) -> (Serving, Elsewhere, String) {
    serving::configure(sandbox, "");
    let mut serve = Serving::start(sandbox);
    let stored = set(&mut serve);
    assert_eq!(serve.stop().code(), Some(0));
    let elsewhere = Elsewhere::with(sandbox, &stored);
    let mut serve = Serving::at(sandbox, "2026-06-01T23:10:00Z");
    serve.pass(600, 60);
    assert_eq!(serving::asked(sandbox).len(), 1, "it has another driver");
    (serve, elsewhere, stored)
}

#[test]
fn a_session_that_another_process_has_live_is_left_to_it() {
    let sandbox = Sandbox::new();
    let (mut serve, elsewhere, stored) = left_to_another(&sandbox);
    let mut client = serve.client();
    let refused = client.ask("session.resume", &json!({"session_id": stored}));
    assert_eq!(refused["error"]["code"], 4090, "{refused}");
    let holder = format!("tui, pid {}", elsewhere.other.pid());
    let data = &refused["error"]["data"];
    assert_eq!(data["holder"], holder.as_str());
    assert_eq!(data["since"], 1);
    assert_eq!(leases(&sandbox), std::slice::from_ref(&elsewhere.lease));

    elsewhere.other.kill();
    client.call("session.resume", &json!({"session_id": stored}));
    serve.clock("settle");
    assert_eq!(serving::asked(&sandbox).len(), 2);
    assert_eq!(told(&sandbox, &serve, 1)[0]["pid"], serve.pid());
}

#[test]
fn a_loop_whose_other_driver_ends_is_driven_again_though_nobody_asks() {
    let sandbox = Sandbox::new();
    let (mut serve, elsewhere, _) = left_to_another(&sandbox);
    // Killed, it leaves its lease; the next look is at most five minutes later.
    elsewhere.other.kill();
    serve.pass(300, 60);
    assert_eq!(serving::asked(&sandbox).len(), 2, "what was missed is one");
    serve.pass(300, 60);
    assert_eq!(serving::asked(&sandbox).len(), 3);
    assert_eq!(told(&sandbox, &serve, 1)[0]["pid"], serve.pid());
}

#[test]
fn a_registry_that_cannot_be_read_frees_no_session() {
    let sandbox = Sandbox::new();
    let (mut serve, elsewhere, stored) = left_to_another(&sandbox);
    let path = sandbox.home().join(REGISTRY);
    let readable = std::fs::read(&path).expect("the registry");
    sandbox.write(REGISTRY, "{\"entries\": [");
    serve.pass(600, 60);
    assert_eq!(serving::asked(&sandbox).len(), 1, "its driver lives");
    let refused = serve
        .client()
        .ask("session.resume", &json!({"session_id": stored}));
    let words = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(words.contains("active_sessions.json"), "{refused}");
    assert_eq!(serve.stop().code(), Some(0));

    // Nor does one that starts while it cannot be read take any.
    let mut serve = Serving::at(&sandbox, "2026-06-01T23:40:00Z");
    serve.pass(600, 60);
    assert_eq!(serving::asked(&sandbox).len(), 1, "its driver lives");
    sandbox.write(REGISTRY, readable);
    serve.pass(300, 60);
    assert_eq!(serving::asked(&sandbox).len(), 1, "its driver lives");
    elsewhere.other.kill();
    serve.pass(300, 60);
    assert_eq!(serving::asked(&sandbox).len(), 2);
}

#[test]
fn a_lease_of_a_dead_process_on_a_session_of_ours_is_taken_back() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let mut serve = Serving::start(&sandbox);
    let stored = set(&mut serve);
    sandbox
        .hermes()
        .args(["session", "close", &stored])
        .assert()
        .code(0);
    told(&sandbox, &serve, 0);
    let dead = |session: &str| {
        json!({
            "lease_id": session, "session_id": session, "surface": "tui", "pid": 4_194_304,
            "started_at": 1.0, "updated_at": 1.0,
        })
    };
    let theirs = dead("20260101_090000_abcdef");
    // A pid that somebody else has by now is no live session either.
    let mut reused = dead(&stored);
    reused["pid"] = json!(std::process::id());
    reused["process_start_time"] = json!(1.0);
    let document = json!({"entries": [reused, theirs]});
    sandbox.write(REGISTRY, document.to_string());
    serve.pass(300, 60);
    assert_eq!(told(&sandbox, &serve, 1), [theirs]);
    assert_eq!(serving::asked(&sandbox).len(), 1, "it stays closed");
}
