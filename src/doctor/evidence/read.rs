//! What a look at a file or a store can answer: nothing there, something that cannot be read, or its
//! content. The three are never mixed up.

use jiff::Timestamp;

use crate::db::Damage;
use crate::host::{Gap, GapKind};

/// The answer to a look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Read<T> {
    /// Nothing is there.
    #[default]
    Absent,
    /// Something is there, or might be, and it cannot be read.
    Unreadable(Trouble),
    /// This is what it holds.
    Got(T),
}

impl<T> Read<T> {
    /// The content, if it could be read.
    pub fn got(&self) -> Option<&T> {
        match self {
            Self::Got(value) => Some(value),
            Self::Absent | Self::Unreadable(_) => None,
        }
    }

    /// What stood in the way, if something did.
    pub fn trouble(&self) -> Option<&Trouble> {
        match self {
            Self::Unreadable(trouble) => Some(trouble),
            Self::Absent | Self::Got(_) => None,
        }
    }

    /// Whether nothing is there.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// The answer about the content.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Read<U> {
        match self {
            Self::Absent => Read::Absent,
            Self::Unreadable(trouble) => Read::Unreadable(trouble),
            Self::Got(value) => Read::Got(f(value)),
        }
    }

    /// The answer about the content, which may turn out to be damaged.
    pub fn and_then<U>(self, f: impl FnOnce(T) -> Result<U, Trouble>) -> Read<U> {
        match self.map(f) {
            Read::Absent => Read::Absent,
            Read::Unreadable(trouble) | Read::Got(Err(trouble)) => Read::Unreadable(trouble),
            Read::Got(Ok(value)) => Read::Got(value),
        }
    }
}

impl<T> From<Result<T, Damage>> for Read<T> {
    fn from(result: Result<T, Damage>) -> Self {
        match result {
            Ok(value) => Self::Got(value),
            Err(Damage::Missing) => Self::Absent,
            Err(damage) => Self::Unreadable(Trouble::of_damage(&damage)),
        }
    }
}

/// What kind of trouble it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TroubleKind {
    /// This process may not read it: says nothing about the content.
    Permission,
    /// A directory, a FIFO, a loop of links lies in its place.
    NotAFile,
    /// It was read and is broken.
    Damaged,
    /// It is written in a format that is newer than this program.
    Newer,
    /// It could not be looked at for another reason.
    CouldNotCheck,
}

/// Why something cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The kind.
    pub kind: TroubleKind,
    /// A short stable word for it: `permission`, `truncated`, `wrong-shape`.
    pub slug: &'static str,
    /// The same in words, a fragment.
    pub what: String,
    /// The error number, where the system gave one.
    pub errno: Option<i32>,
    /// Line and column, both from 1, where a text is broken.
    pub at: Option<(usize, usize)>,
}

impl Trouble {
    /// Trouble of this kind.
    pub fn new(kind: TroubleKind, slug: &'static str, what: impl Into<String>) -> Self {
        Self {
            kind,
            slug,
            what: what.into(),
            errno: None,
            at: None,
        }
    }

    /// Content that is broken.
    pub fn damaged(slug: &'static str, what: impl Into<String>) -> Self {
        Self::new(TroubleKind::Damaged, slug, what)
    }

    /// The same, at this place of the text.
    #[must_use]
    pub fn at(mut self, line: usize, column: usize) -> Self {
        self.at = Some((line, column));
        self
    }

    /// The trouble behind a failed system call.
    #[must_use]
    pub fn of_io(error: &std::io::Error) -> Self {
        use std::io::ErrorKind;
        let (kind, slug) = match error.kind() {
            ErrorKind::PermissionDenied => (TroubleKind::Permission, "permission"),
            ErrorKind::IsADirectory => (TroubleKind::NotAFile, "directory"),
            ErrorKind::NotADirectory => (TroubleKind::NotAFile, "not-a-directory"),
            ErrorKind::FileTooLarge => (TroubleKind::CouldNotCheck, "too-large"),
            ErrorKind::InvalidInput => (TroubleKind::NotAFile, "not-regular"),
            _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
                (TroubleKind::NotAFile, "loop")
            }
            _ => (TroubleKind::CouldNotCheck, "io"),
        };
        let mut trouble = Self::new(kind, slug, error.to_string());
        trouble.errno = error.raw_os_error();
        trouble
    }

    /// The trouble behind a store that cannot be read.
    #[must_use]
    pub fn of_damage(damage: &Damage) -> Self {
        let kind = match damage {
            Damage::Permission(_) => TroubleKind::Permission,
            Damage::Directory(_) | Damage::Loop(_) | Damage::NotRegular(_) => TroubleKind::NotAFile,
            Damage::NewerFormat { .. } => TroubleKind::Newer,
            _ if damage.could_not_check() => TroubleKind::CouldNotCheck,
            _ => TroubleKind::Damaged,
        };
        Self::new(kind, damage.slug(), damage.to_string())
    }

    /// The words, with the place where there is one.
    #[must_use]
    pub fn words(&self) -> String {
        match self.at {
            Some((line, column)) => format!("{} (line {line}, column {column})", self.what),
            None => self.what.clone(),
        }
    }

    /// The same as a gap in what is known.
    #[must_use]
    pub fn gap(&self) -> Gap {
        let kind = match self.kind {
            TroubleKind::Permission => GapKind::Permission,
            _ => GapKind::Failed,
        };
        Gap {
            kind,
            why: self.words(),
            would_tell: Vec::new(),
        }
    }
}

/// What a directory entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A link that leads nowhere.
    DanglingLink,
    /// A socket, a FIFO, a device.
    Other,
}

/// What `stat` says, links followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// What it is.
    pub kind: FileKind,
    /// The name itself is a symbolic link.
    pub link: bool,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Permission bits, `0o7777` at most.
    pub mode: u32,
    /// Size in bytes.
    pub size: u64,
    /// Last change of the content, to the nanosecond.
    pub modified: Timestamp,
}

impl Stat {
    /// Owner and mode, as they are printed: `0:0 0600`.
    #[must_use]
    pub fn owner_and_mode(&self) -> String {
        format!("{}:{} {:04o}", self.uid, self.gid, self.mode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_store_is_absent_and_a_broken_one_is_trouble() {
        let read: Read<()> = Err(Damage::Missing).into();
        assert!(read.is_absent());
        let read: Read<()> = Err(Damage::Empty).into();
        assert_eq!(read.trouble().unwrap().kind, TroubleKind::Damaged);
        let read: Read<()> = Err(Damage::Unsteady { tries: 3 }).into();
        assert_eq!(read.trouble().unwrap().kind, TroubleKind::CouldNotCheck);
    }

    #[test]
    fn content_that_proves_broken_is_unreadable() {
        let broken = Trouble::damaged("truncated", "ends too early").at(3, 7);
        let read = Read::Got("x").and_then(|_| Err::<(), _>(broken));
        assert_eq!(
            read.trouble().unwrap().words(),
            "ends too early (line 3, column 7)"
        );
    }
}
