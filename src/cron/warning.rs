//! What people get wrong about a schedule that can be read.

use jiff::civil::Date;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp};

use super::expr::CronExpr;
use super::field::{self, Field};
use super::lateness;
use super::schedule::{Reading, Schedule};
use super::stamp::{Stamp, first_offset};
use super::{next, text};

/// Changes of the clock are looked for this far ahead: each season once.
const AHEAD: SignedDuration = SignedDuration::from_hours(364 * 24);

/// The warnings for a text that was read at `now`, as sentences.
#[must_use]
pub fn warnings(reading: &Reading, text: &str, now: Timestamp, zone: &TimeZone) -> Vec<String> {
    match &reading.schedule {
        Schedule::Interval { minutes } => interval(*minutes, text),
        Schedule::Cron { expr, cron } => {
            let mut said = fields(expr, cron);
            said.extend(days(cron, expr));
            said.extend(clock_changes(cron, now, zone));
            said
        }
        Schedule::Once { at, .. } => {
            let mut said = once(*at, now, zone);
            said.extend(twice(*at, text, zone));
            said.extend(never(*at, zone));
            said
        }
    }
}

fn interval(minutes: i64, text: &str) -> Vec<String> {
    let mut said = Vec::new();
    let lower = text::strip(text).to_lowercase();
    if !lower.starts_with("every ") {
        said.push(format!(
            "A bare duration recurs: this fires every {minutes} minutes. `in {lower}` fires once."
        ));
    }
    if minutes % 1440 == 0 {
        let days = if minutes == 1440 { "day" } else { "monday" };
        said.push(format!(
            "Whole days are counted from one slot to the next, not from midnight. A time of day is \
             written `every {days} at 9am`."
        ));
    }
    said
}

fn once(at: Stamp, now: Timestamp, zone: &TimeZone) -> Vec<String> {
    let mut said = Vec::new();
    let Some(instant) = at.instant(zone) else {
        return vec!["The time lies beyond what a clock can show: it never comes.".to_owned()];
    };
    let late = now.duration_since(instant).as_secs();
    if late > lateness::ONCE_GRACE_SECONDS {
        said.push(format!(
            "The time has passed by more than {} seconds: it never fires.",
            lateness::ONCE_GRACE_SECONDS
        ));
    } else if late > 0 {
        said.push("The time has just passed: it fires at the next tick.".to_owned());
    }
    let shown = zone.to_datetime(instant);
    let here = [zone.to_offset(instant), first_offset(zone, at.wall())];
    if !here.map(Some).contains(&at.offset()) && late <= 0 {
        said.push(format!("In the zone of the schedules that is {shown}."));
    }
    said
}

/// A wall clock that comes twice, and was typed without an offset.
fn twice(at: Stamp, text: &str, zone: &TimeZone) -> Option<String> {
    Stamp::parse(text::strip(text)).filter(Stamp::is_naive)?;
    let wall = at.wall();
    let AmbiguousOffset::Fold { before, after } = zone.to_ambiguous_timestamp(wall).offset() else {
        return None;
    };
    let (day, clock) = (wall.date(), wall.time());
    Some(format!(
        "On {day} the clock repeats {clock}: this is the first pass, at {}. The second is {}.",
        Stamp::on(wall, before),
        Stamp::on(wall, after)
    ))
}

/// A wall clock that a change of the clock skips.
fn never(at: Stamp, zone: &TimeZone) -> Option<String> {
    let wall = at.wall();
    let AmbiguousOffset::Gap { before, .. } = zone.to_ambiguous_timestamp(wall).offset() else {
        return None;
    };
    let (day, clock) = (wall.date(), wall.time());
    let shown = zone.to_datetime(at.instant(zone)?);
    (at.offset() == Some(before))
        .then(|| format!("On {day} the clock skips {clock}: it fires at {shown} instead."))
}

/// Warnings that the text of the fields gives.
fn fields(expr: &str, cron: &CronExpr) -> Vec<String> {
    let mut said = Vec::new();
    let fields: Vec<&str> = text::words(expr).collect();
    if fields.len() > 5 {
        said.push("The sixth field is the second, not the first field.".to_owned());
    }
    let order = [
        Field::Minute,
        Field::Hour,
        Field::Day,
        Field::Month,
        Field::Weekday,
        Field::Second,
    ];
    for (field, part) in order.into_iter().zip(&fields) {
        for item in part.to_lowercase().split(',') {
            said.extend(range(field, item, fields.len()));
        }
    }
    if cron.seconds.is_some_and(|seconds| seconds.count_ones() > 1) {
        said.push(
            "The scheduler looks once a minute: of the seconds of a minute only one run comes."
                .to_owned(),
        );
    }
    if expr.contains('#') {
        said.push(
            "Hermes Agent runs a counted weekday (`#`), but its command line does not accept one."
                .to_owned(),
        );
    }
    said
}

