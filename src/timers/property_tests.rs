//! Properties that hold whatever happens to a timer, and however often its process dies.

use proptest::prelude::*;

use super::args::{LoopArgs, parse_loop_args};
use super::event::{NeverBegan, Outcome, Proof, TimerEffect, TimerEvent, TimerRules};
use super::heartbeat::{Heartbeat, HeartbeatOwn};
use super::heartbeat_row::HeartbeatRow;
use super::loop_row::LoopRow;
use super::loop_state::LoopState;
use super::row::Status;

#[derive(Debug, Clone)]
enum Act {
    Event(TimerEvent),
    Restart,
}

fn act() -> impl Strategy<Value = Act> {
    let event = |event| Just(Act::Event(event));
    prop_oneof![
        6 => event(TimerEvent::Due { busy: false }),
        2 => event(TimerEvent::Due { busy: true }),
        4 => event(TimerEvent::TurnBegan),
        1 => event(TimerEvent::TurnNeverBegan(NeverBegan::UserFirst)),
        1 => event(TimerEvent::TurnNeverBegan(NeverBegan::Failed("x".into()))),
        4 => "[ab]".prop_map(|text| Act::Event(TimerEvent::Answered(Outcome::Finished(text)))),
        1 => event(TimerEvent::Answered(Outcome::Failed("x".into()))),
        1 => event(TimerEvent::Answered(Outcome::Cut)),
        1 => event(TimerEvent::UserMessage),
        1 => event(TimerEvent::Pause("p".into())),
        2 => event(TimerEvent::Resume),
        1 => event(TimerEvent::Recover(Proof::OwnerGone)),
        1 => event(TimerEvent::Recover(Proof::Unknown)),
        1 => Just(Act::Restart),
    ]
}

fn story() -> impl Strategy<Value = Vec<(u32, Act)>> {
    let wait = prop_oneof![3 => 0_u32..40, 2 => 40_u32..700, 1 => 700_u32..20_000];
    proptest::collection::vec((wait, act()), 1..120)
}

fn restart_loop(timer: &LoopState) -> LoopState {
    let own = serde_json::from_str(&serde_json::to_string(&timer.own).unwrap()).unwrap();
    LoopState::restore(LoopRow::parse(&timer.row.text()).unwrap(), own)
}

fn restart_beat(beat: &Heartbeat) -> Heartbeat {
    let own: HeartbeatOwn =
        serde_json::from_str(&serde_json::to_string(&beat.own).unwrap()).unwrap();
    let row = HeartbeatRow::parse(&beat.row.text()).unwrap();
    Heartbeat {
        row,
        own,
        gateway_owned: beat.gateway_owned,
    }
}

/// Counts a fire, or takes back one that never began.
fn note(fires: &mut Vec<f64>, before: u64, after: u64, now: f64) {
    match after.cmp(&before) {
        std::cmp::Ordering::Greater => fires.push(now),
        std::cmp::Ordering::Less => {
            fires.pop();
        }
        std::cmp::Ordering::Equal => {}
    }
}

