//! The machine of a heartbeat: `step(event, now)` gives the effects, `next_wake()` the next look.
//!
//! The row has no field for an open beat or a due time; both are kept beside it. Where another
//! program moved the row's stamps, the due time is counted anew from them. Seconds since the epoch.

use serde::{Deserialize, Serialize};

use super::cadence::{next_slot, not_before, not_too_far, passed, slot_after};
use super::claim::{self, Claim};
use super::event::{
    LOST_AFTER_CADENCES, NeverBegan, Outcome, Proof, TimerEffect, TimerEvent, TimerRules,
};
use super::fuse::{Fuse, MAX_FAILURES, MAX_FIRES};
use super::heartbeat_args::MIN_INTERVAL_SECONDS;
use super::heartbeat_row::HeartbeatRow;
use super::prompt::heartbeat_text;
use super::row::Status;

/// What only we know of a heartbeat; kept beside the row, never in it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HeartbeatOwn {
    fuse: Fuse,
    /// Slots that passed unserved and were not told yet.
    missed: u64,
    /// No beat before this stamp; set where an agent could not be started.
    not_before: f64,
    /// The next slot, and the stamp of the row that it was counted from.
    due: Option<(f64, f64)>,
    /// The beat that is out.
    claim: Option<Claim>,
    /// Beats since the user last wrote something.
    beats: u64,
    /// Why it is paused; the row has no field for it.
    paused_reason: Option<String>,
    /// The session is busy: look again when it is idle. Not stored: a new process has to look.
    #[serde(skip)]
    blocked: bool,
}

impl HeartbeatOwn {
    /// Beats since the user last wrote something.
    #[must_use]
    pub fn beats(&self) -> u64 {
        self.beats
    }
}

/// A heartbeat.
#[derive(Debug, Clone, PartialEq)]
pub struct Heartbeat {
    /// What both programs know.
    pub row: HeartbeatRow,
    /// What we know.
    pub own: HeartbeatOwn,
    /// Whether the messaging gateway's routing index has its session: then the gateway drives it.
    pub gateway_owned: bool,
}

impl Heartbeat {
    /// A new heartbeat; the first beat comes after one interval.
    #[must_use]
    pub fn start(prompt: &str, interval_seconds: u128, now: f64) -> Self {
        let row = HeartbeatRow {
            prompt: prompt.to_owned(),
            interval_seconds: u64::try_from(interval_seconds).unwrap_or(u64::MAX),
            status: Status::Active,
            created_at: now,
            last_fired_at: 0.0,
            fire_count: 0,
            unknown: serde_json::Map::new(),
        };
        Self {
            row,
            own: HeartbeatOwn::default(),
            gateway_owned: false,
        }
    }

