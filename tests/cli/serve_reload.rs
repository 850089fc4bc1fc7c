//! What serve says of itself while it runs: the configuration that it reads again, the programs beside
//! it, the holder that it waits for.

use std::fs::File;

use rustix::process::Signal;
use serde_json::Value;

use crate::common::Sandbox;
use crate::common::log::Log;
use crate::common::manager::Manager;
use crate::common::serving::{self, Serving};

fn logged(sandbox: &Sandbox, arguments: &[&str]) -> (std::process::Child, Log) {
    Log::of(serving::command(sandbox, serving::BEGIN, arguments))
}

fn ready(serve: &Serving) -> (u16, Value) {
    let (status, body) = serve.page("/readyz");
    (status, serde_json::from_str(&body).expect("JSON"))
}

#[test]
fn a_reload_says_what_changed_and_what_needs_a_restart() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let (child, mut log) = logged(&sandbox, &[]);
    let serve = Serving::ready(&sandbox, child);
    serve.signal(Signal::HUP);
    log.wait_for("nothing has changed");
    let more = "[serve]\nhost = \"127.0.0.2\"\ncron = false\n[heartbeats]\nmax_beats = 5\n\
                [cron]\nmax_parallel_jobs = 3\n";
    serving::configure(&sandbox, more);
    serve.signal(Signal::HUP);
    let changed = log.wait_for("Changed:");
    for name in ["heartbeats.max_beats", "serve.host", "serve.cron"] {
        assert!(changed.contains(name), "{changed}");
    }
    let restart = "Changed, and in force after a restart: serve.host, serve.cron.";
    log.wait_for(restart);
    log.wait_for("in force for cron jobs after a restart: cron.max_parallel_jobs.");
    let (status, page) = ready(&serve);
    assert_eq!(status, 200);
    assert!(page["notes"].to_string().contains(restart), "{page}");

    serving::configure(&sandbox, "");
    serve.signal(Signal::HUP);
    log.wait_for("No longer so: Changed, and in force after a restart");
    assert_eq!(ready(&serve).1["notes"], serde_json::json!([]));
}

#[test]
fn a_file_that_cannot_be_read_takes_nothing_away() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let (child, mut log) = logged(&sandbox, &[]);
    let serve = Serving::ready(&sandbox, child);
    sandbox.write("config.toml", "[agent\ncommand = \"\n");
    serve.signal(Signal::HUP);
    log.wait_for("config.toml");
    log.wait_for("The settings of before stay in force.");
    let (_, page) = ready(&serve);
    assert_eq!(page["agent"], Value::Null, "{page}");
    assert!(page["notes"].to_string().contains("config.toml"), "{page}");
    let mut client = serve.client();
    let made = client.call("session.create", &serde_json::json!({}));
    let params = serde_json::json!({"session_id": made["session_id"], "text": "ask: still"});
    client.call("prompt.submit", &params);
    client.wait_for("message.complete");
    assert_eq!(serving::asked(&sandbox), ["ask: still"]);

    // One value that is wrong is named once, with its place.
    serving::configure(&sandbox, "[serve]\nport = \"x\"\n");
    serve.signal(Signal::HUP);
    let told = log.wait_for("not a port");
    let path = sandbox.home().join("config.toml");
    let place = format!(
        "WARN {}:4:8: serve.port is 'x', not a port from 0 to 65535",
        path.display()
    );
    assert!(told.trim_end().ends_with(&place), "{told}");

    serving::configure(&sandbox, "");
    serve.signal(Signal::HUP);
    log.wait_for("No longer so: The settings of before");
    // Each note goes with a line of its own.
    let is_clear = || ready(&serve).1["notes"] == serde_json::json!([]);
    assert!((0..500).any(|_| is_clear()), "{}", ready(&serve).1);
}

#[test]
fn a_gateway_that_comes_later_is_said_and_so_is_its_end() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let (child, mut log) = logged(&sandbox, &[]);
    let mut serve = Serving::ready(&sandbox, child);
    let lock = File::create(sandbox.home().join("gateway.lock")).expect("a file");
    lock.try_lock().expect("nobody has it");
    serve.begin_clock("advance 61");
    let pid = std::process::id();
    let said = log.wait_for("A gateway of Hermes Agent");
    assert!(
        said.contains(&format!("(pid {pid}) serves this home")),
        "{said}"
    );
    let notes = ready(&serve).1["notes"].to_string();
    assert!(notes.contains("A gateway of Hermes Agent"), "{notes}");
    drop(lock);
    serve.begin_clock("advance 61");
    log.wait_for("No longer so: A gateway of Hermes Agent");
}

#[test]
fn a_passive_one_says_whom_it_waits_for_and_reads_its_configuration_then() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let first = Serving::start(&sandbox);
    let mut command = serving::command(&sandbox, serving::BEGIN, &["--passive"]);
    let mut manager = Manager::of(&sandbox, &mut command);
    let (child, mut log) = Log::of(command);
    let holder = format!("pid {}", first.pid());
    let line = log.wait_for("It stands by");
    assert!(line.contains(&holder), "{line}");
    let status = manager.hear("READY=1").concat();
    assert!(
        status.contains(&format!("STATUS=stands by: {holder}")),
        "{status}"
    );
    // A reload of one that waits is no end of it.
    serving::send(child.id(), Signal::HUP);
    manager.hear("RELOADING=1");

    serving::configure(&sandbox, "[heartbeats]\ndefault_interval = 3600\n");
    first.kill();
    let second = Serving::ready(&sandbox, child);
    let mut client = second.client();
    let made = client.call("session.create", &serde_json::json!({}));
    let params = serde_json::json!({"session_id": made["session_id"], "command": "/heartbeat"});
    let answer = client.call("slash.exec", &params);
    let text = answer["output"].as_str().expect("words");
    assert!(text.contains("every 1h"), "{text}");
}

#[test]
fn one_that_waits_can_be_told_to_stop() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let first = Serving::start(&sandbox);
    let (mut child, mut log) = logged(&sandbox, &["--passive"]);
    log.wait_for("It stands by");
    serving::send(child.id(), Signal::TERM);
    assert_eq!(child.wait().expect("its end").code(), Some(0));
    assert_eq!(first.page("/readyz").0, 200);
}

#[test]
fn a_reload_that_comes_while_serve_begins_is_not_lost() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    Serving::start(&sandbox).stop();
    // It waits for its store.
    let store = hermes::db::connect(&sandbox.home().join("state.db")).expect("a connection");
    store.execute_batch("BEGIN EXCLUSIVE").expect("a lock");
    let (child, mut log) = logged(&sandbox, &[]);
    while !sandbox.home().join("run/serve.json").exists() {
        std::thread::yield_now();
    }
    serving::send(child.id(), Signal::HUP);
    store.execute_batch("ROLLBACK").expect("its end");
    let serve = Serving::ready(&sandbox, child);
    assert_eq!(serve.stop().code(), Some(0));
    log.wait_for("The configuration was read again");
}
