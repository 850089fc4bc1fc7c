//! One scan of the store: reads it under its lock, asks `due`, saves all changes at once, and records
//! what became of slots that do not run.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use uuid::Uuid;

use super::catch_up::{CatchUp, passed_over, stagger};
use super::dispatcher::Dispatcher;
use super::due::{self, Due, OrderKind, Policy, Reason, Scene, Witness};
use super::job::{Job, RawJob};
use super::job_list::JobList;
use super::jobs_file::Change;
use super::lateness::Lateness;
use super::next::next_in_cadence;
use super::output::Document;
use super::schedule::Schedule;
use super::stamp::Stamp;
use crate::child::spawn::Watch;
use crate::error::Result;
use crate::fault;
use crate::home::Home;
use crate::host::locks::{Holder, LockTable};
use crate::ledger::store::utc;
use crate::ledger::{Outcome, Slot, Status, rows};

/// Ended rows that are looked at for slots that have run already: all that are kept.
const KEPT: u32 = crate::ledger::store::KEPT;

/// What a scan needs.
pub(super) struct Scan {
    pub(super) dispatcher: Arc<Dispatcher>,
    pub(super) running: HashSet<String>,
    pub(super) now: Timestamp,
}

/// A job to start.
#[derive(Clone, Debug)]
pub(super) struct DueJob {
    pub(super) job_id: String,
    pub(super) job: RawJob,
    pub(super) slot: Option<Timestamp>,
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
}

/// What the ledger and the process table know, gathered before the scan.
struct Known {
    completed: HashMap<(String, i64), Timestamp>,
    host: String,
}

impl Witness for Known {
    fn completed(&self, job_id: &str, slot: Timestamp) -> Option<Timestamp> {
        self.completed
            .get(&(job_id.to_owned(), slot.as_microsecond()))
            .copied()
    }

    fn is_dead(&self, owner: &str) -> bool {
        let holder = owner.rsplit_once(':').filter(|(_, last)| last.len() == 32);
        let holder = holder.map_or(owner, |(holder, _)| holder);
        let Some((host, pid)) = holder.rsplit_once(':') else {
            return false;
        };
        let pid = pid.parse::<u32>().ok();
        host == self.host && pid.is_some_and(|pid| matches!(Watch::of(pid), Ok(None)))
    }
}

