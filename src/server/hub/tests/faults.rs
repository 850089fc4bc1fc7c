//! Serve dies, the store fails: what was promised is kept.

use serde_json::{Value, json};

use super::super::Event;
use super::world::{Agent, World};
use crate::clock::Clock as _;

#[test]
fn b124_a_killed_serve_goes_on_at_the_same_cadence() {
    let mut world = World::new();
    world.connect(1);
    let (session, stored) = world.create(1);
    world.command(1, &session, "/loop 2h check");
    world.pass(107.0 * 60.0);
    world.killed();
    assert_eq!(world.asked("check"), 1, "a start fires nothing early");
    world.pass(13.0 * 60.0);
    assert_eq!(world.asked("check"), 2);
    world.connect(2);
    assert_eq!(world.live(2), [stored]);
}

#[test]
fn a_loop_that_was_left_and_resumed_goes_on_after_a_kill_too() {
    let mut world = World::new();
    world.connect(1);
    let (session, stored) = world.create(1);
    world.command(1, &session, "/loop 5m check");
    world.command(1, &session, "/heartbeat 10m tell me");
    world.ask(1, "session.close", json!({"session_id": session}));
    let resumed = world.ask(1, "session.resume", json!({"session_id": stored}));
    assert_eq!(resumed["result"]["control"]["loop"]["status"], "active");
    world.killed();
    world.pass(11.0 * 60.0);
    assert_eq!((world.asked("check"), world.asked("tell me")), (3, 1));
    world.connect(2);
    assert_eq!(world.live(2), [stored]);
}

#[test]
fn a_wake_up_that_a_dead_serve_claimed_and_did_not_run_is_not_counted() {
    let mut world = World::tuned(|settings| settings.max_turns = 1);
    world.agent = Agent::Runs;
    world.connect(1);
    let (busy, _) = world.create(1);
    let (looping, stored) = world.create(1);
    world.ask(
        1,
        "prompt.submit",
        json!({"session_id": busy, "text": "long"}),
    );
    world.command(1, &looping, "/loop 5m check");
    assert_eq!(world.asked("check"), 0, "claimed, and waiting in line");
    world.agent = Agent::Says("fine");
    world.killed();
    world.pass(1.0);
    assert_eq!(world.asked("check"), 1);
    world.connect(2);
    let answer = world.ask(2, "session.resume", json!({"session_id": stored}));
    assert_eq!(answer["result"]["control"]["loop"]["ticks_fired"], 1);
}

#[test]
fn a_half_done_turn_is_shown_as_interrupted_and_what_waited_is_asked() {
    let mut world = World::new();
    world.agent = Agent::Runs;
    world.connect(1);
    let (session, stored) = world.create(1);
    for text in ["half done", "still waiting"] {
        world.ask(
            1,
            "prompt.submit",
            json!({"session_id": session, "text": text}),
        );
    }
    world.agent = Agent::Says("done");
    world.killed();
    world.connect(2);
    let answer = world.ask(2, "session.resume", json!({"session_id": stored}));
    let messages = answer["result"]["messages"].as_array().unwrap();
    let of = |text: &str| -> Vec<&Value> {
        messages
            .iter()
            .filter(|message| message["content"] == text)
            .collect()
    };
    assert_eq!(of("half done")[0]["state"], "interrupted");
    assert_eq!(of("still waiting")[0]["state"], "done");
    assert_eq!(of("done").len(), 1);
    let (half, waiting) = (world.asked("half done"), world.asked("still waiting"));
    assert_eq!((half, waiting), (1, 1));
}

#[test]
fn killed_a_hundred_times_every_loop_goes_on_and_none_counts_what_did_not_run() {
    let mut world = World::tuned(|settings| {
        settings.law.limits.cap = 0;
        settings.rules.max_ticks = 0;
    });
    world.connect(1);
    let mut stored = Vec::new();
    for number in 0..20 {
        let (session, id) = world.create(1);
        world.command(1, &session, &format!("/loop 5m check number {number}."));
        stored.push(id);
    }
    let mut state = 7_u64;
    for _ in 0..100 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        world.agent = if state >> 63 == 0 {
            Agent::Runs
        } else {
            Agent::Says("ok")
        };
        let seconds = u32::try_from(state >> 40).unwrap() % 320;
        world.pass(f64::from(seconds));
        world.killed();
    }
    world.agent = Agent::Says("ok");
    world.pass(600.0);
    world.connect(1);
    let mut live = world.live(1);
    live.sort();
    stored.sort();
    assert_eq!(live, stored, "no session is lost");
    for (number, id) in stored.iter().enumerate() {
        let answer = world.ask(1, "session.resume", json!({"session_id": id}));
        let control = &answer["result"]["control"]["loop"];
        let text = control["prompt"].as_str().unwrap().to_owned();
        let fired = control["ticks_fired"].as_u64().unwrap();
        let ran =
            world.asked(&format!("]\n{text}")) + world.asked(&format!("before this one.\n{text}"));
        assert!(fired <= ran as u64, "{number}: {fired} counted, {ran} ran");
        assert_eq!(control["status"], "active", "{number}: {control}");
    }
}

