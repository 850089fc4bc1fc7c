//! What the next pass makes of the jobs that are looked at: the scan itself is asked, so that a list
//! tells what a pass does. Pure.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use serde_json::Value;

use super::due::{self, Change, Due, NoWitness, Note, Policy, Reason, Scene, Witness};
use super::job::RawJob;
use super::next::Zones;
use super::view::{Standing, View};

/// Who looks, as far as the scan asks: nobody's claims and slots are its own.
const NOBODY: &str = "nobody";

/// What the next pass makes of a job, where it does not run it at its slot.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Foreseen {
    /// A one-shot goes: its time has passed.
    Missed,
    /// A one-shot goes: it has run as often as it should.
    Ended,
    /// It has no slot any more.
    Never(String),
    /// Its slot is passed by.
    Skipped(String),
    /// Its next run is another one.
    Moved(Timestamp),
    /// Its next run is brought forward, and why.
    Forward(Timestamp, &'static str),
}

/// What the next pass makes of jobs.
#[derive(Debug, Default)]
pub struct NextPass {
    found: HashMap<usize, Foreseen>,
}

impl NextPass {
    /// Of these jobs, under this policy and by what is known of runs.
    #[must_use]
    pub fn over(
        jobs: &[RawJob],
        (now, zones): (Timestamp, &Zones),
        policy: Policy,
        witness: Option<&dyn Witness>,
    ) -> Self {
        let running = HashSet::new();
        let scene = Scene {
            now,
            last_pass: None,
            zones,
            policy,
            machine: NOBODY,
            running: &running,
            witness: witness.unwrap_or(&NoWitness),
        };
        let mut new_id = || NOBODY.to_owned();
        let due = due::due(jobs.iter().enumerate(), &scene, &mut new_id);
        Self {
            found: found(&due, zones),
        }
    }

    /// The job at this place as the next pass leaves it.
    #[must_use]
    pub fn see(&self, index: usize, view: View) -> View {
        match self.found.get(&index) {
            Some(foreseen) if view.state.is_armed() => foreseen.of(view),
            _ => view,
        }
    }
}

/// Takes out of a scan what it says of jobs that it does not hand out.
fn found(due: &Due, zones: &Zones) -> HashMap<usize, Foreseen> {
    let mut found = HashMap::new();
    let orders = due.orders.iter().chain(&due.held);
    let handed_out: HashMap<_, _> = orders.map(|order| (order.index, order.slot)).collect();
    for change in &due.changes {
        let foreseen = match (handed_out.get(&change.index), forward(change)) {
            (Some(slot), Some(why)) => slot.map(|slot| Foreseen::Forward(slot.at, why)),
            (Some(_), None) => None,
            (None, _) => changed(change, zones),
        };
        found.extend(foreseen.map(|foreseen| (change.index, foreseen)));
    }
    for late in &due.passed_by {
        found.insert(late.index, Foreseen::Skipped(late.reason.clone()));
    }
    for note in &due.notes {
        let (index, foreseen) = match note {
            Note::MissedOnce { index, .. } => (index, Foreseen::Missed),
            Note::Unreadable { index, why, .. } => (index, Foreseen::Never(why.clone())),
        };
        found.insert(*index, foreseen);
    }
    found
}

/// Why a pass brings a next run forward, where it does.
fn forward(change: &Change) -> Option<&'static str> {
    change.reasons.iter().find_map(|reason| match reason {
        Reason::Rearmed => Some("its last run failed, and it has been silent since"),
        Reason::ClockWentBack => Some("the clock was set back, and it lies too far off"),
        _ => None,
    })
}

fn changed(change: &Change, zones: &Zones) -> Option<Foreseen> {
    let because = |reason| change.reasons.contains(&reason);
    let text = |key: &str| change.set.get(key).and_then(Value::as_str);
    if because(Reason::OnceMissed) || because(Reason::OnceWedged) {
        return Some(Foreseen::Missed);
    }
    if change.removed || text("state") == Some("completed") {
        return Some(Foreseen::Ended);
    }
    let next = text("next_run_at").and_then(|at| zones.instant(at))?;
    Some(forward(change).map_or(Foreseen::Moved(next), |why| Foreseen::Forward(next, why)))
}

