//! The rules of keeping and reaping, one by one.

use super::cases_tests::{HOUR, armed, at, attached, detach, go, has_loop, law, removed};
use super::event::{Effect, Event};
use super::exempt::{Bound, Kind, reasons};
use super::limits::{Law, Limits};
use super::moment::Moment;
use super::plan::{Verdict, judge, plan};
use super::reaper::Reaper;
use super::refusal::code;
use super::schedule::{Asked, Schedule, TimerKind};
use super::session::Session;
use super::turn::{By, StopCause};

#[test]
fn the_schedule_question_fails_open_and_says_so() {
    let mut session = attached("a", 0.0);
    go(
        &mut session,
        Event::Schedules(Asked::Unreadable("disk I/O error".into())),
        0.0,
    );
    detach(&mut session, 0.0);
    let row = judge(&session, Reaper::Orphan, &law(), at(30.0)).unwrap();
    assert_eq!(row.verdict, Verdict::Reap(Reaper::Orphan));
    assert!(row.reasons[0].text.contains("disk I/O error") && !row.reasons[0].keeps);
}

#[test]
fn a_suspended_host_makes_no_orphans() {
    let mut session = attached("a", 0.0);
    detach(&mut session, 0.0);
    // Eight hours of sleep after five seconds of grace: the wall clock moved, awake time did not.
    let morning = Moment {
        wall: at(5.0).wall + 8.0 * HOUR,
        awake: at(5.0).awake,
    };
    assert_eq!(session.step(Event::Wake, &law(), morning), []);
    assert_eq!(
        session.next_wake(&law()),
        Some(at(20.0).awake),
        "the remainder of the grace"
    );
    assert_eq!(
        session.step(Event::Attach("tui".into()), &law(), morning),
        [Effect::Attached]
    );
}

#[test]
fn a_stale_turn_of_an_orphan_is_stopped_its_loop_goes_on_and_attach_waits_meanwhile() {
    let mut session = attached("a", 0.0);
    has_loop(&mut session, 0.0);
    detach(&mut session, 0.0);
    assert_eq!(
        go(&mut session, Event::TickDue(TimerKind::Loop), 10.0),
        [Effect::StartTurn(By::Timer(TimerKind::Loop))]
    );
    go(&mut session, Event::TurnBegan, 10.0);
    assert_eq!(session.next_wake(&law()), Some(at(610.0).awake));
    assert_eq!(
        go(&mut session, Event::Wake, 610.0),
        [Effect::StopTurn(StopCause::ClientGone)]
    );
    let effects = go(&mut session, Event::Attach("tui".into()), 620.0);
    let [Effect::Refuse(refusal)] = effects.as_slice() else {
        panic!("{effects:?}")
    };
    assert_eq!(
        (refusal.code, refusal.until),
        (code::BUSY, Some(at(670.0).awake))
    );
    let mut ends = session.clone();
    assert_eq!(go(&mut ends, Event::TurnEnded, 630.0), [Effect::Idle]);
    assert!(ends.has_room() && !ends.is_client_gone());
    // A turn that does not end: settled, and the schedule no longer helps.
    assert_eq!(session.next_wake(&law()), Some(at(670.0).awake));
    let effects = go(&mut session, Event::Wake, 670.0);
    assert_eq!(removed(&effects), Some("ws_orphan_reap"));
    let record = effects.iter().find_map(|effect| match effect {
        Effect::NotDriven(record) => Some(record),
        _ => None,
    });
    let record = record.unwrap();
    assert_eq!(
        record.reason,
        "its session has ended: its client left and nobody came back (ws_orphan_reap)"
    );
    assert_eq!(record.due_at, Some(1_800_000_300.0));
}

