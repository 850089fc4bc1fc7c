//! How many overdue jobs one pass starts: after an outage they would all start at once. Pure.

use std::collections::HashSet;

use jiff::Timestamp;

use super::due::{Due, Order, Reason};

/// An overdue job that may be left to a later pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// When its slot would be too late, by its own policy or by the operator's.
    pub lapses: Option<Timestamp>,
}

/// Leaves what is overdue beyond so many jobs to the next pass: their records stay as they are, and so
/// it finds them again. First come those that would be too late soonest, then the oldest.
pub(super) fn hold(found: &mut Due, most: usize) {
    let mut overdue: Vec<_> = found
        .orders
        .iter()
        .filter_map(|order| Some((order.wait?.lapses.unwrap_or(Timestamp::MAX), order)))
        .collect();
    overdue.sort_by(|(one, earlier), (other, later)| {
        let oldest = later.late_seconds.total_cmp(&earlier.late_seconds);
        one.cmp(other).then(oldest)
    });
    let held: Vec<Order> = overdue
        .into_iter()
        .skip(most)
        .map(|(_, order)| order.clone())
        .collect();
    let places: HashSet<usize> = held.iter().map(|order| order.index).collect();
    found.orders.retain(|order| !places.contains(&order.index));
    found
        .changes
        .retain(|change| !places.contains(&change.index));
    found.held = held;
}

/// How many jobs catch up.
pub(super) fn catch_ups(found: &Due) -> usize {
    let caught_up = |reasons: &[Reason]| reasons.contains(&Reason::CaughtUp);
    let changes = found.changes.iter();
    changes.filter(|change| caught_up(&change.reasons)).count()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use jiff::SignedDuration;
    use jiff::tz::TimeZone;
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::super::due::{NoWitness, Policy, Scene, due};
    use super::super::next::Zones;
    use super::*;

    fn start() -> Timestamp {
        "2026-06-17T10:00:30Z".parse().unwrap()
    }

    /// A daily job that is so late.
    fn job(index: usize, late_minutes: i64, own: &Value) -> Map<String, Value> {
        let slot = start() - SignedDuration::from_mins(late_minutes);
        let job = json!({
            "id": format!("j{index}"), "enabled": true, "state": "scheduled",
            "schedule": {"kind": "interval", "minutes": 1440},
            "repeat": {"times": null, "completed": 0}, "last_run_at": null,
            "next_run_at": slot.to_string(), "x_hermes": own,
        });
        job.as_object().unwrap().clone()
    }

    fn pass(jobs: &[Map<String, Value>], now: Timestamp, last_pass: Option<Timestamp>) -> Due {
        let scene = Scene {
            now,
            last_pass,
            zones: &Zones::of(TimeZone::UTC),
            policy: Policy {
                max_catch_ups: Some(4),
                ..Policy::default()
            },
            machine: "h:1",
            running: &HashSet::new(),
            witness: &NoWitness,
        };
        due(jobs.iter().enumerate(), &scene, &mut String::new)
    }

    fn ids(orders: &[Order]) -> Vec<&str> {
        orders.iter().map(|order| order.job_id.as_str()).collect()
    }

    #[test]
    fn b78_the_oldest_go_first_and_what_would_lapse_before_them() {
        let hours = [20, 40, 30, 50, 10, 60].map(|hours| hours * 60);
        let mut jobs: Vec<_> = (0..)
            .zip(hours)
            .map(|(n, late)| job(n, late, &json!({})))
            .collect();
        jobs.push(job(6, 0, &json!({})));
        jobs.push(job(7, 70 * 60, &json!({"catch_up": "skip"})));
        jobs.push(job(
            8,
            150,
            &json!({"catch_up": {"max_lateness_seconds": 10_000}}),
        ));
        let found = pass(&jobs, start(), None);
        assert_eq!(ids(&found.orders), ["j1", "j3", "j5", "j6", "j8"]);
        assert_eq!(ids(&found.held), ["j2", "j0", "j4"]);
        assert_eq!(found.passed_by[0].job_id, "j7");
        assert_eq!(found.catch_ups, 4);
        let changed: Vec<_> = found.changes.iter().map(|change| change.index).collect();
        assert_eq!(
            changed,
            [1, 3, 5, 6, 7, 8],
            "those that wait stay as they are"
        );
    }

    #[test]
    fn a_job_whose_own_slot_comes_meanwhile_does_not_wait() {
        let mut jobs: Vec<_> = (0..6).map(|n| job(n, 3000, &json!({}))).collect();
        let slot = start() - SignedDuration::from_mins(3000) - SignedDuration::from_secs(30);
        jobs[5] = job(5, 1, &json!({}));
        jobs[5].insert("schedule".into(), json!({"kind": "interval", "minutes": 1}));
        jobs[5].insert("next_run_at".into(), slot.to_string().into());
        for (more, last_pass) in [(0, None), (1, Some(start()))] {
            jobs[4].insert(
                "next_run_at".into(),
                (slot - SignedDuration::from_mins(9)).to_string().into(),
            );
            let found = pass(&jobs, start() + SignedDuration::from_mins(more), last_pass);
            assert_eq!(found.orders.len(), 4 + usize::from(more == 1), "{found:?}");
            assert!(more == 0 || ids(&found.orders).contains(&"j5"));
        }
    }

    proptest! {
        /// Whatever is overdue: so many in each pass, all of them in the end, and nobody who is on time
        /// waits for them.
        #[test]
        fn nothing_is_lost_and_whoever_is_on_time_starts(
            late in prop::collection::vec(-30..3000_i64, 0..30),
        ) {
            let mut jobs: Vec<_> = late.iter().enumerate().map(|(n, late)| job(n, *late, &json!({}))).collect();
            let mut started = HashSet::new();
            let mut last_pass = None;
            for minute in 0..40 {
                let now = start() + SignedDuration::from_mins(minute);
                let found = pass(&jobs, now, last_pass);
                last_pass = Some(now);
                prop_assert!(found.orders.iter().filter(|order| order.wait.is_some()).count() <= 4);
                prop_assert!(found.held.iter().all(|order| order.late_seconds > 300.0));
                prop_assert!(found.held.is_empty() || found.orders.len() >= 4);
                for order in &found.orders {
                    prop_assert!(started.insert(order.index), "once");
                    let next = (now + SignedDuration::from_hours(24)).to_string();
                    jobs[order.index].insert("next_run_at".into(), next.into());
                }
            }
            prop_assert_eq!(started.len(), late.len(), "all, in the end");
        }
    }
}
