//! What is due: jobs and the ledger at an instant, to orders and changes. Pure, and exactly what a
//! dry run of the tick prints.
//!
//! Each job goes through the same steps in the same order (`due_steps`), after repairs of its
//! record (`due_repair`). A bad record never stops the scan. All changes are to be saved at once.

use std::collections::HashSet;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::burst;
pub use super::burst::Wait;
use super::due_pass::Pass;
use super::due_repair;
pub use super::due_wakes::wakes_at;
use super::job::Job;
use super::lateness::{self, Lateness};
use super::loose::Loose;
use super::next::{self, Zones};
use super::other_clock;
use super::stamp::Stamp;
use crate::config::settings::Cron;
use crate::ledger::SlotAt;
use crate::ledger::store::utc;

/// What the scan must know beside the jobs.
pub struct Scene<'a> {
    /// The instant of the scan.
    pub now: Timestamp,
    /// The instant of the pass before this one, where it was this ticker's, a moment ago.
    pub last_pass: Option<Timestamp>,
    /// The zones that stamps are read and written in.
    pub zones: &'a Zones,
    /// What the operator chose.
    pub policy: Policy,
    /// Who we are in claims: `HERMES_MACHINE_ID` or `host:pid`.
    pub machine: &'a str,
    /// The jobs that this process runs at this moment.
    pub running: &'a HashSet<String>,
    /// What the ledger and the process table know.
    pub witness: &'a dyn Witness,
}

/// Questions that other rooms answer.
pub trait Witness {
    /// When a run of this slot completed; the last one, if there were several.
    fn completed(&self, job_id: &str, slot: Timestamp) -> Option<Timestamp>;
    /// Whether the owner named in a claim is proved dead; what cannot be checked is alive.
    fn is_dead(&self, owner: &str) -> bool;
    /// Whether the ledger has a run of the job that has not ended, whoever has it.
    fn is_open(&self, job_id: &str) -> bool;
    /// Jobs of which a slot is known as done that has not come: their records do not tell.
    fn done_ahead(&self, _now: Timestamp) -> Vec<String> {
        Vec::new()
    }
}

/// Knows of no run and of no process.
pub struct NoWitness;

impl Witness for NoWitness {
    fn completed(&self, _: &str, _: Timestamp) -> Option<Timestamp> {
        None
    }

    fn is_dead(&self, _: &str) -> bool {
        false
    }

    fn is_open(&self, _: &str) -> bool {
        false
    }
}

/// What the operator chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// `cron.catch_up_missed`: whether a recurring job that missed its time beyond the grace still
    /// fires once.
    pub catch_up_missed: bool,
    /// The life of a one-shot's lease, in seconds: three times the agent's limit, at least 1800.
    pub run_claim_seconds: i64,
    /// `cron.completed_retention_days`: how long a completed one-shot is kept; none is for ever.
    pub completed_retention: Option<SignedDuration>,
    /// `cron.max_catch_ups_per_tick`: overdue jobs that one scan starts; none is no cap.
    pub max_catch_ups: Option<usize>,
    /// Leases in our own name from before are of a scheduler that is gone: when the one that turns here began.
    /// A pass by hand has no such time, as the one that turns may bear its name.
    pub inherits_before: Option<Timestamp>,
}

impl Policy {
    /// What the configuration says.
    #[must_use]
    pub fn of(settings: &Cron) -> Policy {
        let span = |time: Duration| SignedDuration::try_from(time).unwrap_or(SignedDuration::MAX);
        let silence = settings
            .inactivity_timeout
            .map_or(0, |limit| span(limit).as_secs());
        Policy {
            catch_up_missed: settings.catch_up_missed,
            run_claim_seconds: silence.saturating_mul(3).max(RUN_CLAIM_SECONDS),
            completed_retention: settings.completed_retention.map(span),
            max_catch_ups: settings.max_catch_ups_per_tick,
            inherits_before: None,
        }
    }
}

/// The least life of a one-shot's lease, in seconds.
const RUN_CLAIM_SECONDS: i64 = 1_800;

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            catch_up_missed: true,
            run_claim_seconds: RUN_CLAIM_SECONDS,
            completed_retention: Some(SignedDuration::from_hours(7 * 24)),
            max_catch_ups: None,
            inherits_before: None,
        }
    }
}

/// One job to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// Its place in the list that was scanned.
    pub index: usize,
    /// Its id, after repairs.
    pub job_id: String,
    /// The slot; `None` for a run that somebody asked for.
    pub slot: Option<SlotAt>,
    /// Why now.
    pub kind: OrderKind,
    /// Seconds since the slot.
    pub late_seconds: f64,
    /// It is overdue, and may be left to a later pass.
    pub wait: Option<Wait>,
}

