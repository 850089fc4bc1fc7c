//! Every reachable state of the session machine with a loop, and what becomes of each.
//!
//! The world is small (limits of a few seconds, no zeros, two clients, a loop with a budget of two)
//! and its states are told apart by ages cut off at the limits, so that there are finitely many. From
//! each state three silent futures are followed in which nobody does anything any more: the agent
//! answers, never answers, or never starts. Shown, for every state:
//! - no deadlock: a re-attach is refused for a bounded time only, or a tick or the end comes first;
//! - no immortal session: every silent future ends;
//! - kept as long as needed: no session with a live loop is taken, unless somebody closes it or its
//!   interrupted turn does not end;
//! - no lost schedule: what is removed under a live loop leaves `not driven` and the due time.

use std::collections::{HashMap, HashSet, VecDeque};

use super::event::{Effect, Event};
use super::limits::Law;
use super::world_tests::{Act, Agent, Key, World, law};

fn check_step(before: &World, after: &World, act: &Act, effects: &[Effect]) -> Result<(), String> {
    let ended = before.session.ended.is_none() && after.session.ended.is_some();
    if !ended || !before.live() {
        return Ok(());
    }
    let wished = before.session.closing.is_some() || matches!(act, Act::Event(Event::Close(_)));
    if !wished && !before.session.is_settled(after.now.awake) {
        return Err(format!("taken under a live loop by {act:?}: {before:?}"));
    }
    let kept = effects
        .iter()
        .any(|effect| matches!(effect, Effect::NotDriven(record) if record.due_at.is_some()));
    if kept {
        Ok(())
    } else {
        Err(format!("lost schedule by {act:?} in {before:?}"))
    }
}

/// Whether whoever comes now is turned away.
fn is_locked(world: &World, law: &Law) -> bool {
    let mut session = world.session.clone();
    session.step(Event::Attach("c".into()), law, world.now) != [Effect::Attached]
}

/// Follows a silent future to the end, or to a state whose future is known to end.
fn check_future(
    world: &World,
    agent: Agent,
    law: &Law,
    fine: &mut HashSet<(Key, Agent)>,
) -> Result<(), String> {
    let mut world = world.clone();
    let mut path: HashMap<Key, u32> = HashMap::new();
    let mut locked_since: Option<u32> = None;
    loop {
        let key = world.key(law);
        if world.session.ended.is_some() || fine.contains(&(key.clone(), agent)) {
            fine.extend(path.into_keys().map(|key| (key, agent)));
            return Ok(());
        }
        let step = u32::try_from(path.len()).unwrap_or(u32::MAX);
        if is_locked(&world, law) {
            locked_since.get_or_insert(world.ticks);
        } else {
            locked_since = None;
        }
        if path.insert(key, step).is_some() {
            let what = if locked_since == Some(world.ticks) {
                "deadlock"
            } else {
                "immortal session"
            };
            return Err(format!("{what} ({agent:?}): {world:?}"));
        }
        let act = world.silent_act(agent, law);
        let before = world.clone();
        let effects = world.apply(&act, law);
        check_step(&before, &world, &act, &effects)?;
    }
}

/// Explores everything; how many states there are, or what is wrong.
fn explore(rule: bool, close_on_disconnect: bool) -> Result<usize, String> {
    let law = law(rule);
    let start = World::new(&law, close_on_disconnect);
    let mut seen = HashSet::from([start.key(&law)]);
    let mut fine: HashSet<(Key, Agent)> = HashSet::new();
    let mut queue = VecDeque::from([start]);
    while let Some(world) = queue.pop_front() {
        for agent in [Agent::Answers, Agent::Silent, Agent::NeverStarts] {
            check_future(&world, agent, &law, &mut fine)?;
        }
        for act in world.acts(&law) {
            let mut next = world.clone();
            let effects = next.apply(&act, &law);
            check_step(&world, &next, &act, &effects)?;
            if next.session.ended.is_none() && seen.insert(next.key(&law)) {
                queue.push_back(next);
            }
        }
    }
    Ok(seen.len())
}

#[test]
fn every_state_of_a_session_leads_on() {
    let states = explore(true, false).unwrap();
    assert!(
        states > 50_000,
        "only {states} states: the world has shrunk"
    );
}

#[test]
fn every_state_of_a_session_that_closes_on_disconnect_leads_on() {
    let states = explore(true, true).unwrap();
    assert!(
        states > 20_000,
        "only {states} states: the world has shrunk"
    );
}

#[test]
fn without_the_settled_interrupt_rule_there_is_a_deadlock() {
    let found = explore(false, false).unwrap_err();
    assert!(found.starts_with("deadlock"), "{found}");
}
