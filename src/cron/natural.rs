//! Days and a clock in words: `every weekday at 9am`, `mon, wed and fri 17:30`.

use super::text;

const NAMES: [(&str, u8); 17] = [
    ("sun", 0),
    ("sunday", 0),
    ("mon", 1),
    ("monday", 1),
    ("tue", 2),
    ("tues", 2),
    ("tuesday", 2),
    ("wed", 3),
    ("weds", 3),
    ("wednesday", 3),
    ("thu", 4),
    ("thur", 4),
    ("thurs", 4),
    ("thursday", 4),
    ("fri", 5),
    ("friday", 5),
    ("sat", 6),
];

fn weekday(word: &str) -> Option<u8> {
    if word == "saturday" {
        return Some(6);
    }
    NAMES
        .iter()
        .find(|(name, _)| *name == word)
        .map(|(_, day)| *day)
}

/// The cron expression that days and a clock in words mean; `None` where `phrase` is something
/// else.
#[must_use]
pub fn to_cron(phrase: &str) -> Option<String> {
    let lower = phrase.to_lowercase().replace(',', " ");
    let tokens: Vec<&str> = text::words(&lower).collect();
    let mut rest = tokens.as_slice();
    let days = match *rest.first()? {
        "day" | "daily" | "everyday" => Some("*"),
        "weekday" | "weekdays" => Some("1-5"),
        "weekend" | "weekends" => Some("0,6"),
        _ => None,
    };
    let days = if let Some(days) = days {
        rest = rest.get(1..)?;
        days.to_owned()
    } else {
        let mut named: Vec<u8> = Vec::new();
        while let Some((word, after)) = rest.split_first() {
            match weekday(word) {
                Some(day) if named.contains(&day) => {}
                Some(day) => named.push(day),
                None if *word == "and" => {}
                None => break,
            }
            rest = after;
        }
        if named.is_empty() {
            return None;
        }
        named
            .iter()
            .map(u8::to_string)
            .collect::<Vec<_>>()
            .join(",")
    };
    if rest.first() == Some(&"at") {
        rest = rest.get(1..)?;
    }
    let (hour, minute) = clock(&rest.concat())?;
    Some(format!("{minute} {hour} * * {days}"))
}

/// `9`, `9:30`, `9am`, `9:30pm`, `noon`: hour and minute of the day.
fn clock(word: &str) -> Option<(i64, i64)> {
    match word {
        "noon" | "midday" => return Some((12, 0)),
        "midnight" => return Some((0, 0)),
        _ => {}
    }
    let (word, half) = if let Some(word) = word.strip_suffix("am") {
        (word, Some(0))
    } else if let Some(word) = word.strip_suffix("pm") {
        (word, Some(12))
    } else {
        (word, None)
    };
    let (hour, minute) = word
        .split_once(':')
        .map_or((word, None), |(h, m)| (h, Some(m)));
    if hour.chars().count() > 2 || minute.is_some_and(|minute| minute.chars().count() != 2) {
        return None;
    }
    let hour = text::number(hour)?;
    let minute = minute.map_or(Some(0), text::number)?;
    let hour = match half {
        None => hour,
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some(half) => hour % 12 + half,
    };
    ((0..24).contains(&hour) && (0..60).contains(&minute)).then_some((hour, minute))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_a_clock() {
        let cron = |phrase| to_cron(phrase).unwrap_or_default();
        assert_eq!(cron("day at 9am"), "0 9 * * *");
        assert_eq!(cron("monday, tuesday and friday at 9"), "0 9 * * 1,2,5");
        assert_eq!(cron("saturday, sun 00:15"), "15 0 * * 6,0");
        assert_eq!(cron("mon and and mon at 9 : 30 PM"), "30 21 * * 1");
        assert_eq!(cron("weekend midnight"), "0 0 * * 0,6");
        assert_eq!(cron("day 12am"), "0 0 * * *");
    }

    #[test]
    fn what_is_not_days_and_a_clock() {
        for phrase in [
            "",
            "day",
            "monday",
            "day and at 9",
            "daily 13pm",
            "daily 24:00",
            "day 9:5",
        ] {
            assert_eq!(to_cron(phrase), None, "{phrase}");
        }
    }
}