fn range(field: Field, item: &str, count: usize) -> Option<String> {
    let (body, step) = item
        .split_once('/')
        .map_or((item, None), |(body, step)| (body, Some(step)));
    let (name, (low, high)) = (field.name(), field.range());
    let size = high - low + 1;
    if let Some(step) = step.and_then(text::number) {
        if step >= size {
            return Some(format!(
                "A step of {step} in the {name} field leaves one value only."
            ));
        }
        if field == Field::Day && step > 1 && matches!(body, "*" | "1" | "1-31") {
            return Some(format!(
                "`{item}` starts anew on the 1st of each month: the gap over the end of a month is \
                 another one. `every {step}d` goes on from slot to slot."
            ));
        }
        if body == "*" && size % step != 0 && field != Field::Day {
            return Some(format!(
                "`{item}` starts anew with each {}: the last gap is {}, not {step}.",
                field.larger(),
                size % step
            ));
        }
    }
    if let Some((from, to)) = body.split_once('-') {
        let value = |word| field::value(field, word, count).ok();
        let (from, to) = (value(from)?, value(to)?);
        return match from.cmp(&to) {
            std::cmp::Ordering::Greater => Some(format!(
                "`{item}` wraps around the end of the {name} field."
            )),
            std::cmp::Ordering::Equal => Some(format!(
                "`{item}` stands for the whole {name} field, not for one value."
            )),
            std::cmp::Ordering::Less => None,
        };
    }
    let from = text::number(body).filter(|_| step.is_some())?;
    Some(format!(
        "`{item}` starts at {from} and goes on to the end of the {name} field."
    ))
}

/// Warnings about days that do not mean what they seem to.
fn days(cron: &CronExpr, expr: &str) -> Vec<String> {
    let mut said = Vec::new();
    if cron.either_day() {
        said.push(
            "Day of month and day of week are joined by OR: it fires on either, not where both \
             agree."
                .to_owned(),
        );
    }
    let Some(days) = cron.days.filter(|days| days & 1 == 0) else {
        return said;
    };
    let missing: Vec<i8> = (1..=12_i8)
        .filter(|month| cron.months >> month & 1 == 1)
        .filter(|month| {
            // February at its longest: only leap years is a warning of its own.
            let length = Date::new(2028, *month, 1).map_or(31, Date::days_in_month);
            days & ((1 << (length + 1)) - 2) == 0
        })
        .collect();
    let leap = cron.months >> 2 & 1 == 1 && days.trailing_zeros() == 29;
    if !missing.is_empty() {
        said.push(
            "Months without such a day are skipped. `L` is the last day of every month.".to_owned(),
        );
    } else if leap {
        said.push("29 February comes in leap years only. `L` is the last day.".to_owned());
    } else if !text::words(expr)
        .nth(2)
        .is_some_and(|days| days.contains('/'))
    {
        said.extend(left_out(days, cron));
    }
    said
}

/// The last days of a list of which a shorter month has others only.
fn left_out(days: u64, cron: &CronExpr) -> Option<String> {
    let is_short = |day: i8| {
        let mut months = (1..=12_i8).filter(|month| cron.months >> month & 1 == 1);
        months.any(|month| Date::new(2027, month, 1).is_ok_and(|first| first.days_in_month() < day))
    };
    let missing = (29..=31_i8).filter(|day| days >> day & 1 == 1 && is_short(*day));
    let missing: Vec<String> = missing.map(|day| day.to_string()).collect();
    let (last, others) = missing.split_last()?;
    let named = match others {
        [] => format!("day {last}"),
        others => format!("days {} and {last}", others.join(", ")),
    };
    Some(format!(
        "Not every month has {named}: there only the other days count. `L` is the last day of every month."
    ))
}

/// Times that the next changes of the clock skip or repeat.
fn clock_changes(cron: &CronExpr, now: Timestamp, zone: &TimeZone) -> Vec<String> {
    let mut said = Vec::new();
    let Ok(end) = now.checked_add(AHEAD) else {
        return said;
    };
    let mut before = zone.to_offset(now);
    for change in zone
        .following(now)
        .take_while(|change| change.timestamp() < end)
    {
        let after = change.offset();
        let old = before.to_datetime(change.timestamp());
        let new = after.to_datetime(change.timestamp());
        before = after;
        let (from, to) = (old.min(new), old.max(new));
        let hit = cron.first_from(from).filter(|wall| *wall < to);
        let Some(wall) = hit else { continue };
        let day = wall.date();
        let clock = format!("{:02}:{:02}", wall.hour(), wall.minute());
        if new > old && cron.repeats() {
            continue;
        }
        said.push(if new > old {
            let shifted = next::in_gap(wall, zone).unwrap_or(wall);
            let time = shifted.time();
            // A zone that crosses the date line skips a whole day.
            let shifted = if shifted.date() == day {
                time.to_string()
            } else {
                format!("{time} on {}", shifted.date())
            };
            format!("On {day} the clock skips {clock}: it fires at {shifted} instead, once.")
        } else if cron.repeats() {
            format!("On {day} the clock repeats {clock}: it fires in both passes.")
        } else {
            format!("On {day} the clock repeats {clock}: it fires in the first pass only.")
        });
    }
    said
}
