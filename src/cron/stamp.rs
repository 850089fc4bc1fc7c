//! Instants as text: reading what Python's `fromisoformat` reads, writing what its `isoformat`
//! writes.

use std::fmt;

use jiff::civil::{DateTime, ISOWeekDate, Time, Weekday};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};

use super::text;

const MICROS_PER_SECOND: i64 = 1_000_000;
/// Python refuses an offset of a day or more.
const DAY_MICROS: i64 = 86_400 * MICROS_PER_SECOND;

/// A point in time as a store writes it: a wall clock, and mostly the offset that it was read with.
///
/// The wall clock may be one that does not exist in any zone: the other program writes an instant
/// in a spring gap with the offset before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    wall: DateTime,
    /// Microseconds east of UTC; `None` is a naive stamp.
    offset: Option<i64>,
}

impl Stamp {
    /// Reads `text` as Python 3.11's `datetime.fromisoformat` does, week dates included.
    #[must_use]
    pub fn parse(text: &str) -> Option<Stamp> {
        text.chars().nth(6)?;
        let bytes = text.as_bytes();
        let end = date_end(bytes)?;
        let date = read_date(bytes, end)?;
        let mut stamp = Stamp {
            wall: date.to_datetime(Time::midnight()),
            offset: None,
        };
        if bytes.len() > end {
            let separator = text.get(end..)?.chars().next()?.len_utf8();
            let (time, offset) = read_time(bytes.get(end + separator..)?)?;
            stamp = Stamp {
                wall: date.to_datetime(time),
                offset,
            };
        }
        (1..=9999).contains(&stamp.wall.year()).then_some(stamp)
    }

    /// The stamp of an instant, in the zone that people read.
    #[must_use]
    pub fn of(instant: Timestamp, zone: &TimeZone) -> Stamp {
        Stamp::with_offset(instant, zone.to_offset(instant))
    }

    /// The stamp of an instant with the offset given, whether or not a zone would use it there.
    #[must_use]
    pub fn with_offset(instant: Timestamp, offset: Offset) -> Stamp {
        // Stores know microseconds, clocks nanoseconds.
        let whole = Timestamp::from_microsecond(instant.as_microsecond()).unwrap_or(instant);
        let wall = offset.to_datetime(whole);
        Stamp {
            wall,
            offset: Some(i64::from(offset.seconds()) * MICROS_PER_SECOND),
        }
    }

    /// A wall clock with an offset.
    #[must_use]
    pub fn on(wall: DateTime, offset: Offset) -> Stamp {
        Stamp {
            wall,
            offset: Some(i64::from(offset.seconds()) * MICROS_PER_SECOND),
        }
    }

    /// The wall clock as written.
    #[must_use]
    pub fn wall(&self) -> DateTime {
        self.wall
    }

    /// Whether the stamp has no offset.
    #[must_use]
    pub fn is_naive(&self) -> bool {
        self.offset.is_none()
    }

    /// The offset as written, in whole seconds; `None` for a naive stamp.
    #[must_use]
    pub fn offset(&self) -> Option<Offset> {
        let seconds = self.offset?.div_euclid(MICROS_PER_SECOND);
        Offset::from_seconds(i32::try_from(seconds).ok()?).ok()
    }

    /// The instant; a naive stamp is read in `zone`, in a fold the first of the two, in a gap with
    /// the offset before it. Some hours at the very ends of the calendar, which `Timestamp` does
    /// not have, stand at its first or last instant. `None` where UTC is outside of the years 1 to
    /// 9999.
    #[must_use]
    pub fn instant(&self, zone: &TimeZone) -> Option<Timestamp> {
        let offset = match self.offset {
            Some(offset) => SignedDuration::from_micros(offset),
            None => SignedDuration::from_secs(first_offset(zone, self.wall).seconds().into()),
        };
        let end = if self.wall.year() > 5000 {
            Timestamp::MAX
        } else {
            Timestamp::MIN
        };
        let utc = self.wall.checked_sub(offset).ok()?;
        Some(Offset::UTC.to_timestamp(utc).unwrap_or(end))
    }

    /// The same stamp; a naive one gets the offset that `zone` has there.
    #[must_use]
    pub fn in_zone(&self, zone: &TimeZone) -> Stamp {
        let offset = self.offset.unwrap_or_else(|| {
            i64::from(first_offset(zone, self.wall).seconds()) * MICROS_PER_SECOND
        });
        Stamp {
            wall: self.wall,
            offset: Some(offset),
        }
    }
}

/// The offset of a wall clock: where there are two, or none, the one before the change.
#[must_use]
pub fn first_offset(zone: &TimeZone, wall: DateTime) -> Offset {
    match zone.to_ambiguous_timestamp(wall).offset() {
        AmbiguousOffset::Unambiguous { offset } => offset,
        AmbiguousOffset::Gap { before, .. } | AmbiguousOffset::Fold { before, .. } => before,
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let w = self.wall;
        write!(f, "{:04}-{:02}-{:02}", w.year(), w.month(), w.day())?;
        write!(f, "T{:02}:{:02}:{:02}", w.hour(), w.minute(), w.second())?;
        let micros = w.subsec_nanosecond() / 1_000;
        if micros != 0 {
            write!(f, ".{micros:06}")?;
        }
        let Some(offset) = self.offset else {
            return Ok(());
        };
        let sign = if offset < 0 { '-' } else { '+' };
        let (seconds, micros) = (
            offset.abs() / MICROS_PER_SECOND,
            offset.abs() % MICROS_PER_SECOND,
        );
        write!(f, "{sign}{:02}:{:02}", seconds / 3600, seconds / 60 % 60)?;
        if seconds % 60 != 0 || micros != 0 {
            write!(f, ":{:02}", seconds % 60)?;
        }
        if micros != 0 {
            write!(f, ".{micros:06}")?;
        }
        Ok(())
    }
}

