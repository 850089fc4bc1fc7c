//! Several clients, and clients that come and go.

use serde_json::{Value, json};

use super::super::Event;
use super::world::{Agent, World};
use crate::server::protocol::code;

#[test]
fn a_client_of_the_other_program_finds_what_it_knows() {
    let mut world = World::new();
    world.connect(1);
    let ready = &world.frames[&1][0]["params"];
    assert_eq!(ready["type"], "gateway.ready");
    assert_eq!(ready["payload"]["replay_epoch"], "epoch 1");
    assert_eq!(
        world.ask(1, "ping", json!({}))["result"],
        json!({"pong": true})
    );
    assert_eq!(
        world.ask(1, "gateway.ping", json!({}))["result"],
        json!({"ok": true})
    );
    let (session, stored) = world.create(1);
    assert_eq!((session.len(), stored.len()), (8, 22));
    assert!(stored.starts_with("20260601_230000_"), "{stored}");
    let params = json!({"session_id": session, "text": "hi there"});
    let answer = world.ask(1, "prompt.submit", params);
    assert_eq!(answer["result"]["status"], "streaming");
    assert!(answer["result"]["user_row_id"].is_i64());
    assert_eq!(
        world.events(1, "message.delta")[0]["payload"]["text"],
        "all good"
    );
    let complete = world.events(1, "message.complete")[0];
    assert_eq!(complete["payload"]["status"], "complete");
    assert_eq!(complete["payload"]["text"], "all good");
    let unknown = world.ask(1, "projects.list", json!({}));
    assert_eq!(unknown["error"]["code"], code::UNKNOWN_METHOD);
    let nobody = world.ask(1, "session.status", json!({"session_id": "deadbeef"}));
    assert_eq!(nobody["error"]["code"], code::SESSION_NOT_FOUND);
    let nameless = world.ask(1, "session.status", json!({}));
    assert_eq!(nameless["error"]["code"], code::SESSION_ID_REQUIRED);
    let gone = world.ask(1, "session.resume", json!({"session_id": "no such"}));
    assert_eq!(gone["error"]["code"], code::STORED_NOT_FOUND);
    let minted = json!({"session_id": "20250101_010203_abcdef"});
    assert!(world.ask(1, "session.resume", minted)["result"]["session_id"].is_string());
}

#[test]
fn sequence_numbers_have_no_gap_and_every_client_gets_them() {
    let mut world = World::new();
    world.connect(1);
    world.connect(2);
    let (session, _) = world.create(1);
    world.ask(2, "session.activate", json!({"session_id": session}));
    for text in ["one", "two", "three"] {
        world.ask(
            1,
            "prompt.submit",
            json!({"session_id": session, "text": text}),
        );
    }
    let numbers = |conn| -> Vec<u64> {
        let frames = world.frames[&conn].iter();
        frames
            .filter_map(|frame| frame["params"]["seq"].as_u64())
            .collect()
    };
    let all = numbers(1);
    assert_eq!(all, (1..=all.len() as u64).collect::<Vec<_>>());
    assert_eq!(numbers(2), all);
}

#[test]
fn one_client_leaves_and_the_other_keeps_the_session() {
    let mut world = World::new();
    world.connect(1);
    world.connect(2);
    let (session, stored) = world.create(1);
    world.ask(
        1,
        "prompt.submit",
        json!({"session_id": session, "text": "hi"}),
    );
    world.ask(2, "session.activate", json!({"session_id": session}));
    world.handle(Event::Disconnected(1));
    world.pass(3600.0);
    assert_eq!(world.live(2), [stored]);
    world.handle(Event::Disconnected(2));
    world.pass(21.0);
    world.connect(3);
    assert!(world.live(3).is_empty());
}

#[test]
fn b130_a_socket_does_not_vouch_for_fifty_sessions() {
    let mut world = World::tuned(|settings| settings.law.limits.cap = 0);
    world.connect(1);
    let sessions: Vec<_> = (0..50).map(|_| world.create(1)).collect();
    for (session, _) in &sessions {
        world.ask(
            1,
            "prompt.submit",
            json!({"session_id": session, "text": "hi"}),
        );
    }
    let (used, stored) = &sessions[7];
    for _ in 0..7 {
        world.pass(3600.0);
        // Polls are no use of a session (B139).
        world.ask(1, "session.status", json!({"session_id": sessions[8].0}));
        world.ask(
            1,
            "prompt.submit",
            json!({"session_id": used, "text": "still here"}),
        );
    }
    assert_eq!(world.live(1), std::slice::from_ref(stored));
}