impl Order {
    /// The slot as the row of its run names it: in UTC, and not where it stood without an offset.
    #[must_use]
    pub fn scheduled_instant(&self) -> Option<String> {
        self.slot.and_then(SlotAt::named).map(utc)
    }
}

/// Why a job is to run now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderKind {
    /// Its slot has come.
    Scheduled(Lateness),
    /// Somebody asked for it.
    Manual,
}

impl OrderKind {
    /// The name that a dry run shows.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            OrderKind::Scheduled(lateness) => lateness.as_str(),
            OrderKind::Manual => "manual",
        }
    }
}

/// What changes in one job.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Its place in the list that was scanned.
    pub index: usize,
    /// Its id, after repairs.
    pub job_id: String,
    /// Keys to set.
    pub set: Map<String, Value>,
    /// Keys to drop.
    pub unset: Vec<String>,
    /// Whether the record goes.
    pub removed: bool,
    /// Why, in order.
    pub reasons: Vec<Reason>,
}

/// Why a record changes. Each has a name for tools and a sentence for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A field was missing or of a wrong type.
    Repaired,
    /// Enabled and paused at once.
    Contradiction,
    /// A slot was taken off the schedule and never claimed.
    SlotRestored,
    /// There was no next slot.
    NextComputed,
    /// The ledger has a completed run of the slot.
    AlreadyRun,
    /// The slot was written with another zone's clock.
    ZoneChanged,
    /// A failed job waited for a slot too far off.
    Rearmed,
    /// The wall clock was set back behind the last run, and the slot lies too far off by it.
    ClockWentBack,
    /// The slot is not on the schedule any more.
    OffSchedule,
    /// Too late, and missed slots are not made up for.
    Skipped,
    /// Too late: one run stands for all that were missed.
    CaughtUp,
    /// The slot was handed out.
    Dispatched,
    /// It is off the schedule, and the next one stands there.
    Advanced,
    /// A one-shot beyond its grace.
    OnceMissed,
    /// A one-shot that has run as often as it may.
    OnceExhausted,
    /// The same, but no run of it ever came to an end.
    OnceWedged,
    /// A completed one-shot that was kept long enough.
    Retired,
}

impl Reason {
    /// The name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::Repaired => "repaired",
            Reason::Contradiction => "enabled_and_paused",
            Reason::SlotRestored => "slot_restored",
            Reason::NextComputed => "next_computed",
            Reason::AlreadyRun => "already_run",
            Reason::ZoneChanged => "zone_changed",
            Reason::Rearmed => "rearmed",
            Reason::ClockWentBack => "clock_went_back",
            Reason::OffSchedule => "off_schedule",
            Reason::Skipped => "skipped",
            Reason::CaughtUp => "caught_up",
            Reason::Dispatched => "dispatched",
            Reason::Advanced => "advanced",
            Reason::OnceMissed => "once_missed",
            Reason::OnceExhausted => "once_exhausted",
            Reason::OnceWedged => "once_wedged",
            Reason::Retired => "retired",
        }
    }

    /// Whether a file in the job's output says what happened, since the record is gone and no run
    /// was ever recorded.
    #[must_use]
    pub fn leaves_diagnostic(self) -> bool {
        matches!(self, Reason::OnceMissed | Reason::OnceWedged)
    }
}

/// A slot that is not run because it comes too late, by the job's own policy or by the operator's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassedBy {
    /// The job's place in the list that was scanned.
    pub index: usize,
    /// Its id, after repairs.
    pub job_id: String,
    /// The slot.
    pub slot: Timestamp,
    /// Why it is not run, for its record.
    pub reason: String,
}

/// Something that nobody changes and somebody should see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A one-shot whose time passed without a run, and whose record stays.
    MissedOnce {
        /// The job's place in the list that was scanned.
        index: usize,
        /// Its id, after repairs.
        job_id: String,
    },
    /// A schedule that cannot be read.
    Unreadable {
        /// The job's place in the list that was scanned.
        index: usize,
        /// Its id, after repairs.
        job_id: String,
        /// Why.
        why: String,
    },
}

/// The outcome of a scan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Due {
    /// Jobs to run, in order.
    pub orders: Vec<Order>,
    /// Overdue jobs beyond what one scan starts: they are as they were, for the next one.
    pub held: Vec<Order>,
    /// Slots that come too late.
    pub passed_by: Vec<PassedBy>,
    /// Records to change.
    pub changes: Vec<Change>,
    /// How many jobs catch up: the counter file grows by this.
    pub catch_ups: usize,
    /// What else was seen.
    pub notes: Vec<Note>,
}

