//! A worker: places itself, adopts one execution, runs its job and writes the end of it.
//!
//! ```text
//! placed (scope, service, or nowhere) ── payload read ── row adopted ── acknowledged ── run
//!        ── document, delivery, job, incident, row: in this order, each whatever became of the last
//! ```
//!
//! What cannot be written at that moment is tried again, for two minutes; then whoever notices books the
//! run by the document that it has saved. Nothing with side effects happens before the row is adopted. Whatever ends this process in
//! between, the row tells whose it was, and whoever notices closes it.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};

use self::parent::Parent;
use super::finish::Settles;
use super::job::RawJob;
use super::jobs_file::JobsFile;
use super::output::{Log, drop_old_logs};
use super::run::{Context, Report, own_variables};
use super::task::Task;
use super::zone;
use crate::agent::Settings;
use crate::clock::Clock;
use crate::dispatch::handover::{Acknowledgement, DEADLINE, Mechanism, Payload, VERSION};
use crate::dispatch::placement::{self, Placed, Wish, own_cgroup, placed_in};
use crate::error::{Error, Kind, Result};
use crate::fault;
use crate::home::Home;
use crate::host::identity_probe::{OwnIdentity, own_identity};
use crate::host::process_probe;
use crate::ledger::store::KEPT;
use crate::ledger::{Cause, ExecutionFacts, Group, Ledger, Owner, rows};

/// Between two stamps of progress, and two renewals of the claim: as in Hermes Agent.
const PROGRESS: Duration = Duration::from_secs(60);

/// How long after a job died by a signal our own may come.
const STOP_NOTICE: Duration = Duration::from_millis(300);

/// What a worker of cron is asked to do: the `work` of its payload.
#[derive(Clone, Serialize, Deserialize)]
pub struct Work {
    /// The job as it was when it was claimed.
    pub job: RawJob,
    /// The run.
    pub task: Task,
    /// The agent, where the job needs one.
    pub agent: Option<Settings>,
    /// The claim that was written into the job.
    pub claim: Option<String>,
    /// It is no slot's run.
    pub manual: bool,
    /// The slot that it accounts for.
    pub settles: Settles,
}

/// What the command line of a worker says.
#[derive(Clone, Debug)]
pub struct Orders {
    /// Where to place itself; `None`: nowhere.
    pub wish: Option<Wish>,
    /// The execution.
    pub execution_id: String,
    /// Rather end than run unplaced.
    pub require_placement: bool,
}

/// How a worker ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A service goes on in its place.
    HandedOn,
    /// It ran the job and wrote the end; whether the job did what was asked.
    Ran(bool),
    /// It was told to stop and left its row to whoever learns why.
    Stopped,
}

/// Where the worker is, once it is somewhere.
struct Seat {
    mechanism: Mechanism,
    unit: Option<String>,
    dropped: Vec<String>,
    because: Option<String>,
}

/// Runs a worker from its start to its end.
///
/// # Errors
/// When it cannot be placed where that is required, its payload cannot be read, its row is not on
/// offer, or the ledger refuses.
pub async fn run(orders: Orders, clock: Arc<dyn Clock>) -> Result<Ending> {
    let (dispatcher, begun) = (Parent::here(), Instant::now());
    let Some(seat) = take_seat(&orders).await? else {
        fault::point("worker.handed_on");
        return Ok(Ending::HandedOn);
    };
    fault::point("worker.placed");
    let payload = read_payload(&orders.execution_id, begun).await?;
    let work: Work = serde_json::from_value(payload.work.clone())
        .map_err(|_| Error::new(Kind::Invalid, "the payload holds no job of cron"))?;
    fault::point("worker.payload");
    let mut worker = Worker::new((payload, work), seat, dispatcher, clock)?;
    worker.adopt()?;
    fault::point("worker.adopted");
    worker.acknowledge();
    fault::point("worker.acknowledged");
    worker.take_over_claim().await;
    worker.work().await
}

/// `None`: a service has taken over.
async fn take_seat(orders: &Orders) -> Result<Option<Seat>> {
    let cgroup = own_cgroup().unwrap_or_default();
    let at = |mechanism, unit, dropped, because| Seat {
        mechanism,
        unit,
        dropped,
        because,
    };
    if let Some(unit) = placed_in(&cgroup, &orders.execution_id) {
        return Ok(Some(at(Mechanism::Service, Some(unit), Vec::new(), None)));
    }
    let Some(wish) = &orders.wish else {
        return Ok(Some(at(Mechanism::Child, None, Vec::new(), None)));
    };
    match placement::place(wish, &own_words()).await {
        Placed::In {
            mechanism,
            unit,
            dropped,
        } => Ok(Some(at(mechanism, Some(unit), dropped, None))),
        Placed::HandedOn { .. } => Ok(None),
        Placed::Nowhere { because } if orders.require_placement => Err(Error::new(
            Kind::Refused,
            format!("cannot be placed outside of the dispatcher: {because}"),
        )
        .with_hint("hermes cron doctor says what stands in the way")),
        Placed::Nowhere { because } => {
            Ok(Some(at(Mechanism::Child, None, Vec::new(), Some(because))))
        }
    }
}

