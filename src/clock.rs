//! The window on time. Wall, monotonic and boot time are three things: the wall clock can be set,
//! monotonic time stands still while the host sleeps, boot time goes on.
//!
//! Decisions never ask a clock; they are given `now`. Drivers own a [`Clock`].

pub mod zones;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rustix::time::{ClockId, clock_gettime};

/// One look at all three clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Time of day, as the host believes it.
    pub wall: Timestamp,
    /// Awake time since boot: `CLOCK_MONOTONIC`.
    pub monotonic: Duration,
    /// Time since boot, sleep included: `CLOCK_BOOTTIME`.
    pub boottime: Duration,
}

/// Where drivers get the time from.
pub trait Clock: Send + Sync {
    /// All three clocks, read one after the other.
    fn now(&self) -> Now;

    /// The wall clock alone.
    fn wall(&self) -> Timestamp {
        self.now().wall
    }
}

/// The clocks of this host.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

fn read(id: ClockId) -> Duration {
    let time = clock_gettime(id);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or(0),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}

impl Clock for SystemClock {
    fn now(&self) -> Now {
        let wall = clock_gettime(ClockId::Realtime);
        let nanos = i32::try_from(wall.tv_nsec).unwrap_or(0);
        Now {
            wall: Timestamp::new(wall.tv_sec, nanos).unwrap_or(Timestamp::UNIX_EPOCH),
            monotonic: read(ClockId::Monotonic),
            boottime: read(ClockId::Boottime),
        }
    }
}

/// A clock that moves only when told to: for tests, and for runs at a given instant.
#[derive(Debug)]
pub struct ManualClock {
    now: Mutex<Now>,
}

impl ManualClock {
    /// A clock that stands at this wall time, an hour after boot.
    #[must_use]
    pub fn at(wall: Timestamp) -> Self {
        let hour = Duration::from_secs(3600);
        Self {
            now: Mutex::new(Now {
                wall,
                monotonic: hour,
                boottime: hour,
            }),
        }
    }

    /// Lets awake time pass on all three clocks.
    pub fn advance(&self, by: Duration) {
        self.change(|now| {
            now.wall = now.wall.checked_add(by).unwrap_or(Timestamp::MAX);
            now.monotonic += by;
            now.boottime += by;
        });
    }

    /// The host sleeps: wall and boot time go on, monotonic time does not.
    pub fn suspend(&self, by: Duration) {
        self.change(|now| {
            now.wall = now.wall.checked_add(by).unwrap_or(Timestamp::MAX);
            now.boottime += by;
        });
    }

    /// Somebody sets the wall clock.
    pub fn step_to(&self, wall: Timestamp) {
        self.change(|now| now.wall = wall);
    }

    fn change(&self, change: impl FnOnce(&mut Now)) {
        change(&mut self.now.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Now {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An instant as the stores write it: ISO 8601 with a numeric offset, microseconds only where there
/// are some.
#[must_use]
pub fn iso(instant: Timestamp, zone: &TimeZone) -> String {
    let form = if instant.subsec_microsecond() == 0 {
        "%Y-%m-%dT%H:%M:%S%:z"
    } else {
        "%Y-%m-%dT%H:%M:%S.%6f%:z"
    };
    instant
        .to_zoned_datetime(zone.clone())
        .strftime(form)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_written_as_the_stores_have_them() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let whole: Timestamp = "2026-06-17T10:00:00Z".parse().unwrap();
        assert_eq!(iso(whole, &zone), "2026-06-17T12:00:00+02:00");
        assert_eq!(iso(whole, &TimeZone::UTC), "2026-06-17T10:00:00+00:00");
        let fine: Timestamp = "2026-06-17T10:00:00.0012345Z".parse().unwrap();
        assert_eq!(
            iso(fine, &TimeZone::UTC),
            "2026-06-17T10:00:00.001234+00:00"
        );
    }

    #[test]
    fn suspend_stops_monotonic_time_only() {
        let clock = ManualClock::at(Timestamp::UNIX_EPOCH);
        let before = clock.now();
        clock.suspend(Duration::from_secs(60));
        let after = clock.now();
        assert_eq!(after.monotonic, before.monotonic);
        assert_eq!(after.boottime, before.boottime + Duration::from_secs(60));
        assert_eq!(after.wall.as_second() - before.wall.as_second(), 60);
    }
}
