//! Field cases of section 8, by id, where they are pure.

use super::args::{LoopArgs, parse_loop_args};
use super::event::{NeverBegan, Outcome, Proof, TimerEffect, TimerEvent, TimerRules};
use super::heartbeat::Heartbeat;
use super::loop_row::LoopRow;
use super::loop_state::{LoopOwn, LoopState};
use super::row::Status;

/// Nine o'clock of some day.
pub(super) const NINE: f64 = 1_800_003_600.0;
pub(super) const MINUTE: f64 = 60.0;
pub(super) const HOUR: f64 = 3600.0;

pub(super) fn rules() -> TimerRules {
    TimerRules::default()
}

pub(super) fn args(text: &str) -> LoopArgs {
    parse_loop_args(text).unwrap()
}

pub(super) fn set(text: &str, now: f64) -> LoopState {
    LoopState::start(&args(text), &rules(), now)
}

/// Looks at a timer; the number of missed slots where it fires.
pub(super) fn look(timer: &mut LoopState, busy: bool, now: f64) -> Option<u64> {
    wake(&timer.step(TimerEvent::Due { busy }, &rules(), now))
}

pub(super) fn wake(effects: &[TimerEffect]) -> Option<u64> {
    effects.iter().find_map(|effect| match effect {
        TimerEffect::Wake { missed, .. } => Some(*missed),
        _ => None,
    })
}

pub(super) fn answer(timer: &mut LoopState, text: &str, now: f64) -> Vec<TimerEffect> {
    let began = timer.step(TimerEvent::TurnBegan, &rules(), now);
    assert_eq!(began, [TimerEffect::Save]);
    timer.step(
        TimerEvent::Answered(Outcome::Finished(text.to_owned())),
        &rules(),
        now,
    )
}

/// What a new process knows.
pub(super) fn restart(timer: &LoopState) -> LoopState {
    let own: LoopOwn = serde_json::from_str(&serde_json::to_string(&timer.own).unwrap()).unwrap();
    LoopState::restore(LoopRow::parse(&timer.row.text()).unwrap(), own)
}

#[test]
fn b116_a_lost_wake_up_is_armed_again_once_and_an_empty_answer_is_an_answer() {
    let mut timer = set("5m watch", NINE);
    assert_eq!(look(&mut timer, false, NINE), Some(0));
    timer.step(TimerEvent::TurnBegan, &rules(), NINE);
    let mut timer = restart(&timer);
    assert_eq!(timer.next_wake(&rules()), Some(NINE + 10.0 * MINUTE));
    assert_eq!(look(&mut timer, false, NINE + 9.0 * MINUTE), None);
    assert!(timer.row.awaiting_response);
    assert_eq!(
        look(&mut timer, false, NINE + 10.0 * MINUTE),
        Some(1),
        "armed again, fires once"
    );
    assert_eq!(look(&mut timer, false, NINE + 10.0 * MINUTE), None);
    answer(&mut timer, "", NINE + 11.0 * MINUTE);
    assert!(!timer.row.awaiting_response);
    assert_eq!(timer.next_wake(&rules()), Some(NINE + 15.0 * MINUTE));
}

#[test]
fn b116_a_live_turn_is_not_a_lost_one() {
    let mut timer = set("5m watch", NINE);
    look(&mut timer, false, NINE);
    assert_eq!(look(&mut timer, true, NINE + HOUR), None);
    timer.step(TimerEvent::Recover(Proof::Unknown), &rules(), NINE + HOUR);
    assert!(timer.row.awaiting_response);
    assert_eq!(timer.next_wake(&rules()), None);
}

#[test]
fn b118_a_loop_stopped_with_its_conversation_never_fires_again() {
    let mut timer = set("5m watch", NINE);
    timer.step(
        TimerEvent::Stop("the conversation was left".into()),
        &rules(),
        NINE,
    );
    assert_eq!(look(&mut timer, false, NINE + HOUR), None);
    assert_eq!(timer.next_wake(&rules()), None);
    assert_eq!(timer.row.status, Status::Cleared);
    assert_eq!(
        timer.row.last_stop_reason.as_deref(),
        Some("the conversation was left")
    );
}

#[test]
fn b119_an_idle_session_wakes_at_the_due_time() {
    let mut timer = set("47m watch", NINE);
    look(&mut timer, false, NINE);
    answer(&mut timer, "ok", NINE + MINUTE);
    assert_eq!(timer.next_wake(&rules()), Some(NINE + 47.0 * MINUTE));
    assert_eq!(look(&mut timer, false, NINE + 47.0 * MINUTE - 1.0), None);
    assert_eq!(look(&mut timer, false, NINE + 47.0 * MINUTE), Some(0));
}

