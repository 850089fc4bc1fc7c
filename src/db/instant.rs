//! Instants as the stores write them: seconds since the epoch, or ISO text with an offset.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// An instant from seconds since the epoch; none for zero, which means never, and for nonsense.
#[must_use]
pub fn instant(seconds: f64) -> Option<Timestamp> {
    if !seconds.is_finite() || seconds == 0.0 {
        return None;
    }
    // A float of this size is exact to a quarter of a microsecond, and the writers mean no more.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "float casts saturate, and the instant checks its range"
    )]
    let micros = (seconds * 1e6).round() as i64;
    Timestamp::from_microsecond(micros).ok()
}

/// An instant as text, kept as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// The text.
    pub text: String,
    /// The instant it names; none for text without an offset or that is no instant at all.
    pub at: Option<Timestamp>,
}

impl From<String> for Stamp {
    fn from(text: String) -> Self {
        let at = text.trim().parse().ok();
        Self { text, at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_an_instant_and_zero_means_never() {
        let at = instant(1_795_992_000.25).unwrap();
        assert_eq!(at.as_millisecond(), 1_795_992_000_250);
        for never in [0.0, f64::NAN, f64::INFINITY, 1e300, -1e300] {
            assert_eq!(instant(never), None, "{never}");
        }
    }

    #[test]
    fn text_is_kept_whether_or_not_it_names_an_instant() {
        let stamp = Stamp::from("2026-11-29T23:39:57.732422+01:00".to_owned());
        assert_eq!(stamp.at.unwrap().as_second(), 1_795_991_997);
        for odd in ["2026-11-29T23:39:57", "soon", ""] {
            let stamp = Stamp::from(odd.to_owned());
            assert_eq!((stamp.text.as_str(), stamp.at), (odd, None));
        }
    }
}
