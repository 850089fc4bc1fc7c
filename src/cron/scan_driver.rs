//! One scan of the store: reads it under its lock, asks `due`, saves all changes at once, and records
//! what became of slots that do not run.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use uuid::Uuid;

use super::catch_up::{passed_over, stagger};
use super::dispatcher::Dispatcher;
use super::due::{self, Due, OrderKind, PassedBy, Policy, Reason, Scene};
use super::fire_lock;
use super::foresee;
use super::job::{Job, RawJob};
use super::job_id;
use super::job_list::JobList;
use super::jobs_file::Change;
use super::known_probe::Known;
use super::output::Document;
use super::stamp::Stamp;
use super::unrun::{self, Gone, LATE_AS_WELL, Records, STOOD_FOR, UNDER_STOP, skipped};
use crate::error::Result;
use crate::fault;
use crate::home::Home;
use crate::host::locks::{Holder, LockTable};
use crate::ledger::{Outcome, Slot, SlotAt};

/// Jobs that run, or wait for their start, at this moment, each with why it is not started again.
pub(super) type InFlight = HashMap<String, String>;

/// What a scan needs.
pub(super) struct Scan {
    pub(super) dispatcher: Arc<Dispatcher>,
    pub(super) in_flight: InFlight,
    pub(super) now: Timestamp,
    /// The pass before this one, where it was a moment ago.
    pub(super) last_pass: Option<Timestamp>,
    /// From when to when an emergency stop kept passes from looking.
    pub(super) stopped: Option<(Timestamp, Timestamp)>,
    /// Jobs that wait for room: overdue ones do not join them.
    pub(super) waiting: usize,
}

/// A job to start.
#[derive(Clone, Debug)]
pub(super) struct DueJob {
    pub(super) job_id: String,
    pub(super) job: RawJob,
    pub(super) slot: Option<SlotAt>,
    pub(super) manual: bool,
    pub(super) stagger: Duration,
}

/// What a scan found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Jobs to start, in order.
    pub(super) orders: Vec<DueJob>,
    /// When the next scan can find something, unless the store changes.
    pub(super) wakes_at: Option<Timestamp>,
    /// Jobs that catch up.
    pub(super) catch_ups: usize,
    /// Overdue jobs that are left to later passes.
    pub(super) held: usize,
}

impl Scan {
    pub(super) async fn run(self) -> Result<Found> {
        let known = Known::of(&self.dispatcher, self.now).await?;
        let (dispatcher, now, in_flight) = (Arc::clone(&self.dispatcher), self.now, self.in_flight);
        let running = in_flight.keys().cloned().collect();
        let zones = dispatcher.zones().zones;
        let settings = &dispatcher.parts.settings;
        let mut policy = Policy::of(settings);
        let most = policy.max_catch_ups;
        policy.max_catch_ups = most.map(|most| most.saturating_sub(self.waiting));
        let (last_pass, stopped) = (self.last_pass, self.stopped);
        let machine = dispatcher.parts.machine.clone();
        let ledger = dispatcher.ledger_door();
        let (found, gone) = dispatcher
            .with_jobs(move |jobs| {
                let scene = Scene {
                    now,
                    last_pass,
                    zones: &zones,
                    policy,
                    machine: &machine,
                    running: &running,
                    witness: &known,
                };
                let mut new_id = || {
                    Uuid::new_v4()
                        .simple()
                        .to_string()
                        .chars()
                        .take(12)
                        .collect()
                };
                let (change, records) = scan(jobs, (&scene, &in_flight, stopped), &mut new_id);
                // Before the store moves on: a slot that nobody runs must not vanish between the two.
                if !records.is_empty() {
                    ledger
                        .with(|ledger| ledger.record_unrun(&records.slots, &records.ranges, now))?;
                }
                fault::point("scan.recorded");
                Ok(change)
            })
            .await?;
        fault::point("scan.saved");
        for gone in gone {
            tell_of(&dispatcher, gone, now).await;
        }
        Ok(found)
    }
}

