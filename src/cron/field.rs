//! One field of a cron expression: its range, its names, and the numbers that its text stands for.

use std::cmp::Ordering;

use super::text;

/// The first year that the seventh field can hold.
pub(super) const FIRST_YEAR: i32 = 1970;

/// The fields, in the order of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// 0 to 59.
    Minute,
    /// 0 to 23.
    Hour,
    /// 1 to 31, or `L`.
    Day,
    /// 1 to 12, or a name.
    Month,
    /// 0 to 6 with 7 for Sunday in the five-field form, or a name.
    Weekday,
    /// 0 to 59; the sixth field, not the first.
    Second,
    /// 1970 to 2099.
    Year,
}

impl Field {
    fn index(self) -> usize {
        match self {
            Field::Minute => 0,
            Field::Hour => 1,
            Field::Day => 2,
            Field::Month => 3,
            Field::Weekday => 4,
            Field::Second => 5,
            Field::Year => 6,
        }
    }

    pub(super) fn range(self) -> (i64, i64) {
        match self {
            Field::Minute | Field::Second => (0, 59),
            Field::Hour => (0, 23),
            Field::Day => (1, 31),
            Field::Month => (1, 12),
            Field::Weekday => (0, 6),
            Field::Year => (1970, 2099),
        }
    }

    /// The largest number that people may write: Sunday has two.
    fn largest(self) -> i64 {
        match self {
            Field::Weekday => 7,
            field => field.range().1,
        }
    }

    /// The field's name in a sentence.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Field::Minute => "minute",
            Field::Hour => "hour",
            Field::Day => "day of month",
            Field::Month => "month",
            Field::Weekday => "day of week",
            Field::Second => "second",
            Field::Year => "year",
        }
    }

    /// What the field starts anew with.
    pub(super) fn larger(self) -> &'static str {
        match self {
            Field::Second => "minute",
            Field::Minute => "hour",
            Field::Hour => "day",
            Field::Weekday => "week",
            Field::Day => "month",
            Field::Month | Field::Year => "year",
        }
    }

    fn named(self, word: &str) -> Option<i64> {
        let names: &[&str] = match self {
            Field::Month => &[
                "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
            ],
            Field::Weekday => &["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
            _ => return None,
        };
        let (base, _) = self.range();
        (base..)
            .zip(names)
            .find(|(_, name)| **name == word)
            .map(|(value, _)| value)
    }
}

/// Why an expression cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    /// Not five, six or seven fields.
    #[error(
        "a cron expression has 5 fields, or 6 with seconds, or 7 with seconds and years; this one has {0}"
    )]
    Count(usize),
    /// A word that is neither number nor name.
    #[error("cannot read `{item}` in the {} field", field.name())]
    Word {
        /// Where it stands.
        field: Field,
        /// The part of the field that was not understood.
        item: String,
    },
    /// A number outside of the field's range.
    #[error("`{item}` is out of range in the {} field ({} to {})", field.name(), field.range().0, field.largest())]
    Range {
        /// Where it stands.
        field: Field,
        /// The part of the field that is out of range.
        item: String,
    },
    /// A step of zero.
    #[error("a step of 0 in the {} field never moves", .0.name())]
    ZeroStep(Field),
    /// `R` draws a new number each time it is read, so no two programs would agree.
    #[error("`{item}` in the {} field is a random time, drawn anew at every reading", field.name())]
    Random {
        /// Where it stands.
        field: Field,
        /// The item.
        item: String,
    },
    /// `FRI#2` beside plain weekdays.
    #[error("the day of week field mixes plain days with days counted in the month")]
    MixedWeekdays,
}

/// What one field allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Allowed {
    /// One bit per value; in the day field bit 0 is the last day.
    pub(super) bits: u64,
    /// Whether the field restricts nothing. A full list is not a star in every place: see `read`.
    pub(super) all: bool,
    /// Per weekday, which of the month: bits 1 to 5, bit 0 for the last.
    pub(super) nth: [u8; 7],
    /// Years from 1970, where the field is a year field that restricts.
    pub(super) years: Option<Box<[bool]>>,
}

