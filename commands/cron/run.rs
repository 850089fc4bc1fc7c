//! `hermes cron run`: a job now, in front of whoever asks.

mod background;
mod end;
mod served;

use std::sync::mpsc;
use std::time::Duration;

use clap::Args;
use hermes::config::Settings;
use hermes::cron::dispatcher::{Dispatcher, Fate, Order, Parts};
use hermes::cron::job::{Job, RawJob};
use hermes::cron::stop_run::{self, Target};
use hermes::cron::task::{self, Place};
use hermes::cron::view_firing::{Firing, Situation};
use hermes::cron::view_log_file::Follower;
use hermes::cron::wanted_run::Begun;
use hermes::error::{Context as _, Error, Kind, Result};
use hermes::host::identity_probe::own_identity;
use hermes::ledger::rows;
use hermes::output::{human, json};
use hermes::runtime::Runtime;
use serde_json::json;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::interval;
use uuid::Uuid;

use super::desk::{self, Desk, way_out};
use super::eye::Eye;
use super::{logs, reference};
use crate::exit::Exit;

/// Run a job now
///
/// Where a serve of this home runs, it runs the job, as it runs slots: the run outlives this terminal.
/// Elsewhere it runs here, in the environment of this shell. What it prints is shown while it runs, and it
/// is recorded like any other run. It takes no slot: the job fires at its next run all the same. A paused
/// job runs too, and stays paused; one whose run goes on already is left alone.
///
/// Ends with 0 if the job succeeded, 1 if it failed, 2 if it could not be launched. A result that was not
/// delivered is told, and makes no other end of it.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  hermes cron run digest
  hermes cron run a1b2c3d4e5f6 --detach
  hermes cron run backup --json | jq -r .output")]
pub(crate) struct Run {
    /// The job: its id or its name
    #[arg(value_name = "JOB")]
    job: String,
    /// Come back as soon as it runs
    #[arg(long)]
    detach: bool,
    /// Only show what would be run
    #[arg(long = "dry-run", conflicts_with = "detach")]
    show_only: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Id of the execution, for the process that goes on in the background
    #[arg(long, value_name = "ID", hide = true)]
    execution: Option<String>,
}

/// Between two looks at the log.
const PACE: Duration = Duration::from_millis(100);

