//! What an edit takes off a job. Pure.

use serde_json::{Value, json};

use super::{Wishes, name_of};
use crate::cron::job::RawJob;

/// Takes off what is to go of what only the other program does, and a name that is none: the job is then
/// named as a new one.
pub(super) fn take_off(job: &mut RawJob, wishes: &Wishes) {
    for key in wishes.clear.iter().copied() {
        match key {
            _ if !job.contains_key(key) => {}
            "skills" => drop(job.insert(key.into(), json!([]))),
            // They are only there where they say something.
            "reasoning_effort" | "failure_deliver" => drop(job.shift_remove(key)),
            _ => drop(job.insert(key.into(), Value::Null)),
        }
    }
    let name = wishes.name.as_deref();
    if name.is_some_and(|name| name.trim().is_empty()) {
        let text = |key: &str| job.get(key).and_then(Value::as_str).map(str::to_owned);
        let named_by = Wishes {
            prompt: text("prompt"),
            script: text("script"),
            monitor_script: text("monitor_script"),
            ..Wishes::default()
        };
        job.insert("name".into(), json!(name_of(&named_by)));
    }
}
