//! Who holds a lock, without taking it.
//!
//! ```text
//! LockTable::new()             one look at /proc/locks and the mounts, taken at the first question
//! LockTable::holder(path)      who holds the flock of a file -> Holder
//! LockTable::mount(path)       the mount it lies on: network file systems may not keep locks
//! sqlite_locks(database)       who holds SQLite's locks, by F_GETLK; never in a process that has it open
//! ```
//!
//! Trying a lock, even shared and without waiting, does harm: the other side's own try fails
//! meanwhile, and a tick is skipped. So the kernel's table is read instead. Its device is that of the
//! superblock, which on an overlay is not what `stat` says, so it comes from the mount. Its pid is
//! that of the process that *took* the lock: a child that inherited the descriptor holds it on. And
//! locks of processes outside this pid namespace are not in it at all, so in a container "no line"
//! is "cannot tell".
//!
//! This file judges; `proc` parses; `probe` and `posix` look.

mod posix;
mod probe;
pub mod proc;

use serde::{Deserialize, Serialize};

use super::facts::FileId;
use proc::{LockKind, LockLine};

pub use posix::{SqliteLock, SqliteRole, sqlite_locks};
pub use probe::LockTable;

/// Who holds a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum Holder {
    /// A process holds it.
    Held {
        /// Its pid, in our namespace.
        pid: u32,
        /// Its own descriptors say so too; otherwise they could not be read.
        confirmed: bool,
    },
    /// It is held, but no longer by the process that took it: that one ended or let its descriptor
    /// go, and whoever inherited the descriptor holds it on.
    HeldByEndedTaker {
        /// The pid that took it.
        taker: u32,
        /// Who holds it now, as far as can be seen.
        holders: Vec<u32>,
    },
    /// It is held by something that has no pid here: a process outside this container, or an open
    /// file description that several may share.
    HeldOutside,
    /// Nobody holds it.
    Free,
    /// There is no such file, so there is nothing to hold.
    Absent,
    /// It could not be found out.
    CannotTell {
        /// What stood in the way, a fragment.
        why: String,
    },
}

impl Holder {
    /// Whether it is certain that somebody holds it.
    #[must_use]
    pub fn is_held(&self) -> bool {
        matches!(
            self,
            Self::Held { .. } | Self::HeldByEndedTaker { .. } | Self::HeldOutside
        )
    }

    /// Who holds it now, as far as known.
    #[must_use]
    pub fn pids(&self) -> &[u32] {
        match self {
            Self::Held { pid, .. } => std::slice::from_ref(pid),
            Self::HeldByEndedTaker { holders, .. } => holders,
            _ => &[],
        }
    }
}

/// What is known of the process that took a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taker {
    /// One of its descriptors has the lock.
    Holds,
    /// None of its descriptors has it.
    HoldsNot,
    /// Its descriptors may not be read.
    Unreadable,
    /// There is no such process any more.
    Ended,
}

/// What it means here that the table has no line for a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sight {
    /// That nobody holds it.
    Whole,
    /// Nothing: why.
    Partial(String),
}

/// The process that took the flock of a file, the exclusive one first; waiting ones hold nothing.
#[must_use]
pub fn taker(lines: &[LockLine], file: FileId) -> Option<u32> {
    lines
        .iter()
        .filter(|line| line.kind == LockKind::Flock && line.file == file && !line.waiting)
        .max_by_key(|line| line.exclusive)
        .map(|line| u32::try_from(line.pid).unwrap_or(0))
}

/// Who holds the flock, from the table's line, the taker's state and whoever else has it.
#[must_use]
pub fn judge(taker: Option<(u32, Taker)>, holders: &[u32], sight: &Sight) -> Holder {
    match (taker, sight) {
        (None, Sight::Whole) => Holder::Free,
        (None, Sight::Partial(why)) => Holder::CannotTell { why: why.clone() },
        (Some((0, _)), _) => Holder::HeldOutside,
        (Some((pid, Taker::Holds)), _) => Holder::Held {
            pid,
            confirmed: true,
        },
        (Some((pid, Taker::Unreadable)), _) => Holder::Held {
            pid,
            confirmed: false,
        },
        (Some((taker, Taker::HoldsNot | Taker::Ended)), _) => Holder::HeldByEndedTaker {
            taker,
            holders: holders.to_vec(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: FileId = FileId {
        device: (0, 0x36),
        inode: 42,
    };

    fn lines() -> Vec<LockLine> {
        proc::locks(
            "1: POSIX  ADVISORY  WRITE 9 00:36:42 0 EOF\n\
             2: FLOCK  ADVISORY  READ 10 00:36:42 0 EOF\n\
             3: FLOCK  ADVISORY  WRITE 11 00:36:42 0 EOF\n\
             3: -> FLOCK  ADVISORY  WRITE 12 00:36:42 0 EOF\n\
             4: FLOCK  ADVISORY  WRITE 13 00:35:42 0 EOF\n",
        )
    }

    #[test]
    fn the_line_of_the_file_counts_and_waiting_is_not_holding() {
        assert_eq!(taker(&lines(), FILE), Some(11));
        let other = FileId { inode: 43, ..FILE };
        assert_eq!(taker(&lines(), other), None);
        // An overlay's own device number is another one than that of its superblock.
        let overlay = FileId {
            device: (0, 0x35),
            inode: 42,
        };
        assert_eq!(taker(&lines(), overlay), Some(13));
        assert_eq!(taker(&lines()[3..4], FILE), None);
    }

    #[test]
    fn no_line_is_free_only_where_all_is_seen() {
        let partial = Sight::Partial("in a container".to_owned());
        assert_eq!(judge(None, &[], &Sight::Whole), Holder::Free);
        assert_eq!(
            judge(None, &[], &partial),
            Holder::CannotTell {
                why: "in a container".to_owned()
            }
        );
        assert!(judge(Some((5, Taker::Holds)), &[], &partial).is_held());
    }

    #[test]
    fn a_lock_outlives_the_process_that_took_it() {
        let held = judge(Some((5, Taker::Ended)), &[6, 7], &Sight::Whole);
        assert_eq!(
            held,
            Holder::HeldByEndedTaker {
                taker: 5,
                holders: vec![6, 7]
            }
        );
        assert_eq!(held.pids(), [6, 7]);
        let reused = judge(Some((5, Taker::HoldsNot)), &[], &Sight::Whole);
        assert!(reused.is_held() && reused.pids().is_empty());
        let foreign = judge(Some((5, Taker::Unreadable)), &[], &Sight::Whole);
        assert_eq!(
            foreign,
            Holder::Held {
                pid: 5,
                confirmed: false
            }
        );
    }
}
