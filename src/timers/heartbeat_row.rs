//! The row `heartbeat:<session>` in `state_meta`, field by field. Owns its text; the rules of a
//! heartbeat are in `heartbeat`.

use serde_json::{Map, Value, json};

use super::python::{dumps, float};
use super::row::{Fields, RowError, Status};

/// A heartbeat as it is stored. Stamps are seconds since the epoch; 0.0 is "never".
#[derive(Debug, Clone, PartialEq)]
pub struct HeartbeatRow {
    /// What every beat asks for.
    pub prompt: String,
    /// Seconds between two beats.
    pub interval_seconds: u64,
    /// Whether it may fire.
    pub status: Status,
    /// When it was set.
    pub created_at: f64,
    /// When it beat last, or was resumed.
    pub last_fired_at: f64,
    /// Beats whose turn began.
    pub fire_count: u64,
    /// Fields of other versions, kept.
    pub unknown: Map<String, Value>,
}

impl HeartbeatRow {
    /// Reads the text of a row.
    ///
    /// # Errors
    /// [`RowError`], where the text is no heartbeat.
    pub fn parse(text: &str) -> Result<Self, RowError> {
        let mut fields = Fields::parse(text)?;
        Ok(Self {
            prompt: fields.text("prompt", "")?,
            interval_seconds: fields.count("interval_seconds", 0)?,
            status: Status::of(&fields.text("status", "active")?),
            created_at: fields.float("created_at", 0.0)?,
            last_fired_at: fields.float("last_fired_at", 0.0)?,
            fire_count: fields.count("fire_count", 0)?,
            unknown: fields.rest(),
        })
    }

    /// The text of the row, as the other program writes it; unknown fields at the end.
    #[must_use]
    pub fn text(&self) -> String {
        let mut row = Map::new();
        row.insert("prompt".into(), json!(self.prompt));
        row.insert("interval_seconds".into(), json!(self.interval_seconds));
        row.insert("status".into(), json!(self.status.word()));
        row.insert("created_at".into(), float(self.created_at));
        row.insert("last_fired_at".into(), float(self.last_fired_at));
        row.insert("fire_count".into(), json!(self.fire_count));
        row.extend(self.unknown.clone());
        dumps(&Value::Object(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_rows_come_back_byte_for_byte() {
        let text = r#"{"prompt": "check mail", "interval_seconds": 600, "status": "active", "created_at": 1795992000.2846057, "last_fired_at": 0.0, "fire_count": 0, "tone": "calm"}"#;
        assert_eq!(HeartbeatRow::parse(text).unwrap().text(), text);
    }

    #[test]
    fn lenient_where_the_other_program_is() {
        let row =
            HeartbeatRow::parse(r#"{"prompt":"a","interval_seconds":60.5,"fire_count":null}"#);
        assert_eq!(
            row.map(|row| (row.interval_seconds, row.fire_count)),
            Ok((60, 0))
        );
        assert!(HeartbeatRow::parse("null").is_err());
    }
}
