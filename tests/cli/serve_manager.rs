//! What a service manager is told by `hermes serve`, and when it is told nothing.

use rustix::process::Signal;
use serde_json::json;

use crate::common::Sandbox;
use crate::common::log::Log;
use crate::common::manager::Manager;
use crate::common::serving::{self, Serving};

#[test]
fn ready_status_reload_and_stop_are_told() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let mut command = serving::command(&sandbox, serving::BEGIN, &[]);
    command.env("HERMES_CRON_DRAIN_TIMEOUT", "300");
    let mut manager = Manager::of(&sandbox, &mut command);
    let mut serve = Serving::ready(&sandbox, command.spawn().expect("it starts"));
    let begin = manager.hear("READY=1").concat();
    assert!(begin.contains("STATUS=0 sessions, 0 turns run"), "{begin}");
    assert!(!begin.contains("WATCHDOG"), "nobody asked for it: {begin}");
    let mut client = serve.client();
    let made = client.call("session.create", &json!({}));
    let params = json!({"session_id": made["session_id"], "text": "ask: hi"});
    client.call("prompt.submit", &params);
    manager.hear("STATUS=1 sessions, 1 turns run, 0 wait");
    manager.hear("STATUS=1 sessions, 0 turns run, 0 wait");

    serve.signal(Signal::HUP);
    let reload = manager.hear("RELOADING=1").pop().expect("a message");
    let since = reload
        .split('\n')
        .find_map(|line| line.strip_prefix("MONOTONIC_USEC="));
    assert!(
        since.is_some_and(|usec| usec.parse::<u64>().is_ok()),
        "{reload}"
    );
    manager.hear("READY=1");

    serve.signal(Signal::TERM);
    let stop = manager.hear("STOPPING=1").pop().expect("a message");
    assert!(stop.contains("STATUS=draining"), "{stop}");
    let more = stop
        .split('\n')
        .find_map(|line| line.strip_prefix("EXTEND_TIMEOUT_USEC="));
    let more: u64 = more.expect("it asks for time").parse().expect("a number");
    assert!(more > 300_000_000, "jobs may take that long: {stop}");
    assert_eq!(serve.wait().code(), Some(0));
}

#[test]
fn the_watchdog_starves_while_a_driver_is_stuck() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let mut command = serving::command(&sandbox, serving::BEGIN, &[]);
    let mut manager = Manager::of(&sandbox, &mut command);
    command.env("WATCHDOG_USEC", "100000");
    let (child, mut log) = Log::of(command);
    let mut serve = Serving::ready(&sandbox, child);
    for _ in 0..3 {
        manager.hear("WATCHDOG=1");
    }
    // The store's thread waits for a lock while a minute goes by.
    let store = hermes::db::connect(&sandbox.home().join("state.db")).expect("a connection");
    store.execute_batch("BEGIN EXCLUSIVE").expect("a lock");
    let mut client = serve.client();
    let made = client.call("session.create", &json!({}));
    let params = json!({"session_id": made["session_id"], "title": "a row to write"});
    client.call("session.title", &params);
    let prompt = json!({"session_id": made["session_id"], "text": "ask: hi"});
    client.call("prompt.submit", &prompt);
    serve.clock("advance 61");
    log.wait_for("Drivers do not turn: store.");
    let (status, page) = serve.page("/readyz");
    assert_eq!(status, 503, "{page}");
    assert!(page.contains("\"stuck\":[\"store\"]"), "{page}");
    // What was told before this is heard before it.
    serve.signal(Signal::HUP);
    manager.hear("RELOADING=1");
    manager.hear("READY=1");
    log.wait_for("Drivers do not turn: store.");
    log.wait_for("Drivers do not turn: store.");
    manager.is_told_nothing_of("WATCHDOG=1");
    store.execute_batch("ROLLBACK").expect("its end");
    manager.hear("WATCHDOG=1");
    serve.clock("settle");
    assert_eq!(serve.page("/readyz").0, 200);
}

#[test]
fn a_manager_that_does_not_listen_holds_up_nothing() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let mut command = serving::command(&sandbox, serving::BEGIN, &[]);
    let mut manager = Manager::of(&sandbox, &mut command);
    let mut serve = Serving::ready(&sandbox, command.spawn().expect("it starts"));
    manager.hear("READY=1");
    // Two changes of the status each, of which a socket keeps a few for somebody who sleeps.
    let mut client = serve.client();
    for _ in 0..100 {
        let made = client.call("session.create", &json!({}));
        let close = json!({"session_id": made["session_id"]});
        client.call("session.close", &close);
    }
    assert_eq!(serve.page("/healthz").0, 200);
    manager.forget();
    serve.signal(Signal::TERM);
    manager.hear("STOPPING=1");
    assert_eq!(serve.wait().code(), Some(0));
}
