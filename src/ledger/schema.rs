//! The schema of `cron/executions.db`: the other program's tables as it makes them, and ours beside
//! them. Everything is made only where it is not there; nothing of a store that exists is changed.

use super::{facts, group, incident, untold};

/// The table of attempts and its indexes, and the table of incidents, as Hermes Agent makes them.
pub const THEIRS: &str = "
CREATE TABLE IF NOT EXISTS executions (
    id TEXT PRIMARY KEY,
    job_id TEXT NOT NULL,
    source TEXT NOT NULL,
    process_id TEXT NOT NULL,
    pid INTEGER NOT NULL,
    process_started_at INTEGER,
    status TEXT NOT NULL CHECK(status IN ('claimed','running','completed','failed','unknown')),
    handoff_pending INTEGER NOT NULL DEFAULT 0,
    handoff_started_at REAL,
    claimed_at TEXT NOT NULL,
    started_at TEXT,
    finished_at TEXT,
    error TEXT,
    delivery_outcome TEXT,
    scheduled_instant TEXT,
    progress_at TEXT
);
CREATE INDEX IF NOT EXISTS idx_executions_job_claimed
    ON executions(job_id, claimed_at DESC, id DESC);
CREATE INDEX IF NOT EXISTS idx_executions_status_claimed
    ON executions(status, claimed_at DESC, id DESC);
CREATE INDEX IF NOT EXISTS idx_executions_job_instant_completed
    ON executions(job_id, scheduled_instant) WHERE status = 'completed';
CREATE TABLE IF NOT EXISTS cron_incidents (
    id TEXT PRIMARY KEY,
    job_id TEXT NOT NULL,
    error_sig TEXT NOT NULL,
    state TEXT NOT NULL,
    failure_type TEXT NOT NULL DEFAULT 'unknown',
    first_seen_at TEXT NOT NULL,
    last_seen_at TEXT NOT NULL,
    acked_at TEXT,
    alerted_at TEXT,
    closed_at TEXT,
    error TEXT,
    output_file TEXT
);
";

/// Our table of slots: what became of every instant that a schedule named.
///
/// - `job_id`, `scheduled_at`: the slot, its instant in UTC;
/// - `outcome`: a word of [`super::Outcome`];
/// - `reason`: why, where it did not run; `execution_id`: the attempt, where there is one;
/// - `recorded_at`: when this was written.
pub const SLOTS: &str = "
CREATE TABLE IF NOT EXISTS cron_slots (
    job_id TEXT NOT NULL,
    scheduled_at TEXT NOT NULL,
    outcome TEXT NOT NULL,
    reason TEXT,
    execution_id TEXT,
    recorded_at TEXT NOT NULL,
    PRIMARY KEY (job_id, scheduled_at)
);
CREATE INDEX IF NOT EXISTS idx_cron_slots_recorded ON cron_slots(recorded_at);
CREATE INDEX IF NOT EXISTS idx_cron_slots_execution
    ON cron_slots(execution_id) WHERE execution_id IS NOT NULL;
";

/// Our table of slots in a row of which the same became, where there are too many for a row each.
///
/// - `job_id`, `first_at`, `last_at`: the slots, their instants in UTC; `slots`: how many, if counted;
/// - `outcome`, `reason`, `recorded_at`: as in [`SLOTS`].
pub const SLOT_RANGES: &str = "
CREATE TABLE IF NOT EXISTS cron_slot_ranges (
    job_id TEXT NOT NULL,
    first_at TEXT NOT NULL,
    last_at TEXT NOT NULL,
    slots INTEGER,
    outcome TEXT NOT NULL,
    reason TEXT,
    recorded_at TEXT NOT NULL,
    PRIMARY KEY (job_id, first_at)
);
";

/// All statements, in their order.
#[must_use]
pub fn statements() -> String {
    format!(
        "{THEIRS}{SLOTS}{SLOT_RANGES}{}{}{}{};",
        incident::ENDS_SCHEMA,
        untold::SCHEMA,
        group::SCHEMA,
        facts::SCHEMA
    )
}