#[test]
fn a_store_that_fails_is_said_and_nothing_is_lost() {
    let mut world = World::new();
    world.connect(1);
    let (session, _) = world.create(1);
    world.command(1, &session, "/loop 5m check");
    world.broken = true;
    world.pass(299.0);
    let before = world.asked("check");
    world.pass(30.0);
    assert_eq!(
        world.asked("check"),
        before,
        "what cannot be claimed is not run"
    );
    let text = world.command(1, &session, "/loop 10m other");
    assert!(text.contains("It is not stored yet: disk full."), "{text}");
    world.broken = false;
    world.pass(30.0);
    assert!(world.asked("other") > 0);
    world.killed();
    world.pass(600.0);
    assert!(world.asked("other") > 1);
}

#[test]
fn an_order_that_the_store_did_not_take_is_told_as_still_to_come() {
    let mut world = World::new();
    world.connect(1);
    let (session, _) = world.create(1);
    world.command(1, &session, "/loop 5m check");
    world.pass(30.0);
    world.broken = true;
    let text = world.command(1, &session, "/loop stop");
    assert!(
        text.contains("is not stored yet") && text.contains("disk full"),
        "{text}"
    );
    world.broken = false;
    world.pass(60.0);
    let text = world.command(1, &session, "/loop status");
    assert!(
        !text.contains("active") && !text.contains("not stored"),
        "{text}"
    );
}

#[test]
fn an_orderly_stop_gives_back_what_waits_and_ends_when_all_is_stored() {
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
    world.command(1, &looping, "/loop 5m check");
    world.handle(Event::Drain);
    assert!(!world.hub.is_over(), "a turn runs");
    let late = world.ask(
        1,
        "prompt.submit",
        json!({"session_id": busy, "text": "more"}),
    );
    assert_eq!(late["error"]["code"], 5035);
    world.handle(Event::DrainOver);
    assert!(world.hub.is_over());
    world.agent = Agent::Says("fine");
    world.killed();
    world.pass(1.0);
    assert_eq!(world.asked("check"), 1);
}

#[test]
fn sessions_left_open_are_ended_once_they_are_old() {
    let mut world = World::new();
    world.connect(1);
    let (session, stored) = world.create(1);
    world.ask(
        1,
        "prompt.submit",
        json!({"session_id": session, "text": "hi"}),
    );
    world.killed();
    world.pass(8.0 * 3600.0);
    world.killed();
    world.pass(30.0);
    world.connect(1);
    let list = world.ask(1, "session.list", json!({}));
    let row = &list["result"]["sessions"][0];
    assert_eq!(row["id"], stored.as_str());
    assert_eq!(row["end_reason"], "startup_orphan_reap");
    // A client that comes back wins.
    world.ask(1, "session.resume", json!({"session_id": stored}));
    let list = world.ask(1, "session.list", json!({}));
    assert_eq!(list["result"]["sessions"][0]["ended_at"], Value::Null);
}

#[test]
fn an_agent_that_cannot_be_started_counts_no_wake_up_and_is_told() {
    let mut world = World::new();
    world.agent = Agent::Missing;
    world.connect(1);
    let (session, _) = world.create(1);
    world.ask(
        1,
        "prompt.submit",
        json!({"session_id": session, "text": "hi"}),
    );
    let over = world.events(1, "message.complete")[0]["payload"].clone();
    assert_eq!(over["status"], "error");
    assert_eq!(over["error_surface"]["code"], "agent_init_failed");
    world.command(1, &session, "/loop 5m check");
    let control = world.ask(1, "session.control.read", json!({"session_id": session}));
    assert_eq!(control["result"]["control"]["loop"]["ticks_fired"], 0);
    world.pass(3600.0);
    let text = world.command(1, &session, "/loop status");
    assert!(text.contains("no such program"), "{text}");
}

fn wakes_only_when_something_is_due(loops: usize) {
    let mut world = World::tuned(|settings| settings.law.limits.cap = 0);
    world.connect(1);
    for _ in 0..loops {
        let (session, _) = world.create(1);
        world.command(1, &session, "/loop 1h check");
    }
    world.handle(Event::Disconnected(1));
    // Past the graces of the sessions that were left.
    world.pass(60.0);
    let before = world.wakes;
    world.pass(600.0);
    // The sign of life once a minute, and the maintenance.
    assert!(world.wakes - before <= 15, "{}", world.wakes - before);
    assert_eq!(world.asked("check"), loops);
}

#[test]
fn many_loops_wake_serve_only_when_something_is_due() {
    wakes_only_when_something_is_due(100);
}

#[test]
#[ignore = "takes half a minute: tests/run long"]
fn a_thousand_loops_wake_serve_only_when_something_is_due_at_length() {
    wakes_only_when_something_is_due(1000);
}

#[test]
fn signs_of_life_come_as_often_as_is_configured_now() {
    let mut world = World::tuned(|settings| settings.life = None);
    world.pass(30.0);
    let idle = |world: &World| world.hub.idle_for(world.clock.now()).unwrap();
    assert!(idle(&world) > 60.0, "only the maintenance");
    let mut settings = world.settings.clone();
    settings.life = Some(60.0);
    world.handle(Event::Reloaded(Box::new(settings)));
    assert!(idle(&world) <= 60.0);
}
