//! What a pass by hand over a home would do at an instant: the judgements of the pass itself, asked of
//! copies. Reads only.

use std::borrow::Cow;
use std::collections::HashSet;

use jiff::Timestamp;

use super::claim::{self, Claimant};
use super::dispatcher::settings::machine;
use super::dispatcher::{Order, Terms, holder_is_gone, tell};
use super::due::{self, Due, OrderKind, Policy, Reason, Scene};
use super::fate::Fate;
use super::foresee::foresee;
use super::job::{Job, RawJob};
use super::job_id;
use super::lateness;
use super::next::Zones;
use super::owner_probe::Beholder;
use super::schedule::Schedule;
use super::witness_store::{StoreWitness, Swept};
use crate::config::settings::Cron;
use crate::error::Result;
use crate::home::Home;
use crate::host::identity_probe::own_identity;
use crate::ledger::{Execution, SlotAt, Untold};

/// What a pass would do.
#[derive(Debug)]
pub struct Foretold {
    /// Jobs that it meets, in order.
    pub orders: Vec<Met>,
    /// What its scan makes of the others, and what it changes.
    pub found: Due,
    /// Runs that it closes first.
    pub closes: Vec<Closed>,
}

/// A run that a pass closes.
#[derive(Debug)]
pub struct Closed {
    /// Its row.
    pub execution_id: String,
    /// Its job.
    pub job_id: String,
    /// Why, as a fragment.
    pub why: String,
}

/// A job that a pass meets.
#[derive(Debug)]
pub struct Met {
    /// The job.
    pub job_id: String,
    /// The slot; `None` for a run that somebody asked for.
    pub slot: Option<SlotAt>,
    /// Why now.
    pub kind: OrderKind,
    /// The slot was taken before, and nobody ran it.
    pub is_left: bool,
    /// What becomes of it instead of a run.
    pub instead: Option<Fate>,
}

/// Where and when somebody passes.
#[derive(Clone, Copy)]
pub struct Passing<'a> {
    /// The home.
    pub home: &'a Home,
    /// What the operator chose.
    pub settings: &'a Cron,
    /// The zones that he goes by.
    pub zones: &'a Zones,
    /// The instant.
    pub now: Timestamp,
}

/// Whoever would pass, and what he knows.
struct Passer<'a> {
    passing: Passing<'a>,
    machine: String,
    witness: StoreWitness,
    swept: Swept,
}

/// What a pass over these jobs would do, where `refusal` says why one of them must not be run.
///
/// # Errors
/// When the ledger is there and cannot be read.
pub fn foretell(jobs: &[RawJob], passing: Passing<'_>, refusal: Refusal<'_>) -> Result<Foretold> {
    let own = own_identity();
    let machine = machine(passing.settings.machine_id.as_deref(), own.pid);
    let mut witness = StoreWitness::read(passing.home, &machine, passing.now)?;
    let terms = Terms {
        now: passing.now,
        zone: passing.zones.configured.clone(),
        catches_up: passing.settings.catch_up_missed,
    };
    let passed_by = |id: &str, slot: SlotAt| {
        let judged = terms.judge(found_by(jobs, id), slot.at);
        judged.err().map(|(_, why)| why)
    };
    let beholder = Beholder::of(&own, passing.settings, passing.now);
    let swept = witness.sweep(&beholder, &passed_by);
    let passer = Passer {
        passing,
        machine,
        witness,
        swept,
    };
    let jobs = passer.settled(jobs);
    Ok(passer.pass(&jobs, refusal))
}

