//! The process groups that attempts have made: what is left in one when its worker is gone is known by this, and
//! by nothing that is only likely.

use serde::{Deserialize, Serialize};

/// The table, made where it is not there.
///
/// - `execution_id`, `pgid`: the attempt, and the number of the group: the pid of its leader;
/// - `leader_start`: when that leader began, in clock ticks since boot;
/// - `session`: the session that it was made in. The boot stands in `execution_facts`.
pub const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS execution_groups (
    execution_id TEXT NOT NULL,
    pgid INTEGER NOT NULL,
    leader_start INTEGER NOT NULL,
    session INTEGER NOT NULL,
    PRIMARY KEY (execution_id, pgid)
);
";

/// Drops the groups of executions that the ledger no longer keeps.
pub const PRUNE: &str =
    "DELETE FROM execution_groups WHERE execution_id NOT IN (SELECT id FROM executions)";

/// One row of `execution_groups`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Its number: the pid of its leader.
    pub number: u32,
    /// When that leader began, in clock ticks since boot.
    pub leader_start: u64,
    /// The session that it was made in.
    pub session: u32,
}
