//! Turns through the binary: how many run, who is refused and until when, what a stop leaves, and that no
//! process of an agent outlives its turn.

use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::agent::{self, Alive, STALLS};
use crate::common::serving::{self, Serving};
use crate::common::ws::Ws;

fn create(client: &mut Ws) -> Value {
    client.call("session.create", &json!({"source": "tui"}))
}

fn submit(client: &mut Ws, session: &Value, text: &str) -> Value {
    let params = json!({"session_id": session["session_id"], "text": text});
    client.call("prompt.submit", &params)
}

fn turns(serve: &Serving) -> Value {
    let (_, body) = serve.page("/readyz");
    let mut page: Value = serde_json::from_str(&body).expect("JSON");
    page["turns"].take()
}

/// Waits until nobody is connected.
fn alone(serve: &Serving) {
    while !serve.page("/metrics").1.contains("\nhermes_clients 0\n") {}
}

#[test]
fn so_many_turns_run_as_is_configured_and_the_next_begins_when_one_ends() {
    for more in ["[serve]\nmax_parallel_turns = 1\n", ""] {
        let sandbox = Sandbox::new();
        serving::configure(&sandbox, more);
        if more.is_empty() {
            sandbox.write("config.yaml", "max_concurrent_sessions: 1\n");
        }
        agent::does(&sandbox, STALLS);
        let serve = Serving::start(&sandbox);
        let mut client = serve.client();
        let (one, two) = (create(&mut client), create(&mut client));
        submit(&mut client, &one, "ask: one");
        client.wait_for("message.delta");
        submit(&mut client, &two, "ask: two");
        let waits = client.wait_for("status.update");
        assert_eq!(waits["session_id"], two["session_id"]);
        let text = waits["payload"]["text"].as_str().expect("words");
        assert!(text.contains("1 turns run, 1 wait"), "{text}");
        assert_eq!(turns(&serve), json!({"running": 1, "waiting": 1}));
        let params = json!({"session_id": one["session_id"]});
        let answer = client.call("session.interrupt", &params);
        assert_eq!(answer["status"], "interrupted");
        let over = client.wait_for("message.complete");
        assert_eq!(over["session_id"], one["session_id"]);
        assert_eq!(over["payload"]["status"], "interrupted");
        let begun = client.wait_for("message.delta");
        assert_eq!(begun["session_id"], two["session_id"]);
        assert_eq!(serving::asked(&sandbox), ["ask: one", "ask: two"]);
    }
}

#[test]
fn who_is_refused_learns_who_is_in_the_way_since_when_and_until_when() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    agent::does(&sandbox, &["ignore SIGTERM", "say I stay", "stall"]);
    let mut serve = Serving::start(&sandbox);
    let mut client = serve.client();
    let session = create(&mut client);
    submit(&mut client, &session, "ask: a long one");
    client.wait_for("message.delta");

    // As many messages as wait at most.
    for _ in 0..32 {
        assert_eq!(submit(&mut client, &session, "more")["status"], "queued");
    }
    let params = json!({"session_id": session["session_id"], "text": "too much"});
    let refused = client.ask("prompt.submit", &params)["error"].take();
    assert_eq!(refused["code"], 4009, "{refused}");
    let begin = refused["data"]["since"].as_f64().expect("an instant");
    let holder = refused["data"]["holder"].as_str().expect("who");
    assert!(holder.contains("turn"), "{holder}");

    // Nobody looks at it any more and it says nothing: it is told to stop, and does not.
    drop(client);
    alone(&serve);
    serve.clock("advance 601");
    let mut other = serve.client();
    let params = json!({"session_id": session["stored_session_id"]});
    let refused = other.ask("session.resume", &params)["error"].take();
    assert_eq!(refused["code"], 4009, "{refused}");
    let data = &refused["data"];
    assert_eq!(data["reason"], "BUSY");
    assert!((data["since"].as_f64().expect("since") - begin).abs() < 1e-3);
    let until = data["until"].as_f64().expect("until");
    assert!((until - begin - 661.0).abs() < 1e-3, "{refused}");
    let holder = data["holder"].as_str().expect("who");
    assert!(holder.contains("which is being stopped"), "{holder}");
    // Then it is given up, whatever the agent does.
    serve.clock("advance 61");
    let resumed = other.call("session.resume", &params);
    assert_eq!(resumed["stored_session_id"], session["stored_session_id"]);
}

