//! The digest of an answer: equal where two answers say the same but for the time. Owns what counts
//! as a time: clock times, dates and durations; case and white space do not count either.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use super::python::is_space;

/// Stands for one or more times in a row.
const TIME: char = '\u{1}';

/// The digest of an answer, 64 hex digits.
#[must_use]
pub fn digest(answer: &str) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(normal(answer).as_bytes()) {
        // Writing to a String cannot fail.
        let _ok = write!(hex, "{byte:02x}");
    }
    hex
}

/// The answer without its times, in lower case, with single spaces.
fn normal(answer: &str) -> String {
    let lower = answer.to_lowercase();
    let mut words: Vec<String> = Vec::new();
    for word in lower.split(is_space).filter(|word| !word.is_empty()) {
        words.push(mask_within(word));
    }
    fold_pairs(&mut words);
    let mut text = String::with_capacity(lower.len());
    let mut after_time = false;
    for word in words {
        let time = word.chars().eq([TIME]);
        if !(time && after_time) {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&word);
        }
        after_time = time;
    }
    text
}

/// Masks the parts of one word that are times: `[10:30:15]`, `at=10:30`, `1h30m`.
fn mask_within(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(first) = rest.chars().next() {
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (run, tail) = rest.split_at(length);
        if run.is_empty() {
            out.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
            continue;
        }
        let core = run.trim_end_matches(['.', ':', '-', '/', '+', '_']);
        if is_time(core) {
            out.push(TIME);
            out.push_str(run.get(core.len()..).unwrap_or_default());
        } else {
            out.push_str(run);
        }
        rest = tail;
    }
    out
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, ':' | '.' | '-' | '/' | '+' | '_')
}

/// Whether all of a run is times, joined by the marks that join times.
fn is_time(run: &str) -> bool {
    if WEEKDAYS.contains(&run) {
        return true;
    }
    let mut rest = run;
    loop {
        let Some(next) = clock(rest)
            .or_else(|| date(rest))
            .or_else(|| duration(rest))
        else {
            return false;
        };
        if next.is_empty() {
            return true;
        }
        let Some(after) = next.strip_prefix(['t', '_', '-', '/', '+']) else {
            return false;
        };
        if after.len() == 4 && digits(after, 4, 4).is_some() && next.starts_with(['+', '-']) {
            return true;
        }
        rest = after;
    }
}

const WEEKDAYS: [&str; 7] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];
const MONTHS: [&str; 23] = [
    "jan",
    "january",
    "feb",
    "february",
    "mar",
    "march",
    "apr",
    "april",
    "may",
    "jun",
    "june",
    "jul",
    "july",
    "aug",
    "august",
    "sep",
    "september",
    "oct",
    "october",
    "nov",
    "november",
    "dec",
    "december",
];
const UNITS: [&str; 25] = [
    "ms",
    "milliseconds",
    "millisecond",
    "seconds",
    "second",
    "secs",
    "sec",
    "s",
    "minutes",
    "minute",
    "mins",
    "min",
    "m",
    "hours",
    "hour",
    "hrs",
    "hr",
    "h",
    "days",
    "day",
    "d",
    "weeks",
    "week",
    "w",
    "months",
];
const ZONES: [&str; 6] = ["utc", "gmt", "am", "pm", "cet", "z"];

/// Joins what takes two or three words: `5 minutes`, `10 am`, `jan 2, 2026`, `10:30 utc`.
fn fold_pairs(words: &mut Vec<String>) {
    let mut folded: Vec<String> = Vec::with_capacity(words.len());
    for word in words.drain(..) {
        let core = word.trim_end_matches([',', '.', ';', ':', '!', '?', ')']);
        let tail = word.get(core.len()..).unwrap_or_default();
        let joins = folded.last().is_some_and(|before| {
            let before = before.trim_start_matches('(').trim_end_matches(',');
            let number = is_number(before);
            let after_time = before.ends_with(TIME);
            let counted = UNITS.contains(&core)
                || MONTHS.contains(&core)
                || matches!(core, "am" | "pm" | "month");
            (number && counted)
                || (MONTHS.contains(&before) && is_day(core))
                || (after_time && (ZONES.contains(&core) || is_year(core)))
        });
        if joins {
            let open = folded.pop().is_some_and(|before| before.starts_with('('));
            let open = if open { "(" } else { "" };
            folded.push(format!(
                "{open}{TIME}{}",
                if tail == "," { "" } else { tail }
            ));
        } else {
            folded.push(word);
        }
    }
    *words = folded;
}

fn is_number(word: &str) -> bool {
    number(word).is_some_and(str::is_empty)
}

fn is_day(word: &str) -> bool {
    let word = word.trim_end_matches(['s', 't', 'n', 'd', 'r', 'h']);
    digits(word, 1, 2).is_some_and(str::is_empty)
}

