//! Times as findings print them.

use jiff::Timestamp;

/// Seconds since 1970 as `2026-11-30T00:20:00Z`; the number itself where that is no time.
pub(super) fn utc(seconds: f64) -> String {
    // Whole seconds are enough for a person, and fit.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a cast of a float saturates, and what saturates is refused as a time"
    )]
    let whole = seconds as i64;
    match Timestamp::from_second(whole) {
        Ok(time) => time.to_string(),
        Err(_) => format!("{seconds}"),
    }
}
