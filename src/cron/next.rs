//! When a schedule fires: the next instants, and whether an instant is one of them.
//!
//! Wall clocks meet zones here. In a spring gap a time that does not exist fires once, later by the
//! gap. In an autumn fold a fixed time fires in the first pass only, and an expression with a star
//! or a step in its hour or minute fires in both (`CronExpr::repeats`).

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};

use super::expr::CronExpr;
use super::lateness;
use super::schedule::Schedule;
use super::stamp::{Stamp, first_offset};

/// No zone skips or repeats more than a day.
const LONGEST_SHIFT: SignedDuration = SignedDuration::from_hours(25);
const MOMENT: SignedDuration = SignedDuration::from_nanos(1);

/// One instant at which a schedule fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fire {
    /// When.
    pub instant: Timestamp,
    /// The same as the stores write it: a time in a spring gap keeps its wall clock and the offset
    /// before the change.
    pub stamp: Stamp,
}

impl Fire {
    fn new(instant: Timestamp, zone: &TimeZone) -> Fire {
        Fire {
            instant,
            stamp: Stamp::of(instant, zone),
        }
    }

    fn at(wall: DateTime, offset: Offset) -> Option<Fire> {
        let instant = offset.to_timestamp(wall).ok()?;
        Some(Fire {
            instant,
            stamp: Stamp::with_offset(instant, offset),
        })
    }
}

/// The first instant after `base` at which the schedule fires.
///
/// `base` is whatever the caller counts from: now, the last run, or, for a steady cadence, the slot
/// that was due. A one-shot fires at its time, if that is after `base`. An interval counts from
/// `base` itself; zero minutes give `base` again, as the stores of the other program mean it.
#[must_use]
pub fn next_fire(schedule: &Schedule, base: Timestamp, zone: &TimeZone) -> Option<Fire> {
    match schedule {
        Schedule::Interval { minutes } => {
            let step = SignedDuration::try_from_mins(*minutes)?;
            let instant = base.checked_add(step).ok()?;
            let fire = Fire::new(instant, zone);
            (fire.stamp.wall().year() <= 9999).then_some(fire)
        }
        Schedule::Cron { cron, .. } => next_cron(cron, base, zone),
        Schedule::Once { at, .. } => {
            let instant = at.instant(zone)?;
            (instant > base).then_some(Fire {
                instant,
                stamp: *at,
            })
        }
    }
}

/// The zones that stamps are read in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zones {
    /// The zone of the schedules: `HERMES_TIMEZONE`, `timezone`, or the host's.
    pub configured: TimeZone,
    /// The host's. Stamps without an offset were written with it.
    pub system: TimeZone,
}

impl Zones {
    /// One zone for both.
    #[must_use]
    pub fn of(zone: TimeZone) -> Zones {
        Zones {
            configured: zone.clone(),
            system: zone,
        }
    }

    /// The instant of a stored text; `None` where it is no stamp.
    #[must_use]
    pub fn instant(&self, text: &str) -> Option<Timestamp> {
        Stamp::parse(text)?.instant(&self.system)
    }
}

/// The next run as the other program stores it, for a job that last ran at `last_run`.
///
/// A one-shot keeps its text as long as it has not run and is not more than 120 s late. The others
/// count from the last run, or from `now` where there is none that can be read.
#[must_use]
pub fn next_run(
    schedule: &Schedule,
    last_run: Option<&str>,
    now: Timestamp,
    zones: &Zones,
) -> Option<String> {
    let last_run = last_run.filter(|text| !text.is_empty());
    if let Schedule::Once { run_at, at } = schedule {
        let late = now.duration_since(at.instant(&zones.system)?);
        let in_time = late <= SignedDuration::from_secs(lateness::ONCE_GRACE_SECONDS);
        return (last_run.is_none() && in_time).then(|| run_at.clone());
    }
    let base = last_run.and_then(|text| zones.instant(text)).unwrap_or(now);
    next_fire(schedule, base, &zones.configured).map(|fire| fire.stamp.to_string())
}

