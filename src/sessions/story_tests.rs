//! The first story, on a driven clock: a session and its real timers, without any client.

use super::event::{Effect, Event};
use super::limits::Law;
use super::moment::Moment;
use super::plan::{Verdict, plan};
use super::reaper::Reaper;
use super::schedule::{Asked, TimerKind, of_heartbeat, of_loop};
use super::session::Session;
use super::turn::By;
use crate::timers::args::parse_loop_args;
use crate::timers::event::{NeverBegan, Outcome, TimerEffect, TimerEvent, TimerRules};
use crate::timers::heartbeat::Heartbeat;
use crate::timers::loop_state::LoopState;
use crate::timers::row::Status;

/// A serve of one session, with the few lines of a driver.
struct Serve {
    law: Law,
    rules: TimerRules,
    session: Session,
    timer: Option<LoopState>,
    beat: Option<Heartbeat>,
    now: Moment,
    ticks: Vec<(f64, u64)>,
    not_driven: usize,
}

impl Serve {
    fn new() -> Self {
        let (law, now) = (
            Law::default(),
            Moment {
                wall: 1_800_000_000.0,
                awake: 50.0,
            },
        );
        let mut session = Session::new("r", "s", &law.limits, now);
        session.step(Event::Started, &law, now);
        session.step(Event::Attach("tui".into()), &law, now);
        let rules = TimerRules::default();
        let (ticks, not_driven) = (Vec::new(), 0);
        Self {
            law,
            rules,
            session,
            timer: None,
            beat: None,
            now,
            ticks,
            not_driven,
        }
    }

    fn hour(&self) -> f64 {
        (self.now.wall - 1_800_000_000.0) / 3600.0
    }

    fn session(&mut self, event: Event) -> Vec<Effect> {
        let effects = self.session.step(event, &self.law, self.now);
        self.not_driven += effects
            .iter()
            .filter(|e| matches!(e, Effect::NotDriven(_)))
            .count();
        effects
    }

    fn tell(&mut self) {
        let mut known: Vec<_> = self.timer.iter().map(|timer| of_loop(&timer.row)).collect();
        known.extend(self.beat.iter().map(|beat| of_heartbeat(beat, &self.rules)));
        self.session(Event::Schedules(Asked::Known(known)));
    }

    fn set_loop(&mut self, text: &str) {
        let args = parse_loop_args(text).unwrap();
        self.timer = Some(LoopState::start(&args, &self.rules, self.now.wall));
        self.tell();
    }

    fn timer(&mut self, kind: TimerKind, event: TimerEvent) -> Vec<TimerEffect> {
        let effects = match (kind, &mut self.timer, &mut self.beat) {
            (TimerKind::Loop, Some(timer), _) => timer.step(event, &self.rules, self.now.wall),
            (TimerKind::Heartbeat, _, Some(beat)) => beat.step(event, &self.rules, self.now.wall),
            _ => Vec::new(),
        };
        self.tell();
        effects
    }

    fn next(&self) -> Option<f64> {
        let wall = self
            .timer
            .as_ref()
            .and_then(|timer| timer.next_wake(&self.rules));
        let beat = self
            .beat
            .as_ref()
            .and_then(|beat| beat.next_wake(&self.rules));
        let awake = self
            .session
            .next_wake(&self.law)
            .map(|at| at - self.now.awake + self.now.wall);
        [wall, beat, awake]
            .into_iter()
            .flatten()
            .min_by(f64::total_cmp)
    }

    fn fire(&mut self, kind: TimerKind) {
        let busy = !self.session.has_room();
        let effects = self.timer(kind, TimerEvent::Due { busy });
        let Some(missed) = effects.iter().find_map(|effect| match effect {
            TimerEffect::Wake { missed, .. } => Some(*missed),
            _ => None,
        }) else {
            return;
        };
        if self.session(Event::TickDue(kind)) != [Effect::StartTurn(By::Timer(kind))] {
            self.timer(kind, TimerEvent::TurnNeverBegan(NeverBegan::UserFirst));
            return;
        }
        self.session(Event::TurnBegan);
        self.timer(kind, TimerEvent::TurnBegan);
        self.ticks.push((self.hour(), missed));
        self.session(Event::TurnEnded);
        let answer = Outcome::Finished(format!("nothing new at {}:00", self.ticks.len() % 24));
        self.timer(kind, TimerEvent::Answered(answer));
    }

