//! The pace of a self-paced loop: at the floor while answers change, doubled while they do not.

/// The limits of self-pacing, in seconds (`loops.self_paced_floor_seconds`, `_ceiling_seconds`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    floor: f64,
    ceiling: f64,
}

impl Pace {
    /// A pace between these limits; the floor is at least 10 s, the ceiling at least the floor.
    #[must_use]
    pub fn new(floor: f64, ceiling: f64) -> Self {
        let floor = if floor.is_finite() {
            floor.max(10.0)
        } else {
            60.0
        };
        Self {
            floor,
            ceiling: if ceiling.is_finite() {
                ceiling.max(floor)
            } else {
                floor
            },
        }
    }

    /// The delay to start with, and to come back to.
    #[must_use]
    pub fn floor(&self) -> f64 {
        self.floor
    }

    /// The longest delay.
    #[must_use]
    pub fn ceiling(&self) -> f64 {
        self.ceiling
    }

    /// The delay after an answer: doubled where it was the same as the one before.
    #[must_use]
    pub fn after_answer(&self, delay: f64, same: bool) -> f64 {
        if same {
            (delay * 2.0).clamp(self.floor, self.ceiling)
        } else {
            self.floor
        }
    }
}

impl Default for Pace {
    fn default() -> Self {
        Self::new(60.0, 900.0)
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "whole seconds are exact")]
mod tests {
    use super::Pace;

    #[test]
    fn b126_doubles_to_the_ceiling_and_falls_back() {
        let pace = Pace::default();
        let mut delay = pace.after_answer(0.0, false);
        let mut seen = vec![delay];
        for _ in 0..5 {
            delay = pace.after_answer(delay, true);
            seen.push(delay);
        }
        assert_eq!(seen, [60.0, 120.0, 240.0, 480.0, 900.0, 900.0]);
        assert_eq!(pace.after_answer(delay, false), 60.0);
    }

    #[test]
    fn limits_have_limits() {
        let pace = Pace::new(1.0, 5.0);
        assert_eq!((pace.floor(), pace.ceiling()), (10.0, 10.0));
    }
}
