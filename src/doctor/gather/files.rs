//! `stat` and bounded reads of single files, that change nothing and wait for nobody.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use jiff::Timestamp;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::doctor::evidence::read::{FileKind, Read, Stat, Trouble};
use crate::home::Home;

/// What is looked at in every home, by path inside it.
pub(super) const LOOKED_AT: [&str; 22] = [
    "",
    ".env",
    "ESTOP",
    "config.toml",
    "config.yaml",
    "cron",
    "cron/.jobs.lock",
    "cron/.tick.lock",
    "cron/executions.db",
    "cron/external-workers",
    "cron/jobs.json",
    "cron/output",
    "cron/ticker_heartbeat",
    "gateway.lock",
    "gateway.pid",
    "gateway_state.json",
    "kanban.db",
    "run",
    "runtime",
    "runtime/active_sessions.json",
    "scripts",
    "state.db",
];

/// A small text: a marker, a record.
pub(super) const SMALL: u64 = 1 << 20;

/// All that is looked at in this home.
pub(super) fn look(home: &Home) -> BTreeMap<&'static str, Read<Stat>> {
    let at = |relative: &&'static str| {
        let path = home.path();
        if relative.is_empty() {
            (*relative, stat(path))
        } else {
            (*relative, stat(&path.join(relative)))
        }
    };
    LOOKED_AT.iter().map(at).collect()
}

/// What lies at this path.
pub(super) fn stat(path: &Path) -> Read<Stat> {
    let own = match std::fs::symlink_metadata(path) {
        Ok(own) => own,
        Err(error) => return failed(&error),
    };
    if !own.is_symlink() {
        return Read::Got(stat_of(&own, kind(&own), false));
    }
    match std::fs::metadata(path) {
        Ok(target) => Read::Got(stat_of(&target, kind(&target), true)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Read::Got(stat_of(&own, FileKind::DanglingLink, true))
        }
        Err(error) => Read::Unreadable(Trouble::of_io(&error)),
    }
}

/// What a failed look says.
pub(super) fn failed<T>(error: &io::Error) -> Read<T> {
    // A file where a directory should be on the way is reported at that directory's own entry.
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Read::Absent,
        _ => Read::Unreadable(Trouble::of_io(error)),
    }
}

fn kind(meta: &Metadata) -> FileKind {
    if meta.is_file() {
        FileKind::File
    } else if meta.is_dir() {
        FileKind::Directory
    } else {
        FileKind::Other
    }
}

fn stat_of(meta: &Metadata, kind: FileKind, link: bool) -> Stat {
    let nanoseconds = i32::try_from(meta.mtime_nsec()).unwrap_or(0);
    Stat {
        kind,
        link,
        uid: meta.uid(),
        gid: meta.gid(),
        mode: meta.mode() & 0o7777,
        size: meta.size(),
        modified: Timestamp::new(meta.mtime(), nanoseconds).unwrap_or(Timestamp::UNIX_EPOCH),
    }
}

/// Opens a regular file and nothing else: a FIFO in its place would be waited for for ever.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    // Only the owner and root may leave the access time alone.
    let opened = match rustix::fs::open(path, flags | OFlags::NOATIME, Mode::empty()) {
        Err(Errno::PERM) => rustix::fs::open(path, flags, Mode::empty()),
        other => other,
    };
    let file = File::from(opened?);
    let meta = file.metadata()?;
    if meta.is_dir() {
        Err(Errno::ISDIR.into())
    } else if meta.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        ))
    }
}

/// The bytes of a regular file of at most `limit` bytes.
pub(super) fn bytes(path: &Path, limit: u64) -> Read<Vec<u8>> {
    match read(path, limit) {
        Ok(bytes) => Read::Got(bytes),
        Err(error) => failed(&error),
    }
}

fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let size = file.metadata()?.len();
    let mut bytes = Vec::with_capacity(usize::try_from(size.min(limit)).unwrap_or(0));
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("more than {limit} bytes"),
        ));
    }
    Ok(bytes)
}

/// The text of a small regular file; what is no UTF-8 becomes replacement characters.
pub(super) fn text(path: &Path) -> Read<String> {
    bytes(path, SMALL).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_directory_fifo_and_file_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        assert!(text(&at("none")).is_absent());
        assert!(stat(&at("none")).is_absent());
        assert_eq!(text(dir.path()).trouble().unwrap().slug, "directory");
        nix::unistd::mkfifo(&at("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(text(&at("fifo")).trouble().unwrap().slug, "not-regular");
        std::fs::write(at("file"), "x").unwrap();
        assert_eq!(text(&at("file")).got().unwrap(), "x");
        assert!(text(&at("file/below")).is_absent());
    }

    #[test]
    fn links_are_followed_and_named() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::os::unix::fs::symlink("nowhere", at("dangling")).unwrap();
        std::os::unix::fs::symlink(".", at("here")).unwrap();
        let dangling = *stat(&at("dangling")).got().unwrap();
        assert_eq!(
            (dangling.kind, dangling.link),
            (FileKind::DanglingLink, true)
        );
        let here = *stat(&at("here")).got().unwrap();
        assert_eq!((here.kind, here.link), (FileKind::Directory, true));
    }

    #[test]
    fn a_file_above_the_limit_is_not_read_in_part() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("big");
        std::fs::write(&path, [b'x'; 64]).unwrap();
        assert_eq!(bytes(&path, 63).trouble().unwrap().slug, "too-large");
        assert_eq!(bytes(&path, 64).got().unwrap().len(), 64);
    }
}
