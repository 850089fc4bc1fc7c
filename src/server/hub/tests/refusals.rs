//! What is refused, and what nobody is told wrongly: sessions of others, sessions that end, and no session.

use serde_json::{Value, json};

use super::super::Event;
use super::world::{Agent, World};
use crate::clock::Clock as _;
use crate::server::protocol::code;

#[test]
fn a_session_of_the_other_program_is_not_deleted_nor_is_one_that_is_not_there() {
    let mut world = World::beside_the_other_program();
    world.connect(1);
    let key = "loop:20260101_090000_aaaaaa";
    let before = world.meta(key);
    assert!(before.is_some());
    let theirs = json!({"session_id": "20260101_090000_aaaaaa"});
    let answer = world.ask(1, "session.delete", theirs);
    assert_eq!(answer["error"]["code"], code::LEASE_REFUSED, "{answer}");
    let data = &answer["error"]["data"];
    assert_eq!(data["holder"], "Hermes Agent (desktop)");
    assert_eq!(data["since"], 1_795_992_000);
    assert_eq!(world.meta(key), before);
    let nobody = json!({"session_id": "no such"});
    let answer = world.ask(1, "session.delete", nobody);
    assert_eq!(answer["error"]["code"], code::STORED_NOT_FOUND);
    let (session, stored) = world.create(1);
    world.command(1, &session, "/loop 5m check");
    world.ask(1, "session.close", json!({"session_id": session}));
    let ours = json!({"session_id": stored});
    let answer = world.ask(1, "session.delete", ours);
    assert_eq!(answer["result"]["deleted"], stored.as_str());
    assert_eq!(world.meta(&format!("loop:{stored}")), None);
}

#[test]
fn what_is_to_go_and_still_runs_is_told() {
    let mut world = World::new();
    world.agent = Agent::Wedged;
    world.connect(1);
    let (session, stored) = world.create(1);
    let submit = json!({"session_id": session, "text": "one"});
    world.ask(1, "prompt.submit", submit);
    world.handle(Event::Disconnected(1));
    world.connect(2);
    let left = |world: &mut World, dry_run: bool| {
        let params = json!({"reaper": "orphan", "dry_run": dry_run});
        world.ask(2, "session.reap", params)["result"]["not_reaped"].clone()
    };
    assert_eq!(left(&mut world, false), json!([]), "it makes progress");
    world.pass(640.0);
    assert_eq!(left(&mut world, true), json!([]));
    let why = "its turn was told to stop, and runs";
    let told = json!([{"session": stored, "because": why}]);
    assert_eq!(left(&mut world, false), told);
    world.pass(60.0);
    assert_eq!(left(&mut world, false), json!([]));
    assert!(world.live(2).is_empty());
}

#[test]
fn the_past_of_nobody_is_no_empty_past() {
    let mut world = World::beside_the_other_program();
    world.connect(1);
    let (session, _) = world.create(1);
    for method in ["session.history", "timer.history"] {
        let ask = |world: &mut World, id: &str| world.ask(1, method, json!({"session_id": id}));
        let draft = ask(&mut world, &session);
        assert!(draft["result"].is_object(), "{draft}");
        let unknown = ask(&mut world, "no such");
        assert_eq!(unknown["error"]["code"], code::STORED_NOT_FOUND, "{method}");
        let theirs = ask(&mut world, "20260101_090000_aaaaaa");
        assert_eq!(theirs["error"]["code"], code::LEASE_REFUSED, "{method}");
    }
    world.command(1, &session, "/loop 5m check");
    world.command(1, &session, "/heartbeat 1m report");
    world.pass(301.0);
    let params = json!({"session_id": session, "kind": "loop", "limit": 2});
    let answer = world.ask(1, "timer.history", params);
    let ticks = answer["result"]["ticks"].as_array().unwrap();
    assert_eq!(ticks.len(), 2, "the limit counts loops only: {answer}");
    assert!(ticks.iter().all(|tick| tick["kind"] == "loop"), "{answer}");
}

#[test]
fn every_request_is_answered_once_also_where_its_session_is_closed_meanwhile() {
    let mut world = World::new();
    world.connect(1);
    let (session, _) = world.create(1);
    world.command(1, &session, "/loop 5m check");
    let answers = world.together(
        1,
        &[
            (
                "session.control",
                json!({"session_id": session, "action": "loop.pause"}),
            ),
            ("session.close", json!({"session_id": session})),
            ("ping", json!({})),
        ],
    );
    let counts: Vec<usize> = answers.iter().map(Vec::len).collect();
    assert_eq!(counts, [1, 1, 1], "{answers:?}");
    assert_eq!(answers[0][0]["error"]["code"], code::STORED_NOT_FOUND);
}

#[test]
fn what_comes_while_a_session_is_closed_is_refused_and_not_lost() {
    let mut world = World::new();
    world.agent = Agent::Wedged;
    world.connect(1);
    let (session, stored) = world.create(1);
    let submit = json!({"session_id": session, "text": "one"});
    world.ask(1, "prompt.submit", submit);
    world.ask(1, "session.close", json!({"session_id": session}));
    let until = |answer: &Value| {
        assert_eq!(answer["error"]["code"], code::BUSY, "{answer}");
        answer["error"]["data"]["until"].as_f64().unwrap()
    };
    let submit = json!({"session_id": session, "text": "two"});
    let at = until(&world.ask(1, "prompt.submit", submit));
    assert!((at - world.clock.now().wall.as_duration().as_secs_f64() - 5.0).abs() < 0.1);
    until(&world.ask(1, "session.resume", json!({"session_id": stored})));
    world.connect(2);
    until(&world.ask(2, "session.activate", json!({"session_id": session})));
    world.pass(6.0);
    world.agent = Agent::Says("fine");
    let resumed = world.ask(1, "session.resume", json!({"session_id": stored}));
    let submit = json!({"session_id": resumed["result"]["session_id"], "text": "two"});
    assert_eq!(
        world.ask(1, "prompt.submit", submit)["result"]["status"],
        "streaming"
    );
    assert_eq!(world.asked("two"), 1);
}
