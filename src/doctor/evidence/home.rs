//! What one home holds: its files as `stat` sees them, its stores, its markers.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;

use super::gateway::GatewayFiles;
use super::read::{Read, Stat};
use crate::home::Home;

/// What one home holds.
#[derive(Clone, Debug)]
pub struct HomeEvidence {
    /// Which one.
    pub home: Home,
    /// What lies where, by path inside the home; the home itself is the empty path.
    pub files: BTreeMap<&'static str, Read<Stat>>,
    /// The file system under `cron/`, or under the home where that is not there.
    pub disk: Read<Disk>,
    /// What the ticker left behind.
    pub ticker: Ticker,
    /// What a gateway or serve left behind.
    pub gateway: GatewayFiles,
    /// The emergency stop that is in force, of this home or of its root.
    pub stop: Read<Stop>,
    /// What the jobs have written.
    pub output: Read<Output>,
}

impl HomeEvidence {
    /// Evidence of a home that holds nothing.
    #[must_use]
    pub fn empty(home: Home) -> Self {
        Self {
            home,
            files: BTreeMap::new(),
            disk: Read::Absent,
            ticker: Ticker::default(),
            gateway: GatewayFiles::default(),
            stop: Read::Absent,
            output: Read::Absent,
        }
    }

    /// What lies at this path inside the home.
    #[must_use]
    pub fn file(&self, relative: &str) -> &Read<Stat> {
        self.files.get(relative).unwrap_or(&Read::Absent)
    }

    /// Whether the directory of the home is there.
    #[must_use]
    pub fn exists(&self) -> bool {
        !self.file("").is_absent()
    }

    /// The path of the home, as text.
    #[must_use]
    pub fn label(&self) -> String {
        self.home.path().display().to_string()
    }

    /// A path inside the home, as text.
    #[must_use]
    pub fn path(&self, relative: &str) -> String {
        if relative.is_empty() {
            self.label()
        } else {
            self.home.join(relative).display().to_string()
        }
    }
}

/// A file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// Its kind by name: `ext4`, `nfs`; a number where it is not known.
    pub kind: String,
    /// Mounted read-only.
    pub read_only: bool,
    /// Bytes that an ordinary user can still write.
    pub free: u64,
    /// Bytes in all.
    pub total: u64,
    /// Inodes that are free; `None` where the file system does not count them.
    pub free_inodes: Option<u64>,
    /// Inodes in all.
    pub total_inodes: Option<u64>,
}

impl Disk {
    /// Whether the kernel of another host, or a user-space program, answers for its locks.
    #[must_use]
    pub fn is_remote(&self) -> bool {
        const REMOTE: [&str; 8] = ["nfs", "smb", "cifs", "smb2", "9p", "afs", "ceph", "fuse"];
        REMOTE.contains(&self.kind.as_str())
    }
}

/// The markers in `cron/`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ticker {
    /// `ticker_heartbeat`: written by every pass of the ticker, good or bad.
    pub heartbeat: Read<Beat>,
    /// `ticker_last_success`.
    pub success: Read<Timestamp>,
    /// `ticker_last_error`: removed after a good tick.
    pub error: Read<TickError>,
    /// `catch_up_occurrences`: runs that stood for several missed ones, since ever.
    pub catch_ups: Read<u64>,
}

/// One heartbeat of a ticker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beat {
    /// When.
    pub at: Timestamp,
    /// By which process; old versions do not say.
    pub pid: Option<u32>,
}

/// The last tick that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TickError {
    /// When.
    pub at: Timestamp,
    /// Its words, first line.
    pub text: String,
}

/// An emergency stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The file that makes it.
    pub path: PathBuf,
    /// Since when: its own word, else when the file was made.
    pub since: Option<Timestamp>,
    /// Until when, where it says so.
    pub until: Option<Timestamp>,
    /// Why, where it says so.
    pub reason: Option<String>,
}

/// What lies in `cron/output`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Directories of jobs.
    pub directories: usize,
    /// Files in them, as far as they were counted.
    pub files: usize,
    /// The directory with the most files, and how many.
    pub fullest: Option<(String, usize)>,
    /// Counting stopped here: there are more.
    pub stopped: bool,
}
