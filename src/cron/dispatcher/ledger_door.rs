//! The ledger that a dispatcher keeps open, for whoever is away from the event loop.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::tz::TimeZone;

use crate::error::{Kind, Result};
use crate::ledger::Ledger;

/// One connection, or none so far.
pub(super) type Shared = Arc<Mutex<Option<Open>>>;

/// A connection, and the file that it was made to.
pub(super) struct Open {
    ledger: Ledger,
    file: Option<(u64, u64)>,
}

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
        let kept = slot.take().filter(|open| self.is_still(open));
        let mut open = kept.map_or_else(|| self.open(), Ok)?;
        let result = act(&mut open.ledger);
        // What the file or its disk has refused a new connection may be allowed.
        let is_broken = result.as_ref().is_err_and(|error| error.kind() == Kind::Io);
        *slot = (!is_broken).then_some(open);
        result
    }

    fn open(&self) -> Result<Open> {
        let ledger = Ledger::open(&self.path, self.zone.clone())?;
        let file = identity(&self.path);
        Ok(Open { ledger, file })
    }

    /// It writes times in the zone in which it was opened, and into the file that lay there then: a backup
    /// may have taken its place, or nothing.
    fn is_still(&self, open: &Open) -> bool {
        *open.ledger.zone() == self.zone && open.file.is_some() && open.file == identity(&self.path)
    }
}

/// Device and number of a file.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let data = fs_err::metadata(path).ok()?;
    Some((data.dev(), data.ino()))
}
