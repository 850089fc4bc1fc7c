//! Starts a process that may outlive this one: with pipes on its three standard descriptors, in a
//! process group of its own, with nothing of our environment.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};
use tokio::io::unix::AsyncFd;
use tokio::process::{Child, Command};

use crate::error::{Error, Kind, Result};

/// Starts the program.
///
/// # Errors
/// When it cannot be started.
pub fn detached(
    program: &Path,
    arguments: &[OsString],
    environment: &[(OsString, OsString)],
) -> Result<Child> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the window on child processes"
    )]
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .process_group(0)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().map_err(|error| {
        Error::new(
            Kind::Unavailable,
            format!("failed to start '{}'", program.display()),
        )
        .with_source(error)
    })
}

/// A pid as the kernel takes it; `None` for 0 and for what no pid can be.
#[must_use]
pub fn pid(number: u32) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}

/// Kills a whole process group at once. One that has ended already is as good as killed.
pub fn kill_group(number: u32) {
    if let Some(pid) = pid(number) {
        let _already_gone = kill_process_group(pid, Signal::KILL);
    }
}

/// Asks a process group to end.
pub fn ask_group(number: u32) {
    if let Some(pid) = pid(number) {
        let _already_gone = kill_process_group(pid, Signal::TERM);
    }
}

/// A process, whatever its pid is used for later.
#[derive(Debug)]
pub struct Watch {
    fd: OwnedFd,
}

impl Watch {
    /// Takes hold of a process; `None`: it has ended.
    ///
    /// # Errors
    /// When the kernel does not let us.
    pub fn of(number: u32) -> Result<Option<Self>> {
        let Some(pid) = pid(number) else {
            return Ok(None);
        };
        match pidfd_open(pid, PidfdFlags::NONBLOCK) {
            Ok(fd) => Ok(Some(Self { fd })),
            Err(rustix::io::Errno::SRCH) => Ok(None),
            Err(error) => Err(Error::io(
                format!("failed to watch process {number}"),
                error.into(),
            )),
        }
    }

    /// Whether it has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        let mut fds = [PollFd::new(&self.fd, PollFlags::IN)];
        matches!(poll(&mut fds, Some(&rustix::time::Timespec::default())), Ok(ready) if ready > 0)
    }

    /// Asks it to end (SIGTERM). One that has ended already needs no asking.
    ///
    /// # Errors
    /// When it is not ours to ask.
    pub fn ask_to_end(&self) -> Result<()> {
        self.send(Signal::TERM)
    }

    /// Makes it end (SIGKILL).
    ///
    /// # Errors
    /// When it is not ours to end.
    pub fn make_it_end(&self) -> Result<()> {
        self.send(Signal::KILL)
    }

    fn send(&self, signal: Signal) -> Result<()> {
        match pidfd_send_signal(&self.fd, signal) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(error) => {
                let message = format!("failed to send signal {}", signal.as_raw());
                Err(Error::io(message, error.into()))
            }
        }
    }

    /// Waits until it has ended, for at most so long. Returns whether it has.
    #[must_use]
    pub fn ends_within(&self, time: std::time::Duration) -> bool {
        let Ok(time) = rustix::time::Timespec::try_from(time) else {
            return self.has_ended();
        };
        let mut fds = [PollFd::new(&self.fd, PollFlags::IN)];
        matches!(poll(&mut fds, Some(&time)), Ok(ready) if ready > 0)
    }

    /// Waits until it has ended.
    ///
    /// # Errors
    /// When the runtime cannot wait for it.
    pub async fn ended(self) -> Result<()> {
        let failed = |error| Error::io("failed to wait for a process", error);
        #[expect(
            deprecated,
            reason = "its successor is unsafe, for types that lie about their descriptor; an OwnedFd cannot"
        )]
        let fd = AsyncFd::new(self.fd).map_err(failed)?;
        fd.readable().await.map_err(failed)?.retain_ready();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
            .block_on(future)
    }

    #[test]
    fn the_end_of_a_process_is_noticed() {
        block_on(async {
            let words = ["-c", "read line"].map(OsString::from);
            let mut child = detached(Path::new("/bin/sh"), &words, &[]).unwrap();
            let watch = Watch::of(child.id().unwrap()).unwrap().unwrap();
            assert!(!watch.has_ended());
            drop(child.stdin.take());
            watch.ended().await.unwrap();
            child.wait().await.unwrap();
        });
    }

    #[test]
    fn what_never_was_a_process_has_ended() {
        assert!(Watch::of(0).unwrap().is_none());
        assert!(Watch::of(u32::MAX).unwrap().is_none());
    }
}