impl Passer<'_> {
    fn pass(&self, jobs: &[RawJob], refusal: Refusal<'_>) -> Foretold {
        let left = self.left_behind(jobs);
        let running: HashSet<_> = left.iter().map(|(id, ..)| (*id).to_owned()).collect();
        let scene = Scene {
            now: self.passing.now,
            last_pass: None,
            zones: self.passing.zones,
            policy: Policy::of(self.passing.settings),
            machine: &self.machine,
            running: &running,
            witness: &self.witness,
        };
        let mut found = due::due(jobs.iter().enumerate(), &scene, &mut new_id);
        foresee(&mut found, jobs, &scene);
        let after_all = |(id, job, slot): &Left<'_>| Met {
            job_id: (*id).to_owned(),
            slot: Some(*slot),
            kind: OrderKind::Scheduled(self.lateness(job, slot.at)),
            is_left: true,
            instead: self.instead((id, job), (Some(*slot), false), refusal),
        };
        let mut orders: Vec<_> = left.iter().map(after_all).collect();
        let behind = job_id::behind(jobs);
        for order in &found.orders {
            let first = left.iter().find(|(id, ..)| *id == order.job_id);
            let Some(job) = jobs.get(order.index).filter(|_| !is_of(order, first)) else {
                continue;
            };
            let manual = order.kind == OrderKind::Manual;
            let instead = if behind.contains(&order.index) {
                Some(Fate::Refused(job_id::BEHIND.to_owned()))
            } else if first.is_some() {
                Some(Fate::Skipped(RUN_FIRST.to_owned()))
            } else {
                self.instead((&order.job_id, job), (order.slot, manual), refusal)
            };
            orders.push(Met {
                job_id: order.job_id.clone(),
                slot: order.slot,
                kind: order.kind,
                is_left: false,
                instead,
            });
        }
        for change in &mut found.changes {
            // As the scan does with what it does not hand out.
            if behind.contains(&change.index) || running.contains(&change.job_id) {
                change.set.remove("pending_slot");
                change.set.remove("last_dispatch");
                change.reasons.retain(|why| *why != Reason::Dispatched);
            }
        }
        Foretold {
            orders,
            found,
            closes: self.closes(),
        }
    }

    /// The jobs once they are told of the ends of their runs: of those that they were not told of, and of those
    /// that the pass closes.
    fn settled<'j>(&self, jobs: &'j [RawJob]) -> Cow<'j, [RawJob]> {
        let mut jobs = Cow::Borrowed(jobs);
        let closed = self.swept.closed.iter().map(|(row, slot)| {
            let end = Untold {
                error: Some(GONE.to_owned()),
                ..Untold::default()
            };
            (row.clone(), *slot, end)
        });
        for (row, slot, end) in self.witness.untold().into_iter().chain(closed) {
            let is_its = |job: &RawJob| Job::read(job).id() == Some(row.job_id.as_str());
            if let Some(at) = jobs.iter().position(is_its)
                && let Some(job) = jobs.to_mut().get_mut(at)
            {
                let zone = &self.passing.zones.configured;
                tell(job, (&row, slot), &end, (self.passing.now, zone));
            }
        }
        jobs
    }

    /// The slots that somebody took and left, each with its job.
    fn left_behind<'j>(&'j self, jobs: &'j [RawJob]) -> Vec<Left<'j>> {
        let mut left: Vec<Left<'_>> = Vec::new();
        for (run, slot) in &self.swept.unbegun {
            let is_first = left.iter().all(|(id, ..)| *id != run.job_id);
            let job = found_by(jobs, &run.job_id).filter(|_| is_first);
            left.extend(job.map(|job| (run.job_id.as_str(), job, *slot)));
        }
        left
    }

    /// The runs that are closed.
    fn closes(&self) -> Vec<Closed> {
        let close = |run: &Execution, why: &str| Closed {
            execution_id: run.id.clone(),
            job_id: run.job_id.clone(),
            why: why.to_owned(),
        };
        let over = self.swept.closed.iter();
        let over = over.map(|(run, _)| close(run, GONE));
        let passed_by = self.swept.passed_by.iter();
        over.chain(passed_by.map(|(run, why)| close(run, why)))
            .collect()
    }

    /// What becomes of a job that is met, instead of a run.
    fn instead(
        &self,
        (id, job): (&str, &RawJob),
        (slot, manual): (Option<SlotAt>, bool),
        refusal: Refusal<'_>,
    ) -> Option<Fate> {
        let order = Order {
            job: job.clone(),
            slot,
            manual,
            source: "builtin",
        };
        if let Some(run) = self.swept.goes_on.iter().find(|run| run.job_id == id) {
            return Some(order.met_by(run));
        }
        let view = Job::read(job);
        let claimant = Claimant {
            by: "",
            // Of what is in hand nobody knows but he who has it.
            holder_is_gone: holder_is_gone(&view, &self.machine, |_| false),
            manual,
        };
        let zone = &self.passing.zones.configured;
        if let Some(obstacle) = claim::obstacle(&view, claimant, self.passing.now, zone) {
            return Some(order.stopped_by(&obstacle));
        }
        let refused = refusal(job).map(Fate::Refused);
        refused.or_else(|| {
            let taken = self.witness.taken(id, slot?)?;
            (!self.is_inherited(id, slot)).then_some(taken)
        })
    }

    /// Whether a slot is one that the pass takes over.
    fn is_inherited(&self, id: &str, slot: Option<SlotAt>) -> bool {
        let at = slot.map(|slot| slot.at);
        let mut left = self.swept.unbegun.iter();
        left.any(|(run, slot)| run.job_id == id && Some(slot.at) == at)
    }

    fn lateness(&self, job: &RawJob, slot: Timestamp) -> lateness::Lateness {
        let schedule = job.get("schedule").map(Schedule::from_json);
        let zone = &self.passing.zones.configured;
        let now = self.passing.now;
        let grace = match &schedule {
            Some(Ok(schedule)) => lateness::grace(schedule, now, zone),
            _ => lateness::MIN_GRACE_SECONDS,
        };
        due::classify(slot, now, grace).0
    }
}

/// A job with a slot of it that somebody took and left.
type Left<'j> = (&'j str, &'j RawJob, SlotAt);

/// Whether an order is of the slot that was left, and so told already.
fn is_of(order: &due::Order, left: Option<&Left<'_>>) -> bool {
    let slot = order.slot.map(|slot| slot.at);
    left.is_some_and(|(.., left)| Some(left.at) == slot)
}

/// Says why a job must not be run, if that is so.
pub type Refusal<'a> = &'a dyn Fn(&RawJob) -> Option<String>;

/// The job that an id leads to.
fn found_by<'j>(jobs: &'j [RawJob], id: &str) -> Option<&'j RawJob> {
    jobs.iter().find(|job| Job::read(job).id() == Some(id))
}

/// Why a run is closed that nobody has any more.
const GONE: &str = "whoever had it is gone";
/// Why a slot is not run that comes with one which was left behind.
const RUN_FIRST: &str = "an earlier slot of it, which was taken and never run, is run now";

/// An id as it would be drawn for a record without one; the real scan draws another.
fn new_id() -> String {
    let id = uuid::Uuid::new_v4().simple().to_string();
    id.chars().take(12).collect()
}
