//! The last safety of a timer: what fires too often, or fails too often, is paused.

use serde::{Deserialize, Serialize};

/// More fires than this within [`FIRES_WINDOW_SECONDS`] pause a timer.
pub const MAX_FIRES: usize = 10;
/// The window of [`MAX_FIRES`], in seconds.
pub const FIRES_WINDOW_SECONDS: f64 = 60.0;
/// So many failures in a row pause a timer.
pub const MAX_FAILURES: u32 = 10;

/// What the fuse remembers of a timer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fuse {
    /// When it fired, oldest first; no more than [`MAX_FIRES`] of them. Seconds since the epoch.
    fires: Vec<f64>,
    /// Failures since the last good answer.
    failures: u32,
}

impl Fuse {
    /// Notes a fire, unless it would be one too many.
    #[must_use]
    pub fn fire(&mut self, now: f64) -> bool {
        // A stamp far ahead of now was made before the clock was set back; it limits nothing.
        self.fires
            .retain(|at| (now - at).abs() < FIRES_WINDOW_SECONDS);
        if self.fires.len() >= MAX_FIRES {
            return false;
        }
        self.fires.push(now);
        true
    }

    /// Takes back the newest fire: its turn never began.
    pub fn give_back(&mut self) {
        self.fires.pop();
    }

    /// Notes a failure; false where it was one too many.
    #[must_use]
    pub fn fail(&mut self) -> bool {
        self.failures = self.failures.saturating_add(1);
        self.failures < MAX_FAILURES
    }

    /// Notes a good answer.
    pub fn succeed(&mut self) {
        self.failures = 0;
    }

    /// Forgets everything: someone resumed the timer.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Failures since the last good answer.
    #[must_use]
    pub fn failures(&self) -> u32 {
        self.failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eleventh_fire_in_a_minute_is_refused() {
        let mut fuse = Fuse::default();
        assert!((0..10).all(|second| fuse.fire(f64::from(second))));
        assert!(!fuse.fire(59.0));
        assert!(fuse.fire(60.0));
    }

    #[test]
    fn ten_failures_in_a_row() {
        let mut fuse = Fuse::default();
        assert!((0..9).all(|_| fuse.fail()));
        fuse.succeed();
        assert!((0..9).all(|_| fuse.fail()));
        assert!(!fuse.fail());
    }
}
