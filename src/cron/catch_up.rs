//! What a job says of slots that were missed: our own policy beside the other program's switch, and
//! the slots that came while nobody was there. Pure.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::next::occurrences_between;
use super::own_corner;
use super::schedule::Schedule;

/// Most slots of one job that one scan records one by one; one record stands for those after them.
pub const MOST: usize = 500;
/// Most of the others that are counted: a fortnight of minutes.
const COUNTED: usize = 20_000;

/// Slots that were passed over, all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// The first ones, in order.
    pub slots: Vec<Timestamp>,
    /// Those after them.
    pub rest: Option<Rest>,
}

/// Slots in a row that one record stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest {
    /// The first.
    pub first: Timestamp,
    /// The last; where they were not counted, the end of the time in which they lie.
    pub last: Timestamp,
    /// How many.
    pub count: Option<usize>,
}

/// What to do with a slot that comes late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CatchUp {
    /// One run stands for all that were missed.
    #[default]
    Once,
    /// None.
    Skip,
    /// One run, unless it would be later than this.
    MaxLateness(SignedDuration),
}

impl CatchUp {
    /// What the job says, in our corner of it; anything else is the default.
    #[must_use]
    pub fn of(job: &Map<String, Value>) -> Self {
        let said = job.get("x_hermes").and_then(|own| own.get("catch_up"));
        said.and_then(Self::read).unwrap_or_default()
    }

    /// A policy as it is written; `None` where it is none.
    #[must_use]
    pub fn read(said: &Value) -> Option<Self> {
        if let Some(word) = said.as_str() {
            return match word {
                "once" => Some(Self::Once),
                "skip" => Some(Self::Skip),
                _ => None,
            };
        }
        let seconds = own_corner::seconds(said.get("max_lateness_seconds")?)?;
        let limit = SignedDuration::from_secs(i64::try_from(seconds).ok()?);
        Some(Self::MaxLateness(limit))
    }

    /// How late a slot may be run; `None`: however late.
    #[must_use]
    pub fn limit(self) -> Option<SignedDuration> {
        match self {
            Self::Once => None,
            Self::Skip => Some(SignedDuration::ZERO),
            Self::MaxLateness(limit) => Some(limit),
        }
    }

    /// Why a slot this late is not run; `None`: it is.
    #[must_use]
    pub fn objection(self, late: SignedDuration) -> Option<String> {
        let late_words = crate::output::human::duration(late.as_secs());
        match self {
            Self::Once => None,
            Self::Skip => Some(format!(
                "missed, skipped: {late_words} late, and the job catches nothing up"
            )),
            Self::MaxLateness(limit) if late <= limit => None,
            Self::MaxLateness(limit) => {
                let limit = crate::output::human::duration(limit.as_secs());
                Some(format!(
                    "missed, skipped: too late ({late_words}, its limit is {limit})"
                ))
            }
        }
    }
}

/// Why a slot that comes this late, beyond its grace, is not run: by the operator's switch
/// (`cron.catch_up_missed`), or by what its job says; `None`: it is.
#[must_use]
pub fn objection(
    job: &Map<String, Value>,
    late: SignedDuration,
    catches_up: bool,
) -> Option<String> {
    if catches_up {
        CatchUp::of(job).objection(late)
    } else {
        Some("missed, skipped: missed slots are not caught up".to_owned())
    }
}

/// How long a job waits after its slot, so that many of one minute do not start at once: a fixed part
/// of what it allows, made of its id, so that it is the same each time.
#[must_use]
pub fn stagger(job: &Map<String, Value>) -> std::time::Duration {
    let own = job
        .get("x_hermes")
        .and_then(|own| own.get("stagger_seconds"));
    let most = own.and_then(own_corner::seconds).unwrap_or(0).min(3600);
    if most == 0 {
        return std::time::Duration::ZERO;
    }
    let id = job.get("id").and_then(Value::as_str).unwrap_or_default();
    let mixed = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    std::time::Duration::from_secs(mixed % (most + 1))
}

impl Passed {
    /// Those that came between two instants, and the others.
    pub(super) fn parted(self, within: Option<(Timestamp, Timestamp)>) -> (Self, Self) {
        let Some((first, last)) = within else {
            return (Self::default(), self);
        };
        let (inside, outside) = self
            .slots
            .into_iter()
            .partition(|at| (first..=last).contains(at));
        let is_inside = self
            .rest
            .is_some_and(|rest| rest.first >= first && rest.last <= last);
        let (of_inside, of_outside) = if is_inside {
            (self.rest, None)
        } else {
            (None, self.rest)
        };
        let part = |slots, rest| Self { slots, rest };
        (part(inside, of_inside), part(outside, of_outside))
    }
}

