//! Repairs of a job's record before the scan, and the end of completed one-shots.

use serde_json::{Map, Value};

use super::due::Reason;
use super::due_pass::Pass;
use super::job::Job;
use super::job::whole;
use super::loose::Loose;
use super::stamp::Stamp;

/// Whether `repeat` needs no repair: what it counts is a whole number that is not negative.
pub(super) fn repeat_is_sound(job: &Job<'_>) -> bool {
    job.repeat.other().is_none_or(counts_soundly)
}

/// The same of its value.
pub(super) fn counts_soundly(repeat: &Value) -> bool {
    repeat
        .get("completed")
        .is_none_or(|completed| completed.as_u64().is_some())
}

/// Gives the record an id, a schedule object, stamps that can be read and a count of its runs.
pub(super) fn repair(pass: &mut Pass<'_>, new_id: &mut dyn FnMut() -> String) {
    repair_id(pass, new_id);
    if !pass.get("schedule").is_some_and(Value::is_object) {
        pass.set("schedule", Value::Object(Map::new()), Reason::Repaired);
    }
    for key in ["next_run_at", "last_run_at"] {
        let broken = match pass.get(key) {
            None | Some(Value::Null) => false,
            Some(Value::String(text)) => Stamp::parse(text).is_none(),
            Some(_) => true,
        };
        if broken {
            pass.unset(key, Reason::Repaired);
        }
    }
    if !pass.get("repeat").is_none_or(counts_soundly) {
        let Some(Value::Object(repeat)) = pass.get("repeat") else {
            return;
        };
        let mut repeat = repeat.clone();
        let completed = repeat.get("completed").and_then(whole).unwrap_or(0).max(0);
        repeat.insert("completed".into(), Value::from(completed));
        pass.set("repeat", Value::Object(repeat), Reason::Repaired);
    }
}

fn repair_id(pass: &mut Pass<'_>, new_id: &mut dyn FnMut() -> String) {
    if pass.get("id").is_some_and(|id| Loose::from(id).is_true()) {
        return;
    }
    let older = pass
        .text("job_id")
        .filter(|id| !id.is_empty())
        .map(str::to_owned);
    let id = older.unwrap_or_else(new_id);
    pass.set("id", Value::from(id), Reason::Repaired);
    if pass.get("job_id").is_some() {
        pass.unset("job_id", Reason::Repaired);
    }
}

/// Whether a one-shot has had its run.
pub(super) fn is_once_and_over(state: Option<&str>, kind: Option<&str>) -> bool {
    state == Some("completed") && kind == Some("once")
}

/// Removes a completed one-shot whose last run is long past; true where it did.
pub(super) fn retire(pass: &mut Pass<'_>) -> bool {
    if !is_once_and_over(pass.text("state"), pass.kind()) {
        return false;
    }
    let scene = pass.scene();
    let ended = pass
        .text("last_run_at")
        .and_then(|text| scene.zones.instant(text));
    let kept = scene.policy.completed_retention;
    let old = ended.zip(kept);
    let old = old.is_some_and(|(ended, kept)| scene.now.duration_since(ended) > kept);
    if old {
        pass.remove(Reason::Retired);
    }
    old
}
