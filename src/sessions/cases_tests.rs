//! Field cases of section 9, by id, where they are pure; and the first story, with a real loop.

use super::event::{Effect, Event};
use super::exempt::Kind;
use super::limits::{Law, Limits};
use super::moment::Moment;
use super::plan::{Verdict, judge, plan};
use super::reaper::Reaper;
use super::refusal::code;
use super::schedule::{Asked, Schedule, TimerKind};
use super::session::{Owner, Session};
use super::turn::StopCause;

pub(super) const HOUR: f64 = 3600.0;

pub(super) fn law() -> Law {
    Law::default()
}

/// Awake time and wall time agree, until somebody sleeps.
pub(super) fn at(seconds: f64) -> Moment {
    Moment {
        wall: 1_800_000_000.0 + seconds,
        awake: 1000.0 + seconds,
    }
}

pub(super) fn started(name: &str, seconds: f64) -> Session {
    let mut session = Session::new(name, &format!("stored-{name}"), &law().limits, at(seconds));
    session.step(Event::Started, &law(), at(seconds));
    session
}

pub(super) fn attached(name: &str, seconds: f64) -> Session {
    let mut session = started(name, seconds);
    assert_eq!(
        go(&mut session, Event::Attach("tui".into()), seconds),
        [Effect::Attached]
    );
    session
}

pub(super) fn go(session: &mut Session, event: Event, seconds: f64) -> Vec<Effect> {
    session.step(event, &law(), at(seconds))
}

pub(super) fn detach(session: &mut Session, seconds: f64) {
    go(session, Event::Detach("tui".into()), seconds);
}

pub(super) fn armed(kind: TimerKind) -> Schedule {
    let due_at = Some(1_800_000_300.0);
    Schedule {
        kind,
        active: true,
        elsewhere: false,
        unbounded: false,
        due_at,
    }
}

pub(super) fn has_loop(session: &mut Session, seconds: f64) {
    go(
        session,
        Event::Schedules(Asked::Known(vec![armed(TimerKind::Loop)])),
        seconds,
    );
}

pub(super) fn removed(effects: &[Effect]) -> Option<&str> {
    match effects.last() {
        Some(Effect::Remove(reason)) => Some(reason),
        _ => None,
    }
}

#[test]
fn b128_a_session_busy_at_the_end_of_its_grace_is_reaped_after_its_turn() {
    let mut session = attached("a", 0.0);
    go(&mut session, Event::UserMessage, 0.0);
    go(&mut session, Event::TurnBegan, 1.0);
    detach(&mut session, 2.0);
    go(&mut session, Event::Progress, 100.0);
    let row = judge(&session, Reaper::Orphan, &law(), at(101.0)).unwrap();
    assert_eq!(row.verdict, Verdict::Keep);
    assert!(row.because.starts_with("turn running"), "{}", row.because);
    assert_eq!(row.next_check, Some(at(700.0).awake));
    go(&mut session, Event::TurnEnded, 200.0);
    let wake = session.next_wake(&law()).unwrap();
    assert!(
        (wake - at(220.0).awake).abs() < 1e-9,
        "within one grace of the turn's end"
    );
    assert_eq!(
        removed(&go(&mut session, Event::Wake, 220.0)),
        Some("ws_orphan_reap")
    );
}

#[test]
fn b129_a_reconnect_within_the_grace_wins() {
    for seed in 0..1000_u32 {
        // Client and reaper come in either order around the end of the grace.
        let back = 19.0 + f64::from(seed % 20) / 10.0;
        let look = 20.0 + f64::from(seed / 20 % 10) / 10.0;
        let mut session = attached("a", 0.0);
        detach(&mut session, 0.0);
        let attach = Event::Attach("tui".into());
        let (came, ended) = if back <= look {
            (
                go(&mut session, attach, back),
                removed(&go(&mut session, Event::Wake, look)).is_some(),
            )
        } else {
            let ended = removed(&go(&mut session, Event::Wake, look)).is_some();
            (go(&mut session, attach, back), ended)
        };
        let inside = came == [Effect::Attached];
        assert_ne!(inside, ended, "seed {seed}: either in or gone, never both");
        assert_eq!(inside, back <= look);
    }
}

