//! `hermes cron resume`: a job fires again.

use clap::Args;
use hermes::cron::edit;
use hermes::cron::job::{Job, RawJob};
use hermes::error::{Error, Result};
use hermes::runtime::Runtime;
use jiff::Timestamp;

use super::desk::{Desk, warn_of};
use super::edit::{Told, save};
use super::next::instant;
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
  hermes cron resume digest --run-now
  hermes cron resume digest --at 2027-01-31T09:00
  hermes cron resume a1b2c3d4e5f6 --dry-run")]
pub(crate) struct Resume {
    /// The job: its id or its name
    #[arg(value_name = "JOB")]
    job: String,
    /// Run it first at this time; its slots start after that
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// Run it first at the next tick; its slots start after that
    #[arg(long, conflicts_with = "at")]
    run_now: bool,
    /// Only show what would be changed
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Resume {
    /// The run that is asked for, which takes no slot.
    fn first_run(&self, desk: &Desk) -> Result<Option<Timestamp>> {
        let Some(text) = &self.at else {
            return Ok(self.run_now.then_some(desk.now));
        };
        let at = instant(text, &desk.zone, "--at")?;
        if at < desk.now {
            return Err(Error::usage(format!("--at '{text}' has passed"))
                .with_hint("run it at the next tick: --run-now"));
        }
        Ok(Some(at))
    }

    /// What is said of slots that come before that run, and are left out.
    fn left_out(desk: &Desk, job: &RawJob, at: Timestamp) -> Option<String> {
        let mut plain = job.clone();
        edit::resume(&mut plain, desk.now, &desk.zone.zones).ok()?;
        let first = Job::read(&plain).next_run_at.text().map(str::to_owned)?;
        let first = desk.zone.zones.instant(&first)?;
        (first <= at).then(|| {
            let (first, at) = (desk.when(first), desk.when(at));
            format!("Its slots from {first} to {at} are left out: they start after the run that was asked for.")
        })
    }

    /// Arms it.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let desk = Desk::one(runtime)?;
        let jobs = desk.jobs()?;
        desk.warn_of_store(runtime);
        let mut job = reference::by_id(&jobs, &self.job)?.clone();
        let zones = &desk.zone.zones;
        let at = self.first_run(&desk)?;
        let resume = |job: &mut RawJob| match at {
            Some(at) => edit::resume_with_run(job, at, (desk.now, zones)),
            None => edit::resume(job, desk.now, zones),
        };
        let left_out = at.and_then(|at| Self::left_out(&desk, &job, at));
        let keys = resume(&mut job)?;
        let id = Job::read(&job).id().unwrap_or_default().to_owned();
        if !self.dry_run && !keys.is_empty() {
            job = save(&desk, &id, |job| resume(job).map(drop))?;
        }
        let situation = desk.situation(runtime);
        let said: Vec<String> = left_out
            .into_iter()
            .chain(desk.other_zone(runtime))
            .collect();
        Told {
            schema: "hermes.cron-resume/1",
            verb: ("Resumed", "Would resume"),
            keys: &keys,
            said: &said,
            dry_run: self.dry_run,
            json: self.json,
        }
        .tell(runtime, &desk, &job)?;
        if !self.json {
            warn_of(runtime, situation, desk.now);
        }
        Ok(Exit::OK)
    }
}
