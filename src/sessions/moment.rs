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

/// A span of time in words: `42 s`, `5 min`, `3 h 20 min`, `2 d 4 h`.
#[must_use]
pub fn span(seconds: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped"
    )]
    let total = seconds.round().clamp(0.0, 1e15) as u64;
    let (large, small, words) = match total {
        0..60 => return format!("{total} s"),
        60..3600 => return format!("{} min", total / 60),
        3600..86_400 => (total / 3600, total % 3600 / 60, ("h", "min")),
        _ => (total / 86_400, total % 86_400 / 3600, ("d", "h")),
    };
    if small == 0 {
        format!("{large} {}", words.0)
    } else {
        format!("{large} {} {small} {}", words.0, words.1)
    }
}
