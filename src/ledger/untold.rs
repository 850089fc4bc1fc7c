//! Ends of attempts that their jobs are still to be told of: the ledger and the job store are two files, and
//! the one may be written while the other is locked or cannot be read.

use serde::{Deserialize, Serialize};

/// The table, made where it is not there. A row goes as soon as its job was told.
///
/// - `execution_id`: the attempt, whose row says how it ended;
/// - `claim`: the claim that was written into the job for it;
/// - `error`, `delivery_error`: what went wrong, as the job is told; `monitor_digest`: what a monitor has seen.
pub const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS untold_ends (
    execution_id TEXT PRIMARY KEY,
    claim TEXT,
    error TEXT,
    delivery_error TEXT,
    monitor_digest TEXT
);
";

/// An end that a job is to be told of, beside what the row of the attempt says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Untold {
    /// The attempt.
    pub execution_id: String,
    /// The claim that was written into the job for it.
    pub claim: Option<String>,
    /// What went wrong.
    pub error: Option<String>,
    /// Its result was not delivered, and why.
    pub delivery_error: Option<String>,
    /// Digest of what a monitor has seen.
    pub monitor_digest: Option<String>,
}
