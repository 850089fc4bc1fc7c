//! The dispatcher: from an order to the end of its execution. One order never waits for, or fails with,
//! another; every way out of here leaves a record.
//!
//! ```text
//! claim of the job ── task ── row of the ledger ── decision ── offer ── worker ── adoption ── end
//!    skipped          refused    slot taken         refused      launch failed        ok / failed /
//!                                                                                      cause
//! ```

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tokio::sync::{oneshot, watch};
use uuid::Uuid;

use self::in_hand::{Grip, InHand};
use self::jobs_door::JobsDoor;
pub(super) use self::last::Asked;
pub(super) use self::ledger_door::LedgerDoor;
pub(super) use self::told::tell;
pub(super) use self::unbegun::{Terms, Unbegun};
pub(super) use self::wait::Held;
use super::claim::{self, Claimant, Holder, Obstacle};
pub use super::fate::Fate;
use super::finish::Settles;
use super::job::{Job, RawJob};
use super::job_list::JobList;
use super::jobs_file::{Change, JobsFile};
use super::task::{self, Place, Task};
use super::zone::Zone;
use crate::agent;
use crate::child::spawn::Watch;
use crate::clock::Clock;
use crate::dispatch::verdict_probe::Verdicts;
use crate::error::{Error, Kind, Result};
use crate::fault;
use crate::home::Home;
use crate::host::identity_probe::OwnIdentity;
use crate::ledger::{Claim, Claimed, Ledger, Owner, SlotAt};

mod close;
mod in_hand;
mod jobs_door;
mod last;
mod launch;
mod ledger_door;
mod left_group;
mod log;
mod owner;
mod record;
mod saved;
pub mod settings;
mod told;
mod unbegun;
mod units;
mod wait;

/// What a dispatcher is made of.
pub struct Parts {
    /// The home.
    pub home: Home,
    /// The zone of schedules, as it was at the start.
    pub zone: Zone,
    /// The clocks.
    pub clock: Arc<dyn Clock>,
    /// What the operator asked for.
    pub settings: crate::config::settings::Cron,
    /// The agent, as configured.
    pub agent: agent::Settings,
    /// This process.
    pub identity: OwnIdentity,
    /// Name of this machine in claims.
    pub machine: String,
    /// Environment of what jobs run.
    pub environment: BTreeMap<String, String>,
    /// What dispatch turns on.
    pub verdicts: Arc<Verdicts>,
    /// Hidden variables of tests, for workers too.
    pub test_variables: Vec<(OsString, OsString)>,
    /// Gets each sentence that an operator should read.
    pub say: Box<dyn Fn(&str) + Send + Sync>,
}

/// A dispatcher of one home.
pub struct Dispatcher {
    pub(super) parts: Parts,
    pub(super) owner: Owner,
    /// When it was made.
    pub(super) began: Timestamp,
    zone: RwLock<Zone>,
    ledger: ledger_door::Shared,
    jobs: Arc<JobsDoor>,
    warned: AtomicBool,
    told_unplaced: AtomicBool,
    at_risk: Arc<AtomicUsize>,
    in_hand: InHand,
    unsettled: AtomicBool,
    stopping: watch::Sender<bool>,
}

/// One job that is to run.
#[derive(Clone, Debug)]
pub struct Order {
    /// The job, as it was when it was found due.
    pub job: RawJob,
    /// Its slot; none for a run by hand.
    pub slot: Option<SlotAt>,
    /// A person asked for it.
    pub manual: bool,
    /// `builtin` from the ticker, `direct` from a person.
    pub source: &'static str,
}

/// A claim and everything that hangs on it.
struct Hold {
    job: RawJob,
    job_id: String,
    by: String,
    task: Task,
    manual: bool,
    settles: Settles,
    _grip: Grip,
}

