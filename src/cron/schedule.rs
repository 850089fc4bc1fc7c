//! What a schedule is, and how its text is read.
//!
//! The order of the readings is the other program's, since a text must mean the same to both.
//! Beyond it we read `@daily` and its kin, `FRI#2`, and `1h30m`, each stored in a shape that it can
//! read; and we refuse what would never fire, or at every tick.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::expr::{self, CronExpr};
use super::job::whole;
use super::lateness;
use super::next;
use super::refusal::{self, Category, ScheduleError};
use super::stamp::Stamp;
use super::{duration, natural, text};

/// A schedule: when a job fires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Every so many minutes. Zero and less come from a store only: due at every tick.
    Interval {
        /// The cadence.
        minutes: i64,
    },
    /// At the wall clocks that an expression matches.
    Cron {
        /// The expression as stored.
        expr: String,
        /// The same, understood.
        cron: CronExpr,
    },
    /// Once.
    Once {
        /// The instant as stored.
        run_at: String,
        /// The same, understood.
        at: Stamp,
    },
}

/// A text that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// What it means.
    pub schedule: Schedule,
    /// What the stores show for it.
    pub display: String,
}

impl Reading {
    /// The object that `jobs.json` holds: `{"kind", …, "display"}`.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        let mut object = self.schedule.to_json();
        object.insert("display".into(), Value::from(self.display.as_str()));
        object
    }
}

/// Why a stored schedule cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoredError {
    /// No object, or no known kind.
    #[error("the schedule has no kind that is known")]
    Kind,
    /// The field that the kind needs is missing.
    #[error("the schedule has no `{0}`")]
    Missing(&'static str),
    /// The field that the kind needs has a value that it cannot have.
    #[error("the schedule has no usable `{0}`")]
    Field(&'static str),
    /// The expression cannot be read.
    #[error("the cron expression cannot be read: {0}")]
    Expression(#[from] super::field::FieldError),
}

impl StoredError {
    /// Whether something is missing, rather than wrong.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Missing(_) | Self::Kind)
    }
}

impl Schedule {
    /// Reads the object that a store holds.
    pub fn from_json(stored: &Value) -> Result<Schedule, StoredError> {
        let text = |key| stored.get(key).and_then(Value::as_str);
        match text("kind") {
            Some("interval") => {
                let minutes = stored.get("minutes").filter(|minutes| !minutes.is_null());
                let minutes = minutes.ok_or(StoredError::Missing("minutes"))?;
                let minutes = whole_minutes(minutes).ok_or(StoredError::Field("minutes"))?;
                Ok(Schedule::Interval { minutes })
            }
            Some("cron") => {
                let expr = text("expr").ok_or(StoredError::Missing("expr"))?;
                Ok(Schedule::Cron {
                    expr: expr.to_owned(),
                    cron: CronExpr::parse(expr)?,
                })
            }
            Some("once") => {
                let run_at = text("run_at").ok_or(StoredError::Field("run_at"))?;
                let at = Stamp::parse(run_at).ok_or(StoredError::Field("run_at"))?;
                Ok(Schedule::Once {
                    run_at: run_at.to_owned(),
                    at,
                })
            }
            _ => Err(StoredError::Kind),
        }
    }

    /// The kind, as the stores name it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Schedule::Interval { .. } => "interval",
            Schedule::Cron { .. } => "cron",
            Schedule::Once { .. } => "once",
        }
    }

    /// Whether it fires again and again.
    #[must_use]
    pub fn is_recurring(&self) -> bool {
        !matches!(self, Schedule::Once { .. })
    }

    /// The stored object, without its display.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        let mut object = Map::new();
        object.insert("kind".into(), Value::from(self.kind()));
        match self {
            Schedule::Interval { minutes } => {
                object.insert("minutes".into(), Value::from(*minutes));
            }
            Schedule::Cron { expr, .. } => {
                object.insert("expr".into(), Value::from(expr.as_str()));
            }
            Schedule::Once { run_at, .. } => {
                object.insert("run_at".into(), Value::from(run_at.as_str()));
            }
        }
        object
    }

    /// Refuses a one-shot that is further past than its grace: for whoever creates or edits a job. One
    /// that a store holds already is the scan's to judge.
    pub fn must_come(&self, now: Timestamp, zone: &TimeZone) -> Result<(), ScheduleError> {
        let Schedule::Once { run_at, at } = self else {
            return Ok(());
        };
        let late = at.instant(zone).map(|at| now.duration_since(at).as_secs());
        match late {
            Some(late) if late <= lateness::ONCE_GRACE_SECONDS => Ok(()),
            _ => Err(refusal::past(run_at)),
        }
    }

    /// Reads a schedule text at `now`. Wall clocks without an offset are those of `zone`.
    ///
    /// A one-shot in the past is read, not refused: whether it is too late is `next::next_run`'s
    /// word, and refusing it at creation the caller's.
    pub fn parse(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Reading, ScheduleError> {
        let text = text::strip(text);
        let every = after_prefix(text, "every ");
        if let Some(expr) = natural::to_cron(every.unwrap_or(text)) {
            return cron(&expr, text, Category::NaturalCron, (now, zone));
        }
        if let Some(rest) = every {
            let minutes = duration::simple(rest).or_else(|| duration::compound(rest));
            return match minutes {
                Some(minutes) => interval(minutes, now),
                None => Err(refusal::unread(text, Category::Duration)),
            };
        }
        let delay = after_prefix(text, "in ");
        if let Some(minutes) = delay.and_then(duration::compound) {
            return once_in(minutes, delay.unwrap_or_default(), now, zone);
        }
        if let Some(minutes) = duration::compound(text) {
            return interval(minutes, now);
        }
        if let Some(expr) = expr::alias(text) {
            return cron(expr, text, Category::CronExpression, (now, zone));
        }
        if looks_like_cron(text) {
            return cron(text, text, Category::CronExpression, (now, zone));
        }
        if text.contains('T') || starts_with_date(text) {
            let stamp = Stamp::parse(text);
            return stamp.map_or_else(
                || Err(refusal::unread(text, Category::Timestamp)),
                |stamp| Ok(once_at(stamp.in_zone(zone))),
            );
        }
        if let Some(rest) = delay {
            return match duration::simple(rest) {
                Some(minutes) => once_in(minutes, rest, now, zone),
                None => Err(refusal::unread(text, Category::InDuration)),
            };
        }
        match duration::simple(text) {
            Some(minutes) => interval(minutes, now),
            None => Err(refusal::unread(text, Category::Unrecognised)),
        }
    }
}

