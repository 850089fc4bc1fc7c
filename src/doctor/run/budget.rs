//! The total deadline: how much of it is left, and work that may not outlive it.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::clock::{Clock, SystemClock};

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
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
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
        self.receiver.recv_timeout(budget.left()).ok()
    }
}
