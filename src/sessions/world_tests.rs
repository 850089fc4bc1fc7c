//! The small world of the exploration: one session, one loop, two clients, and all that can happen.

use super::event::{Effect, Event};
use super::limits::{Law, Limits, Rules};
use super::moment::Moment;
use super::plan::{Verdict, judge};
use super::reaper::Reaper;
use super::schedule::{Asked, Schedule, TimerKind};
use super::session::Session;
use super::turn::{By, StopCause};

const INTERVAL: i8 = 1;
const BUDGET: u8 = 2;
const MAX_FAILURES: u8 = 2;
/// A night, in steps of this world: longer than every limit.
const NIGHT: f64 = 50.0;

pub(super) fn law(rule: bool) -> Law {
    let limits = Limits {
        grace: 1.0,
        stale: 1.0,
        stall: 1.0,
        idle: 2.0,
        cap: 1,
        settle: 1.0,
        start: 1.0,
        close: 1.0,
    };
    Law {
        limits,
        rules: Rules {
            settled_interrupt_beats_schedule: rule,
        },
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Armed {
    No,
    Active,
    Paused,
}

#[derive(Debug, Clone)]
pub(super) struct World {
    pub(super) session: Session,
    pub(super) armed: Armed,
    pub(super) due_in: i8,
    pub(super) budget: u8,
    pub(super) failures: u8,
    pub(super) ticking: bool,
    pub(super) ticks: u32,
    pub(super) now: Moment,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Act {
    Event(Event),
    Set,
    Pause,
    Resume,
    Stop,
    Second,
    Sleep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Agent {
    Answers,
    Silent,
    NeverStarts,
}

pub(super) type Key = Vec<u8>;

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small whole numbers"
)]
fn cut(value: f64, low: f64, high: f64) -> u8 {
    (value.clamp(low, high) - low) as u8
}

impl World {
    pub(super) fn new(law: &Law, close_on_disconnect: bool) -> Self {
        let now = Moment {
            wall: 1000.0,
            awake: 1000.0,
        };
        let mut session = Session::new("r", "s", &law.limits, now);
        session.close_on_disconnect = close_on_disconnect;
        let (armed, due_in) = (Armed::No, 0);
        Self {
            session,
            armed,
            due_in,
            budget: 0,
            failures: 0,
            ticking: false,
            ticks: 0,
            now,
        }
    }

    /// What tells states apart: ages, cut off just beyond the limit that they are compared with.
    pub(super) fn key(&self, law: &Law) -> Key {
        let (s, l, now) = (&self.session, &law.limits, self.now.awake);
        let age = |since: f64, limit: f64| 1 + cut(now - since, 0.0, limit);
        let client = |name| s.clients.get(name).map_or(0, |c| age(c.last_used, l.idle));
        let waiting = match s.waiting {
            Asked::Known(since) => since.map_or(0, |since| age(since, l.idle)),
            Asked::Unreadable(_) => 200,
        };
        let mut key = vec![
            // It does not matter which of the two is which.
            client("a").min(client("b")),
            client("a").max(client("b")),
            s.detached
                .as_ref()
                .map_or(0, |d| age(d.grace_from, l.grace)),
            s.detached
                .as_ref()
                .and_then(|d| d.look_at)
                .map_or(0, |at| 1 + cut(at - now, 0.0, 9.0)),
            age(s.last_used, l.idle),
            s.starting_since.map_or(0, |since| age(since, l.start)),
            s.quiet_until
                .map_or(0, |until| 1 + cut(until - now, 0.0, 9.0)),
            u8::from(s.queued > 0),
            waiting,
            u8::from(s.delegated != Asked::Known(0)),
            u8::from(s.closing.is_some()),
            u8::from(s.close_on_disconnect),
            self.armed as u8,
            if self.live() {
                self.due_in.unsigned_abs()
            } else {
                0
            },
            if self.armed == Armed::No {
                0
            } else {
                self.budget
            },
            if self.armed == Armed::No {
                0
            } else {
                self.failures
            },
            u8::from(self.ticking),
        ];
        if let Some(turn) = &s.turn {
            key.push(u8::from(turn.by == By::User));
            key.push(u8::from(turn.began));
            key.push(age(turn.progress_at, l.stale));
            if let Some(stop) = turn.stop {
                key.push(stop.cause as u8);
                key.push(cut(stop.until - now, -1.0, 9.0));
            }
        }
        key
    }

    pub(super) fn live(&self) -> bool {
        self.armed == Armed::Active
    }

    fn tick_due(&self) -> bool {
        self.live() && self.due_in == 0 && !self.ticking
    }

    /// What anybody could do now.
    pub(super) fn acts(&self, law: &Law) -> Vec<Act> {
        let s = &self.session;
        let mut acts = vec![Act::Second, Act::Sleep, Act::Event(Event::Wake)];
        let mut may = |yes: bool, event: Event| {
            if yes {
                acts.push(Act::Event(event));
            }
        };
        let (turn, here) = (s.turn.as_ref(), !s.clients.is_empty());
        let began = turn.is_some_and(|turn| turn.began);
        let waits = s.waiting != Asked::Known(None);
        // One client is enough where the session ends with it.
        let names: &[&str] = if s.close_on_disconnect {
            &["a"]
        } else {
            &["a", "b"]
        };
        for name in names.iter().copied() {
            may(true, Event::Attach(name.into()));
            may(s.clients.contains_key(name), Event::Detach(name.into()));
        }
        may(here && s.queued == 0, Event::UserMessage);
        may(here && turn.is_some(), Event::Interrupt);
        may(here && waits, Event::PromptAnswered);
        may(self.tick_due(), Event::TickDue(TimerKind::Loop));
        may(turn.is_some() && !began, Event::TurnBegan);
        may(turn.is_some() && !began, Event::TurnNeverBegan);
        may(began, Event::Progress);
        may(began, Event::TurnEnded);
        may(began && !waits, Event::PromptAsked);
        may(
            began && s.delegated == Asked::Known(0),
            Event::Delegated(Asked::Known(1)),
        );
        may(
            s.delegated != Asked::Known(0),
            Event::Delegated(Asked::Known(0)),
        );
        may(s.starting_since.is_some(), Event::Started);
        may(here && s.closing.is_none(), Event::Close("closed".into()));
        may(true, Event::Reap(Reaper::Cap));
        may(idle_takes(s, law, self.now), Event::Reap(Reaper::Idle));
        match self.armed {
            Armed::No if here => acts.push(Act::Set),
            Armed::Active => acts.extend([Act::Pause, Act::Stop]),
            Armed::Paused => acts.push(Act::Resume),
            Armed::No => {}
        }
        acts
    }

    pub(super) fn apply(&mut self, act: &Act, law: &Law) -> Vec<Effect> {
        match act {
            Act::Second => {
                self.now.awake += 1.0;
                self.now.wall += 1.0;
                self.due_in = (self.due_in - 1).max(0);
                return Vec::new();
            }
            Act::Sleep => {
                self.now.wall += NIGHT;
                self.due_in = 0;
                return Vec::new();
            }
            Act::Set => (self.armed, self.due_in, self.budget) = (Armed::Active, 0, BUDGET),
            Act::Pause => self.armed = Armed::Paused,
            Act::Resume => {
                (self.armed, self.due_in, self.failures) = (Armed::Active, 1, 0);
                self.budget = self.budget.max(1);
            }
            Act::Stop => self.armed = Armed::No,
            Act::Event(event) => {
                let (turn, before) = (self.session.turn.clone(), self.armed);
                let effects = self.session.step(event.clone(), law, self.now);
                self.drive(
                    event,
                    turn.as_ref()
                        .and_then(|turn| turn.stop)
                        .map(|stop| stop.cause),
                    &effects,
                );
                if before == self.armed {
                    return effects;
                }
                self.tell(law);
                return effects;
            }
        }
        self.tell(law);
        Vec::new()
    }

    /// The loop's side of what happened in the session.
    fn drive(&mut self, event: &Event, stop: Option<StopCause>, effects: &[Effect]) {
        let mut end = None;
        if self.ticking {
            match event {
                Event::TurnBegan => {
                    self.budget = self.budget.saturating_sub(1);
                    self.ticks += 1;
                }
                Event::TurnNeverBegan => end = Some(Some(StopCause::Stalled)),
                Event::TurnEnded => end = Some(stop),
                _ => {}
            }
        }
        for effect in effects {
            match effect {
                Effect::AbandonTurn(cause) if self.ticking => end = Some(Some(*cause)),
                Effect::StartTurn(By::Timer(_)) => self.ticking = true,
                _ => {}
            }
        }
        let Some(stop) = end else { return };
        (self.ticking, self.due_in) = (false, INTERVAL);
        self.failures = if stop.is_some_and(StopCause::is_failure) {
            self.failures + 1
        } else {
            0
        };
        let spent = self.budget == 0 || self.failures >= MAX_FAILURES;
        if self.live() && self.session.ended.is_none() && (spent || stop == Some(StopCause::User)) {
            self.armed = Armed::Paused;
        }
    }

    fn tell(&mut self, law: &Law) {
        let due_at = Some(self.now.wall + f64::from(self.due_in));
        let known = match self.armed {
            Armed::No => Vec::new(),
            armed => vec![Schedule {
                kind: TimerKind::Loop,
                active: armed == Armed::Active,
                elsewhere: false,
                unbounded: false,
                due_at,
            }],
        };
        self.session
            .step(Event::Schedules(Asked::Known(known)), law, self.now);
    }

    /// What happens next when nobody does anything any more.
    pub(super) fn silent_act(&self, agent: Agent, law: &Law) -> Act {
        let s = &self.session;
        if s.next_wake(law).is_some_and(|at| at <= self.now.awake) {
            return Act::Event(Event::Wake);
        }
        if self.tick_due() && s.has_room() {
            return Act::Event(Event::TickDue(TimerKind::Loop));
        }
        match (&s.turn, agent) {
            (Some(turn), Agent::Answers) if turn.began => return Act::Event(Event::TurnEnded),
            (Some(_), Agent::Answers) => return Act::Event(Event::TurnBegan),
            (Some(turn), Agent::NeverStarts) if !turn.began => {
                return Act::Event(Event::TurnNeverBegan);
            }
            _ => {}
        }
        if s.delegated != Asked::Known(0) {
            return Act::Event(Event::Delegated(Asked::Known(0)));
        }
        if idle_takes(s, law, self.now) {
            return Act::Event(Event::Reap(Reaper::Idle));
        }
        Act::Second
    }
}

pub(super) fn idle_takes(session: &Session, law: &Law, now: Moment) -> bool {
    judge(session, Reaper::Idle, law, now)
        .is_some_and(|row| matches!(row.verdict, Verdict::Reap(_)))
}
