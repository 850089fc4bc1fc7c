//! Turns: the line, who goes first, interrupts, what is busy and for how long.

use serde_json::json;

use super::super::Event;
use super::world::{Agent, World};

#[test]
fn so_many_turns_run_and_the_rest_waits_visibly() {
    let mut world = World::tuned(|settings| settings.max_turns = 2);
    world.agent = Agent::Runs;
    world.connect(1);
    let sessions: Vec<_> = (0..4).map(|_| world.create(1).0).collect();
    for session in &sessions {
        world.ask(
            1,
            "prompt.submit",
            json!({"session_id": session, "text": "go"}),
        );
    }
    assert_eq!(world.running.len(), 2);
    let status = world.ask(1, "session.status", json!({"session_id": sessions[3]}));
    assert_eq!(status["result"]["status"], "queued");
    let waits = world.events(1, "status.update");
    assert!(
        waits
            .iter()
            .any(|event| event["payload"]["kind"] == "queue")
    );
    world.finish();
    assert_eq!(world.running.len(), 2);
    world.finish();
    assert_eq!(world.asked("go"), 4);
    assert!(world.hub.is_quiet());
}

#[test]
fn users_go_before_timers() {
    let mut world = World::tuned(|settings| settings.max_turns = 1);
    world.agent = Agent::Runs;
    world.connect(1);
    let (busy, _) = world.create(1);
    let (looping, _) = world.create(1);
    let (user, _) = world.create(1);
    world.ask(
        1,
        "prompt.submit",
        json!({"session_id": busy, "text": "long"}),
    );
    world.command(1, &looping, "/loop 5m tick");
    world.ask(
        1,
        "prompt.submit",
        json!({"session_id": user, "text": "quick question"}),
    );
    world.finish();
    assert!(world.running[0].prompt.contains("quick question"));
    world.finish();
    assert!(world.running[0].prompt.contains("tick"));
}

#[test]
fn a_message_of_the_user_wins_over_a_tick_that_waits_and_the_tick_is_not_counted() {
    let mut world = World::tuned(|settings| settings.max_turns = 1);
    world.agent = Agent::Runs;
    world.connect(1);
    let (busy, _) = world.create(1);
    let (looping, _) = world.create(1);
    world.ask(
        1,
        "prompt.submit",
        json!({"session_id": busy, "text": "long"}),
    );
    world.command(1, &looping, "/loop 5m tick");
    let fired = |world: &mut World| {
        let control = world.ask(1, "session.control.read", json!({"session_id": looping}));
        control["result"]["control"]["loop"]["ticks_fired"]
            .as_u64()
            .unwrap()
    };
    assert_eq!(fired(&mut world), 1, "claimed, and waiting for its place");
    world.ask(
        1,
        "prompt.submit",
        json!({"session_id": looping, "text": "me first"}),
    );
    assert_eq!(fired(&mut world), 0, "given back");
    world.finish();
    assert!(world.running[0].prompt.contains("me first"));
    world.finish();
    assert!(world.running[0].prompt.contains("tick"));
    assert_eq!(fired(&mut world), 1);
    let ticks = world.ask(1, "timer.history", json!({"session_id": looping}));
    assert_eq!(ticks["result"]["ticks"][0]["outcome"], "given back");
}

#[test]
fn b123_a_tick_that_is_due_while_the_session_is_busy_is_put_off_and_counted() {
    let mut world = World::new();
    world.connect(1);
    let (session, _) = world.create(1);
    world.command(1, &session, "/loop 5m tick");
    world.pass(240.0);
    world.agent = Agent::Runs;
    world.ask(
        1,
        "prompt.submit",
        json!({"session_id": session, "text": "a long talk"}),
    );
    // Progress now and then, so that it does not count as stuck.
    for _ in 0..23 {
        world.pass(60.0);
        let turn = world.running[0].turn;
        world.handle(Event::TurnOutput(turn, ".".to_owned()));
    }
    assert_eq!(world.asked("tick"), 1);
    world.finish();
    world.agent = Agent::Says("ok");
    world.pass(240.0);
    let late: Vec<_> = world
        .prompts
        .iter()
        .filter(|(_, text)| text.contains("[loop"))
        .collect();
    assert_eq!(late.len(), 2);
    assert!(
        (late[1].0 - 1800.0).abs() < 1.0,
        "the phase is kept: {}",
        late[1].0
    );
    assert!(late[1].1.contains("5 runs were missed"), "{}", late[1].1);
}

