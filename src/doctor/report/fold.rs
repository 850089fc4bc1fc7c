//! Which finding explains which, and the order in which they are told: causes first, their symptoms
//! right beneath. Pure.

use std::collections::HashMap;

use super::super::check::{Check, Group};
use super::super::finding::{Finding, Severity};

/// A finding with what decides its place.
pub(super) struct Placed {
    /// The finding.
    pub(super) finding: Finding,
    /// Its severity, the catalogue's or its own.
    pub(super) severity: Severity,
    /// The check that found it.
    pub(super) check: &'static Check,
    /// Index of the finding that explains it.
    pub(super) cause: Option<usize>,
}

/// Points each symptom at its cause: the first of its causes that was found, about the same subject
/// before any other. A finding never explains itself, not even by way of others.
pub(super) fn link(findings: &mut [Placed]) {
    let mut by_code: HashMap<&'static str, Vec<usize>> = HashMap::new();
    for (index, placed) in findings.iter().enumerate() {
        by_code.entry(placed.finding.code).or_default().push(index);
    }
    for index in 0..findings.len() {
        let cause = cause_of(findings, &by_code, index);
        if let Some(placed) = findings.get_mut(index) {
            placed.cause = cause;
        }
    }
}

fn cause_of(
    findings: &[Placed],
    by_code: &HashMap<&'static str, Vec<usize>>,
    index: usize,
) -> Option<usize> {
    let symptom = &findings.get(index)?.finding;
    // What is wrong with the host explains what is wrong with a home; another home does not.
    let elsewhere = |cause: &usize| {
        let cause = findings.get(*cause).map(|placed| &placed.finding.home);
        matches!((cause, &symptom.home), (Some(Some(cause)), Some(home)) if cause != home)
    };
    // Nor does what is wrong with one job explain another, nor one session another.
    let kind = symptom.subject.kind.as_str();
    let another = |cause: &usize| {
        let cause = findings.get(*cause).map(|placed| &placed.finding.subject);
        let same_kind = cause.is_some_and(|cause| cause.kind == kind);
        matches!(kind, "job" | "session") && same_kind && cause != Some(&symptom.subject)
    };
    let may = |cause: &usize| {
        let itself = *cause == index || leads_to(findings, *cause, index);
        !(itself || elsewhere(cause) || another(cause))
    };
    let about_the_same = |cause: &&usize| {
        findings
            .get(**cause)
            .is_some_and(|placed| placed.finding.subject == symptom.subject)
    };
    symptom.causes.iter().find_map(|code| {
        let found = by_code.get(code)?;
        let mut same = found.iter().filter(about_the_same);
        let same = same.find(|cause| may(cause));
        same.or_else(|| found.iter().find(|cause| may(cause)))
            .copied()
    })
}

/// Whether following the causes from `from` arrives at `to`. Causes are linked one at a time, and
/// never in a ring, so the walk has an end.
fn leads_to(findings: &[Placed], from: usize, to: usize) -> bool {
    let mut next = Some(from);
    while let Some(index) = next {
        if index == to {
            return true;
        }
        next = findings.get(index).and_then(|placed| placed.cause);
    }
    false
}

/// The order of the report: by group, the worse first (a cause is as bad as its worst symptom),
/// symptoms right after their cause.
pub(super) fn order(findings: &[Placed]) -> Vec<usize> {
    let mut tree = Tree {
        symptoms: vec![Vec::new(); findings.len()],
        keys: vec![None; findings.len()],
        ordered: Vec::with_capacity(findings.len()),
    };
    let mut roots = Vec::new();
    for (index, placed) in findings.iter().enumerate() {
        match placed.cause.and_then(|cause| tree.symptoms.get_mut(cause)) {
            Some(symptoms) => symptoms.push(index),
            None => roots.push(index),
        }
    }
    for root in &roots {
        tree.weigh(findings, *root);
    }
    tree.tell(roots);
    tree.ordered
}

/// Place of the group, and the worst severity beneath.
type Key = (usize, std::cmp::Reverse<Severity>);

struct Tree {
    symptoms: Vec<Vec<usize>>,
    keys: Vec<Option<Key>>,
    ordered: Vec<usize>,
}

impl Tree {
    fn weigh(&mut self, findings: &[Placed], index: usize) -> Option<Severity> {
        let placed = findings.get(index)?;
        let mut worst = placed.severity;
        for symptom in self.symptoms.get(index).cloned().unwrap_or_default() {
            worst = worst.max(self.weigh(findings, symptom)?);
        }
        if let Some(key) = self.keys.get_mut(index) {
            *key = Some((place_of(placed.check), std::cmp::Reverse(worst)));
        }
        Some(worst)
    }