impl Dispatcher {
    /// A dispatcher of these parts.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let owner = Owner::from(&parts.identity);
        Self {
            began: parts.clock.now().wall,
            zone: RwLock::new(parts.zone.clone()),
            parts,
            owner,
            ledger: Arc::default(),
            jobs: Arc::default(),
            warned: AtomicBool::new(false),
            told_unplaced: AtomicBool::new(false),
            at_risk: Arc::default(),
            in_hand: InHand::default(),
            unsettled: AtomicBool::new(false),
            stopping: watch::channel(false).0,
        }
    }

    /// How many runs a stop of this process may take along: those that are not placed, or not yet.
    #[must_use]
    pub fn at_risk(&self) -> usize {
        self.at_risk.load(Ordering::Relaxed)
    }

    /// Whether a row was left open since this was last asked, for a sweep to see to.
    pub(super) fn take_unsettled(&self) -> bool {
        self.unsettled.swap(false, Ordering::Relaxed)
    }

    /// A row is left open, for the next sweep to see to.
    pub(super) fn leave_unsettled(&self) {
        self.unsettled.store(true, Ordering::Relaxed);
    }

    /// This process is being stopped: a worker in its cgroup that is asked to end is so by the same stop.
    pub fn begin_to_stop(&self) {
        self.stopping.send_replace(true);
    }

    /// The job store.
    #[must_use]
    pub fn jobs(&self) -> JobsFile {
        JobsFile::new(&self.parts.home, self.zone())
    }

    /// The zone of schedules and of what is written, as it is now.
    #[must_use]
    pub fn zone(&self) -> TimeZone {
        self.zones().zones.configured
    }

    /// The same, with the host's and who said so.
    #[must_use]
    pub fn zones(&self) -> Zone {
        let zone = self.zone.read().unwrap_or_else(PoisonError::into_inner);
        zone.clone()
    }

    /// Goes by another zone from now on. Runs that have begun end in the one that they began with.
    pub fn go_by(&self, zone: Zone) {
        *self.zone.write().unwrap_or_else(PoisonError::into_inner) = zone;
    }

    /// The wall clock.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.parts.clock.wall()
    }

    /// Does something with the ledger, away from the event loop: it may wait for a lock.
    ///
    /// # Errors
    /// When the ledger cannot be opened, or refuses.
    pub async fn with_ledger<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut Ledger) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let door = self.ledger_door();
        blocking(move || door.with(act)).await
    }

    /// The way to the ledger for somebody who is away from the event loop already.
    pub(super) fn ledger_door(&self) -> LedgerDoor {
        LedgerDoor {
            shared: Arc::clone(&self.ledger),
            path: self.parts.home.ledger(),
            zone: self.zone(),
        }
    }

    /// Changes the job store, away from the event loop, and together with what else waits for it here.
    ///
    /// # Errors
    /// As [`JobsFile::update`].
    pub async fn with_jobs<T: Send + 'static>(
        &self,
        change: impl FnMut(&mut JobList<'_>) -> Result<Change<T>> + Send + 'static,
    ) -> Result<T> {
        let (file, now, door) = (self.jobs(), self.now(), Arc::clone(&self.jobs));
        blocking(move || door.update(&file, now, change)).await
    }

    /// Runs an order to the end of its execution.
    pub async fn run(&self, order: Order) -> Fate {
        let id = Uuid::new_v4().simple().to_string();
        self.run_as(order, &id).await
    }

    /// The same, for somebody who wants to know the id of the execution before it begins: 32 hex digits
    /// that no other has.
    pub async fn run_as(&self, order: Order, execution_id: &str) -> Fate {
        let by = format!("{}:{}", self.parts.machine, Uuid::new_v4().simple());
        let fate = match self.attempt(&order, execution_id, &by).await {
            Ok(fate) => fate,
            Err(error) => Fate::NotLaunched {
                execution_id: None,
                error: in_words(&error),
                refused: false,
            },
        };
        self.in_hand.tell(execution_id, false);
        // Its record first: a kill between the two leaves a slot that comes back, not one that vanished.
        self.account_for(&order, &fate).await;
        self.let_go(&order, &fate, &by).await;
        fate
    }

    /// Resolves when a worker has adopted this execution, and fails when it ends without one. To be
    /// asked for before [`Dispatcher::run_as`].
    pub fn adopted(&self, execution_id: &str) -> oneshot::Receiver<()> {
        self.in_hand.adopted(execution_id)
    }

    async fn attempt(&self, order: &Order, execution_id: &str, by: &str) -> Result<Fate> {
        if let Some(fate) = self.runs_already(order).await? {
            return Ok(fate);
        }
        let claimed = match self.claim(order, by).await? {
            Ok(claimed) => claimed,
            Err(fate) => return Ok(fate),
        };
        fault::point("dispatcher.claimed");
        let (execution_id, _grip) = match self.open_row(order, &claimed, execution_id).await {
            Ok(Ok(row)) => row,
            Ok(Err(fate)) => return Ok(fate),
            Err(error) => {
                // Without a row the slot is still to be run, as soon as there can be one.
                self.put_back(&claimed).await;
                return Err(error);
            }
        };
        fault::point("dispatcher.row");
        match self.launch(&claimed, &execution_id).await {
            Ok(fate) => Ok(log::ended(&claimed.job_id, fate)),
            Err(error) => {
                let refused = error.kind() == Kind::Refused;
                let error = in_words(&error);
                self.launch_failed(&claimed, &execution_id, &error).await;
                if refused {
                    self.slot_refused(&execution_id, &error).await;
                }
                Ok(Fate::NotLaunched {
                    execution_id: Some(execution_id),
                    error,
                    refused,
                })
            }
        }
    }

    /// Takes the claim of the job, after a look at the job as it is now.
    async fn claim(&self, order: &Order, by: &str) -> Result<std::result::Result<Hold, Fate>> {
        let id = Job::read(&order.job).id().unwrap_or_default().to_owned();
        let (zone, manual) = (self.zone(), order.manual);
        let clock = Arc::clone(&self.parts.clock);
        let settles = Settles::of(order.slot);
        let (job_id, claimant) = (id.clone(), by.to_owned());
        let (machine, in_hand) = (self.parts.machine.clone(), self.in_hand.clone());
        let grip = in_hand.take(by);
        fault::point("dispatcher.claims");
        let taken = self
            .with_jobs(move |jobs| {
                let is_gone =
                    |job: &Job<'_>| holder_is_gone(job, &machine, |claim| in_hand.has(claim));
                let gone = jobs
                    .find(&job_id)
                    .is_some_and(|job| is_gone(&Job::read(job)));
                let claimant = Claimant {
                    by: &claimant,
                    holder_is_gone: gone,
                    manual,
                };
                // The lock may have been waited for: a claim that somebody took meanwhile is none of the future.
                match claim::take(jobs, &job_id, claimant, clock.wall(), &zone) {
                    Ok(()) => Ok(Change::Write(Ok(jobs.find(&job_id).cloned()))),
                    Err(obstacle) => Ok(Change::Nothing(Err(obstacle))),
                }
            })
            .await?;
        let job = match taken {
            Ok(Some(job)) => job,
            Ok(None) => return Ok(Err(Fate::Skipped(Obstacle::Gone.text()))),
            Err(obstacle) => return Ok(Err(order.stopped_by(&obstacle))),
        };
        let task = match self.task(&job) {
            Ok(task) => task,
            Err(error) => return Ok(Err(Fate::Refused(in_words(&error)))),
        };
        Ok(Ok(Hold {
            job,
            job_id: id,
            by: by.to_owned(),
            task,
            manual,
            settles,
            _grip: grip,
        }))
    }

    /// The run that a job means, and an agent for it where it needs one.
    fn task(&self, job: &RawJob) -> Result<Task> {
        let place = Place::of(self.parts.home.path(), &self.parts.settings);
        let task = task::plan(&Job::read(job), place)?;
        if task.work.needs_agent() {
            self.parts.agent.resolve()?;
        }
        Ok(task)
    }

    /// The new row, or the one that a dead dispatcher claimed for this slot and no worker adopted; a
    /// fate where the slot has any other.
    async fn open_row(
        &self,
        order: &Order,
        claimed: &Hold,
        fresh: &str,
    ) -> Result<std::result::Result<(String, Grip), Fate>> {
        let grip = self.in_hand.take(fresh);
        let (job_id, owner, now) = (claimed.job_id.clone(), self.owner.clone(), self.now());
        let (id, slot, source) = (fresh.to_owned(), order.slot, order.source);
        let taken = self
            .with_ledger(move |ledger| {
                let claim = Claim {
                    id: &id,
                    job_id: &job_id,
                    source,
                    slot,
                };
                ledger.claim(&claim, &owner, now)
            })
            .await?;
        let Claimed::SlotTaken {
            execution_id,
            status,
            owner,
        } = taken
        else {
            return Ok(Ok((fresh.to_owned(), grip)));
        };
        // A run that this process has in hand keeps its own grip.
        if status == "claimed" && !self.in_hand.has(&execution_id) {
            let grip = self.in_hand.take(&execution_id);
            if self.inherit(&execution_id, owner).await? {
                return Ok(Ok((execution_id, grip)));
            }
        }
        Ok(Err(Fate::slot_taken(&execution_id, &status)))
    }
}

/// Runs something that may wait, away from the event loop.
pub(super) async fn blocking<T: Send + 'static>(
    act: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(act).await.map_err(|error| {
        Error::new(Kind::Internal, "a step of the dispatcher broke").with_source(error)
    })?
}

/// An error with its causes and hints, in one line.
fn in_words(error: &Error) -> String {
    let mut words = error.message().to_owned();
    for part in error.causes() {
        words = format!("{words}: {part}");
    }
    for hint in error.hints_in_line() {
        words = format!("{words}; {hint}");
    }
    words
}

/// Whether the holder of a job's claim was a process of this machine that has ended, or this process,
/// which has it no longer in hand. Of any other holder only the age of the claim tells.
pub(super) fn holder_is_gone(
    job: &Job<'_>,
    machine: &str,
    is_in_hand: impl Fn(&str) -> bool,
) -> bool {
    let Some(held) = job.fire_claim() else {
        return false;
    };
    let own = Holder::parse(machine);
    let Some(pid) = Holder::parse(held.by)
        .pid_on(own.host)
        .filter(|_| own.pid.is_some())
    else {
        return false;
    };
    let left_behind = pid == std::process::id() && !is_in_hand(held.by);
    left_behind || matches!(Watch::of(pid), Ok(None))
}
