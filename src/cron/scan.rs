//! One scan of the store: what is due goes into its records and out as orders, with what is to be
//! recorded of slots that do not run. Pure.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::agenda::{Agenda, Earlier, Look};
use super::catch_up::{passed_over, stagger};
use super::due::{self, Due, OrderKind, PassedBy, Reason, Scene};
use super::fate::Fate;
use super::foresee;
use super::job::{Job, RawJob};
use super::job_id;
use super::job_list::JobList;
use super::jobs_file::Change;
use super::stamp::Stamp;
use super::unrun::{self, Gone, LATE_AS_WELL, Records, STOOD_FOR, UNDER_STOP, skipped};
use crate::ledger::{Outcome, Slot, SlotAt};

/// Jobs that run, or wait for their start, at this moment, each with why it is not started again.
pub(super) type InFlight = HashMap<String, String>;

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
    /// Jobs that catch up.
    pub(super) catch_ups: usize,
    /// Overdue jobs that are left to later passes.
    pub(super) held: usize,
    /// What became of slots, and of runs that somebody asked for, that are not carried out.
    pub(super) left_out: Vec<LeftOut>,
    /// Jobs that were read.
    pub(super) judged: u64,
    /// What the next look may go by; none after a look that is the only one.
    pub(super) agenda: Option<Agenda>,
}

/// A slot, or a run that somebody asked for, that is not carried out.
#[derive(Debug)]
pub(super) struct LeftOut {
    pub(super) job_id: String,
    pub(super) slot: Option<Timestamp>,
    pub(super) fate: Fate,
}

/// What was found, and one-shots that are gone.
pub(super) type Carried = (Found, Vec<Gone>);

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
    left_out: Vec<LeftOut>,
    /// From when to when an emergency stop was in force.
    stopped: Option<(Timestamp, Timestamp)>,
}

/// Scans the jobs that are awake; the others are only looked at, and those that are known not even that.
pub(super) fn scan(
    jobs: &mut JobList<'_>,
    (scene, in_flight, stopped): (&Scene<'_>, &InFlight, Option<(Timestamp, Timestamp)>),
    earlier: Earlier,
    new_id: &mut dyn FnMut() -> String,
) -> (Change<Carried>, Records) {
    let look = Look::at(jobs, scene, earlier);
    for index in &look.awake {
        jobs.get_mut(*index);
    }
    let awake = look.awake.iter();
    let raw = awake.filter_map(|index| Some((*index, jobs.got(*index)?)));
    let due = due::due(raw, scene, new_id);
    let again = if due.orders.is_empty() {
        HashSet::new()
    } else {
        look.seconds()
    };
    let lost = due.orders.iter().filter_map(|order| {
        let why = why_lost(jobs, order, again.contains(&order.index))?;
        Some((order.index, why))
    });
    let carry = Carry {
        lost: lost.collect(),
        stopped,
        ..Carry::default()
    };
    carry_out(jobs, due, (scene, in_flight), (carry, look))
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
    is_second.then(|| job_id::BEHIND.to_owned())
}

/// Applies what the scan says to the jobs, and takes the orders out of it.
fn carry_out(
    jobs: &mut JobList<'_>,
    due: Due,
    (scene, in_flight): (&Scene<'_>, &InFlight),
    (mut carry, look): (Carry, Look),
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
    let found = Found {
        orders,
        catch_ups: due.catch_ups,
        held: due.held.len(),
        left_out: carry.left_out,
        judged: look.judged,
        agenda: look.settle(jobs, &carry.removed, (changed, scene)),
    };
    jobs.remove_at(|index| carry.removed.contains(&index));
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
        self.left_out.push(LeftOut {
            job_id: order.job_id.clone(),
            slot: order.slot.map(|slot| slot.at),
            fate: match outcome {
                Outcome::Refused => Fate::Refused(why.clone()),
                _ => Fate::Skipped(why.clone()),
            },
        });
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
        self.left_out.push(LeftOut {
            job_id: late.job_id.clone(),
            slot: Some(late.slot),
            fate: Fate::Skipped(late.reason.clone()),
        });
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

#[cfg(test)]
mod tests;
