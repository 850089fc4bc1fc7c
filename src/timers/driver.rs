//! A timer and its row in the store, kept in step. Pure: owns which text the store is believed to
//! hold, the one save that is out, and the events that wait for it.
//!
//! A machine asks to be saved before anything else that it asks for may happen. While a save is out
//! further events wait. A save that was lost to somebody else means that the row was changed: what
//! hung on it is dropped, the row is read again, and what must not get lost (an answer, an order of
//! the user) is applied to the new state. A store that failed changes nothing: the machine goes back
//! to where it was and tries again later.

use std::collections::VecDeque;

use super::event::{TimerEffect, TimerEvent, TimerRules};
use super::heartbeat::Heartbeat;
use super::heartbeat_row::HeartbeatRow;
use super::loop_row::LoopRow;
use super::loop_state::LoopState;

/// After a store that failed we try again so many seconds later.
pub const RETRY_SECONDS: f64 = 5.0;
/// While an emergency stop stands we look again so many seconds later.
pub const STOPPED_SECONDS: f64 = 30.0;

/// A timer's machine, as far as driving it goes.
pub trait Timer: Clone {
    /// Takes an event.
    fn step(&mut self, event: TimerEvent, rules: &TimerRules, now: f64) -> Vec<TimerEffect>;
    /// When to look again.
    fn next_wake(&self, rules: &TimerRules) -> Option<f64>;
    /// The text of its row.
    fn row_text(&self) -> String;
    /// What only we know of it, as text.
    fn own_text(&self) -> String;
    /// The machine of a row that somebody else wrote; what only we know stays. None where the row
    /// cannot be read.
    fn reread(&self, row: &str) -> Option<Self>;
}

impl Timer for LoopState {
    fn step(&mut self, event: TimerEvent, rules: &TimerRules, now: f64) -> Vec<TimerEffect> {
        Self::step(self, event, rules, now)
    }

    fn next_wake(&self, rules: &TimerRules) -> Option<f64> {
        Self::next_wake(self, rules)
    }

    fn row_text(&self) -> String {
        self.row.text()
    }

    fn own_text(&self) -> String {
        serde_json::to_string(&self.own).unwrap_or_default()
    }

    fn reread(&self, row: &str) -> Option<Self> {
        let row = LoopRow::parse(row).ok()?;
        Some(Self::restore(row, self.own.clone()))
    }
}

impl Timer for Heartbeat {
    fn step(&mut self, event: TimerEvent, rules: &TimerRules, now: f64) -> Vec<TimerEffect> {
        Self::step(self, event, rules, now)
    }

    fn next_wake(&self, rules: &TimerRules) -> Option<f64> {
        Self::next_wake(self, rules)
    }

    fn row_text(&self) -> String {
        self.row.text()
    }

    fn own_text(&self) -> String {
        serde_json::to_string(&self.own).unwrap_or_default()
    }

    fn reread(&self, row: &str) -> Option<Self> {
        let row = HeartbeatRow::parse(row).ok()?;
        Some(Self {
            row,
            own: self.own.clone(),
            gateway_owned: self.gateway_owned,
        })
    }
}

/// A save to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Save {
    /// The text that the row must still have; none where there must be no row.
    pub expected: Option<String>,
    /// Its new text.
    pub text: String,
    /// What only we know.
    pub own: String,
}

/// How a save went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Saved {
    /// It is stored.
    Done,
    /// The row has another text, or is gone.
    Lost(Option<String>),
    /// The store failed.
    Failed(String),
}

/// What is to be done for a timer.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Store it.
    Save(Save),
    /// Anything else that the machine asks for.
    Do(TimerEffect),
    /// The row is gone, or nobody can read it: there is nothing to drive any more.
    Gone(String),
}

#[derive(Debug, Clone)]
struct Out<T> {
    before: T,
    /// None where the timer was set anew.
    event: Option<TimerEvent>,
    after: Vec<TimerEffect>,
    text: String,
}

/// A timer that is driven.
#[derive(Debug, Clone)]
pub struct Driven<T> {
    /// The machine.
    pub state: T,
    stored: Option<String>,
    out: Option<Out<T>>,
    waiting: VecDeque<TimerEvent>,
    /// It was set anew, and the store did not take it yet.
    unsent: bool,
    not_before: f64,
}

impl<T: Timer> Driven<T> {
    /// A timer as it is stored.
    #[must_use]
    pub fn stored(state: T, text: String) -> Self {
        Self {
            state,
            stored: Some(text),
            out: None,
            waiting: VecDeque::new(),
            unsent: false,
            not_before: 0.0,
        }
    }

    /// A timer that was set just now, in place of what the row said before.
    #[must_use]
    pub fn set(state: T, replaces: Option<String>) -> (Self, Vec<Action>) {
        let mut driven = Self {
            state,
            stored: replaces,
            out: None,
            waiting: VecDeque::new(),
            unsent: false,
            not_before: 0.0,
        };
        let before = driven.state.clone();
        let save = driven.send(before, None, Vec::new());
        (driven, vec![save])
    }

    /// Sets it anew; whatever hung on what it was before is dropped.
    pub fn replace(&mut self, state: T, now: f64) -> Vec<Action> {
        self.state = state;
        self.waiting.clear();
        self.unsent = true;
        match &mut self.out {
            Some(out) => out.after.clear(),
            None if now >= self.not_before => {
                self.unsent = false;
                let state = self.state.clone();
                return vec![self.send(state, None, Vec::new())];
            }
            None => {}
        }
        Vec::new()
    }

