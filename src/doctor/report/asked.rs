//! How the doctor is asked again, once a remedy was run, for the one finding that is to be gone: others
//! of its group are no matter. Pure.

use super::super::catalog::{self, ClearedBy};
use super::super::finding::{Remedy, Severity};
use super::fold::Placed;
use crate::host::facts::OwnName;

/// How the doctor is asked again.
pub(super) struct Asked<'a> {
    /// The words that ask for one finding; none where no remedy of it makes it go away.
    only: Option<Vec<String>>,
    /// The words that ask from the point of view of this report.
    view: &'a [String],
}

impl<'a> Asked<'a> {
    /// For this finding, which may be the only one of its code.
    pub(super) fn of(placed: &Placed, alone: bool, view: &'a [String]) -> Self {
        let finding = &placed.finding;
        let entry = catalog::find(finding.code);
        // Its remedies show what there is to decide on, and change nothing.
        if entry
            .is_some_and(|entry| matches!(entry.cleared_by, ClearedBy::Person | ClearedBy::Nothing))
        {
            return Self { only: None, view };
        }
        let fingerprint = finding.fingerprint();
        // A comma ends a name on the command line.
        let name = if alone || fingerprint.contains(',') {
            finding.code
        } else {
            &fingerprint
        };
        let mut words = vec!["--only", name];
        if placed.severity == Severity::Info {
            words.extend(["--fail-on", Severity::Info.word()]);
        }
        let only = Some(words.into_iter().map(str::to_owned).collect());
        Self { only, view }
    }

    /// The remedy whose verification, where it asks the doctor again, asks for this finding alone.
    pub(super) fn of_it_alone(&self, mut remedy: Remedy) -> Remedy {
        let doctor = [OwnName::BARE, "cron", "doctor"];
        if remedy
            .verify
            .get(..doctor.len())
            .is_none_or(|words| words != doctor)
        {
            return remedy;
        }
        match &self.only {
            Some(words) => {
                // What names its home is a question about that alone.
                if remedy.verify.len() == doctor.len() {
                    remedy.verify.extend_from_slice(self.view);
                }
                let after = doctor.len()..doctor.len();
                remedy.verify.splice(after, words.iter().cloned());
            }
            None => remedy.verify.clear(),
        }
        remedy
    }
}
