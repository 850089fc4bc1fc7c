//! The part of the report that says in which mode jobs are dispatched. Pure data; the decision itself
//! is `dispatch::mode`'s.

use serde::Serialize;

use super::Reported;
use super::shell::{self, Difference};
use crate::dispatch::forecast::{unknown_after_logout, unknown_after_reboot};
use crate::dispatch::{Change, Decision, Guess, Manager, Mechanism, Reason};
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
    /// Why the two are not known, where they are not.
    #[serde(skip)]
    pub unknown_because: [&'static str; 2],
    /// The smallest set of changes that gives another mode, if there is one.
    pub flips_to: Option<Flip>,
    /// What had to be assumed, because it could not be found out.
    pub guesses: Vec<String>,
    /// In what the reader's shell differs from what dispatches.
    pub shell_differs: Vec<Difference>,
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
    /// The decision in the words of the report. `because` and `by` are empty until
    /// `with_ids` knows the findings.
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
                reasons: reasons(jobs, &evidence.guesses),
            },
            long_lived: LongLived {
                mode: long_lived.mode.word(),
                reasons: reasons(long_lived, &evidence.guesses),
            },
            because: Vec::new(),
            after_logout: jobs.forecast.after_logout.word(),
            after_reboot: jobs.forecast.after_reboot.word(),
            unknown_because: [
                unknown_after_logout(jobs.facts),
                unknown_after_reboot(jobs.facts),
            ],
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
            shell_differs: shell::differences(facts),
        }
    }
    /// The same with the ids of the findings that made it so, and of those that the changes mend.
    #[must_use]
    pub(super) fn with_ids(mut self, findings: &[Reported]) -> Self {
        let mut because: Vec<String> = findings
            .iter()
            .filter(|found| CONSEQUENCES.contains(&found.code))
            .map(|found| root_of(found, findings).id.clone())
            .collect();
        because.dedup();
        self.because = because;
        if let Some(flip) = &mut self.flips_to {
            let changes = flip
                .changes
                .iter()
                .filter_map(|step| Change::named(step.name));
            let codes: Vec<_> = changes.flat_map(mended_by).collect();
            let named = findings.iter().filter(|found| codes.contains(&&found.code));
            flip.by = named.map(|found| found.id.clone()).collect();
        }
        self
    }
}

/// Findings that say what the mode does to jobs: restart kills them, they are refused, Hermes Agent
/// refuses them. What explains these made the mode.
const CONSEQUENCES: [&str; 3] = ["HM301", "HM302", "HM304"];

/// Codes of the findings that this change mends.
fn mended_by(change: Change) -> &'static [&'static str] {
    match change {
        Change::LingerOn => &["HM221", "HM222", "HM224"],
        Change::BusUp => &[
            "HM201", "HM202", "HM203", "HM204", "HM205", "HM206", "HM207", "HM209",
        ],
        Change::UserManagerReconnected => &["HM208"],
        Change::SystemManagerUp => &["HM103", "HM104"],
        Change::SandboxOpen => &["HM307", "HM308"],
        Change::DispatcherRestarted => &["HM211"],
        Change::VariablesSet => &["HM245"],
        Change::SystemdRunFound => &["HM317"],
        Change::Supervised => &["HM305"],
        Change::ScopeNotRequired => &["HM302"],
        Change::ProgramUpdated | Change::ProgramSwitched => &["HM304"],
    }
}

/// What explains a finding and is explained by nothing.
fn root_of<'a>(found: &'a Reported, findings: &'a [Reported]) -> &'a Reported {
    let cause = found.cause.as_ref();
    let cause = cause.and_then(|id| findings.iter().find(|other| other.id == *id));
    cause.map_or(found, |cause| root_of(cause, findings))
}

fn reasons(decision: &Decision, guesses: &[Guess]) -> Vec<String> {
    let unread = guesses
        .iter()
        .any(|guess| guess.assumed.contains("INVOCATION_ID"));
    let text = |reason: &Reason| {
        match reason {
        Reason::NoInvocationId if unread => {
            "no service manager is known to have started the dispatcher (its environment is not known)"
                .to_owned()
        }
        reason => reason.text().to_owned(),
    }
    };
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
