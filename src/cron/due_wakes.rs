//! Until when nothing happens to a job, whatever becomes of the world around it. Pure.
//!
//! What a record says decides that for nearly all jobs: those that wait, those that are off, those
//! that have ended, those that failed and are not silent for long enough. The others are awake: what
//! happens to them hangs on claims, runs and processes as well, and is asked anew at each pass.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::due::{Scene, is_ahead, is_done, is_idle};
use super::due_repair::{is_once_and_over, repeat_is_sound};
use super::job::Job;
use super::lateness;
use super::loose::Loose;
use super::next;
use super::other_clock;
use super::schedule::Schedule;
use super::stamp::Stamp;

/// When a job must be looked at next. `None`: not before the store changes; the instant of the scene:
/// it is awake. Of the world only a completed run of its slot can change that.
#[must_use]
pub fn wakes_at(job: &Job<'_>, scene: &Scene<'_>) -> Option<Timestamp> {
    if is_idle(job, scene) {
        return scene.zones.instant(job.next_run_at.text()?);
    }
    if !needs_no_repair(job) {
        return Some(scene.now);
    }
    if job.is_terminal() || !job.is_enabled() {
        return retires_at(job, scene);
    }
    if job.has_pause_marker() || !job.pending_slot.is_none() {
        return Some(scene.now);
    }
    if job.next_run_at.is_none() {
        // Without a schedule there is no next slot either.
        return job.schedule().is_ok().then_some(scene.now);
    }
    Some(waits_until(job, scene).unwrap_or(scene.now))
}

/// Whether the scan finds the record as it should be.
fn needs_no_repair(job: &Job<'_>) -> bool {
    let reads = |value: &Loose<'_>| match value {
        Loose::Absent | Loose::Null => true,
        Loose::Text(text) => Stamp::parse(text).is_some(),
        Loose::Bool(_) | Loose::Other(_) => false,
    };
    job.id.is_true()
        && job.schedule.other().is_some_and(Value::is_object)
        && reads(&job.next_run_at)
        && reads(&job.last_run_at)
        && repeat_is_sound(job)
}

/// When the record of a job that takes no part is removed.
fn retires_at(job: &Job<'_>, scene: &Scene<'_>) -> Option<Timestamp> {
    let ended = scene.zones.instant(job.last_run_at.text()?)?;
    let kept = scene.policy.completed_retention?;
    let over = is_once_and_over(job.state.text(), job.kind());
    over.then_some(())?;
    Some(ended.checked_add(kept).ok()?.max(scene.now))
}

/// Until when a job that takes part waits for its slot; `None`: it does not.
fn waits_until(job: &Job<'_>, scene: &Scene<'_>) -> Option<Timestamp> {
    let (id, stamp) = (job.id()?, Stamp::parse(job.next_run_at.text()?)?);
    let slot = stamp.instant(&scene.zones.system);
    let slot = slot.filter(|slot| *slot > scene.now)?;
    if job.is_manual() {
        return Some(slot);
    }
    let anew = || other_clock::planned_anew(job, scene.now, &scene.zones.configured);
    if is_done(id, slot, scene) || anew().is_some() {
        return None;
    }
    let ran = job.last_run_at.text().and_then(Stamp::parse);
    match ran {
        Some(ran) if is_ahead(ran, scene) => None,
        Some(ran) if job.is_recurring() && job.last_status.text() == Some("error") => {
            let ran = ran.instant(&scene.zones.system);
            Some(brought_forward_at(job, (ran?, slot), scene).min(slot))
        }
        _ => Some(slot),
    }
}