#[test]
fn b130_one_open_socket_does_not_vouch_for_idle_sessions() {
    let mut sessions: Vec<Session> = (0..50).map(|n| attached(&format!("{n:02}"), 0.0)).collect();
    for session in sessions.iter_mut().take(3) {
        go(session, Event::Used("tui".into()), 6.0 * HOUR);
    }
    let plan = plan(&sessions, &[Reaper::Idle], &law(), at(7.0 * HOUR));
    let taken = plan
        .rows
        .iter()
        .filter(|row| row.verdict == Verdict::Reap(Reaper::Idle))
        .count();
    assert_eq!(taken, 47);
    assert_eq!(
        removed(&go(
            &mut sessions[40],
            Event::Reap(Reaper::Idle),
            7.0 * HOUR
        )),
        Some("idle_timeout")
    );
    assert_eq!(
        go(&mut sessions[0], Event::Reap(Reaper::Idle), 7.0 * HOUR),
        []
    );
}

#[test]
fn b132_a_busy_session_without_progress_is_released_and_says_how_long() {
    let mut session = attached("a", 0.0);
    go(&mut session, Event::UserMessage, 0.0);
    go(&mut session, Event::TurnBegan, 0.0);
    let busy = session.busy(&law(), at(90.0).awake).unwrap();
    assert_eq!((busy.code, busy.since), (code::BUSY, at(0.0).awake));
    assert_eq!(
        busy.text(at(90.0).awake),
        "the session is held by its own turn (a message of the user, last progress 1m 30s ago) since 1m 30s; ask again in 9m 30s"
    );
    assert_eq!(session.next_wake(&law()), Some(at(600.0).awake));
    assert_eq!(
        go(&mut session, Event::Wake, 600.0),
        [Effect::StopTurn(StopCause::Stalled)]
    );
    let effects = go(&mut session, Event::Wake, 660.0);
    assert_eq!(
        effects,
        [Effect::AbandonTurn(StopCause::Stalled), Effect::Idle]
    );
    assert_eq!(session.busy(&law(), at(661.0).awake), None);
}

#[test]
fn b133_at_the_cap_each_holder_is_named_and_drafts_hold_no_slot() {
    let law = Law {
        limits: Limits {
            cap: 2,
            ..Limits::default()
        },
        ..law()
    };
    let mut sessions = Vec::new();
    for (name, used) in [
        ("old", 100.0),
        ("new", 300.0),
        ("mid", 200.0),
        ("busy", 10.0),
    ] {
        let mut session = attached(name, 0.0);
        session.step(Event::UserMessage, &law, at(used));
        if name != "busy" {
            session.step(Event::TurnEnded, &law, at(used));
        }
        session.step(Event::Detach("tui".into()), &law, at(used));
        sessions.push(session);
    }
    sessions.extend((0..5).map(|n| started(&format!("draft{n}"), 0.0)));
    let plan = plan(&sessions, &[Reaper::Cap], &law, at(400.0));
    let taken: Vec<&str> = plan
        .rows
        .iter()
        .filter(|row| row.verdict == Verdict::Reap(Reaper::Cap))
        .map(|row| row.id.as_str())
        .collect();
    assert_eq!(
        taken,
        ["old", "mid"],
        "oldest use first, and only down to the cap"
    );
    let busy = plan.rows.iter().find(|row| row.id == "busy").unwrap();
    assert_eq!(
        busy.holder.as_deref(),
        Some("its own turn (a message of the user)")
    );
}

