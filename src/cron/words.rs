//! A schedule said in words.

use super::duration;
use super::expr::CronExpr;
use super::schedule::Schedule;

const WEEKDAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// Up to this many times of day are named one by one.
const CLOCKS: usize = 6;

/// Says a schedule as a person would.
#[must_use]
pub fn say(schedule: &Schedule) -> String {
    match schedule {
        Schedule::Interval { minutes } => format!("every {}", duration::in_words(*minutes)),
        Schedule::Once { at, .. } => {
            let wall = at.wall();
            let day = name(&WEEKDAYS, i64::from(wall.weekday().to_sunday_zero_offset()));
            format!("once, on {day} {} at {}", wall.date(), wall.time())
        }
        Schedule::Cron { cron, .. } => {
            let parts = [times(cron), days(cron), months(cron), years(cron)];
            parts
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join(" ")
        }
    }
}

/// The values of a field.
fn values(bits: u64, low: i64, high: i64) -> Vec<i64> {
    (low..=high)
        .filter(|value| bits >> value & 1 == 1)
        .collect()
}

/// The step of values that run from the first to the end of a field without a gap in their rhythm.
fn step(values: &[i64], low: i64, high: i64) -> Option<i64> {
    let (first, second) = (*values.first()?, *values.get(1)?);
    let step = second - first;
    let even = values
        .windows(2)
        .all(|pair| matches!(pair, [a, b] if b - a == step));
    let whole = values.last().is_some_and(|last| last + step > high);
    (first == low && even && whole).then_some(step)
}

/// The same where it goes on over the end of the field as well: `*/45` is no rhythm of an hour.
fn rhythm(values: &[i64], low: i64, high: i64) -> Option<i64> {
    step(values, low, high).filter(|step| (high - low + 1) % step == 0)
}

fn times(cron: &CronExpr) -> String {
    let (minutes, hours) = (values(cron.minutes, 0, 59), values(cron.hours, 0, 23));
    let seconds = values(cron.seconds.unwrap_or(1), 0, 59);
    let at_zero = seconds == [0];
    if at_zero && minutes.len() * hours.len() <= CLOCKS {
        let clock = |hour: &i64, minute: &i64| format!("{hour:02}:{minute:02}");
        let clocks = hours
            .iter()
            .flat_map(|hour| minutes.iter().map(move |m| clock(hour, m)));
        return format!("at {}", list(&clocks.collect::<Vec<_>>()));
    }
    let minute = match (rhythm(&minutes, 0, 59), minutes.as_slice()) {
        (Some(1), _) => "every minute".to_owned(),
        (Some(step), _) => format!("every {step} minutes"),
        (None, [0]) => "on the hour".to_owned(),
        (None, minutes) => format!("at minute {}", numbers(minutes)),
    };
    let said = match (rhythm(&hours, 0, 23), hours.as_slice()) {
        (Some(1), _) if minutes == [0] => "every hour, on the hour".to_owned(),
        (Some(1), _) if rhythm(&minutes, 0, 59).is_some() => minute,
        (Some(1), _) => format!("{minute} of every hour"),
        (Some(step), _) => format!("{minute} of every {step} hours"),
        (None, hours) => format!("{minute} of hour {}", numbers(hours)),
    };
    if at_zero {
        return said;
    }
    match rhythm(&seconds, 0, 59) {
        Some(1) => format!("every second, {said}"),
        Some(step) => format!("every {step} seconds, {said}"),
        None => format!("at second {}, {said}", numbers(&seconds)),
    }
}

fn days(cron: &CronExpr) -> String {
    let dates = cron.days.map(|days| {
        let mut said = Vec::new();
        let days_of = values(days, 1, 31);
        match step(&days_of, 1, 31) {
            Some(step) if step > 1 => said.push(format!("every {step} days from day 1")),
            _ if days_of.is_empty() => {}
            _ => said.push(format!("day {}", numbers(&days_of))),
        }
        if days & 1 == 1 {
            said.push("the last day".to_owned());
        }
        format!("on {} of the month", list(&said))
    });
    let weekdays = if cron.nth == [0; 7] {
        cron.weekdays
            .map(|days| format!("on {}", named(&WEEKDAYS, &values(days, 0, 6))))
    } else {
        Some(format!("on {}", list(&counted(cron))))
    };
    match (dates, weekdays) {
        (Some(dates), Some(days)) if cron.either_day() => format!("{dates}, and also {days}"),
        (Some(dates), Some(days)) => format!("{dates}, but only {days}"),
        (Some(said), None) | (None, Some(said)) => said,
        (None, None) => {
            let few = cron.minutes.count_ones() * cron.hours.count_ones();
            let few = usize::try_from(few).is_ok_and(|few| few <= CLOCKS);
            if few {
                "every day".to_owned()
            } else {
                String::new()
            }
        }
    }
}

