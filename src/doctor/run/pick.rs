//! Which checks run: `--only` and `--skip`. Pure.

use super::super::check::{Check, Group};
use crate::error::{Error, Result};
use crate::output::nearest::nearest;

/// What was asked for, by ids of checks or groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pick {
    /// Only these; empty for all.
    pub only: Vec<String>,
    /// Not these.
    pub skip: Vec<String>,
}

/// The checks that run, in the order of the report.
///
/// # Errors
/// When an id is that of no check and no group, or nothing is left to run.
pub fn pick(all: impl Iterator<Item = &'static Check>, pick: &Pick) -> Result<Vec<&'static Check>> {
    let all: Vec<_> = all.collect();
    for id in pick.only.iter().chain(&pick.skip) {
        known(id, &all)?;
    }
    let named = |check: &Check, ids: &[String]| {
        ids.iter()
            .any(|id| id == check.id || id == check.group.name())
    };
    let picked: Vec<_> = all
        .into_iter()
        .filter(|check| pick.only.is_empty() || named(check, &pick.only))
        .filter(|check| !named(check, &pick.skip))
        .collect();
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
    if ids().any(|known| known == id) {
        return Ok(());
    }
    let mut error = Error::usage(format!("there is no check or group '{id}'"));
    if let Some(near) = nearest(id, ids()).first() {
        error = error.with_hint(format!("did you mean {near}?"));
    }
    let groups: Vec<_> = Group::ALL.iter().map(|group| group.name()).collect();
    let mut checks: Vec<_> = all.iter().map(|check| check.id).collect();
    checks.retain(|check| !groups.contains(check));
    error = error.with_hint(format!("groups: {}", groups.join(", ")));
    Err(error.with_hint(format!("checks: {}", checks.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::super::super::check::Outcome;
    use super::*;
    use crate::error::Kind;

    static LINGER: Check = Check {
        id: "linger",
        group: Group::Linger,
        title: "",
        codes: &[],
        run: |_| Outcome::default(),
    };
    static BUS: Check = Check {
        id: "session-bus-door",
        group: Group::SessionBus,
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
    fn an_unknown_id_lists_those_that_there_are() {
        let error = ids(&["lingr"], &[]).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage);
        assert_eq!(error.hints()[0], "did you mean linger?");
        assert!(error.hints()[1].contains("session-bus"), "{error:?}");
        assert!(error.hints()[2].contains("session-bus-door"), "{error:?}");
        assert_eq!(
            ids(&["linger"], &["linger"]).unwrap_err().kind(),
            Kind::Usage
        );
    }
}
