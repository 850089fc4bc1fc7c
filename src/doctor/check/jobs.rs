//! The jobs: when they fire, whether their records are sound, what they need, how they went.

pub(super) mod claims;
pub(super) mod due;
pub(super) mod last;
pub(super) mod needs;
pub(super) mod records;

use serde_json::json;

use super::homes;
use crate::cron::schedule::Schedule;
use crate::doctor::evidence::jobs::{Job, StoredSchedule};
use crate::doctor::finding::{Finding, Subject};

/// A finding about a job.
fn about(code: &'static str, job: &Job, summary: String) -> Finding {
    let id = if job.id.is_empty() {
        "(no id)"
    } else {
        &job.id
    };
    Finding::new(code, Subject::new("job", id), summary)
}

/// What a person calls a job, quoted.
fn quoted(job: &Job) -> String {
    match job.label() {
        "" => "a job without id and name".to_owned(),
        label => format!("job '{}'", homes::short(label)),
    }
}

/// Stored schedules, each understood once: ten thousand jobs have few different ones.
#[derive(Default)]
struct Schedules<'a>(due::Cache<'a>);

impl<'a> Schedules<'a> {
    /// The schedule of a job, or why there is none.
    fn of(&mut self, job: &'a Job) -> Result<&Schedule, &str> {
        let read = self
            .0
            .entry(&job.schedule)
            .or_insert_with(|| understand(&job.schedule));
        read.as_ref().map_err(String::as_str)
    }
}

pub(super) fn understand(stored: &StoredSchedule) -> Result<Schedule, String> {
    let stored = json!({
        "kind": stored.kind,
        "minutes": stored.minutes,
        "expr": stored.expr,
        "run_at": stored.run_at,
    });
    Schedule::from_json(&stored).map_err(|error| error.to_string())
}