    fn tell(&mut self, mut here: Vec<usize>) {
        here.sort_by_key(|index| (self.keys.get(*index).copied().flatten(), *index));
        for index in here {
            self.ordered.push(index);
            let symptoms = self.symptoms.get_mut(index).map(std::mem::take);
            self.tell(symptoms.unwrap_or_default());
        }
    }
}

fn place_of(check: &Check) -> usize {
    let place = Group::ALL.iter().position(|group| *group == check.group);
    place.unwrap_or(Group::ALL.len())
}

#[cfg(test)]
mod tests {
    use super::super::super::check::Outcome;
    use super::super::super::finding::Subject;
    use super::*;

    static BUS: Check = Check {
        id: "session-bus",
        group: Group::SessionBus,
        title: "",
        codes: &[],
        reads: &[],
        run: |_| Outcome::default(),
    };
    static HOST: Check = Check {
        id: "host",
        group: Group::Host,
        ..BUS
    };

    fn placed(
        check: &'static Check,
        code: &'static str,
        subject: &str,
        causes: &[&'static str],
    ) -> Placed {
        let mut finding = Finding::new(code, Subject::new("unit", subject), code);
        finding.causes = causes.to_vec();
        Placed {
            finding,
            severity: Severity::Warning,
            check,
            cause: None,
        }
    }

    fn told(mut findings: Vec<Placed>) -> Vec<(&'static str, Option<usize>)> {
        link(&mut findings);
        let order = order(&findings);
        assert_eq!(order.len(), findings.len(), "each is told once");
        order
            .iter()
            .map(|index| (findings[*index].finding.code, findings[*index].cause))
            .collect()
    }

    #[test]
    fn a_symptom_follows_the_nearest_of_its_causes() {
        let all = vec![
            placed(&BUS, "S", "a", &["X", "C", "D"]),
            placed(&BUS, "D", "a", &[]),
            placed(&HOST, "C", "b", &[]),
        ];
        assert_eq!(told(all), [("C", None), ("S", Some(2)), ("D", None)]);
    }

    #[test]
    fn the_same_subject_goes_before_any_other() {
        let all = vec![
            placed(&HOST, "C", "b", &[]),
            placed(&HOST, "C", "a", &[]),
            placed(&BUS, "S", "a", &["C"]),
        ];
        assert_eq!(told(all)[2], ("S", Some(1)));
    }

    #[test]
    fn one_home_or_job_explains_nothing_of_another_and_the_host_explains_all() {
        let at = |home: &str, mut placed: Placed| {
            placed.finding.home = Some(home.into());
            placed
        };
        let of = |kind: &str, mut placed: Placed| {
            placed.finding.subject.kind = kind.to_owned();
            placed
        };
        let all = vec![
            at("/a", placed(&HOST, "C", "a", &[])),
            at("/b", placed(&BUS, "S", "b", &["C", "H"])),
            placed(&HOST, "H", "host", &[]),
        ];
        assert_eq!(told(all), [("C", None), ("H", None), ("S", Some(2))]);
        let jobs = vec![
            of("job", placed(&HOST, "C", "a", &[])),
            of("job", placed(&BUS, "S", "b", &["C"])),
            of("home", placed(&BUS, "T", "b", &["C"])),
        ];
        assert_eq!(told(jobs), [("C", None), ("T", Some(0)), ("S", None)]);
    }

    #[test]
    fn findings_that_blame_each_other_are_all_told() {
        let all = vec![
            placed(&BUS, "A", "x", &["B"]),
            placed(&BUS, "B", "x", &["C"]),
            placed(&BUS, "C", "x", &["A"]),
        ];
        assert_eq!(told(all).len(), 3);
        let all = vec![
            placed(&BUS, "A", "x", &["A"]),
            placed(&BUS, "A", "x", &["A"]),
        ];
        assert_eq!(told(all).len(), 2);
    }

    #[test]
    fn groups_keep_their_order_and_the_worse_is_told_first() {
        let mut worse = placed(&HOST, "W", "x", &[]);
        worse.severity = Severity::Error;
        let all = vec![
            placed(&BUS, "B", "x", &[]),
            placed(&HOST, "A", "x", &[]),
            worse,
        ];
        let codes: Vec<_> = told(all).into_iter().map(|(code, _)| code).collect();
        assert_eq!(codes, ["W", "A", "B"]);
    }
}
