//! Orders to timers and sessions while no serve runs: whose session is changed, and whose is not.

use std::path::Path;

use predicates::prelude::*;
use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::serving::{self, Serving};

const LATER: &str = "2026-12-29T23:00:00Z";
const LOOPING: &str = "20260101_090000_aaaaaa";
const REGISTRY: &str = "runtime/active_sessions.json";

fn run(sandbox: &Sandbox, args: &[&str]) -> assert_cmd::assert::Assert {
    sandbox
        .hermes()
        .env("__HERMES_NOW", LATER)
        .args(args)
        .assert()
}

fn json_of(sandbox: &Sandbox, args: &[&str]) -> Value {
    let done = run(sandbox, args).code(0);
    serde_json::from_slice(&done.get_output().stdout).expect("JSON")
}

fn store(sandbox: &Sandbox) -> rusqlite::Connection {
    #[expect(
        clippy::disallowed_methods,
        reason = "the test looks at what was written"
    )]
    rusqlite::Connection::open(sandbox.home().join("state.db")).expect("a store")
}

fn row(sandbox: &Sandbox, key: &str) -> Value {
    let sql = "SELECT value FROM state_meta WHERE key = ?1";
    let text: String = store(sandbox)
        .query_row(sql, [key], |row| row.get(0))
        .expect("a row");
    serde_json::from_str(&text).expect("JSON")
}

/// The start of this process as the registry has it.
fn own_start() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("stat");
    let after = stat.rsplit(") ").next().expect("its fields");
    let ticks: f64 = after
        .split(' ')
        .nth(19)
        .expect("a start")
        .parse()
        .expect("ticks");
    let booted = std::fs::read_to_string("/proc/stat").expect("stat");
    let booted = booted.lines().find_map(|line| line.strip_prefix("btime "));
    booted
        .expect("btime")
        .trim()
        .parse::<f64>()
        .expect("a time")
        + ticks / 100.0
}

#[test]
fn a_timer_of_the_other_program_that_nobody_has_is_ordered_by_the_begin_of_its_session() {
    let sandbox = Sandbox::with_sample_home();
    let key = format!("loop:{LOOPING}");
    let before = row(&sandbox, &key);
    let paused = json_of(&sandbox, &["loop", "pause", "--json", "20260101_0900"]);
    assert_eq!(paused["session"], LOOPING);
    assert_eq!(paused["loop"]["status"], "paused");
    run(&sandbox, &["loop", "stop", LOOPING]).code(0);
    let mut after = row(&sandbox, &key);
    assert_eq!(after["status"], "cleared");
    assert_eq!(after["last_stop_reason"], "stopped by the user");
    for name in ["status", "paused_reason", "last_stop_reason"] {
        after[name] = before[name].clone();
    }
    assert_eq!(after, before, "all else is as it was");
    let ours =
        store(&sandbox).query_row("SELECT count(*) FROM hermes_timers", [], |row| row.get(0));
    assert_eq!(ours, Ok(0));
    // The session of this one has ended.
    run(&sandbox, &["heartbeat", "stop", "20260101_0915"]).code(0);
    assert_eq!(
        row(&sandbox, "heartbeat:20260101_091500_bbbbbb")["status"],
        "cleared"
    );
    run(&sandbox, &["loop", "stop", "20260101_09"])
        .code(1)
        .stderr(
            predicate::str::contains("several sessions").and(predicate::str::contains(LOOPING)),
        );
    run(&sandbox, &["loop", "stop", "nobody"])
        .code(1)
        .stderr(predicate::str::contains(
            "no session of this home is called 'nobody'",
        ));
}

#[test]
fn what_somebody_alive_may_have_is_left_to_him() {
    let sandbox = Sandbox::with_sample_home();
    // By the real clock: a process that lives is known by when it began.
    let now = |args: &[&str]| sandbox.hermes().args(args).assert();
    let before = row(&sandbox, &format!("loop:{LOOPING}"));
    let lease = json!({"entries": [{
        "lease_id": "1", "session_id": LOOPING, "surface": "tui",
        "pid": std::process::id(), "process_start_time": own_start(),
    }]});
    sandbox.write(REGISTRY, lease.to_string());
    let who = format!("tui, pid {}", std::process::id());
    for args in [["loop", "stop", LOOPING], ["session", "close", LOOPING]] {
        now(&args)
            .code(1)
            .stderr(predicate::str::contains(who.as_str()));
    }
    sandbox.write(REGISTRY, "{");
    now(&["loop", "stop", LOOPING])
        .code(1)
        .stderr(predicate::str::contains("active_sessions.json"));
    // Nobody has a lease, but a backend that lives may have loaded the session.
    sandbox.write(REGISTRY, "{\"entries\":[]}");
    let alive = "UPDATE gateway_heartbeats SET last_heartbeat = strftime('%s', 'now')";
    store(&sandbox)
        .execute_batch(alive)
        .expect("a sign of life");
    now(&["loop", "stop", LOOPING])
        .code(1)
        .stderr(predicate::str::contains(
            "default@sample-host:4242:0badcafe",
        ));
    assert_eq!(row(&sandbox, &format!("loop:{LOOPING}")), before);
}