#[test]
fn the_cap_takes_the_session_used_longest_ago() {
    let mut world = World::tuned(|settings| settings.law.limits.cap = 2);
    world.connect(1);
    let mut made = Vec::new();
    for _ in 0..3 {
        let (session, stored) = world.create(1);
        world.ask(
            1,
            "prompt.submit",
            json!({"session_id": session, "text": "hi"}),
        );
        made.push((session, stored));
        world.pass(10.0);
    }
    assert_eq!(world.live(1).len(), 3, "its client uses all of them");
    let late = made[2].0.clone();
    world.handle(Event::Disconnected(1));
    world.connect(2);
    world.ask(2, "session.activate", json!({"session_id": late}));
    world.pass(30.0);
    assert_eq!(world.live(2), [made[2].1.clone()]);
}

#[test]
fn b140_who_comes_back_after_the_end_gets_the_answer() {
    let mut world = World::new();
    world.connect(1);
    let (session, stored) = world.create(1);
    world.agent = Agent::Runs;
    world.ask(
        1,
        "prompt.submit",
        json!({"session_id": session, "text": "a long one"}),
    );
    let last = world.frames[&1]
        .iter()
        .filter_map(|f| f["params"]["seq"].as_u64())
        .max();
    world.handle(Event::Disconnected(1));
    world.pass(15.0);
    world.finish();
    world.connect(2);
    let answer = world.ask(2, "session.resume", json!({"session_id": stored}));
    assert_eq!(answer["result"]["session_id"], session.as_str());
    let params = json!({"session_id": session, "last_seen": last});
    let missed = world.ask(2, "session.events.since", params);
    let events = missed["result"]["events"].as_array().unwrap();
    let is_complete = |event: &&Value| event["type"] == "message.complete";
    assert_eq!(
        events.iter().find(is_complete).unwrap()["payload"]["text"],
        "late answer"
    );
}

#[test]
fn a_client_that_resumes_as_the_reaper_fires_gets_its_session_either_way() {
    for seed in 0..1000_u32 {
        let mut world = World::new();
        world.connect(1);
        let (session, stored) = world.create(1);
        world.ask(
            1,
            "prompt.submit",
            json!({"session_id": session, "text": "hi"}),
        );
        world.handle(Event::Disconnected(1));
        // From one millisecond before the reaper's look to one after it.
        world.pass(20.0 - 0.001 + f64::from(seed) * 0.000_002);
        world.connect(2);
        let answer = world.ask(2, "session.resume", json!({"session_id": stored}));
        assert!(
            answer["result"]["session_id"].is_string(),
            "{seed}: {answer}"
        );
        assert_eq!(
            answer["result"]["messages"].as_array().unwrap().len(),
            2,
            "{seed}"
        );
        world.pass(60.0);
        assert_eq!(world.live(2), [stored], "{seed}");
    }
}

#[test]
fn a_session_can_end_with_its_connection() {
    let mut world = World::new();
    world.connect(1);
    world.connect(2);
    world.ask(1, "session.create", json!({"close_on_disconnect": true}));
    assert_eq!(world.live(2).len(), 1);
    world.handle(Event::Disconnected(1));
    world.pass(0.01);
    assert!(world.live(2).is_empty());
}

#[test]
fn the_dry_run_says_what_the_real_run_does() {
    let mut world = World::tuned(|settings| settings.law.limits.idle = 100.0);
    world.connect(1);
    let (session, stored) = world.create(1);
    world.ask(
        1,
        "prompt.submit",
        json!({"session_id": session, "text": "hi"}),
    );
    world.pass(101.0);
    let params = json!({"reaper": "idle", "dry_run": true});
    let dry = world.ask(1, "session.reap", params);
    let row = &dry["result"]["plan"]["rows"][0];
    assert_eq!(row["stored_id"], stored.as_str());
    assert_eq!(row["verdict"], json!({"reap": "idle"}));
    assert_eq!(world.live(1).len(), 1, "a dry run does nothing");
    world.ask(1, "session.reap", json!({"reaper": "idle"}));
    assert!(world.live(1).is_empty());
    let wrong = world.ask(1, "session.reap", json!({"reaper": "grim"}));
    assert_eq!(wrong["error"]["code"], code::BAD_ARGUMENT);
}

#[test]
fn frames_of_any_kind_are_answered_or_refused() {
    let mut world = World::new();
    world.connect(1);
    for text in [
        "",
        "{",
        "[]",
        "{}",
        "null",
        "{\"id\":1}",
        "{\"id\":{},\"method\":\"ping\"}",
    ] {
        let text = text.to_owned();
        world.handle(Event::Frame { conn: 1, text });
    }
    let (session, _) = world.create(1);
    let methods = [
        "session.create",
        "session.resume",
        "session.list",
        "session.history",
        "session.title",
        "session.events.since",
        "session.interrupt",
        "session.reap",
        "session.control",
        "prompt.submit",
        "command.dispatch",
        "slash.exec",
        "timer.history",
        "approval.respond",
    ];
    for method in methods {
        for value in [
            json!(null),
            json!(-1),
            json!([]),
            json!({}),
            json!("\u{0}"),
            json!(1e300),
        ] {
            let params = json!({
                "session_id": session, "text": value, "limit": value, "name": value, "arg": value,
                "command": value, "action": value, "title": value, "last_seen": value,
                "cols": value, "reaper": value,
            });
            let answer = world.ask(1, method, params);
            assert!(answer.get("result").is_some() || answer.get("error").is_some());
        }
    }
}

