//! The lock of the job store, as the other program takes it: an flock on `.jobs.lock`, asked for
//! again and again for a while. Unlike there, a lock that is not had in time is an error that names
//! the holder: nothing is ever written without it.
//!
//! Who asks at one pace for ever plays a lottery, and of many somebody loses it. So whoever has waited
//! for long asks more often: he soon has it, and the new ones beside him ask no more often than Hermes
//! Agent does. Nobody waits in the kernel's queue: those in it would hand the lock from one to the next,
//! and who only asks now and then, as Hermes Agent, would never find it free.

use std::path::Path;
use std::time::Duration;

use crate::clock::{Clock as _, SystemClock};
use crate::db;
use crate::error::{Error, Kind, Result};
use crate::files::{self, Lock};
use crate::host::liveness_probe::observe_here;
use crate::host::locks::{Holder, LockTable};
use crate::output::human;

/// Between two attempts, at first: as in Hermes Agent.
const PACE: Duration = Duration::from_millis(100);
/// Who has waited no longer asks at that pace.
const NEW: Duration = Duration::from_secs(2);
/// Between two attempts at the least: the others must find it free too.
const SHORTEST: Duration = Duration::from_millis(5);
/// Longest wait, as in Hermes Agent.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Takes the lock, waiting for it for at most this long.
///
/// # Errors
/// [`Kind::Busy`] with the holder where it stays taken; anything else as it is.
pub fn take(path: &Path, patience: Duration) -> Result<Lock> {
    take_since(path, awake(), patience)
}

/// The same for somebody who has waited since this moment of awake time.
///
/// # Errors
/// As [`take`].
pub fn take_since(path: &Path, since: Duration, patience: Duration) -> Result<Lock> {
    loop {
        if let Some(lock) = files::try_lock(path)? {
            return Ok(lock);
        }
        let waited = awake().saturating_sub(since);
        if waited >= patience {
            return Err(busy(path, waited));
        }
        db::wait(pace(waited).min(patience.saturating_sub(waited)));
    }
}

/// How long somebody pauses between two attempts who has waited so long.
#[must_use]
pub fn pace(waited: Duration) -> Duration {
    let over = waited.max(NEW).as_secs_f64() / NEW.as_secs_f64();
    PACE.div_f64(over).max(SHORTEST)
}

/// Awake time, in which patience is counted: while the host sleeps nobody lets go of anything.
pub(super) fn awake() -> Duration {
    SystemClock.now().monotonic
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
    fn who_has_waited_long_asks_more_often_and_a_new_one_as_hermes_agent_does() {
        let pace = |seconds| pace(Duration::from_secs_f64(seconds)).as_millis();
        let paces = [0.0, 1.9, 2.0, 4.0, 10.0, 20.0, 30.0, 3600.0].map(pace);
        assert_eq!(paces, [100, 100, 100, 50, 20, 10, 6, 5]);
    }

    /// Eight that ask at their pace, from their own start on, and one that asks as Hermes Agent does, for a
    /// lock that is held 0.3 s at a time and wanted again at once by whoever had it.
    #[test]
    fn nobody_waits_in_vain_for_a_lock_that_is_hardly_ever_free() {
        const CROWD: usize = 9;
        let mut lottery = 1_u64;
        let mut random = |below: Duration| {
            lottery = lottery.wrapping_mul(6_364_136_223_846_793_005) + 1;
            below.mul_f64(f64::from(u32::try_from(lottery >> 40).unwrap()) / f64::from(1 << 24))
        };
        let (mut now, mut since) = (Duration::ZERO, [Duration::ZERO; CROWD]);
        let mut longest = since;
        for _ in 0..10_000 {
            now += Duration::from_millis(300);
            let asks = since.map(|since| pace(now.saturating_sub(since)));
            let asks = asks.iter().enumerate().map(|(who, pace)| match who {
                0 => (random(PACE), 0),
                _ => (random(*pace), who),
            });
            let (at, first) = asks.min().unwrap();
            now += at;
            longest[first] = longest[first].max(now.saturating_sub(since[first]));
            since[first] = now;
        }
        // Who has not had it at all waits still.
        for (longest, since) in longest.iter_mut().zip(since) {
            *longest = (*longest).max(now.saturating_sub(since));
        }
        let (other, ours) = longest.split_first().unwrap();
        assert!(ours.iter().all(|waited| *waited < PATIENCE / 2), "{ours:?}");
        assert!(*other < PATIENCE, "{other:?}");
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
        // What another test starts at this moment has it for as long as it takes to become a program.
        assert!(take(&path, Duration::from_secs(10)).is_ok());
    }
}