/// The values gathered so far; a year needs more room than a word has bits.
struct Values {
    field: Field,
    set: Vec<bool>,
    star: bool,
    last_day: bool,
    nth: [u8; 7],
}

impl Values {
    fn add(&mut self, value: i64, nth: u8) {
        let (low, _) = self.field.range();
        let index = usize::try_from(value - low).ok();
        if let Some(slot) = index.and_then(|index| self.set.get_mut(index)) {
            *slot = true;
        }
        if nth != 0
            && let Some(slot) = index.and_then(|index| self.nth.get_mut(index))
        {
            *slot |= nth;
        }
    }
}

/// Reads the field's text out of all `fields`, lower case: their number, and whether the other day
/// field has a star, change the meaning.
pub(super) fn read(field: Field, fields: &[&str]) -> Result<Allowed, FieldError> {
    let Some(expr) = fields.get(field.index()) else {
        return Err(FieldError::Count(fields.len()));
    };
    let (low, high) = field.range();
    let size = usize::try_from(high - low + 1).unwrap_or(0);
    let mut values = Values {
        field,
        set: vec![false; size],
        star: false,
        last_day: false,
        nth: [0; 7],
    };
    let expr = if *expr == "?" && matches!(field, Field::Day | Field::Weekday) {
        "*"
    } else {
        expr
    };
    if is_random(expr) {
        return Err(FieldError::Random {
            field,
            item: expr.to_owned(),
        });
    }
    for item in expr.split(',') {
        add_item(&mut values, item, fields.len())?;
    }
    finish(values, fields)
}

fn finish(values: Values, fields: &[&str]) -> Result<Allowed, FieldError> {
    let field = values.field;
    let count = values.set.iter().filter(|set| **set).count() + usize::from(values.last_day);
    let full = count + usize::from(values.star) == values.set.len();
    // A full list is a star, save where it stands in one day field and the other has no star: there
    // it stays a restriction, and the days are joined by OR.
    let other = match field {
        Field::Day => fields.get(Field::Weekday.index()),
        Field::Weekday => fields.get(Field::Day.index()),
        _ => None,
    };
    let all = values.star || full && other.is_none_or(|other| other.contains('*'));
    let (low, _) = field.range();
    let mut bits = u64::from(values.last_day && field == Field::Day);
    if field != Field::Year {
        for (value, _) in (low..).zip(&values.set).filter(|(_, set)| **set || all) {
            bits |= 1 << value;
        }
    }
    // A counted weekday stands beside plain ones only where the list is full.
    if values.nth != [0; 7] && !full {
        let mixed = values
            .set
            .iter()
            .zip(values.nth)
            .any(|(set, nth)| *set && nth == 0);
        if mixed {
            return Err(FieldError::MixedWeekdays);
        }
    }
    let years = (field == Field::Year && !all).then(|| values.set.into_boxed_slice());
    Ok(Allowed {
        bits,
        all,
        nth: values.nth,
        years,
    })
}

/// `r` or `h`, alone, with a range in brackets, or with a divisor.
fn is_random(expr: &str) -> bool {
    let Some(rest) = expr.strip_prefix('r') else {
        return false;
    };
    let rest = match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((range, rest))
            if range
                .split_once('-')
                .is_some_and(|(a, b)| text::is_number(a) && text::is_number(b)) =>
        {
            rest
        }
        Some(_) => return false,
        None => rest,
    };
    rest.is_empty() || rest.strip_prefix('/').is_some_and(text::is_number)
}

fn add_item(values: &mut Values, item: &str, count: usize) -> Result<(), FieldError> {
    let field = values.field;
    let (item, nth) = if field == Field::Weekday {
        counted(item)?
    } else {
        (item, 0)
    };
    if let Some((low, high, step)) = as_range(field, item) {
        return add_range(values, (&low, &high, &step), nth, count);
    }
    if item == "*" {
        values.star = true;
        return Ok(());
    }
    if item == "l" && field == Field::Day {
        values.last_day = true;
        return Ok(());
    }
    let value = value(field, item, count)?;
    check(field, item, value)?;
    values.add(value, nth);
    Ok(())
}

