//! In what the reader's shell differs from what dispatches: what works in the one may not work in the
//! other. Names and entries of `PATH` alone; a value may be nobody's business. Pure.

use serde::Serialize;

use crate::host::facts::{Environment, Facts, Viewpoint};

/// Variables that decide where jobs run and when.
const VARIABLES: [&str; 5] = [
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "HERMES_HOME",
    "TZ",
    "HERMES_TIMEZONE",
];
/// So many directories are named.
const NAMED: usize = 4;

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// `uid`, or the name of a variable.
    pub what: &'static str,
    /// What is so in the shell and not there, a fragment: `XDG_RUNTIME_DIR is set only here`.
    pub text: String,
}

/// In what this shell differs from what dispatches. Where the environment of that is not known, only its
/// account is compared.
pub(super) fn differences(facts: &Facts) -> Vec<Difference> {
    let dispatcher = &facts.dispatcher;
    if dispatcher.viewpoint == Viewpoint::Shell {
        return Vec::new();
    }
    let process = dispatcher.process.as_ref();
    let there = process.and_then(|process| process.uid.known().copied());
    let there = there.unwrap_or(facts.account.uid);
    let here = facts.shell.uid.known().copied().unwrap_or(facts.caller.uid);
    let mut found = Vec::new();
    if here != there {
        let text = format!("uid {here}, not {there}");
        found.push(Difference { what: "uid", text });
    }
    let environs = (facts.shell.environ.known(), dispatcher.environ.known());
    if let (Some(here), Some(there)) = environs {
        let text = path(here, there);
        found.extend(text.map(|text| Difference { what: "PATH", text }));
        found.extend(VARIABLES.iter().filter_map(|what| {
            let text = match (here.get(what), there.get(what)) {
                (Some(here), Some(there)) if here != there => "has another value",
                (Some(_), None) => "is set only here",
                (None, Some(_)) => "is not set here",
                _ => return None,
            };
            let text = format!("{what} {text}");
            Some(Difference { what, text })
        }));
    }
    found
}

fn path(here: &Environment, there: &Environment) -> Option<String> {
    let [here, there] = [here, there].map(|environ| environ.get("PATH").unwrap_or_default());
    if here == there {
        return None;
    }
    let only = |one: &str, other: &str| {
        let mut only: Vec<_> = one.split(':').filter(|part| !part.is_empty()).collect();
        only.retain(|part| !other.split(':').any(|known| known == *part));
        let more = match only.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        only.truncate(NAMED);
        (!only.is_empty()).then(|| format!("{}{more}", only.join(", ")))
    };
    Some(match (only(here, there), only(there, here)) {
        (Some(here), Some(there)) => format!("PATH has {here} only here, and lacks {there}"),
        (Some(here), None) => format!("PATH has {here} only here"),
        (None, Some(there)) => format!("PATH lacks {there}"),
        (None, None) => "PATH has another order".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::facts::Fact;

    fn told(here: &[(&str, &str)], there: &[(&str, &str)]) -> Vec<String> {
        let mut facts = Facts::example();
        let environ =
            |pairs: &[(&str, &str)]| Fact::Known(Environment::select(pairs.iter().copied()));
        facts.shell.environ = environ(here);
        facts.dispatcher.environ = environ(there);
        let found = differences(&facts).into_iter();
        found.map(|difference| difference.text).collect()
    }

    #[test]
    fn what_one_has_and_the_other_has_not_is_told_without_values() {
        let here = [
            ("PATH", "/a:/b:/usr/bin"),
            ("XDG_RUNTIME_DIR", "/run/user/1"),
            ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/x"),
            ("TZ", "UTC"),
        ];
        let there = [
            ("PATH", "/usr/bin:/c"),
            ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/y"),
            ("HERMES_TIMEZONE", "UTC"),
            ("TZ", "UTC"),
        ];
        let wanted = [
            "PATH has /a, /b only here, and lacks /c",
            "XDG_RUNTIME_DIR is set only here",
            "DBUS_SESSION_BUS_ADDRESS has another value",
            "HERMES_TIMEZONE is not set here",
        ];
        assert_eq!(told(&here, &there), wanted);
        assert_eq!(told(&here, &here), [""; 0]);
        let order = told(&[("PATH", "/a:/b")], &[("PATH", "/b:/a")]);
        assert_eq!(order, ["PATH has another order"]);
        let many = told(&[("PATH", "/a:/b:/c:/d:/e:/f")], &[("PATH", "/a")]);
        assert_eq!(many, ["PATH has /b, /c, /d, /e and 1 more only here"]);
    }

    #[test]
    fn the_account_is_compared_also_where_the_environment_is_not_known() {
        let mut facts = Facts::example();
        facts.shell.uid = Fact::Known(0);
        facts.dispatcher.environ = Fact::denied("another's");
        let found = differences(&facts);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].text, "uid 0, not 1001");
        facts.dispatcher.viewpoint = Viewpoint::Shell;
        assert_eq!(differences(&facts), []);
    }
}
