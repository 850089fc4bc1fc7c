//! What dispatch turns on, for this very process: asked of the host, good for a minute in both
//! directions, and dropped at once when a launch contradicts it, or a manager has come or gone, and by each
//! pass that starts jobs: its own period is a minute too, and would else go by what held before the last.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::derive::derive;
use super::facts::DispatchFacts;
use crate::clock::Clock;
use crate::error::Result;
use crate::host::choose::Choice;
use crate::host::placement;
use crate::host::probe::{Caller, complete, observe};

/// How long a verdict is good, as in Hermes Agent.
pub const LIFE: Duration = Duration::from_secs(60);
/// Longest time that asking may take.
const DEADLINE: Duration = Duration::from_secs(3);

/// What was found out.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The facts of the decision.
    pub facts: DispatchFacts,
    /// The user manager's way to PID 1 hangs, and it would hang at a scope as well.
    pub scopes_hang: bool,
    /// The runtime directory that may be believed.
    pub runtime_dir: Option<String>,
    /// Memory of the machine, in bytes.
    pub memory: Option<u64>,
}

/// Asks, and remembers for a while.
#[derive(Debug)]
pub struct Verdicts {
    caller: Caller,
    cached: Mutex<Option<Cached>>,
}

/// A verdict that is still good.
#[derive(Debug)]
struct Cached {
    verdict: Verdict,
    until: Duration,
    sockets: Sockets,
}

/// The sockets of a user manager, by what is new in a new one. Looking at them asks nobody, and tells at
/// once that linger was turned on or off, or the manager was started anew.
#[derive(Debug, PartialEq, Eq)]
struct Sockets([Option<[i64; 3]>; 2]);

impl Sockets {
    /// Of this account's manager, where they usually are.
    fn own() -> Self {
        let uid = rustix::process::geteuid().as_raw();
        Self::of(Path::new(&format!("/run/user/{uid}")))
    }

    /// Of the manager with this runtime directory.
    fn of(directory: &Path) -> Self {
        Self(["systemd/private", "bus"].map(|name| {
            let seen = directory.join(name).symlink_metadata().ok()?;
            let node = i64::try_from(seen.ino()).unwrap_or_default();
            Some([node, seen.ctime(), seen.ctime_nsec()])
        }))
    }
}

impl Verdicts {
    /// For this process.
    #[must_use]
    pub fn new(caller: Caller) -> Self {
        Self {
            caller,
            cached: Mutex::new(None),
        }
    }

    /// The verdict of now. Blocks for some milliseconds, for seconds where a bus hangs.
    ///
    /// # Errors
    /// When the host cannot be looked at.
    pub fn get(&self, clock: &dyn Clock) -> Result<Verdict> {
        let now = clock.now().monotonic;
        let sockets = Sockets::own();
        if let Some(cached) = &*self.cached()
            && now < cached.until
            && sockets == cached.sockets
        {
            return Ok(cached.verdict.clone());
        }
        let verdict = self.ask()?;
        *self.cached() = Some(Cached {
            verdict: verdict.clone(),
            until: now + LIFE,
            sockets,
        });
        Ok(verdict)
    }

    /// A launch has shown that it no longer holds.
    pub fn forget(&self) {
        *self.cached() = None;
    }

    fn ask(&self) -> Result<Verdict> {
        let choice = Choice {
            pid: Some(std::process::id()),
            ..Choice::default()
        };
        let facts = complete(observe(&choice, &self.caller)?, &Arc::default(), DEADLINE)?;
        let (derived, _guesses) = derive(&facts);
        Ok(Verdict {
            facts: derived,
            scopes_hang: placement::hangs(&facts.system_bus),
            runtime_dir: facts.runtime_dir.path.clone(),
            memory: facts.machine.memory.total,
        })
    }

    fn cached(&self) -> std::sync::MutexGuard<'_, Option<Cached>> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;
    use crate::runtime::{Options, Runtime};

    #[test]
    fn a_verdict_is_good_for_a_minute_and_can_be_dropped() {
        let runtime = Runtime::from_process(Options::default()).unwrap();
        let verdicts = Verdicts::new(Caller::of(&runtime));
        let clock = ManualClock::at(jiff::Timestamp::UNIX_EPOCH);
        verdicts.get(&clock).unwrap();
        let until = |verdicts: &Verdicts| verdicts.cached().as_ref().map(|cached| cached.until);
        let first = until(&verdicts);
        clock.advance(Duration::from_secs(59));
        verdicts.get(&clock).unwrap();
        assert_eq!(until(&verdicts), first, "still good");
        clock.advance(Duration::from_secs(1));
        verdicts.get(&clock).unwrap();
        assert!(until(&verdicts) > first, "asked again");
        verdicts.forget();
        assert_eq!(until(&verdicts), None);
    }

    #[test]
    fn a_manager_that_comes_goes_or_is_another_one_shows() {
        let folder = tempfile::tempdir().unwrap();
        let look = || Sockets::of(folder.path());
        let socket = folder.path().join("systemd/private");
        let none = look();
        std::fs::create_dir(folder.path().join("systemd")).unwrap();
        std::fs::write(folder.path().join("else"), "").unwrap();
        assert_eq!(look(), none, "what else lies there says nothing");
        std::fs::write(&socket, "").unwrap();
        let first = look();
        assert_ne!(first, none);
        assert_eq!(look(), first);
        // The old one holds its number until the new one has its own.
        std::fs::write(folder.path().join("new"), "").unwrap();
        std::fs::rename(folder.path().join("new"), &socket).unwrap();
        assert_ne!(look(), first, "another one");
        std::fs::remove_file(&socket).unwrap();
        assert_eq!(look(), none);
    }
}