/// What was found, and one-shots that are gone.
type Carried = (Found, Vec<Gone>);

/// What carrying out a scan brings to light.
#[derive(Default)]
struct Carry {
    records: Records,
    gone: Vec<Gone>,
    /// Orders that are not carried out: their jobs run, or wait for their start, or are not found.
    busy: HashSet<usize>,
    /// Jobs that no id leads to, and why.
    lost: HashMap<usize, String>,
    removed: HashSet<usize>,
    /// From when to when an emergency stop was in force.
    stopped: Option<(Timestamp, Timestamp)>,
}

/// Scans the jobs that are awake; the others are only looked at.
fn scan(
    jobs: &mut JobList<'_>,
    (scene, in_flight, stopped): (&Scene<'_>, &InFlight, Option<(Timestamp, Timestamp)>),
    new_id: &mut dyn FnMut() -> String,
) -> (Change<Carried>, Records) {
    let (mut awake, mut wakes_at) = (Vec::new(), None);
    let mut ids = HashSet::new();
    let mut again = HashSet::new();
    jobs.look(|index, job| {
        if job.id().is_some_and(|id| !ids.insert(hashed(id))) {
            again.insert(index);
        }
        if due::is_idle(job, scene) {
            wakes_at = earlier(wakes_at, due::wakes_at(job, scene));
        } else {
            awake.push(index);
        }
    });
    for index in &awake {
        jobs.get_mut(*index);
    }
    let raw = awake
        .iter()
        .filter_map(|index| Some((*index, jobs.got(*index)?)));
    let due = due::due(raw, scene, new_id);
    let lost = due.orders.iter().filter_map(|order| {
        let why = why_lost(jobs, order, again.contains(&order.index))?;
        Some((order.index, why))
    });
    let carry = Carry {
        lost: lost.collect(),
        stopped,
        ..Carry::default()
    };
    carry_out(jobs, due, (scene, in_flight), (carry, &awake, wakes_at))
}

fn hashed(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

/// Why a job cannot be found by its id, and so cannot be run.
fn why_lost(jobs: &JobList<'_>, order: &due::Order, seems_second: bool) -> Option<String> {
    let view = Job::read(jobs.got(order.index)?);
    // A job without an id gets one with this scan; one that leads elsewhere is refused when it is run.
    if view.id.is_true() && view.id().is_none() {
        return job_id::objection(&view);
    }
    let mut is_second = false;
    if seems_second {
        jobs.look(|index, job| {
            is_second |= index < order.index && job.id() == Some(order.job_id.as_str());
        });
    }
    is_second.then(|| "a job before it in the store has the same id".to_owned())
}

fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    one.into_iter().chain(other).min()
}

/// Applies what the scan says to the jobs, and takes the orders out of it.
fn carry_out(
    jobs: &mut JobList<'_>,
    due: Due,
    (scene, in_flight): (&Scene<'_>, &InFlight),
    (mut carry, awake, mut wakes_at): (Carry, &[usize], Option<Timestamp>),
) -> (Change<Carried>, Records) {
    for passed_by in &due.passed_by {
        carry.pass_by(jobs, passed_by, scene);
    }
    let (kept, busy): (Vec<_>, Vec<_>) = due
        .orders
        .into_iter()
        .partition(|order| carry.keeps(jobs, order, (scene, in_flight)));
    let changed = !due.changes.is_empty();
    // A repair drops what it cannot read, which a person may.
    let mended = |change: &due::Change| change.reasons.contains(&Reason::Repaired);
    let mended = due.changes.iter().any(mended);
    for change in due.changes {
        carry.apply(jobs, change, scene);
    }
    for order in kept.iter().chain(&busy) {
        if let Some(job) = jobs.get_mut(order.index) {
            advance(job, order, scene);
        }
    }
    for order in &kept {
        if let Some(job) = jobs.get_mut(order.index) {
            keep_slot(job, order, scene);
        }
    }
    // The job as it is after the scan is what runs.
    let orders = kept
        .into_iter()
        .filter_map(|order| Some(due_job(jobs.got(order.index)?, order)));
    let orders = orders.collect();
    for index in awake.iter().filter(|index| !carry.removed.contains(index)) {
        let job = jobs.got(*index).map(Job::read);
        wakes_at = earlier(wakes_at, job.and_then(|job| due::wakes_at(&job, scene)));
    }
    jobs.remove_at(|index| carry.removed.contains(&index));
    let found = Found {
        orders,
        wakes_at,
        catch_ups: due.catch_ups,
        held: due.held.len(),
    };
    let carried = (found, carry.gone);
    let change = match (changed, mended || !carry.removed.is_empty()) {
        (false, _) => Change::Nothing(carried),
        (true, false) => Change::Write(carried),
        (true, true) => Change::WriteAfterBackup(carried),
    };
    (change, carry.records)
}

/// Takes the slot off the schedule: another scheduler that scans before the run has ended must not find
/// it. Until a worker has it, `pending_slot` keeps it.
fn advance(job: &mut RawJob, order: &due::Order, scene: &Scene<'_>) {
    if let Some(next) = foresee::advanced(job, order, scene) {
        job.insert("next_run_at".into(), next.into());
    }
}

/// A slot that was brought forward is the one that is kept, not the later one that it stands for.
fn keep_slot(job: &mut RawJob, order: &due::Order, scene: &Scene<'_>) {
    let view = Job::read(job);
    let kept = view.pending_slot();
    let kept = kept.and_then(|kept| scene.zones.instant(kept.scheduled_at));
    let slot = order.slot.map(|slot| slot.at);
    if let Some(slot) = slot.filter(|slot| kept.is_some_and(|kept| kept != *slot))
        && let Some(Value::Object(pending)) = job.get_mut("pending_slot")
    {
        let slot = Stamp::of(slot, &scene.zones.configured).to_string();
        pending.insert("scheduled_at".into(), slot.into());
    }
}

fn due_job(job: &RawJob, order: due::Order) -> DueJob {
    let manual = order.kind == OrderKind::Manual;
    DueJob {
        job_id: order.job_id,
        job: job.clone(),
        slot: order.slot,
        manual,
        stagger: if manual { Duration::ZERO } else { stagger(job) },
    }
}

impl Carry {
    /// Whether an order is carried out: not while the job runs, or waits for its start, and not where
    /// its id leads to another job or to none.
    fn keeps(
        &mut self,
        jobs: &JobList<'_>,
        order: &due::Order,
        (scene, in_flight): (&Scene<'_>, &InFlight),
    ) -> bool {
        let Some(job) = jobs.got(order.index) else {
            return false;
        };
        let passed = order
            .slot
            .map(|slot| passed_over(job, slot.at, scene.now, &scene.zones.configured));
        let passed = passed.unwrap_or_default();
        let lost = self.lost.get(&order.index).cloned();
        let lost = lost.map(|why| (Outcome::Refused, why));
        let busy = || Some((Outcome::Skipped, in_flight.get(&order.job_id)?.clone()));
        let Some((outcome, why)) = lost.or_else(busy) else {
            if matches!(order.kind, OrderKind::Scheduled(_)) {
                let missed = (Outcome::Missed, STOOD_FOR);
                let (under_stop, others) = passed.parted(self.stopped);
                let stopped = (Outcome::Skipped, UNDER_STOP);
                self.records.add(&order.job_id, &under_stop, stopped);
                self.records.add(&order.job_id, &others, missed);
            }
            return true;
        };
        self.busy.insert(order.index);
        self.records.slots.extend(order.slot.map(|slot| Slot {
            outcome,
            ..skipped(&order.job_id, slot.at, &why)
        }));
        self.records.add(&order.job_id, &passed, (outcome, &why));
        false
    }

    /// A slot that comes too late, and those after it.
    fn pass_by(&mut self, jobs: &JobList<'_>, late: &PassedBy, scene: &Scene<'_>) {
        let Some(job) = jobs.got(late.index) else {
            return;
        };
        let slots = &mut self.records.slots;
        slots.push(skipped(&late.job_id, late.slot, &late.reason));
        let passed = passed_over(job, late.slot, scene.now, &scene.zones.configured);
        let missed = (Outcome::Missed, LATE_AS_WELL);
        self.records.add(&late.job_id, &passed, missed);
    }

    fn apply(&mut self, jobs: &mut JobList<'_>, change: due::Change, scene: &Scene<'_>) {
        let Some(job) = jobs.get_mut(change.index) else {
            return;
        };
        if let Some(moved) = unrun::moved(job, &change, scene) {
            self.records.slots.push(moved);
        }
        if change.reasons.contains(&Reason::AlreadyRun) {
            self.records.jumped(job, &change.job_id, scene);
        }
        if change.removed {
            let why = change
                .reasons
                .iter()
                .find(|reason| reason.leaves_diagnostic());
            let gone = why.map(|why| Gone::of(job, &change.job_id, *why, scene));
            self.records
                .slots
                .extend(gone.iter().filter_map(Gone::slot));
            self.gone.extend(gone);
            self.removed.insert(change.index);
            return;
        }
        let busy = self.busy.contains(&change.index);
        let handed_out = |key: &str| busy && matches!(key, "pending_slot" | "last_dispatch");
        job.extend(change.set.into_iter().filter(|(key, _)| !handed_out(key)));
        for key in &change.unset {
            job.remove(key);
        }
    }
}

/// Longest wait for the lock of a job whose end is to be told: other jobs wait for this scan.
const FOR_A_DOCUMENT: Duration = Duration::from_secs(2);

/// Says that a one-shot is gone, in whatever way somebody may look for it. The scan goes on if it cannot.
async fn tell_of(dispatcher: &Dispatcher, gone: Gone, now: Timestamp) {
    let zone = dispatcher.zone();
    (dispatcher.parts.say)(&gone.sentence(&zone));
    let document = Document {
        job_id: &gone.job_id,
        name: &gone.name,
        execution_id: "none",
        mode: "none",
        outcome: gone.why.as_str(),
        seconds: 0,
        monitor_digest: None,
        body: &gone.body(&zone),
    };
    let home = &dispatcher.parts.home;
    let lock = fire_lock::take_within(&home.cron(), &gone.job_id, FOR_A_DOCUMENT).await;
    let saved = lock.and_then(|_lock| document.save(home, 0, now, &zone));
    if let Err(error) = &saved {
        let why = error.in_full();
        (dispatcher.parts.say)(&format!(
            "The document that tells of it was not kept: {why}."
        ));
    }
    let path = saved.ok().map(|path| path.to_string_lossy().into_owned());
    let told = dispatcher
        .with_ledger(move |ledger| {
            ledger.record_failure(&gone.job_id, &gone.error(), path.as_deref(), now)
        })
        .await;
    if let Err(error) = told {
        (dispatcher.parts.say)(&format!("The ledger could not be told of it: {error}."));
    }
}

/// A live gateway of the other program keeps all cron ticks of its home: it holds `gateway.lock` for
/// its life. The lock is looked at, never tried.
pub(super) fn other_scheduler(home: &Home) -> Option<String> {
    let path = home.join("gateway.lock");
    if !path.exists() {
        return None;
    }
    let holder = LockTable::new().holder(&path);
    match &holder {
        Holder::Held { pid, .. } if *pid != std::process::id() => Some(format!(
            "a gateway of Hermes Agent (pid {pid}) schedules this home"
        )),
        Holder::HeldByEndedTaker { .. } | Holder::HeldOutside => {
            Some("a gateway of Hermes Agent schedules this home".to_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
