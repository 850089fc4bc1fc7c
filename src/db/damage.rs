//! What can be wrong with a store, told apart before SQLite sees it wherever possible.
//!
//! Owns the kinds and their wording. Whether a kind is an error or only "could not check" is the
//! reader's opinion; [`Damage::could_not_check`] is the fact it starts from.

use std::io;

use rusqlite::ffi;
use rustix::io::Errno;

/// One of the files that together are a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// The database file itself.
    Database,
    /// The write-ahead log beside it, `-wal`.
    Wal,
    /// The rollback journal beside it, `-journal`.
    Journal,
}

impl Part {
    /// What is appended to the database's path to name this file.
    #[must_use]
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Database => "",
            Self::Wal => "-wal",
            Self::Journal => "-journal",
        }
    }
}

/// Why a store cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// Nothing lies at the path, or a parent of it is missing or no directory.
    #[error("no such file")]
    Missing,
    /// This user may not read it.
    #[error("permission denied{}", beside(*.0))]
    Permission(Part),
    /// A directory lies in its place.
    #[error("is a directory{}", beside(*.0))]
    Directory(Part),
    /// The path runs through a circle of symbolic links.
    #[error("the path is a loop of symbolic links{}", beside(*.0))]
    Loop(Part),
    /// A FIFO, a socket or a device lies in its place.
    #[error("not a regular file{}", beside(*.0))]
    NotRegular(Part),
    /// Zero bytes long: SQLite calls that a valid database without tables.
    #[error("the file is empty")]
    Empty,
    /// The header is not that of an SQLite database.
    #[error("not an SQLite database ({0})")]
    NotADatabase(&'static str),
    /// Written in a format that this SQLite does not know.
    #[error("a newer file format ({what} {version}) than this SQLite knows")]
    NewerFormat {
        /// Which of the header's versions it is.
        what: &'static str,
        /// The version found.
        version: u32,
    },
    /// The file is shorter than its own header says.
    #[error("truncated: {actual} of {expected} bytes")]
    Truncated {
        /// Bytes that the header promises.
        expected: u64,
        /// Bytes that are there.
        actual: u64,
    },
    /// SQLite, or the replay of a log, found the content broken.
    #[error("malformed: {0}")]
    Malformed(String),
    /// It kept changing while it was read.
    #[error("kept changing through {tries} attempts to read it")]
    Unsteady {
        /// How often it was tried.
        tries: u32,
    },
    /// Too big to copy, and in a state in which only a copy would be right.
    #[error("too large to read beside a live log ({size} bytes)")]
    TooLarge {
        /// Size in bytes.
        size: u64,
    },
    /// Any other failure of the system or of SQLite.
    #[error("{0}")]
    Other(String),
}

fn beside(part: Part) -> String {
    match part {
        Part::Database => String::new(),
        other => format!(" (its {})", other.suffix()),
    }
}

impl Damage {
    /// A short stable word for the kind, for JSON and tests.
    #[must_use]
    pub fn slug(&self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Permission(_) => "permission",
            Self::Directory(_) => "directory",
            Self::Loop(_) => "loop",
            Self::NotRegular(_) => "not-regular",
            Self::Empty => "empty",
            Self::NotADatabase(_) => "not-a-database",
            Self::NewerFormat { .. } => "newer-format",
            Self::Truncated { .. } => "truncated",
            Self::Malformed(_) => "malformed",
            Self::Unsteady { .. } => "unsteady",
            Self::TooLarge { .. } => "too-large",
            Self::Other(_) => "other",
        }
    }

    /// Whether this says nothing about the store itself, only that it could not be looked at.
    #[must_use]
    pub fn could_not_check(&self) -> bool {
        matches!(
            self,
            Self::Permission(_) | Self::Unsteady { .. } | Self::TooLarge { .. } | Self::Other(_)
        )
    }

    /// The kind of a failed system call on one of the files.
    #[must_use]
    pub fn of_io(part: Part, error: &io::Error) -> Self {
        match Errno::from_io_error(error) {
            Some(Errno::NOENT | Errno::NOTDIR) => Self::Missing,
            Some(Errno::ACCESS | Errno::PERM) => Self::Permission(part),
            Some(Errno::LOOP) => Self::Loop(part),
            Some(Errno::ISDIR) => Self::Directory(part),
            Some(Errno::NXIO | Errno::NODEV) => Self::NotRegular(part),
            _ => Self::Other(format!("{error}{}", beside(part))),
        }
    }

    /// The kind of an error that SQLite gave.
    #[must_use]
    pub fn of_sqlite(error: &rusqlite::Error) -> Self {
        let Some(code) = error.sqlite_error().map(|e| e.extended_code & 0xff) else {
            return Self::Malformed(error.to_string());
        };
        match code {
            ffi::SQLITE_NOTADB => Self::NotADatabase("refused by SQLite"),
            ffi::SQLITE_CORRUPT => Self::Malformed(error.to_string()),
            ffi::SQLITE_NOMEM => Self::Other("not enough memory".to_owned()),
            _ => Self::Other(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(errno: Errno) -> Damage {
        Damage::of_io(Part::Wal, &io::Error::from(errno))
    }

    #[test]
    fn each_errno_has_its_kind() {
        assert_eq!(of(Errno::NOENT), Damage::Missing);
        assert_eq!(of(Errno::NOTDIR), Damage::Missing);
        assert_eq!(of(Errno::ACCESS), Damage::Permission(Part::Wal));
        assert_eq!(of(Errno::LOOP), Damage::Loop(Part::Wal));
        assert_eq!(of(Errno::NXIO), Damage::NotRegular(Part::Wal));
        assert_eq!(of(Errno::IO).slug(), "other");
    }

    #[test]
    fn a_file_beside_the_database_is_named() {
        assert_eq!(
            of(Errno::ACCESS).to_string(),
            "permission denied (its -wal)"
        );
        assert_eq!(
            Damage::Permission(Part::Database).to_string(),
            "permission denied"
        );
    }
}
