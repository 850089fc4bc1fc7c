//! How timers end, pause, and give back what never began.

use super::cases_tests::answer;
use super::cases_tests::{HOUR, MINUTE, NINE, args, look, restart, rules, set, wake};
use super::event::{NeverBegan, Outcome, Proof, TimerEffect, TimerEvent, TimerRules};
use super::heartbeat::Heartbeat;
use super::loop_state::LoopState;
use super::row::Status;

fn judging() -> TimerRules {
    TimerRules {
        judge: true,
        max_ticks: 2,
        ..rules()
    }
}

fn begin(text: &str) -> LoopState {
    let mut timer = LoopState::start(&args(text), &judging(), NINE);
    timer.step(TimerEvent::Due { busy: false }, &judging(), NINE);
    timer.step(TimerEvent::TurnBegan, &judging(), NINE);
    timer
}

fn finish(timer: &mut LoopState, text: &str) -> Vec<TimerEffect> {
    timer.step(
        TimerEvent::Answered(Outcome::Finished(text.into())),
        &judging(),
        NINE,
    )
}

#[test]
fn a_loop_ends_by_marker_then_judge_then_times() {
    let mut timer = begin("5m x --times 1 --until green");
    finish(&mut timer, "all\nLOOP_COMPLETE");
    assert_eq!(
        timer.row.last_stop_reason.as_deref(),
        Some("the agent says it is complete")
    );

    let mut timer = begin("5m x --times 1 --until green");
    let effects = finish(&mut timer, "red");
    assert!(matches!(effects.last(), Some(TimerEffect::Judge { until, .. }) if until == "green"));
    assert!(
        timer.row.awaiting_response,
        "no other program fires meanwhile"
    );
    let mut met = timer.clone();
    met.step(
        TimerEvent::Judged {
            met: true,
            reason: "it is".into(),
        },
        &judging(),
        NINE,
    );
    assert_eq!(
        met.row.last_stop_reason.as_deref(),
        Some("the condition is met: it is")
    );
    timer.step(
        TimerEvent::Judged {
            met: false,
            reason: "no".into(),
        },
        &judging(),
        NINE,
    );
    assert_eq!(timer.row.status, Status::Done);
    assert_eq!(
        timer.row.last_stop_reason.as_deref(),
        Some("ran 1 of 1 times")
    );
}

#[test]
fn a_used_up_budget_pauses_frees_the_session_and_is_granted_anew() {
    let mut timer = begin("5m x");
    finish(&mut timer, "one");
    timer.step(TimerEvent::Due { busy: false }, &judging(), NINE + 300.0);
    timer.step(TimerEvent::TurnBegan, &judging(), NINE + 300.0);
    finish(&mut timer, "two");
    assert_eq!(timer.row.status, Status::Paused);
    assert!(!timer.is_live());
    timer.step(TimerEvent::Resume, &judging(), NINE + 400.0);
    assert_eq!(
        (timer.row.max_ticks, timer.next_wake(&judging())),
        (4, Some(NINE + 405.0))
    );
}

#[test]
fn a_message_of_the_user_wins_and_the_wake_up_is_given_back() {
    let mut timer = set("5m watch", NINE);
    let before = timer.row.clone();
    look(&mut timer, false, NINE);
    timer.step(
        TimerEvent::TurnNeverBegan(NeverBegan::UserFirst),
        &rules(),
        NINE + 1.0,
    );
    assert_eq!(timer.row, before);
    assert_eq!(look(&mut timer, false, NINE + 30.0), Some(0));
}

#[test]
fn a_claim_of_a_dead_owner_that_never_began_is_given_back() {
    let mut timer = set("5m watch", NINE);
    let before = timer.row.clone();
    look(&mut timer, false, NINE);
    let mut timer = restart(&timer);
    timer.step(TimerEvent::Recover(Proof::OwnerGone), &rules(), NINE + 2.0);
    assert_eq!(timer.row, before);
}

