//! Slots that are brought forward: of a job that failed and is silent since, and of one that ran by a
//! clock that was set back.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::claim;
use super::due::{self, Reason};
use super::due_pass::Pass;
use super::job::Job;
use super::lateness;
use super::next;
use super::stamp::Stamp;

impl Pass<'_> {
    /// The slot, brought forward where there is a reason to.
    pub(super) fn sooner(&mut self, slot: Timestamp) -> Timestamp {
        let slot = self.clock_went_back(slot).unwrap_or(slot);
        self.rearm(slot).unwrap_or(slot)
    }

    /// A recurring job that ran later than it is now, by a clock that was set back since, does not
    /// wait until the clock has caught up where that is more than two of its slots. Slots that have
    /// run do not run again: the ledger knows them. Gives the new slot.
    fn clock_went_back(&mut self, slot: Timestamp) -> Option<Timestamp> {
        let scene = self.scene();
        let ran = Stamp::parse(self.text("last_run_at")?)?;
        if !self.is_recurring() || slot <= scene.now || !due::is_ahead(ran, scene) {
            return None;
        }
        let (zone, schedule) = (&scene.zones.configured, self.schedule().as_ref().ok()?);
        let cadence = lateness::cadence(schedule, scene.now, zone)?;
        let twice = SignedDuration::from_secs(cadence.saturating_mul(2));
        if slot.duration_since(scene.now) <= twice || self.is_held() {
            return None;
        }
        let next = next::next_in_cadence(schedule, slot, scene.now, zone)?.stamp;
        let sooner = next.instant(zone).filter(|next| *next < slot)?;
        let next = Value::from(next.to_string());
        self.set("next_run_at", next, Reason::ClockWentBack);
        Some(sooner)
    }

    /// Whether a provider's window is waited for.
    fn is_held(&self) -> bool {
        let held = self
            .text("quota_hold_until")
            .and_then(|text| self.scene().zones.instant(text));
        held.is_some_and(|held| held > self.scene().now)
    }

    /// A failed recurring job that has been silent for longer than its cadence and grace does not
    /// wait for a slot that lies further off. One that runs is not silent. Gives the new slot.
    fn rearm(&mut self, slot: Timestamp) -> Option<Timestamp> {
        let now = self.scene().now;
        if !self.is_recurring() || slot <= now || self.text("last_status") != Some("error") {
            return None;
        }
        let silent = self.seconds_since(self.text("last_run_at")?)?;
        let zones = self.scene().zones;
        let cadence = self.schedule().as_ref().ok();
        let cadence = cadence.and_then(|s| lateness::cadence(s, now, &zones.configured));
        let bound = cadence.unwrap_or(0).saturating_add(due::grace(self));
        if silent <= SignedDuration::from_secs(bound).as_secs_f64() || self.is_claimed() {
            return None;
        }
        if self.is_held() || self.goes_on() {
            return None;
        }
        let next = match self.kind() {
            Some("interval") => Stamp::of(now, &zones.configured),
            _ => due::next_from_now(self)?,
        };
        let sooner = next.instant(&zones.system).filter(|next| *next < slot)?;
        self.set(
            "next_run_at",
            Value::from(next.to_string()),
            Reason::Rearmed,
        );
        Some(sooner)
    }

    /// Whether a run of the job has not ended, whoever has it.
    fn goes_on(&self) -> bool {
        let (scene, id) = (self.scene(), self.id());
        scene.running.contains(&id) || scene.witness.is_open(&id)
    }

    /// Whether somebody who lives holds the claim of a run.
    fn is_claimed(&self) -> bool {
        let (job, life) = (Job::read(self.raw()), claim::LIFE.as_secs_f64());
        job.fire_claim().is_some_and(|claim| {
            let age = self.seconds_since(claim.at);
            age.is_some_and(|age| (0.0..life).contains(&age))
                && !self.scene().witness.is_dead(claim.by)
        })
    }
}
