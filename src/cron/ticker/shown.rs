//! What a pass leaves behind of itself: the markers by which others see that a ticker turns.

use jiff::Timestamp;

use super::Pass;
use crate::cron::markers_file::Markers;
use crate::error::{Error, Kind, Result};

/// Leaves the markers of a pass.
pub(super) fn show(markers: &Markers, result: &Result<Pass>, now: Timestamp) {
    markers.beat(now);
    match result {
        Ok(Pass::Busy) => {}
        Ok(_) => markers.succeeded(now),
        Err(error) => {
            markers.failed(now, kind_word(error), &error.in_full());
        }
    }
}

/// The kind of an error, in the words of the markers.
fn kind_word(error: &Error) -> &'static str {
    match error.kind() {
        Kind::Io => "OSError",
        Kind::Invalid => "ValueError",
        Kind::Busy => "TimeoutError",
        _ => "RuntimeError",
    }
}
