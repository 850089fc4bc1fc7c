//! Looks at the kernel's table of locks and at the descriptors of processes.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::OnceLock;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use super::super::facts::FileId;
use super::proc::{self, LockKind, LockLine, Mount};
use super::{Holder, Sight, Taker, judge, taker};

/// The name of the pid namespace that sees all others, since Linux 3.8.
const INITIAL_PID_NAMESPACE: &str = "pid:[4026531836]";

/// One look at all locks that can be seen, taken when it is first needed and good for as long as
/// nothing changes.
#[derive(Debug, Default)]
pub struct LockTable {
    lines: OnceLock<Result<Vec<LockLine>, String>>,
    mounts: OnceLock<Vec<Mount>>,
}

impl LockTable {
    /// A look that is still to be taken.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The locks of this host. The first reader after a while waits for an RCU grace period of the
    /// kernel, which is idle time of 5 to 20 ms: whoever will need them may read ahead on a thread of
    /// its own. Two at once make one read.
    pub fn lines(&self) -> Result<&[LockLine], &str> {
        let lines = self.lines.get_or_init(|| {
            fs::read_to_string("/proc/locks")
                .map(|text| proc::locks(&text))
                .map_err(|error| format!("/proc/locks cannot be read: {error}"))
        });
        lines.as_deref().map_err(String::as_str)
    }

    fn mounts(&self) -> &[Mount] {
        self.mounts.get_or_init(|| {
            fs::read_to_string("/proc/self/mountinfo")
                .map(|text| proc::mounts(&text))
                .unwrap_or_default()
        })
    }

    /// Who holds the flock of a file.
    ///
    /// The file is not opened for this, only named: no permission on it is needed, and no lock of
    /// this process on it is lost.
    #[must_use]
    pub fn holder(&self, path: &Path) -> Holder {
        let (file, mount) = match self.identify(path) {
            Ok(found) => found,
            Err(Errno::NOENT | Errno::NOTDIR) => return Holder::Absent,
            Err(errno) => {
                let why = format!("{} cannot be looked at: {errno}", path.display());
                return Holder::CannotTell { why };
            }
        };
        let (lines, sight) = match self.lines() {
            Ok(lines) => (lines, sight(mount)),
            Err(why) => (&[][..], Sight::Partial(why.to_owned())),
        };
        let took = taker(lines, file).map(|pid| (pid, state(pid, file)));
        let holders = match took {
            Some((pid, Taker::Ended | Taker::HoldsNot)) if pid != 0 => scan(file),
            _ => Vec::new(),
        };
        judge(took, &holders, &sight)
    }

    /// The mount that a file lies on; none if it cannot be named or found.
    #[must_use]
    pub fn mount(&self, path: &Path) -> Option<&Mount> {
        self.identify(path).ok()?.1
    }

    fn identify(&self, path: &Path) -> Result<(FileId, Option<&Mount>), Errno> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let named = File::from(rustix::fs::open(path, flags, Mode::empty())?);
        let meta = named
            .metadata()
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        let text = fs::read_to_string(format!("/proc/self/fdinfo/{}", named.as_raw_fd()));
        let info = proc::fdinfo(&text.unwrap_or_default());
        let mount = self
            .mounts()
            .iter()
            .find(|mount| Some(mount.id) == info.mount);
        let device = mount.map_or_else(
            || (rustix::fs::major(meta.dev()), rustix::fs::minor(meta.dev())),
            |mount| mount.device,
        );
        let inode = info.inode.unwrap_or(meta.ino());
        Ok((FileId { device, inode }, mount))
    }
}

/// Whether the table shows every lock that a file on this mount may have.
fn sight(mount: Option<&Mount>) -> Sight {
    match mount {
        _ if !initial_namespace() => Sight::Partial(
            "in a container the locks of processes outside of it cannot be seen".to_owned(),
        ),
        None => Sight::Partial("the mount of the file cannot be found".to_owned()),
        Some(mount) if !mount.is_local() => Sight::Partial(format!(
            "on {} ({}) the locks of other machines cannot be seen",
            mount.point, mount.kind
        )),
        Some(_) => Sight::Whole,
    }
}

