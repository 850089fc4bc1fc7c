//! A fixed cadence: slots on a grid that starts at one due time. Pure arithmetic over seconds since
//! the epoch; owns when a wake-up belongs to a slot, and when it stands in for slots that passed.

/// A wake-up within this part of the interval after a slot is that slot's wake-up, only late.
const LATE_PART: f64 = 0.25;

/// What a look at the grid found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Passed {
    /// Slots from the due time up to now, both included; 0 is "not due yet".
    pub slots: u64,
    /// The newest of them, or the due time.
    pub last: f64,
    /// Whether a wake-up now would still be in time for the newest.
    pub in_time: bool,
}

impl Passed {
    /// How many slots a wake-up now would leave unserved.
    #[must_use]
    pub fn missed(&self) -> u64 {
        if self.in_time {
            self.slots.saturating_sub(1)
        } else {
            self.slots
        }
    }
}

/// Which slots of the grid `due + n * interval` have passed at `now`.
#[must_use]
pub fn passed(due: f64, interval: f64, now: f64) -> Passed {
    if now < due {
        return Passed {
            slots: 0,
            last: due,
            in_time: false,
        };
    }
    if interval <= 0.0 {
        return Passed {
            slots: 1,
            last: due,
            in_time: true,
        };
    }
    let after = ((now - due) / interval).floor();
    let last = due + after * interval;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative; `as` saturates"
    )]
    let slots = (after as u64).saturating_add(1);
    Passed {
        slots,
        last,
        in_time: now - last <= interval * LATE_PART,
    }
}

/// The first slot of the grid after `after` that is not before `earliest`.
#[must_use]
pub fn next_slot(slot: f64, interval: f64, after: f64, earliest: f64) -> f64 {
    if interval <= 0.0 {
        return after.max(earliest);
    }
    let mut next = slot + ((after - slot) / interval).floor().max(0.0) * interval;
    while next <= after {
        next += interval;
    }
    if next < earliest {
        next += ((earliest - next) / interval).ceil() * interval;
    }
    next
}

/// The slot that follows a wake-up at `now` for the slot `due`: the next one where it was in time. One
/// that stood in for slots that passed may come close to the next, which is then left out.
#[must_use]
pub fn slot_after(due: f64, interval: f64, now: f64, floor: f64) -> f64 {
    let earliest = if passed(due, interval, now).in_time {
        now
    } else {
        now + floor
    };
    next_slot(due, interval, now, earliest)
}

/// The first moment that is not too early after a wake-up at `fired`. Nobody looks at a slot to the
/// millisecond: the floor is meant between slots, and one that was late does not put the next one off.
#[must_use]
pub fn not_before(fired: f64, floor: f64) -> f64 {
    fired + floor * (1.0 - LATE_PART)
}

/// A due time that lies more than one interval ahead (the clock was set back), moved back by whole
/// intervals so that the phase stays.
#[must_use]
pub fn not_too_far(due: f64, interval: f64, now: f64) -> f64 {
    if interval <= 0.0 || due - now <= interval {
        return due;
    }
    due - ((due - now) / interval - 1.0).ceil() * interval
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "whole seconds are exact")]
mod tests {
    use super::*;

    #[test]
    fn slots_are_counted_from_the_due_time() {
        assert_eq!(passed(100.0, 10.0, 99.0).slots, 0);
        assert_eq!(
            passed(100.0, 10.0, 100.0),
            Passed {
                slots: 1,
                last: 100.0,
                in_time: true
            }
        );
        let late = passed(100.0, 10.0, 145.0);
        assert_eq!((late.slots, late.last, late.missed()), (5, 140.0, 5));
        assert_eq!(passed(100.0, 10.0, 142.0).missed(), 4);
    }

    #[test]
    fn the_next_slot_keeps_the_phase_and_the_floor() {
        assert_eq!(next_slot(100.0, 10.0, 145.0, 0.0), 150.0);
        assert_eq!(next_slot(100.0, 10.0, 150.0, 0.0), 160.0);
        assert_eq!(next_slot(100.0, 10.0, 149.0, 155.0), 160.0);
        assert_eq!(next_slot(100.0, 10.0, 50.0, 0.0), 100.0);
    }

    #[test]
    fn a_late_wake_up_does_not_skip_the_next_slot_and_one_that_stands_in_does() {
        assert_eq!(slot_after(100.0, 30.0, 100.01, 30.0), 130.0);
        assert_eq!(slot_after(100.0, 30.0, 107.0, 30.0), 130.0);
        assert_eq!(slot_after(100.0, 30.0, 120.0, 30.0), 160.0);
        assert!(not_before(100.01, 30.0) < 130.0);
        assert_eq!(not_before(120.0, 30.0), 142.5);
    }

    #[test]
    fn a_clock_set_back_does_not_put_a_slot_off() {
        assert_eq!(not_too_far(3_600.0, 300.0, 0.0), 300.0);
        assert_eq!(not_too_far(310.0, 300.0, 0.0), 10.0);
        assert_eq!(not_too_far(300.0, 300.0, 0.0), 300.0);
    }
}
