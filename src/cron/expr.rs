//! A cron expression in the dialect of the stores, and the days and times of a wall clock that it
//! matches. No zones here: see `next`.
//!
//! The dialect is croniter 6's: five fields; a sixth for seconds, *last*; a seventh for years;
//! ranges that wrap; `5/10`; `L`; day of month OR day of week where both are restricted.

use jiff::civil::{Date, DateTime};

use super::field::{self, Field, FieldError};
use super::text;

/// Croniter gives up after this many years without a match.
const SEARCH_YEARS: i16 = 50;

/// A parsed expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CronExpr {
    pub(super) seconds: Option<u64>,
    pub(super) minutes: u64,
    pub(super) hours: u64,
    /// Days of the month, bit 1 to 31, bit 0 for the last; `None` where all.
    pub(super) days: Option<u64>,
    pub(super) months: u64,
    /// Days of the week, bit 0 is Sunday; `None` where all.
    pub(super) weekdays: Option<u64>,
    /// Per weekday, which of the month: bits 1 to 5, bit 0 for the last. All zero where unused.
    pub(super) nth: [u8; 7],
    /// Years as an offset from 1970; `None` where all.
    pub(super) years: Option<Box<[bool]>>,
    /// Whether the hour or the minute field has a star or a step: such a job fires in both passes
    /// of an autumn fold, one with fixed times in the first only.
    repeats: bool,
}

/// The nicknames that croniter reads, and what they stand for.
const ALIASES: [(&str, &str); 7] = [
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
    ("@daily", "0 0 * * *"),
    ("@weekly", "0 0 * * 0"),
    ("@monthly", "0 0 1 * *"),
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
];

/// The expression behind `@daily` and its kin.
#[must_use]
pub fn alias(name: &str) -> Option<&'static str> {
    let lower = name.to_lowercase();
    ALIASES
        .iter()
        .find(|(alias, _)| *alias == lower)
        .map(|(_, expr)| *expr)
}

impl CronExpr {
    /// Parses what the stores hold.
    pub fn parse(expr: &str) -> Result<CronExpr, FieldError> {
        let lower = alias(expr).map_or_else(|| expr.to_lowercase(), str::to_owned);
        let fields: Vec<&str> = text::words(&lower).collect();
        if !(5..=7).contains(&fields.len()) {
            return Err(FieldError::Count(fields.len()));
        }
        let read = |field: Field| field::read(field, &fields);
        let (minutes, hours) = (read(Field::Minute)?, read(Field::Hour)?);
        let (days, months) = (read(Field::Day)?, read(Field::Month)?);
        let weekdays = read(Field::Weekday)?;
        let seconds = if fields.len() > 5 {
            Some(read(Field::Second)?.bits)
        } else {
            None
        };
        let years = if fields.len() > 6 {
            read(Field::Year)?.years
        } else {
            None
        };
        let steps = |index: usize| fields.get(index).is_some_and(|f| f.contains(['*', '/']));
        Ok(CronExpr {
            seconds,
            minutes: minutes.bits,
            hours: hours.bits,
            days: (!days.all).then_some(days.bits),
            months: months.bits,
            weekdays: (!weekdays.all).then_some(weekdays.bits),
            nth: weekdays.nth,
            years,
            repeats: steps(0) || steps(1),
        })
    }

    /// Whether the job fires in both passes of an hour that an autumn fold repeats.
    #[must_use]
    pub fn repeats(&self) -> bool {
        self.repeats
    }

    /// Whether a day matches by its date *or* its weekday.
    #[must_use]
    pub fn either_day(&self) -> bool {
        self.days.is_some() && self.weekdays.is_some()
    }

    /// Whether a wall clock matches.
    #[must_use]
    pub fn matches(&self, wall: DateTime) -> bool {
        let second_bits = self.seconds.unwrap_or(1);
        wall.subsec_nanosecond() == 0
            && has(second_bits, wall.second())
            && has(self.minutes, wall.minute())
            && has(self.hours, wall.hour())
            && self.has_year(wall.year())
            && has(self.months, wall.month())
            && self
                .halves()
                .iter()
                .flatten()
                .any(|half| has(self.day_bits(*half, wall.year(), wall.month()), wall.day()))
    }

    /// The first wall clock after `wall` that matches, within 50 years. A five-field expression
    /// looks at whole minutes, a longer one at whole seconds.
    ///
    /// Where a day may match by date or by weekday, both must occur within those years, as croniter
    /// demands.
    #[must_use]
    pub fn next_after(&self, wall: DateTime) -> Option<DateTime> {
        let step = if self.seconds.is_some() { 1 } else { 60 };
        let start = wall
            .checked_add(jiff::SignedDuration::from_secs(step))
            .ok()?;
        self.first_from(start)
    }

    /// The first match at `start` or after it; smaller parts than the expression looks at are cut
    /// off.
    pub(super) fn first_from(&self, start: DateTime) -> Option<DateTime> {
        let mut first: Option<DateTime> = None;
        for half in self.halves().into_iter().flatten() {
            let found = self.search(half, start)?;
            first = Some(first.map_or(found, |first| first.min(found)));
        }
        first
    }

    fn halves(&self) -> [Option<Half>; 2] {
        if self.either_day() {
            [Some(Half::Date), Some(Half::Weekday)]
        } else {
            [Some(Half::Both), None]
        }
    }

