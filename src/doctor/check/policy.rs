//! What the operator asked for, and whether it can be had. Pure.

use super::{Check, Group, Outcome, homes};
use crate::dispatch::Mode;
use crate::dispatch::facts::Launcher;
use crate::dispatch::mode::Reason;
use crate::doctor::evidence::{Evidence, Part};
use crate::doctor::finding::{Finding, Observation};
use crate::host::Gap;

/// The check of the policy.
pub(super) const CHECKS: &[Check] = &[Check {
    id: "policy",
    group: Group::Policy,
    title: "whether what the operator asked for is in force",
    codes: &["HM341"],
    reads: &[Part::Dispatcher, Part::Units, Part::Decision, Part::Config],
    run: policy,
}];

/// The setting that is the policy.
const SETTING: &str = "cron.require_restart_safe_scope";

/// Why the configuration of the dispatched home does not say.
fn unread(evidence: &Evidence) -> Option<Gap> {
    homes::unknown(evidence.dispatched()?, SETTING)
}

fn policy(evidence: &Evidence) -> Outcome {
    let jobs = &evidence.decision_jobs;
    if !jobs.policy.require_restart_safe_scope {
        let refused = jobs.reasons.contains(&Reason::PolicyUnread);
        let mut outcome = Outcome::passed(if refused {
            "as long as what was asked for cannot be read, jobs run restart-safe or not at all"
        } else {
            "jobs may run where a restart would kill them"
        });
        if let Some(gap) = unread(evidence) {
            outcome.could_not_and_it_matters(format!("whether {SETTING} is on"), &gap);
        }
        return outcome;
    }
    let mut outcome = Outcome::passed("jobs run restart-safe or not at all");
    let why = match (jobs.mode, jobs.facts.launcher) {
        (Mode::InProcess, _) => {
            "no service manager supervises the dispatcher, and so jobs run inside it"
        }
        (Mode::Refused, Launcher::AgentWithoutFallback) => "this version does not know the key",
        _ => return outcome,
    };
    outcome.find(
        Finding::new(
            "HM341",
            super::service::subject(evidence),
            format!("{SETTING} is on and without effect: {why}"),
        )
        .seen(Observation::new("setting", SETTING, "true"))
        .seen(Observation::new("decision", "mode", jobs.mode.word())),
    );
    outcome
}