#[test]
fn closing_gives_a_left_over_lease_back() {
    let sandbox = Sandbox::with_sample_home();
    let registry = sandbox.home().join(REGISTRY);
    let read = |path: &Path| -> Value {
        serde_json::from_slice(&std::fs::read(path).expect("a registry")).expect("JSON")
    };
    run(&sandbox, &["session", "close", "--dry-run", LOOPING])
        .code(0)
        .stdout(predicate::str::contains("would close"));
    assert_eq!(read(&registry)["entries"].as_array().map(Vec::len), Some(1));
    run(&sandbox, &["session", "close", LOOPING])
        .code(0)
        .stderr(predicate::str::contains("desktop, pid 4242"));
    assert_eq!(read(&registry), json!({"entries": []}));
    run(&sandbox, &["session", "close", LOOPING])
        .code(1)
        .stderr(predicate::str::contains("no process has a lease on it"));
}

#[test]
fn a_session_that_a_killed_serve_left_is_closed_and_its_past_is_still_told() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let mut serve = Serving::start(&sandbox);
    let set = json_of(
        &sandbox,
        &["loop", "start", "--json", "30m", "ask:", "check"],
    );
    let id = set["session"].as_str().expect("a session").to_owned();
    let beat = [
        "heartbeat",
        "start",
        "--json",
        "--session",
        &id,
        "10m",
        "ask: beat",
    ];
    json_of(&sandbox, &beat);
    serve.pass(1860, 60);
    let begin = &id[..15];
    let past = |what: &str| {
        let past = json_of(
            &sandbox,
            &[what, "history", "--json", "--limit", "1", begin],
        );
        assert_eq!(past["session"], id.as_str());
        past["ticks"].as_array().map(Vec::len)
    };
    assert_eq!((past("loop"), past("heartbeat")), (Some(1), Some(1)));
    serve.kill();
    run(&sandbox, &["session", "close", begin]).code(0);
    let list = json_of(&sandbox, &["session", "list", "--json"]);
    assert_eq!(list["sessions"], json!([]));
    let loops = json_of(&sandbox, &["loop", "list", "--json"]);
    assert_eq!(loops["loops"][0]["state"], "not driven", "{loops}");
    run(&sandbox, &["session", "close", begin])
        .code(1)
        .stderr(predicate::str::contains(
            "has ended already: it was closed (tui_close)",
        ));
    assert_eq!(past("loop"), Some(1));
    let serve = Serving::start(&sandbox);
    assert_eq!((past("loop"), past("heartbeat")), (Some(1), Some(1)));
    run(&sandbox, &["loop", "history", "nobody"])
        .code(1)
        .stderr(predicate::str::contains(
            "no session of this home has the id nobody",
        ));
    drop(serve);
}

#[test]
fn a_timer_of_the_messaging_gateway_loses_no_driver_with_its_session() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let serve = Serving::start(&sandbox);
    let set = json_of(&sandbox, &["loop", "start", "--json", "30m", "ask: check"]);
    let id = set["session"].as_str().expect("a session").to_owned();
    serve.kill();
    let key = format!("loop:{id}");
    let mut routed = row(&sandbox, &key);
    routed["route"] = json!({"platform": "telegram", "chat_id": "7"});
    let store = store(&sandbox);
    let change = "UPDATE state_meta SET value = ?2 WHERE key = ?1";
    let changed = store.execute(change, [&key, &routed.to_string()]);
    assert_eq!(changed.expect("it is written"), 1);
    run(&sandbox, &["session", "close", &id]).code(0);
    let left = "SELECT count(*) FROM hermes_timers WHERE not_driven IS NOT NULL";
    let left: i64 = store
        .query_row(left, [], |row| row.get(0))
        .expect("a count");
    assert_eq!(left, 0);
    let loops = json_of(&sandbox, &["loop", "list", "--json"]);
    let because = loops["loops"][0]["because"].as_str().expect("words");
    assert!(because.contains("no messaging gateway runs"), "{because}");
}

#[test]
fn what_serve_does_not_judge_is_counted() {
    let sandbox = Sandbox::with_sample_home();
    serving::configure(
        &sandbox,
        "[loops]\nmax_ticks = 0\n[serve]\nsession_ttl_seconds = 0\n",
    );
    let serve = Serving::start(&sandbox);
    json_of(
        &sandbox,
        &["loop", "start", "--json", "30m", "ask:", "check"],
    );
    // Serve never has a session of the other program, so that its timer is ordered beside serve too.
    run(&sandbox, &["loop", "stop", LOOPING]).code(0);
    assert_eq!(
        row(&sandbox, &format!("loop:{LOOPING}"))["status"],
        "cleared"
    );
    let plan = json_of(&sandbox, &["session", "reap", "--dry-run", "--json"]);
    assert_eq!(plan["left_out"]["ended: startup_orphan_reap"], 1);
    assert_eq!(
        plan["left_out"]["open, not held by serve, of Hermes Agent"],
        2
    );
    let lifted = plan["lifted"].to_string();
    assert!(lifted.contains("The idle limit is 0"), "{lifted}");
    let done = run(&sandbox, &["session", "reap", "--dry-run"]).code(0);
    let (said, noted) = (&done.get_output().stdout, &done.get_output().stderr);
    let said = String::from_utf8_lossy(said).into_owned();
    assert!(
        said.contains("left out  2  open, not held by serve"),
        "{said}"
    );
    assert!(said.contains("keep, unbounded"), "{said}");
    assert!(String::from_utf8_lossy(noted).contains("The idle limit is 0"));
    drop(serve);
}