    fn has_year(&self, year: i16) -> bool {
        let Some(years) = &self.years else {
            return true;
        };
        let index = usize::try_from(i32::from(year) - field::FIRST_YEAR).ok();
        index
            .and_then(|index| years.get(index))
            .copied()
            .unwrap_or(false)
    }

    fn search(&self, half: Half, start: DateTime) -> Option<DateTime> {
        let last_year = start.year().saturating_add(SEARCH_YEARS).min(9999);
        let mut opening = Some(self.time_from(start)?);
        let (mut month, mut day) = (start.month(), start.day());
        for year in start.year()..=last_year {
            if self.has_year(year) {
                while month <= 12 {
                    if has(self.months, month) {
                        let days = self.day_bits(half, year, month) & (u64::MAX << day);
                        if let Some(found) = self.in_month((year, month, day), days, opening) {
                            return Some(found);
                        }
                    }
                    (month, day, opening) = (month + 1, 1, None);
                }
            }
            (month, day, opening) = (1, 1, None);
        }
        None
    }

    /// The first match among `days` of a month. `opening` is what is left of the day that the
    /// search began with, which is `from`'s; later days are whole.
    fn in_month(&self, from: (i16, i8, i8), days: u64, opening: Option<Time>) -> Option<DateTime> {
        let (year, month, first) = from;
        let mut days = days;
        while days != 0 {
            let day = i8::try_from(days.trailing_zeros()).ok()?;
            days &= days - 1;
            let (hour, minute, second) = match opening {
                Some(Time::Over) if day == first => continue,
                Some(Time::At(hour, minute, second)) if day == first => (hour, minute, second),
                _ => (
                    lowest(self.hours)?,
                    lowest(self.minutes)?,
                    lowest(self.second_bits())?,
                ),
            };
            return DateTime::new(year, month, day, hour, minute, second, 0).ok();
        }
        None
    }

    fn second_bits(&self) -> u64 {
        self.seconds.unwrap_or(1)
    }

    /// The first matching time of day at or after that of `start`.
    fn time_from(&self, start: DateTime) -> Option<Time> {
        let (hour, minute, second) = (start.hour(), start.minute(), start.second());
        if has(self.hours, hour) {
            if has(self.minutes, minute) {
                let second = if self.seconds.is_some() { second } else { 0 };
                if let Some(second) = from(self.second_bits(), second) {
                    return Some(Time::At(hour, minute, second));
                }
            }
            if let Some(minute) = from(self.minutes, minute + 1) {
                return Some(Time::At(hour, minute, lowest(self.second_bits())?));
            }
        }
        let later = from(self.hours, hour + 1).and_then(|hour| {
            Some(Time::At(
                hour,
                lowest(self.minutes)?,
                lowest(self.second_bits())?,
            ))
        });
        Some(later.unwrap_or(Time::Over))
    }

    /// The days of a month that match, bit 1 to 31.
    fn day_bits(&self, half: Half, year: i16, month: i8) -> u64 {
        let Ok(first) = Date::new(year, month, 1) else {
            return 0;
        };
        let length = first.days_in_month();
        let all = (1_u64 << (length + 1)) - 2;
        let mut bits = all;
        if half != Half::Weekday
            && let Some(days) = self.days
        {
            bits &= days | if has(days, 0) { 1 << length } else { 0 };
        }
        let first = first.weekday().to_sunday_zero_offset();
        if self.nth != [0; 7] {
            bits &= nth_bits(self.nth, first, length);
        } else if half != Half::Date
            && let Some(weekdays) = self.weekdays
        {
            bits &= weekday_bits(weekdays, first);
        }
        bits & all
    }
}

/// Which restriction of days a search looks at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Both,
    Date,
    Weekday,
}

/// A time of day, or the knowledge that none is left.
#[derive(Clone, Copy)]
enum Time {
    At(i8, i8, i8),
    Over,
}

fn has(bits: u64, index: i8) -> bool {
    bits >> index & 1 == 1
}

fn lowest(bits: u64) -> Option<i8> {
    from(bits, 0)
}

/// The lowest set bit at `index` or above.
fn from(bits: u64, index: i8) -> Option<i8> {
    let bits = bits & u64::MAX.checked_shl(u32::try_from(index).ok()?)?;
    (bits != 0).then(|| i8::try_from(bits.trailing_zeros()).ok())?
}

/// Days 1 to 31 whose weekday is in `weekdays`, where day 1 is weekday `first`.
fn weekday_bits(weekdays: u64, first: i8) -> u64 {
    let turned = (weekdays >> first | weekdays << (7 - first)) & 0x7f;
    (turned | turned << 7 | turned << 14 | turned << 21 | turned << 28) << 1
}

fn nth_bits(nth: [u8; 7], first: i8, length: i8) -> u64 {
    let mut bits = 0;
    for (weekday, which) in (0_i8..).zip(nth) {
        let day = 1 + (weekday - first).rem_euclid(7);
        for week in 1..=5_i8 {
            let at = day + (week - 1) * 7;
            let last = at + 7 > length;
            let wanted = which >> week & 1 == 1 || last && which & 1 == 1;
            if at <= length && wanted {
                bits |= 1 << at;
            }
        }
    }
    bits
}
