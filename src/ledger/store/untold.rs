//! The notes of ends that jobs are still to be told of.

use rusqlite::{Connection, params};

use super::{Ledger, Owner};
use crate::db::{self, Columns};
use crate::error::Result;
use crate::ledger::untold::Untold;

impl Ledger {
    /// Writes down that a job is to be told of the end of this attempt of its owner; to be written before that
    /// end. What was written before of the same attempt is replaced. `false`: the attempt has an end, or is
    /// somebody else's.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn record_untold(&self, end: &Untold, owner: &Owner) -> Result<bool> {
        self.change(
            "INSERT INTO untold_ends (execution_id, claim, error, delivery_error, monitor_digest)
             SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS (SELECT 1 FROM executions WHERE id = ?1
             AND status IN ('claimed', 'running') AND process_id = ?6 AND (pid = ?7 OR pid NOT BETWEEN 0 AND 4294967295))
             ON CONFLICT (execution_id) DO UPDATE SET claim = ?2, error = ?3, delivery_error = ?4,
             monitor_digest = ?5",
            params![
                end.execution_id,
                end.claim,
                end.error,
                end.delivery_error,
                end.monitor_digest,
                owner.process_id,
                owner.pid
            ],
        )
    }

    /// A job was told of the end of an attempt.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn forget_untold(&self, execution_id: &str) -> Result<()> {
        let sql = "DELETE FROM untold_ends WHERE execution_id = ?1";
        self.change(sql, params![execution_id]).map(drop)
    }

    /// Ends that jobs are to be told of: of one attempt, or all; not of attempts that go on.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn untold(&self, execution_id: Option<&str>) -> Result<Vec<Untold>> {
        self.read(|connection| untold_ends(connection, execution_id))
    }
}

/// The same of a ledger that may be of the other program.
///
/// # Errors
/// When SQLite refuses.
pub fn untold_ends(
    connection: &Connection,
    execution_id: Option<&str>,
) -> rusqlite::Result<Vec<Untold>> {
    if Columns::of(connection, "untold_ends")?.is_none() {
        return Ok(Vec::new());
    }
    let sql = "SELECT * FROM untold_ends WHERE (?1 IS NULL OR execution_id = ?1)
         AND execution_id NOT IN
         (SELECT id FROM executions WHERE status IN ('claimed', 'running'))";
    db::rows(connection, sql, [execution_id], |row| Untold {
        execution_id: row.text_or_empty("execution_id"),
        claim: row.text("claim"),
        error: row.text("error"),
        delivery_error: row.text("delivery_error"),
        monitor_digest: row.text("monitor_digest"),
    })
}
