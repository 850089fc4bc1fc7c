//! Words for people: durations, counts, plurals, and text from the host made safe to print.

use std::borrow::Cow;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// `1 job`, `2 jobs`: the only place that makes a plural.
#[must_use]
pub fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// A duration in its two largest units: `7h 5m`, `3d`, `12s`, `0s`. A negative one as its size.
#[must_use]
pub fn duration(seconds: i64) -> String {
    const UNITS: [(u64, &str); 4] = [(86_400, "d"), (3600, "h"), (60, "m"), (1, "s")];
    let mut rest = seconds.unsigned_abs();
    let Some(first) = UNITS.iter().position(|(size, _)| rest >= *size) else {
        return "0s".to_owned();
    };
    let mut parts = Vec::new();
    for (size, unit) in UNITS.iter().skip(first).take(2) {
        let value = rest / size;
        rest %= size;
        if value > 0 {
            parts.push(format!("{value}{unit}"));
        }
    }
    parts.join(" ")
}

/// The same of a measured time, to the second; what would be negative is `0s`.
#[must_use]
pub fn span(seconds: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "clamped")]
    let whole = seconds.round().clamp(0.0, 1e15) as i64;
    duration(whole)
}

/// How long ago, or in how long: `7h 5m ago`, `in 3m`, `now`.
#[must_use]
pub fn relative(then: Timestamp, now: Timestamp) -> String {
    let ago: SignedDuration = now.duration_since(then);
    match ago.as_secs() {
        0 => "now".to_owned(),
        seconds if seconds > 0 => format!("{} ago", duration(seconds)),
        seconds => format!("in {}", duration(seconds)),
    }
}

/// An instant by the wall clock of a zone: `2026-06-01 09:00:00 +02:00`.
#[must_use]
pub fn wall(at: Timestamp, zone: &TimeZone) -> String {
    let at = at.to_zoned_datetime(zone.clone());
    at.strftime("%Y-%m-%d %H:%M:%S %:z").to_string()
}

/// The same, and how far off that is: `2026-06-01 09:00:00 +02:00 (in 3m)`.
#[must_use]
pub fn when(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    format!("{} ({})", wall(at, zone), relative(at, now))
}

/// What comes, short: `in 29m (14:05)`, with the day where that is not today; `due 3h ago` where it is late.
#[must_use]
pub fn ahead(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    match now.duration_since(at).as_secs() {
        0 if at <= now => return "due".to_owned(),
        late if late > 0 => return format!("due {}", relative(at, now)),
        _ => {}
    }
    let on = |at: Timestamp| at.to_zoned_datetime(zone.clone());
    let form = if on(at).date() == on(now).date() {
        "%H:%M"
    } else {
        "%Y-%m-%d %H:%M"
    };
    format!("{} ({})", relative(at, now), on(at).strftime(form))
}

/// A size: `512 B`, `1.5 GiB`.
#[must_use]
pub fn bytes(size: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if size < 1024 {
        return format!("{size} B");
    }
    let mut tenths = u128::from(size) * 10;
    let mut unit = "B";
    for next in UNITS {
        if tenths < 10_240 {
            break;
        }
        tenths /= 1024;
        unit = next;
    }
    if tenths % 10 == 0 {
        format!("{} {unit}", tenths / 10)
    } else {
        format!("{}.{} {unit}", tenths / 10, tenths % 10)
    }
}

/// Text from the host with every character that a terminal might act on made visible: control
/// characters (line breaks too), and the invisible ones that reorder or hide text.
#[must_use]
pub fn printable(text: &str) -> String {
    if !text.chars().any(is_unsafe) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_unsafe(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Text in ASCII: signs that our own words use have a spelling, any other is written as its number.
#[must_use]
pub fn ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut ascii = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            c if c.is_ascii() => ascii.push(c),
            '\u{d7}' => ascii.push('x'),
            '\u{b5}' | '\u{3bc}' => ascii.push('u'),
            '\u{2013}' | '\u{2014}' => ascii.push('-'),
            '\u{2026}' => ascii.push_str("..."),
            c => ascii.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(ascii)
}

/// Whether a terminal might act on this character, or hide it.
#[must_use]
pub(crate) fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_two_units_at_most() {
        assert_eq!(duration(0), "0s");
        assert_eq!(duration(59), "59s");
        assert_eq!(duration(25_500), "7h 5m");
        assert_eq!(duration(86_400), "1d");
        assert_eq!(duration(90_061), "1d 1h");
        assert_eq!(duration(-61), "1m 1s");
        assert_eq!(duration(i64::MIN), "106751991167300d 15h");
    }

    #[test]
    fn what_comes_has_its_time_and_what_comes_another_day_its_day() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let (now, zone) = (at("2026-06-01T13:36:00Z"), TimeZone::UTC);
        let berlin = TimeZone::fixed(jiff::tz::offset(2));
        let told = |then: &str, zone: &TimeZone| ahead(at(then), now, zone);
        assert_eq!(told("2026-06-01T14:05:00.5Z", &zone), "in 29m (14:05)");
        assert_eq!(told("2026-06-01T14:05:00Z", &berlin), "in 29m (16:05)");
        let next = "2026-06-01T22:05:00Z";
        assert_eq!(told(next, &zone), "in 8h 29m (22:05)");
        assert_eq!(told(next, &berlin), "in 8h 29m (2026-06-02 00:05)");
        assert_eq!(told("2026-06-01T13:36:00Z", &zone), "due");
        assert_eq!(told("2026-06-01T13:06:00Z", &zone), "due 30m ago");
        let past = when(at("2026-06-01T10:36:00Z"), now, &berlin);
        assert_eq!(past, "2026-06-01 12:36:00 +02:00 (3h ago)");
    }

    #[test]
    fn sizes() {
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(4 << 30), "4 GiB");
    }

    #[test]
    fn terminal_escapes_become_text() {
        assert_eq!(printable("a\x1b[31mb\n"), "a\\u{1b}[31mb\\n");
        assert_eq!(printable("x\u{202e}y"), "x\\u{202e}y");
        assert_eq!(printable("größe"), "größe");
    }
}
