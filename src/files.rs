//! The window on files that are written: never in place. A temporary file in the same directory,
//! fsync, rename, fsync of the directory; owner and mode of what was there are kept. And flock, which
//! Python's `fcntl.flock` honours and the reverse.

use std::fs::{File, Metadata, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Gid, Uid, fchown};

use crate::error::{Error, Result};

/// How a file is written.
#[derive(Clone, Copy, Debug)]
pub struct Replace<'a> {
    /// Start of the temporary file's name, as in `.jobs_`.
    pub prefix: &'a str,
    /// Mode of a file that is new.
    pub mode: u32,
    /// Wait until it is on the disk. Markers that are written every minute do without.
    pub durable: bool,
}

impl Replace<'_> {
    /// Replaces the file's content at once: a reader sees the old or the new, and a failure leaves the
    /// old one as it was. A link is followed, so that what it leads to is replaced.
    ///
    /// # Errors
    /// The error names the file; nothing was changed.
    pub fn write(self, path: &Path, content: &[u8]) -> Result<()> {
        self.write_seen(path, |file| file.write_all(content))
            .map(drop)
    }

    /// The same for a content that is written piece by piece; and what the new file is, seen before
    /// anybody else could change it.
    ///
    /// # Errors
    /// As [`Replace::write`].
    pub fn write_seen(
        self,
        path: &Path,
        content: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) -> Result<Metadata> {
        let failed = |error| Error::io(format!("failed to write {}", path.display()), error);
        self.replace(path, content).map_err(failed)
    }

    fn replace(
        self,
        path: &Path,
        content: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) -> io::Result<Metadata> {
        let target = resolve(path)?;
        let directory = target.parent().unwrap_or(Path::new("/"));
        let before = match fs_err::metadata(&target) {
            Ok(before) => Some(before),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let mode = before
            .as_ref()
            .map_or(self.mode, |before| before.mode() & 0o7777);
        let mut file = tempfile::Builder::new()
            .prefix(self.prefix)
            .suffix(".tmp")
            .permissions(Permissions::from_mode(0o600))
            .tempfile_in(directory)?;
        content(file.as_file_mut())?;
        keep_owner(file.as_file(), before.as_ref(), directory)?;
        file.as_file()
            .set_permissions(Permissions::from_mode(mode))?;
        if self.durable {
            file.as_file().sync_all()?;
        }
        let seen = file.as_file().metadata()?;
        file.persist(&target).map_err(|error| error.error)?;
        if self.durable {
            File::open(directory)?.sync_all()?;
        }
        Ok(seen)
    }
}

/// Opens a regular file for reading. Anything else in its place is an error at once: a FIFO or a device
/// would be waited for, for ever.
///
/// # Errors
/// When it cannot be opened, or is no regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let waiting = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = options.read(true).custom_flags(waiting).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("it is no regular file"))
    }
}

/// Reads a regular file, at most so many bytes.
///
/// # Errors
/// As [`open_regular`], and when it is larger.
pub fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_open(&open_regular(path)?, most)
}

/// The same for a file that is open.
///
/// # Errors
/// As [`read_regular`].
pub fn read_open(file: &File, most: u64) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    let mut bytes = Vec::with_capacity(usize::try_from(length.min(most)).unwrap_or(0));
    io::Read::take(file, most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it is larger than {most} bytes")));
    }
    Ok(bytes)
}

/// Where the file really is; a name that does not exist yet is where it says.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    match fs_err::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => fs_err::canonicalize(path),
        _ => Ok(path.to_path_buf()),
    }
}

