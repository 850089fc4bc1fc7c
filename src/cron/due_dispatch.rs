//! The last step of the due scan for one job: its slot has come, and is run, or is not.

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::burst::Wait;
use super::catch_up::{self, CatchUp};
use super::due::{self, Due, Order, OrderKind, PassedBy, Reason};
use super::due_pass::Pass;
use super::due_steps::Step;
use super::job::{Claim, Job};
use super::lateness::{self, Lateness};
use super::loose::Loose;
use super::next;
use crate::ledger::SlotAt;

impl Pass<'_> {
    /// `taken` is the slot that stands in the job as `stored`.
    pub(super) fn dispatch(&mut self, found: &mut Due, stored: &str, taken: SlotAt) {
        let slot = taken.at;
        let manual = Job::read(self.raw()).is_manual();
        let grace = due::grace(self);
        let (kind, late_seconds) = due::classify(slot, self.scene().now, grace);
        let is_a_slots = self.is_recurring() && !manual;
        if is_a_slots {
            let late = late_seconds > SignedDuration::from_secs(grace).as_secs_f64();
            if late && matches!(self.catch_up(found, slot), Step::Stop) {
                return;
            }
            self.take_slot(stored, kind, late_seconds);
        } else if self.kind() == Some("once") && matches!(self.once(late_seconds), Step::Stop) {
            return;
        }
        let may_wait = is_a_slots && kind != Lateness::OnTime && !self.has_its_turn(slot);
        found.orders.push(Order {
            index: self.index(),
            job_id: self.id(),
            slot: (!manual).then_some(taken),
            kind: if manual {
                OrderKind::Manual
            } else {
                OrderKind::Scheduled(kind)
            },
            late_seconds,
            wait: may_wait.then(|| Wait {
                lapses: self.lapses(slot, grace),
            }),
        });
    }

    /// Writes down that the slot is handed out, and keeps it until a worker has it.
    fn take_slot(&mut self, stored: &str, kind: Lateness, late_seconds: f64) {
        let seconds = format!("{late_seconds:.1}")
            .parse::<f64>()
            .unwrap_or(late_seconds);
        let at = self.now_text();
        let dispatch = json!({
            "scheduled_at": stored, "dispatched_at": at, "lateness_seconds": seconds,
            "kind": kind.as_str(),
        });
        let pending = json!({"scheduled_at": stored, "at": at, "by": self.scene().machine});
        self.set("last_dispatch", dispatch, Reason::Dispatched);
        self.set("pending_slot", pending, Reason::Dispatched);
    }

    /// Whether the job would start now however late it is: it runs already, and its slot is passed by,
    /// or another slot of its own has come since the last pass.
    fn has_its_turn(&self, slot: Timestamp) -> bool {
        let scene = self.scene();
        let comes = || {
            let schedule = self.schedule().as_ref().ok()?;
            let zone = &scene.zones.configured;
            let since = scene.last_pass.filter(|since| *since > slot)?;
            let next = next::next_in_cadence(schedule, slot, since, zone)?;
            next.stamp.instant(zone)
        };
        scene.running.contains(&self.id()) || comes().is_some_and(|next| next <= scene.now)
    }

    /// When a slot that is not started would be too late for whoever set a limit.
    fn lapses(&self, slot: Timestamp, grace: i64) -> Option<Timestamp> {
        let limit = if self.scene().policy.catch_up_missed {
            CatchUp::of(self.raw()).limit()?
        } else {
            SignedDuration::ZERO
        };
        slot.checked_add(limit.max(SignedDuration::from_secs(grace)))
            .ok()
    }

    /// Beyond the grace: on to the next slot, and either one run for all that were missed or none.
    fn catch_up(&mut self, found: &mut Due, slot: Timestamp) -> Step {
        let Some(next) = due::next_from_now(self) else {
            if self.gives_up() {
                self.note_unreadable(found);
                return Step::Stop;
            }
            return Step::Go;
        };
        let scene = self.scene();
        let (late, catches_up) = (scene.now.duration_since(slot), scene.policy.catch_up_missed);
        let Some(reason) = catch_up::objection(self.raw(), late, catches_up) else {
            self.set("next_run_at", next.to_string().into(), Reason::CaughtUp);
            return Step::Go;
        };
        // A slot that is passed by keeps the cadence, as one that is run does.
        let next = self.next_after(slot).map_or(next, |fire| fire.stamp);
        self.set("next_run_at", next.to_string().into(), Reason::Skipped);
        found.passed_by.push(PassedBy {
            index: self.index(),
            job_id: self.id(),
            slot,
            reason,
        });
        Step::Stop
    }

    /// Whether somebody has a one-shot, or its run goes on.
    pub(super) fn is_taken(&self) -> bool {
        let job = Job::read(self.raw());
        let holds = |raw: &Loose<'_>, claim: Option<Claim<'_>>| {
            raw.is_true() && claim.is_none_or(|claim| !self.is_left(claim))
        };
        holds(&job.run_claim, job.run_claim())
            || holds(&job.fire_claim, job.fire_claim())
            || self.scene().witness.is_open(&self.id())
    }

    /// A one-shot: missed, exhausted, or leased to us.
    fn once(&mut self, late_seconds: f64) -> Step {
        let claimed = self.is_taken();
        let repeat = Job::read(self.raw()).repeat();
        let grace = SignedDuration::from_secs(lateness::ONCE_GRACE_SECONDS).as_secs_f64();
        if late_seconds > grace {
            if !claimed {
                self.remove(Reason::OnceMissed);
            }
            return Step::Stop;
        }
        if repeat.times.is_some_and(|times| repeat.completed >= times) {
            let ran = self.get("last_run_at").is_some_and(|ran| !ran.is_null());
            self.remove(if ran {
                Reason::OnceExhausted
            } else {
                Reason::OnceWedged
            });
            return Step::Stop;
        }
        let claim = json!({"at": self.now_text(), "by": self.scene().machine});
        self.set("run_claim", claim, Reason::Dispatched);
        Step::Go
    }
}
