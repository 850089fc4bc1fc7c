//! What becomes of a slot: an instant that a job's schedule names. Every slot has one outcome; nothing
//! is dropped in silence.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What became of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// An attempt was made of it; its row tells the rest.
    Run,
    /// An attempt is under way.
    Running,
    /// It was passed over on purpose: policy, a pause, a run still going on.
    Skipped,
    /// Nobody was there to run it.
    Missed,
    /// It must not run: the job needs what we do not do, or isolation that the operator asked for.
    Refused,
}

impl Outcome {
    /// The word in the store.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Running => "running",
            Self::Skipped => "skipped",
            Self::Missed => "missed",
            Self::Refused => "refused",
        }
    }

    /// The outcome of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [
            Self::Run,
            Self::Running,
            Self::Skipped,
            Self::Missed,
            Self::Refused,
        ]
        .into_iter()
        .find(|outcome| outcome.word() == word)
    }
}

/// The slot that an attempt is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotAt {
    /// Its instant.
    pub at: Timestamp,
    /// Whether it was written as a wall clock without an offset. The row of an attempt, which Hermes Agent
    /// reads as well, then names no slot: only our own record does.
    pub is_naive: bool,
}

impl SlotAt {
    /// The instant that the row of an attempt names.
    #[must_use]
    pub fn named(self) -> Option<Timestamp> {
        (!self.is_naive).then_some(self.at)
    }
}

impl From<Timestamp> for SlotAt {
    fn from(at: Timestamp) -> Self {
        let is_naive = false;
        Self { at, is_naive }
    }
}

/// One row of `cron_slot_ranges`: slots in a row of which the same became.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotRange {
    /// The job.
    pub job_id: String,
    /// The first instant, ISO in UTC.
    pub first_at: String,
    /// The last one; no slot of the job up to here is left out.
    pub last_at: String,
    /// How many there are; `None`: so many that they were not counted.
    pub count: Option<i64>,
    /// What became of each.
    pub outcome: Outcome,
    /// Why.
    pub reason: Option<String>,
}

/// One row of `cron_slots`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    /// The job.
    pub job_id: String,
    /// The instant, ISO in UTC.
    pub scheduled_at: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Why, where it did not run.
    pub reason: Option<String>,
    /// The attempt, where there is one.
    pub execution_id: Option<String>,
}
