//! What the checks of homes share: which home, which subject, how many findings are too many.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::config::ProblemKind;
use crate::doctor::check::Outcome;
use crate::doctor::evidence::jobs::JobStore;
use crate::doctor::evidence::read::{FileKind, Trouble, TroubleKind};
use crate::doctor::evidence::stores::{Ledger, State};
use crate::doctor::evidence::{Evidence, HomeEvidence, Read};
use crate::doctor::finding::{Finding, Observation, Subject};
use crate::host::{Gap, GapKind};

/// Findings of one code in one home before the rest is told in one: a dead scheduler makes every
/// job overdue, and ten thousand findings help nobody.
pub(super) const EACH: usize = 25;

/// Runs a check over every home that is there. What it finds is about that home: it explains nothing
/// of another.
pub(super) fn each(
    evidence: &Evidence,
    mut check: impl FnMut(&HomeEvidence, &mut Outcome),
) -> Outcome {
    let mut outcome = Outcome::default();
    let mut any = false;
    for home in evidence.homes.iter().filter(|home| home.exists()) {
        any = true;
        if let Some(trouble) = no_directory(home) {
            outcome.could_not(format!("what {} holds", home.label()), &trouble.gap());
            continue;
        }
        let before = outcome.findings.len();
        check(home, &mut outcome);
        for finding in outcome.findings.iter_mut().skip(before) {
            finding.home = Some(home.home.path().to_owned());
        }
    }
    if any {
        outcome
    } else {
        Outcome::not_applicable("there is no home")
    }
}

/// What lies in the place of a home, where that is no directory: nothing in it can be asked for.
pub(super) fn no_directory(home: &HomeEvidence) -> Option<Trouble> {
    match home.file("") {
        Read::Got(stat) if stat.kind != FileKind::Directory => Some(Trouble::new(
            TroubleKind::NotAFile,
            "not-a-directory",
            "not a directory",
        )),
        Read::Unreadable(trouble) if trouble.kind == TroubleKind::NotAFile => Some(trouble.clone()),
        _ => None,
    }
}

/// What a store of the home holds. That it cannot be read is no answer, and said so: whoever is asked
/// about one group alone does not see what the checks of stores make of it.
pub(super) fn content<'a, T>(
    home: &HomeEvidence,
    (path, read): (&str, &'a Read<T>),
    outcome: &mut Outcome,
) -> Option<&'a T> {
    if let Some(trouble) = read.trouble() {
        unread(home, (path, trouble), outcome);
    }
    read.got()
}

/// That the content of a store is not known, and that root would know it where only a mode is in the way.
pub(super) fn unread(
    home: &HomeEvidence,
    (path, trouble): (&str, &Trouble),
    outcome: &mut Outcome,
) {
    let mut gap = trouble.gap();
    if trouble.kind == TroubleKind::Permission {
        gap.would_tell = vec!["sudo".to_owned()];
        gap.would_tell.extend(ours(home, ["cron", "doctor"]));
    }
    outcome.could_not_and_it_matters(format!("the content of {}", home.path(path)), &gap);
}

/// The job store, where it can be read.
pub(super) fn jobs<'a>(home: &'a HomeEvidence, outcome: &mut Outcome) -> Option<&'a JobStore> {
    content(home, ("cron/jobs.json", &home.jobs), outcome)
}

/// The ledger, where it can be read.
pub(super) fn ledger<'a>(home: &'a HomeEvidence, outcome: &mut Outcome) -> Option<&'a Ledger> {
    let ledger = &home.databases.ledger;
    content(home, ("cron/executions.db", ledger), outcome)
}

/// The state of sessions and timers, where it can be read.
pub(super) fn state<'a>(home: &'a HomeEvidence, outcome: &mut Outcome) -> Option<&'a State> {
    content(home, ("state.db", &home.databases.state), outcome)
}