/// `l5` (the last Friday) and `5#2` (the second): the day, and which.
fn counted(item: &str) -> Result<(&str, u8), FieldError> {
    if let Some(day) = item.strip_prefix('l')
        && text::is_number(day)
    {
        return Ok((day, 1));
    }
    let Some((day, which)) = item.split_once('#') else {
        return Ok((item, 0));
    };
    let ends: Vec<&str> = day.split('-').collect();
    let names = ends.len() == 2 && ends.iter().all(|end| Field::Weekday.named(end).is_some());
    let word = day.chars().all(|c| c.is_alphanumeric() || c == '_');
    match text::number(which) {
        Some(which @ 1..=5) if names || word => Ok((day, 1 << which)),
        _ => Err(FieldError::Word {
            field: Field::Weekday,
            item: item.to_owned(),
        }),
    }
}

/// Low, high and step of `1-5`, `1-5/2`, `*/2` and `5/10`, as texts.
fn as_range(field: Field, item: &str) -> Option<(String, String, String)> {
    let (low, high) = field.range();
    let (range, step) = match item.split_once('/') {
        Some(("*", step)) => (format!("{low}-{high}"), step),
        Some((range, step)) => (range.to_owned(), step),
        None => (item.to_owned(), "1"),
    };
    if !text::is_number(step) || range.contains('/') {
        return None;
    }
    match range.split_once('-') {
        Some((low, high)) if !low.is_empty() && !high.is_empty() && !high.contains('-') => {
            Some((low.to_owned(), high.to_owned(), step.to_owned()))
        }
        None if item.contains('/') && !range.is_empty() => {
            Some((range, high.to_string(), step.to_owned()))
        }
        _ => None,
    }
}

fn add_range(
    values: &mut Values,
    (low, high, step): (&str, &str, &str),
    nth: u8,
    count: usize,
) -> Result<(), FieldError> {
    let field = values.field;
    let high = if field == Field::Day && high == "l" {
        "31"
    } else {
        high
    };
    let item = format!("{low}-{high}");
    let (from, to) = (value(field, low, count)?, value(field, high, count)?);
    let step = text::number(step).unwrap_or(i64::MAX);
    let (first, last) = field.range();
    if from.max(to) > last {
        return Err(FieldError::Range { field, item });
    }
    if step == 0 {
        return Err(FieldError::ZeroStep(field));
    }
    let mut add = |from: i64, to: i64| {
        let mut value = from;
        while value <= to {
            values.add(value, nth);
            value = value.saturating_add(step);
        }
    };
    match from.cmp(&to) {
        Ordering::Less => {
            check(field, &item, from)?;
            add(from, to);
        }
        // A range from a value to itself is the whole field: croniter's reading.
        Ordering::Equal => add(first, last),
        Ordering::Greater => {
            check(field, &item, from)?;
            add(from, last);
            add(first + skip_after_wrap(field, from, step), to);
        }
    }
    Ok(())
}

/// How far into the field a wrapped range with a step goes on: croniter's own count.
fn skip_after_wrap(field: Field, from: i64, step: i64) -> i64 {
    let (first, last) = field.range();
    let reached = from + (last - from) / step * step;
    let (behind, position) = (last - reached, reached - first);
    let crosses = position.saturating_add(step) > last - first + 1;
    if crosses && behind < step {
        step - behind
    } else {
        0
    }
}

/// The number that a word stands for in a field.
pub(super) fn value(field: Field, word: &str, count: usize) -> Result<i64, FieldError> {
    let number = text::number(word).or_else(|| field.named(word));
    let Some(number) = number else {
        return Err(FieldError::Word {
            field,
            item: word.to_owned(),
        });
    };
    // Sunday is also 7 where seconds do not shift the reading; zero is the first day or month only
    // where croniter lets it be.
    Ok(match (field, number, count) {
        (Field::Weekday, 7, 5) => 0,
        (Field::Day, 0, 6) => 1,
        _ => number,
    })
}

fn check(field: Field, item: &str, value: i64) -> Result<(), FieldError> {
    let (low, high) = field.range();
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(FieldError::Range {
        field,
        item: item.to_owned(),
    })
}