    /// Sleeps from deadline to deadline, as serve does, up to an hour of this story.
    fn run_until(&mut self, hour: f64) {
        let end = 1_800_000_000.0 + hour * 3600.0;
        while let Some(at) = self.next().filter(|at| *at <= end) {
            let ahead = (at - self.now.wall).max(0.0);
            self.now = Moment {
                wall: self.now.wall + ahead,
                awake: self.now.awake + ahead,
            };
            if self.session.ended.is_some() {
                break;
            }
            self.session(Event::Wake);
            for kind in [TimerKind::Loop, TimerKind::Heartbeat] {
                self.fire(kind);
            }
            let idle = plan(
                std::slice::from_ref(&self.session),
                &[Reaper::Idle],
                &self.law,
                self.now,
            );
            if idle
                .rows
                .first()
                .is_some_and(|row| matches!(row.verdict, Verdict::Reap(_)))
            {
                self.session(Event::Reap(Reaper::Idle));
            }
        }
        let ahead = (end - self.now.wall).max(0.0);
        self.now = Moment {
            wall: self.now.wall + ahead,
            awake: self.now.awake + ahead,
        };
    }

    fn leave(&mut self) {
        self.session(Event::Detach("tui".into()));
    }
}

#[test]
fn a_loop_outlives_its_client_and_frees_its_session_when_paused() {
    let mut serve = Serve::new();
    serve.set_loop("1h check the build");
    serve.leave();
    serve.run_until(9.5);
    let hours: Vec<f64> = serve.ticks.iter().map(|tick| tick.0).collect();
    assert_eq!(hours, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    assert_eq!(
        serve.session(Event::Attach("tui".into())),
        [Effect::Attached]
    );
    serve.leave();
    serve.timer(TimerKind::Loop, TimerEvent::Pause("user".into()));
    serve.run_until(9.6);
    assert_eq!(serve.session.ended.as_deref(), Some("ws_orphan_reap"));
    assert_eq!(serve.not_driven, 0, "a paused loop needs no driver");
}

#[test]
fn the_tick_budget_frees_the_session() {
    let mut serve = Serve::new();
    serve.set_loop("30m check the build");
    serve.leave();
    serve.run_until(60.0);
    assert_eq!(serve.ticks.len(), 100);
    assert_eq!(serve.timer.as_ref().unwrap().row.status, Status::Paused);
    assert_eq!(serve.session.ended.as_deref(), Some("ws_orphan_reap"));
}

#[test]
fn a_heartbeat_without_a_user_frees_its_session_after_its_beats() {
    let mut serve = Serve::new();
    serve.beat = Some(Heartbeat::start("report", 600, serve.now.wall));
    serve.tell();
    serve.leave();
    serve.run_until(30.0);
    assert_eq!(serve.ticks.len(), 100);
    assert_eq!(serve.session.ended.as_deref(), Some("ws_orphan_reap"));
}

#[test]
fn a_night_of_sleep_costs_one_wake_up_and_no_session() {
    let mut serve = Serve::new();
    serve.set_loop("1h check the build");
    serve.leave();
    serve.run_until(1.0 / 3600.0);
    // Suspended for eight and a half hours, one second after the client left.
    serve.now.wall += 8.5 * 3600.0;
    serve.run_until(9.9);
    assert_eq!(serve.ticks.len(), 3);
    assert_eq!(
        serve.ticks[1].1, 8,
        "eight slots slept over, told in one wake-up"
    );
    assert_eq!(
        (serve.ticks[2].0.round(), serve.ticks[2].1),
        (9.0, 0),
        "the phase is kept"
    );
    assert_eq!(serve.session.ended, None);
}

#[test]
fn closing_a_session_leaves_its_live_loop_with_the_reason() {
    let mut serve = Serve::new();
    serve.set_loop("1h check the build");
    serve.run_until(0.5);
    let effects = serve.session(Event::Close("tui_close".into()));
    let Some(Effect::NotDriven(record)) = effects.first() else {
        panic!("{effects:?}")
    };
    assert_eq!(record.due_at, Some(1_800_003_600.0));
    assert_eq!(effects.last(), Some(&Effect::Remove("tui_close".into())));
}
