//! `hermes cron tick --dry-run`: what a pass over the jobs would do at an instant.

use std::collections::HashSet;

use clap::Args;
use hermes::config::{Config, Settings};
use hermes::cron::due::{self, Change, Due, Note, Policy, Scene};
use hermes::cron::jobs_file::JobsFile;
use hermes::cron::stamp::Stamp;
use hermes::cron::witness_store::StoreWitness;
use hermes::cron::zone::Zone;
use hermes::error::{Error, Result};
use hermes::output::{human, json};
use hermes::runtime::Runtime;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::cron::next::instant;
use crate::exit::Exit;

/// A one-shot's lease holds at least this long, as in Hermes Agent.
const RUN_CLAIM_SECONDS: u64 = 1_800;

/// Show which jobs are due, and what a pass over them would change
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  hermes cron tick --dry-run
  hermes cron tick --dry-run --at 2026-06-17T09:00:30
  hermes cron tick --dry-run --json")]
pub(crate) struct Tick {
    /// Only show it: nothing is run and nothing is written
    #[arg(long)]
    dry_run: bool,
    /// Look at this instant instead of now
    #[arg(long, value_name = "TIME", requires = "dry_run")]
    at: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Tick {
    /// Scans the jobs and shows the outcome.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        if !self.dry_run {
            return Err(
                Error::usage("only the scheduler of 'hermes serve' runs due jobs")
                    .with_hint("'hermes cron tick --dry-run' shows what is due"),
            );
        }
        let home = runtime.one_home()?;
        let environ = &runtime.environ;
        let variable = |name: &str| environ.text(name).map(str::to_owned);
        let config = Config::load(&home, &variable, &[]);
        let zone = Zone::of(&config);
        let now = self
            .at
            .as_deref()
            .map_or_else(|| Ok(runtime.clock.wall()), |at| instant(at, &zone, "--at"))?;
        let file = JobsFile::new(&home, zone.zones.configured.clone());
        let jobs = file.read()?.jobs.jobs;
        let witness = StoreWitness::read(&home)?;
        let settings = Settings::of(&config).cron;
        let silence = settings
            .inactivity_timeout
            .map_or(0, |limit| limit.as_secs() * 3);
        let life = silence.max(RUN_CLAIM_SECONDS);
        let scene = Scene {
            now,
            zones: &zone.zones,
            policy: Policy {
                catch_up_missed: settings.catch_up_missed,
                run_claim_seconds: i64::try_from(life).unwrap_or(i64::MAX),
            },
            machine: &witness.machine(settings.machine_id.as_deref()),
            running: &HashSet::new(),
            witness: &witness,
        };
        // An id is drawn when the scan is real: here it has a name that says so.
        let found = due::due(jobs.iter().enumerate(), &scene, &mut || {
            "<new id>".to_owned()
        });
        self.show(runtime, &zone, now, &found)
    }

    fn show(
        &self,
        runtime: &mut Runtime,
        zone: &Zone,
        now: Timestamp,
        found: &Due,
    ) -> Result<Exit> {
        let at = Stamp::of(now, &zone.zones.configured);
        if self.json {
            json::print(&mut runtime.out, &document(&at, found))?;
        } else {
            runtime.out.print(&page(&at, found))?;
        }
        for note in &found.notes {
            let said = match note {
                Note::MissedOnce { job_id } => {
                    format!("The one-shot {job_id} missed its time and will not run.")
                }
                Note::Unreadable { job_id, why } => format!("The job {job_id} cannot fire: {why}."),
            };
            runtime.out.warn(&human::printable(&said));
        }
        Ok(Exit::OK)
    }
}

fn document(at: &Stamp, found: &Due) -> Value {
    let orders = found.orders.iter().map(|order| {
        json!({
            "job_id": order.job_id,
            "scheduled_instant": order.scheduled_instant(),
            "kind": order.kind.as_str(),
        })
    });
    let changes = found.changes.iter().map(|change| {
        // A key that goes is set to null, which is what readers of the store make of it.
        let mut set = change.set.clone();
        set.extend(change.unset.iter().map(|key| (key.clone(), Value::Null)));
        json!({
            "job_id": change.job_id,
            "set": set,
            "removed": change.removed,
            "reason": reasons(change),
        })
    });
    json!({
        "at": at.to_string(),
        "orders": orders.collect::<Vec<_>>(),
        "changes": changes.collect::<Vec<_>>(),
    })
}

fn reasons(change: &Change) -> String {
    change
        .reasons
        .iter()
        .map(|reason| reason.as_str())
        .collect::<Vec<_>>()
        .join(", ")
}

/// The outcome for people: what would run, then what would change.
fn page(at: &Stamp, found: &Due) -> String {
    let due = human::count(found.orders.len(), "job is due", "jobs are due");
    let mut lines = vec![format!("At {at} {due}.")];
    for order in &found.orders {
        let slot = order.scheduled_instant();
        let slot = slot.map_or_else(|| "on request".to_owned(), |slot| format!("for {slot}"));
        lines.push(format!(
            "  run     {}  {slot}, {}",
            order.job_id,
            order.kind.as_str()
        ));
    }
    for change in &found.changes {
        let verb = if change.removed { "remove" } else { "change" };
        let keys: Vec<&str> = change
            .set
            .keys()
            .chain(&change.unset)
            .map(String::as_str)
            .collect();
        let keys = if keys.is_empty() {
            String::new()
        } else {
            format!(": {}", keys.join(", "))
        };
        lines.push(format!(
            "  {verb}  {}  {}{keys}",
            change.job_id,
            reasons(change)
        ));
    }
    lines.iter().fold(String::new(), |page, line| {
        page + &human::printable(line) + "\n"
    })
}
