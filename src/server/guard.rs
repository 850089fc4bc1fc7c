//! Whether the home of a serve that runs is still its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::instance::LOCK;
use crate::files::{self, Lock};
use crate::host::records;

/// Notices that somebody removed the lock of a serve that runs: another one may begin then, and both
/// would drive the same timers.
#[derive(Debug)]
pub(crate) struct Guard {
    lock: Arc<Lock>,
    directory: PathBuf,
}

impl Guard {
    /// The guard of a lock in this directory.
    pub(super) fn new(lock: Arc<Lock>, directory: PathBuf) -> Self {
        Self { lock, directory }
    }

    /// Whether the lock is not that of the home any more. What cannot be looked at is not judged, and in a
    /// home that is gone nobody else begins.
    pub(crate) fn is_lost(&self) -> bool {
        let path = self.directory.join(LOCK);
        match self.lock.is_at(&path) {
            Ok(Some(true)) | Err(_) => false,
            Ok(None) => self.directory.parent().is_some_and(Path::is_dir),
            // Not all file systems have a number for a file that stays. Our own lock stands in our way.
            Ok(Some(false)) => match files::try_lock(&path) {
                Ok(free) => free.is_some() || !self.is_named(),
                Err(_) => false,
            },
        }
    }

    /// Whether the record is ours.
    fn is_named(&self) -> bool {
        let text = std::fs::read_to_string(self.directory.join("serve.json"));
        let record = text.ok().and_then(|text| records::record(&text).ok());
        record.is_some_and(|record| record.identity.pid == std::process::id())
    }
}