fn check_floor(fires: &[f64], floor: f64) -> Result<(), TestCaseError> {
    for pair in fires.windows(2) {
        prop_assert!(pair[1] - pair[0] >= floor * 0.75, "{pair:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn loops_keep_floor_counts_and_restarts(
        text in prop_oneof![Just("x"), Just("5m x"), Just("1s x"), Just("5m x --times 4")],
        story in story(),
    ) {
        let rules = TimerRules { max_ticks: 7, ..TimerRules::default() };
        let args: LoopArgs = parse_loop_args(text).unwrap();
        let mut now = 1_800_000_000.0;
        let mut timer = LoopState::start(&args, &rules, now);
        let mut fires = Vec::new();
        for (wait, act) in story {
            now += f64::from(wait);
            let before = timer.row.ticks_fired;
            match act {
                Act::Restart => timer = restart_loop(&timer),
                Act::Event(event) => {
                    let effects = timer.step(event, &rules, now);
                    let wakes = effects.iter().filter(|e| matches!(e, TimerEffect::Wake { .. })).count();
                    prop_assert!(wakes <= 1);
                    if wakes == 1 && timer.row.ticks_fired == before {
                        // A lost claim that never began was given back and its slot served now.
                        fires.pop();
                        fires.push(now);
                    }
                }
            }
            note(&mut fires, before, timer.row.ticks_fired, now);
            check_floor(&fires, rules.floor)?;
            prop_assert!(timer.row.times == 0 || timer.row.ticks_fired <= timer.row.times);
            prop_assert!(timer.row.ticks_fired <= timer.row.max_ticks);
            prop_assert_eq!(timer.row.ticks_fired, fires.len() as u64);
            if let Some(wake) = timer.next_wake(&rules) {
                prop_assert_eq!(restart_loop(&timer).next_wake(&rules), Some(wake));
                prop_assert!(wake <= now + 2.0 * 900.0, "armed, but not for ever");
            }
        }
        // Whatever happened, a live loop fires again once its session is idle.
        if timer.row.status == Status::Active {
            for _ in 0..4 {
                now = restart_loop(&timer).next_wake(&rules).unwrap().max(now);
                timer = restart_loop(&timer);
                let effects = timer.step(TimerEvent::Due { busy: false }, &rules, now);
                if effects.iter().any(|e| matches!(e, TimerEffect::Wake { .. }))
                    || timer.row.status != Status::Active
                {
                    return Ok(());
                }
            }
            prop_assert!(false, "no wake-up: {timer:?}");
        }
    }

    #[test]
    fn heartbeats_keep_floor_counts_and_restarts(seconds in 60_u128..900, story in story()) {
        let rules = TimerRules { max_beats: 9, ..TimerRules::default() };
        let mut now = 1_800_000_000.0;
        let mut beat = Heartbeat::start("x", seconds, now);
        let mut fires = Vec::new();
        for (wait, act) in story {
            now += f64::from(wait);
            let before = beat.row.fire_count;
            match act {
                Act::Restart => beat = restart_beat(&beat),
                Act::Event(event) => {
                    let effects = beat.step(event, &rules, now);
                    let woke = effects.iter().any(|e| matches!(e, TimerEffect::Wake { .. }));
                    if woke && beat.row.fire_count == before {
                        fires.pop();
                        fires.push(now);
                    }
                }
            }
            note(&mut fires, before, beat.row.fire_count, now);
            check_floor(&fires, rules.floor)?;
            prop_assert_eq!(beat.row.fire_count, fires.len() as u64);
            if let Some(wake) = beat.next_wake(&rules) {
                prop_assert_eq!(restart_beat(&beat).next_wake(&rules), Some(wake));
                prop_assert!(wake <= now + 2.0 * 900.0, "armed, but not for ever");
            }
        }
    }

    #[test]
    fn a_fixed_loop_driven_on_time_never_leaves_its_grid(turns in proptest::collection::vec(0_u32..290, 1..50)) {
        let rules = TimerRules::default();
        let start = 1_800_000_000.0;
        let mut timer = LoopState::start(&parse_loop_args("5m x").unwrap(), &rules, start);
        let mut total = 0;
        for turn in turns {
            let Some(at) = timer.next_wake(&rules) else { break };
            prop_assert!(((at - start) % 300.0).abs() < 1e-6);
            for effect in timer.step(TimerEvent::Due { busy: false }, &rules, at) {
                if let TimerEffect::Wake { missed, .. } = effect {
                    total += missed;
                }
            }
            timer.step(TimerEvent::TurnBegan, &rules, at);
            timer.step(TimerEvent::Answered(Outcome::Finished("x".into())), &rules, at + f64::from(turn));
        }
        prop_assert_eq!(total, 0);
    }

    #[test]
    fn no_text_breaks_the_readers(text in "\\PC{0,40}", more in "(every |5m |--times |--until |1h30m|[ \\t\\n]|x|٣|ſ){0,8}") {
        for text in [text.clone(), more.clone(), format!("{text} {more}")] {
            if let Ok(args) = parse_loop_args(&text) {
                prop_assert!(!args.prompt.is_empty());
                prop_assert_eq!(args.prompt.trim(), &args.prompt);
            }
            let _read = super::heartbeat_args::heartbeat_command(&text);
            let _digest = super::digest::digest(&text);
        }
    }
}
