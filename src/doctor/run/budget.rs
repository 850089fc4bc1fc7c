//! The total deadline: how much of it is left, and work that may not outlive it.

use std::time::Duration;

use jiff::SignedDuration;

use crate::bounded::Started;
use crate::clock::{Clock, SystemClock};

/// Time that may still be spent. It is measured on the real clock, also where the report's own clock
/// is told to stand still.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    total: Duration,
    ends: Duration,
}

impl Budget {
    /// A budget that begins now.
    #[must_use]
    pub fn of(total: Duration) -> Self {
        Self {
            total,
            ends: SystemClock.now().monotonic.saturating_add(total),
        }
    }

    /// Why nothing more is begun, if nothing is left of it.
    #[must_use]
    pub fn spent(&self) -> Option<String> {
        let total = SignedDuration::try_from(self.total).unwrap_or(SignedDuration::MAX);
        let is_spent = self.left().is_zero();
        is_spent.then(|| format!("the deadline of {total:#} had passed"))
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
            total: self.total,
            ends: self
                .ends
                .min(SystemClock.now().monotonic.saturating_add(most)),
        }
    }

    /// What started work came to; nothing if it is not done within the budget, or broke down. Its
    /// thread is left behind then, and ends with the process.
    #[must_use]
    pub fn wait<T>(&self, started: Started<T>) -> Option<T> {
        started.wait(self.left())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spent_budget_has_nothing_and_says_why() {
        let spent = Budget::of(Duration::ZERO);
        assert_eq!(spent.left(), Duration::ZERO);
        assert_eq!(spent.wait(crate::bounded::start("t", || 7)), None);
        assert_eq!(
            spent.spent().as_deref(),
            Some("the deadline of 0s had passed")
        );
        let minute = Budget::of(Duration::from_secs(60));
        assert_eq!(minute.wait(crate::bounded::start("t", || 7)), Some(7));
        assert_eq!(minute.spent(), None);
        assert!(minute.at_most(Duration::ZERO).spent().is_some());
        assert!(Budget::of(Duration::MAX).left() > Duration::from_secs(1));
    }
}
