//! A moment on the two clocks that sessions need.

use crate::clock::Now;

/// A moment: the time of day, and how long this host has been awake. Seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// Seconds since the epoch.
    pub wall: f64,
    /// Seconds of `CLOCK_MONOTONIC`; for sessions read from a store, seconds since the epoch.
    pub awake: f64,
}

impl Moment {
    /// The moment for sessions whose stamps come from a store.
    #[must_use]
    pub fn of_store(wall: f64) -> Self {
        Self { wall, awake: wall }
    }
}

impl From<Now> for Moment {
    fn from(now: Now) -> Self {
        Self {
            wall: now.wall.as_duration().as_secs_f64(),
            awake: now.monotonic.as_secs_f64(),
        }
    }
}
