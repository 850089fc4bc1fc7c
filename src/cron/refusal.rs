//! Why a schedule text is refused, what would be right, and the class of the mistake.

use super::expr::CronExpr;
use super::field::FieldError;
use super::{duration, natural, text};

/// The classes of mistakes. Their names are what tools see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// No form of schedule fits.
    Unrecognised,
    /// `every …` with something that is no duration.
    Duration,
    /// `in …` with something that is no duration.
    InDuration,
    /// Looks like a date and time, and is none.
    Timestamp,
    /// Looks like a cron expression, and is none.
    CronExpression,
    /// Days and a clock that give no expression.
    NaturalCron,
    /// Read, but it has no next time.
    Compute,
    /// Too large for a clock.
    Other,
}

impl Category {
    /// The name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Category::Unrecognised => "unrecognised",
            Category::Duration => "duration",
            Category::InDuration => "in_duration",
            Category::Timestamp => "timestamp",
            Category::CronExpression => "cron_expression",
            Category::NaturalCron => "natural_cron",
            Category::Compute => "compute",
            Category::Other => "other",
        }
    }
}

/// A refused schedule text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ScheduleError {
    /// The class of the mistake.
    pub category: Category,
    /// What was wrong with the text.
    pub message: String,
    /// What would be right.
    pub hint: String,
}

fn refuse(
    category: Category,
    message: impl Into<String>,
    hint: impl Into<String>,
) -> ScheduleError {
    ScheduleError {
        category,
        message: message.into(),
        hint: hint.into(),
    }
}

const FORMS: &str = "write `every 30m`, `every weekday at 9am`, `0 9 * * 1-5`, `in 2h` or \
                     `2027-01-31T09:00`";

/// A cadence of nothing.
pub(super) fn zero_interval() -> ScheduleError {
    refuse(
        Category::Duration,
        "an interval of 0 minutes would fire at every tick",
        "write the shortest interval that makes sense, for instance `every 1m`",
    )
}

/// A duration that leads beyond the year 9999.
pub(super) fn too_far(category: Category) -> ScheduleError {
    refuse(
        category,
        "the duration leads beyond the year 9999",
        "write a duration that ends within a lifetime",
    )
}

/// A one-shot whose time is over.
pub(super) fn past(run_at: &str) -> ScheduleError {
    refuse(
        Category::Compute,
        format!("`{run_at}` has passed"),
        "write a time that is still to come, or a delay: `in 10m`",
    )
}

/// An expression that has no next time.
pub(super) fn never(expr: &str, cron: &CronExpr) -> ScheduleError {
    let hint = if cron.years.is_some() {
        "the seventh field is the year: write one that comes within 50 years, or leave it out"
    } else if cron.either_day() {
        "where both day fields are set each of them must occur: give the day of month a day that its \
         months have, or write `*`"
    } else {
        "give the day of month a day that its months have, or `L` for the last one"
    };
    refuse(
        Category::Compute,
        format!("`{expr}` matches no date in the next 50 years"),
        hint,
    )
}

/// An expression that cannot be read.
pub(super) fn expression(expr: &str, category: Category, error: &FieldError) -> ScheduleError {
    let message = format!("cannot read the cron expression `{expr}`: {error}");
    if let Some(meant) = seconds_last(expr) {
        return refuse(category, message, meant);
    }
    refuse(category, message, hint_for(error))
}

/// Six fields or seven that make sense as soon as the first, for seconds in other dialects, is the sixth.
fn seconds_last(expr: &str) -> Option<String> {
    let mut fields: Vec<&str> = text::words(expr).collect();
    if fields.len() < 6 {
        return None;
    }
    fields.get_mut(..6)?.rotate_left(1);
    let meant = fields.join(" ");
    CronExpr::parse(&meant).ok()?;
    let plain = fields.get(..5)?.join(" ");
    let shorter = match fields.get(5..) {
        Some(["0"]) => format!(", or without them `{plain}`"),
        _ => String::new(),
    };
    Some(format!(
        "here the seconds come last, not first: write `{meant}`{shorter}"
    ))
}

fn hint_for(error: &FieldError) -> &'static str {
    match error {
        FieldError::Count(_) => {
            "write minute, hour, day of month, month, day of week: `0 9 * * 1-5`"
        }
        FieldError::Word { item, .. } if item.starts_with('l') => {
            "`L` is the last day of the month; `L5` in the day of week field is the last Friday"
        }
        FieldError::Word { item, .. } if item.ends_with('w') => {
            "there is no nearest weekday: write the day, or `1-5` in the day of week field"
        }
        FieldError::Word { item, .. } if item == "h" || item.starts_with("h/") => {
            "there is no hashed time: write the number"
        }
        FieldError::Word { .. } => {
            "a field has numbers, `*`, ranges `1-5`, steps `*/15` or lists `1,3`; months and days of \
             the week also have names of three letters"
        }
        FieldError::Range { .. } => {
            "the fields are minute 0-59, hour 0-23, day 1-31, month 1-12, day of week 0-7 (0 and 7 \
             are Sunday; 0-6 where there are seconds), second 0-59, year 1970-2099"
        }
        FieldError::ZeroStep(_) => "write a step of 1 or more: `*/15`",
        FieldError::Random { .. } => "write the time",
        FieldError::MixedWeekdays => {
            "write either plain days (`1-5`) or counted ones (`5#2`, `L5`)"
        }
    }
}

