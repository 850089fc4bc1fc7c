//! The slots that stand on the schedule once those that are due are handed out: what a pass writes, and a
//! dry run shows. Pure.

use serde_json::{Map, Value};

use super::due::{Change, Due, Order, OrderKind, Reason, Scene};
use super::job::RawJob;
use super::next::next_in_cadence;
use super::schedule::Schedule;

/// Adds to what a scan found what the pass itself changes.
pub fn foresee(found: &mut Due, jobs: &[RawJob], scene: &Scene<'_>) {
    for order in &found.orders {
        let changes = &mut found.changes;
        let at = changes
            .iter()
            .position(|change| change.index == order.index);
        let Some(mut job) = jobs.get(order.index).cloned() else {
            continue;
        };
        if let Some(change) = at.and_then(|at| changes.get(at)) {
            job.extend(change.set.clone());
        }
        let Some(next) = advanced(&job, order, scene) else {
            continue;
        };
        let at = at.unwrap_or(changes.len());
        if at == changes.len() {
            changes.push(unchanged(order));
        }
        if let Some(change) = changes.get_mut(at) {
            change.set.insert("next_run_at".to_owned(), next.into());
            change.reasons.push(Reason::Advanced);
        }
    }
}

fn unchanged(order: &Order) -> Change {
    Change {
        index: order.index,
        job_id: order.job_id.clone(),
        set: Map::new(),
        unset: Vec::new(),
        removed: false,
        reasons: Vec::new(),
    }
}

/// The slot that stands on the schedule once this one is handed out, as stored: an interval keeps its
/// cadence, also where it catches up. A run that somebody asked for hands out none.
#[must_use]
pub fn advanced(job: &RawJob, order: &Order, scene: &Scene<'_>) -> Option<String> {
    if order.kind == OrderKind::Manual {
        return None;
    }
    let stored = job.get("next_run_at").and_then(Value::as_str);
    let stored = stored.and_then(|text| scene.zones.instant(text));
    let slot = order.slot.map(|slot| slot.at).or(stored)?;
    let schedule = Schedule::from_json(job.get("schedule")?).ok()?;
    if !schedule.is_recurring() {
        return None;
    }
    let next = next_in_cadence(&schedule, slot, scene.now, &scene.zones.configured)?;
    Some(next.stamp.to_string())
}
