//! A consistent copy of a store, made without touching it and without taking a lock.
//!
//! SQLite cannot read a database in every state without writing beside it or taking locks that
//! other programs feel; this copy can: mark, read the database, *then* its logs, mark again, and
//! only if the marks agree is what was read one state. Uncommitted pages are rolled back, committed
//! frames of the WAL laid over, and the image is given to SQLite in memory.
//!
//! Never use this in a process that has the same database open by SQLite: closing *any* descriptor
//! of the file drops all POSIX locks that this process holds on it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, MAIN_DB, OpenFlags};

use super::damage::{Damage, Part};
use super::files::{self, Mark};
use super::header::Header;
use super::{journal, wal};

/// Above this many bytes a store is not copied but read in place, where that is right.
pub const LARGEST_COPY: u64 = 256 << 20;
/// How often a store that keeps changing is read before it is called unsteady.
const TRIES: u32 = 20;
/// The wait grows by this much from try to try.
const STEP: Duration = Duration::from_millis(2);

/// Pages of a copy that SQLite keeps. It takes them from memory: what it keeps is only kept twice.
const CACHED: u32 = 16;

/// What became of the store's logs on the way into the copy, and how it was got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Bytes of the database file.
    pub size: u64,
    /// Whether its header says WAL mode.
    pub wal_mode: bool,
    /// Committed frames that were taken from the WAL.
    pub wal_frames: u32,
    /// Whether a transaction that had not ended was rolled back in the copy.
    pub rolled_back: bool,
    /// How many reads it took.
    pub tries: u32,
}

/// A store as it was at one instant.
#[derive(Debug)]
pub struct Snapshot {
    connection: Connection,
    facts: Facts,
    /// For a store read in place: what must not change while it is read.
    in_place: Option<(PathBuf, Mark)>,
}

/// Takes a snapshot; `pause` is called between attempts with the time to wait.
pub fn snapshot(database: &Path, pause: &dyn Fn(Duration)) -> Result<Snapshot, Damage> {
    take(database, LARGEST_COPY, pause)
}

fn take(database: &Path, largest: u64, pause: &dyn Fn(Duration)) -> Result<Snapshot, Damage> {
    attempt(pause, |tries| {
        let before = files::mark(database)?;
        if before.size() > largest {
            in_place(database, &before, largest, tries)
        } else {
            copy(database, &before, largest, tries)
        }
    })
}

/// Tries until the store held still for one read.
fn attempt<T>(
    pause: &dyn Fn(Duration),
    mut read: impl FnMut(u32) -> Result<Option<T>, Damage>,
) -> Result<T, Damage> {
    for tries in 1..=TRIES {
        if let Some(taken) = read(tries)? {
            return Ok(taken);
        }
        pause(STEP * tries);
    }
    Err(Damage::Unsteady { tries: TRIES })
}

/// One attempt at a copy; none if the store changed meanwhile.
fn copy(
    database: &Path,
    before: &Mark,
    largest: u64,
    tries: u32,
) -> Result<Option<Snapshot>, Damage> {
    let file = files::open(database, Part::Database)?;
    let mut image = files::read(&file, Part::Database, largest)?;
    let log = files::read_beside(database, Part::Wal, largest)?;
    let journal = if before.has_hot_journal() {
        files::read_beside(database, Part::Journal, largest)?
    } else {
        Vec::new()
    };
    if !before.holds(&files::mark(database)?) {
        return Ok(None);
    }
    let mut facts = Facts {
        size: before.size(),
        wal_mode: false,
        wal_frames: 0,
        rolled_back: false,
        tries,
    };
    settle(&mut image, &log, &journal, &mut facts)?;
    let connection = in_memory(&image).map_err(|error| Damage::of_sqlite(&error))?;
    Ok(Some(Snapshot {
        connection,
        facts,
        in_place: None,
    }))
}

