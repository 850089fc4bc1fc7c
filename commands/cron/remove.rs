//! `hermes cron remove`: a job goes; a backup of the store stays.

use std::io::{BufRead as _, IsTerminal as _};

use clap::Args;
use hermes::cron::job::{Job, RawJob};
use hermes::cron::job_list::JobList;
use hermes::cron::jobs_file::Change;
use hermes::error::{Error, Kind, Result};
use hermes::ledger::Ledger;
use hermes::output::{human, json};
use hermes::runtime::Runtime;
use serde_json::json;

use super::desk::Desk;
use super::edit::account_for;
use super::reference;
use crate::exit::Exit;

/// Remove a job
///
/// Asks first on a terminal; elsewhere it wants --yes. A backup of the store is kept in cron/backups,
/// and what the job has written in cron/output stays.
#[derive(Args, Debug)]
#[command(visible_aliases = ["rm", "delete"])]
#[command(after_help = "\
Examples:
  hermes cron remove digest
  hermes cron remove a1b2c3d4e5f6 --yes
  hermes cron remove digest --dry-run")]
pub(crate) struct Remove {
    /// The job: its id or its name
    #[arg(value_name = "JOB")]
    job: String,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Only show what would be removed
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Remove {
    /// Removes it.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let desk = Desk::one(runtime)?;
        let jobs = desk.jobs()?;
        desk.warn_of_store(runtime);
        let job = reference::by_id(&jobs, &self.job)?.clone();
        let view = Job::read(&job);
        let (id, label) = (
            view.id().unwrap_or_default().to_owned(),
            human::printable(view.label()),
        );
        let others = with_its_id(&jobs, &id);
        let which = format!("job {id} ({label}){}", and_others(&others));
        if !self.dry_run {
            if !self.yes && !confirmed(runtime, &format!("Remove {which}?"))? {
                runtime.out.note("Nothing was removed.");
                return Ok(Exit::FAILED);
            }
            desk.file()
                .update(desk.now, |jobs| take(&desk, jobs, &id))?;
            if let Err(error) = close_incidents(&desk, &id) {
                let error = error.in_full();
                runtime
                    .out
                    .warn(&format!("Its incidents stay open: {error}."));
            }
        }
        if self.json {
            let document = json!({
                "schema": "hermes.cron-remove/1",
                "dry_run": self.dry_run,
                "job": job,
                "with_its_id": others,
            });
            json::print(&mut runtime.out, &document)?;
        } else {
            let verb = if self.dry_run {
                "Would remove"
            } else {
                "Removed"
            };
            runtime.out.line(&format!("{verb} {which}."))?;
            if self.dry_run && !others.is_empty() {
                runtime.out.note(
                    "To keep one of them, give it another id in cron/jobs.json, with the scheduler stopped.",
                );
            }
            if view.fire_claim().is_some() {
                runtime.out.warn(&format!(
                    "A run of it may be going on, and goes on: hermes cron runs {id}"
                ));
            }
        }
        Ok(Exit::OK)
    }
}

/// The jobs behind the one that is found by this id: they go with it.
fn with_its_id<'a>(jobs: &'a [RawJob], id: &str) -> Vec<&'a RawJob> {
    let same = jobs.iter().filter(|job| Job::read(job).id() == Some(id));
    same.skip(1).collect()
}

fn and_others(others: &[&RawJob]) -> String {
    if others.is_empty() {
        return String::new();
    }
    let names = others
        .iter()
        .map(|job| human::printable(Job::read(job).label()));
    let names: Vec<_> = names.collect();
    let count = human::count(others.len(), "other job", "other jobs");
    format!(", and {count} of the same id ({})", names.join(", "))
}

fn take(desk: &Desk, jobs: &mut JobList<'_>, id: &str) -> Result<Change<()>> {
    if let Some(job) = jobs.find(id) {
        account_for(desk, job, None)?;
    }
    if !jobs.remove(id) {
        return Err(Error::new(
            Kind::NotFound,
            format!("job {id} was removed by somebody else meanwhile"),
        ));
    }
    Ok(Change::WriteAfterBackup(()))
}

/// No run of it will ever end them.
fn close_incidents(desk: &Desk, id: &str) -> Result<()> {
    let path = desk.home.ledger();
    if !path.exists() {
        return Ok(());
    }
    let zone = desk.zone.zones.configured.clone();
    Ledger::open(&path, zone)?.close_with_job(id, desk.now)
}

/// Asks on a terminal; where there is none nobody can answer.
fn confirmed(runtime: &mut Runtime, question: &str) -> Result<bool> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(
            Error::usage("removing needs a yes, and there is no terminal to ask on")
                .with_hint("say --yes"),
        );
    }
    runtime.out.note(&format!("{question} [y/N]"));
    let mut answer = String::new();
    stdin
        .lock()
        .read_line(&mut answer)
        .map_err(|error| Error::io("failed to read the answer", error))?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
