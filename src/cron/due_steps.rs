//! The steps of the due scan for one job.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::due::{self, Due, Note, Reason};
use super::due_pass::Pass;
use super::job::{Claim, Job};
use super::next;
use super::other_clock;
use super::schedule::Schedule;
use super::stamp::Stamp;
use crate::ledger::SlotAt;

/// A slot that was taken and not claimed goes back after this many seconds.
const PENDING_SECONDS: f64 = 300.0;
/// Written as the reason of a pause that the scan makes of a contradiction; the other program's
/// words, which it looks for.
const CONTRADICTION: &str = "auto-disabled: enabled+paused contradiction";

/// What a step says about the rest.
pub(super) enum Step {
    Go,
    Stop,
}

impl Pass<'_> {
    /// Runs the steps.
    pub(super) fn run(&mut self, found: &mut Due) {
        if self.takes_no_part() || self.holds_run_claim() {
            return;
        }
        self.restore_slot();
        if matches!(self.fill_next(found), Step::Stop) {
            return;
        }
        let stored = self
            .text("next_run_at")
            .map(str::to_owned)
            .unwrap_or_default();
        let Some(stamp) = Stamp::parse(&stored) else {
            return;
        };
        let Some(stood) = stamp.instant(&self.scene().zones.system) else {
            return;
        };
        let manual = Job::read(self.raw()).is_manual();
        if !manual && matches!(self.already_run(stood), Step::Stop) {
            return;
        }
        if !manual && matches!(self.zone_changed(found, stamp, stood), Step::Stop) {
            return;
        }
        if matches!(self.plan_anew(), Step::Stop) {
            return;
        }
        let slot = if manual { stood } else { self.sooner(stood) };
        if slot > self.scene().now {
            return;
        }
        if !manual && matches!(self.off_schedule(stamp, slot), Step::Stop) {
            return;
        }
        // One that is brought forward is written anew, with its offset.
        let is_naive = stamp.is_naive() && slot == stood;
        self.dispatch(found, &stored, SlotAt { at: slot, is_naive });
    }

    /// Terminal, disabled, or paused; a contradiction is settled as paused.
    fn takes_no_part(&mut self) -> bool {
        let job = Job::read(self.raw());
        if job.is_terminal() || !job.is_enabled() {
            return true;
        }
        if !job.has_pause_marker() {
            return false;
        }
        let (dated, explained) = (job.paused_at.is_true(), job.paused_reason.is_true());
        self.set("enabled", Value::Bool(false), Reason::Contradiction);
        self.set("state", Value::from("paused"), Reason::Contradiction);
        if !dated {
            self.set("paused_at", self.now_text(), Reason::Contradiction);
        }
        if !explained {
            self.set(
                "paused_reason",
                Value::from(CONTRADICTION),
                Reason::Contradiction,
            );
        }
        true
    }

    pub(super) fn seconds_since(&self, text: &str) -> Option<f64> {
        let then = self.scene().zones.instant(text)?;
        Some(self.scene().now.duration_since(then).as_secs_f64())
    }

    /// Whether a one-shot is leased: a lease from the future is none, nor is one of somebody who is gone
    /// and has left no run.
    fn holds_run_claim(&self) -> bool {
        let job = Job::read(self.raw());
        let claim = job.run_claim().filter(|claim| !self.is_left(*claim));
        let age = claim.and_then(|claim| self.seconds_since(claim.at));
        let life = SignedDuration::from_secs(self.scene().policy.run_claim_seconds).as_secs_f64();
        self.kind() == Some("once") && age.is_some_and(|age| (0.0..life).contains(&age))
    }

    /// Whether the holder of a claim is gone, or bore our name before us (a machine that was given a name has no
    /// other sign of its end), and no run of the job goes on without him.
    pub(super) fn is_left(&self, claim: Claim<'_>) -> bool {
        let (scene, id) = (self.scene(), self.id());
        let is_ours = claim.by == scene.machine && !scene.running.contains(&id);
        let began = scene.policy.inherits_before;
        let ours_for = began.map(|began| scene.now.duration_since(began).as_secs_f64());
        let age = self.seconds_since(claim.at);
        let was_ours = is_ours && ours_for.zip(age).is_some_and(|(ours, age)| age >= ours);
        (was_ours || scene.witness.is_dead(claim.by)) && !scene.witness.is_open(&id)
    }

    /// A slot that was taken off the schedule by us and not run, or by one who is gone, is due
    /// again. One that waits here for its start is none of these, however long it waits.
    fn restore_slot(&mut self) {
        if !self.is_recurring() {
            return;
        }
        let job = Job::read(self.raw());
        let Some(slot) = job.pending_slot() else {
            return;
        };
        let owner = slot.by;
        let ours = owner == self.scene().machine;
        if ours && self.scene().running.contains(&self.id()) {
            return;
        }
        let age = self.seconds_since(slot.at);
        let stale = age.is_none_or(|age| !(0.0..PENDING_SECONDS).contains(&age));
        if ours || stale || self.scene().witness.is_dead(owner) {
            let at = Value::from(slot.scheduled_at);
            self.set("next_run_at", at, Reason::SlotRestored);
            self.unset("pending_slot", Reason::SlotRestored);
        }
    }

    /// A job without a next slot gets one; an error that it recovers from is over.
    fn fill_next(&mut self, found: &mut Due) -> Step {
        if self
            .text("next_run_at")
            .is_some_and(|text| !text.is_empty())
        {
            return Step::Go;
        }
        let next = match self.schedule() {
            Ok(schedule @ Schedule::Once { .. }) => {
                let last = self.text("last_run_at");
                next::next_run(schedule, last, self.scene().now, self.scene().zones)
            }
            _ => due::next_from_now(self).map(|stamp| stamp.to_string()),
        };
        if let Some(next) = next {
            self.set("next_run_at", Value::from(next), Reason::NextComputed);
            if self.text("state") == Some("error") {
                self.set("state", Value::from("scheduled"), Reason::NextComputed);
            }
            return Step::Go;
        }
        let (index, job_id) = (self.index(), self.id());
        match self.schedule() {
            Ok(Schedule::Once { .. }) if self.text("last_run_at").is_none() => {
                // B75: it makes no difference whether its time stands in the record twice.
                if self.is_taken() {
                    found.notes.push(Note::MissedOnce { index, job_id });
                } else {
                    self.remove(Reason::OnceMissed);
                }
            }
            Ok(_) => {}
            Err(_) => self.note_unreadable(found),
        }
        Step::Stop
    }

    /// A slot that the ledger knows as done is consumed without a run, also before its time: a
    /// store that was restored shows slots again.
    fn already_run(&mut self, slot: Timestamp) -> Step {
        if !due::is_done(&self.id(), slot, self.scene()) {
            return Step::Go;
        }
        if self.kind() == Some("once") {
            self.set("enabled", Value::Bool(false), Reason::AlreadyRun);
            self.set("state", Value::from("completed"), Reason::AlreadyRun);
            self.set("next_run_at", Value::Null, Reason::AlreadyRun);
        } else if let Some(next) = self.next_after(slot) {
            let next = Value::from(next.stamp.to_string());
            self.set("next_run_at", next, Reason::AlreadyRun);
        }
        Step::Stop
    }

    /// The next slot in the cadence of this one.
    pub(super) fn next_after(&self, slot: Timestamp) -> Option<next::Fire> {
        let schedule = self.schedule().as_ref().ok()?;
        let (now, zone) = (self.scene().now, &self.scene().zones.configured);
        next::next_in_cadence(schedule, slot, now, zone)
    }

    /// A slot of another zone's clock, which here is still to come: it waits for that clock. A
    /// change of the season is not a change of the zone, and keeps its slot.
    fn zone_changed(&mut self, found: &mut Due, stamp: Stamp, slot: Timestamp) -> Step {
        let zone = &self.scene().zones.configured;
        let now = self.scene().now;
        let shifted = stamp
            .offset()
            .is_some_and(|offset| offset != zone.to_offset(now));
        let to_come = stamp.wall() > zone.to_datetime(now);
        if self.kind() != Some("cron") || slot > now || !shifted || !to_come {
            return Step::Go;
        }
        if stamp.offset() == Some(zone.to_offset(slot)) {
            return Step::Go;
        }
        match due::next_from_now(self) {
            Some(next) => {
                self.set(
                    "next_run_at",
                    Value::from(next.to_string()),
                    Reason::ZoneChanged,
                );
            }
            None if self.gives_up() => self.note_unreadable(found),
            None => return Step::Go,
        }
        Step::Stop
    }

    /// The same of one that lies ahead: the time that it names is the one to run at, whichever of the two
    /// clocks shows it first.
    fn plan_anew(&mut self) -> Step {
        let (now, zone) = (self.scene().now, &self.scene().zones.configured);
        let Some(next) = other_clock::planned_anew(&Job::read(self.raw()), now, zone) else {
            return Step::Go;
        };
        let next = Value::from(next.stamp.to_string());
        self.set("next_run_at", next, Reason::ZoneChanged);
        Step::Stop
    }

    /// A slot that the expression does not have: the expression was edited, or the zone was.
    fn off_schedule(&mut self, stamp: Stamp, slot: Timestamp) -> Step {
        let zones = self.scene().zones;
        let Ok(Schedule::Cron { expr, cron }) = self.schedule() else {
            return Step::Go;
        };
        let schedule = Schedule::Cron {
            expr: expr.clone(),
            cron: cron.clone(),
        };
        if next::on_lattice(&schedule, slot, &zones.configured) {
            return Step::Go;
        }
        let moved = stamp
            .offset()
            .is_some_and(|offset| offset != zones.configured.to_offset(slot));
        if moved && cron.matches(stamp.wall())
            || other_clock::is_of_a_provider(&Job::read(self.raw()), expr)
        {
            return Step::Go;
        }
        if let Some(next) = due::next_from_now(self) {
            self.set(
                "next_run_at",
                Value::from(next.to_string()),
                Reason::OffSchedule,
            );
            return Step::Stop;
        }
        Step::Go
    }

    /// Whether a schedule without a next slot stops the scan of its job, since it would be due at
    /// every tick. One whose field is missing altogether fires once more and then has no slot.
    pub(super) fn gives_up(&self) -> bool {
        !matches!(self.schedule(), Err(why) if why.is_absent())
    }

    pub(super) fn note_unreadable(&self, found: &mut Due) {
        let why = match self.schedule() {
            Ok(_) => "it matches no date in the next 50 years".to_owned(),
            Err(why) => why.to_string(),
        };
        found.notes.push(Note::Unreadable {
            index: self.index(),
            job_id: self.id(),
            why,
        });
    }
}
