//! The part of the report that says in which mode jobs are dispatched. Pure data; the decision itself
//! is `dispatch::mode`'s.

use serde::Serialize;

use super::Reported;
use crate::dispatch::{Decision, Guess, Manager, Mechanism};
use crate::doctor::evidence::Evidence;
use crate::host::facts::{Program, Viewpoint};

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
    pub after_logout: &'static str,
    /// The mode of jobs after a reboot.
    pub after_reboot: &'static str,
    /// The smallest set of changes that gives another mode, if there is one.
    pub flips_to: Option<Flip>,
    /// What had to be assumed, because it could not be found out.
    pub guesses: Vec<String>,
}

/// The mode of jobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Now {
    /// `in_process`, `scoped`, `degraded` or `refused`.
    pub mode: &'static str,
    /// Whether a running job survives a restart of what dispatches; `null` where it cannot be told.
    pub survives_restart: Option<bool>,
    /// How a worker is placed, where it is: `scope` or `service`.
    pub mechanism: Option<Mechanism>,
    /// By whose manager.
    pub manager: Option<Manager>,
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
    /// The changes: all of them are needed.
    pub changes: Vec<Step>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Its stable name.
    pub name: &'static str,
    /// What an operator does, an imperative fragment.
    pub text: &'static str,
}

impl Dispatch {
    /// The decision in the words of the report. `because` and `by` hold codes until
    /// [`Dispatch::with_ids`] knows the findings.
    #[must_use]
    pub fn of(evidence: &Evidence) -> Self {
        let (jobs, long_lived) = (&evidence.decision_jobs, &evidence.decision_long);
        let facts = &evidence.facts;
        let dispatcher = &facts.dispatcher;
        Self {
            viewpoint: viewpoint_word(dispatcher.viewpoint),
            chosen_because: dispatcher.chosen_because.clone(),
            program: match dispatcher.program {
                Program::Ours => "hermes",
                Program::HermesAgent => "hermes-agent",
            },
            version: dispatcher.version.known().cloned(),
            pid: dispatcher.process.as_ref().map(|process| process.pid),
            unit: dispatcher.unit.as_ref().map(|unit| unit.name.clone()),
            account: facts.account.label(),
            cron: Now {
                mode: jobs.mode.word(),
                survives_restart: jobs.survives_restart.known(),
                mechanism: jobs.mechanism,
                manager: jobs.manager,
                reasons: reasons(jobs),
            },
            long_lived: LongLived {
                mode: long_lived.mode.word(),
                reasons: reasons(long_lived),
            },
            because: Vec::new(),
            after_logout: jobs.forecast.after_logout.word(),
            after_reboot: jobs.forecast.after_reboot.word(),
            flips_to: jobs.flips.first().map(|flip| Flip {
                mode: flip.mode.word(),
                by: Vec::new(),
                changes: flip
                    .by
                    .iter()
                    .map(|change| Step {
                        name: change.name(),
                        text: change.text(),
                    })
                    .collect(),
            }),
            guesses: evidence.guesses.iter().map(guess).collect(),
        }
    }
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

fn reasons(decision: &Decision) -> Vec<String> {
    let text = |reason: &crate::dispatch::Reason| reason.text().to_owned();
    decision.reasons.iter().map(text).collect()
}

fn viewpoint_word(viewpoint: Viewpoint) -> &'static str {
    match viewpoint {
        Viewpoint::Serve => "serve",
        Viewpoint::Gateway => "gateway",
        Viewpoint::Unit => "unit",
        Viewpoint::Pid => "pid",
        Viewpoint::Shell => "shell",
    }
}

fn guess(guess: &Guess) -> String {
    format!("{}: {}", guess.assumed, guess.gap.why)
}
