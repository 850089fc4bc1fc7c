//! The part of the report that says in which mode jobs are dispatched. Pure data; the decision itself
//! is `dispatch::mode`'s.

use serde::Serialize;

use super::Reported;

/// In which mode jobs are dispatched, for whom, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dispatch {
    /// Whose point of view: `serve`, `gateway`, `unit`, `pid` or `shell`.
    pub viewpoint: &'static str,
    /// Why this one.
    pub chosen_because: String,
    /// Which program dispatches: `hermes` or `hermes-agent`.
    pub program: &'static str,
    /// Its version, where known.
    pub version: Option<String>,
    /// Its process, where one runs.
    pub pid: Option<u32>,
    /// Its unit, where it has one.
    pub unit: Option<String>,
    /// The account that it runs as.
    pub account: String,
    /// Jobs of the schedule.
    pub cron: Now,
    /// Workers made to run for hours.
    pub long_lived: LongLived,
    /// Ids of the findings that made it so.
    pub because: Vec<String>,
    /// The mode of jobs after the last logout of the account.
    pub after_logout: String,
    /// The mode of jobs after a reboot.
    pub after_reboot: String,
    /// The smallest set of changes that gives another mode, if there is one.
    pub flips_to: Option<Flip>,
}

/// The mode of jobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Now {
    /// `in_process`, `scoped`, `degraded` or `refused`.
    pub mode: &'static str,
    /// Whether a running job survives a restart of what dispatches; `null` where it cannot be told.
    pub survives_restart: Option<bool>,
    /// Why, as sentences without a full stop.
    pub reasons: Vec<String>,
}

/// The mode of workers made to run for hours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LongLived {
    /// As for jobs, but never `degraded`.
    pub mode: &'static str,
    /// Why, as sentences without a full stop.
    pub reasons: Vec<String>,
}

/// A way to another mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Flip {
    /// The mode that it gives.
    pub mode: &'static str,
    /// Ids of the findings whose remedies are among the changes.
    pub by: Vec<String>,
    /// The changes, in words: all of them are needed.
    pub changes: Vec<String>,
}

impl Dispatch {
    /// The same with the ids of findings where it had their codes.
    #[must_use]
    pub(super) fn with_ids(mut self, findings: &[Reported]) -> Self {
        let ids = |codes: &[String]| -> Vec<String> {
            let named = |found: &&Reported| codes.iter().any(|code| code == found.code);
            findings
                .iter()
                .filter(named)
                .map(|found| found.id.clone())
                .collect()
        };
        self.because = ids(&self.because);
        if let Some(flip) = &mut self.flips_to {
            flip.by = ids(&flip.by);
        }
        self
    }
}