impl Foreseen {
    fn of(&self, mut view: View) -> View {
        let (state, because) = match self {
            Self::Missed if view.state == Standing::Missed => return view,
            Self::Missed => {
                let why = "its one time passed, and the next pass removes it";
                (Standing::Missed, Some(why.to_owned()))
            }
            Self::Ended => (Standing::Completed, None),
            Self::Never(why) if view.state != Standing::Never => {
                (Standing::Never, Some(why.clone()))
            }
            Self::Skipped(why) if view.overdue_seconds.is_some() => {
                let why = format!("the next pass passes it by: {why}");
                (view.state, Some(why))
            }
            Self::Moved(next) if view.is_moved() => {
                view.next = Some(*next);
                (Standing::Active, None)
            }
            Self::Forward(next, why) if view.state == Standing::Active => {
                view.next = Some(*next);
                let why = format!("{why}: the next pass brings its next run forward");
                (Standing::Active, Some(why))
            }
            Self::Never(_) | Self::Skipped(_) | Self::Moved(_) | Self::Forward(..) => return view,
        };
        if state != Standing::Overdue {
            view.overdue_seconds = None;
        }
        (view.state, view.because) = (state, because);
        view
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::job::Job;
    use super::super::view::view;
    use super::*;

    const NOW: &str = "2026-06-17T10:00:00Z";

    fn all_seen(more: &[Value]) -> Vec<View> {
        let now: Timestamp = NOW.parse().unwrap();
        let zones = Zones::of(jiff::tz::TimeZone::UTC);
        let job = json!({
            "id": "a", "name": "a", "script": "x.sh", "no_agent": true, "enabled": true,
            "state": "scheduled", "repeat": {"times": null, "completed": 0},
            "schedule": {"kind": "interval", "minutes": 30, "display": "every 30m"},
            "next_run_at": "2026-06-17T08:00:00+00:00",
        });
        let with = |more: &Value| {
            let mut job = job.as_object().unwrap().clone();
            job.extend(more.as_object().unwrap().clone());
            job
        };
        let jobs: Vec<_> = more.iter().map(with).collect();
        let pass = NextPass::over(&jobs, (now, &zones), Policy::default(), None);
        let see = |(index, job)| pass.see(index, view(&Job::read(job), now, &zones));
        jobs.iter().enumerate().map(see).collect()
    }

    fn seen(more: &Value) -> View {
        all_seen(std::slice::from_ref(more)).remove(0)
    }

    #[test]
    fn what_is_noted_of_a_job_is_not_told_of_another_of_its_id() {
        let dead = json!({"schedule": {"kind": "cron", "expr": "0 0 30 2 *"}});
        let seen = all_seen(&[json!({}), dead]);
        let states = [seen[0].state, seen[1].state];
        assert_eq!(states, [Standing::Overdue, Standing::Never]);
    }

    #[test]
    fn a_late_slot_is_overdue_and_one_that_is_passed_by_says_so() {
        let late = seen(&json!({}));
        assert_eq!(
            (late.state, late.overdue_seconds, late.because),
            (Standing::Overdue, Some(7200), None)
        );
        let skipped = seen(&json!({"x_hermes": {"catch_up": "skip"}}));
        assert_eq!(skipped.state, Standing::Overdue);
        assert!(skipped.because.unwrap().contains("passes it by"));
    }

    #[test]
    fn a_job_without_a_next_run_gets_one() {
        let given = seen(&json!({"next_run_at": null}));
        assert_eq!(given.state, Standing::Active);
        assert!(given.next.is_some() && given.next_run_at.is_none());
    }

    #[test]
    fn a_failed_job_that_a_pass_brings_forward_shows_what_the_pass_makes_of_it() {
        let far = json!({
            "next_run_at": "2026-06-17T20:00:00+00:00", "last_status": "error",
            "last_run_at": "2026-06-17T05:00:00+00:00",
        });
        let soon = seen(&far);
        assert_eq!(soon.next, NOW.parse().ok(), "an interval runs at once");
        assert!(soon.because.unwrap().contains("silent since"));
        let mut hourly = far;
        hourly["schedule"] = json!({"kind": "cron", "expr": "0 * * * *"});
        let soon = seen(&hourly);
        assert_eq!(soon.next, "2026-06-17T11:00:00Z".parse().ok());
        assert_eq!(soon.state, Standing::Active);
    }

    #[test]
    fn a_slot_with_none_behind_it_is_run_in_time_and_not_late() {
        let never = json!({"kind": "cron", "expr": "0 0 30 2 *"});
        for (at, state) in [
            ("2026-06-17T08:00:00+00:00", Standing::Never),
            ("2026-06-17T12:00:00+00:00", Standing::Active),
        ] {
            let dead = seen(&json!({"schedule": never, "state": "error", "next_run_at": at}));
            assert_eq!((dead.state, dead.overdue_seconds), (state, None), "{at}");
        }
    }

    #[test]
    fn a_one_shot_that_ran_by_hand_and_missed_its_time_is_missed() {
        let at = "2026-06-17T08:00:00+00:00";
        let once = seen(&json!({
            "schedule": {"kind": "once", "run_at": at}, "next_run_at": at,
            "repeat": {"times": 1, "completed": 0}, "last_run_at": "2026-06-17T07:00:00+00:00",
        }));
        assert_eq!((once.state, once.overdue_seconds), (Standing::Missed, None));
    }
}