/// Why one setting of the home is only guessed.
pub(super) fn unknown(home: &HomeEvidence, setting: &str) -> Option<Gap> {
    let problem = home.config.unknown(setting)?;
    if problem.kind == ProblemKind::Denied {
        return Some(super::config::denied(home, problem));
    }
    Some(Gap {
        kind: GapKind::Failed,
        why: problem.to_string(),
        would_tell: ours(home, ["config", "check"]),
    })
}

/// Why settings of the home, its zone among them, are only guessed: a file that may name others cannot be
/// read.
pub(super) fn unread_config(home: &HomeEvidence) -> Option<Gap> {
    let mut problems = home.config.problems().iter();
    let problem = problems.find(|problem| problem.kind.hides_the_file())?;
    let file = problem.file.as_ref()?.display();
    Some(Gap {
        kind: GapKind::Failed,
        why: format!("{file}: {}", problem.message),
        would_tell: Vec::new(),
    })
}

/// The longest name that a sentence bears, in characters.
const NAME: usize = 80;

/// A name inside a sentence: of a very long one the start.
pub(super) fn short(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(NAME) {
        Some((end, _)) => Cow::Owned(format!("{}…", name.get(..end).unwrap_or(name))),
        None => Cow::Borrowed(name),
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

/// Findings of a home, no more of one code than a person can read: the rest is counted, and told in
/// one whose subject is the home. What nobody will read is not even made.
#[derive(Default)]
pub(super) struct Few(BTreeMap<&'static str, OfCode>);

/// How many there are, and the first of them.
#[derive(Default)]
struct OfCode {
    count: usize,
    first: Vec<Finding>,
}

impl Few {
    /// Adds a finding of this code.
    pub(super) fn add(&mut self, code: &'static str, make: impl FnOnce() -> Finding) {
        let of_code = self.0.entry(code).or_default();
        of_code.count += 1;
        if of_code.count <= 2 * EACH {
            of_code.first.push(make());
        }
    }

    /// Tells them: by code, each in the order in which they came.
    pub(super) fn tell(self, outcome: &mut Outcome, home: &HomeEvidence) {
        for (code, OfCode { count, mut first }) in self.0 {
            if count <= EACH + 1 {
                outcome.findings.append(&mut first);
                continue;
            }
            let rest = first.split_off(EACH.min(first.len()));
            outcome.findings.append(&mut first);
            let Some(first) = rest.first() else { continue };
            let summary = format!("{} more of the same kind", count - EACH);
            let mut more = Finding::new(code, subject(home), summary);
            more.severity = first.severity;
            more.causes.clone_from(&first.causes);
            let seen = |finding: Finding| {
                let Subject { kind, name } = finding.subject;
                Observation::new(kind, name, finding.summary)
            };
            more.evidence = rest.into_iter().take(EACH).map(seen).collect();
            outcome.find(more);
        }
    }
}

impl Extend<Finding> for Few {
    fn extend<I: IntoIterator<Item = Finding>>(&mut self, findings: I) {
        for finding in findings {
            self.add(finding.code, || finding);
        }
    }
}

/// Asks the doctor again. The report has it ask for the one finding that is to be gone.
pub(super) fn verify(home: &HomeEvidence) -> Vec<String> {
    ours(home, ["cron", "doctor"])
}

/// A command of ours about this home.
pub(super) fn ours<const N: usize>(home: &HomeEvidence, words: [&str; N]) -> Vec<String> {
    let mut argv = vec!["hermes".to_owned()];
    argv.extend(words.map(str::to_owned));
    argv.extend(["--home".to_owned(), home.label()]);
    argv
}

/// A command of ours about one thing of this home, with options. A name that looks like an option comes
/// last, behind what ends the options.
pub(super) fn on(
    home: &HomeEvidence,
    verb: [&str; 2],
    (name, options): (&str, &[&str]),
) -> Vec<String> {
    let mut argv = ours(home, verb);
    let options = options.iter().map(|word| (*word).to_owned());
    if name.starts_with('-') {
        argv.extend(options);
        argv.extend(["--".to_owned(), name.to_owned()]);
    } else {
        let after = 1 + verb.len();
        argv.splice(
            after..after,
            std::iter::once(name.to_owned()).chain(options),
        );
    }
    argv
}
