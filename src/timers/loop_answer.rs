//! What the end of a loop's wake-up means: the agent's marker, the `--until` judge, the caps, the
//! next due time. The other half of `loop_state`.

use super::cadence::{next_slot, passed};
use super::digest::digest;
use super::event::{Outcome, TimerEffect, TimerRules};
use super::loop_state::LoopState;
use super::prompt::says_complete;
use super::row::Status;

impl LoopState {
    pub(super) fn answered(
        &mut self,
        outcome: Outcome,
        rules: &TimerRules,
        now: f64,
    ) -> Vec<TimerEffect> {
        if !self.row.awaiting_response {
            return Vec::new();
        }
        self.own.claim = None;
        self.own.blocked = false;
        let answer = match outcome {
            Outcome::Finished(answer) => answer,
            Outcome::Interrupted => {
                self.row.awaiting_response = false;
                return self.pause("its wake-up was interrupted");
            }
            Outcome::Cut => return self.go_on(rules, now),
            Outcome::Failed(reason) => {
                if !self.own.fuse.fail() {
                    self.row.awaiting_response = false;
                    return self.give_up(&reason);
                }
                self.pace(true, rules);
                return self.go_on(rules, now);
            }
        };
        self.own.fuse.succeed();
        let new = digest(&answer);
        self.pace(new == self.row.last_response_digest, rules);
        self.row.last_response_digest = new;
        if says_complete(&answer) {
            return self.end(Status::Done, "the agent says it is complete");
        }
        if rules.judge && !self.row.until.is_empty() && self.is_live() {
            self.own.blocked = true;
            let until = self.row.until.clone();
            return vec![TimerEffect::Save, TimerEffect::Judge { until, answer }];
        }
        self.go_on(rules, now)
    }

    pub(super) fn judged(
        &mut self,
        met: bool,
        reason: &str,
        rules: &TimerRules,
        now: f64,
    ) -> Vec<TimerEffect> {
        if !self.row.awaiting_response || self.own.claim.is_some() {
            return Vec::new();
        }
        self.own.blocked = false;
        if met {
            return self.end(Status::Done, &format!("the condition is met: {reason}"));
        }
        self.go_on(rules, now)
    }

    fn pace(&mut self, same: bool, rules: &TimerRules) {
        if !self.is_fixed() {
            self.row.current_delay = rules.pace.after_answer(self.row.current_delay, same);
        }
    }

    /// After a wake-up that did not end the loop: the caps, else the next due time.
    fn go_on(&mut self, rules: &TimerRules, now: f64) -> Vec<TimerEffect> {
        self.row.awaiting_response = false;
        if self.row.status != Status::Active {
            return vec![TimerEffect::Save];
        }
        if let Some(end) = self.at_its_limit() {
            return end;
        }
        let cadence = self.cadence(rules);
        if !self.is_fixed() {
            self.row.next_due_at = now + cadence;
        } else if self.row.next_due_at <= now {
            // The turn outlasted these slots.
            let seen = passed(self.row.next_due_at, cadence, now);
            self.own.missed = self.own.missed.saturating_add(seen.slots);
            self.row.next_due_at = next_slot(self.row.next_due_at, cadence, now, now);
        }
        vec![TimerEffect::Save]
    }

    pub(super) fn user_message(&mut self, rules: &TimerRules, now: f64) -> Vec<TimerEffect> {
        let floor = rules.pace.floor();
        if !self.is_live() || self.is_fixed() || self.row.awaiting_response {
            return Vec::new();
        }
        let due = self.row.next_due_at.min(now + floor);
        if self.row.current_delay <= floor && due >= self.row.next_due_at {
            return Vec::new();
        }
        self.row.current_delay = floor;
        self.row.next_due_at = due;
        vec![TimerEffect::Save]
    }
}
