//! The row `goal:<session>` in `state_meta`, as far as timers must know it: a goal that waits defers
//! the wake-ups of a loop. Goals are the other program's; nothing here writes one.

use super::row::{Fields, RowError, Status};

/// A goal as it is stored. Stamps are seconds since the epoch; 0.0 is "never".
#[derive(Debug, Clone, PartialEq)]
pub struct GoalRow {
    /// What is to be reached.
    pub goal: String,
    /// Whether it is being pursued.
    pub status: Status,
    /// Turns that it took so far.
    pub turns_used: u64,
    /// Turns that it may take.
    pub max_turns: u64,
    /// When it was set.
    pub created_at: f64,
    /// When its last turn was.
    pub last_turn_at: f64,
    /// Why it is paused.
    pub paused_reason: Option<String>,
    /// What it waits for, in words.
    pub waiting_reason: Option<String>,
    /// Since when it waits.
    pub waiting_since: f64,
    /// Until when it waits, if it waits for a moment.
    pub waiting_until: f64,
    /// The process it waits for.
    pub waiting_on_pid: Option<u64>,
    /// The session it waits for.
    pub waiting_on_session: Option<String>,
    /// How many delegations it waits for.
    pub waiting_on_delegations: u64,
}

/// The turns of a row that names none (`goals.max_turns`).
pub const DEFAULT_MAX_TURNS: u64 = 20;

impl GoalRow {
    /// Reads the text of a row.
    ///
    /// # Errors
    /// [`RowError`], where the text is no goal.
    pub fn parse(text: &str) -> Result<Self, RowError> {
        let mut fields = Fields::parse(text)?;
        Ok(Self {
            goal: fields.text("goal", "")?,
            status: Status::of(&fields.text("status", "active")?),
            turns_used: fields.count("turns_used", 0)?,
            max_turns: fields.count("max_turns", DEFAULT_MAX_TURNS)?,
            created_at: fields.float("created_at", 0.0)?,
            last_turn_at: fields.float("last_turn_at", 0.0)?,
            paused_reason: fields.optional_text("paused_reason")?,
            waiting_reason: fields.optional_text("waiting_reason")?,
            waiting_since: fields.float("waiting_since", 0.0)?,
            waiting_until: fields.float("waiting_until", 0.0)?,
            // No process has the pid 0.
            waiting_on_pid: Some(fields.count("waiting_on_pid", 0)?).filter(|&pid| pid != 0),
            waiting_on_session: fields.optional_text("waiting_on_session")?,
            waiting_on_delegations: fields.count("waiting_on_delegations", 0)?,
        })
    }

    /// Whether it waits for anything.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.waiting_on_pid.is_some()
            || self.waiting_on_session.is_some()
            || self.waiting_on_delegations > 0
            || self.waiting_until > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_waits_for_a_process_a_session_delegations_or_a_moment() {
        let waits = |text: &str| GoalRow::parse(text).map(|row| row.is_waiting());
        assert_eq!(
            waits(r#"{"waiting_on_pid": null, "waiting_until": 0.0}"#),
            Ok(false)
        );
        assert_eq!(waits(r#"{"waiting_on_pid": 7}"#), Ok(true));
        assert_eq!(waits(r#"{"waiting_on_session": "s"}"#), Ok(true));
        assert_eq!(waits(r#"{"waiting_on_delegations": 2}"#), Ok(true));
        assert_eq!(waits(r#"{"waiting_until": 1795992000.5}"#), Ok(true));
        assert!(waits("7").is_err());
    }
}
