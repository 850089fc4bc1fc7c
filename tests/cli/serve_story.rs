//! The first story, through the binary: set at 23:00, alive in the morning.

use serde_json::json;

use crate::common::Sandbox;
use crate::common::agent;
use crate::common::serving::{self, Serving};

const HOUR: u32 = 3600;

#[test]
fn a_loop_set_at_23_00_goes_on_after_its_client_is_gone() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let mut serve = Serving::start(&sandbox);
    let mut client = serve.client();
    let made = client.call("session.create", &json!({"source": "tui"}));
    let (session, stored) = (
        made["session_id"].clone(),
        made["stored_session_id"].clone(),
    );
    let params = json!({"session_id": session, "name": "loop", "arg": "30m ask: check the build"});
    let set = client.call("command.dispatch", &params);
    assert_eq!(set["type"], "exec");
    client.wait_for("message.complete");
    let seen = client
        .events
        .iter()
        .filter_map(|event| event["seq"].as_u64())
        .max();
    drop(client);

    // Beyond the grace, the idle limit, and every look of the maintenance.
    serve.pass(8 * HOUR, 300);
    let ticks = serving::asked(&sandbox).len();
    assert_eq!(ticks, 17, "one at once, then two an hour");

    let mut client = serve.client();
    let resumed = client.call("session.resume", &json!({"session_id": stored}));
    assert_eq!(resumed["session_id"], session, "it was never let go");
    assert_eq!(resumed["messages"].as_array().map(Vec::len), Some(34));
    let params = json!({"session_id": session, "last_seen": seen});
    let missed = client.call("session.events.since", &params);
    assert_eq!(missed["truncated"], false);
    let complete = |event: &&serde_json::Value| event["type"] == "message.complete";
    let events = missed["events"].as_array().expect("events");
    assert!(events.iter().filter(complete).count() >= 16);

    // A pause frees the session.
    client.call(
        "session.control",
        &json!({"session_id": session, "action": "loop.pause"}),
    );
    drop(client);
    let mut watcher = serve.client();
    serve.clock("advance 21");
    let gone = watcher.wait_for("session.reclaimed");
    assert_eq!(gone["payload"]["stored_session_id"], stored);
    assert_eq!(gone["payload"]["reason"], "ws_orphan_reap");
    serve.pass(2 * HOUR, 300);
    assert_eq!(serving::asked(&sandbox).len(), ticks);
    assert_eq!(serve.stop().code(), Some(0));
}

#[test]
fn the_budget_and_the_marker_free_a_session_too() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "[loops]\nmax_ticks = 3\n");
    let mut serve = Serving::start(&sandbox);
    let mut client = serve.client();
    for text in ["5m ask: budget", "5m ask: marker"] {
        if text.ends_with("marker") {
            agent::does(&sandbox, &["say nothing is left", "say LOOP_COMPLETE"]);
        }
        let made = client.call("session.create", &json!({}));
        let params = json!({"session_id": made["session_id"], "name": "loop", "arg": text});
        client.call("command.dispatch", &params);
        client.wait_for("message.complete");
        agent::does(&sandbox, &["say all good"]);
    }
    drop(client);
    serve.pass(HOUR, 60);
    let asked = serving::asked(&sandbox);
    let count = |text: &str| asked.iter().filter(|line| line.ends_with(text)).count();
    assert_eq!((count("budget"), count("marker")), (3, 1));
    let mut client = serve.client();
    let live = client.call("session.active_list", &json!({}));
    assert_eq!(live["sessions"], json!([]));
}

#[test]
fn the_same_with_a_heartbeat() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "[heartbeats]\nmax_beats = 6\n");
    let mut serve = Serving::start(&sandbox);
    let mut client = serve.client();
    let made = client.call("session.create", &json!({}));
    let command = "/heartbeat every 30m ask: how is it";
    let params = json!({"session_id": made["session_id"], "command": command});
    client.call("slash.exec", &params);
    drop(client);
    serve.pass(2 * HOUR + 60, 60);
    assert_eq!(serving::asked(&sandbox).len(), 4);
    serve.pass(4 * HOUR, 60);
    assert_eq!(serving::asked(&sandbox).len(), 6, "its beats are numbered");
    let mut client = serve.client();
    let live = client.call("session.active_list", &json!({}));
    assert_eq!(live["sessions"], json!([]));
}

#[test]
fn b122_a_night_on_which_the_host_slept_is_one_wake_up() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let mut serve = Serving::start(&sandbox);
    let mut client = serve.client();
    let made = client.call("session.create", &json!({"source": "tui"}));
    let session = made["session_id"].clone();
    let params = json!({"session_id": session, "name": "loop", "arg": "30m ask: check"});
    client.call("command.dispatch", &params);
    client.wait_for("message.complete");
    drop(client);
    serve.clock("settle");
    // Asleep, the grace of its client does not run; the loop's slots pass.
    serve.clock("suspend 28800");
    serve.clock("settle");
    assert_eq!(serving::asked(&sandbox).len(), 2);
    let mut client = serve.client();
    let params = json!({"session_id": made["stored_session_id"]});
    let resumed = client.call("session.resume", &params);
    assert_eq!(resumed["session_id"], session);
    let past = client.call("timer.history", &json!({"session_id": session}));
    assert_eq!(past["ticks"][0]["missed"], 15, "{past}");
    serve.pass(1800, 60);
    assert_eq!(
        serving::asked(&sandbox).len(),
        3,
        "the next slot is its own"
    );
}