    /// The text that the store is believed to hold.
    #[must_use]
    pub fn stored_text(&self) -> Option<&str> {
        self.stored.as_deref()
    }

    /// Whether a save is out.
    #[must_use]
    pub fn is_saving(&self) -> bool {
        self.out.is_some()
    }

    /// Whether something was asked of it that the store did not take yet: it is tried again.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether a wake-up is being claimed.
    #[must_use]
    pub fn is_claiming(&self) -> bool {
        let wakes = |effect: &TimerEffect| matches!(effect, TimerEffect::Wake { .. });
        self.out
            .as_ref()
            .is_some_and(|out| out.after.iter().any(wakes))
    }

    /// When to look again.
    #[must_use]
    pub fn next_wake(&self, rules: &TimerRules) -> Option<f64> {
        if self.out.is_some() {
            return None;
        }
        if self.unsent || !self.waiting.is_empty() {
            return Some(self.not_before);
        }
        let at = self.state.next_wake(rules)?;
        Some(at.max(self.not_before))
    }

    /// No look before this stamp.
    pub fn put_off(&mut self, until: f64) {
        self.not_before = until;
    }

    /// Takes an event.
    pub fn step(&mut self, event: TimerEvent, rules: &TimerRules, now: f64) -> Vec<Action> {
        let behind = self.unsent || !self.waiting.is_empty();
        if self.out.is_none() && !behind {
            return self.take(event, rules, now);
        }
        // What is due stays due; all else must not get lost.
        let due = matches!(event, TimerEvent::Due { .. });
        if !due && self.waiting.back() != Some(&event) {
            self.waiting.push_back(event);
        }
        if self.out.is_some() || now < self.not_before {
            return Vec::new();
        }
        self.go_on(rules, now)
    }

    fn take(&mut self, event: TimerEvent, rules: &TimerRules, now: f64) -> Vec<Action> {
        let before = self.state.clone();
        let effects = self.state.step(event.clone(), rules, now);
        let saves = effects.contains(&TimerEffect::Save);
        let rest: Vec<_> = effects
            .into_iter()
            .filter(|effect| *effect != TimerEffect::Save)
            .collect();
        if saves {
            vec![self.send(before, Some(event), rest)]
        } else {
            rest.into_iter().map(Action::Do).collect()
        }
    }

    fn send(&mut self, before: T, event: Option<TimerEvent>, after: Vec<TimerEffect>) -> Action {
        let text = self.state.row_text();
        let save = Save {
            expected: self.stored.clone(),
            text: text.clone(),
            own: self.state.own_text(),
        };
        self.out = Some(Out {
            before,
            event,
            after,
            text,
        });
        Action::Save(save)
    }

    /// Takes what became of the save that is out.
    pub fn saved(&mut self, saved: Saved, rules: &TimerRules, now: f64) -> Vec<Action> {
        let Some(out) = self.out.take() else {
            return Vec::new();
        };
        if self.unsent {
            // It was set anew in the meantime: what is stored now only matters as what to replace.
            match saved {
                Saved::Done => self.stored = Some(out.text),
                Saved::Lost(text) => self.stored = text,
                Saved::Failed(_) => {
                    self.not_before = now + RETRY_SECONDS;
                    return Vec::new();
                }
            }
            return self.go_on(rules, now);
        }
        let mut actions = match saved {
            Saved::Done => {
                self.stored = Some(out.text);
                out.after.into_iter().map(Action::Do).collect()
            }
            Saved::Lost(text) => self.lost(out, text),
            Saved::Failed(_) => {
                self.not_before = now + RETRY_SECONDS;
                self.failed(out);
                return Vec::new();
            }
        };
        if self.out.is_none() {
            actions.extend(self.go_on(rules, now));
        }
        actions
    }

    /// Somebody else changed the row.
    fn lost(&mut self, out: Out<T>, text: Option<String>) -> Vec<Action> {
        let Some(event) = out.event else {
            // Set anew by the user, over whatever is there.
            self.stored = text;
            return vec![self.send(out.before, None, out.after)];
        };
        let read = text.as_deref().and_then(|text| {
            out.before
                .reread(text)
                .map(|state| (state, text.to_owned()))
        });
        let Some((state, text)) = read else {
            self.waiting.clear();
            let why = if text.is_some() {
                "its row cannot be read"
            } else {
                "its row was removed"
            };
            return vec![Action::Gone(why.to_owned())];
        };
        self.state = state;
        self.stored = Some(text);
        if !matches!(event, TimerEvent::Due { .. }) {
            self.waiting.push_front(event);
        }
        Vec::new()
    }

    fn failed(&mut self, out: Out<T>) {
        let Some(event) = out.event else {
            self.unsent = true;
            return;
        };
        self.state = out.before;
        if !matches!(event, TimerEvent::Due { .. }) {
            self.waiting.push_front(event);
        }
    }

    fn go_on(&mut self, rules: &TimerRules, now: f64) -> Vec<Action> {
        if std::mem::take(&mut self.unsent) {
            let state = self.state.clone();
            return vec![self.send(state, None, Vec::new())];
        }
        let mut actions = Vec::new();
        while self.out.is_none() {
            let Some(event) = self.waiting.pop_front() else {
                break;
            };
            actions.extend(self.take(event, rules, now));
        }
        actions
    }
}

#[cfg(test)]
#[path = "driver_tests.rs"]
mod tests;
