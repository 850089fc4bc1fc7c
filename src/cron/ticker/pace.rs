//! When passes begin.

use jiff::{SignedDuration, Timestamp};

/// Between two passes, as in Hermes Agent.
pub const PERIOD: SignedDuration = SignedDuration::from_secs(60);
/// The longest pause after descriptors ran out.
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_secs(900);

/// The start of the pass after this instant: whole minutes of the wall clock, so that the work of a
/// pass never shifts the next one.
#[must_use]
pub fn next_start(now: Timestamp) -> Timestamp {
    let period = PERIOD.as_secs();
    let next = (now.as_second().div_euclid(period) + 1) * period;
    Timestamp::from_second(next).unwrap_or(Timestamp::MAX)
}

/// Whether a pass is the one right before this: nobody has slept or set the clock since then.
#[must_use]
pub fn is_before(last: Timestamp, now: Timestamp) -> bool {
    let gone = now.duration_since(last);
    !gone.is_negative() && gone <= PERIOD * 2
}

/// How long the next pass waits after so many failed for want of descriptors.
#[must_use]
pub fn pause_after(failures: u32) -> SignedDuration {
    let doubled = PERIOD
        .as_secs()
        .checked_shl(failures.saturating_sub(1).min(10))
        .unwrap_or(i64::MAX);
    SignedDuration::from_secs(doubled.clamp(0, LONGEST_PAUSE.as_secs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b48_starts_stay_a_minute_apart_whatever_the_work_takes() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let first = next_start(at("2026-06-17T10:00:00.2Z"));
        assert_eq!(first, at("2026-06-17T10:01:00Z"));
        assert_eq!(
            next_start(first + SignedDuration::from_secs(5)),
            at("2026-06-17T10:02:00Z")
        );
        assert_eq!(next_start(first), at("2026-06-17T10:02:00Z"));
    }

    #[test]
    fn failures_are_tried_again_at_a_growing_pace() {
        let seconds: Vec<_> = (1..=6).map(|count| pause_after(count).as_secs()).collect();
        assert_eq!(seconds, [60, 120, 240, 480, 900, 900]);
    }
}