#[test]
fn interrupting_a_wake_up_pauses_cutting_it_does_not() {
    for (outcome, status) in [
        (Outcome::Interrupted, Status::Paused),
        (Outcome::Cut, Status::Active),
    ] {
        let mut timer = set("5m watch", NINE);
        look(&mut timer, false, NINE);
        timer.step(TimerEvent::TurnBegan, &rules(), NINE);
        timer.step(TimerEvent::Answered(outcome), &rules(), NINE + 5.0);
        assert_eq!(timer.row.status, status);
        assert!(!timer.row.awaiting_response);
    }
}

#[test]
fn a_routed_loop_and_a_gateways_heartbeat_are_never_fired_here() {
    let mut timer = set("5m watch", NINE);
    timer.row.route = serde_json::from_str(r#"{"platform":"telegram","chat_id":"7"}"#).unwrap();
    assert_eq!(look(&mut timer, false, NINE + HOUR), None);
    let mut beat = Heartbeat::start("report", 300, NINE);
    beat.gateway_owned = true;
    assert_eq!(
        beat.step(TimerEvent::Due { busy: false }, &rules(), NINE + HOUR),
        []
    );
    assert_eq!((timer.is_live(), beat.is_live()), (false, false));
}

#[test]
fn a_clock_set_back_does_not_silence_a_timer() {
    let mut timer = set("5m watch", NINE);
    look(&mut timer, false, NINE);
    answer(&mut timer, "ok", NINE);
    let back = NINE - 10.0 * HOUR;
    look(&mut timer, false, back);
    assert!(timer.next_wake(&rules()).unwrap() <= back + 300.0);
    let mut beat = Heartbeat::start("report", 300, NINE);
    beat.step(TimerEvent::Due { busy: false }, &rules(), NINE + 300.0);
    beat.step(
        TimerEvent::Answered(Outcome::Finished(String::new())),
        &rules(),
        NINE + 301.0,
    );
    beat.step(TimerEvent::Due { busy: false }, &rules(), back);
    assert!(beat.next_wake(&rules()).unwrap() <= back + 300.0);
}

#[test]
fn a_heartbeat_pauses_after_its_beats_unless_the_user_writes() {
    let rules = TimerRules {
        max_beats: 3,
        ..rules()
    };
    let mut beat = Heartbeat::start("report", 60, NINE);
    let mut beats = Vec::new();
    for minute in 1..=10 {
        let now = NINE + f64::from(minute) * MINUTE;
        if minute == 3 {
            beat.step(TimerEvent::UserMessage, &rules, now);
        }
        if wake(&beat.step(TimerEvent::Due { busy: false }, &rules, now)).is_some() {
            beats.push(minute);
            beat.step(TimerEvent::TurnBegan, &rules, now);
            beat.step(
                TimerEvent::Answered(Outcome::Finished(String::new())),
                &rules,
                now,
            );
        }
    }
    assert_eq!(beats, [1, 2, 3, 4, 5]);
    assert_eq!(
        beat.paused_reason(),
        Some("3 beats without a message of the user")
    );
}

#[test]
fn a_beat_that_never_began_is_restored_only_where_nobody_moved_the_row() {
    let mut beat = Heartbeat::start("report", 60, NINE);
    let before = beat.row.clone();
    beat.step(TimerEvent::Due { busy: false }, &rules(), NINE + MINUTE);
    let mut moved = beat.clone();
    beat.step(
        TimerEvent::TurnNeverBegan(NeverBegan::UserFirst),
        &rules(),
        NINE + 61.0,
    );
    assert_eq!(beat.row, before);
    moved.row.last_fired_at += 5.0;
    let row = moved.row.clone();
    moved.step(
        TimerEvent::TurnNeverBegan(NeverBegan::UserFirst),
        &rules(),
        NINE + 61.0,
    );
    assert_eq!(moved.row, row);
}
