//! The ticker's markers: one number or two, in files of a line.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};

use super::files;
use crate::doctor::evidence::home::{Beat, TickError, Ticker};
use crate::doctor::evidence::read::Trouble;

/// Reads the markers in this `cron` directory.
pub(super) fn look(cron: &Path) -> Ticker {
    let marker = |name: &str| files::text(&cron.join(name));
    Ticker {
        heartbeat: marker("ticker_heartbeat").and_then(|text| beat(&text)),
        success: marker("ticker_last_success").and_then(|text| epoch(text.trim())),
        error: marker("ticker_last_error").and_then(|text| tick_error(&text)),
        catch_ups: marker("catch_up_occurrences").and_then(|text| {
            let text = text.trim();
            text.parse().map_err(|_| odd(text))
        }),
    }
}

fn odd(text: &str) -> Trouble {
    let start: String = text.chars().take(40).collect();
    Trouble::damaged("not-a-number", format!("not a number: '{start}'"))
}

/// Seconds since 1970, as other programs print them.
pub(super) fn epoch(text: &str) -> Result<Timestamp, Trouble> {
    let seconds: f64 = text.parse().map_err(|_| odd(text))?;
    instant(seconds).ok_or_else(|| odd(text))
}

/// The instant of seconds since 1970, if there is one.
pub(super) fn instant(seconds: f64) -> Option<Timestamp> {
    let since = SignedDuration::try_from_secs_f64(seconds).ok()?;
    Timestamp::from_duration(since).ok()
}

fn beat(text: &str) -> Result<Beat, Trouble> {
    let mut words = text.split_ascii_whitespace();
    let at = epoch(words.next().unwrap_or_default())?;
    let pid = words.next().and_then(|word| word.parse().ok());
    Ok(Beat { at, pid })
}

fn tick_error(text: &str) -> Result<TickError, Trouble> {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    Ok(TickError {
        at: epoch(first.trim())?,
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
        assert!(beat("").is_err());
        assert!(beat("soon 1").is_err());
        assert!(beat("1e300").is_err());
        assert!(beat("nan").is_err());
    }

    #[test]
    fn the_error_marker_has_a_time_and_words() {
        let error = tick_error("1795991999.87\nRuntimeError: no\nmore\n").unwrap();
        assert_eq!(error.text, "RuntimeError: no");
        assert_eq!(error.at.as_second(), 1_795_991_999);
    }
}