fn is_year(word: &str) -> bool {
    word.starts_with("20") && digits(word, 4, 4).is_some_and(str::is_empty)
}

/// Takes `least` to `most` ASCII digits, not followed by another.
fn digits(text: &str, least: usize, most: usize) -> Option<&str> {
    let count = text.bytes().take_while(u8::is_ascii_digit).count();
    (least..=most)
        .contains(&count)
        .then(|| text.get(count..))
        .flatten()
}

/// Takes a number with an optional fraction.
fn number(text: &str) -> Option<&str> {
    let rest = digits(text, 1, 18)?;
    Some(
        rest.strip_prefix('.')
            .and_then(|rest| digits(rest, 1, 18))
            .unwrap_or(rest),
    )
}

/// Takes `10:30`, `10:30:15.123`, with `z`, `am` or `pm` behind it.
fn clock(text: &str) -> Option<&str> {
    let rest = digits(text, 1, 2)?.strip_prefix(':')?;
    let mut rest = digits(rest, 2, 2)?;
    if let Some(seconds) = rest.strip_prefix(':').and_then(|rest| digits(rest, 2, 2)) {
        rest = seconds
            .strip_prefix('.')
            .and_then(|rest| digits(rest, 1, 9))
            .unwrap_or(seconds);
    }
    Some(
        ["z", "am", "pm"]
            .iter()
            .find_map(|end| rest.strip_prefix(end))
            .unwrap_or(rest),
    )
}

/// Takes `2026-01-02`, `2026/01/02`, `01/02/2026` or `10.01.2026`.
fn date(text: &str) -> Option<&str> {
    for mark in ['-', '/', '.'] {
        let part = |rest: &'static [(usize, usize); 3]| {
            let rest_text = digits(text, rest[0].0, rest[0].1)?.strip_prefix(mark)?;
            let rest_text = digits(rest_text, rest[1].0, rest[1].1)?.strip_prefix(mark)?;
            digits(rest_text, rest[2].0, rest[2].1)
        };
        if let Some(rest) =
            part(&[(4, 4), (1, 2), (1, 2)]).or_else(|| part(&[(1, 2), (1, 2), (4, 4)]))
        {
            return Some(rest);
        }
    }
    None
}

/// Takes `5m`, `3.5s`, `1h30m`, `120ms`.
fn duration(text: &str) -> Option<&str> {
    let mut rest = text;
    let mut taken = None;
    while let Some(after) = number(rest) {
        let letters = after.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (unit, tail) = after.split_at_checked(letters)?;
        if !UNITS.contains(&unit) {
            break;
        }
        taken = Some(tail);
        rest = tail;
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::{digest, normal};

    #[test]
    fn b126_times_do_not_count_as_change() {
        for (one, two) in [
            ("All green at 10:30.", "all  green at 11:45."),
            (
                "checked 2026-01-02T10:00:00Z",
                "checked 2026-05-02T11:00:00.25+02:00",
            ),
            ("2026-01-02", "10.01.2026"),
            ("took 5 minutes", "took 1 hour"),
            ("took 1h30m", "took 3.5s"),
            ("took 1 hour 5 minutes", "took 2 hours 7 minutes"),
            ("[10:30:15] ok", "[9:05am] ok"),
            ("next=10:30", "next=11:45"),
            ("10:00-11:00", "12:00-13:00"),
            ("on Jan 2, 2026 ok", "on Mar 13, 2026 ok"),
            ("on 2 Jan 2026 ok", "on 3 March 2027 ok"),
            ("Monday: idle", "tuesday: idle"),
            ("10 am", "11 pm"),
            ("10:30 UTC", "11:30"),
            ("latency 100 ms", "latency 120ms"),
            ("  a\n\n b ", "A b"),
            ("", " \n"),
        ] {
            assert_eq!(
                digest(one),
                digest(two),
                "{:?} {:?}",
                normal(one),
                normal(two)
            );
        }
    }

    #[test]
    fn everything_else_does() {
        for (one, two) in [
            ("12 files", "13 files"),
            ("v1.2.3", "v1.2.4"),
            ("build 100 failed", "build 101 failed"),
            ("10:30 ok", "10:30 failed"),
            ("1:2", "1:3"),
            ("job 5m3x", "job 6m3x"),
            ("may fail", "march fail"),
            ("ratio 10:300", "ratio 10:301"),
            ("", "a"),
        ] {
            assert_ne!(digest(one), digest(two), "{one:?} {two:?}");
        }
    }

    #[test]
    fn plain_text_has_the_digest_of_its_lower_case() {
        assert_eq!(
            digest("Hello"),
            "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
        );
    }
}