/// The next instant of a steady cadence: the slots of `anchor + n × interval` after `now`, or the
/// next cron match after `now`. Runs that take long do not move it.
#[must_use]
pub fn next_in_cadence(
    schedule: &Schedule,
    anchor: Timestamp,
    now: Timestamp,
    zone: &TimeZone,
) -> Option<Fire> {
    match schedule {
        Schedule::Interval { minutes } if *minutes > 0 => {
            let step = minutes.checked_mul(60_000_000)?;
            let passed = now.as_microsecond().checked_sub(anchor.as_microsecond())?;
            let slots = passed.div_euclid(step) + 1;
            let shift = SignedDuration::from_micros(slots.checked_mul(step)?);
            Some(Fire::new(anchor.checked_add(shift).ok()?, zone))
        }
        // Whoever is a moment late in the hour after a gap still meets what the gap shifted there.
        Schedule::Cron { cron, .. } => next_in_set(cron, now, zone),
        _ => next_fire(schedule, now, zone),
    }
}

/// Whether the schedule fires at `instant`, or less than a second from it, as stores are judged. An
/// interval has no fixed times: every instant is good.
#[must_use]
pub fn on_lattice(schedule: &Schedule, instant: Timestamp, zone: &TimeZone) -> bool {
    match schedule {
        Schedule::Interval { .. } => true,
        Schedule::Once { at, .. } => at.instant(zone) == Some(instant),
        Schedule::Cron { cron, .. } => {
            let whole = Timestamp::from_second(instant.as_microsecond().div_euclid(1_000_000));
            let (Ok(before), part) = (whole, instant.subsec_nanosecond() != 0) else {
                return false;
            };
            cron_on_lattice(cron, before, zone)
                || part
                    && before
                        .checked_add(SignedDuration::from_secs(1))
                        .is_ok_and(|after| cron_on_lattice(cron, after, zone))
        }
    }
}

/// Every instant in `(from, to]` at which the schedule fires, in order. Intervals count from
/// `anchor`; without one they count from `from`.
pub fn occurrences_between<'a>(
    schedule: &'a Schedule,
    anchor: Option<Timestamp>,
    (from, to): (Timestamp, Timestamp),
    zone: &'a TimeZone,
) -> impl Iterator<Item = Fire> + 'a {
    let mut base = from;
    std::iter::from_fn(move || {
        let fire = match schedule {
            Schedule::Cron { cron, .. } => next_in_set(cron, base, zone),
            _ => next_in_cadence(schedule, anchor.unwrap_or(from), base, zone),
        }?;
        if fire.instant > to || fire.instant <= base {
            return None;
        }
        base = fire.instant;
        Some(fire)
    })
}

/// A time skipped in the last spring change still counts as ahead only for who goes on from a slot:
/// asked in the hour after the gap, a daily 02:30 is tomorrow's. So answers the other program.
fn next_cron(cron: &CronExpr, base: Timestamp, zone: &TimeZone) -> Option<Fire> {
    let is_slot = |offset: Offset| cron.matches(offset.to_datetime(base));
    match gap_behind(base, zone) {
        Some(gap) if is_slot(gap.before) || is_slot(gap.after) => next_in_set(cron, base, zone),
        _ => plain_next(cron, base, zone),
    }
}

/// The first firing instant after `base`, shifted ones included.
fn next_in_set(cron: &CronExpr, base: Timestamp, zone: &TimeZone) -> Option<Fire> {
    let plain = plain_next(cron, base, zone);
    let Some(gap) = gap_behind(base, zone) else {
        return plain;
    };
    let shifted = cron
        .next_after(gap.before.to_datetime(base))
        .filter(|wall| *wall < gap.end())
        .and_then(|wall| Fire::at(wall, gap.before));
    match (plain, shifted) {
        (Some(plain), Some(shifted)) if shifted.instant < plain.instant => Some(shifted),
        (None, shifted) => shifted,
        (plain, _) => plain,
    }
}

