//! What becomes of an order. Plain data.

/// What became of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It did not run, and that is right: paused meanwhile, still running, the slot taken.
    Skipped(String),
    /// It does not run now, and is still to be run: the next pass meets it again.
    Waits(String),
    /// It must not run; what would have to change is in the sentence.
    Refused(String),
    /// It should have run and could not be started.
    NotLaunched {
        /// The row, where there is one.
        execution_id: Option<String>,
        /// Why.
        error: String,
        /// It must not be: what would have to change is in the sentence.
        refused: bool,
    },
    /// It ran.
    Ended {
        /// The row.
        execution_id: String,
        /// It did what was asked.
        ok: bool,
        /// What went wrong.
        error: Option<String>,
    },
}

impl Fate {
    /// The slot has an attempt already.
    pub(super) fn slot_taken(execution_id: &str, status: &str) -> Self {
        Self::Skipped(format!(
            "its slot has an execution already ({execution_id}, {status})"
        ))
    }
}
