//! One record on its way through the due scan: what it holds now, and what changed.

use serde_json::{Map, Value};

use super::due::{Change, Reason, Scene};
use super::schedule::{Schedule, StoredError};
use super::stamp::Stamp;

/// One job on its way through the scan.
pub(super) struct Pass<'s> {
    index: usize,
    raw: Map<String, Value>,
    schedule: Result<Schedule, StoredError>,
    scene: &'s Scene<'s>,
    /// Keys that were touched, with the values that they had.
    before: Vec<(String, Option<Value>)>,
    removed: bool,
    reasons: Vec<Reason>,
}

impl<'s> Pass<'s> {
    pub(super) fn new(index: usize, raw: &Map<String, Value>, scene: &'s Scene<'s>) -> Pass<'s> {
        let schedule = raw
            .get("schedule")
            .map_or(Err(StoredError::Kind), Schedule::from_json);
        Pass {
            index,
            raw: raw.clone(),
            schedule,
            scene,
            before: Vec::new(),
            removed: false,
            reasons: Vec::new(),
        }
    }

    pub(super) fn index(&self) -> usize {
        self.index
    }

    pub(super) fn raw(&self) -> &Map<String, Value> {
        &self.raw
    }

    pub(super) fn scene(&self) -> &'s Scene<'s> {
        self.scene
    }

    pub(super) fn schedule(&self) -> &Result<Schedule, StoredError> {
        &self.schedule
    }

    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.raw.get(key)
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.raw.get(key).and_then(Value::as_str)
    }

    /// The kind that the schedule claims, readable or not.
    pub(super) fn kind(&self) -> Option<&str> {
        self.raw.get("schedule")?.get("kind")?.as_str()
    }

    pub(super) fn is_recurring(&self) -> bool {
        matches!(self.kind(), Some("interval" | "cron"))
    }

    pub(super) fn set(&mut self, key: &str, value: Value, reason: Reason) {
        self.because(reason);
        self.touch(key);
        self.raw.insert(key.to_owned(), value);
    }

    pub(super) fn unset(&mut self, key: &str, reason: Reason) {
        self.because(reason);
        self.touch(key);
        self.raw.shift_remove(key);
    }

    pub(super) fn remove(&mut self, reason: Reason) {
        self.because(reason);
        self.removed = true;
    }

    fn because(&mut self, reason: Reason) {
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    pub(super) fn id(&self) -> String {
        match self.get("id") {
            Some(Value::String(id)) => id.clone(),
            Some(id) => id.to_string(),
            None => String::new(),
        }
    }

    pub(super) fn now_text(&self) -> Value {
        Value::from(Stamp::of(self.scene.now, &self.scene.zones.configured).to_string())
    }

    /// What the scan changed, if anything.
    pub(super) fn into_change(mut self) -> Option<Change> {
        let job_id = self.id();
        let (mut set, mut unset) = (Map::new(), Vec::new());
        for (key, before) in self.before {
            match (before, self.raw.swap_remove(&key)) {
                (Some(before), Some(after)) if before == after => {}
                (_, Some(after)) => {
                    set.insert(key, after);
                }
                (Some(_), None) => unset.push(key),
                (None, None) => {}
            }
        }
        if self.removed {
            (set, unset) = (Map::new(), Vec::new());
        }
        let changes = self.removed || !set.is_empty() || !unset.is_empty();
        let (index, removed, reasons) = (self.index, self.removed, self.reasons);
        changes.then_some(Change {
            index,
            job_id,
            set,
            unset,
            removed,
            reasons,
        })
    }

    fn touch(&mut self, key: &str) {
        if self.before.iter().all(|(touched, _)| touched != key) {
            self.before
                .push((key.to_owned(), self.raw.get(key).cloned()));
        }
    }
}
