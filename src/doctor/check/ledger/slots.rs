//! The slots of a schedule, each found once: jobs are many, different schedules few.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::cron::next;
use crate::cron::schedule::Schedule;

/// The slots of one schedule in one zone, as far as anybody has asked for them.
#[derive(Debug)]
pub(super) struct Slots {
    /// The slots that are known are all those from here on, up to the last of them.
    from: Timestamp,
    known: Vec<Timestamp>,
}

impl Slots {
    /// None is known yet.
    pub(super) fn none() -> Self {
        Self {
            from: Timestamp::MIN,
            known: Vec::new(),
        }
    }

    /// The slots in `(from, to]`, in order, the first of them where they are more than `most`.
    pub(super) fn between(
        &mut self,
        (schedule, zone): (&Schedule, &TimeZone),
        (from, to): (Timestamp, Timestamp),
        most: usize,
    ) -> &[Timestamp] {
        let last = self.known.last().copied().unwrap_or(self.from);
        if from < self.from || from > last {
            (self.from, self.known) = (from, Vec::new());
        }
        let first = self.known.partition_point(|at| *at <= from);
        let last = self.known.last().copied().unwrap_or(self.from);
        let more = next::occurrences_between(schedule, None, (last, to), zone);
        let room = most.saturating_sub(self.known.len() - first);
        self.known.extend(more.map(|fire| fire.instant).take(room));
        let asked = self.known.get(first..).unwrap_or_default();
        let end = asked.partition_point(|at| *at <= to).min(most);
        asked.get(..end).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_774_000_000 + second).unwrap()
    }

    proptest! {
        #[test]
        fn what_is_asked_for_is_what_is_found_anew(
            expr in prop::sample::select(vec!["*/30 * * * *", "30 2 * * *", "0 9 * * 1-5"]),
            questions in prop::collection::vec((0..1_500_000_i64, 0..1_500_000_i64, 0..90_usize), 1..12),
        ) {
            // The hour from two to three is skipped within this time.
            let zone = crate::clock::zones::named("Europe/Berlin").unwrap();
            let schedule = Schedule::from_json(&serde_json::json!({"kind": "cron", "expr": expr}));
            let schedule = schedule.unwrap();
            let mut slots = Slots::none();
            for (from, to, most) in questions {
                let span = (at(from), at(to));
                let anew = next::occurrences_between(&schedule, None, span, &zone);
                let anew: Vec<_> = anew.map(|fire| fire.instant).take(most).collect();
                let got = slots.between((&schedule, &zone), span, most);
                prop_assert_eq!(got, anew);
            }
        }
    }
}