#[test]
fn b135_work_protects_a_session_and_what_cannot_be_told_does_too() {
    let keeps = |event: Event, kind: Kind| {
        let mut session = attached("a", 0.0);
        if kind == Kind::PromptWaiting {
            go(&mut session, Event::UserMessage, 0.0);
        }
        go(&mut session, event, 0.0);
        detach(&mut session, 0.0);
        let row = judge(&session, Reaper::Orphan, &law(), at(HOUR)).unwrap();
        assert!(
            row.reasons
                .iter()
                .any(|reason| reason.kind == kind && reason.keeps),
            "{row:?}"
        );
        assert_eq!(row.verdict, Verdict::Keep);
        assert_eq!(go(&mut session, Event::Wake, HOUR), []);
    };
    keeps(Event::Delegated(Asked::Known(2)), Kind::Delegated);
    keeps(
        Event::Delegated(Asked::Unreadable("locked".into())),
        Kind::Delegated,
    );
    keeps(Event::PromptAsked, Kind::PromptWaiting);
    keeps(
        Event::Schedules(Asked::Known(vec![armed(TimerKind::Heartbeat)])),
        Kind::SoleDriver,
    );
}

#[test]
fn b136_only_owners_reap() {
    for owner in [
        Owner::Other("the messaging gateway, pid 7".into()),
        Owner::Unknown,
    ] {
        let mut session = started("a", 0.0);
        session.owner = owner;
        let plan = plan(
            std::slice::from_ref(&session),
            &Reaper::ALL,
            &law(),
            at(1e6),
        );
        assert_eq!(plan.rows[0].verdict, Verdict::Keep);
        assert_eq!(plan.rows[0].reasons[0].kind, Kind::NotOurs);
        assert_eq!(go(&mut session, Event::Wake, 1e6), []);
    }
    let mut session = started("a", 0.0);
    session.owner = Owner::Other("the messaging gateway, pid 7".into());
    let effects = go(&mut session, Event::Attach("tui".into()), 60.0);
    let [Effect::Refuse(refusal)] = effects.as_slice() else {
        panic!("{effects:?}")
    };
    assert_eq!(refusal.code, code::HELD);
    assert_eq!(
        refusal.text(at(60.0).awake),
        "the session is held by the messaging gateway, pid 7 since 1m"
    );
}

#[test]
fn b138_the_newest_activity_counts() {
    let mut session = attached("a", 0.0);
    let days = 40.0 * 24.0 * HOUR;
    detach(&mut session, 1.0);
    has_loop(&mut session, 1.0);
    go(&mut session, Event::TickDue(TimerKind::Loop), days);
    go(&mut session, Event::TurnEnded, days + 1.0);
    go(
        &mut session,
        Event::Schedules(Asked::Known(Vec::new())),
        days + 1.0,
    );
    let row = judge(&session, Reaper::Idle, &law(), at(days + 300.0)).unwrap();
    assert_eq!(row.verdict, Verdict::Keep);
    assert_eq!(row.because, "used 4m 59s ago");
}

#[test]
fn b139_polling_is_no_use_and_a_foreign_client_neither() {
    let mut session = attached("a", 0.0);
    go(
        &mut session,
        Event::Used("a dashboard that only polls".into()),
        6.5 * HOUR,
    );
    go(&mut session, Event::Wake, 6.5 * HOUR);
    let row = judge(&session, Reaper::Idle, &law(), at(7.0 * HOUR)).unwrap();
    assert_eq!(row.verdict, Verdict::Reap(Reaper::Idle));
}

#[test]
fn b140_whoever_comes_back_mid_turn_gets_in_and_the_holder_is_its_own_turn() {
    let mut session = attached("a", 0.0);
    go(&mut session, Event::UserMessage, 0.0);
    go(&mut session, Event::TurnBegan, 0.0);
    detach(&mut session, 1.0);
    assert_eq!(
        session.holder().as_deref(),
        Some("its own turn (a message of the user)")
    );
    go(&mut session, Event::TurnEnded, 15.0);
    assert_eq!(
        go(&mut session, Event::Attach("tui".into()), 30.0),
        [Effect::Attached]
    );
}