fn initial_namespace() -> bool {
    let namespace = fs::read_link("/proc/self/ns/pid");
    namespace.is_ok_and(|name| name.as_os_str() == INITIAL_PID_NAMESPACE)
}

/// What became of the process that took a lock.
fn state(pid: u32, file: FileId) -> Taker {
    match holds(pid, file) {
        Some(true) => Taker::Holds,
        Some(false) => Taker::HoldsNot,
        None if is_gone(pid) => Taker::Ended,
        None => Taker::Unreadable,
    }
}

/// A missing `/proc/PID` is no proof, `hidepid` makes one; the kernel's answer to a signal is.
fn is_gone(pid: u32) -> bool {
    i32::try_from(pid)
        .ok()
        .and_then(Pid::from_raw)
        .is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}

/// Whether a descriptor of a process has the flock of a file; none if they cannot be read.
fn holds(pid: u32, file: FileId) -> Option<bool> {
    let entries = fs::read_dir(format!("/proc/{pid}/fdinfo")).ok()?;
    for entry in entries {
        // Descriptors come and go while they are listed.
        let Ok(text) = fs::read_to_string(entry.ok()?.path()) else {
            continue;
        };
        let has = |lock: &LockLine| lock.kind == LockKind::Flock && lock.file == file;
        if proc::fdinfo(&text).locks.iter().any(has) {
            return Some(true);
        }
    }
    Some(false)
}

/// All processes whose descriptors have the flock of a file, as far as they may be read.
fn scan(file: FileId) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let mut pids: Vec<u32> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|&pid| holds(pid, file) == Some(true))
        .collect();
    pids.sort_unstable();
    pids
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// Where this process is in a container, "no line" proves nothing, and the tests say so.
    fn free_here() -> bool {
        initial_namespace()
    }

    #[test]
    fn our_own_flock_is_seen_and_confirmed_and_then_gone() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().try_lock().unwrap();
        let held = Holder::Held {
            pid: std::process::id(),
            confirmed: true,
        };
        assert_eq!(LockTable::new().holder(file.path()), held);
        file.as_file().unlock().unwrap();
        let table = LockTable::new();
        match table.holder(file.path()) {
            Holder::Free => assert!(free_here()),
            Holder::CannotTell { .. } => assert!(!free_here()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn asking_takes_nothing() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(!LockTable::new().holder(file.path()).is_held());
        file.as_file().try_lock().unwrap();
        assert!(LockTable::new().holder(file.path()).is_held());
        file.as_file().unlock().unwrap();
        file.as_file().try_lock().unwrap();
    }

    #[test]
    fn an_absent_file_has_no_holder() {
        let dir = tempfile::tempdir().unwrap();
        let table = LockTable::new();
        assert_eq!(table.holder(&dir.path().join("x")), Holder::Absent);
        assert!(table.mount(dir.path()).is_some());
    }

    #[expect(clippy::disallowed_methods, reason = "the test needs another process")]
    fn shell(script: &str, file: &File) -> Child {
        Command::new("/bin/sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(file.try_clone().unwrap())
            .spawn()
            .unwrap()
    }

    #[test]
    fn an_inherited_flock_is_held_by_the_heir_after_its_taker_let_go() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().try_lock().unwrap();
        // The child has the descriptor as its stderr; then this process closes its own.
        let mut heir = shell("echo ready; read _", file.as_file());
        let mut answer = String::new();
        BufReader::new(heir.stdout.take().unwrap())
            .read_line(&mut answer)
            .unwrap();
        assert_eq!(answer, "ready\n");
        let path = file.into_temp_path();
        let holder = LockTable::new().holder(&path);
        assert_eq!(
            holder,
            Holder::HeldByEndedTaker {
                taker: std::process::id(),
                holders: vec![heir.id()],
            }
        );
        drop(heir.stdin.take());
        heir.wait().unwrap();
        assert!(!LockTable::new().holder(&path).is_held());
    }
}
