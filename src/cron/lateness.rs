//! How late a job may be, and what its lateness is called.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::schedule::Schedule;

/// A one-shot this many seconds past its time is still run.
pub const ONCE_GRACE_SECONDS: i64 = 120;
/// The shortest grace of a recurring job, and that of one whose cadence is unknown.
pub const MIN_GRACE_SECONDS: i64 = 120;
/// The longest grace.
pub const MAX_GRACE_SECONDS: i64 = 7_200;
/// Up to this many seconds a run is on time.
pub const ON_TIME_SECONDS: i64 = 300;

/// How a run relates to its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lateness {
    /// At most 300 s late.
    OnTime,
    /// Within the grace.
    Late,
    /// Beyond the grace: it stands for everything that was missed.
    CatchUp,
}

impl Lateness {
    /// The name in the stores.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Lateness::OnTime => "on_time",
            Lateness::Late => "late",
            Lateness::CatchUp => "catch_up",
        }
    }

    /// The kind of a lateness in microseconds, where `grace` is in seconds.
    #[must_use]
    pub fn of(late_micros: i64, grace: i64) -> Lateness {
        if late_micros > grace * 1_000_000 {
            Lateness::CatchUp
        } else if late_micros > ON_TIME_SECONDS * 1_000_000 {
            Lateness::Late
        } else {
            Lateness::OnTime
        }
    }
}

/// The time between two runs, in seconds: an interval's length, or the gap between the next two
/// matches of the wall clock. `None` for a one-shot and where there are not two.
#[must_use]
pub fn cadence(schedule: &Schedule, now: Timestamp, zone: &TimeZone) -> Option<i64> {
    match schedule {
        Schedule::Interval { minutes } => Some(minutes.saturating_mul(60)),
        Schedule::Cron { cron, .. } => {
            let first = cron.next_after(zone.to_datetime(now))?;
            let second = cron.next_after(first)?;
            Some(second.duration_since(first).as_secs())
        }
        Schedule::Once { .. } => None,
    }
}

/// How many seconds a run may be late before it counts as missed.
#[must_use]
pub fn grace(schedule: &Schedule, now: Timestamp, zone: &TimeZone) -> i64 {
    grace_of(cadence(schedule, now, zone))
}

/// The grace for a cadence: half of it, between 120 s and 7200 s.
#[must_use]
pub fn grace_of(cadence: Option<i64>) -> i64 {
    cadence.map_or(MIN_GRACE_SECONDS, |cadence| {
        (cadence / 2).clamp(MIN_GRACE_SECONDS, MAX_GRACE_SECONDS)
    })
}
