//! The machine of a loop: `step(event, now)` gives the effects, `next_wake()` the next look.
//!
//! Owns when a loop fires, how a wake-up ends and what ends the loop. Stamps are seconds since the
//! epoch. The order after an answer: the agent's marker, the `--until` judge, `--times`, the tick
//! budget, the next due time.

use serde::{Deserialize, Serialize};

use super::args::LoopArgs;
use super::cadence::{next_slot, not_before, not_too_far, passed, slot_after};
use super::claim::{self, Claim};
use super::event::{
    LOST_AFTER_CADENCES, NeverBegan, Proof, RESUME_DELAY_SECONDS, TimerEffect, TimerEvent,
    TimerRules,
};
use super::fuse::{Fuse, MAX_FAILURES, MAX_FIRES};
use super::loop_row::{LoopRow, Mode};
use super::prompt::loop_wake_text;
use super::row::Status;

/// What only we know of a loop; kept beside the row, never in it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoopOwn {
    pub(super) fuse: Fuse,
    /// Slots that passed unserved and were not told yet.
    pub(super) missed: u64,
    /// No wake-up before this stamp; set where an agent could not be started.
    pub(super) not_before: f64,
    /// The wake-up that is out.
    pub(super) claim: Option<Claim>,
    /// The session is busy: look again when it is idle. Not stored: a new process has to look.
    #[serde(skip)]
    pub(super) blocked: bool,
}

/// A loop.
#[derive(Debug, Clone, PartialEq)]
pub struct LoopState {
    /// What both programs know.
    pub row: LoopRow,
    /// What we know.
    pub own: LoopOwn,
}