/// Interrupts a turn in which the agent does this: no process of it is left.
fn interrupted(steps: &[&str]) {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    agent::does(&sandbox, steps);
    let alive = Alive::of(&sandbox);
    let serve = Serving::start(&sandbox);
    let mut client = serve.client();
    let session = create(&mut client);
    submit(&mut client, &session, "ask: stay");
    client.wait_for("message.delta");
    let params = json!({"session_id": session["session_id"]});
    client.call("session.interrupt", &params);
    alive.ended();
    let over = client.wait_for("message.complete");
    assert_eq!(over["payload"]["status"], "interrupted");
    assert_eq!(over["payload"]["text"], "I begin");
}

#[test]
fn no_process_of_an_agent_outlives_its_turn_though_it_ignores_sigterm() {
    interrupted(&[
        "ignore SIGTERM",
        "child ignore SIGTERM; say I begin; stall",
        "stall",
    ]);
}

#[test]
fn no_process_of_an_agent_that_is_stopped_goes_on_though_it_left_its_group() {
    interrupted(&["child leave; say I begin; stall", "stall"]);
}

#[test]
fn an_orderly_stop_keeps_what_waits_and_takes_its_sign_of_life_back() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    agent::does(&sandbox, STALLS);
    // Signs of life go where Hermes Agent has a table for them.
    let store = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/stores/state.db");
    sandbox.write("state.db", std::fs::read(store).expect("a store"));
    let mut serve = Serving::start(&sandbox);
    let signs = |pid: u32| {
        let store = hermes::db::connect(&sandbox.home().join("state.db")).expect("a store");
        let count = "SELECT count(*) FROM gateway_heartbeats WHERE pid = ?1";
        let count = store.query_row(count, [pid], |row| row.get::<_, i64>(0));
        count.expect("a count")
    };
    let pid = serve.pid();
    serve.clock("settle");
    assert_eq!(signs(pid), 1);
    let mut client = serve.client();
    let session = create(&mut client);
    submit(&mut client, &session, "ask: first");
    client.wait_for("message.delta");
    assert_eq!(
        submit(&mut client, &session, "ask: second")["status"],
        "queued"
    );
    assert_eq!(serve.stop().code(), Some(0));
    assert_eq!(signs(pid), 0);
    assert_eq!(serving::asked(&sandbox), ["ask: first"]);

    agent::does(&sandbox, &["say all good"]);
    let mut serve = Serving::start(&sandbox);
    serve.clock("settle");
    assert_eq!(serving::asked(&sandbox), ["ask: first", "ask: second"]);
    let mut client = serve.client();
    let params = json!({"session_id": session["stored_session_id"]});
    let resumed = client.call("session.resume", &params);
    let state = |text: &str| {
        let mut messages = resumed["messages"].as_array().expect("messages").iter();
        let found = messages.find(|message| message["content"] == text);
        found.expect("it is there")["state"].clone()
    };
    assert_eq!(state("ask: first"), "interrupted");
    assert_eq!(state("ask: second"), "done");
    let pid = serve.pid();
    serve.kill();
    assert_eq!(signs(pid), 1, "whoever is killed leaves it behind");
}

#[test]
fn progress_that_an_agent_declares_keeps_its_turn_fresh_and_is_shown() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let half = "complain HERMES_PROGRESS: half of it is done";
    agent::does(&sandbox, &["say I begin", "wait go", half, "stall"]);
    let go = sandbox.fifo("go");
    let mut serve = Serving::start(&sandbox);
    let mut client = serve.client();
    let session = create(&mut client);
    submit(&mut client, &session, "ask: long work");
    client.wait_for("message.delta");
    serve.clock("advance 500");
    std::fs::write(&go, "go\n").expect("it listens");
    let declared = loop {
        let said = client.wait_for("status.update");
        if said["payload"]["kind"] == "progress" {
            break said;
        }
    };
    assert_eq!(declared["payload"]["text"], "half of it is done");
    drop(client);
    alone(&serve);
    // More than ten minutes after its last output, and less after what it declared.
    serve.clock("advance 300");
    serve.clock("advance 60");
    assert_eq!(turns(&serve)["running"], 1);
    // What it prints to stderr otherwise is no progress: it is stopped, and the session goes.
    serve.clock("advance 600");
    serve.clock("advance 60");
    serve.clock("settle");
    assert_eq!(turns(&serve)["running"], 0);
}