/// A text that no form of schedule fits; `category` is the form that it came closest to.
pub(super) fn unread(text: &str, category: Category) -> ScheduleError {
    if text.is_empty() {
        return refuse(category, "the schedule is empty", FORMS);
    }
    let lower = text.to_lowercase();
    let words: Vec<&str> = text::words(&lower).collect();
    if let Some((message, hint)) = known_mistake(&lower, &words) {
        return refuse(category, message, hint);
    }
    match category {
        Category::Duration => refuse(
            category,
            format!("`{text}` is neither `every` with a duration nor days with a time"),
            "durations are minutes, hours and days (`every 30m`, `every 2 hours`); days need a time (`every monday at 9am`)",
        ),
        Category::InDuration => refuse(
            category,
            format!("`{text}` has no duration after `in`"),
            "write whole minutes, hours or days: `in 90m`, `in 2 hours`",
        ),
        Category::Timestamp
            if text.chars().any(|c| c.is_ascii_digit())
                && !lower.starts_with(char::is_alphabetic) =>
        {
            refuse(
                category,
                format!("`{text}` is not a date and time that exists"),
                "write `2027-01-31T09:00`, `2027-01-31 09:00:30` or `2027-01-31T09:00+02:00`",
            )
        }
        _ => refuse(category, format!("`{text}` is no schedule"), FORMS),
    }
}

/// Mistakes that have a name: message and hint.
fn known_mistake(lower: &str, words: &[&str]) -> Option<(String, String)> {
    let first = *words.first()?;
    let said = |message: &str, hint: &str| Some((message.to_owned(), hint.to_owned()));
    if first == "@reboot" {
        return said(
            "`@reboot` has no time: a schedule cannot wait for a boot",
            "give it a time, or start the command from a unit of systemd",
        );
    }
    if first.starts_with('@') {
        return said(
            "there is no such nickname",
            "write `@hourly`, `@daily`, `@weekly`, `@monthly` or `@yearly`",
        );
    }
    if first.starts_with("tz=") || first.starts_with("cron_tz=") {
        return said(
            "a schedule text cannot set the time zone",
            "set `timezone` in the configuration of the home",
        );
    }
    if words.len() >= 5 && words.contains(&"?") {
        return said("`?` is no field that both programs read", "write `*`");
    }
    let days = words.strip_prefix(&["every"]).unwrap_or(words);
    wrong_days(days)
        .or_else(|| wrong_phrase(words))
        .or_else(|| {
            let unsigned = lower.strip_prefix(['-', '+'])?;
            duration::simple(unsigned)?;
            said(
                "a duration has no sign",
                &format!("write `every {unsigned}` or `in {unsigned}`"),
            )
        })
}

/// `tuesdays at 9am`, and days without a time.
fn wrong_days(days: &[&str]) -> Option<(String, String)> {
    let (first, rest) = days.split_first()?;
    if let Some(day) = first.strip_suffix('s') {
        let phrase = [&[day], rest].concat().join(" ");
        if natural::to_cron(&phrase).is_some() {
            let message = format!("`{first}` is not how a day is written");
            return Some((message, format!("write `every {phrase}`")));
        }
    }
    let days = days.join(" ");
    natural::to_cron(&format!("{days} 9"))?;
    Some((
        "the days have no time".to_owned(),
        format!("write `every {days} at 9am`"),
    ))
}

fn wrong_phrase(words: &[&str]) -> Option<(String, String)> {
    let said = |message: &str, hint: &str| Some((message.to_owned(), hint.to_owned()));
    if words
        .iter()
        .any(|word| matches!(*word, "tomorrow" | "today" | "tonight" | "next"))
    {
        return said(
            "a single day cannot be named by a word",
            "write the date, `2027-01-31T09:00`, or a delay, `in 18h`",
        );
    }
    let unit = words
        .last()?
        .trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    match unit {
        "s" | "sec" | "secs" | "second" | "seconds" => said(
            "there are no seconds in a duration",
            "write whole minutes, `every 1m`, or a cron expression whose sixth field is the second",
        ),
        "w" | "week" | "weeks" | "month" | "months" | "year" | "years" => said(
            &format!("`{unit}` is no unit of a duration"),
            "write days, `every 7d`, or a cron expression, `0 9 * * 1` or `0 9 1 * *`",
        ),
        _ if words.iter().any(|word| is_decimal(word)) => said(
            "numbers have no decimals",
            "write `every 90m` for one and a half hours, `9:30am` for a clock",
        ),
        _ => None,
    }
}

/// Whether a word begins with a number such as `1.5`.
fn is_decimal(word: &str) -> bool {
    word.split_once('.').is_some_and(|(whole, rest)| {
        text::is_number(whole) && rest.starts_with(|c: char| c.is_ascii_digit())
    })
}
