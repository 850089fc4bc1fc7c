//! Who drives a timer of a stored session, as far as records and locks tell. Pure.
//!
//! A routed loop, and a heartbeat whose session is in the routing index, belong to the messaging
//! gateway; every other one to our serve, or, where none runs, to the process that holds the session.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

/// A process that might drive something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Party {
    /// It runs.
    Runs {
        /// What it is, such as `serve`.
        what: String,
        /// Its pid, where known.
        pid: Option<u32>,
    },
    /// It does not: a fragment that says so.
    Not(String),
    /// It cannot be told: why.
    Unsure(String),
}

impl Party {
    /// The party in words; one that does not run says so.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Runs {
                what,
                pid: Some(pid),
            } => format!("{what}, pid {pid}"),
            Self::Runs { what, pid: None } => what.clone(),
            Self::Not(why) | Self::Unsure(why) => why.clone(),
        }
    }
}

/// All that might drive timers of one home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drivers {
    /// The messaging gateway of this home, or of its root.
    pub gateway: Party,
    /// Our serve.
    pub serve: Party,
    /// Backends of Hermes Agent that said they live: which of them has loaded a session nobody sees.
    pub backends: Vec<Party>,
    /// Who holds which stored session, by the registry.
    pub holders: BTreeMap<String, Vec<Party>>,
    /// Why the registry could not be read.
    pub registry_gap: Option<String>,
    /// Sessions of ours: those that our serve drives.
    pub ours: BTreeSet<String>,
    /// Sessions whose timers were left without a driver, and why.
    pub left: BTreeMap<String, String>,
}

/// Who drives one timer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Driven {
    /// This process.
    By(String),
    /// Nobody: why.
    Not(String),
    /// It cannot be told: why.
    CannotTell(String),
}

impl Driven {
    /// The words that a list shows.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::By(who) => format!("driven by {who}"),
            Self::Not(why) => format!("not driven: {why}"),
            Self::CannotTell(why) => format!("cannot tell who drives it: {why}"),
        }
    }
}

/// Who drives a timer of this session. `elsewhere`: it belongs to the messaging gateway.
#[must_use]
pub fn driven(session: &str, elsewhere: bool, drivers: &Drivers) -> Driven {
    if elsewhere {
        return of_party(&drivers.gateway);
    }
    if let Some(why) = drivers.left.get(session) {
        return Driven::Not(why.clone());
    }
    if let (Party::Runs { .. }, true) = (&drivers.serve, drivers.ours.contains(session)) {
        return of_party(&drivers.serve);
    }
    let holders = drivers
        .holders
        .get(session)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let running = holders
        .iter()
        .find(|party| matches!(party, Party::Runs { .. }));
    let unsure = || {
        holders
            .iter()
            .find(|party| matches!(party, Party::Unsure(_)))
    };
    if let Some(party) = running.or_else(unsure) {
        return of_party(party);
    }
    if let Party::Unsure(why) = &drivers.serve {
        return Driven::CannotTell(why.clone());
    }
    if let Some(why) = &drivers.registry_gap {
        return Driven::CannotTell(why.clone());
    }
    let serve = match &drivers.serve {
        Party::Runs { .. } => "serve drives the sessions that it made".to_owned(),
        other => other.words(),
    };
    match holders.first() {
        Some(gone) => Driven::Not(format!("{}, and {serve}", gone.words())),
        None => Driven::Not(format!("{serve}, and no process holds the session")),
    }
}

fn of_party(party: &Party) -> Driven {
    let words = party.words();
    match party {
        Party::Runs { .. } => Driven::By(words),
        Party::Not(_) => Driven::Not(words),
        Party::Unsure(_) => Driven::CannotTell(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(what: &str) -> Party {
        Party::Runs {
            what: what.into(),
            pid: Some(7),
        }
    }

    fn nobody() -> Drivers {
        Drivers {
            gateway: Party::Not("no messaging gateway runs for this home".into()),
            serve: Party::Not("no serve runs for this home".into()),
            backends: Vec::new(),
            holders: BTreeMap::new(),
            registry_gap: None,
            ours: BTreeSet::new(),
            left: BTreeMap::new(),
        }
    }

    #[test]
    fn b115_an_armed_loop_that_nobody_polls_is_not_driven() {
        let words = driven("s", false, &nobody()).words();
        assert_eq!(
            words,
            "not driven: no serve runs for this home, and no process holds the session"
        );
        let mut drivers = nobody();
        drivers.holders.insert(
            "s".into(),
            vec![Party::Not("desktop, pid 9, has ended".into())],
        );
        assert!(
            driven("s", false, &drivers)
                .words()
                .contains("pid 9, has ended")
        );
    }

    #[test]
    fn b115_serve_drives_whether_or_not_a_client_is_attached() {
        let mut drivers = Drivers {
            serve: runs("serve"),
            ours: ["s".to_owned()].into(),
            ..nobody()
        };
        assert_eq!(
            driven("s", false, &drivers),
            Driven::By("serve, pid 7".into())
        );
        assert!(
            matches!(driven("theirs", false, &drivers), Driven::Not(_)),
            "sessions of the other program it does not touch"
        );
        drivers.left.insert("s".into(), "it was removed".into());
        assert_eq!(
            driven("s", false, &drivers),
            Driven::Not("it was removed".into())
        );
        assert!(
            matches!(driven("s", true, &drivers), Driven::Not(_)),
            "a routed one it leaves alone"
        );
    }

    #[test]
    fn what_cannot_be_told_is_neither_driven_nor_not() {
        let mut drivers = nobody();
        drivers.registry_gap = Some("permission denied".into());
        assert!(matches!(
            driven("s", false, &drivers),
            Driven::CannotTell(_)
        ));
        drivers.holders.insert("s".into(), vec![runs("desktop")]);
        assert_eq!(
            driven("s", false, &drivers),
            Driven::By("desktop, pid 7".into())
        );
    }
}
