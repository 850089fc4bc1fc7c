//! Which checks run, and which findings are told: `--only` and `--skip`. Pure.

use super::super::check::{Check, Group};
use super::super::finding::Finding;
use super::super::report::{Ended, Ran};
use crate::error::{Error, Result};
use crate::output::nearest::nearest;

/// What was asked for, by ids of checks or groups, or by codes or fingerprints of findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pick {
    /// Only these; empty for all.
    pub only: Vec<String>,
    /// Not these.
    pub skip: Vec<String>,
}

impl Pick {
    fn takes(&self, check: &Check) -> bool {
        let finds = |id: &String| check.codes.iter().any(|code| is(code_of(id), code));
        let wanted =
            self.only.is_empty() || named(check, &self.only) || self.only.iter().any(finds);
        wanted && !named(check, &self.skip)
    }

    /// What a check says of what was asked for: where only a code was asked for, its other findings are
    /// no matter.
    pub(super) fn told(&self, mut ran: Ran) -> Ran {
        let whole = self.only.is_empty() || named(ran.check, &self.only);
        if let Ended::Said(outcome) = &mut ran.ended {
            outcome.findings.retain(|finding| {
                let wanted = whole || self.only.iter().any(|id| is_of(id, finding));
                wanted && !self.skip.iter().any(|id| is_of(id, finding))
            });
        }
        ran
    }
}

fn named(check: &Check, ids: &[String]) -> bool {
    ids.iter()
        .any(|id| id == check.id || id == check.group.name())
}

/// The code that a fingerprint begins with; a code is its own.
fn code_of(id: &str) -> &str {
    id.split(':').next().unwrap_or(id)
}

fn is(id: &str, code: &str) -> bool {
    id.eq_ignore_ascii_case(code)
}

fn is_of(id: &str, finding: &Finding) -> bool {
    let Some((code, rest)) = id.split_once(':') else {
        return is(id, finding.code);
    };
    let own = finding.fingerprint();
    let own = own.split_once(':').map(|(_, own)| own);
    is(code, finding.code) && own == Some(rest)
}

/// The checks that run, in the order of the report.
///
/// # Errors
/// When an id is that of no check, group or code, or nothing is left to run.
pub fn pick(all: impl Iterator<Item = &'static Check>, pick: &Pick) -> Result<Vec<&'static Check>> {
    let all: Vec<_> = all.collect();
    for id in pick.only.iter().chain(&pick.skip) {
        known(id, &all)?;
    }
    let picked: Vec<_> = all.into_iter().filter(|check| pick.takes(check)).collect();
    let asked = !(pick.only.is_empty() && pick.skip.is_empty());
    if picked.is_empty() && asked {
        return Err(Error::usage("--only and --skip leave no check to run"));
    }
    Ok(picked)
}

fn known(id: &str, all: &[&'static Check]) -> Result<()> {
    let ids = || {
        let groups = Group::ALL.iter().map(|group| group.name());
        groups.chain(all.iter().map(|check| check.id))
    };
    let mut codes = all.iter().flat_map(|check| check.codes);
    if ids().any(|known| known == id) || codes.any(|code| is(code_of(id), code)) {
        return Ok(());
    }
    let mut error = Error::usage(format!("there is no check, group or code '{id}'"));
    if let Some(near) = nearest(id, ids()).first() {
        error = error.with_hint(format!("did you mean {near}?"));
    }
    let groups: Vec<_> = Group::ALL.iter().map(|group| group.name()).collect();
    let mut checks: Vec<_> = all.iter().map(|check| check.id).collect();
    checks.retain(|check| !groups.contains(check));
    error = error.with_hint("the codes are listed by 'hermes explain --all'");
    error = error.with_hint(format!("groups: {}", groups.join(", ")));
    Err(error.with_hint(format!("checks: {}", checks.join(", "))))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::super::check::Outcome;
    use super::super::super::finding::Subject;
    use super::*;
    use crate::error::Kind;

    static LINGER: Check = Check {
        id: "linger",
        group: Group::Linger,
        title: "",
        codes: &["HM221", "HM222"],
        reads: &[],
        run: |_| Outcome::default(),
    };
    static BUS: Check = Check {
        id: "session-bus-door",
        group: Group::SessionBus,
        codes: &["HM204"],
        ..LINGER
    };

    fn ids(only: &[&str], skip: &[&str]) -> Result<Vec<&'static str>> {
        let owned = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        let asked = Pick {
            only: owned(only),
            skip: owned(skip),
        };
        let picked = pick([&LINGER, &BUS].into_iter(), &asked)?;
        Ok(picked.into_iter().map(|check| check.id).collect())
    }

    #[test]
    fn checks_and_groups_can_be_named() {
        assert_eq!(ids(&[], &[]).unwrap(), ["linger", "session-bus-door"]);
        assert_eq!(ids(&["session-bus"], &[]).unwrap(), ["session-bus-door"]);
        assert_eq!(
            ids(&["session-bus-door"], &[]).unwrap(),
            ["session-bus-door"]
        );
        assert_eq!(ids(&[], &["session-bus"]).unwrap(), ["linger"]);
    }

    #[test]
    fn a_code_names_the_checks_that_can_find_it_and_no_other_finding_of_theirs() {
        let told = |only: &[&str], skip: &[&str]| {
            let owned = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
            let (only, skip) = (owned(only), owned(skip));
            let pick = Pick { only, skip };
            let mut outcome = Outcome::default();
            for (code, name) in [("HM221", "bot"), ("HM221", "other"), ("HM222", "bot")] {
                outcome.find(Finding::new(code, Subject::new("user", name), ""));
            }
            let ran = pick.told(Ran {
                check: &LINGER,
                ended: Ended::Said(outcome),
                took: Duration::ZERO,
            });
            let Ended::Said(outcome) = ran.ended else {
                unreachable!()
            };
            let found = outcome.findings.iter();
            found.map(Finding::fingerprint).collect::<Vec<_>>()
        };
        assert_eq!(ids(&["hm221"], &[]).unwrap(), ["linger"]);
        assert_eq!(ids(&["HM222:user:bot"], &[]).unwrap(), ["linger"]);
        assert_eq!(ids(&[], &["HM221"]).unwrap().len(), 2);
        let all = ["HM221:user:bot", "HM221:user:other", "HM222:user:bot"];
        assert_eq!(told(&["linger", "HM221"], &[]), all);
        assert_eq!(told(&["hm221"], &[]), all[..2]);
        assert_eq!(told(&["HM221:user:other"], &[]), [all[1]]);
        assert_eq!(told(&["hm221:user:bot"], &[]), [all[0]]);
        assert_eq!(told(&["HM221:user:Bot"], &[]), [""; 0]);
        assert_eq!(told(&[], &["HM221:user:bot"]), all[1..]);
    }

    #[test]
    fn an_unknown_id_lists_those_that_there_are() {
        let error = ids(&["lingr"], &[]).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage);
        assert_eq!(error.hints()[0], "did you mean linger?");
        assert!(error.hints()[1].contains("explain"), "{error:?}");
        assert!(error.hints()[2].contains("session-bus"), "{error:?}");
        assert!(error.hints()[3].contains("session-bus-door"), "{error:?}");
        assert!(ids(&["HM999"], &[]).is_err());
        assert_eq!(
            ids(&["linger"], &["linger"]).unwrap_err().kind(),
            Kind::Usage
        );
    }
}