/// The words that start this worker again, as a service: our open file, which is there as long as
/// we are, and the manager is done with it before we end.
fn own_words() -> Vec<String> {
    let program = format!("/proc/{}/exe", std::process::id());
    let rest = std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned());
    std::iter::once(program).chain(rest).collect()
}

/// `begun`: when this worker did.
async fn read_payload(execution_id: &str, begun: Instant) -> Result<Payload> {
    let read = tokio::task::spawn_blocking(move || stdin::read_by(begun + DEADLINE));
    let bytes = read.await.map_err(|error| {
        Error::new(Kind::Internal, "the payload was not read").with_source(error)
    })??;
    let payload = Payload::parse(&bytes)?;
    if payload.execution_id == execution_id {
        Ok(payload)
    } else {
        Err(Error::new(
            Kind::Invalid,
            "the payload is of another execution",
        ))
    }
}

struct Worker {
    clock: Arc<dyn Clock>,
    payload: Payload,
    work: Work,
    seat: Seat,
    dispatcher: Parent,
    home: Home,
    zone: TimeZone,
    owner: Owner,
    identity: OwnIdentity,
    ledger: Ledger,
    /// Values of the job's own file of variables, as the run got them: nothing that is kept tells them.
    secrets: Vec<String>,
}

impl Worker {
    fn new(
        (payload, work): (Payload, Work),
        seat: Seat,
        dispatcher: Parent,
        clock: Arc<dyn Clock>,
    ) -> Result<Self> {
        let home = Home::at(&payload.home);
        let zone = zone::handed_on(payload.zone.as_deref())?;
        let identity = own_identity();
        let owner = Owner::from(&identity);
        let ledger = Ledger::open(&home.ledger(), zone.clone())?;
        Ok(Self {
            clock,
            payload,
            work,
            seat,
            dispatcher,
            home,
            zone,
            owner,
            identity,
            ledger,
            secrets: Vec::new(),
        })
    }

    fn now(&self) -> Timestamp {
        self.clock.wall()
    }

    fn id(&self) -> &str {
        &self.payload.execution_id
    }

    fn mode(&self) -> &str {
        if self.seat.unit.is_some() {
            "scoped"
        } else {
            &self.payload.unplaced_mode
        }
    }

    /// The one conditional update whose winner may run.
    fn adopt(&mut self) -> Result<()> {
        if !self.ledger.adopt(self.id(), &self.owner, self.now())? {
            return Err(Error::new(
                Kind::Busy,
                format!("execution {} is not on offer", self.id()),
            )
            .with_hint("another worker has it, or its dispatcher took it back"));
        }
        fault::point("worker.won");
        self.record()
    }

    fn record(&self) -> Result<()> {
        let number = |value: Option<u64>| value.and_then(|value| i64::try_from(value).ok());
        let facts = ExecutionFacts {
            execution_id: self.id().to_owned(),
            mode: self.mode().to_owned(),
            manager: self
                .seat
                .unit
                .as_ref()
                .map(|_| end::manager_word().to_owned()),
            unit: self.seat.unit.clone(),
            mechanism: Some(self.seat.mechanism.word().to_owned()),
            properties: Some(end::properties(&self.seat)),
            boot_id: self.identity.boot_id.clone(),
            pid1_start: number(self.identity.init_start),
            worker_pid: Some(i64::from(self.owner.pid)),
            worker_start: number(self.owner.start_ticks),
            ..ExecutionFacts::default()
        };
        self.ledger.record_facts(&facts, self.now())
    }

    /// A dispatcher that is gone by now does not stop the run: the row is ours.
    fn acknowledge(&self) {
        let acknowledgement = Acknowledgement {
            version: VERSION,
            execution_id: self.id().to_owned(),
            pid: self.owner.pid,
            start_ticks: self.owner.start_ticks,
            mode: self.mode().to_owned(),
            mechanism: self.seat.mechanism,
            unit: self.seat.unit.clone(),
            unplaced_because: self.seat.because.clone(),
        };
        let line = serde_json::to_string(&acknowledgement).unwrap_or_default();
        let mut stdout = std::io::stdout().lock();
        let _nobody_may_be_listening = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
    }