#[test]
fn messages_queue_behind_a_turn_and_an_interrupt_drops_them() {
    let mut world = World::new();
    world.connect(1);
    let (session, _) = world.create(1);
    world.agent = Agent::Runs;
    let submit = |world: &mut World, text: &str| {
        world.ask(
            1,
            "prompt.submit",
            json!({"session_id": session, "text": text}),
        )["result"]["status"]
            .clone()
    };
    assert_eq!(submit(&mut world, "one"), "streaming");
    assert_eq!(submit(&mut world, "two"), "queued");
    assert_eq!(submit(&mut world, "three"), "queued");
    world.finish();
    assert!(world.running[0].prompt.contains("two"));
    let answer = world.ask(1, "session.interrupt", json!({"session_id": session}));
    assert_eq!(answer["result"]["status"], "interrupted");
    assert!(world.running.is_empty());
    assert_eq!(world.asked("three"), 0);
    let answer = world.ask(1, "session.interrupt", json!({"session_id": session}));
    assert_eq!(answer["result"]["status"], "not_interrupted");
}

#[test]
fn interrupting_a_wake_up_pauses_the_loop() {
    let mut world = World::new();
    world.connect(1);
    let (session, _) = world.create(1);
    world.agent = Agent::Runs;
    world.command(1, &session, "/loop 5m tick");
    world.ask(1, "session.interrupt", json!({"session_id": session}));
    let text = world.command(1, &session, "/loop status");
    assert!(text.starts_with("Loop paused"), "{text}");
    world.pass(3600.0);
    assert_eq!(world.asked("tick"), 1);
}

#[test]
fn b132_a_turn_without_progress_is_stopped_and_its_session_is_free() {
    let mut world = World::new();
    world.connect(1);
    let (session, _) = world.create(1);
    world.agent = Agent::Wedged;
    world.ask(
        1,
        "prompt.submit",
        json!({"session_id": session, "text": "stuck"}),
    );
    world.pass(599.0);
    assert_eq!(world.running.len(), 1);
    world.pass(70.0);
    let status = world.ask(1, "session.status", json!({"session_id": session}));
    assert_eq!(status["result"]["status"], "idle");
    assert_eq!(
        world.events(1, "message.complete")[0]["payload"]["status"],
        "interrupted"
    );
    world.agent = Agent::Says("fine");
    let params = json!({"session_id": session, "text": "again"});
    assert_eq!(
        world.ask(1, "prompt.submit", params)["result"]["status"],
        "streaming"
    );
}

#[test]
fn b128_an_orphan_with_a_turn_is_looked_at_again_and_reaped_in_the_end() {
    let mut world = World::new();
    world.connect(1);
    let (session, _) = world.create(1);
    world.agent = Agent::Runs;
    world.ask(
        1,
        "prompt.submit",
        json!({"session_id": session, "text": "long"}),
    );
    world.handle(Event::Disconnected(1));
    world.pass(60.0);
    world.connect(2);
    assert_eq!(world.live(2).len(), 1);
    let plan = world.ask(
        2,
        "session.reap",
        json!({"reaper": "orphan", "dry_run": true}),
    );
    let row = &plan["result"]["plan"]["rows"][0];
    assert!(
        row["because"].as_str().unwrap().starts_with("turn running"),
        "{row}"
    );
    assert!(row["next_check"].is_number());
    world.finish();
    world.pass(21.0);
    assert!(world.live(2).is_empty());
}

#[test]
fn a_wedged_wake_up_of_a_lonely_session_does_not_keep_it_for_ever() {
    let mut world = World::new();
    world.connect(1);
    let (session, stored) = world.create(1);
    world.agent = Agent::Wedged;
    world.command(1, &session, "/loop 5m tick");
    world.handle(Event::Disconnected(1));
    world.pass(625.0);
    world.connect(2);
    // While the interrupt settles the door is shut, and it is said who holds it and until when.
    let refused = world.ask(2, "session.activate", json!({"session_id": session}));
    assert_eq!(refused["error"]["code"], 4009);
    let data = &refused["error"]["data"];
    assert!(
        data["holder"]
            .as_str()
            .unwrap()
            .contains("wake-up of its loop"),
        "{data}"
    );
    assert!(data["until"].as_f64().unwrap() > data["since"].as_f64().unwrap());
    world.pass(120.0);
    assert!(world.live(2).is_empty());
    world.agent = Agent::Says("well again");
    let answer = world.ask(2, "session.resume", json!({"session_id": stored}));
    assert!(answer["result"]["session_id"].is_string(), "{answer}");
    world.pass(600.0);
    assert!(world.asked("tick") > 1, "somebody drives it again");
}

#[test]
fn an_agent_without_a_memory_gets_the_conversation_with_its_prompt() {
    let mut world = World::new();
    world.connect(1);
    let (session, _) = world.create(1);
    for text in ["first", "second"] {
        world.ask(
            1,
            "prompt.submit",
            json!({"session_id": session, "text": text}),
        );
    }
    let second = &world.last_prompt;
    assert!(
        second.contains("User: first") && second.contains("You: all good"),
        "{second}"
    );
}