fn counted(cron: &CronExpr) -> Vec<String> {
    let mut said = Vec::new();
    for (day, which) in (0_i64..).zip(cron.nth) {
        let day = name(&WEEKDAYS, day);
        for (bit, ordinal) in ["last", "first", "second", "third", "fourth", "fifth"]
            .iter()
            .enumerate()
        {
            if which >> bit & 1 == 1 {
                said.push(format!("the {ordinal} {day}"));
            }
        }
    }
    said
}

fn months(cron: &CronExpr) -> String {
    let months = values(cron.months, 1, 12);
    if months.len() == 12 {
        return String::new();
    }
    let months: Vec<i64> = months.iter().map(|month| month - 1).collect();
    format!("in {}", named(&MONTHS, &months))
}

fn years(cron: &CronExpr) -> String {
    let Some(years) = &cron.years else {
        return String::new();
    };
    let years = (1970_i64..)
        .zip(years.iter())
        .filter(|(_, set)| **set)
        .map(|(year, _)| year);
    format!("in {}", numbers(&years.collect::<Vec<_>>()))
}

fn name<'n>(names: &[&'n str], index: i64) -> &'n str {
    usize::try_from(index)
        .ok()
        .and_then(|index| names.get(index))
        .copied()
        .unwrap_or("?")
}

/// Names, with runs of three and more as `Monday to Friday`.
fn named(names: &[&str], indexes: &[i64]) -> String {
    list(&runs(indexes, |index| name(names, index).to_owned()))
}

fn numbers(values: &[i64]) -> String {
    list(&runs(values, |value| value.to_string()))
}

fn runs(values: &[i64], say: impl Fn(i64) -> String) -> Vec<String> {
    let mut said = Vec::new();
    for run in values.chunk_by(|a, b| a + 1 == *b) {
        match run {
            [first, _, .., last] => said.push(format!("{} to {}", say(*first), say(*last))),
            run => said.extend(run.iter().map(|value| say(*value))),
        }
    }
    said
}

/// `a, b and c`.
fn list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(expr: &str) -> String {
        let cron = CronExpr::parse(expr).expect("an expression");
        say(&Schedule::Cron {
            expr: expr.to_owned(),
            cron,
        })
    }

    #[test]
    fn expressions_in_words() {
        for (expr, words) in [
            ("0 9 * * 1-5", "at 09:00 on Monday to Friday"),
            ("* * * * *", "every minute"),
            ("*/5 * * * *", "every 5 minutes"),
            ("0 * * * *", "every hour, on the hour"),
            ("*/45 * * * *", "at minute 0 and 45 of every hour"),
            ("30 */9 * * *", "at 00:30, 09:30 and 18:30 every day"),
            ("*/10 */9 * * *", "every 10 minutes of hour 0, 9 and 18"),
            ("5,35 * * * *", "at minute 5 and 35 of every hour"),
            ("30 */2 * * *", "at minute 30 of every 2 hours"),
            ("*/15 9-17 * * *", "every 15 minutes of hour 9 to 17"),
            (
                "0 0,12 1 1 *",
                "at 00:00 and 12:00 on day 1 of the month in January",
            ),
            ("0 0 L * *", "at 00:00 on the last day of the month"),
            (
                "0 0 13 * 5",
                "at 00:00 on day 13 of the month, and also on Friday",
            ),
            ("0 0 * * L5", "at 00:00 on the last Friday"),
            ("0 9 * * 1#1 0 2027", "at 09:00 on the first Monday in 2027"),
            ("* * * * * */10", "every 10 seconds, every minute"),
            (
                "59 23 31 12 *",
                "at 23:59 on day 31 of the month in December",
            ),
            ("0 8 * * *", "at 08:00 every day"),
            (
                "0 0 */10 * *",
                "at 00:00 on every 10 days from day 1 of the month",
            ),
        ] {
            assert_eq!(said(expr), words, "{expr}");
        }
    }

    #[test]
    fn the_other_kinds_in_words() {
        assert_eq!(
            say(&Schedule::Interval { minutes: 1530 }),
            "every 1 day 1 hour 30 minutes"
        );
        let run_at = "2026-07-01T14:00:00+02:00";
        let at = super::super::stamp::Stamp::parse(run_at).expect("a stamp");
        let once = Schedule::Once {
            run_at: run_at.to_owned(),
            at,
        };
        assert_eq!(say(&once), "once, on Wednesday 2026-07-01 at 14:00:00");
    }
}
