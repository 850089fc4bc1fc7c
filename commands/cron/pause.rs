//! `hermes cron pause`: a job that does not fire until it is resumed.

use clap::Args;
use hermes::cron::edit;
use hermes::cron::job::Job;
use hermes::error::Result;
use hermes::runtime::Runtime;

use super::desk::Desk;
use super::edit::{Told, save};
use super::reference;
use crate::exit::Exit;

/// Pause a job
///
/// It does not fire until it is resumed, not even if it was found due already. A run that goes on is
/// left alone: 'hermes cron cancel' ends it.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  hermes cron pause digest --reason 'on holiday'
  hermes cron pause a1b2c3d4e5f6 --dry-run")]
pub(crate) struct Pause {
    /// The job: its id or its name
    #[arg(value_name = "JOB")]
    job: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Only show what would be changed
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Pause {
    /// Pauses it.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let desk = Desk::one(runtime)?;
        let jobs = desk.jobs()?;
        desk.warn_of_store(runtime);
        let mut job = reference::by_id(&jobs, &self.job)?.clone();
        let reason = self.reason.as_deref();
        let zones = &desk.zone.zones;
        let keys = edit::pause(&mut job, reason, desk.now, zones)?;
        let (id, running) = {
            let view = Job::read(&job);
            let id = view.id().unwrap_or_default().to_owned();
            (id, view.fire_claim().is_some())
        };
        if !self.dry_run && !keys.is_empty() {
            job = save(&desk, &id, |job| {
                edit::pause(job, reason, desk.now, zones).map(drop)
            })?;
        }
        let said: Vec<_> = running
            .then(|| format!("A run of it may be going on, and goes on: hermes cron runs {id}"))
            .into_iter()
            .collect();
        Told {
            schema: "hermes.cron-pause/1",
            verb: ("Paused", "Would pause"),
            keys: &keys,
            said: &said,
            dry_run: self.dry_run,
            json: self.json,
        }
        .tell(runtime, &desk, &job)?;
        Ok(Exit::OK)
    }
}
