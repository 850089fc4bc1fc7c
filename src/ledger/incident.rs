//! A failure of a job that was seen, once or many times, as the ledger has it.

use serde::{Deserialize, Serialize};

use crate::db::Stamp;

/// Our table of incidents that ended by something else than a good run or a word about them.
///
/// - `incident_id`: the incident; `reason`: why it is closed. It says nothing of one that is open again.
pub const ENDS_SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS incident_ends (
    incident_id TEXT PRIMARY KEY,
    reason TEXT NOT NULL
);
";

/// The reason of incidents whose job was removed.
pub const REMOVED: &str = "removed";

/// Where an incident stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IncidentState {
    /// Seen; nobody was told.
    Detected,
    /// Somebody was told.
    Alerted,
    /// Gone by itself: a later run was good.
    Resolved,
    /// Closed by a person.
    Closed,
    /// A word that a newer program may have added.
    Other(String),
}

impl IncidentState {
    /// The word in the store.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::Detected => "detected",
            Self::Alerted => "alerted",
            Self::Resolved => "resolved",
            Self::Closed => "closed",
            Self::Other(word) => word,
        }
    }
}

impl From<String> for IncidentState {
    fn from(word: String) -> Self {
        match word.as_str() {
            "detected" => Self::Detected,
            "alerted" => Self::Alerted,
            "resolved" => Self::Resolved,
            "closed" => Self::Closed,
            _ => Self::Other(word),
        }
    }
}

/// One row of `cron_incidents`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incident {
    /// Six letters of the job's id, `_`, and the signature.
    pub id: String,
    /// The job.
    pub job_id: String,
    /// Twelve hex digits that are the same for the same failure of the same job.
    pub error_sig: String,
    /// Where it stands.
    pub state: IncidentState,
    /// The kind of failure, such as `timeout` or `auth`.
    pub failure_type: String,
    /// When it was first seen.
    pub first_seen_at: Option<Stamp>,
    /// When it was last seen.
    pub last_seen_at: Option<Stamp>,
    /// When a person took note of it.
    pub acked_at: Option<Stamp>,
    /// When somebody was last told.
    pub alerted_at: Option<Stamp>,
    /// When it was closed.
    pub closed_at: Option<Stamp>,
    /// Why it was closed, where that was no word of a person about it: `removed`, with its job.
    #[serde(default)]
    pub closed_because: Option<String>,
    /// The failure in words, redacted by its writer.
    pub error: String,
    /// Where the run's output lies.
    pub output_file: Option<String>,
}
