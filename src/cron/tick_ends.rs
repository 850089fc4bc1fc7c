//! How the ticks of a scheduler that goes round end, by its markers: one judgement for `list`, `status`
//! and the doctor. Pure.

use jiff::Timestamp;

use crate::output::human;

/// A marker is fresh for so long, in seconds: three ticks and a bit, as in Hermes Agent.
pub const FRESH: i64 = 200;

/// How ticks end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TickEnds {
    /// The last one ended well.
    Well,
    /// None has ended yet, well or not.
    Unknown,
    /// The last one failed, and a good one is not long ago.
    LastFailed,
    /// The last good one is so many seconds ago, and one has failed since.
    FailingFor(i64),
    /// The last good one is so many seconds ago, and none has failed since: a pass that finds the tick lock
    /// held leaves its heartbeat, and neither a success nor an error.
    LeftOutFor(i64),
    /// One failed, and none has ever ended well.
    NeverWell,
}

impl TickEnds {
    /// From when the last good tick was, and when the last one failed.
    #[must_use]
    pub fn of(good: Option<Timestamp>, failed: Option<Timestamp>, now: Timestamp) -> Self {
        let Some(good) = good else {
            return failed.map_or(Self::Unknown, |_| Self::NeverWell);
        };
        let age = now.duration_since(good).as_secs();
        match (age > FRESH, failed > Some(good)) {
            (true, true) => Self::FailingFor(age),
            (true, false) => Self::LeftOutFor(age),
            (false, true) => Self::LastFailed,
            (false, false) => Self::Well,
        }
    }

    /// What is wrong, as a fragment; none where nothing is.
    #[must_use]
    pub fn fault(self) -> Option<String> {
        match self {
            Self::Well => None,
            Self::Unknown => Some("ticking, but no tick has ended well yet".to_owned()),
            Self::LastFailed => Some("the last tick failed".to_owned()),
            Self::FailingFor(age) => Some(format!(
                "ticks have been failing for {}",
                human::duration(age)
            )),
            Self::LeftOutFor(age) => Some(format!(
                "ticks have been left out for {}, since somebody else held the tick lock",
                human::duration(age)
            )),
            Self::NeverWell => Some("no tick has ever ended well".to_owned()),
        }
    }

    /// Whether no job is started while it stays so.
    #[must_use]
    pub fn is_failing(self) -> bool {
        matches!(
            self,
            Self::FailingFor(_) | Self::LeftOutFor(_) | Self::NeverWell
        )
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn b40_a_failure_counts_by_how_long_ago_the_last_good_tick_was() {
        let now: Timestamp = "2026-06-17T10:00:00Z".parse().unwrap();
        let of = |good: Option<i64>, failed: Option<i64>| {
            let ago = |ago| now - SignedDuration::from_secs(ago);
            TickEnds::of(good.map(ago), failed.map(ago), now)
        };
        assert_eq!(of(None, None), TickEnds::Unknown);
        assert_eq!(of(None, Some(20)), TickEnds::NeverWell);
        assert_eq!(of(Some(30), None), TickEnds::Well);
        assert_eq!(of(Some(30), Some(90)), TickEnds::Well);
        assert_eq!(of(Some(90), Some(30)), TickEnds::LastFailed);
        assert_eq!(of(Some(FRESH), Some(30)), TickEnds::LastFailed);
        assert_eq!(of(Some(347), Some(30)), TickEnds::FailingFor(347));
        assert_eq!(of(Some(347), None), TickEnds::LeftOutFor(347));
        assert_eq!(of(Some(347), Some(400)), TickEnds::LeftOutFor(347));
        assert!(of(Some(347), None).is_failing());
        assert!(of(None, Some(20)).is_failing() && !of(Some(90), Some(30)).is_failing());
    }
}