/// A root process leaves files to whom they belonged, or to the owner of the directory.
fn keep_owner(file: &File, before: Option<&Metadata>, directory: &Path) -> io::Result<()> {
    let (uid, gid) = if let Some(before) = before {
        (before.uid(), before.gid())
    } else {
        let directory = fs_err::metadata(directory)?;
        (directory.uid(), directory.gid())
    };
    let own = file.metadata()?;
    if (own.uid(), own.gid()) == (uid, gid) {
        return Ok(());
    }
    let changed = fchown(file, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)));
    match changed {
        Ok(()) => Ok(()),
        // Not root: the file is ours now, as it is with any program that replaces files.
        Err(rustix::io::Errno::PERM) if own.uid() != 0 => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Makes a directory that only its owner may enter, with those above it. Made by root, each is its
/// parent's owner's.
///
/// # Errors
/// When it cannot be made; one that is there already is no error.
pub fn make_private(directory: &Path) -> Result<()> {
    let missing: Vec<_> = directory
        .ancestors()
        .take_while(|path| !path.as_os_str().is_empty() && !path.exists())
        .collect();
    for path in missing.into_iter().rev() {
        match make_one(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(Error::io(
                    format!("failed to make {}", path.display()),
                    error,
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The same for one directory in one that is there.
///
/// # Errors
/// When it cannot be made, or is there already.
pub fn make_one(directory: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().mode(0o700).create(directory)?;
    give(&File::open(directory)?, directory)
}

/// A root process leaves what it has made to the owner of the directory that it is in: he has to go on
/// with it.
///
/// # Errors
/// When it cannot be given away.
pub fn give(made: &File, path: &Path) -> io::Result<()> {
    if made.metadata()?.uid() != 0 {
        return Ok(());
    }
    let parent = path.parent().unwrap_or(Path::new("/"));
    match keep_owner(made, None, parent) {
        // A root that may not give anything away, as in some containers.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        given => given,
    }
}

/// Whether nothing more can be opened, by this process or on this host.
#[must_use]
pub fn out_of_descriptors() -> bool {
    use rustix::io::Errno;
    let refused = |error: &io::Error| Errno::from_io_error(error);
    let refused = |error: io::Error| matches!(refused(&error), Some(Errno::MFILE | Errno::NFILE));
    File::open("/").is_err_and(refused)
}

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Whether this is the file at a path; `None` where there is none. Who removes the file of a lock lets
    /// others in.
    ///
    /// # Errors
    /// When it cannot be looked at.
    pub fn is_at(&self, path: &Path) -> io::Result<Option<bool>> {
        let own = self.file.metadata()?;
        match std::fs::metadata(path) {
            Ok(there) => Ok(Some((own.dev(), own.ino()) == (there.dev(), there.ino()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Tries to take an flock on a file, which is made if it is not there, and never cut or removed.
/// `None`: somebody holds it.
///
/// # Errors
/// When the file cannot be opened or locked for another reason, descriptors running out among them.
pub fn try_lock(path: &Path) -> Result<Option<Lock>> {
    let file = open_lock(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Lock { file })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(not_locked(path, error)),
    }
}

/// Takes an flock as [`try_lock`] does, and waits for it: the kernel wakes us, nobody polls.
///
/// # Errors
/// As [`try_lock`].
pub fn wait_lock(path: &Path) -> Result<Lock> {
    let file = open_lock(path)?;
    file.lock().map_err(|error| not_locked(path, error))?;
    Ok(Lock { file })
}

/// The same, and waits so long at most.
///
/// # Errors
/// As [`try_lock`].
pub fn wait_lock_for(path: &Path, patience: Duration) -> Result<Option<Lock>> {
    if let Some(lock) = try_lock(path)? {
        return Ok(Some(lock));
    }
    // A thread that nobody can wake: where it is left behind, its lock is let go as soon as it has it.
    let (sender, receiver) = std::sync::mpsc::sync_channel(0);
    let owned = path.to_owned();
    std::thread::spawn(move || sender.send(wait_lock(&owned)));
    receiver.recv_timeout(patience).ok().transpose()
}

fn open_lock(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600);
    let open = || {
        let file = options.open(path)?;
        give(&file, path)?;
        Ok(file)
    };
    open().map_err(|error| not_locked(path, error))
}

fn not_locked(path: &Path, error: io::Error) -> Error {
    Error::io(format!("failed to lock {}", path.display()), error)
}

/// Paths of Unix sockets are at most 107 bytes long, for the kernel.
const SOCKET_PATH: usize = 107;

/// Does something with the path of a Unix socket; one that is too long for the kernel is named by way of
/// its open directory.
///
/// # Errors
/// Those of the open directory, and of what is done.
pub fn at_socket<T>(path: &Path, then: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    if path.as_os_str().len() <= SOCKET_PATH {
        return then(path);
    }
    let directory = File::open(path.parent().unwrap_or(Path::new("/")))?;
    let name = path.file_name().unwrap_or_default();
    let short = format!("/proc/self/fd/{}", directory.as_raw_fd());
    then(&Path::new(&short).join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: Replace<'static> = Replace {
        prefix: ".t_",
        mode: 0o640,
        durable: true,
    };

    #[test]
    fn mode_is_kept_and_a_new_file_gets_its_own() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f");
        PLAN.write(&path, b"one").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
        std::fs::set_permissions(&path, Permissions::from_mode(0o604)).unwrap();
        PLAN.write(&path, b"two").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o604);
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(
            std::fs::read_dir(directory.path()).unwrap().count(),
            1,
            "nothing is left over"
        );
    }

    #[test]
    fn a_link_stays_a_link() {
        let directory = tempfile::tempdir().unwrap();
        let (real, link) = (directory.path().join("real"), directory.path().join("link"));
        std::fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        PLAN.write(&link, b"new").unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&real).unwrap(), b"new");
    }

    #[test]
    fn a_directory_that_is_not_there_is_an_error_that_names_the_file() {
        let error = PLAN.write(Path::new("/nonexistent/f"), b"x").unwrap_err();
        assert!(error.message().contains("/nonexistent/f"), "{error}");
    }

    #[test]
    fn a_fifo_in_place_of_a_file_is_not_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let fifo = directory.path().join("f");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &fifo,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        assert!(read_regular(&fifo, 10).is_err());
        let file = directory.path().join("g");
        std::fs::write(&file, "12345").unwrap();
        assert_eq!(read_regular(&file, 5).unwrap(), b"12345");
        assert!(read_regular(&file, 4).is_err());
    }

    #[test]
    fn a_lock_is_held_by_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(".tick.lock");
        let held = try_lock(&path).unwrap();
        assert!(held.is_some());
        assert!(try_lock(&path).unwrap().is_none());
        drop(held);
        assert!(try_lock(&path).unwrap().is_some());
    }
}
