//! Whose a session is: ours, Hermes Agent's, or ours and live in another process.

use std::collections::BTreeSet;

use super::Desk;
use crate::home::Home;
use crate::server::hub::{Stored, Then};
use crate::server::lease_file::Leases;
use crate::sessions::rows::{self, Registry};
use crate::sessions::store::{Found, Loaded, Store, Theirs};

impl Desk {
    /// Sessions that another process has live are left to it: a timer has one driver.
    pub(super) fn load(&mut self) -> Result<Loaded, String> {
        let mut loaded = self.ask(Store::load)?;
        let others = self.leases.as_mut().map(Leases::look).unwrap_or_default();
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

    /// Sessions of ours that another process held until now, and that have something to do: they are
    /// ours to drive again. What a dead process left in the registry is taken back.
    pub(super) fn freed(&mut self) -> Vec<Found> {
        let others = self.leases.as_mut().map(Leases::look).unwrap_or_default();
        let mut held: BTreeSet<String> = others.held.into_keys().collect();
        held.retain(|id| self.is_ours(id));
        let mut left = others.left;
        left.retain(|id| self.is_ours(id));
        let mut free = std::mem::take(&mut self.with_others);
        free.extend(left.iter().cloned());
        free.retain(|id| !held.contains(id));
        if let Some(leases) = &mut self.leases {
            leases.reclaim(left);
        }
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

    fn is_ours(&mut self, id: &str) -> bool {
        self.ask(|store| store.is_ours(id)) == Ok(true)
    }

    pub(super) fn find(&mut self, name: &str, then: Then) -> Stored {
        match self.ask(|store| store.find(name)) {
            Ok(None) => match self.theirs(name) {
                Ok(Some(theirs)) => Stored::Theirs(theirs, then),
                other => Stored::Found(other.map(|_| None), then),
            },
            Ok(Some(found)) => match self.elsewhere(&found.card.id) {
                Some(theirs) => Stored::Theirs(theirs, then),
                None => Stored::Found(Ok(Some(Box::new(found))), then),
            },
            Err(why) => Stored::Found(Err(why), then),
        }
    }

    pub(super) fn delete(&mut self, id: &str, then: Then) -> Stored {
        if let Some(theirs) = self.elsewhere(id) {
            return Stored::Theirs(theirs, then);
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
        if self.ask(|store| store.is_ours(id)) != Ok(false) {
            return Ok(then);
        }
        Err(Box::new(match self.theirs(id) {
            Ok(Some(theirs)) => Stored::Theirs(theirs, then),
            _ => Stored::Unknown(id.to_owned(), then),
        }))
    }

    /// A session that another process has live, whoever made it.
    fn elsewhere(&self, id: &str) -> Option<Theirs> {
        let others = self.leases.as_ref()?.others(|other| other == id);
        others.held.into_values().next()
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