#[test]
fn routed_loops_and_gateway_heartbeats_never_pin_and_paused_ones_free_at_once() {
    for change in [
        |one: &mut Schedule| one.elsewhere = true,
        |one: &mut Schedule| one.active = false,
    ] {
        let mut session = attached("a", 0.0);
        has_loop(&mut session, 0.0);
        detach(&mut session, 0.0);
        assert_eq!(go(&mut session, Event::Wake, HOUR), []);
        assert_eq!(
            session.next_wake(&law()),
            None,
            "nothing to look at until something happens"
        );
        let mut freed = armed(TimerKind::Loop);
        change(&mut freed);
        go(
            &mut session,
            Event::Schedules(Asked::Known(vec![freed])),
            HOUR,
        );
        assert_eq!(session.next_wake(&law()), Some(at(HOUR).awake));
        let effects = go(&mut session, Event::Wake, HOUR);
        assert_eq!(effects, [Effect::Remove("ws_orphan_reap".into())]);
    }
}

#[test]
fn a_grace_of_0_parks_and_is_said() {
    let law = Law {
        limits: Limits {
            grace: 0.0,
            ..Limits::default()
        },
        ..law()
    };
    let mut session = Session::new("a", "s", &law.limits, at(0.0));
    session.step(Event::Started, &law, at(0.0));
    let plan = plan(
        std::slice::from_ref(&session),
        &[Reaper::Orphan],
        &law,
        at(1e7),
    );
    assert_eq!(plan.rows[0].because, "parked for ever: the grace is 0");
    assert_eq!(
        plan.lifted,
        ["The orphan grace is 0: detached sessions are parked for ever."]
    );
    assert_eq!(session.step(Event::Wake, &law, at(1e7)), []);
}

#[test]
fn zeros_that_lift_a_limit_are_called_unbounded() {
    let mut session = attached("a", 0.0);
    let mut schedule = armed(TimerKind::Loop);
    schedule.unbounded = true;
    go(
        &mut session,
        Event::Schedules(Asked::Known(vec![schedule])),
        0.0,
    );
    detach(&mut session, 0.0);
    let found = reasons(&session, &law(), at(HOUR));
    assert_eq!(found[0].bound, Bound::Unbounded);
    assert!(
        judge(&session, Reaper::Orphan, &law(), at(HOUR))
            .unwrap()
            .unbounded
    );
}

#[test]
fn all_reasons_are_shown_whichever_decides() {
    let mut session = attached("a", 0.0);
    has_loop(&mut session, 0.0);
    go(&mut session, Event::UserMessage, 0.0);
    go(&mut session, Event::Delegated(Asked::Known(1)), 0.0);
    let kinds: Vec<Kind> = reasons(&session, &law(), at(1.0))
        .iter()
        .map(|one| one.kind)
        .collect();
    assert_eq!(
        kinds,
        [
            Kind::Attached,
            Kind::TurnFresh,
            Kind::Delegated,
            Kind::SoleDriver
        ]
    );
}

#[test]
fn a_message_of_the_user_goes_before_a_tick_and_an_interrupt_quiets_timers() {
    let mut session = attached("a", 0.0);
    has_loop(&mut session, 0.0);
    go(&mut session, Event::UserMessage, 0.0);
    assert_eq!(
        go(&mut session, Event::UserMessage, 1.0),
        [Effect::Queued(1)]
    );
    assert_eq!(
        go(&mut session, Event::TickDue(TimerKind::Loop), 2.0),
        [Effect::Busy(TimerKind::Loop)]
    );
    assert_eq!(
        go(&mut session, Event::TurnEnded, 3.0),
        [Effect::StartTurn(By::User)]
    );
    assert_eq!(
        go(&mut session, Event::Interrupt, 4.0),
        [Effect::StopTurn(StopCause::User)]
    );
    assert_eq!(go(&mut session, Event::TurnEnded, 5.0), []);
    assert_eq!(
        go(&mut session, Event::TickDue(TimerKind::Loop), 6.0),
        [Effect::Busy(TimerKind::Loop)]
    );
    detach(&mut session, 7.0);
    assert_eq!(
        go(&mut session, Event::TickDue(TimerKind::Loop), 8.0),
        [Effect::StartTurn(By::Timer(TimerKind::Loop))]
    );
}