#[test]
fn b120_stop_means_stop_even_for_a_wake_up_that_is_out() {
    let mut timer = set("5m watch", NINE);
    look(&mut timer, false, NINE);
    timer.step(TimerEvent::Stop("user".into()), &rules(), NINE);
    let late = timer.step(
        TimerEvent::Answered(Outcome::Finished("x".into())),
        &rules(),
        NINE,
    );
    assert_eq!(late, []);
    assert_eq!(look(&mut restart(&timer), false, NINE + HOUR), None);
}

#[test]
fn b120_the_eleventh_fire_in_a_minute_pauses_with_a_notice() {
    let rules = TimerRules {
        floor: 5.0,
        ..rules()
    };
    let mut timer = LoopState::start(&args("5s watch"), &rules, NINE);
    let mut fires = 0;
    for second in 0..60 {
        let now = NINE + f64::from(second);
        let effects = timer.step(TimerEvent::Due { busy: false }, &rules, now);
        fires += usize::from(wake(&effects).is_some());
        if timer.row.status == Status::Paused {
            assert!(
                matches!(effects.last(), Some(TimerEffect::Notice(text)) if text.contains("10 times"))
            );
            break;
        }
        timer.step(TimerEvent::TurnBegan, &rules, now);
        timer.step(
            TimerEvent::Answered(Outcome::Finished(String::new())),
            &rules,
            now,
        );
    }
    assert_eq!(fires, 10);
    assert_eq!(timer.row.status, Status::Paused);
}

#[test]
fn b122_five_slots_slept_over_are_one_wake_up_that_says_five() {
    let mut timer = set("5m watch", NINE);
    look(&mut timer, false, NINE);
    answer(&mut timer, "ok", NINE + 1.0);
    let awake = NINE + 27.5 * MINUTE;
    assert_eq!(look(&mut timer, false, awake), Some(5));
    assert_eq!(look(&mut timer, false, awake), None);
    answer(&mut timer, "ok", awake + 1.0);
    assert_eq!(timer.next_wake(&rules()), Some(NINE + 30.0 * MINUTE));
}

#[test]
fn b122_the_floor_holds_after_a_late_wake_up() {
    let mut timer = set("5m watch", NINE);
    look(&mut timer, false, NINE);
    answer(&mut timer, "ok", NINE + 1.0);
    assert_eq!(look(&mut timer, false, NINE + 9.9 * MINUTE), Some(1));
    answer(&mut timer, "ok", NINE + 9.95 * MINUTE);
    assert_eq!(timer.next_wake(&rules()), Some(NINE + 15.0 * MINUTE));
}

#[test]
fn a_cadence_at_the_floor_keeps_every_slot_although_each_look_is_late() {
    for late in [0.01, 1.0, 7.0] {
        let mut timer = set("30s watch", NINE);
        let rules = TimerRules {
            floor: 60.0,
            ..rules()
        };
        let mut beat = Heartbeat::start("report", 60, NINE);
        let (mut now, mut beats) = (NINE, 0);
        for run in 0..100 {
            now = timer.next_wake(&self::rules()).unwrap().max(now) + late;
            assert_eq!(look(&mut timer, false, now), Some(0), "{late}: run {run}");
            answer(&mut timer, "ok", now + 2.0);
            let due = beat.next_wake(&rules).unwrap();
            let woken = beat.step(TimerEvent::Due { busy: false }, &rules, due + late);
            beats += usize::from(wake(&woken) == Some(0));
            beat.step(TimerEvent::TurnBegan, &rules, due + late);
            let said = TimerEvent::Answered(Outcome::Finished("ok".into()));
            beat.step(said, &rules, due + late);
        }
        assert!(now - NINE < 99.0 * 30.0 + 7.5, "{late}: {}", now - NINE);
        let slot = beat.row.last_fired_at - NINE;
        assert!(beats == 100 && slot < 100.0 * 60.0 + 15.0, "{late}: {slot}");
    }
}

