//! What became of a run's message: written before it is sent, and again when that is known, so that
//! nobody sends it a second time.

use rusqlite::params;

use super::{Ledger, Owner};
use crate::error::Result;

/// The word for a message that may have been sent: whoever sent it did not live to say so.
pub const UNKNOWN: &str = "unknown";

impl Ledger {
    /// Writes down, before a message goes out, that it may have been sent. `false`: the row is not this
    /// owner's any more, or somebody has begun before.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn begin_delivery(&self, id: &str, owner: &Owner) -> Result<bool> {
        self.change(
            "UPDATE executions SET delivery_outcome = ?2 WHERE id = ?1 AND status = 'running'
             AND process_id = ?3 AND pid = ?4 AND delivery_outcome IS NULL",
            params![id, UNKNOWN, owner.process_id, owner.pid],
        )
    }

    /// Writes down what became of a message that was begun.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn settle_delivery(&self, id: &str, outcome: &str) -> Result<bool> {
        self.change(
            "UPDATE executions SET delivery_outcome = ?2 WHERE id = ?1 AND delivery_outcome = ?3",
            params![id, outcome, UNKNOWN],
        )
    }
}
