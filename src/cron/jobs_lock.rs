//! The lock of the job store, as the other program takes it: an flock on `.jobs.lock`, asked for
//! again and again for a while. Unlike there, a lock that is not had in time is an error that names
//! the holder: nothing is ever written without it.

use std::path::Path;
use std::time::Duration;

use crate::clock::{Clock as _, SystemClock};
use crate::db;
use crate::error::{Error, Kind, Result};
use crate::files::{self, Lock};
use crate::host::liveness_probe::observe_here;
use crate::host::locks::{Holder, LockTable};
use crate::output::human;

/// Between two attempts.
const PACE: Duration = Duration::from_millis(100);
/// Longest wait, as in Hermes Agent.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Takes the lock, waiting for it for at most this long.
///
/// # Errors
/// [`Kind::Busy`] with the holder where it stays taken; anything else as it is.
pub fn take(path: &Path, patience: Duration) -> Result<Lock> {
    let mut waited = Duration::ZERO;
    loop {
        if let Some(lock) = files::try_lock(path)? {
            return Ok(lock);
        }
        if waited >= patience {
            return Err(busy(path, waited));
        }
        db::wait(PACE);
        waited += PACE;
    }
}

fn busy(path: &Path, waited: Duration) -> Error {
    let holder = describe(&LockTable::new().holder(path));
    let seconds = i64::try_from(waited.as_secs()).unwrap_or(i64::MAX);
    let message = format!(
        "the lock {} was not to be had within {}: {holder}",
        path.display(),
        human::duration(seconds)
    );
    Error::new(Kind::Busy, message)
        .with_hint("nothing was written; try again when the holder is done")
}

/// Who holds a lock, in words: pid and command, as far as they can be told.
#[must_use]
pub fn describe(holder: &Holder) -> String {
    match holder {
        Holder::Held { pid, .. } => format!("held by {}", process(*pid)),
        Holder::HeldByEndedTaker { holders, .. } => match holders.first() {
            Some(pid) => format!("held by {}, which inherited it", process(*pid)),
            None => "held by a process that inherited it".to_owned(),
        },
        Holder::HeldOutside => "held by a process outside of this container".to_owned(),
        Holder::Free | Holder::Absent => "whoever held it has just let go".to_owned(),
        Holder::CannotTell { why } => format!("who holds it cannot be told ({why})"),
    }
}

/// A process: pid, first words of its command, and its age.
fn process(pid: u32) -> String {
    let path = format!("/proc/{pid}/cmdline");
    let words = fs_err::read(path).unwrap_or_default();
    let words: Vec<_> = words
        .split(|byte| *byte == 0)
        .filter(|word| !word.is_empty())
        .take(3)
        .map(|word| human::printable(&String::from_utf8_lossy(word)))
        .collect();
    let age = age(pid)
        .map(|age| format!(", {} old", human::duration(age)))
        .unwrap_or_default();
    if words.is_empty() {
        format!("pid {pid}{age}")
    } else {
        format!("pid {pid} ({}{age})", words.join(" "))
    }
}

/// Seconds since a process was started. Its directory in `/proc` is of no use for that: it is as old as
/// the first look at it.
fn age(pid: u32) -> Option<i64> {
    let seen = observe_here(pid, None);
    let since_boot = SystemClock.now().boottime;
    i64::try_from(lived(seen.start_ticks?, seen.ticks_per_second, since_boot).as_secs()).ok()
}

/// How long a process lives that was started at this tick, so long after the boot.
fn lived(start_ticks: u64, ticks_per_second: u64, since_boot: Duration) -> Duration {
    let started = Duration::from_millis(start_ticks.saturating_mul(1000) / ticks_per_second.max(1));
    since_boot.saturating_sub(started)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b107_an_age_counts_from_the_start_of_the_process() {
        let since_boot = Duration::from_millis(90_500);
        assert_eq!(lived(3_000, 100, since_boot).as_millis(), 60_500);
        assert_eq!(lived(9_999, 100, since_boot), Duration::ZERO);
        assert!(age(std::process::id()).is_some());
    }

    #[test]
    fn b107_a_lock_that_stays_taken_is_an_error_that_names_the_holder() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(".jobs.lock");
        let held = take(&path, Duration::ZERO).unwrap();
        let error = take(&path, Duration::ZERO).unwrap_err();
        assert_eq!(error.kind(), Kind::Busy);
        let own = format!("held by pid {} (", std::process::id());
        let program = std::env::args().next().unwrap();
        let told = error.message();
        let whole = told.contains(&own) && told.contains(&program) && told.ends_with(" old)");
        let own = format!(" {} ", std::process::id());
        let table = std::fs::read_to_string("/proc/locks").unwrap_or_default();
        let is_hidden = !table.contains(&own) && told.contains("cannot be told");
        assert!(whole || is_hidden, "{error}");
        drop(held);
        assert!(take(&path, Duration::ZERO).is_ok());
    }
}
