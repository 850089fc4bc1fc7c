//! The total deadline: how much of it is left, and work that may not outlive it.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::clock::{Clock, SystemClock};

/// Stack of a thread, in bytes: a document may be nested as deep as its reader allows. Only what is
/// used of it is ever there.
pub(super) const STACK: usize = 16 << 20;

/// Time that may still be spent. It is measured on the real clock, also where the report's own clock
/// is told to stand still.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    ends: Duration,
}

impl Budget {
    /// A budget that begins now.
    #[must_use]
    pub fn of(total: Duration) -> Self {
        Self {
            ends: SystemClock.now().monotonic.saturating_add(total),
        }
    }

    /// Waits for a message until the budget is spent; nothing from then on, even if it is there.
    pub(super) fn receive<T>(&self, from: &mpsc::Receiver<T>) -> Option<T> {
        let left = self.left();
        if left.is_zero() {
            return None;
        }
        from.recv_timeout(left).ok()
    }

    /// What is left of it.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.ends.saturating_sub(SystemClock.now().monotonic)
    }

    /// The same, but no more than this.
    #[must_use]
    pub fn at_most(&self, most: Duration) -> Self {
        Self {
            ends: self
                .ends
                .min(SystemClock.now().monotonic.saturating_add(most)),
        }
    }

    /// Starts this on a thread of its own.
    #[must_use]
    pub fn start<T: Send + 'static>(
        name: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Started<T> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .stack_size(STACK)
            .spawn(move || {
                drop(sender.send(work()));
            });
        drop(thread);
        Started { receiver }
    }
}

/// Work on a thread of its own.
#[derive(Debug)]
pub struct Started<T> {
    receiver: mpsc::Receiver<T>,
}

impl<T> Started<T> {
    /// What it came to; nothing if it is not done within the budget, or broke down. Its thread is
    /// left behind then, and ends with the process.
    #[must_use]
    pub fn wait(self, budget: &Budget) -> Option<T> {
        budget.receive(&self.receiver)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_ends_is_had_and_work_that_hangs_is_left_behind() {
        let minute = Budget::of(Duration::from_secs(60));
        assert_eq!(Budget::start("t", || 7).wait(&minute), Some(7));
        let (keep, blocked) = mpsc::channel::<()>();
        let hangs = Budget::start("t", move || blocked.recv().is_ok());
        let soon = minute.at_most(Duration::from_millis(20));
        assert_eq!(hangs.wait(&soon), None);
        drop(keep);
        let breaks = Budget::start("t", || -> u8 { panic!("on purpose") });
        assert_eq!(breaks.wait(&minute), None);
    }

    #[test]
    fn a_spent_budget_has_nothing() {
        let spent = Budget::of(Duration::ZERO);
        assert_eq!(spent.left(), Duration::ZERO);
        assert_eq!(Budget::start("t", || 7).wait(&spent), None);
        assert!(Budget::of(Duration::MAX).left() > Duration::from_secs(1));
    }
}
