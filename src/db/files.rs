//! The files of a store, opened and marked without changing a byte or a time of them.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::damage::{Damage, Part};
use super::{header, journal, wal};

/// Where the change counter lies in a database.
const COUNTER_AT: u64 = 24;

/// What must be the same before and after a read for the read to be of one state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    file: (u64, u64),
    size: u64,
    modified: (i64, i64),
    counter: [u8; 4],
    log: Option<[u8; wal::HEADER]>,
    journal: Option<[u8; journal::HEADER]>,
}

impl Mark {
    /// Whether everything that was read between two marks is one committed state.
    ///
    /// With the same WAL a checkpoint in between is harmless, its frames are still in the log; a
    /// restarted one has new salts. With the same hot journal what the writer overwrote is in it.
    pub(super) fn holds(&self, after: &Self) -> bool {
        if self.file != after.file || self.journal != after.journal || self.log != after.log {
            return false;
        }
        self.journal.is_some() || self.log.is_some() || self == after
    }

    /// Whether not even a checkpoint happened in between.
    pub(super) fn same(&self, after: &Self) -> bool {
        self == after
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    pub(super) fn has_hot_journal(&self) -> bool {
        self.journal.is_some()
    }

    pub(super) fn has_log(&self) -> bool {
        self.log.is_some()
    }
}

/// The path of a file beside the database.
pub(super) fn path_of(database: &Path, part: Part) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(part.suffix());
    path.into()
}

/// Opens one file of a store for reading, and nothing but a regular file.
///
/// Without blocking, because opening a FIFO would wait for a writer for ever; without moving the
/// access time where the kernel allows that, which is for the owner and root.
pub(super) fn open(database: &Path, part: Part) -> Result<File, Damage> {
    let path = path_of(database, part);
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let opened = match rustix::fs::open(&path, flags | OFlags::NOATIME, Mode::empty()) {
        Err(Errno::PERM) => rustix::fs::open(&path, flags, Mode::empty()),
        other => other,
    };
    let file = File::from(opened.map_err(|errno| Damage::of_io(part, &errno.into()))?);
    let kind = file
        .metadata()
        .map_err(|error| Damage::of_io(part, &error))?
        .file_type();
    if kind.is_dir() {
        Err(Damage::Directory(part))
    } else if kind.is_file() {
        Ok(file)
    } else {
        Err(Damage::NotRegular(part))
    }
}

/// Opens a file beside the database that need not be there.
fn open_beside(database: &Path, part: Part) -> Result<Option<File>, Damage> {
    match open(database, part) {
        Ok(file) => Ok(Some(file)),
        Err(Damage::Missing) => Ok(None),
        Err(other) => Err(other),
    }
}

/// Reads a file beside the database; nothing where it is not there.
pub(super) fn read_beside(database: &Path, part: Part, limit: u64) -> Result<Vec<u8>, Damage> {
    match open_beside(database, part)? {
        Some(file) => read(&file, part, limit),
        None => Ok(Vec::new()),
    }
}

/// Reads an open file from its begin, if it has at most `limit` bytes; half a log would be a lie.
pub(super) fn read(file: &File, part: Part, limit: u64) -> Result<Vec<u8>, Damage> {
    let failed = |error: io::Error| Damage::of_io(part, &error);
    let size = file.metadata().map_err(failed)?.len();
    if size > limit {
        return Err(Damage::TooLarge { size });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.take(size).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Takes a mark. `database` is looked up anew each time, so that a replaced file is noticed.
pub(super) fn mark(database: &Path) -> Result<Mark, Damage> {
    let file = open(database, Part::Database)?;
    let meta = file
        .metadata()
        .map_err(|error| Damage::of_io(Part::Database, &error))?;
    Ok(Mark {
        file: (meta.dev(), meta.ino()),
        size: meta.len(),
        modified: (meta.mtime(), meta.mtime_nsec()),
        counter: start(&file, COUNTER_AT).unwrap_or_default(),
        log: first_bytes(database, Part::Wal)?,
        journal: first_bytes(database, Part::Journal)?.filter(|bytes| journal::is_hot(bytes)),
    })
}

fn first_bytes<const N: usize>(database: &Path, part: Part) -> Result<Option<[u8; N]>, Damage> {
    Ok(open_beside(database, part)?.and_then(|file| start(&file, 0)))
}

/// The header of a database; empty where it is not whole.
pub(super) fn head(file: &File) -> Vec<u8> {
    start::<{ header::LENGTH }>(file, 0).map_or(Vec::new(), Vec::from)
}

fn start<const N: usize>(file: &File, at: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact_at(&mut bytes, at).ok()?;
    Some(bytes)
}

/// Whether all that a log has committed is in the database file already.
pub(super) fn is_in_file(file: &File, size: u64, log: &[u8]) -> Result<bool, Damage> {
    let Some(committed) = wal::committed(log)? else {
        return Ok(true);
    };
    if committed.length() > size {
        return Ok(false);
    }
    let mut place = vec![0; committed.page_size as usize];
    let length = u64::from(committed.page_size);
    for (page, content) in committed
        .pages_of(log)
        .filter(|(page, _)| *page <= committed.pages)
    {
        file.read_exact_at(&mut place, u64::from(page - 1) * length)
            .map_err(|error| Damage::of_io(Part::Database, &error))?;
        if place != content {
            return Ok(false);
        }
    }
    Ok(true)
}
