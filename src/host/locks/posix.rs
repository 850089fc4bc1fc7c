//! SQLite's locks, asked for by `F_GETLK`: a question that takes nothing, that a stranger may put,
//! and that is answered across pid namespaces, though without a pid.
//!
//! Asking opens the database and closes it again, which drops all locks that *this* process has on
//! it: never ask in a process that has the database open by SQLite.

use std::fs::File;
use std::path::{Path, PathBuf};

use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::Holder;

/// What a lock of SQLite means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SqliteRole {
    /// Rollback mode: waits for readers to leave, keeps new ones out.
    Pending,
    /// Rollback mode: is going to write, or writes.
    Writing,
    /// Has the database open for reading, or in WAL mode at all.
    Reading,
    /// Keeps everybody out.
    Exclusive,
    /// WAL mode: appends to the log.
    WalWriter,
    /// WAL mode: copies the log into the database.
    Checkpointer,
    /// WAL mode: rebuilds the index of the log.
    Recovering,
    /// WAL mode: reads a state of the log.
    WalReader,
    /// WAL mode: lives, and keeps the index.
    Alive,
}

/// One lock that somebody holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SqliteLock {
    /// What it means.
    pub role: SqliteRole,
    /// Who holds it.
    pub holder: Holder,
}

/// The byte of a database at which SQLite's locks begin.
const FIRST: i64 = 0x4000_0000;
/// Role, first byte and length, in the database file.
const IN_DATABASE: [(SqliteRole, i64, i64); 3] = [
    (SqliteRole::Pending, FIRST, 1),
    (SqliteRole::Writing, FIRST + 1, 1),
    (SqliteRole::Reading, FIRST + 2, 510),
];
/// Role, first byte and length, in the `-shm` file.
const IN_INDEX: [(SqliteRole, i64, i64); 9] = [
    (SqliteRole::WalWriter, 120, 1),
    (SqliteRole::Checkpointer, 121, 1),
    (SqliteRole::Recovering, 122, 1),
    (SqliteRole::WalReader, 123, 1),
    (SqliteRole::WalReader, 124, 1),
    (SqliteRole::WalReader, 125, 1),
    (SqliteRole::WalReader, 126, 1),
    (SqliteRole::WalReader, 127, 1),
    (SqliteRole::Alive, 128, 1),
];

/// Who holds which of SQLite's locks on a database. Of several readers of one kind one is named.
///
/// # Errors
/// Why it could not be asked; an absent database or `-shm` has no locks.
pub fn sqlite_locks(database: &Path) -> Result<Vec<SqliteLock>, String> {
    let mut index = database.as_os_str().to_owned();
    index.push("-shm");
    let mut found = ask(database, &IN_DATABASE)?;
    found.extend(ask(&PathBuf::from(index), &IN_INDEX)?);
    Ok(found)
}

fn ask(path: &Path, places: &[(SqliteRole, i64, i64)]) -> Result<Vec<SqliteLock>, String> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(Vec::new()),
        Err(errno) => return Err(format!("{} cannot be opened: {errno}", path.display())),
    };
    let mut found = Vec::new();
    for &(role, start, length) in places {
        let answer = question(&file, start, length)
            .map_err(|errno| format!("{} has no locks: {errno}", path.display()))?;
        let Some((pid, exclusive)) = answer else {
            continue;
        };
        let role = match role {
            SqliteRole::Reading if exclusive => SqliteRole::Exclusive,
            other => other,
        };
        found.push(SqliteLock {
            role,
            holder: holder(pid),
        });
    }
    Ok(found)
}

/// Whoever would stand in the way of a write lock: pid, and whether its lock is one.
fn question(file: &File, start: i64, length: i64) -> nix::Result<Option<(i32, bool)>> {
    let mut lock = libc::flock {
        l_type: short(libc::F_WRLCK),
        l_whence: short(libc::SEEK_SET),
        l_start: start,
        l_len: length,
        l_pid: 0,
    };
    fcntl(file, FcntlArg::F_GETLK(&mut lock))?;
    if lock.l_type == short(libc::F_UNLCK) {
        return Ok(None);
    }
    Ok(Some((lock.l_pid, lock.l_type == short(libc::F_WRLCK))))
}

fn short(constant: libc::c_int) -> libc::c_short {
    libc::c_short::try_from(constant).unwrap_or_default()
}

/// A lock of a process dies with it, so its pid needs no further proof.
fn holder(pid: i32) -> Holder {
    match u32::try_from(pid) {
        Ok(pid) if pid > 0 => Holder::Held {
            pid,
            confirmed: true,
        },
        _ => Holder::HeldOutside,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::db::testing::Writer;

    fn roles(database: &Path, pid: u32) -> BTreeSet<String> {
        let found = sqlite_locks(database).unwrap();
        assert!(found.iter().all(|lock| lock.holder.pids() == [pid]));
        found
            .iter()
            .map(|lock| format!("{:?}", lock.role))
            .collect()
    }

    fn set(words: &[&str]) -> BTreeSet<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn a_writer_in_rollback_mode_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        let mut writer = Writer::start(&path, "delete");
        assert_eq!(roles(&path, writer.pid()), set(&["Writing", "Reading"]));
        writer.say("COMMIT", "done");
        assert_eq!(sqlite_locks(&path), Ok(Vec::new()));
        writer.say("BEGIN EXCLUSIVE", "done");
        let exclusive = roles(&path, writer.pid());
        assert!(exclusive.contains("Exclusive") && exclusive.contains("Writing"));
    }

    #[test]
    fn a_writer_in_wal_mode_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        let mut writer = Writer::start(&path, "wal");
        let writing = roles(&path, writer.pid());
        assert!(
            writing.is_superset(&set(&["Reading", "WalWriter", "Alive"])),
            "{writing:?}"
        );
        writer.say("COMMIT", "done");
        let idle = roles(&path, writer.pid());
        assert!(
            !idle.contains("WalWriter") && idle.contains("Alive"),
            "{idle:?}"
        );
        drop(writer);
        assert_eq!(sqlite_locks(&path), Ok(Vec::new()));
    }
}
