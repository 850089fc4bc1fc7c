//! The first story of the mission: a loop goes on after its client is gone, and its session is kept
//! exactly as long as that.

use serde_json::json;

use super::world::{Agent, World};

const HOUR: f64 = 3600.0;

#[test]
fn at_23_00_a_loop_is_set_and_its_client_leaves() {
    let mut world = World::new();
    world.connect(1);
    let (session, stored) = world.create(1);
    let said = world.command(1, &session, "/loop 30m check the build");
    assert!(said.starts_with("Loop set."), "{said}");
    assert_eq!(
        world.asked("check the build"),
        1,
        "the first wake-up comes at once"
    );
    world.handle(super::super::Event::Disconnected(1));

    // Longer than the grace, the idle limit and a night.
    world.pass(8.0 * HOUR);
    assert_eq!(world.asked("check the build"), 17);
    world.connect(2);
    assert_eq!(world.live(2), std::slice::from_ref(&stored));

    // The client comes back and gets what it missed.
    let answer = world.ask(2, "session.resume", json!({"session_id": stored}));
    let result = &answer["result"];
    assert_eq!(
        result["session_id"],
        session.as_str(),
        "it was live all the time"
    );
    let messages = result["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 34);
    assert_eq!(messages[33]["content"], "all good");
    let params = json!({"session_id": session, "last_seen": 1});
    let missed = world.ask(2, "session.events.since", params);
    assert!(missed["result"]["count"].as_u64().unwrap() > 60, "{missed}");
    assert_eq!(missed["result"]["truncated"], false);
}

#[test]
fn a_pause_frees_the_session() {
    let mut world = World::new();
    world.connect(1);
    let (session, stored) = world.create(1);
    world.command(1, &session, "/loop 5m check");
    world.handle(super::super::Event::Disconnected(1));
    world.pass(HOUR);
    world.connect(2);
    assert_eq!(world.live(2), std::slice::from_ref(&stored));
    world.command(2, &session, "/loop pause");
    world.handle(super::super::Event::Disconnected(2));
    world.connect(3);
    world.pass(19.0);
    assert_eq!(world.live(3).len(), 1, "within the grace");
    world.pass(2.0);
    assert!(world.live(3).is_empty(), "a paused loop keeps nothing");
    let reclaimed = world.events(3, "session.reclaimed");
    assert_eq!(
        reclaimed[0]["payload"]["stored_session_id"],
        stored.as_str()
    );
    assert_eq!(reclaimed[0]["payload"]["reason"], "ws_orphan_reap");
    let before = world.asked("check");
    world.pass(2.0 * HOUR);
    assert_eq!(world.asked("check"), before);
}

#[test]
fn the_budget_frees_the_session() {
    let mut world = World::tuned(|settings| settings.rules.max_ticks = 3);
    world.connect(1);
    let (session, stored) = world.create(1);
    world.command(1, &session, "/loop 5m check");
    world.handle(super::super::Event::Disconnected(1));
    world.pass(9.0 * 60.0);
    world.connect(2);
    assert_eq!(world.live(2), std::slice::from_ref(&stored));
    world.pass(5.0 * 60.0);
    assert_eq!(world.asked("check"), 3);
    assert!(world.live(2).is_empty());
    // What is left says why it does not go on, and goes on when it is told to.
    let answer = world.ask(2, "session.resume", json!({"session_id": stored}));
    let control = &answer["result"]["control"]["loop"];
    assert_eq!(control["status"], "paused");
    assert_eq!(control["paused_reason"], "tick budget used up (3/3)");
    let session = answer["result"]["session_id"].as_str().unwrap().to_owned();
    world.command(2, &session, "/loop resume");
    world.pass(10.0);
    assert_eq!(world.asked("check"), 4);
}

#[test]
fn the_same_with_a_heartbeat() {
    let mut world = World::tuned(|settings| settings.rules.max_beats = 10);
    world.connect(1);
    let (session, stored) = world.create(1);
    let said = world.command(1, &session, "/heartbeat every 30m how is it");
    assert!(said.starts_with("Heartbeat set."), "{said}");
    world.handle(super::super::Event::Disconnected(1));
    world.pass(4.0 * HOUR + 60.0);
    world.connect(2);
    assert_eq!(world.live(2), [stored]);
    assert_eq!(world.asked("how is it"), 8);
    // A heartbeat without a message of the user does not pin for ever.
    world.pass(2.0 * HOUR);
    assert_eq!(world.asked("how is it"), 10);
    assert!(world.live(2).is_empty());
}

#[test]
fn the_agent_ends_the_loop() {
    let mut world = World::new();
    world.connect(1);
    let (session, _) = world.create(1);
    world.agent = Agent::Says("nothing left\nLOOP_COMPLETE");
    world.command(1, &session, "/loop 5m check");
    let text = world.command(1, &session, "/loop status");
    assert!(text.starts_with("Loop done"), "{text}");
    world.pass(HOUR);
    assert_eq!(world.asked("check"), 1);
}

#[test]
fn b122_a_night_of_sleep_is_one_wake_up_with_a_count() {
    let mut world = World::new();
    world.connect(1);
    let (session, stored) = world.create(1);
    world.command(1, &session, "/loop 10m check");
    world.handle(super::super::Event::Disconnected(1));
    world.pass(30.0);
    world.sleep(3600);
    assert_eq!(world.asked("check"), 2);
    assert_eq!(world.asked("runs were missed before this one"), 1);
    world.connect(2);
    assert_eq!(world.live(2), [stored], "sleep makes nobody an orphan");
}

#[test]
fn b119_an_idle_session_fires_when_it_is_due() {
    let mut world = World::new();
    world.connect(1);
    let (session, _) = world.create(1);
    world.command(1, &session, "/loop 47m check");
    world.pass(47.0 * 60.0 - 1.0);
    assert_eq!(world.asked("check"), 1);
    world.pass(1.0);
    assert_eq!(world.asked("check"), 2);
    assert!((world.prompts[1].0 - 47.0 * 60.0).abs() < 0.01);
}

#[test]
fn b118_a_loop_is_bound_to_its_session() {
    let mut world = World::new();
    world.connect(1);
    let (first, _) = world.create(1);
    world.command(1, &first, "/loop 5m check");
    let (second, _) = world.create(1);
    let text = world.command(1, &second, "/loop status");
    assert_eq!(text, "There is no loop in this session.");
    world.ask(1, "session.close", json!({"session_id": first}));
    world.pass(HOUR);
    assert_eq!(world.asked("check"), 1);
}

#[test]
fn b121_loops_are_controlled_without_a_model() {
    let mut world = World::tuned(|settings| {
        settings.agent = Err("no agent is configured".to_owned());
    });
    world.connect(1);
    let (session, _) = world.create(1);
    let said = world.command(1, &session, "/loop 5m check");
    assert!(
        said.contains("It cannot run yet: no agent is configured."),
        "{said}"
    );
    assert!(
        world
            .command(1, &session, "/loop status")
            .starts_with("Loop active")
    );
    assert!(
        world
            .command(1, &session, "/loop stop")
            .starts_with("Loop cleared")
    );
}

#[test]
fn an_agent_that_always_fails_does_not_pin_its_session() {
    let mut world = World::new();
    world.connect(1);
    let (session, stored) = world.create(1);
    world.agent = Agent::Fails;
    world.command(1, &session, "/loop 5m check");
    world.handle(super::super::Event::Disconnected(1));
    world.pass(HOUR);
    assert_eq!(world.asked("check"), 10);
    world.connect(2);
    assert!(world.live(2).is_empty());
    let answer = world.ask(2, "session.resume", json!({"session_id": stored}));
    let why = answer["result"]["control"]["loop"]["paused_reason"]
        .as_str()
        .unwrap();
    assert!(why.contains("10 times in a row"), "{why}");
}

#[test]
fn an_emergency_stop_stops_timers() {
    let mut world = World::new();
    world.connect(1);
    let (session, _) = world.create(1);
    world.command(1, &session, "/loop 5m check");
    let stop = Some("an emergency stop stands".to_owned());
    world.handle(super::super::Event::EmergencyStop(stop));
    world.pass(HOUR);
    assert_eq!(world.asked("check"), 1);
    world.handle(super::super::Event::EmergencyStop(None));
    world.pass(60.0);
    assert_eq!(world.asked("check"), 2);
}