#[test]
fn b123_busy_over_five_slots_keeps_the_phase_and_counts() {
    let twelve = NINE + 3.0 * HOUR;
    let mut beat = Heartbeat::start("report", 300, twelve);
    assert_eq!(beat.next_wake(&rules()), Some(twelve + 5.0 * MINUTE));
    let at = |beat: &mut Heartbeat, busy, minute: f64| {
        wake(&beat.step(TimerEvent::Due { busy }, &rules(), twelve + minute * MINUTE))
    };
    assert_eq!(at(&mut beat, true, 5.0), None);
    assert_eq!(at(&mut beat, true, 20.0), None);
    assert_eq!(at(&mut beat, false, 27.0), None);
    assert_eq!(beat.row.fire_count, 0, "a skipped beat is not a beat");
    assert_eq!(beat.next_wake(&rules()), Some(twelve + 30.0 * MINUTE));
    assert_eq!(at(&mut beat, false, 30.0), Some(5));

    let mut timer = set("5m watch", twelve + 5.0 * MINUTE);
    assert_eq!(look(&mut timer, true, twelve + 5.0 * MINUTE), None);
    assert_eq!(look(&mut timer, false, twelve + 27.0 * MINUTE), None);
    assert_eq!(look(&mut timer, false, twelve + 30.0 * MINUTE), Some(5));
}

#[test]
fn b123_a_session_idle_again_soon_after_a_slot_still_serves_it() {
    let mut timer = set("2h watch", NINE);
    look(&mut timer, true, NINE);
    assert_eq!(look(&mut timer, false, NINE + 10.0), Some(0));
    answer(&mut timer, "ok", NINE + 20.0);
    assert_eq!(timer.next_wake(&rules()), Some(NINE + 2.0 * HOUR));
}

#[test]
fn b124_a_restart_or_reload_moves_nothing() {
    let mut timer = set("2h watch", NINE);
    look(&mut timer, false, NINE);
    answer(&mut timer, "ok", NINE + 8.0 * MINUTE);
    let mut timer = restart(&timer);
    let restarted = NINE + 107.0 * MINUTE;
    assert_eq!(look(&mut timer, false, restarted), None);
    assert_eq!(timer.next_wake(&rules()), Some(NINE + 2.0 * HOUR));
}

#[test]
fn b124_a_turn_longer_than_the_cadence_does_not_shift_it() {
    let mut timer = set("5m watch", NINE);
    look(&mut timer, false, NINE);
    answer(&mut timer, "ok", NINE + 12.0 * MINUTE);
    assert_eq!(timer.next_wake(&rules()), Some(NINE + 15.0 * MINUTE));
    assert_eq!(look(&mut timer, false, NINE + 15.0 * MINUTE), Some(2));
}

#[test]
fn b125_ten_failures_pause_and_say_which() {
    let mut timer = set("5m watch", NINE);
    let mut now = NINE;
    let mut fires = 0;
    while timer.row.status == Status::Active {
        fires += u32::from(look(&mut timer, false, now).is_some());
        timer.step(TimerEvent::TurnBegan, &rules(), now);
        let failed = Outcome::Failed("undeliverable result".into());
        timer.step(TimerEvent::Answered(failed), &rules(), now);
        now += 5.0 * MINUTE;
    }
    assert_eq!(fires, 10);
    assert!(
        timer
            .row
            .paused_reason
            .unwrap()
            .ends_with("10 times in a row, last: undeliverable result")
    );
}

#[test]
fn b125_an_agent_that_cannot_be_started_is_not_hammered_nor_counted() {
    let mut timer = set("5m watch", NINE);
    let mut now = NINE;
    for tries in 1..=10 {
        assert!(look(&mut timer, false, now).is_some(), "try {tries}");
        timer.step(
            TimerEvent::TurnNeverBegan(NeverBegan::Failed("no agent".into())),
            &rules(),
            now,
        );
        assert_eq!(timer.row.ticks_fired, 0);
        if tries < 10 {
            assert_eq!(timer.next_wake(&rules()), Some(now + rules().floor));
        }
        now += rules().floor;
    }
    assert_eq!(timer.row.status, Status::Paused);
}

#[test]
fn b126_the_same_answer_backs_off_a_changed_one_or_a_message_resets() {
    let mut timer = set("watch", NINE);
    let mut now = NINE;
    let mut delays = Vec::new();
    for minute in 0..6 {
        assert!(look(&mut timer, false, now).is_some());
        answer(&mut timer, &format!("quiet at 10:0{minute}"), now);
        delays.push(timer.row.current_delay);
        now = timer.next_wake(&rules()).unwrap();
    }
    assert_eq!(delays, [60.0, 120.0, 240.0, 480.0, 900.0, 900.0]);
    timer.step(TimerEvent::UserMessage, &rules(), now - 800.0);
    assert_eq!(timer.next_wake(&rules()), Some(now - 740.0));
    look(&mut timer, false, now - 740.0);
    answer(&mut timer, "the build broke", now - 700.0);
    assert_eq!(
        timer.next_wake(&rules()),
        Some(now - 640.0),
        "counted from the end of the turn"
    );
}