/// The first instant at which the slot of a failed job may be brought forward.
fn brought_forward_at(
    job: &Job<'_>,
    (ran, slot): (Timestamp, Timestamp),
    scene: &Scene<'_>,
) -> Timestamp {
    let zone = &scene.zones.configured;
    let bound = match job.schedule() {
        Ok(schedule @ Schedule::Interval { .. }) => {
            let cadence = lateness::cadence(&schedule, scene.now, zone).unwrap_or(0);
            cadence.saturating_add(lateness::grace_of(Some(cadence)))
        }
        Ok(schedule) => {
            let next = next::next_fire(&schedule, scene.now, zone);
            // It is the next one of its schedule: there is none before it.
            if next.is_none_or(|next| next.instant >= slot) {
                return slot;
            }
            // The distance of its slots changes with the time.
            lateness::MIN_GRACE_SECONDS
        }
        Err(_) => lateness::MIN_GRACE_SECONDS,
    };
    let silent = ran.checked_add(SignedDuration::from_secs(bound));
    let held = job.quota_hold_until.text();
    let held = held.and_then(|text| scene.zones.instant(text));
    let at = silent.unwrap_or(Timestamp::MAX);
    held.map_or(at, |held| held.max(at)).max(scene.now)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use jiff::tz::TimeZone;
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::due::{NoWitness, Policy, Witness, due};
    use super::super::job::RawJob;
    use super::super::next::Zones;
    use super::super::odd_jobs::{self, World};
    use super::*;

    fn scene<'a>(
        now: Timestamp,
        zones: &'a Zones,
        running: &'a HashSet<String>,
        witness: &'a dyn Witness,
    ) -> Scene<'a> {
        Scene {
            now,
            last_pass: None,
            zones,
            policy: Policy::default(),
            machine: "h:1",
            running,
            witness,
        }
    }

    fn wakes(job: &RawJob, now: &str) -> Option<String> {
        let (zones, running) = (Zones::of(TimeZone::UTC), HashSet::new());
        let now: Timestamp = now.parse().unwrap();
        let at = wakes_at(&Job::read(job), &scene(now, &zones, &running, &NoWitness));
        at.map(|at| {
            if at == now {
                "awake".into()
            } else {
                at.to_string()
            }
        })
    }

    fn job(more: &Value) -> RawJob {
        let mut job = json!({
            "id": "a", "enabled": true, "state": "scheduled", "last_status": "error",
            "schedule": {"kind": "interval", "minutes": 30},
            "next_run_at": "2026-06-17T10:30:00+00:00", "last_run_at": "2026-06-17T10:00:02+00:00",
        });
        let object = job.as_object_mut().unwrap();
        object.extend(more.as_object().unwrap().clone());
        object.clone()
    }

    #[test]
    fn a_job_sleeps_as_long_as_its_record_alone_says_what_happens() {
        const NOW: &str = "2026-06-17T10:10:00Z";
        let weekdays = json!({"kind": "cron", "expr": "0 9 * * 1-5"});
        let once = json!({"kind": "once", "run_at": "2026-06-17T10:00:00+00:00"});
        for (more, expected) in [
            (json!({}), Some("2026-06-17T10:30:00Z")),
            (
                json!({"next_run_at": "2026-06-18T10:30:00+00:00"}),
                Some("2026-06-17T10:45:02Z"),
            ),
            (
                json!({"next_run_at": "2026-06-18T10:30:00+00:00", "last_run_at": "2026-06-17T09:00:00+00:00"}),
                Some("awake"),
            ),
            (
                json!({"next_run_at": "2026-06-18T10:30:00+00:00", "last_run_at": "2026-06-17T09:00:00+00:00",
                       "quota_hold_until": "2026-06-17T15:00:00+00:00"}),
                Some("2026-06-17T15:00:00Z"),
            ),
            (
                json!({"schedule": weekdays, "next_run_at": "2026-06-18T09:00:00+00:00",
                       "last_run_at": "2026-06-10T09:00:00+00:00"}),
                Some("2026-06-18T09:00:00Z"),
            ),
            (
                json!({"next_run_at": "2026-06-17T11:00:00", "last_status": "ok"}),
                Some("2026-06-17T11:00:00Z"),
            ),
            (json!({"enabled": false}), None),
            (
                json!({"schedule": {"kind": "cron", "expr": "bogus"}, "next_run_at": null}),
                None,
            ),
            (
                json!({"schedule": once, "state": "completed", "next_run_at": null}),
                Some("2026-06-24T10:00:02Z"),
            ),
            (
                json!({"schedule": once, "state": "completed", "next_run_at": null,
                       "last_run_at": "2026-06-01T10:00:00+00:00"}),
                Some("awake"),
            ),
            (
                json!({"pending_slot": {"scheduled_at": "2026-06-17T10:00:00+00:00"}}),
                Some("awake"),
            ),
            (
                json!({"next_run_at": "2026-06-17T10:10:00+00:00"}),
                Some("awake"),
            ),
            (
                json!({"last_run_at": "2026-06-17T12:00:00+00:00"}),
                Some("awake"),
            ),
            (json!({"schedule": null}), Some("awake")),
            (json!({"id": 7}), Some("awake")),
        ] {
            let found = wakes(&job(&more), NOW);
            assert_eq!(found.as_deref(), expected, "{more}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        /// Whoever holds claims, lives, or runs meanwhile.
        #[test]
        fn nothing_happens_to_a_job_before_it_wakes(
            throws in odd_jobs::throws(), base in odd_jobs::start(), later in 0..1_000_000_i64,
            dead in prop::collection::hash_set("h:[1-3]", 0..3),
            (busy, is_open) in prop::sample::select(vec![(false, false), (true, false), (false, true)]),
            system in any::<bool>(),
        ) {
            let job = odd_jobs::job(&throws, base);
            let berlin = TimeZone::get("Europe/Berlin").unwrap();
            let zones = Zones {
                system: if system { TimeZone::UTC } else { berlin.clone() },
                configured: berlin,
            };
            let id = Job::read(&job).id().unwrap_or("7").to_owned();
            let running = if busy { HashSet::from([id.clone()]) } else { HashSet::new() };
            let open = if is_open { HashSet::from([id]) } else { HashSet::new() };
            let world = World { dead, open, ..World::default() };
            let none = HashSet::new();
            let at = wakes_at(&Job::read(&job), &scene(base, &zones, &none, &NoWitness));
            let slept = match at {
                Some(at) if at <= base => return Ok(()),
                Some(at) => at.duration_since(base).as_micros() - 1,
                None => i128::from(90 * 86_400) * 1_000_000,
            };
            let micros = i64::try_from(slept * i128::from(later) / 1_000_000).unwrap();
            for micros in [0, micros, i64::try_from(slept).unwrap()] {
                let now = base + SignedDuration::from_micros(micros);
                let found = due([(0, &job)], &scene(now, &zones, &running, &world), &mut String::new);
                prop_assert!(found.is_nothing(), "{} {:?} {:?}", now, found, job);
            }
        }
    }
}
