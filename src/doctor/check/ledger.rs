//! What has run, what has not, and what never ended.

pub(super) mod ends;
pub(super) mod launch;
pub(super) mod missing;
pub(super) mod open;
mod slots;

use super::homes;
use crate::doctor::evidence::HomeEvidence;
use crate::doctor::evidence::stores::Ledger;
use crate::doctor::finding::{Finding, Observation, Subject};
use crate::ledger::Execution;
use jiff::Timestamp;

/// How a job is called: by its name in the store where it has one, else by its id.
fn quoted(home: &HomeEvidence, id: &str) -> String {
    let job = home.jobs.got().and_then(|store| store.job(id));
    format!("job '{}'", homes::short(job.map_or(id, |job| job.label())))
}

fn about(code: &'static str, id: &str, summary: String) -> Finding {
    Finding::new(code, Subject::new("job", id), summary)
}

fn row(home: &HomeEvidence, execution: &Execution, observed: impl Into<String>) -> Observation {
    let target = format!("{} {}", home.path("cron/executions.db"), execution.id);
    Observation::new("row", target, observed)
}

fn ended(row: &Execution) -> Option<Timestamp> {
    row.finished_at.as_ref()?.at
}

fn claimed(row: &Execution) -> Option<Timestamp> {
    row.claimed_at.as_ref()?.at
}

/// The ids of the jobs that have rows, each once, in the order of their newest row.
fn jobs(ledger: &Ledger) -> Vec<&str> {
    let mut seen = std::collections::HashSet::new();
    let ids = ledger.rows().map(|row| row.job_id.as_str());
    ids.filter(|id| seen.insert(*id)).collect()
}