impl Due {
    /// Whether nothing is to be done; what nobody changes may be noted all the same.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.orders.is_empty()
            && self.held.is_empty()
            && self.passed_by.is_empty()
            && self.changes.is_empty()
    }
}

/// Scans jobs. `new_id` makes an id for a record that has none.
pub fn due<'j>(
    jobs: impl IntoIterator<Item = (usize, &'j Map<String, Value>)>,
    scene: &Scene<'_>,
    new_id: &mut dyn FnMut() -> String,
) -> Due {
    let mut found = Due::default();
    for (index, raw) in jobs {
        if is_idle(&Job::read(raw), scene) {
            continue;
        }
        let mut pass = Pass::new(index, raw, scene);
        due_repair::repair(&mut pass, new_id);
        if !due_repair::retire(&mut pass) {
            pass.run(&mut found);
        }
        found.changes.extend(pass.into_change());
    }
    if let Some(most) = scene.policy.max_catch_ups {
        burst::hold(&mut found, most);
    }
    found.catch_ups = burst::catch_ups(&found);
    found
}

/// Whether nothing can happen to a job at this instant: healthy, its slot in the future, nothing to
/// repair, restore or re-arm. Most jobs end here.
pub(super) fn is_idle(job: &Job<'_>, scene: &Scene<'_>) -> bool {
    let Some(id) = job.id() else { return false };
    let Some(slot) = next_slot(job, scene) else {
        return false;
    };
    let ran_soundly = match &job.last_run_at {
        Loose::Absent | Loose::Null => true,
        Loose::Text(text) => Stamp::parse(text).is_some_and(|ran| !is_ahead(ran, scene)),
        _ => false,
    };
    slot > scene.now
        && job.enabled == Loose::Bool(true)
        && job.state.text() == Some("scheduled")
        && job.schedule.other().is_some_and(Value::is_object)
        && job.pending_slot.is_none()
        && job.paused_at.is_none()
        && job.job_id == Loose::Absent
        && job.last_status.text() != Some("error")
        && ran_soundly
        && due_repair::repeat_is_sound(job)
        && !is_done(id, slot, scene)
        && other_clock::planned_anew(job, scene.now, &scene.zones.configured).is_none()
}

/// The next slot as an instant, where it says one with an offset.
fn next_slot(job: &Job<'_>, scene: &Scene<'_>) -> Option<Timestamp> {
    let stamp = job.next_run_at.text().and_then(Stamp::parse)?;
    (!stamp.is_naive())
        .then(|| stamp.instant(&scene.zones.system))
        .flatten()
}

/// Whether a stamp of something that has happened lies in the future: the wall clock was set back.
pub(super) fn is_ahead(stamp: Stamp, scene: &Scene<'_>) -> bool {
    const SLACK: SignedDuration = SignedDuration::from_secs(60);
    let at = stamp.instant(&scene.zones.system);
    at.is_some_and(|at| at.duration_since(scene.now) > SLACK)
}

/// Whether the ledger has a completed run of a slot. A run counts if it ended no more than a minute
/// before the slot: an older one was of another slot.
pub(super) fn is_done(job_id: &str, slot: Timestamp, scene: &Scene<'_>) -> bool {
    const EARLY: SignedDuration = SignedDuration::from_secs(-60);
    let ended = scene.witness.completed(job_id, slot);
    ended.is_some_and(|ended| ended.duration_since(slot) >= EARLY)
}

/// The kind and the seconds of a lateness.
pub(super) fn classify(slot: Timestamp, now: Timestamp, grace: i64) -> (Lateness, f64) {
    let micros = now.as_microsecond() - slot.as_microsecond();
    (
        Lateness::of(micros, grace),
        now.duration_since(slot).as_secs_f64(),
    )
}

/// The next slot after now, as stored; `None` where the schedule has none or cannot be read.
pub(super) fn next_from_now(pass: &Pass<'_>) -> Option<Stamp> {
    let scene = pass.scene();
    let schedule = pass.schedule().as_ref().ok()?;
    next::next_fire(schedule, scene.now, &scene.zones.configured).map(|fire| fire.stamp)
}

/// The grace of the job's schedule; the shortest where it cannot be read.
pub(super) fn grace(pass: &Pass<'_>) -> i64 {
    let scene = pass.scene();
    pass.schedule()
        .as_ref()
        .map_or(lateness::MIN_GRACE_SECONDS, |schedule| {
            lateness::grace(schedule, scene.now, &scene.zones.configured)
        })
}
