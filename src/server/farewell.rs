//! The record of a serve, once it was told to stop: whoever looks sees that nothing more fires, and why it is
//! still there.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::guard::Guard;
use super::instance::PRIVATE;
use crate::clock::Now;

/// What tells others that a serve stops.
#[derive(Debug)]
pub(super) struct Farewell {
    guard: Guard,
    path: PathBuf,
    record: Value,
}

impl Farewell {
    /// Over this record, which lies here.
    pub(super) fn new(guard: Guard, path: PathBuf, record: Value) -> Self {
        Self {
            guard,
            path,
            record,
        }
    }

    /// Writes down that it stops, since when, and for how many jobs it still waits. A record that cannot be
    /// written keeps no serve from stopping.
    pub(super) fn tell(&mut self, since: Now, jobs: usize) {
        if self.guard.is_lost() {
            return;
        }
        let since = since.wall.as_duration().as_secs_f64();
        if let Some(record) = self.record.as_object_mut() {
            record.insert("stopping".into(), json!({"since": since, "jobs": jobs}));
        }
        let _best_effort = PRIVATE.write(&self.path, self.record.to_string().as_bytes());
    }
}
