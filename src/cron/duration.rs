//! Durations of a schedule text: `30m`, `2 hours`, `day`, and ours beyond: `1h30m`.

use super::text;

const UNITS: [(&str, i64); 13] = [
    ("m", 1),
    ("min", 1),
    ("mins", 1),
    ("minute", 1),
    ("minutes", 1),
    ("h", 60),
    ("hr", 60),
    ("hrs", 60),
    ("hour", 60),
    ("hours", 60),
    ("d", 1440),
    ("day", 1440),
    ("days", 1440),
];

fn minutes_per(unit: &str) -> Option<i64> {
    UNITS
        .iter()
        .find(|(name, _)| *name == unit)
        .map(|(_, minutes)| *minutes)
}

/// The minutes of one number and unit; a missing number is 1. Saturates at the largest number.
#[must_use]
pub fn simple(phrase: &str) -> Option<i64> {
    let phrase = text::strip(phrase).to_lowercase();
    let unit_at = phrase.find(|c| text::digit(c).is_none())?;
    let (number, unit) = phrase.split_at(unit_at);
    let count = if number.is_empty() {
        1
    } else {
        text::number(number)?
    };
    let unit = unit.trim_start_matches(text::is_space);
    Some(count.saturating_mul(minutes_per(unit)?))
}

/// The minutes of two parts or more in falling units, each with its number: `1h30m`,
/// `2 hours 30 minutes`. The other program knows no such text, but reads what it comes to.
#[must_use]
pub fn compound(phrase: &str) -> Option<i64> {
    let lower = text::strip(phrase).to_lowercase();
    let mut rest = lower.as_str();
    let (mut total, mut parts, mut last) = (0_i64, 0, i64::MAX);
    while !rest.is_empty() {
        let unit_at = rest.find(|c| text::digit(c).is_none())?;
        let count = text::number(rest.get(..unit_at)?)?;
        rest = rest.get(unit_at..)?.trim_start_matches(text::is_space);
        let end = rest
            .find(|c: char| !c.is_ascii_lowercase())
            .unwrap_or(rest.len());
        let unit = minutes_per(rest.get(..end)?)?;
        if unit >= last {
            return None;
        }
        last = unit;
        rest = rest.get(end..)?.trim_start_matches(text::is_space);
        total = total.saturating_add(count.saturating_mul(unit));
        parts += 1;
    }
    (parts > 1).then_some(total)
}

/// `90 minutes` as a person says it: `1 hour 30 minutes`.
#[must_use]
pub fn in_words(minutes: i64) -> String {
    let parts = [
        (minutes / 1440, "day"),
        (minutes / 60 % 24, "hour"),
        (minutes % 60, "minute"),
    ];
    let said: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count != 0)
        .map(|(count, unit)| format!("{count} {unit}{}", if *count == 1 { "" } else { "s" }))
        .collect();
    if said.is_empty() {
        "0 minutes".into()
    } else {
        said.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_and_unit() {
        assert_eq!(simple("30m"), Some(30));
        assert_eq!(simple(" 2 Hours "), Some(120));
        assert_eq!(simple("day"), Some(1440));
        assert_eq!(simple("１０m"), Some(10));
        assert_eq!(simple("1h30m"), None);
        assert_eq!(simple("1.5h"), None);
        assert_eq!(simple("5"), None);
        assert_eq!(simple(""), None);
        assert_eq!(simple("99999999999999999999d"), Some(i64::MAX));
    }

    #[test]
    fn several_parts_must_fall() {
        assert_eq!(compound("1h30m"), Some(90));
        assert_eq!(compound("2 hours 30 minutes"), Some(150));
        assert_eq!(compound("1d 2h 3m"), Some(1563));
        assert_eq!(compound("30m1h"), None);
        assert_eq!(compound("30m"), None);
        assert_eq!(compound("1h m"), None);
    }
}
