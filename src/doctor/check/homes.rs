//! What the checks of homes share: which home, which subject, how many findings are too many.

use crate::doctor::check::Outcome;
use crate::doctor::evidence::{Evidence, HomeEvidence};
use crate::doctor::finding::{Finding, Observation, Subject};

/// Findings of one code in one home before the rest is told in one: a dead scheduler makes every
/// job overdue, and ten thousand findings help nobody.
pub(super) const EACH: usize = 25;

/// Runs a check over every home that is there.
pub(super) fn each(
    evidence: &Evidence,
    mut check: impl FnMut(&HomeEvidence, &mut Outcome),
) -> Outcome {
    let mut outcome = Outcome::default();
    let mut any = false;
    for home in evidence.homes.iter().filter(|home| home.exists()) {
        any = true;
        check(home, &mut outcome);
    }
    if any {
        outcome
    } else {
        Outcome::not_applicable("there is no home")
    }
}

/// The home as a subject.
pub(super) fn subject(home: &HomeEvidence) -> Subject {
    Subject::new("home", home.label())
}

/// A file of the home as a subject.
pub(super) fn file(home: &HomeEvidence, relative: &str) -> Subject {
    Subject::new("file", home.path(relative))
}

/// Adds findings one by one up to [`EACH`], and one for the rest: its subject is the home, its
/// evidence names some of them.
pub(super) fn bounded(outcome: &mut Outcome, home: &HomeEvidence, mut found: Vec<Finding>) {
    if found.len() <= EACH + 1 {
        outcome.findings.append(&mut found);
        return;
    }
    let rest = found.split_off(EACH);
    outcome.findings.append(&mut found);
    let Some(first) = rest.first() else { return };
    let mut more = Finding::new(
        first.code,
        subject(home),
        format!("{} more of the same kind", rest.len()),
    );
    more.severity = first.severity;
    more.causes.clone_from(&first.causes);
    more.evidence = rest
        .iter()
        .take(EACH)
        .map(|finding| {
            Observation::new(
                finding.subject.kind.clone(),
                finding.subject.name.clone(),
                finding.summary.clone(),
            )
        })
        .collect();
    outcome.find(more);
}

/// A command of ours about this home.
pub(super) fn ours<const N: usize>(home: &HomeEvidence, words: [&str; N]) -> Vec<String> {
    let mut argv = vec!["hermes".to_owned()];
    argv.extend(words.map(str::to_owned));
    argv.extend(["--home".to_owned(), home.label()]);
    argv
}
