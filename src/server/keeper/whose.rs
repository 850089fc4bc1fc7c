//! Whose a session is: ours, Hermes Agent's, or ours and live in another process.

use std::collections::BTreeSet;

use super::Desk;
use crate::home::Home;
use crate::server::hub::{Stored, Then};
use crate::server::lease_file::{Leases, Others};
use crate::server::turn::words;
use crate::sessions::rows::{self, Registry};
use crate::sessions::store::{Found, Loaded, Store, Theirs};

impl Desk {
    /// Sessions that another process has live are left to it: a timer has one driver. So is every
    /// session as long as nobody can tell whose it is.
    pub(super) fn load(&mut self) -> Result<Loaded, String> {
        let mut loaded = self.ask(Store::load)?;
        let Some(others) = self.look() else {
            let left = loaded.revived.drain(..).map(|found| found.card.id);
            self.with_others.extend(left);
            return Ok(loaded);
        };
        loaded.revived.retain(|found| {
            let id = &found.card.id;
            let theirs = others.held.get(id);
            if let Some(theirs) = theirs {
                let holder = &theirs.holder;
                tracing::warn!("The session {id} is left to {holder}, which holds it.");
                self.with_others.insert(id.clone());
            }
            theirs.is_none()
        });
        Ok(loaded)
    }

    /// What others have; `None` where that cannot be told, which is said once.
    fn look(&mut self) -> Option<Others> {
        let looked = self.leases.as_mut().map(Leases::look).transpose();
        match looked {
            Ok(others) => {
                self.blind = false;
                Some(others.unwrap_or_default())
            }
            Err(error) => {
                if !std::mem::replace(&mut self.blind, true) {
                    let error = words(&error);
                    tracing::warn!(
                        "Nobody can tell which sessions other processes have, so none that may be \
                         theirs goes on here: {error}."
                    );
                }
                None
            }
        }
    }

    /// Sessions of ours that another process held until now, and that have something to do: they are
    /// ours to drive again. What a dead process left in the registry is taken back.
    pub(super) fn freed(&mut self) -> Vec<Found> {
        let Some(others) = self.look() else {
            return Vec::new();
        };
        let mut held: BTreeSet<String> = others.held.into_keys().collect();
        let mut left = others.left;
        left.retain(|id| self.is_ours(id) == Ok(true));
        let mut free = std::mem::take(&mut self.with_others);
        free.extend(left.iter().cloned());
        free.retain(|id| !held.contains(id));
        if let Some(leases) = &mut self.leases {
            leases.reclaim(left);
        }
        // One of which the store did not say whose it is may be ours as well.
        held.retain(|id| self.is_ours(id) != Ok(false));
        self.with_others = held;
        let mut found = Vec::new();
        for id in free {
            match self.ask(|store| store.find_live(&id)) {
                Ok(live) => found.extend(live),
                // Another time.
                Err(_) => drop(self.with_others.insert(id)),
            }
        }
        found
    }

    fn is_ours(&mut self, id: &str) -> Result<bool, String> {
        self.ask(|store| store.is_ours(id))
    }

    pub(super) fn find(&mut self, name: &str, then: Then) -> Stored {
        match self.ask(|store| store.find(name)) {
            Ok(None) => match self.theirs(name) {
                Ok(Some(theirs)) => Stored::Theirs(theirs, then),
                other => Stored::Found(other.map(|_| None), then),
            },
            Ok(Some(found)) => match self.elsewhere(&found.card.id) {
                Ok(Some(theirs)) => Stored::Theirs(theirs, then),
                Ok(None) => Stored::Found(Ok(Some(Box::new(found))), then),
                Err(why) => Stored::Found(Err(why), then),
            },
            Err(why) => Stored::Found(Err(why), then),
        }
    }

    pub(super) fn delete(&mut self, id: &str, then: Then) -> Stored {
        match self.elsewhere(id) {
            Ok(Some(theirs)) => return Stored::Theirs(theirs, then),
            Ok(None) => {}
            Err(why) => return Stored::Deleted(Err(why), then),
        }
        match self.ask(|store| store.delete(id)) {
            Ok(false) => match self.theirs(id) {
                Ok(Some(theirs)) => Stored::Theirs(theirs, then),
                other => Stored::Deleted(other.map(|_| false), then),
            },
            deleted => Stored::Deleted(deleted, then),
        }
    }

    /// That a session is ours; else whose it is. A store that cannot be read fails the question itself.
    pub(super) fn known(&mut self, id: &str, then: Then) -> Result<Then, Box<Stored>> {
        if self.is_ours(id) != Ok(false) {
            return Ok(then);
        }
        Err(Box::new(match self.theirs(id) {
            Ok(Some(theirs)) => Stored::Theirs(theirs, then),
            _ => Stored::Unknown(id.to_owned(), then),
        }))
    }

    /// A session that another process has live, whoever made it.
    fn elsewhere(&self, id: &str) -> Result<Option<Theirs>, String> {
        let Some(leases) = &self.leases else {
            return Ok(None);
        };
        let others = leases.others(|other| other == id);
        let others = others.map_err(|error| words(&error))?;
        Ok(others.held.into_values().next())
    }

    /// Whether a session is Hermes Agent's, and who has it.
    fn theirs(&mut self, id: &str) -> Result<Option<Theirs>, String> {
        let registry = self.registry();
        self.ask(|store| store.theirs(id, &registry))
    }

    /// Only for the name of a holder: whose a session is the store says.
    fn registry(&self) -> Registry {
        let home = self.path.parent().map(Home::at);
        let registry = home.and_then(|home| rows::read_registry(&home).ok().flatten());
        registry.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::clock::{Clock as _, SystemClock};
    use crate::server::instance::{self, Identity};

    #[test]
    fn a_session_of_which_the_store_did_not_say_whose_it_is_is_not_forgotten() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        std::fs::create_dir(home.join("runtime")).unwrap();
        // A process that names no pid may live.
        let registry = r#"{"entries": [{"session_id": "held"}]}"#;
        std::fs::write(home.join("runtime/active_sessions.json"), registry).unwrap();
        let clock = Arc::new(SystemClock);
        let machine = instance::machine(clock.now());
        let own = Identity::own(&machine, clock.now());
        let leases = Leases::new(home.clone(), machine, &own, clock);
        let mut desk = Desk::new(home.state_db(), Some(leases));
        desk.with_others.insert("held".to_owned());
        // It fails once, and the next connection works.
        desk.store = Some(Store::without_tables());
        assert_eq!(desk.freed(), []);
        assert_eq!(desk.with_others, ["held".to_owned()].into());
    }
}
