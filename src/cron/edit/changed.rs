//! Which keys of a job a change has changed. Pure.

use serde_json::Value;

use crate::cron::job::RawJob;

/// Keys whose values differ, in the order of the new one; those of our own corner one by one.
#[must_use]
pub fn changed(before: &RawJob, after: &RawJob) -> Vec<String> {
    let mut keys = differing(before, after);
    if let Some(at) = keys.iter().position(|key| key == CORNER) {
        let own = differing(&corner(before), &corner(after));
        let own = own.into_iter().map(|key| format!("{CORNER}.{key}"));
        keys.splice(at..=at, own);
    }
    keys
}

fn differing(before: &RawJob, after: &RawJob) -> Vec<String> {
    let new = after
        .iter()
        .filter(|(key, value)| before.get(*key) != Some(*value))
        .map(|(key, _)| key.clone());
    let gone = before.keys().filter(|key| !after.contains_key(*key));
    new.chain(gone.cloned()).collect()
}

/// Our own corner of a job.
const CORNER: &str = "x_hermes";

fn corner(job: &RawJob) -> RawJob {
    let own = job.get(CORNER).and_then(Value::as_object);
    own.cloned().unwrap_or_default()
}