/// Brings an image to its last committed state and makes it readable in memory.
fn settle(
    image: &mut Vec<u8>,
    log: &[u8],
    journal: &[u8],
    facts: &mut Facts,
) -> Result<(), Damage> {
    if image.is_empty() {
        // SQLite throws the logs beside an empty file away.
        return Err(Damage::Empty);
    }
    let most = (image.len() + log.len() + journal.len()) as u64;
    if journal::is_hot(journal) && super_journal_lives(journal) {
        journal::roll_back(journal, image, most)?;
        facts.rolled_back = true;
    }
    let file_page = Header::parse(image, image.len() as u64).map(|header| header.page_size);
    if let Some(committed) = wal::committed(log)? {
        // With the first page in the log, the file's own header need not be right.
        committed.apply(log, image, most)?;
        facts.wal_frames = committed.frames;
        let header = Header::parse(image, image.len() as u64)?;
        if header.page_size != committed.page_size {
            return Err(Damage::Malformed(
                "the WAL has another page size".to_owned(),
            ));
        }
    } else {
        file_page?;
    }
    facts.wal_mode = Header::parse(image, image.len() as u64)?.wal_mode;
    // Rollback mode: a database in memory has no WAL.
    if let Some(versions) = image.get_mut(18..20) {
        versions.fill(1);
    }
    Ok(())
}

/// A journal under a super-journal counts only while that file is there.
fn super_journal_lives(journal: &[u8]) -> bool {
    journal::super_journal(journal).is_none_or(|name| Path::new(name).exists())
}

fn in_memory(image: &[u8]) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    connection.deserialize_read_exact(MAIN_DB, image, image.len(), true)?;
    connection.pragma_update(None, "cache_size", CACHED)?;
    settings(&connection)?;
    Ok(connection)
}

/// Sorts stay in memory, the default would spill them to a directory; nothing in the schema runs.
fn settings(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "trusted_schema", false)
}

/// Opens a large file itself, if nothing but the file holds content; none if it changed meanwhile.
fn in_place(
    database: &Path,
    before: &Mark,
    largest: u64,
    tries: u32,
) -> Result<Option<Snapshot>, Damage> {
    let size = before.size();
    if before.has_hot_journal() {
        return Err(Damage::TooLarge { size });
    }
    let file = files::open(database, Part::Database)?;
    let header = Header::parse(&files::head(&file), size)?;
    if before.has_log() {
        let log = files::read_beside(database, Part::Wal, largest)?;
        if !files::is_in_file(&file, size, &log)? {
            return Err(Damage::TooLarge { size });
        }
    }
    if !before.same(&files::mark(database)?) {
        return Ok(None);
    }
    let connection = immutable(database).map_err(|error| Damage::of_sqlite(&error))?;
    Ok(Some(Snapshot {
        connection,
        facts: Facts {
            size,
            wal_mode: header.wal_mode,
            wal_frames: 0,
            rolled_back: false,
            tries,
        },
        in_place: Some((database.to_owned(), before.clone())),
    }))
}

#[expect(clippy::disallowed_methods, reason = "this is `db`")]
fn immutable(database: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri(database), flags)?;
    settings(&connection)?;
    Ok(connection)
}

/// The path as a URI with `immutable=1`: no lock, no log, no look at the files beside it.
fn uri(database: &Path) -> String {
    use std::fmt::Write as _;
    use std::os::unix::ffi::OsStrExt as _;
    let mut uri = String::from("file:");
    for &byte in database.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            _ = write!(uri, "%{byte:02X}");
        }
    }
    uri + "?immutable=1&mode=ro"
}

impl Snapshot {
    /// How the snapshot was got.
    #[must_use]
    pub fn facts(&self) -> Facts {
        self.facts
    }

    /// Runs a reader over the snapshot and names its failure.
    ///
    /// A store read in place is marked again afterwards: if it changed, what was read is worth
    /// nothing and the answer is [`Damage::Unsteady`].
    pub fn read<T>(
        &self,
        reader: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Damage> {
        let answer = reader(&self.connection).map_err(|error| Damage::of_sqlite(&error));
        if let Some((database, before)) = &self.in_place
            && !before.same(&files::mark(database)?)
        {
            return Err(Damage::Unsteady { tries: 1 });
        }
        answer
    }

    /// What SQLite's quick check complains about, at most `most` lines; none means sound.
    pub fn complaints(&self, most: u32) -> Result<Vec<String>, Damage> {
        self.read(|connection| {
            let mut check = connection.prepare(&format!("PRAGMA quick_check({most})"))?;
            let lines = check.query_map([], |row| row.get::<_, String>(0))?;
            lines
                .filter(|line| !matches!(line.as_deref(), Ok("ok")))
                .collect()
        })
    }
}

#[cfg(test)]
mod tests;