/// The byte at `index`, or 0 past the end, as in a C string.
fn at(bytes: &[u8], index: usize) -> u8 {
    bytes.get(index).copied().unwrap_or(0)
}

fn digits(bytes: &[u8], from: usize, count: usize) -> Option<i32> {
    let run = bytes.get(from..from + count)?;
    let run = std::str::from_utf8(run).ok().filter(|run| run.is_ascii())?;
    text::number(run).and_then(|value| i32::try_from(value).ok())
}

/// Where the date ends and its separator stands: told by the fifth and sixth byte, and for week
/// dates by the count of digits that follow.
fn date_end(bytes: &[u8]) -> Option<usize> {
    let len = bytes.len();
    if len == 7 {
        return Some(7);
    }
    match (at(bytes, 4), at(bytes, 5)) {
        (b'-', b'W') if at(bytes, 8) == b'-' => {
            (len > 9).then_some(if at(bytes, 10).is_ascii_digit() {
                8
            } else {
                10
            })
        }
        (b'-', b'W') => Some(8),
        (b'-', _) => Some(10),
        (b'W', _) => {
            let run = bytes
                .get(7..)?
                .iter()
                .take_while(|b| b.is_ascii_digit())
                .count();
            let end = 7 + run;
            Some(if end < 9 { end } else { 7 + end % 2 })
        }
        _ => Some(8),
    }
}

fn read_date(bytes: &[u8], end: usize) -> Option<jiff::civil::Date> {
    let year = i16::try_from(digits(bytes, 0, 4)?).ok()?;
    let dashed = at(bytes, 4) == b'-';
    let dash = usize::from(dashed);
    let from = 4 + dash;
    if at(bytes, from) == b'W' {
        let week = i8::try_from(digits(bytes, from + 1, 2)?).ok()?;
        let mut day = 1;
        if from + 3 < end {
            if dashed && at(bytes, from + 3) != b'-' {
                return None;
            }
            day = i8::try_from(digits(bytes, from + 3 + dash, 1)?).ok()?;
        }
        let day = Weekday::from_monday_one_offset(day).ok()?;
        return (year > 0).then(|| {
            ISOWeekDate::new(year, week, day)
                .ok()
                .map(ISOWeekDate::date)
        })?;
    }
    let month = i8::try_from(digits(bytes, from, 2)?).ok()?;
    if dashed && at(bytes, from + 2) != b'-' {
        return None;
    }
    let day = i8::try_from(digits(bytes, from + 2 + dash, 2)?).ok()?;
    let ends = from + 4 + dash == end;
    (ends && year > 0).then(|| jiff::civil::Date::new(year, month, day).ok())?
}

/// Hours, minutes, seconds and microseconds, and whether bytes were left.
struct Clock {
    parts: [i32; 3],
    micros: i32,
    rest: bool,
}

/// `bytes` is the whole remaining text, of which the clock ends at `end`: what follows there
/// decides whether something is left over, as it does in Python.
fn read_clock(bytes: &[u8], start: usize, end: usize) -> Option<Clock> {
    let mut clock = Clock {
        parts: [0; 3],
        micros: 0,
        rest: false,
    };
    let mut pos = start;
    let mut separated = true;
    for (i, part) in clock.parts.iter_mut().enumerate() {
        *part = digits(bytes, pos, 2)?;
        let next = at(bytes, pos + 2);
        pos += 3;
        if i == 0 {
            separated = next == b':';
        }
        if pos >= end {
            clock.rest = next != 0;
            return Some(clock);
        }
        match next {
            b':' if separated => {}
            b'.' | b',' => break,
            _ if !separated => pos -= 1,
            _ => return None,
        }
    }
    let count = (end - pos).min(6);
    clock.micros = digits(bytes, pos, count)?;
    for _ in count..6 {
        clock.micros *= 10;
    }
    pos += count;
    while at(bytes, pos).is_ascii_digit() {
        pos += 1;
    }
    clock.rest = at(bytes, pos) != 0;
    Some(clock)
}

/// A time of day, and the offset in microseconds where there is one.
fn read_time(bytes: &[u8]) -> Option<(Time, Option<i64>)> {
    let len = bytes.len();
    let sign = bytes
        .iter()
        .position(|b| matches!(b, b'+' | b'-' | b'Z'))
        .unwrap_or(len);
    let clock = read_clock(bytes, 0, sign)?;
    let mut offset = None;
    if sign < len && at(bytes, sign) == b'Z' {
        if at(bytes, sign + 1) != 0 {
            return None;
        }
        offset = Some(0);
    } else if sign < len {
        let zone = read_clock(bytes, sign + 1, len)?;
        let [hours, minutes, seconds] = zone.parts.map(i64::from);
        let seconds = hours * 3600 + minutes * 60 + seconds;
        // Python takes an offset of less than a second for none.
        let micros = if seconds == 0 {
            0
        } else {
            i64::from(zone.micros)
        };
        let east = seconds * MICROS_PER_SECOND + micros;
        if zone.rest || east >= DAY_MICROS {
            return None;
        }
        offset = Some(if at(bytes, sign) == b'-' { -east } else { east });
    } else if clock.rest {
        return None;
    }
    let [hour, minute, second] = clock
        .parts
        .map(|part| i8::try_from(part).unwrap_or(i8::MAX));
    let time = Time::new(hour, minute, second, clock.micros * 1_000).ok()?;
    Some((time, offset))
}
