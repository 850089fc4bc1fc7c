//! A timer, its row, and a store that wins, loses and fails.

use super::*;
use crate::timers::args::parse_loop_args;
use crate::timers::event::{NeverBegan, Outcome};
use crate::timers::row::Status;

const NOW: f64 = 1_800_000_000.0;

fn rules() -> TimerRules {
    TimerRules::default()
}

/// A loop that is stored.
fn driven() -> Driven<LoopState> {
    let args = parse_loop_args("5m check the build").unwrap();
    let (mut driven, actions) = Driven::set(LoopState::start(&args, &rules(), NOW), None);
    assert!(matches!(actions.as_slice(), [Action::Save(save)] if save.expected.is_none()));
    assert!(driven.saved(Saved::Done, &rules(), NOW).is_empty());
    driven
}

fn wakes(actions: &[Action]) -> usize {
    let is_wake = |action: &&Action| matches!(action, Action::Do(TimerEffect::Wake { .. }));
    actions.iter().filter(is_wake).count()
}

#[test]
fn nothing_happens_before_it_is_stored() {
    let mut driven = driven();
    let actions = driven.step(TimerEvent::Due { busy: false }, &rules(), NOW);
    assert!(matches!(actions.as_slice(), [Action::Save(_)]));
    assert_eq!(driven.next_wake(&rules()), None);
    assert!(
        driven
            .step(TimerEvent::Due { busy: false }, &rules(), NOW)
            .is_empty()
    );
    assert_eq!(wakes(&driven.saved(Saved::Done, &rules(), NOW)), 1);
}

#[test]
fn of_two_drivers_one_wins_the_tick() {
    let mut mine = driven();
    let mut theirs = mine.clone();
    let _save = mine.step(TimerEvent::Due { busy: false }, &rules(), NOW);
    let _save = theirs.step(TimerEvent::Due { busy: false }, &rules(), NOW);
    assert_eq!(wakes(&theirs.saved(Saved::Done, &rules(), NOW)), 1);
    let now_there = theirs.stored_text().map(str::to_owned);
    assert_eq!(
        wakes(&mine.saved(Saved::Lost(now_there.clone()), &rules(), NOW)),
        0
    );
    assert_eq!(mine.stored_text().map(str::to_owned), now_there);
    assert_eq!(mine.state.row.ticks_fired, 1);
    assert!(mine.next_wake(&rules()).is_none_or(|at| at > NOW));
}

#[test]
fn an_order_survives_a_lost_save() {
    let mut mine = driven();
    let mut other = mine.state.clone();
    other.row.prompt = "something else".to_owned();
    let _save = mine.step(TimerEvent::Pause("asked".into()), &rules(), NOW);
    let actions = mine.saved(Saved::Lost(Some(other.row_text())), &rules(), NOW);
    let [Action::Save(save)] = actions.as_slice() else {
        panic!("{actions:?}")
    };
    assert_eq!(save.expected, Some(other.row_text()));
    assert!(save.text.contains("something else") && save.text.contains("\"paused\""));
}

#[test]
fn a_store_that_fails_is_asked_again_and_counts_nothing() {
    let mut driven = driven();
    let _save = driven.step(TimerEvent::Due { busy: false }, &rules(), NOW);
    assert!(
        driven
            .saved(Saved::Failed("disk full".into()), &rules(), NOW)
            .is_empty()
    );
    assert_eq!(driven.state.row.ticks_fired, 0);
    assert_eq!(driven.next_wake(&rules()), Some(NOW + RETRY_SECONDS));
    let later = NOW + RETRY_SECONDS;
    let _save = driven.step(TimerEvent::Due { busy: false }, &rules(), later);
    assert_eq!(wakes(&driven.saved(Saved::Done, &rules(), later)), 1);
}

#[test]
fn an_answer_is_kept_while_the_store_fails() {
    let mut driven = driven();
    let _save = driven.step(TimerEvent::Due { busy: false }, &rules(), NOW);
    let _wake = driven.saved(Saved::Done, &rules(), NOW);
    let _save = driven.step(TimerEvent::TurnBegan, &rules(), NOW);
    let answered = TimerEvent::Answered(Outcome::Finished("all good".into()));
    assert!(
        driven.step(answered, &rules(), NOW + 1.0).is_empty(),
        "it waits for the save"
    );
    let _failed = driven.saved(Saved::Failed("locked".into()), &rules(), NOW + 1.0);
    assert_eq!(driven.next_wake(&rules()), Some(NOW + 1.0 + RETRY_SECONDS));
    let later = NOW + 1.0 + RETRY_SECONDS;
    let actions = driven.step(TimerEvent::Due { busy: false }, &rules(), later);
    assert!(matches!(actions.as_slice(), [Action::Save(_)]));
    let actions = driven.saved(Saved::Done, &rules(), later);
    assert!(
        matches!(actions.as_slice(), [Action::Save(_)]),
        "then the answer"
    );
    let _done = driven.saved(Saved::Done, &rules(), later);
    assert!(!driven.state.row.awaiting_response);
    assert_eq!(driven.state.row.ticks_fired, 1);
}

#[test]
fn a_tick_that_never_began_is_given_back() {
    let mut driven = driven();
    let _save = driven.step(TimerEvent::Due { busy: false }, &rules(), NOW);
    let _wake = driven.saved(Saved::Done, &rules(), NOW);
    let _save = driven.step(
        TimerEvent::TurnNeverBegan(NeverBegan::UserFirst),
        &rules(),
        NOW,
    );
    let _done = driven.saved(Saved::Done, &rules(), NOW);
    assert_eq!(driven.state.row.ticks_fired, 0);
    assert_eq!(driven.state.row.status, Status::Active);
}

#[test]
fn a_row_that_is_gone_or_unreadable_is_not_driven() {
    for text in [None, Some("{".to_owned())] {
        let mut driven = driven();
        let _save = driven.step(TimerEvent::Due { busy: false }, &rules(), NOW);
        let actions = driven.saved(Saved::Lost(text), &rules(), NOW);
        assert!(matches!(actions.as_slice(), [Action::Gone(_)]));
    }
}

#[test]
fn a_loop_set_anew_wins_over_what_is_there() {
    let args = parse_loop_args("5m check the build").unwrap();
    let (mut driven, _) = Driven::set(LoopState::start(&args, &rules(), NOW), None);
    let actions = driven.saved(
        Saved::Lost(Some("{\"prompt\": \"old\"}".into())),
        &rules(),
        NOW,
    );
    let [Action::Save(save)] = actions.as_slice() else {
        panic!("{actions:?}")
    };
    assert_eq!(save.expected.as_deref(), Some("{\"prompt\": \"old\"}"));
}

#[test]
fn a_loop_that_is_replaced_while_it_is_stored_does_not_wake() {
    let mut driven = driven();
    let _save = driven.step(TimerEvent::Due { busy: false }, &rules(), NOW);
    let args = parse_loop_args("10m something else").unwrap();
    assert!(
        driven
            .replace(LoopState::start(&args, &rules(), NOW), NOW)
            .is_empty()
    );
    let actions = driven.saved(Saved::Done, &rules(), NOW);
    let [Action::Save(save)] = actions.as_slice() else {
        panic!("{actions:?}")
    };
    assert!(save.text.contains("something else"));
    assert!(
        save.expected
            .as_deref()
            .is_some_and(|text| text.contains("check the build"))
    );
    assert!(driven.saved(Saved::Done, &rules(), NOW).is_empty());
    assert_eq!(driven.state.row.ticks_fired, 0);
}
