//! What people take for an interval and what is none to `/loop`: `every 5 minutes`, `5min`, `every hour`.
//!
//! The reading of a text is shared with Hermes Agent, to whom such words are the begin of the prompt. This
//! only finds them, for whoever can still ask what was meant.

use super::args::{loop_format_interval, loop_interval_token};
use super::python::{is_space, strip};

/// Words at the begin of a text that look like an interval and are none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistaken {
    /// The words as they stand, `every` left out.
    pub words: String,
    /// An interval of that length, as a loop has it.
    pub interval: String,
}

/// The words of a loop's text that somebody may have meant as its interval.
#[must_use]
pub fn mistaken(text: &str) -> Option<Mistaken> {
    let mut words = strip(text).split(is_space).filter(|word| !word.is_empty());
    let first = words.next()?;
    let every = first.eq_ignore_ascii_case("every");
    let first = if every { words.next()? } else { first };
    if loop_interval_token(first).is_some() {
        return None;
    }
    let digits = first.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = first.split_at(digits);
    let (count, unit, taken) = match (number.is_empty(), unit.is_empty()) {
        // 'every hour', but not 'hour by hour'.
        (true, _) if every => ("1", unit, first.to_owned()),
        (true, _) => return None,
        (false, true) => {
            let unit = words.next()?;
            (number, unit, format!("{number} {unit}"))
        }
        (false, false) => (number, unit, first.to_owned()),
    };
    let seconds = count.parse::<u32>().ok()?;
    let length = f64::from(seconds) * f64::from(unit_seconds(unit)?);
    (length > 0.0).then(|| Mistaken {
        words: taken,
        interval: loop_format_interval(length),
    })
}

fn unit_seconds(word: &str) -> Option<u32> {
    let word = word.to_ascii_lowercase();
    Some(match word.as_str() {
        "s" | "sec" | "secs" | "second" | "seconds" => 1,
        "m" | "min" | "mins" | "minute" | "minutes" => 60,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600,
        "d" | "day" | "days" => 86_400,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_would_be_an_interval_is_taken_for_one() {
        for (text, words, interval) in [
            ("every 5 minutes watch CI", "5 minutes", "5m"),
            ("5 minutes watch CI", "5 minutes", "5m"),
            ("  EVERY  90  Seconds look", "90 Seconds", "1m30s"),
            ("5min x", "5min", "5m"),
            ("every 2days x", "2days", "48h"),
            ("every hour check mail", "hour", "1h"),
            ("1 d", "1 d", "24h"),
        ] {
            let found = mistaken(text).expect(text);
            assert_eq!(
                (found.words.as_str(), found.interval.as_str()),
                (words, interval)
            );
        }
        for text in [
            "",
            "every",
            "5m check",
            "every 1h30m check",
            "3 things to do",
            "check every 5 minutes",
            "hour by hour",
            "5 m&ms",
            "0 minutes x",
            "5x y",
            "every other day",
            "99999999999 minutes x",
            "5minutesago",
        ] {
            assert_eq!(mistaken(text), None, "{text}");
        }
    }
}