#[test]
fn sessions_of_the_other_program_are_left_to_it() {
    let mut world = World::beside_the_other_program();
    world.connect(1);
    let theirs = "20260101_090000_aaaaaa";
    let answer = world.ask(1, "session.resume", json!({"session_id": theirs}));
    assert_eq!(answer["error"]["code"], code::LEASE_REFUSED, "{answer}");
    let holder = answer["error"]["data"]["holder"].as_str().unwrap();
    assert!(holder.starts_with("Hermes Agent"), "{holder}");
    world.pass(3600.0);
    assert!(world.prompts.is_empty(), "its loops are not ours to fire");
    let (session, _) = world.create(1);
    world.command(1, &session, "/loop 5m ours");
    assert_eq!(world.asked("ours"), 1);
}

#[test]
fn a_session_is_made_once_for_a_key() {
    let mut world = World::new();
    world.connect(1);
    let make = |world: &mut World, key: &str| {
        let params = json!({"idempotency_key": key});
        let answer = world.ask(1, "session.create", params);
        answer["result"]["session_id"].as_str().unwrap().to_owned()
    };
    let first = make(&mut world, "k");
    assert_eq!(make(&mut world, "k"), first);
    assert_ne!(make(&mut world, "j"), first);
    world.pass(301.0);
    assert_ne!(make(&mut world, "k"), first);
}

#[test]
fn a_session_begins_with_the_conversation_that_its_client_brings() {
    let mut world = World::new();
    world.connect(1);
    let messages = json!([
        {"role": "user", "content": "what was"},
        {"role": "assistant", "content": "this was"},
    ]);
    let made = world.ask(1, "session.create", json!({"messages": messages}));
    assert_eq!(made["result"]["message_count"], 2, "{made}");
    assert_eq!(made["result"]["messages"], messages);
    let params = json!({"session_id": made["result"]["session_id"], "text": "and now"});
    world.ask(1, "prompt.submit", params);
    assert!(
        world.last_prompt.contains("You: this was"),
        "{}",
        world.last_prompt
    );
    world.killed();
    world.connect(1);
    let params = json!({"session_id": made["result"]["stored_session_id"]});
    let resumed = world.ask(1, "session.resume", params);
    assert_eq!(resumed["result"]["messages"][1]["content"], "this was");
    for messages in [
        json!("x"),
        json!([{"role": "tool", "content": "x"}]),
        json!([{}]),
    ] {
        let refused = world.ask(1, "session.create", json!({"messages": messages}));
        assert!(refused["error"]["code"].is_i64(), "{refused}");
    }
}

#[test]
fn what_serve_does_not_do_is_refused_and_not_ignored() {
    let mut world = World::new();
    world.connect(1);
    let (id, stored) = world.create(1);
    for (method, params) in [
        ("session.create", json!({"profile": "other"})),
        (
            "session.resume",
            json!({"session_id": stored, "profile": "other"}),
        ),
        ("setup.status", json!({"profile": "other"})),
    ] {
        let refused = world.ask(1, method, params);
        assert_eq!(refused["error"]["code"], 4064, "{refused}");
    }
    let own = world.ask(1, "session.create", json!({"profile": "default"}));
    assert!(own["result"]["session_id"].is_string(), "{own}");
    let cut = json!({"session_id": id, "text": "hi", "truncate_before_row": 1});
    let refused = world.ask(1, "prompt.submit", cut);
    assert_eq!(refused["error"]["code"], 4004, "{refused}");
    assert!(world.prompts.is_empty());
    let whole = json!({"session_id": id, "text": "hi", "truncate_before_row": null});
    assert!(world.ask(1, "prompt.submit", whole)["result"].is_object());
}

#[test]
fn clients_are_told_when_lists_of_sessions_change() {
    let mut world = World::new();
    world.connect(1);
    world.connect(2);
    let mut seen = 0;
    let mut changed = |world: &World| {
        let now = world.events(2, "sessions.changed").len();
        std::mem::replace(&mut seen, now) < now
    };
    assert!(!changed(&world));
    let (id, _) = world.create(1);
    assert!(changed(&world), "made");
    world.ask(1, "session.title", json!({"session_id": id, "title": "t"}));
    assert!(changed(&world), "named");
    world.ask(1, "session.status", json!({"session_id": id}));
    assert!(!changed(&world), "looked at");
    world.ask(1, "prompt.submit", json!({"session_id": id, "text": "hi"}));
    assert!(changed(&world), "a turn");
    world.ask(1, "session.close", json!({"session_id": id}));
    assert!(changed(&world), "gone");
}
