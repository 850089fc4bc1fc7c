//! Slots that a change by hand takes off the schedule: those that had come and that nobody had run. Pure.

use jiff::{SignedDuration, Timestamp};

use super::catch_up::passed_over;
use super::finish;
use super::job::{Job, RawJob};
use super::next::Zones;
use super::unrun::Records;
use crate::ledger::Outcome;

/// What is to be recorded of the slots of a job that is changed like this, or removed.
#[must_use]
pub fn left(before: &RawJob, after: Option<&RawJob>, now: Timestamp, zones: &Zones) -> Records {
    let mut records = Records::default();
    let view = Job::read(before);
    let stays = after.is_some_and(|after| {
        let same = |key: &str| before.get(key) == after.get(key);
        same("next_run_at") && same("pending_slot")
    });
    let (Some(id), false) = (view.id(), stays || view.is_manual() || view.is_terminal()) else {
        return records;
    };
    let pending = view.pending_slot().map(|slot| slot.scheduled_at);
    let stood = pending.into_iter().chain(view.next_run_at.text());
    let stood = stood.filter_map(|text| zones.instant(text)).min();
    let Some(first) = stood.filter(|first| *first <= now) else {
        return records;
    };
    // It waits behind a run that was asked for.
    let kept = after.and_then(finish::set_aside);
    if kept.and_then(|kept| zones.instant(kept)) == Some(first) {
        return records;
    }
    let is_paused = view.has_pause_marker() || !view.is_enabled();
    let reason = match after {
        None => "the job was removed before it could run",
        Some(_) if is_paused => "the job was paused",
        Some(_) => "the job was changed before it could run",
    };
    let since = view.paused_at.text().and_then(|text| zones.instant(text));
    let since = since.filter(|_| is_paused && after.is_some());
    let before_pause = since.and_then(|since| since.checked_sub(INSTANT).ok());
    let mut passed = passed_over(before, first, now, &zones.configured);
    passed.slots.insert(0, first);
    let (missed, left_out) = passed.parted(before_pause.map(|last| (first, last)));
    records.add(id, &missed, (Outcome::Missed, BEFORE_PAUSE));
    records.add(id, &left_out, (Outcome::Skipped, reason));
    records
}

/// What lies between an instant and the one before it.
const INSTANT: SignedDuration = SignedDuration::from_nanos(1);
/// Why slots of the time before a pause did not run.
const BEFORE_PAUSE: &str = "nobody was there to run it, and the job was paused after it";

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;
    use serde_json::{Value, json};

    use super::*;

    fn job(more: &Value) -> RawJob {
        let mut job = json!({
            "id": "a", "enabled": true, "state": "scheduled",
            "schedule": {"kind": "interval", "minutes": 30},
            "next_run_at": "2026-06-17T09:00:00+00:00",
        });
        let object = job.as_object_mut().unwrap();
        object.extend(more.as_object().unwrap().clone());
        object.clone()
    }

    fn told(before: &RawJob, after: Option<&RawJob>) -> Vec<(String, String)> {
        let now = "2026-06-17T10:00:00Z".parse().unwrap();
        let records = left(before, after, now, &Zones::of(TimeZone::UTC));
        let slots = records.slots.into_iter();
        slots
            .map(|slot| {
                let at = slot.scheduled_at[11..16].to_owned();
                (at, slot.reason.unwrap_or_default())
            })
            .collect()
    }

    #[test]
    fn slots_that_had_come_are_told_with_why_they_go() {
        let moved = job(&json!({"next_run_at": "2026-06-17T10:30:00+00:00"}));
        let paused = json!({"enabled": false, "state": "paused", "paused_at": "x"});
        for (before, after, why) in [
            (job(&json!({})), Some(&moved), "changed"),
            (job(&paused), Some(&moved), "paused"),
            (job(&json!({})), None, "removed"),
        ] {
            let told = told(&before, after);
            let at: Vec<_> = told.iter().map(|(at, _)| at.as_str()).collect();
            assert_eq!(at, ["09:00", "09:30", "10:00"]);
            assert!(
                told.iter().all(|(_, reason)| reason.contains(why)),
                "{told:?}"
            );
        }
        let waits = json!({"scheduled_at": "2026-06-17T08:30:00+00:00"});
        let waits = job(&json!({"pending_slot": waits}));
        assert_eq!(told(&waits, Some(&moved)).len(), 4, "one waits to start");
    }

    #[test]
    fn what_stays_or_has_not_come_is_left_alone() {
        let stood = job(&json!({}));
        let renamed = job(&json!({"name": "x"}));
        assert!(
            told(&stood, Some(&renamed)).is_empty(),
            "it is still to run"
        );
        let to_come = job(&json!({"next_run_at": "2026-06-17T10:30:00+00:00"}));
        assert!(told(&to_come, None).is_empty());
        let over = job(&json!({"state": "completed", "enabled": false}));
        assert!(told(&over, None).is_empty());
    }
}