impl Scan {
    pub(super) async fn run(self) -> Result<Found> {
        let known = self.known().await?;
        let (dispatcher, now, running) = (Arc::clone(&self.dispatcher), self.now, self.running);
        let zones = dispatcher.zones().zones;
        let policy = Policy {
            catch_up_missed: dispatcher.parts.settings.catch_up_missed,
            run_claim_seconds: run_claim_seconds(&dispatcher),
        };
        let machine = dispatcher.parts.machine.clone();
        let ledger = dispatcher.ledger_door();
        let (found, gone) = dispatcher
            .with_jobs(move |jobs| {
                let scene = Scene {
                    now,
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
                let (change, slots) = scan(jobs, &scene, &mut new_id);
                // Before the store moves on: a slot that nobody runs must not vanish between the two.
                if !slots.is_empty() {
                    ledger.with(|ledger| ledger.record_slots(&slots, now))?;
                }
                fault::point("scan.recorded");
                Ok(change)
            })
            .await?;
        fault::point("scan.saved");
        tell_of(&dispatcher, gone, now);
        Ok(found)
    }

    async fn known(&self) -> Result<Known> {
        let path = self.dispatcher.parts.home.ledger();
        let completed = if path.exists() {
            let rows = self
                .dispatcher
                .with_ledger(|ledger| ledger.read(|c| rows::executions(c, KEPT)))
                .await?;
            let ended = rows
                .unwrap_or_default()
                .into_iter()
                .filter(|row| row.status == Status::Completed);
            ended
                .filter_map(|row| {
                    let slot = row.scheduled_instant?.at?.as_microsecond();
                    Some(((row.job_id, slot), row.finished_at?.at?))
                })
                .collect()
        } else {
            HashMap::new()
        };
        let machine = &self.dispatcher.parts.machine;
        let host = machine
            .rsplit_once(':')
            .map_or(machine.as_str(), |(host, _)| host)
            .to_owned();
        Ok(Known { completed, host })
    }
}

fn run_claim_seconds(dispatcher: &Dispatcher) -> i64 {
    let timeout = dispatcher.parts.settings.inactivity_timeout;
    let tripled = timeout.map_or(0, |limit| {
        i64::try_from(limit.as_secs())
            .unwrap_or(0)
            .saturating_mul(3)
    });
    tripled.max(1800)
}

/// What was found, and one-shots that are gone.
type Carried = (Found, Vec<Gone>);

/// A one-shot whose record is removed and of which a document must tell.
struct Gone {
    job_id: String,
    name: String,
    why: &'static str,
}

/// What carrying out a scan brings to light.
#[derive(Default)]
struct Carry {
    slots: Vec<Slot>,
    gone: Vec<Gone>,
    /// Orders that the job's own policy withholds.
    withheld: HashSet<usize>,
    removed: HashSet<usize>,
}

/// Scans the jobs that are awake; the others are only looked at.
fn scan(
    jobs: &mut JobList<'_>,
    scene: &Scene<'_>,
    new_id: &mut dyn FnMut() -> String,
) -> (Change<Carried>, Vec<Slot>) {
    let (mut awake, mut wakes_at) = (Vec::new(), None);
    jobs.look(|index, job| {
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
    carry_out(jobs, due, scene, (&awake, wakes_at))
}

fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    one.into_iter().chain(other).min()
}

/// Applies what the scan says to the jobs, and takes the orders out of it.
fn carry_out(
    jobs: &mut JobList<'_>,
    due: Due,
    scene: &Scene<'_>,
    (awake, mut wakes_at): (&[usize], Option<Timestamp>),
) -> (Change<Carried>, Vec<Slot>) {
    let mut carry = Carry::default();
    let kept: Vec<_> = due
        .orders
        .into_iter()
        .filter(|order| carry.keeps(jobs, order, scene))
        .collect();
    let changed = !due.changes.is_empty();
    for change in due.changes {
        carry.apply(jobs, change, scene);
    }
    for order in &kept {
        if let Some(job) = jobs.get_mut(order.index) {
            advance(job, order, scene);
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
    };
    let carried = (found, carry.gone);
    let change = match (changed, carry.removed.is_empty()) {
        (false, _) => Change::Nothing(carried),
        (true, true) => Change::Write(carried),
        (true, false) => Change::WriteAfterBackup(carried),
    };
    (change, carry.slots)
}

/// Takes the slot off the schedule: another scheduler that scans before the run has ended must not find
/// it. Until a worker has it, `pending_slot` keeps it. An interval keeps its cadence, also where it
/// catches up.
fn advance(job: &mut RawJob, order: &due::Order, scene: &Scene<'_>) {
    let stored = job.get("next_run_at").and_then(Value::as_str);
    let stored = stored.and_then(|text| scene.zones.instant(text));
    let Some(slot) = order
        .slot
        .or(stored)
        .filter(|_| job.contains_key("pending_slot"))
    else {
        return;
    };
    let schedule = job.get("schedule").map(Schedule::from_json);
    let zone = &scene.zones.configured;
    if let Some(Ok(schedule)) = schedule
        && let Some(next) = next_in_cadence(&schedule, slot, scene.now, zone)
    {
        job.insert("next_run_at".into(), next.stamp.to_string().into());
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
    /// Whether an order is carried out: the job's own policy may withhold a late one.
    fn keeps(&mut self, jobs: &JobList<'_>, order: &due::Order, scene: &Scene<'_>) -> bool {
        let (Some(job), Some(slot)) = (jobs.got(order.index), order.slot) else {
            return jobs.got(order.index).is_some();
        };
        let OrderKind::Scheduled(lateness) = order.kind else {
            return true;
        };
        let passed = passed_over(job, slot, scene.now, &scene.zones.configured);
        self.slots.extend(missed(&order.job_id, &passed));
        if lateness != Lateness::CatchUp {
            return true;
        }
        let objection = CatchUp::of(job).objection(scene.now.duration_since(slot));
        if let Some(reason) = &objection {
            self.withheld.insert(order.index);
            self.slots.push(skipped(&order.job_id, slot, reason));
        }
        objection.is_none()
    }

    fn apply(&mut self, jobs: &mut JobList<'_>, change: due::Change, scene: &Scene<'_>) {
        let Some(job) = jobs.get_mut(change.index) else {
            return;
        };
        if change.reasons.contains(&Reason::Skipped) {
            self.skip(job, &change.job_id, scene);
        }
        if change.removed {
            let name = job
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned();
            let why = change
                .reasons
                .iter()
                .find(|reason| reason.leaves_diagnostic());
            let gone = |why: &Reason| Gone {
                job_id: change.job_id.clone(),
                name,
                why: why.as_str(),
            };
            self.gone.extend(why.map(gone));
            self.removed.insert(change.index);
            return;
        }
        job.extend(change.set);
        for key in &change.unset {
            job.remove(key);
        }
        if self.withheld.contains(&change.index) {
            job.remove("pending_slot");
        }
    }

    /// The operator's switch says that missed slots are not caught up.
    fn skip(&mut self, job: &RawJob, job_id: &str, scene: &Scene<'_>) {
        let stood = job
            .get("next_run_at")
            .and_then(Value::as_str)
            .and_then(Stamp::parse);
        let Some(stood) = stood.and_then(|stamp| stamp.instant(&scene.zones.system)) else {
            return;
        };
        let reason = "missed, skipped: missed slots are not caught up";
        self.slots.push(skipped(job_id, stood, reason));
        let passed = passed_over(job, stood, scene.now, &scene.zones.configured);
        self.slots.extend(missed(job_id, &passed));
    }
}

fn skipped(job_id: &str, slot: Timestamp, reason: &str) -> Slot {
    Slot {
        job_id: job_id.to_owned(),
        scheduled_at: utc(slot),
        outcome: Outcome::Skipped,
        reason: Some(reason.to_owned()),
        execution_id: None,
    }
}

fn missed(job_id: &str, slots: &[Timestamp]) -> Vec<Slot> {
    let reason = "nobody was there to run it; one late run stands for all that were missed";
    let missed = |slot: &Timestamp| Slot {
        outcome: Outcome::Missed,
        ..skipped(job_id, *slot, reason)
    };
    slots.iter().map(missed).collect()
}

fn tell_of(dispatcher: &Dispatcher, gone: Vec<Gone>, now: Timestamp) {
    for Gone { job_id, name, why } in gone {
        let body = "The job was a one-shot; its record is removed from the store.";
        let document = Document {
            job_id: &job_id,
            name: &name,
            execution_id: "none",
            mode: "none",
            outcome: why,
            seconds: 0,
            body,
        };
        let zone = dispatcher.zone();
        let _the_scan_goes_on = document.save(&dispatcher.parts.home, 0, now, &zone);
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