    async fn work(&mut self) -> Result<Ending> {
        let started = self.now();
        // A file that cannot be read fails the run, which says so.
        let own = own_variables(&self.work.task, &self.payload.environment);
        let secrets = own.iter().flat_map(|own| own.values().cloned());
        self.secrets = secrets.collect();
        let before = end::oom_kills();
        let (ask, cancel) = watch::channel(false);
        let Some(report) = self.run_job(ask, cancel, own).await? else {
            return self.stopped();
        };
        fault::point("worker.ran");
        let oom = end::oom_kills() > before && end::may_be_oom(&report, self.seat.unit.is_some());
        self.end(report, started, oom).await
    }

    /// Runs the job while stamping progress; `None`: this process was told to stop.
    async fn run_job(
        &mut self,
        ask: watch::Sender<bool>,
        cancel: watch::Receiver<bool>,
        own: Result<BTreeMap<String, String>>,
    ) -> Result<Option<Report>> {
        let failed = |error| Error::io("failed to listen for signals", error);
        let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
        let agent = self
            .work
            .agent
            .as_ref()
            .map(Settings::resolve)
            .transpose()?;
        let log = self.begin_log();
        let environment = self.payload.environment.clone();
        let execution_id = self.id().to_owned();
        let (task, home) = (self.work.task.clone(), self.home.path().to_path_buf());
        let (groups, mut new_groups) = tokio::sync::mpsc::unbounded_channel();
        let mut started = move |number| {
            // It is not waited for yet: what is seen of it is its own.
            let _we_are_still_here = groups.send(made_by(number));
        };
        let mut context = Context {
            execution_id: &execution_id,
            agent: agent.as_ref(),
            environment: &environment,
            own,
            home: &home,
            cancel,
            log,
            started: &mut started,
            guard: true,
        };
        let mut running = Box::pin(context.run(&task));
        // The claim was handed on just now.
        let _a_minute_later = self.ledger.progress(self.id(), &self.owner, self.now());
        let pace = fault::paced(PROGRESS);
        let mut beat = interval_at(Instant::now() + pace, pace);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut stopping = false;
        loop {
            tokio::select! {
                report = &mut running => {
                    // A stop of the unit asks everything in it at once, and the job may be the first
                    // to end.
                    if !stopping && report.signal.is_some() {
                        let asked = timeout(STOP_NOTICE, terminate.recv()).await;
                        stopping = matches!(asked, Ok(Some(())));
                    }
                    return Ok((!stopping || self.was_cancelled()).then_some(report));
                }
                Some(Some(group)) = new_groups.recv() => {
                    // For what has no mark.
                    let _the_run_goes_on = self.ledger.record_group(self.id(), &group);
                }
                _ = beat.tick() => self.show_progress().await,
                _ = terminate.recv() => {
                    stopping = true;
                    let _the_run_listens = ask.send(true);
                }
            }
        }
    }

    /// A log of its own, and one more than is kept goes.
    fn begin_log(&self) -> Log {
        let log = Log::begin(&self.home, self.id()).unwrap_or_else(|_| Log::none());
        let open = self.ledger.read(|c| rows::open_executions(c, KEPT));
        if let Ok(Some(open)) = open {
            let running = open.into_iter().map(|row| row.id).collect();
            drop_old_logs(&self.home, &running);
        }
        log
    }

    fn jobs(&self) -> JobsFile {
        JobsFile::new(&self.home, self.zone.clone())
    }

    /// Somebody asked for the end of this very run, and said so in the ledger first.
    fn was_cancelled(&self) -> bool {
        self.cause().is_some_and(|(cause, _)| cause == cancelled())
    }

    /// The cause of the end that is on record already, and its words.
    fn cause(&self) -> Option<(Cause, String)> {
        let id = self.id().to_owned();
        let facts = self
            .ledger
            .read(|connection| rows::facts_of(connection, &id));
        let facts = facts.ok().flatten()?;
        Some((facts.cause?, facts.detail.unwrap_or_default()))
    }
}

/// The group that a process leads, which has just begun.
fn made_by(number: u32) -> Option<Group> {
    let leader = process_probe::stat(&number.to_string())?;
    Some(Group {
        number,
        leader_start: leader.start_ticks,
        session: leader.session,
    })
}

mod end;
mod insist;
mod lease;
mod parcel;
mod parent;
mod stdin;

/// The word for a run that somebody asked to end.
pub const CANCELLED: &str = "cancelled";

/// The cause of such an end.
#[must_use]
pub fn cancelled() -> Cause {
    Cause::Other(CANCELLED.to_owned())
}
