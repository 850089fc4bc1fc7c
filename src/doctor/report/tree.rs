//! A finding with all that it explains: what it comes to, and what a person is to do about it. Pure.

use super::super::finding::{Remedy, Severity};
use super::Reported;

/// A finding that no other explains, and those that it explains, at any depth.
#[derive(Clone, Copy, Debug)]
pub struct Tree<'a> {
    /// What explains the others.
    pub root: &'a Reported,
    /// What it explains, in the order of the report.
    pub symptoms: &'a [Reported],
}

impl<'a> Tree<'a> {
    /// All of it, the cause first.
    fn all(self) -> impl Iterator<Item = &'a Reported> {
        std::iter::once(self.root).chain(self.symptoms)
    }

    /// The worst severity: a cause is as bad as what it explains.
    #[must_use]
    pub fn worst(self) -> Severity {
        let severities = self.symptoms.iter().map(|found| found.severity);
        severities.fold(self.root.severity, Severity::max)
    }

    /// The finding that makes it so bad: the cause itself, else the first of what it explains.
    #[must_use]
    pub fn gravest(self) -> &'a Reported {
        let worst = self.worst();
        let gravest = self.all().find(|found| found.severity == worst);
        gravest.unwrap_or(self.root)
    }

    /// The first thing to do: a way out of the cause, else of the worst of what it explains. What is
    /// merely worth knowing is no reason to end work that is under way.
    #[must_use]
    pub fn way_out(self) -> Option<&'a Remedy> {
        let worst = self.worst();
        let may = move |remedy: &&Remedy| worst > Severity::Info || !remedy.disruptive;
        let of = |found: &'a Reported| found.remedies.iter().find(may);
        let grave = || self.all().filter(|found| found.severity == worst);
        of(self.root)
            .or_else(|| grave().find_map(of))
            .or_else(|| self.all().find_map(of))
    }

    /// What is explained and no less than this, each with whether a way out of what explains it is told
    /// above it.
    pub fn explained(self, least: Severity) -> impl Iterator<Item = (&'a Reported, bool)> {
        let mut mended: Vec<&str> = Vec::new();
        mended.extend((!self.root.remedies.is_empty()).then_some(self.root.id.as_str()));
        let shown = move |found: &&Reported| found.severity >= least;
        self.symptoms.iter().filter(shown).map(move |found| {
            let cause = found.cause.as_deref();
            let above = cause.is_some_and(|cause| mended.contains(&cause));
            if above || !found.remedies.is_empty() {
                mended.push(&found.id);
            }
            (found, above)
        })
    }
}
