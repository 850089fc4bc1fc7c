//! What the markers of a ticker say: a number or two, and the words of a pass that failed.

use jiff::{SignedDuration, Timestamp};

/// One heartbeat of a ticker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beat {
    /// When.
    pub at: Timestamp,
    /// By which process; old versions do not say.
    pub pid: Option<u32>,
}

/// The last tick that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TickError {
    /// When.
    pub at: Timestamp,
    /// Its words, first line.
    pub text: String,
}

/// The instant of seconds since 1970, if there is one.
#[must_use]
pub fn instant(seconds: f64) -> Option<Timestamp> {
    let since = SignedDuration::try_from_secs_f64(seconds).ok()?;
    Timestamp::from_duration(since).ok()
}

/// Seconds since 1970, as other programs print them.
#[must_use]
pub fn epoch(text: &str) -> Option<Timestamp> {
    instant(text.trim().parse().ok()?)
}

/// What `ticker_heartbeat` says.
#[must_use]
pub fn beat(text: &str) -> Option<Beat> {
    let mut words = text.split_ascii_whitespace();
    Some(Beat {
        at: epoch(words.next()?)?,
        pid: words.next().and_then(|word| word.parse().ok()),
    })
}

/// What `ticker_last_error` says.
#[must_use]
pub fn tick_error(text: &str) -> Option<TickError> {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    Some(TickError {
        at: epoch(first)?,
        text: rest.lines().next().unwrap_or_default().trim().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_the_heartbeat_are_read() {
        let new = beat("1795991999.8715699 4242").unwrap();
        assert_eq!((new.at.as_second(), new.pid), (1_795_991_999, Some(4242)));
        assert_eq!(beat("1795991999.8").unwrap().pid, None);
        for odd in ["", "soon 1", "1e300", "nan"] {
            assert_eq!(beat(odd), None, "{odd}");
        }
    }

    #[test]
    fn the_error_marker_has_a_time_and_words() {
        let error = tick_error("1795991999.87\nRuntimeError: no\nmore\n").unwrap();
        assert_eq!(error.text, "RuntimeError: no");
        assert_eq!(error.at.as_second(), 1_795_991_999);
        assert_eq!(tick_error("soon\nRuntimeError: no\n"), None);
    }
}