impl LoopState {
    /// A new loop, due at once. An interval below the floor is raised to it.
    #[must_use]
    pub fn start(args: &LoopArgs, rules: &TimerRules, now: f64) -> Self {
        #[expect(
            clippy::cast_precision_loss,
            reason = "an interval is stored as a float"
        )]
        let interval = args
            .interval_seconds
            .map(|seconds| (seconds as f64).max(rules.floor));
        let row = LoopRow {
            prompt: args.prompt.clone(),
            status: Status::Active,
            mode: if interval.is_some() {
                Mode::Interval
            } else {
                Mode::SelfPaced
            },
            interval_seconds: interval.unwrap_or(0.0),
            current_delay: interval.unwrap_or_else(|| rules.pace.floor()),
            times: u64::try_from(args.times).unwrap_or(u64::MAX),
            until: args.until.clone(),
            max_ticks: rules.max_ticks,
            ticks_fired: 0,
            created_at: now,
            last_fired_at: 0.0,
            next_due_at: now,
            awaiting_response: false,
            last_response_digest: String::new(),
            paused_reason: None,
            last_stop_reason: None,
            route: serde_json::Map::new(),
            unknown: serde_json::Map::new(),
        };
        Self {
            row,
            own: LoopOwn::default(),
        }
    }

    /// A loop as it was stored.
    #[must_use]
    pub fn restore(row: LoopRow, own: LoopOwn) -> Self {
        Self { row, own }
    }

    /// Whether serve is to drive this loop: it is armed and no gateway does.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.row.status == Status::Active && !self.row.is_routed()
    }

    /// When to look again; `None` while nothing but an event of its session can change anything.
    #[must_use]
    pub fn next_wake(&self, rules: &TimerRules) -> Option<f64> {
        if !self.is_live() || self.own.blocked {
            return None;
        }
        if self.row.awaiting_response {
            return Some(self.lost_at(rules));
        }
        let mut at = self.row.next_due_at.max(self.own.not_before);
        if self.row.last_fired_at > 0.0 {
            at = at.max(not_before(self.row.last_fired_at, rules.floor));
        }
        Some(at)
    }

    /// Takes an event and says what is to be done.
    pub fn step(&mut self, event: TimerEvent, rules: &TimerRules, now: f64) -> Vec<TimerEffect> {
        match event {
            TimerEvent::Due { busy } => self.due(busy, rules, now),
            TimerEvent::TurnBegan => claim::begin(&mut self.own.claim),
            TimerEvent::TurnNeverBegan(why) => self.never_began(why, rules, now),
            TimerEvent::Answered(outcome) => self.answered(outcome, rules, now),
            TimerEvent::Judged { met, reason } => self.judged(met, &reason, rules, now),
            TimerEvent::UserMessage => self.user_message(rules, now),
            TimerEvent::Pause(reason) => self.pause(&reason),
            TimerEvent::Resume => self.resume(rules, now),
            TimerEvent::Stop(reason) => self.end(Status::Cleared, &reason),
            TimerEvent::Recover(proof) => self.recover(proof, rules, now),
        }
    }

    pub(super) fn is_fixed(&self) -> bool {
        self.row.mode == Mode::Interval
    }

    /// Seconds between two wake-ups, never below the floor.
    pub(super) fn cadence(&self, rules: &TimerRules) -> f64 {
        if self.is_fixed() {
            self.row.interval_seconds.max(rules.floor)
        } else {
            self.row.current_delay.max(rules.pace.floor())
        }
    }

    fn lost_at(&self, rules: &TimerRules) -> f64 {
        self.row.last_fired_at + LOST_AFTER_CADENCES * self.cadence(rules)
    }

    fn due(&mut self, busy: bool, rules: &TimerRules, now: f64) -> Vec<TimerEffect> {
        if !self.is_live() {
            return Vec::new();
        }
        if busy {
            self.own.blocked = true;
            return Vec::new();
        }
        let was_blocked = std::mem::take(&mut self.own.blocked);
        let mut effects = self.mend_clock(rules, now);
        effects.extend(self.recover(Proof::Unknown, rules, now));
        let early = self.next_wake(rules).is_none_or(|at| at > now);
        if early || self.row.awaiting_response {
            return effects;
        }
        if let Some(end) = self.at_its_limit() {
            return end;
        }
        if self.is_fixed() {
            let cadence = self.cadence(rules);
            let seen = passed(self.row.next_due_at, cadence, now);
            if was_blocked && !seen.in_time {
                // The session was busy over these slots: they are counted, and the next one is kept.
                self.own.missed = self.own.missed.saturating_add(seen.slots);
                self.row.next_due_at = next_slot(self.row.next_due_at, cadence, now, now);
                return vec![TimerEffect::Save];
            }
            self.own.missed = self.own.missed.saturating_add(seen.missed());
        }
        self.fire(rules, now)
    }

    fn fire(&mut self, rules: &TimerRules, now: f64) -> Vec<TimerEffect> {
        if !self.own.fuse.fire(now) {
            return self.pause(&format!("it fired more than {MAX_FIRES} times in a minute"));
        }
        let cadence = self.cadence(rules);
        let missed = std::mem::take(&mut self.own.missed);
        let due = self.row.next_due_at;
        self.own.claim = Some(Claim {
            began: false,
            at: now,
            due,
            last_fired_at: self.row.last_fired_at,
            missed,
        });
        self.own.blocked = true;
        self.own.not_before = 0.0;
        self.row.ticks_fired = self.row.ticks_fired.saturating_add(1);
        self.row.last_fired_at = now;
        self.row.awaiting_response = true;
        self.row.next_due_at = if self.is_fixed() {
            slot_after(due, cadence, now, rules.floor)
        } else {
            now + cadence
        };
        let text = loop_wake_text(&self.row, missed);
        vec![TimerEffect::Save, TimerEffect::Wake { text, missed }]
    }

    /// The end of a loop that another program, or a change of its limits, left armed past its end.
    pub(super) fn at_its_limit(&mut self) -> Option<Vec<TimerEffect>> {
        let fired = self.row.ticks_fired;
        if self.row.times > 0 && fired >= self.row.times {
            return Some(self.end(Status::Done, &format!("ran {fired} of {fired} times")));
        }
        if self.row.max_ticks > 0 && fired >= self.row.max_ticks {
            let budget = self.row.max_ticks;
            return Some(self.pause(&format!("tick budget used up ({fired}/{budget})")));
        }
        None
    }

    fn never_began(&mut self, why: NeverBegan, rules: &TimerRules, now: f64) -> Vec<TimerEffect> {
        if !self.give_back() {
            return Vec::new();
        }
        let own = &mut self.own;
        let rest = (&mut own.not_before, &mut own.blocked);
        match claim::hold_off(why, now + rules.floor, &mut own.fuse, rest) {
            Some(reason) => self.give_up(&reason),
            None => vec![TimerEffect::Save],
        }
    }

    /// Undoes a claim whose turn never began: it is not counted and its slot is open again.
    fn give_back(&mut self) -> bool {
        let Some(claim) = claim::unbegun(&mut self.own.claim) else {
            return false;
        };
        self.row.ticks_fired = self.row.ticks_fired.saturating_sub(1);
        self.row.last_fired_at = claim.last_fired_at;
        self.row.next_due_at = claim.due;
        self.row.awaiting_response = false;
        self.own.missed = claim.missed;
        self.own.blocked = false;
        self.own.fuse.give_back();
        true
    }

    pub(super) fn pause(&mut self, reason: &str) -> Vec<TimerEffect> {
        if self.row.status != Status::Active {
            return vec![TimerEffect::Save];
        }
        self.row.status = Status::Paused;
        self.row.paused_reason = Some(reason.to_owned());
        self.own.missed = 0;
        vec![
            TimerEffect::Save,
            TimerEffect::Notice(format!("The loop is paused: {reason}.")),
        ]
    }

    pub(super) fn give_up(&mut self, reason: &str) -> Vec<TimerEffect> {
        self.pause(&format!(
            "its agent failed {MAX_FAILURES} times in a row, last: {reason}"
        ))
    }

    fn resume(&mut self, rules: &TimerRules, now: f64) -> Vec<TimerEffect> {
        if self.row.status != Status::Paused {
            return Vec::new();
        }
        let row = &mut self.row;
        row.status = Status::Active;
        row.paused_reason = None;
        if row.max_ticks > 0 && row.ticks_fired >= row.max_ticks {
            row.max_ticks = match rules.max_ticks {
                0 => 0,
                budget => row.ticks_fired.saturating_add(budget),
            };
        }
        self.own.fuse.reset();
        self.own.not_before = 0.0;
        self.own.missed = 0;
        let soon = now + self.cadence(rules).min(RESUME_DELAY_SECONDS);
        self.row.next_due_at = soon.max(self.row.last_fired_at.min(now) + rules.floor);
        if self.row.last_fired_at <= 0.0 {
            self.row.next_due_at = soon;
        }
        vec![TimerEffect::Save]
    }

    pub(super) fn end(&mut self, status: Status, reason: &str) -> Vec<TimerEffect> {
        if matches!(self.row.status, Status::Done | Status::Cleared) {
            return Vec::new();
        }
        self.row.status = status;
        self.row.last_stop_reason = Some(reason.to_owned());
        self.row.paused_reason = None;
        self.row.awaiting_response = false;
        self.own = LoopOwn::default();
        vec![
            TimerEffect::Save,
            TimerEffect::Notice(format!("The loop has ended: {reason}.")),
        ]
    }

    /// Arms a loop again whose wake-up was lost, once for each.
    fn recover(&mut self, proof: Proof, rules: &TimerRules, now: f64) -> Vec<TimerEffect> {
        if !self.row.awaiting_response || self.own.blocked {
            return Vec::new();
        }
        if proof == Proof::Unknown && now < self.lost_at(rules) {
            return Vec::new();
        }
        if self.give_back() {
            return vec![TimerEffect::Save];
        }
        self.own.claim = None;
        self.row.awaiting_response = false;
        if proof == Proof::Unknown && self.is_live() && !self.own.fuse.fail() {
            return self.give_up("the wake-up was lost");
        }
        vec![TimerEffect::Save]
    }

    /// Stamps of the future mean that the clock was set back: they must not hold the loop up.
    fn mend_clock(&mut self, rules: &TimerRules, now: f64) -> Vec<TimerEffect> {
        let before = (
            self.row.last_fired_at,
            self.row.next_due_at,
            self.own.not_before,
        );
        self.row.last_fired_at = self.row.last_fired_at.min(now);
        let cadence = self.cadence(rules);
        let reach = if self.is_fixed() {
            cadence
        } else {
            rules.pace.ceiling().max(cadence)
        };
        self.row.next_due_at = not_too_far(self.row.next_due_at, reach, now);
        self.own.not_before = self.own.not_before.min(now + rules.floor);
        let after = (
            self.row.last_fired_at,
            self.row.next_due_at,
            self.own.not_before,
        );
        if before == after {
            Vec::new()
        } else {
            vec![TimerEffect::Save]
        }
    }
}
