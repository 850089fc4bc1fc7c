//! One attempt at a job, as the ledger has it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::db::Stamp;

/// Where an execution stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Taken off the schedule; nothing runs yet.
    Claimed,
    /// Adopted by whoever runs it.
    Running,
    /// Ended well.
    Completed,
    /// Ended badly.
    Failed,
    /// Its owner is gone, and how it ended is not known.
    Unknown,
    /// A word that a newer program may have added.
    Other(String),
}

impl Status {
    /// The statuses that nothing changes any more.
    pub const TERMINAL: [Self; 3] = [Self::Completed, Self::Failed, Self::Unknown];

    /// The word in the store.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::Claimed => "claimed",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
            Self::Other(word) => word,
        }
    }

    /// Whether nothing changes it any more.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        Self::TERMINAL.contains(self)
    }

    /// Whether the attempt has not ended yet.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Claimed | Self::Running)
    }
}

impl From<String> for Status {
    fn from(word: String) -> Self {
        match word.as_str() {
            "claimed" => Self::Claimed,
            "running" => Self::Running,
            "completed" => Self::Completed,
            "failed" => Self::Failed,
            "unknown" => Self::Unknown,
            _ => Self::Other(word),
        }
    }
}

/// One row of `executions`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Execution {
    /// 32 hex digits.
    pub id: String,
    /// The job it is an attempt at.
    pub job_id: String,
    /// Who started it: `builtin`, `direct`, or the name of a provider.
    pub source: String,
    /// 32 hex digits that one process of the owner keeps for its life.
    pub process_id: String,
    /// The owner's pid, in its own namespace.
    pub pid: Option<i64>,
    /// The owner's start time in clock ticks since boot.
    pub process_started_at: Option<i64>,
    /// Where it stands.
    pub status: Status,
    /// Offered to a worker that has not adopted it yet.
    pub handoff_pending: bool,
    /// Since when it is offered.
    pub handoff_started_at: Option<Timestamp>,
    /// When it was taken off the schedule.
    pub claimed_at: Option<Stamp>,
    /// When it began to run.
    pub started_at: Option<Stamp>,
    /// When it ended.
    pub finished_at: Option<Stamp>,
    /// What went wrong.
    pub error: Option<String>,
    /// What became of its message.
    pub delivery_outcome: Option<String>,
    /// The slot it is for; none for a manual run.
    pub scheduled_instant: Option<Stamp>,
    /// When it last showed progress.
    pub progress_at: Option<Stamp>,
}