impl Run {
    /// Runs it to its end. Whatever keeps it from being launched ends with 2.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        match self.attempt(runtime) {
            Err(error) if !is_ours(error.kind()) => {
                if self.json {
                    json::print(&mut runtime.out, &error.to_json())?;
                } else {
                    runtime.out.error(&error);
                }
                Ok(Exit::ERROR)
            }
            other => other,
        }
    }

    fn attempt(&self, runtime: &mut Runtime) -> Result<Exit> {
        let desk = Desk::one(runtime)?;
        let jobs = desk.jobs()?;
        if self.execution.is_none() {
            desk.warn_of_store(runtime);
        }
        let job = reference::by_id(&jobs, &self.job)?.clone();
        desk::is_ours_to_run(runtime, &desk.home, "cron run JOB")?;
        let situation = desk.situation(runtime);
        if let Some(stop) = &situation.stop {
            return Err(
                Error::new(Kind::Refused, stop.text()).with_hint("lift it first: hermes resume")
            );
        }
        if self.execution.is_none() {
            warn_of_slots(runtime, &desk, situation);
        }
        if self.show_only {
            return self.show(runtime, &desk, &job, situation);
        }
        if self.execution.is_none() {
            let id = Uuid::new_v4().simple().to_string();
            if let Some(begun) = served::ask(&desk, &job, &id)? {
                return self.beside_serve(runtime, &desk, &job, (&id, begun));
            }
        }
        if self.execution.is_none() && !self.json {
            tell_of_slots(runtime, &desk, situation);
        }
        if self.detach {
            return background::start(runtime, &desk, &job, self.json);
        }
        match self.through(runtime, &desk, &job)? {
            Seen::End(fate) => self.tell(runtime, &desk, &job, &fate),
            Seen::Left => Ok(Exit::FAILED),
        }
    }

    /// Serve runs it: shows it to its end, or tells its id and comes back.
    fn beside_serve(
        &self,
        runtime: &mut Runtime,
        desk: &Desk,
        job: &RawJob,
        (id, begun): (&str, Begun),
    ) -> Result<Exit> {
        let seen = match begun {
            Begun::Over(fate) => {
                let mut screen = Screen {
                    shows: !self.json && fate.execution_id().is_some(),
                    runtime: &mut *runtime,
                    log: Follower::of(&desk.home, id),
                };
                screen.show(true)?;
                Seen::End(fate)
            }
            Begun::Running if self.detach => {
                background::tell(runtime, job, (id, "running", None), self.json)?;
                return Ok(Exit::OK);
            }
            Begun::Running => served::follow(runtime, desk, id, !self.json)?,
        };
        match seen {
            Seen::End(fate) => self.tell(runtime, desk, job, &fate),
            Seen::Left => Ok(Exit::FAILED),
        }
    }

    fn show(
        &self,
        runtime: &mut Runtime,
        desk: &Desk,
        job: &RawJob,
        situation: &Situation,
    ) -> Result<Exit> {
        hermes::cron::edit_probe::check(job, &desk.home)?;
        if let Some(why) = Eye::of(desk, situation).refusal(desk, job) {
            return Err(Error::new(Kind::Refused, why));
        }
        let settings = Settings::of(&desk.config).cron;
        let task = task::plan(&Job::read(job), Place::of(desk.home.path(), &settings))?;
        let view = Job::read(job);
        let id = view.id().unwrap_or_default();
        is_idle(desk, id)?;
        if self.json {
            let document = json!({
                "schema": "hermes.cron-run/1",
                "dry_run": true,
                "job": id,
                "task": task,
            });
            json::print(&mut runtime.out, &document)?;
        } else {
            let label = human::printable(view.label());
            let what = if task.work.needs_agent() {
                "asks the agent"
            } else {
                "runs its script"
            };
            runtime
                .out
                .line(&format!("Would run job {id} ({label}), which {what}."))?;
        }
        Ok(Exit::OK)
    }

    /// Runs the job through a dispatcher of this process, and shows its log as it grows.
    fn through(&self, runtime: &mut Runtime, desk: &Desk, job: &RawJob) -> Result<Seen> {
        let (sayings, heard) = mpsc::channel();
        let dispatcher = dispatcher(runtime, desk, sayings)?;
        let id = self
            .execution
            .clone()
            .unwrap_or_else(|| Uuid::new_v4().simple().to_string());
        let order = Order {
            job: job.clone(),
            slot: None,
            manual: true,
            source: "direct",
        };
        let shows = !self.json && self.execution.is_none();
        let seen = reactor()?.block_on(async {
            // A run that somebody left behind would stand in the way.
            let swept = dispatcher.sweep_out().await?;
            for closed in swept.closed.iter().filter(|_| shows) {
                let closed = reference::short(closed);
                runtime.out.note(&format!(
                    "Run {closed} had lost its process, and is closed now."
                ));
            }
            let mut screen = Screen {
                runtime: &mut *runtime,
                log: Follower::of(&desk.home, &id),
                shows,
            };
            watch(&dispatcher, order, &id, &mut screen).await
        })?;
        for sentence in heard.try_iter() {
            runtime.out.note(&human::printable(&sentence));
        }
        Ok(seen)
    }
}

/// Fails where a run of the job goes on, as far as that can be told without closing anything.
fn is_idle(desk: &Desk, id: &str) -> Result<()> {
    let copy = desk.ledger()?;
    let newest = desk.read(copy.as_ref(), |copy| {
        copy.read(|c| rows::executions_of(c, id, 1))
    })?;
    let Some(run) = newest.first().filter(|run| run.status.is_open()) else {
        return Ok(());
    };
    let facts = desk.facts(&run.id)?;
    match stop_run::look(run, facts.as_ref(), &own_identity()) {
        Ok(Target::Ended(_) | Target::Abandoned) => Ok(()),
        Ok(Target::Worker { .. }) | Err(_) => {
            let run = reference::short(&run.id);
            Err(
                Error::new(Kind::Busy, format!("a run of it goes on already ({run})"))
                    .with_hint(format!("look at it: hermes cron logs {run} -f")),
            )
        }
    }
}

/// Kinds of errors that end as everywhere else: the command line, the output, a defect.
fn is_ours(kind: Kind) -> bool {
    matches!(kind, Kind::Usage | Kind::Output | Kind::Internal)
}

/// What was seen of a run.
enum Seen {
    /// Its end.
    End(Fate),
    /// Somebody has seen enough of it; it goes on.
    Left,
}

/// Tells how to go on with a run that goes on alone.
fn left(runtime: &mut Runtime, id: &str) {
    let id = reference::short(id);
    runtime.out.note(&format!("Run {id} goes on without you."));
    runtime
        .out
        .note(&format!("  Follow it: hermes cron logs {id} -f"));
    runtime
        .out
        .note(&format!("  End it:    hermes cron cancel {id}"));
}

