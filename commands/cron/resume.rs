//! `hermes cron resume`: a job fires again.

use clap::Args;
use hermes::cron::edit;
use hermes::cron::job::Job;
use hermes::error::Result;
use hermes::runtime::Runtime;

use super::desk::{Desk, warn_of};
use super::edit::{Told, save};
use super::reference;
use crate::exit::Exit;

/// Resume a paused job
///
/// Its next run is computed anew, from now. Slots that it missed while it was paused are not made up
/// for. On a job that is not paused this only computes the next run anew.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  hermes cron resume digest
  hermes cron resume a1b2c3d4e5f6 --dry-run")]
pub(crate) struct Resume {
    /// The job: its id or its name
    #[arg(value_name = "JOB")]
    job: String,
    /// Only show what would be changed
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Resume {
    /// Arms it.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let desk = Desk::one(runtime)?;
        let jobs = desk.jobs()?;
        let mut job = reference::job(&jobs, &self.job)?.clone();
        let zones = &desk.zone.zones;
        let keys = edit::resume(&mut job, desk.now, zones)?;
        let id = Job::read(&job).id().unwrap_or_default().to_owned();
        if !self.dry_run && !keys.is_empty() {
            job = save(&desk, &id, |job| {
                edit::resume(job, desk.now, zones).map(drop)
            })?;
        }
        Told {
            schema: "hermes.cron-resume/1",
            verb: ("Resumed", "Would resume"),
            keys: &keys,
            said: &[],
            dry_run: self.dry_run,
            json: self.json,
        }
        .tell(runtime, &desk, &job)?;
        if !self.json {
            let situation = desk.situation(runtime);
            warn_of(runtime, &situation, desk.now);
        }
        Ok(Exit::OK)
    }
}