/// The next match of the wall clock that `base` shows.
fn plain_next(cron: &CronExpr, base: Timestamp, zone: &TimeZone) -> Option<Fire> {
    let offset = zone.to_offset(base);
    let local = offset.to_datetime(base);
    let wall = cron.next_after(local)?;
    let AmbiguousOffset::Fold { before, after } = zone.to_ambiguous_timestamp(local).offset()
    else {
        return first_from(cron, wall, zone);
    };
    let Some(change) = fold_change(base, offset == before, zone) else {
        return first_from(cron, wall, zone);
    };
    // From `start` to `end` the clock shows everything twice.
    let (start, end) = (after.to_datetime(change), before.to_datetime(change));
    if offset == before {
        if wall >= end && cron.repeats() {
            let again = cron.first_from(start)?;
            if again < end {
                return Fire::at(again, after);
            }
        }
    } else if wall < end {
        if cron.repeats() {
            return Fire::at(wall, after);
        }
        return first_from(cron, cron.first_from(end)?, zone);
    }
    first_from(cron, wall, zone)
}

/// The first slot of those from a matching wall clock on. Where that is in a gap, one that stands behind
/// the gap may come before what the gap shifts: the two lie apart by its length.
fn first_from(cron: &CronExpr, wall: DateTime, zone: &TimeZone) -> Option<Fire> {
    let fire = first_of(wall, zone)?;
    let behind = gap_behind(fire.instant, zone).filter(|gap| wall < gap.end());
    let behind = behind.and_then(|gap| first_of(cron.first_from(gap.end())?, zone));
    Some(
        behind
            .filter(|behind| behind.instant < fire.instant)
            .unwrap_or(fire),
    )
}

/// The first instant that a wall clock stands for; in a gap the one with the offset before it.
fn first_of(wall: DateTime, zone: &TimeZone) -> Option<Fire> {
    Fire::at(wall, first_offset(zone, wall))
}

/// The wall clock that people read when a time in a gap fires.
pub(super) fn in_gap(wall: DateTime, zone: &TimeZone) -> Option<DateTime> {
    first_of(wall, zone).map(|fire| zone.to_datetime(fire.instant))
}

/// The change that makes the wall clock of `base` stand twice.
fn fold_change(base: Timestamp, first_pass: bool, zone: &TimeZone) -> Option<Timestamp> {
    let change = if first_pass {
        zone.following(base).next()
    } else {
        // `preceding` leaves out its own instant, which is the first of the second pass.
        zone.preceding(base.checked_add(MOMENT).ok()?).next()
    };
    change.map(|change| change.timestamp())
}

/// A spring gap that lies less than its own length behind.
struct Gap {
    before: Offset,
    after: Offset,
    change: Timestamp,
}

impl Gap {
    fn end(&self) -> DateTime {
        self.after.to_datetime(self.change)
    }
}

fn gap_behind(base: Timestamp, zone: &TimeZone) -> Option<Gap> {
    let after = zone.to_offset(base);
    let earlier = base.checked_sub(LONGEST_SHIFT).ok()?;
    if zone.to_offset(earlier) == after {
        return None;
    }
    let change = zone
        .preceding(base.checked_add(MOMENT).ok()?)
        .next()?
        .timestamp();
    let before = zone.to_offset(change.checked_sub(MOMENT).ok()?);
    let length = i64::from(after.seconds()) - i64::from(before.seconds());
    let since = base.duration_since(change);
    (length > 0 && since < SignedDuration::from_secs(length)).then_some(Gap {
        before,
        after,
        change,
    })
}

fn cron_on_lattice(cron: &CronExpr, instant: Timestamp, zone: &TimeZone) -> bool {
    let offset = zone.to_offset(instant);
    let wall = offset.to_datetime(instant);
    if cron.matches(wall) {
        return match zone.to_ambiguous_timestamp(wall).offset() {
            AmbiguousOffset::Fold { after, .. } if offset == after => cron.repeats(),
            _ => true,
        };
    }
    gap_behind(instant, zone).is_some_and(|gap| cron.matches(gap.before.to_datetime(instant)))
}