/// A whole number of minutes, also where it stands as text or with a zero behind the point.
fn whole_minutes(stored: &Value) -> Option<i64> {
    let fraction = stored
        .as_f64()
        .is_some_and(|minutes| minutes.fract() != 0.0);
    whole(stored).filter(|_| !fraction)
}

/// What follows a prefix in any case, stripped.
fn after_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix)
        .then(|| text.get(prefix.len()..).map(text::strip))?
}

/// Five words or more, of which the first five could be cron fields. A `#` is ours, in the fifth.
fn looks_like_cron(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '*' | ',' | '/' | '-');
    let mut words = text::words(text);
    let first = words
        .by_ref()
        .take(4)
        .filter(|word| word.chars().all(allowed))
        .count();
    first == 4
        && words
            .next()
            .is_some_and(|word| word.chars().all(|c| allowed(c) || c == '#'))
}

fn starts_with_date(text: &str) -> bool {
    let mut chars = text.chars();
    "dddd-dd-dd".chars().all(|want| {
        chars.next().is_some_and(|c| {
            if want == 'd' {
                text::digit(c).is_some()
            } else {
                c == want
            }
        })
    })
}

fn interval(minutes: i64, now: Timestamp) -> Result<Reading, ScheduleError> {
    if minutes == 0 {
        return Err(refusal::zero_interval());
    }
    let schedule = Schedule::Interval { minutes };
    if next::next_fire(&schedule, now, &TimeZone::UTC).is_none() {
        return Err(refusal::too_far(Category::Compute));
    }
    Ok(Reading {
        schedule,
        display: format!("every {minutes}m"),
    })
}

fn cron(
    expr: &str,
    display: &str,
    category: Category,
    (now, zone): (Timestamp, &TimeZone),
) -> Result<Reading, ScheduleError> {
    let cron =
        CronExpr::parse(expr).map_err(|error| refusal::expression(expr, category, &error))?;
    let never = cron.next_after(zone.to_datetime(now)).is_none();
    if never {
        return Err(refusal::never(expr, &cron));
    }
    let schedule = Schedule::Cron {
        expr: expr.to_owned(),
        cron,
    };
    Ok(Reading {
        schedule,
        display: display.to_owned(),
    })
}

fn once_in(
    minutes: i64,
    said: &str,
    now: Timestamp,
    zone: &TimeZone,
) -> Result<Reading, ScheduleError> {
    let at = SignedDuration::try_from_mins(minutes)
        .and_then(|delay| now.checked_add(delay).ok())
        .map(|instant| Stamp::of(instant, zone))
        .filter(|at| at.wall().year() <= 9999)
        .ok_or_else(|| refusal::too_far(Category::Other))?;
    let schedule = Schedule::Once {
        run_at: at.to_string(),
        at,
    };
    Ok(Reading {
        schedule,
        display: format!("once in {said}"),
    })
}

fn once_at(at: Stamp) -> Reading {
    let wall = at.wall();
    let (date, time) = (wall.date(), wall.time());
    let (year, month, day) = (date.year(), date.month(), date.day());
    let clock = format!("{:02}:{:02}", time.hour(), time.minute());
    let display = format!("once at {year}-{month:02}-{day:02} {clock}");
    Reading {
        schedule: Schedule::Once {
            run_at: at.to_string(),
            at,
        },
        display,
    }
}
