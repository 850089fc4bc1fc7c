//! `hermes cron cancel`: ends a run that goes on.

use clap::Args;
use hermes::child::spawn::Watch;
use hermes::cron::delivery::CANCELLED;
use hermes::cron::stop_run::{self, PATIENCE, Target};
use hermes::error::{Error, Kind, Result};
use hermes::host::identity_probe::own_identity;
use hermes::ledger::{Execution, ExecutionFacts, Ledger, Status, rows};
use hermes::output::{human, json};
use hermes::runtime::Runtime;
use serde_json::json;

use super::desk::Desk;
use super::{reference, run};
use crate::exit::Exit;

/// End a run that goes on
///
/// Its worker is asked to end (SIGTERM), gives what it runs ten seconds, then makes it end, and writes
/// that it was cancelled. One that has come to its end, and whose result is on its way, keeps that end; the
/// delivery is what ends. Only a process that is certainly that worker is asked. The job itself stays as
/// it is: 'hermes cron pause' keeps it from firing again.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  hermes cron cancel 3f2a9c01b7de
  hermes cron cancel digest --dry-run")]
pub(crate) struct Cancel {
    /// The run: its id or the start of it; or a job, for its newest run
    #[arg(value_name = "RUN")]
    execution: String,
    /// Only show what would be ended
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Rows that are looked through for the one that is meant.
const MOST: u32 = 2_000;

impl Cancel {
    /// Ends it.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let desk = Desk::one(runtime)?;
        let (row, facts) = find(&desk, &self.execution)?;
        let target = stop_run::look(&row, facts.as_ref(), &own_identity())?;
        let id = reference::short(&row.id).to_owned();
        let (stopped, words) = match target {
            Target::Ended(status) => (
                false,
                format!("Run {id} has ended already: {}.", status.word()),
            ),
            Target::Abandoned if self.dry_run => (
                false,
                match row.status {
                    Status::Claimed => format!(
                        "Run {id} never began; it would be cancelled, and its slot with it."
                    ),
                    _ => format!("Nobody runs {id} any more; its row would be closed."),
                },
            ),
            Target::Abandoned => (false, close(runtime, &desk, &row)?),
            Target::Worker { pid, .. } if self.dry_run => (
                false,
                format!(
                    "Would end run {id} of job {}: its worker is pid {pid}.",
                    row.job_id
                ),
            ),
            Target::Worker { pid, watch } => {
                let ended = end(runtime, &desk, &row, (pid, &watch))?;
                outcome(&row.job_id, &id, pid, ended.as_ref())
            }
        };
        if self.json {
            let document = json!({
                "schema": "hermes.cron-cancel/1",
                "dry_run": self.dry_run,
                "execution": row.id,
                "job": row.job_id,
                "stopped": stopped,
                "message": words,
            });
            json::print(&mut runtime.out, &document)?;
        } else {
            runtime.out.line(&human::printable(&words))?;
        }
        Ok(Exit::OK)
    }
}

/// What became of a run that was to end, and whether something of it was ended.
fn outcome(job: &str, id: &str, pid: u32, ended: Option<&Execution>) -> (bool, String) {
    let own = ended.map(|row| row.status.word()).unwrap_or_default();
    let by_itself = format!("Run {id} of job {job} had ended by itself: {own}.");
    match ended {
        Some(row) if row.delivery_outcome.as_deref() == Some(CANCELLED) => {
            (true, format!("{by_itself} Its delivery is cancelled."))
        }
        Some(row) if row.status == Status::Completed => (false, by_itself),
        _ => (
            true,
            format!("Ended run {id} of job {job}: its worker, pid {pid}, has stopped what it ran."),
        ),
    }
}

/// Asks the worker to end, waits until it has, and sees to it that its row is closed. Gives the row as it
/// ended, where the worker wrote that: the run may have come to its end first, and be delivered by now.
fn end(
    runtime: &mut Runtime,
    desk: &Desk,
    row: &Execution,
    (pid, watch): (u32, &Watch),
) -> Result<Option<Execution>> {
    let zone = desk.zone.zones.configured.clone();
    let ledger = Ledger::open(&desk.home.ledger(), zone)?;
    stop_run::cancel(&ledger, &row.id, watch, desk.now)?;
    if !watch.ends_within(PATIENCE) {
        let long = human::span(PATIENCE.as_secs_f64());
        let message = format!("worker pid {pid} was asked to end {long} ago, and goes on");
        return Err(
            Error::new(Kind::Failed, message).with_hint("hermes cron runs tells when it has ended")
        );
    }
    let now = ledger.read(|c| rows::execution_by_id(c, &row.id))?;
    drop(ledger);
    let ended = now.filter(|row| !row.status.is_open());
    if ended.is_none() {
        run::sweep(runtime, desk)?;
    }
    Ok(ended)
}

/// Closes the row of a run that nobody runs any more. One that never began is cancelled, and its slot with
/// it: else the next pass would run it after all.
fn close(runtime: &mut Runtime, desk: &Desk, row: &Execution) -> Result<String> {
    let id = reference::short(&row.id);
    let zone = desk.zone.zones.configured.clone();
    let ledger = Ledger::open(&desk.home.ledger(), zone)?;
    let never_began = row.status == Status::Claimed;
    if never_began {
        stop_run::give_up(&ledger, row, desk.now)?;
    }
    run::sweep(runtime, desk)?;
    let now = ledger.read(|c| rows::execution_by_id(c, &row.id))?;
    if now.is_some_and(|row| row.status.is_open()) {
        let message = format!("nobody runs {id} any more, and its row could not be closed");
        return Err(Error::new(Kind::Failed, message).with_hint(
            "what stands in the way is said above, or by: hermes cron doctor --only ledger",
        ));
    }
    Ok(if never_began {
        format!("Run {id} never began; it is cancelled, and so is its slot.")
    } else {
        format!("Nobody ran {id} any more; its row is closed now.")
    })
}

/// The run that is meant, and what we recorded of it.
pub(crate) fn find(desk: &Desk, named: &str) -> Result<(Execution, Option<ExecutionFacts>)> {
    let jobs = desk.jobs().unwrap_or_default();
    let copy = desk.ledger()?;
    let runs = desk.read(copy.as_ref(), |copy| {
        copy.read(|c| rows::executions(c, MOST))
    })?;
    let row = reference::execution(&runs, &jobs, named)?;
    let facts = desk.read(copy.as_ref(), |copy| {
        copy.read(|c| rows::facts_of(c, &row.id).map(Some))
    })?;
    Ok((row, facts))
}
