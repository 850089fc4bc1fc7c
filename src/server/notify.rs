//! What the service manager is told. Without one all of it is nothing.
//!
//! A manager that hangs reads nothing, and a message to it waits then: it is a thread's task, and serve
//! waits for nobody.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use sd_notify::NotifyState;

/// How long the end of serve waits for a manager to hear of it.
const PATIENCE: Duration = Duration::from_secs(1);

/// Messages that wait for a manager; one that has not read so many hangs, and more would not help it.
const MOST: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// To be told in its turn.
    Step,
    /// A later one takes its place.
    Status,
    /// One is enough.
    Alive,
}

/// What waits to be told, the oldest first.
#[derive(Debug, Default)]
struct Waiting {
    messages: VecDeque<(Kind, String)>,
    /// Whether one is on its way.
    sending: bool,
}

impl Waiting {
    fn push(&mut self, kind: Kind, message: String) {
        if kind == Kind::Status {
            self.messages.retain(|(waiting, _)| *waiting != kind);
        }
        let is_there = self.messages.iter().any(|(waiting, _)| *waiting == kind);
        if (kind == Kind::Alive && is_there) || self.messages.len() >= MOST {
            return;
        }
        self.messages.push_back((kind, message));
    }

    fn is_over(&self) -> bool {
        self.messages.is_empty() && !self.sending
    }
}

/// A manager's socket, and the thread that writes to it.
struct Manager {
    door: OsString,
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

impl Manager {
    /// `None` where no thread can be had: nothing is to wait that nobody sends.
    fn of(door: OsString) -> Option<Arc<Self>> {
        let manager = Arc::new(Self {
            door,
            waiting: Mutex::default(),
            changed: Condvar::new(),
        });
        let own = Arc::clone(&manager);
        let thread = std::thread::Builder::new().name("notify".to_owned());
        let spawned = thread.spawn(move || own.run());
        if let Err(error) = spawned {
            tracing::warn!("The service manager will hear nothing: no thread can be had: {error}.");
            return None;
        }
        Some(manager)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        loop {
            let waiting = self.lock();
            let waiting = self
                .changed
                .wait_while(waiting, |waiting| waiting.messages.is_empty());
            let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
            let Some((_, message)) = waiting.messages.pop_front() else {
                continue;
            };
            waiting.sending = true;
            drop(waiting);
            if let Err(error) = send(&self.door, message.as_bytes()) {
                tracing::debug!("The service manager was not told: {error}.");
            }
            self.lock().sending = false;
            self.changed.notify_all();
        }
    }

    fn push(&self, kind: Kind, message: String) {
        self.lock().push(kind, message);
        self.changed.notify_all();
    }

    /// Waits until all was told, but no longer than that; whether it was.
    fn flush(&self, within: Duration) -> bool {
        let ended = self
            .changed
            .wait_timeout_while(self.lock(), within, |waiting| !waiting.is_over());
        ended.is_ok_and(|(_, late)| !late.timed_out())
    }
}

/// Sends one message to a socket, by its path or by its abstract name after an `@`.
fn send(door: &OsStr, message: &[u8]) -> io::Result<()> {
    let door = match door.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(door)?,
    };
    UnixDatagram::unbound()?
        .send_to_addr(message, &door)
        .map(drop)
}

/// The manager of this process, where there is one.
fn manager() -> Option<&'static Manager> {
    static MANAGER: OnceLock<Option<Arc<Manager>>> = OnceLock::new();
    #[expect(
        clippy::disallowed_methods,
        reason = "it is for this process alone, and no part of what the rest is given"
    )]
    let found = MANAGER.get_or_init(|| std::env::var_os("NOTIFY_SOCKET").and_then(Manager::of));
    found.as_deref()
}

fn tell(kind: Kind, states: &[NotifyState<'_>]) {
    if let Some(manager) = manager() {
        let lines: Vec<String> = states.iter().map(ToString::to_string).collect();
        manager.push(kind, lines.join("\n"));
    }
}

/// Serve is ready.
pub(crate) fn ready() {
    tell(Kind::Step, &[NotifyState::Ready]);
}

/// What serve does.
pub(crate) fn status(status: &str) {
    tell(Kind::Status, &[NotifyState::Status(status)]);
}

/// Serve reads its configuration again.
pub(crate) fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => tell(Kind::Step, &[NotifyState::Reloading, now]),
        Err(_) => tell(Kind::Step, &[NotifyState::Reloading]),
    }
}

/// Serve stops, and needs so long for it at most.
pub(crate) fn stopping(within: Duration) {
    let within = u32::try_from(within.as_micros()).unwrap_or(u32::MAX);
    let states = [
        NotifyState::Stopping,
        NotifyState::Status("draining"),
        NotifyState::ExtendTimeoutUsec(within),
    ];
    tell(Kind::Step, &states);
}

/// Waits a moment until all was told: at the end, which may come before the thread's turn does.
pub(crate) fn flush() {
    let _the_manager_hangs = manager().map(|manager| manager.flush(PATIENCE));
}

/// All drivers turn.
pub(crate) fn alive() {
    tell(Kind::Alive, &[NotifyState::Watchdog]);
}

/// How often the service manager wants to hear that: twice as often as it must.
pub(crate) fn watchdog() -> Option<Duration> {
    sd_notify::watchdog_enabled().map(|limit| limit / 2)
}

/// The next moment to say so; never where nobody wants to hear it.
pub(crate) async fn fed(feed: &mut Option<tokio::time::Interval>) {
    match feed {
        Some(feed) => {
            feed.tick().await;
        }
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(manager: &UnixDatagram) -> String {
        let mut buffer = [0; 64];
        let length = manager.recv(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..length]).into_owned()
    }

    #[test]
    fn of_what_waits_the_last_status_and_one_sign_of_life_are_kept() {
        let mut waiting = Waiting::default();
        for (kind, message) in [
            (Kind::Step, "READY=1"),
            (Kind::Status, "STATUS=a"),
            (Kind::Alive, "WATCHDOG=1"),
            (Kind::Status, "STATUS=b"),
            (Kind::Alive, "WATCHDOG=1"),
        ] {
            waiting.push(kind, message.to_owned());
        }
        let left: Vec<&str> = waiting.messages.iter().map(|(_, m)| m.as_str()).collect();
        assert_eq!(left, ["READY=1", "WATCHDOG=1", "STATUS=b"]);
        for _ in 0..MOST {
            waiting.push(Kind::Step, "RELOADING=1".to_owned());
        }
        assert_eq!(waiting.messages.len(), MOST);
    }

    #[test]
    fn a_manager_that_reads_nothing_is_not_waited_for_and_hears_it_all_later() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        // Its queue is full.
        let filler = UnixDatagram::unbound().unwrap();
        filler.set_nonblocking(true).unwrap();
        while filler.send_to(b"STATUS=x", &path).is_ok() {}
        let manager = Manager::of(path.into_os_string()).unwrap();
        manager.push(Kind::Step, "READY=1".to_owned());
        assert!(!manager.flush(Duration::from_millis(1)));
        while heard(&socket) != "READY=1" {}
        assert!(manager.flush(Duration::MAX));
    }

    #[test]
    fn a_name_after_an_at_sign_is_abstract() {
        let name = format!("hermes-notify-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let manager = UnixDatagram::bind_addr(&address).unwrap();
        send(OsStr::new(&format!("@{name}")), b"READY=1").unwrap();
        assert_eq!(heard(&manager), "READY=1");
    }
}
