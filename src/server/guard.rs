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
    named: Option<Named>,
}

/// Whom a record names. A pid alone is no name: another serve may have the same one, after this or in another
/// container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pid: u32,
    start_ticks: Option<u64>,
    pid_namespace: Option<u64>,
}

impl Named {
    /// The one that this record names; `None`: it is no record.
    pub(super) fn of(record: &serde_json::Value) -> Option<Self> {
        let who = records::record(&record.to_string()).ok()?.identity;
        Some(Self {
            pid: who.pid,
            start_ticks: who.start_ticks,
            pid_namespace: who.pid_namespace,
        })
    }
}

impl Guard {
    /// The guard of a lock in this directory, of the serve that this names.
    pub(super) fn new(lock: Arc<Lock>, directory: PathBuf, named: Option<Named>) -> Self {
        Self {
            lock,
            directory,
            named,
        }
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
        let record = text.ok().and_then(|text| serde_json::from_str(&text).ok());
        record.is_some_and(|record| Named::of(&record) == self.named)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::clock::{Clock as _, SystemClock};
    use crate::home::Home;
    use crate::server::instance::tests::published;

    #[test]
    fn a_record_of_the_same_pid_and_another_start_is_another_serve_s() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        let (first, _) = published(&home, SystemClock.now());
        // The lock is replaced, as by a file system without numbers that stay: the record tells whose it is.
        let path = home.run_dir().join(LOCK);
        std::fs::remove_file(&path).unwrap();
        let _held = files::try_lock(&path).unwrap().unwrap();
        assert!(!first.guard().is_lost());
        let ours = std::fs::read_to_string(home.join("run/serve.json")).unwrap();
        let mut other: Value = serde_json::from_str(&ours).unwrap();
        other["start_ticks"] = 1.into();
        std::fs::write(home.join("run/serve.json"), other.to_string()).unwrap();
        assert!(first.guard().is_lost());
    }
}
