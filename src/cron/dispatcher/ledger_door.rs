//! The ledger that a dispatcher keeps open, for whoever is away from the event loop.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::tz::TimeZone;

use crate::error::Result;
use crate::ledger::Ledger;

/// One connection, or none so far.
pub(super) type Shared = Arc<Mutex<Option<Ledger>>>;

/// The way to it.
pub(in crate::cron) struct LedgerDoor {
    pub(super) shared: Shared,
    pub(super) path: PathBuf,
    pub(super) zone: TimeZone,
}

impl LedgerDoor {
    /// Does something with it. May wait for a lock.
    pub(in crate::cron) fn with<T>(&self, act: impl FnOnce(&mut Ledger) -> Result<T>) -> Result<T> {
        let mut slot = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        // It writes times in the zone in which it was opened.
        let mut ledger = match slot.take().filter(|ledger| *ledger.zone() == self.zone) {
            Some(ledger) => ledger,
            None => Ledger::open(&self.path, self.zone.clone())?,
        };
        let result = act(&mut ledger);
        *slot = Some(ledger);
        result
    }
}