    /// Whether serve is to drive it: it is armed and the gateway does not.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.row.status == Status::Active && !self.gateway_owned
    }

    /// Why it is paused, where we know.
    #[must_use]
    pub fn paused_reason(&self) -> Option<&str> {
        self.own
            .paused_reason
            .as_deref()
            .filter(|_| self.row.status == Status::Paused)
    }

    /// Seconds between two beats, never below the floor.
    #[must_use]
    pub fn interval(&self, rules: &TimerRules) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a cadence in seconds")]
        let (interval, floor) = (
            self.row.interval_seconds as f64,
            MIN_INTERVAL_SECONDS as f64,
        );
        interval.max(floor).max(rules.floor)
    }

    /// The next slot.
    #[must_use]
    pub fn due_at(&self, rules: &TimerRules) -> f64 {
        let stamp = self.stamp();
        match self.own.due {
            #[expect(clippy::float_cmp, reason = "the same stamp, not a computed one")]
            Some((due, from)) if from == stamp => due,
            _ => stamp + self.interval(rules),
        }
    }

    /// When to look again; `None` while nothing but an event of its session can change anything.
    #[must_use]
    pub fn next_wake(&self, rules: &TimerRules) -> Option<f64> {
        if !self.is_live() || self.own.blocked {
            return None;
        }
        if let Some(claim) = &self.own.claim {
            return Some(claim.at + LOST_AFTER_CADENCES * self.interval(rules));
        }
        let mut at = self.due_at(rules).max(self.own.not_before);
        if self.row.last_fired_at > 0.0 {
            at = at.max(not_before(self.row.last_fired_at, rules.floor));
        }
        Some(at)
    }

    /// Takes an event and says what is to be done. A heartbeat has no judge.
    pub fn step(&mut self, event: TimerEvent, rules: &TimerRules, now: f64) -> Vec<TimerEffect> {
        match event {
            TimerEvent::Due { busy } => self.due(busy, rules, now),
            TimerEvent::TurnBegan => claim::begin(&mut self.own.claim),
            TimerEvent::TurnNeverBegan(why) => self.never_began(why, rules, now),
            TimerEvent::Answered(outcome) => self.answered(outcome, rules, now),
            TimerEvent::UserMessage if self.own.beats > 0 => {
                self.own.beats = 0;
                vec![TimerEffect::Save]
            }
            TimerEvent::UserMessage | TimerEvent::Judged { .. } => Vec::new(),
            TimerEvent::Pause(reason) => self.pause(&reason),
            TimerEvent::Resume => self.resume(rules, now),
            TimerEvent::Stop(reason) => self.stop(&reason),
            TimerEvent::Recover(proof) => self.recover(proof, rules, now),
        }
    }

    /// The stamp of the row that the cadence counts from.
    fn stamp(&self) -> f64 {
        if self.row.last_fired_at > 0.0 {
            self.row.last_fired_at
        } else {
            self.row.created_at
        }
    }

    fn set_due(&mut self, due: f64) {
        self.own.due = Some((due, self.stamp()));
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
        if self.own.claim.is_some() || self.next_wake(rules).is_none_or(|at| at > now) {
            return effects;
        }
        if rules.max_beats > 0 && self.own.beats >= rules.max_beats {
            return self.pause(&format!(
                "{} beats without a message of the user",
                self.own.beats
            ));
        }
        let interval = self.interval(rules);
        let due = self.due_at(rules);
        let seen = passed(due, interval, now);
        if was_blocked && !seen.in_time {
            self.own.missed = self.own.missed.saturating_add(seen.slots);
            self.set_due(next_slot(due, interval, now, now));
            return vec![TimerEffect::Save];
        }
        self.own.missed = self.own.missed.saturating_add(seen.missed());
        self.fire(due, rules, now)
    }

    fn fire(&mut self, due: f64, rules: &TimerRules, now: f64) -> Vec<TimerEffect> {
        if !self.own.fuse.fire(now) {
            return self.pause(&format!("it fired more than {MAX_FIRES} times in a minute"));
        }
        let missed = std::mem::take(&mut self.own.missed);
        let last_fired_at = self.row.last_fired_at;
        self.own.claim = Some(Claim {
            began: false,
            at: now,
            due,
            last_fired_at,
            missed,
        });
        self.own.blocked = true;
        self.own.not_before = 0.0;
        self.own.beats = self.own.beats.saturating_add(1);
        self.row.fire_count = self.row.fire_count.saturating_add(1);
        self.row.last_fired_at = now;
        self.set_due(slot_after(due, self.interval(rules), now, rules.floor));
        let text = heartbeat_text(&self.row, missed);
        vec![TimerEffect::Save, TimerEffect::Wake { text, missed }]
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

    /// Undoes a claim whose turn never began. The row gets its stamp and count back only where
    /// nobody changed them since.
    fn give_back(&mut self) -> bool {
        let Some(claim) = claim::unbegun(&mut self.own.claim) else {
            return false;
        };
        #[expect(clippy::float_cmp, reason = "the very stamp that the claim wrote")]
        let unchanged = self.row.last_fired_at == claim.at;
        if unchanged {
            self.row.last_fired_at = claim.last_fired_at;
            self.row.fire_count = self.row.fire_count.saturating_sub(1);
            self.set_due(claim.due);
        }
        self.own.beats = self.own.beats.saturating_sub(1);
        self.own.missed = claim.missed;
        self.own.blocked = false;
        self.own.fuse.give_back();
        true
    }

    fn answered(&mut self, outcome: Outcome, rules: &TimerRules, now: f64) -> Vec<TimerEffect> {
        if self.own.claim.take().is_none() {
            return Vec::new();
        }
        self.own.blocked = false;
        match outcome {
            Outcome::Finished(_) => self.own.fuse.succeed(),
            Outcome::Interrupted => return self.pause("its beat was interrupted"),
            Outcome::Failed(reason) if !self.own.fuse.fail() => return self.give_up(&reason),
            Outcome::Cut | Outcome::Failed(_) => {}
        }
        let due = self.due_at(rules);
        if due <= now {
            // The turn outlasted these slots.
            let seen = passed(due, self.interval(rules), now);
            self.own.missed = self.own.missed.saturating_add(seen.slots);
            self.set_due(next_slot(due, self.interval(rules), now, now));
        }
        vec![TimerEffect::Save]
    }

    fn pause(&mut self, reason: &str) -> Vec<TimerEffect> {
        if self.row.status != Status::Active {
            return vec![TimerEffect::Save];
        }
        self.row.status = Status::Paused;
        self.own.paused_reason = Some(reason.to_owned());
        self.own.missed = 0;
        vec![
            TimerEffect::Save,
            TimerEffect::Notice(format!("The heartbeat is paused: {reason}.")),
        ]
    }

    fn give_up(&mut self, reason: &str) -> Vec<TimerEffect> {
        self.pause(&format!(
            "its agent failed {MAX_FAILURES} times in a row, last: {reason}"
        ))
    }

    /// Arms a paused heartbeat again, one interval from now. The stamp moves along, so that the
    /// other program counts from here too.
    fn resume(&mut self, rules: &TimerRules, now: f64) -> Vec<TimerEffect> {
        if self.row.status != Status::Paused {
            return Vec::new();
        }
        self.row.status = Status::Active;
        self.row.last_fired_at = now;
        self.own.fuse.reset();
        self.own.not_before = 0.0;
        self.own.missed = 0;
        self.own.beats = 0;
        self.own.paused_reason = None;
        self.set_due(now + self.interval(rules));
        vec![TimerEffect::Save]
    }

    fn stop(&mut self, reason: &str) -> Vec<TimerEffect> {
        if self.row.status == Status::Cleared {
            return Vec::new();
        }
        self.row.status = Status::Cleared;
        self.own = HeartbeatOwn::default();
        vec![
            TimerEffect::Save,
            TimerEffect::Notice(format!("The heartbeat has ended: {reason}.")),
        ]
    }

    /// Releases a beat without an answer, once for each.
    fn recover(&mut self, proof: Proof, rules: &TimerRules, now: f64) -> Vec<TimerEffect> {
        let Some(claim) = self.own.claim.as_ref().filter(|_| !self.own.blocked) else {
            return Vec::new();
        };
        let lost_at = claim.at + LOST_AFTER_CADENCES * self.interval(rules);
        if proof == Proof::Unknown && now < lost_at {
            return Vec::new();
        }
        if self.give_back() {
            return vec![TimerEffect::Save];
        }
        self.own.claim = None;
        if proof == Proof::Unknown && self.is_live() && !self.own.fuse.fail() {
            return self.give_up("the beat was lost");
        }
        vec![TimerEffect::Save]
    }

    /// Stamps of the future mean that the clock was set back: they must not hold a beat up.
    fn mend_clock(&mut self, rules: &TimerRules, now: f64) -> Vec<TimerEffect> {
        let due = self.due_at(rules);
        let near = not_too_far(due, self.interval(rules), now);
        let ahead = self.row.last_fired_at > now;
        #[expect(clippy::float_cmp, reason = "unchanged means the same number")]
        let same = near == due;
        if same && !ahead && self.own.not_before <= now + rules.floor {
            return Vec::new();
        }
        self.row.last_fired_at = self.row.last_fired_at.min(now);
        self.own.not_before = self.own.not_before.min(now + rules.floor);
        if let Some(claim) = &mut self.own.claim {
            claim.at = claim.at.min(now);
        }
        self.set_due(near);
        vec![TimerEffect::Save]
    }
}
