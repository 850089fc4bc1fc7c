//! Whether the dispatcher runs out of descriptors. Pure.

use super::scheduler::ways;
use super::{Check, Group, Outcome, mend};
use crate::doctor::evidence::{Evidence, Part};
use crate::doctor::finding::{Finding, Observation, Subject};
use crate::host::facts::{Descriptors, Fact, ProcessFacts, Viewpoint};

/// The check of descriptors.
pub(super) const CHECKS: &[Check] = &[Check {
    id: "scheduler-descriptors",
    group: Group::Scheduler,
    title: "whether the dispatcher runs out of descriptors",
    codes: &["HM481"],
    reads: &[Part::Dispatcher, Part::Units],
    run: descriptors,
}];

/// B39: one database open this often is a leak.
const HANDLES: u64 = 10;

fn descriptors(evidence: &Evidence) -> Outcome {
    let dispatcher = &evidence.facts.dispatcher;
    let process = dispatcher.process.as_ref();
    let Some(process) = process.filter(|_| dispatcher.viewpoint != Viewpoint::Shell) else {
        return Outcome::not_applicable("no dispatcher runs");
    };
    let descriptors = match &process.descriptors {
        Fact::Known(descriptors) => descriptors,
        Fact::Unknown(gap) => {
            let mut outcome = Outcome::default();
            outcome.could_not("how many descriptors the dispatcher has open", gap);
            return outcome;
        }
    };
    let limit = descriptors
        .limit
        .map_or("no limit".to_owned(), |limit| limit.to_string());
    let mut outcome = Outcome::passed(format!("{} open, limit {limit}", descriptors.open));
    if let Some(finding) = judge(evidence, process, descriptors) {
        outcome.find(finding);
    }
    outcome
}

fn is_database(path: &str) -> bool {
    let base = ["-wal", "-shm", "-journal"]
        .iter()
        .find_map(|suffix| path.strip_suffix(suffix))
        .unwrap_or(path);
    [".db", ".sqlite", ".sqlite3"]
        .iter()
        .any(|ending| base.ends_with(ending))
}

fn judge(
    evidence: &Evidence,
    process: &ProcessFacts,
    descriptors: &Descriptors,
) -> Option<Finding> {
    let open = descriptors.open;
    let near = descriptors
        .limit
        .filter(|limit| open.saturating_mul(5) > limit.saturating_mul(4));
    let leak = descriptors
        .repeated
        .iter()
        .find(|(path, count)| *count >= HANDLES && is_database(path));
    let summary = match (near, leak) {
        (Some(limit), _) => format!("the dispatcher has {open} of {limit} descriptors open"),
        (None, Some((path, count))) => {
            format!("the dispatcher has {path} open {count} times: it leaks descriptors")
        }
        (None, None) => return None,
    };
    let subject = Subject::new("process", process.pid.to_string());
    let mut finding = Finding::new("HM481", subject, summary).seen(Observation::new(
        "read",
        format!("/proc/{}/fd", process.pid),
        format!("{open} open"),
    ));
    for (path, count) in &descriptors.repeated {
        let seen = format!("open {count} times");
        finding = finding.seen(Observation::new("read", path, seen));
    }
    if let Some(unit) = &evidence.facts.dispatcher.unit {
        let effect = "starts the dispatcher anew, with no descriptor left open";
        finding = finding.remedy(mend::restart_unit(&evidence.facts, unit, effect));
    } else if let Some(home) = evidence.dispatched() {
        finding = finding.remedy(ways::replace(home, process));
    }
    Some(finding)
}
