//! `hermes cron incidents ack|close`: what a person says of an incident.

use clap::Args;
use hermes::cron::job::Job;
use hermes::error::{Error, Kind, Result};
use hermes::ledger::{Incident, Ledger};
use hermes::output::{human, json};
use hermes::runtime::Runtime;
use serde_json::json;

use super::desk::Desk;
use super::incidents::{all, is_open};
use super::reference;
use crate::exit::Exit;

/// Mark an incident as seen
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  hermes cron incidents ack a1b2c3_0123456789ab
  hermes cron incidents ack a1b2c3_0123456789ab --dry-run")]
pub(super) struct Ack {
    /// The incident
    #[arg(value_name = "INCIDENT")]
    id: String,
    /// Only show what would be changed
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Close incidents that are dealt with
///
/// A good run of the job ends its incidents by itself; this ends one where no such run is to be waited for. The
/// same failure of the same job opens it again.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  hermes cron incidents close a1b2c3_0123456789ab
  hermes cron incidents close --job nightly --dry-run")]
pub(super) struct Close {
    /// The incidents
    #[arg(value_name = "INCIDENT", required_unless_present = "job")]
    ids: Vec<String>,
    /// All open ones of this job: its id or its name
    #[arg(long, value_name = "JOB", conflicts_with = "ids")]
    job: Option<String>,
    /// Only show what would be changed
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The open incident with this id.
fn open<'a>(known: &'a [Incident], id: &str) -> Result<&'a Incident> {
    let found = known.iter().find(|incident| incident.id == id);
    let Some(found) = found else {
        return Err(Error::new(
            Kind::NotFound,
            format!("there is no incident '{}'", id.escape_debug()),
        )
        .with_hint("hermes cron incidents --state all lists them"));
    };
    if is_open(found) {
        return Ok(found);
    }
    Err(Error::new(
        Kind::Refused,
        format!("the incident is {} already", found.state.word()),
    ))
}

fn ledger(desk: &Desk) -> Result<Ledger> {
    let zone = desk.zone.zones.configured.clone();
    Ledger::open(&desk.home.ledger(), zone)
}

impl Ack {
    /// Marks it.
    pub(super) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let desk = Desk::one(runtime)?;
        let known = all(&desk)?;
        open(&known, &self.id)?;
        if !self.dry_run {
            ledger(&desk)?.acknowledge(&self.id, desk.now)?;
        }
        if self.json {
            let document = json!({
                "schema": "hermes.cron-incidents-ack/1",
                "dry_run": self.dry_run,
                "incident": self.id,
            });
            json::print(&mut runtime.out, &document)?;
        } else {
            let verb = if self.dry_run { "Would mark" } else { "Marked" };
            let id = human::printable(&self.id);
            runtime
                .out
                .line(&format!("{verb} incident {id} as seen."))?;
        }
        Ok(Exit::OK)
    }
}

impl Close {
    /// Closes them.
    pub(super) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let desk = Desk::one(runtime)?;
        let known = all(&desk)?;
        let meant = self.meant(&desk, &known)?;
        if !self.dry_run && !meant.is_empty() {
            let ledger = ledger(&desk)?;
            for id in &meant {
                ledger.close_incident(id, desk.now)?;
            }
        }
        if self.json {
            let document = json!({
                "schema": "hermes.cron-incidents-close/1",
                "dry_run": self.dry_run,
                "incidents": meant,
            });
            json::print(&mut runtime.out, &document)?;
            return Ok(Exit::OK);
        }
        if meant.is_empty() {
            runtime.out.line("The job has no open incident.")?;
        }
        let verb = if self.dry_run {
            "Would close"
        } else {
            "Closed"
        };
        for id in &meant {
            let id = human::printable(id);
            runtime.out.line(&format!("{verb} incident {id}."))?;
        }
        Ok(Exit::OK)
    }

    /// The ids of those that are meant, all of them open.
    fn meant(&self, desk: &Desk, known: &[Incident]) -> Result<Vec<String>> {
        let Some(named) = &self.job else {
            let ids = self.ids.iter().map(|id| open(known, id));
            return ids.map(|found| Ok(found?.id.clone())).collect();
        };
        let has = |id: &str| known.iter().any(|incident| incident.job_id == id);
        let job = match reference::job(&desk.jobs()?, named) {
            Ok(job) => Job::read(job).id().unwrap_or_default().to_owned(),
            // A job that is gone may have left some.
            Err(_) if has(named) => named.clone(),
            Err(error) => return Err(error),
        };
        let of_job = known.iter().filter(|one| one.job_id == job && is_open(one));
        Ok(of_job.map(|incident| incident.id.clone()).collect())
    }
}