/// The slots after the one that stood in the store and up to now, which nobody ran.
#[must_use]
pub fn passed_over(
    job: &Map<String, Value>,
    stood: Timestamp,
    now: Timestamp,
    zone: &TimeZone,
) -> Passed {
    let Some(Ok(schedule)) = job.get("schedule").map(Schedule::from_json) else {
        return Passed::default();
    };
    if !schedule.is_recurring() {
        return Passed::default();
    }
    let fires = occurrences_between(&schedule, Some(stood), (stood, now), zone);
    let mut instants = fires.map(|fire| fire.instant);
    let slots = instants.by_ref().take(MOST).collect();
    let rest = instants.next().map(|first| {
        let (mut last, mut count) = (first, 1);
        for slot in instants.by_ref().take(COUNTED) {
            (last, count) = (slot, count + 1);
        }
        if count > COUNTED {
            let (last, count) = (now, None);
            return Rest { first, last, count };
        }
        let count = Some(count);
        Rest { first, last, count }
    });
    Passed { slots, rest }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn job(own: &Value) -> Map<String, Value> {
        json!({"id": "a1b2", "x_hermes": own})
            .as_object()
            .unwrap()
            .clone()
    }

    #[test]
    fn b77_a_job_with_a_limit_is_skipped_when_it_would_be_too_late() {
        let limited = CatchUp::of(&job(&json!({"catch_up": {"max_lateness_seconds": 3600}})));
        assert_eq!(limited.objection(SignedDuration::from_mins(59)), None);
        let objection = limited.objection(SignedDuration::from_hours(42)).unwrap();
        assert_eq!(
            objection,
            "missed, skipped: too late (1d 18h, its limit is 1h)"
        );
        assert_eq!(
            CatchUp::of(&job(&json!({}))).objection(SignedDuration::from_hours(42)),
            None
        );
        let never = CatchUp::of(&job(&json!({"catch_up": "skip"})));
        assert!(never.objection(SignedDuration::from_mins(10)).is_some());
    }

    #[test]
    fn b78_a_stagger_is_the_same_each_time_and_within_its_bound() {
        let staggered = job(&json!({"stagger_seconds": 90}));
        assert_eq!(stagger(&staggered), stagger(&staggered));
        assert!(stagger(&staggered).as_secs() <= 90);
        assert!(stagger(&job(&json!({}))).is_zero());
        let of = |number: u32| {
            let mut one = job(&json!({"stagger_seconds": 1}));
            one.insert("id".to_owned(), json!(format!("job{number}")));
            stagger(&one).as_secs()
        };
        let parts: std::collections::BTreeSet<_> = (0..20).map(of).collect();
        assert!(parts.iter().eq(&[0, 1]), "all of it is used: {parts:?}");
    }

    #[test]
    fn slots_are_parted_at_the_ends_of_a_time_which_are_of_it() {
        let minute = |minute: i64| Timestamp::from_second(minute * 60).unwrap();
        let rest = |first, last| {
            Some(Rest {
                first: minute(first),
                last: minute(last),
                count: None,
            })
        };
        let passed = |rest| Passed {
            slots: [1, 2, 3, 4].map(minute).to_vec(),
            rest,
        };
        let within = Some((minute(2), minute(3)));
        for (all, inside, outside) in [
            (rest(2, 3), rest(2, 3), None),
            (rest(1, 3), None, rest(1, 3)),
            (rest(2, 4), None, rest(2, 4)),
        ] {
            let (of_it, others) = passed(all).parted(within);
            assert_eq!(of_it.slots, [2, 3].map(minute));
            assert_eq!(others.slots, [1, 4].map(minute));
            assert_eq!((of_it.rest, others.rest), (inside, outside));
        }
        let whole = passed(rest(5, 6)).parted(None);
        assert_eq!(whole, (Passed::default(), passed(rest(5, 6))));
    }

    #[test]
    fn slots_that_were_passed_over_are_listed() {
        let job = json!({"schedule": {"kind": "interval", "minutes": 30}});
        let stood: Timestamp = "2026-06-17T10:00:00Z".parse().unwrap();
        let now = stood + SignedDuration::from_mins(95);
        let missed = passed_over(job.as_object().unwrap(), stood, now, &TimeZone::UTC);
        assert_eq!(missed.rest, None);
        let minutes: Vec<_> = missed
            .slots
            .iter()
            .map(|at| at.duration_since(stood).as_mins())
            .collect();
        assert_eq!(minutes, [30, 60, 90]);
    }

    #[test]
    fn of_however_many_slots_none_is_left_out() {
        let job = json!({"schedule": {"kind": "cron", "expr": "* * * * *"}});
        let stood: Timestamp = "2026-06-17T10:00:00Z".parse().unwrap();
        let passed = |minutes: i64| {
            let now = stood + SignedDuration::from_mins(minutes);
            passed_over(job.as_object().unwrap(), stood, now, &TimeZone::UTC)
        };
        let minute = |count: i64| stood + SignedDuration::from_mins(count);
        assert_eq!(passed(500).rest, None);
        assert_eq!(passed(500).slots.len(), 500);
        let one_more = Rest {
            first: minute(501),
            last: minute(501),
            count: Some(1),
        };
        assert_eq!(passed(501).rest, Some(one_more));
        let day = passed(24 * 60).rest.unwrap();
        assert_eq!((day.last, day.count), (minute(1440), Some(940)));
        let counted = passed(500 + 20_000).rest.unwrap();
        assert_eq!(counted.count, Some(20_000));
        assert_eq!(passed(500 + 20_001).rest.unwrap().count, None);
        let month = passed(30 * 24 * 60).rest.unwrap();
        assert_eq!((month.first, month.last), (minute(501), minute(43_200)));
        assert_eq!(month.count, None, "they are too many to be counted");
    }
}