/// Where the log is shown.
struct Screen<'a> {
    runtime: &'a mut Runtime,
    log: Follower,
    shows: bool,
}

impl Screen<'_> {
    fn show(&mut self, all: bool) -> Result<()> {
        if !self.shows {
            return Ok(());
        }
        match if all { self.log.all() } else { self.log.more() } {
            Ok(text) => logs::print(&mut self.runtime.out, &text),
            Err(error) => {
                // The run goes on all the same, and ends as it does.
                self.shows = false;
                let words = format!("What it prints cannot be shown: {error}.");
                self.runtime.out.warn(&human::printable(&words));
                Ok(())
            }
        }
    }
}

async fn watch(
    dispatcher: &Dispatcher,
    order: Order,
    id: &str,
    screen: &mut Screen<'_>,
) -> Result<Seen> {
    let failed = |error| Error::io("failed to listen for signals", error);
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut running = Box::pin(dispatcher.run_as(order, id));
    let mut beat = interval(PACE);
    let mut asked = false;
    loop {
        tokio::select! {
            fate = &mut running => {
                screen.show(true)?;
                return Ok(Seen::End(fate));
            }
            _ = beat.tick() => screen.show(false)?,
            () = either(&mut interrupt, &mut terminate) => {
                if asked {
                    left(screen.runtime, id);
                    return Ok(Seen::Left);
                }
                asked = true;
                screen.runtime.out.note("Asking the run to end. Once more, and it goes on alone.");
                if let Err(error) = cancel(dispatcher, id).await {
                    screen.runtime.out.error(&error);
                }
            }
        }
    }
}

async fn either(one: &mut Signal, other: &mut Signal) {
    tokio::select! {
        _ = one.recv() => {}
        _ = other.recv() => {}
    }
}

/// Ends our own run: through the connection that is open already.
async fn cancel(dispatcher: &Dispatcher, id: &str) -> Result<()> {
    let (id, now) = (id.to_owned(), dispatcher.now());
    dispatcher
        .with_ledger(move |ledger| {
            let row = ledger.read(|c| rows::execution_by_id(c, &id))?;
            let facts = ledger.read(|c| rows::facts_of(c, &id))?;
            let Some(row) = row else { return Ok(()) };
            match stop_run::look(&row, facts.as_ref(), &own_identity())? {
                Target::Worker { watch, .. } => stop_run::cancel(ledger, &id, &watch, now),
                Target::Ended(_) | Target::Abandoned => Ok(()),
            }
        })
        .await
}

/// A dispatcher of this home, which tells what an operator should read.
fn dispatcher(runtime: &Runtime, desk: &Desk, sayings: mpsc::Sender<String>) -> Result<Dispatcher> {
    let say = move |sentence: &str| {
        let _nobody_may_listen = sayings.send(sentence.to_owned());
    };
    let parts = Parts::of(runtime, &desk.home, &desk.config, Box::new(say))?;
    Ok(Dispatcher::new(parts))
}

/// Tells, on stderr, that no slot fires beside this run, wherever it runs.
fn warn_of_slots(runtime: &mut Runtime, desk: &Desk, situation: &Situation) {
    if let Firing::No(reasons) = situation.firing(desk.now) {
        let reasons = human::printable(&reasons.join("; "));
        runtime.out.warn(&format!(
            "This run is all that happens, and no slot will fire: {reasons}."
        ));
        runtime.out.note(&format!("  {}", way_out(situation)));
    }
}

/// Tells, on stderr, whose the slots are where the run is ours.
fn tell_of_slots(runtime: &mut Runtime, desk: &Desk, situation: &Situation) {
    let is_quiet = matches!(situation.firing(desk.now), Firing::No(_));
    if situation.scheduler.runs() == Some(true) && !is_quiet {
        let who = situation.scheduler_words();
        runtime.out.note(&format!(
            "It runs here, not in {who}, which keeps its slots."
        ));
    }
}

/// Closes the rows of runs that have lost their process.
pub(crate) fn sweep(runtime: &mut Runtime, desk: &Desk) -> Result<()> {
    let (sayings, heard) = mpsc::channel();
    let dispatcher = dispatcher(runtime, desk, sayings)?;
    reactor()?.block_on(dispatcher.sweep_out())?;
    for sentence in heard.try_iter() {
        runtime.out.note(&human::printable(&sentence));
    }
    Ok(())
}

fn reactor() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context(Kind::Internal, "there is no event loop")
}
