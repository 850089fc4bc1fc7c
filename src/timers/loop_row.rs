//! The row `loop:<session>` in `state_meta`, field by field. Owns its text; the rules of a loop are
//! in `loop_state`.

use serde_json::{Map, Value, json};

use super::python::{dumps, float};
use super::row::{Fields, RowError, Status};

/// The tick budget of a row that names none (`loops.max_ticks`).
pub const DEFAULT_MAX_TICKS: u64 = 100;

/// How a loop paces itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mode {
    /// Every `interval_seconds`.
    Interval,
    /// At its own pace: `current_delay` grows while nothing changes.
    SelfPaced,
    /// A word of another version; driven as self-paced, written back as it is.
    Other(String),
}

impl Mode {
    /// The word in the row.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::Interval => "interval",
            Self::SelfPaced => "self_paced",
            Self::Other(word) => word,
        }
    }
}

/// A loop as it is stored. Stamps are seconds since the epoch; 0.0 is "never".
#[derive(Debug, Clone, PartialEq)]
pub struct LoopRow {
    /// What every wake-up asks for.
    pub prompt: String,
    /// Whether it may fire.
    pub status: Status,
    /// Fixed or self-paced.
    pub mode: Mode,
    /// Seconds between two wake-ups of a fixed loop; 0.0 for a self-paced one.
    pub interval_seconds: f64,
    /// Seconds from the end of a turn to the next wake-up of a self-paced loop.
    pub current_delay: f64,
    /// How many wake-ups there are to be; 0 is no limit.
    pub times: u64,
    /// The condition that ends the loop; empty is none.
    pub until: String,
    /// After so many wake-ups the loop pauses; 0 is no limit.
    pub max_ticks: u64,
    /// Wake-ups whose turn began.
    pub ticks_fired: u64,
    /// When it was set.
    pub created_at: f64,
    /// When it fired last.
    pub last_fired_at: f64,
    /// When it is due.
    pub next_due_at: f64,
    /// Whether a wake-up is out and not answered.
    pub awaiting_response: bool,
    /// Digest of the last answer; empty before the first.
    pub last_response_digest: String,
    /// Why it is paused.
    pub paused_reason: Option<String>,
    /// Why it ended.
    pub last_stop_reason: Option<String>,
    /// Which messaging gateway drives it; empty for a loop that serve drives.
    pub route: Map<String, Value>,
    /// Fields of other versions, kept.
    pub unknown: Map<String, Value>,
}

impl LoopRow {
    /// Reads the text of a row.
    ///
    /// # Errors
    /// [`RowError`], where the text is no loop.
    pub fn parse(text: &str) -> Result<Self, RowError> {
        let mut fields = Fields::parse(text)?;
        Ok(Self {
            prompt: fields.text("prompt", "")?,
            status: Status::of(&fields.text("status", "active")?),
            mode: match fields.text("mode", "interval")? {
                word if word == "interval" => Mode::Interval,
                word if word == "self_paced" => Mode::SelfPaced,
                word => Mode::Other(word),
            },
            interval_seconds: fields.float("interval_seconds", 0.0)?,
            current_delay: fields.float("current_delay", 0.0)?,
            times: fields.count("times", 0)?,
            until: fields.text("until", "")?,
            max_ticks: fields.count("max_ticks", DEFAULT_MAX_TICKS)?,
            ticks_fired: fields.count("ticks_fired", 0)?,
            created_at: fields.float("created_at", 0.0)?,
            last_fired_at: fields.float("last_fired_at", 0.0)?,
            next_due_at: fields.float("next_due_at", 0.0)?,
            awaiting_response: fields.truth("awaiting_response"),
            last_response_digest: fields.text("last_response_digest", "")?,
            paused_reason: fields.optional_text("paused_reason")?,
            last_stop_reason: fields.optional_text("last_stop_reason")?,
            route: fields.object("route")?,
            unknown: fields.rest(),
        })
    }

    /// The text of the row, as the other program writes it: its order of fields, `", "` and `": "`,
    /// floats with a point; unknown fields at the end.
    #[must_use]
    pub fn text(&self) -> String {
        let mut row = Map::new();
        let mut put = |key: &str, value: Value| row.insert(key.to_owned(), value);
        put("prompt", json!(self.prompt));
        put("status", json!(self.status.word()));
        put("mode", json!(self.mode.word()));
        put("interval_seconds", float(self.interval_seconds));
        put("current_delay", float(self.current_delay));
        put("times", json!(self.times));
        put("until", json!(self.until));
        put("max_ticks", json!(self.max_ticks));
        put("ticks_fired", json!(self.ticks_fired));
        put("created_at", float(self.created_at));
        put("last_fired_at", float(self.last_fired_at));
        put("next_due_at", float(self.next_due_at));
        put("awaiting_response", json!(self.awaiting_response));
        put("last_response_digest", json!(self.last_response_digest));
        put("paused_reason", json!(self.paused_reason));
        put("last_stop_reason", json!(self.last_stop_reason));
        put("route", Value::Object(self.route.clone()));
        row.extend(self.unknown.clone());
        dumps(&Value::Object(row))
    }

    /// Whether a messaging gateway drives this loop: it has a platform and a chat.
    #[must_use]
    pub fn is_routed(&self) -> bool {
        let has = |key: &str| match self.route.get(key) {
            Some(Value::String(text)) => !text.is_empty(),
            Some(Value::Number(_)) => true,
            _ => false,
        };
        has("platform") && has("chat_id")
    }

    /// Whether no limit ends it: neither `--times` nor a tick budget.
    #[must_use]
    pub fn is_unbounded(&self) -> bool {
        self.times == 0 && self.max_ticks == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORED: &str = r#"{"prompt": "check the build", "status": "active", "mode": "interval", "interval_seconds": 300.0, "current_delay": 300.0, "times": 3, "until": "", "max_ticks": 100, "ticks_fired": 1, "created_at": 1795992000.2708564, "last_fired_at": 1795992000.2756484, "next_due_at": 1795992300.2770793, "awaiting_response": false, "last_response_digest": "", "paused_reason": null, "last_stop_reason": null, "route": {}}"#;
    const ROUTED: &str = r#"{"prompt": "watch the queue", "status": "paused", "mode": "self_paced", "interval_seconds": 0.0, "current_delay": 60.0, "times": 0, "until": "queue is empty", "max_ticks": 100, "ticks_fired": 0, "created_at": 1795992000.2785504, "last_fired_at": 0.0, "next_due_at": 1795992000.2785504, "awaiting_response": false, "last_response_digest": "", "paused_reason": "user-paused", "last_stop_reason": null, "route": {"platform": "telegram", "chat_id": "0", "chat_type": "dm", "thread_id": ""}}"#;

    #[test]
    fn stored_rows_come_back_byte_for_byte() {
        for text in [STORED, ROUTED] {
            assert_eq!(LoopRow::parse(text).unwrap().text(), text);
        }
    }

    #[test]
    fn unknown_fields_words_and_numbers_are_kept() {
        let text = STORED
            .replace("\"active\"", "\"snoozed\"")
            .replace("\"interval\",", "\"lunar\",")
            .replace(
                "\"route\": {}}",
                "\"route\": {}, \"mood\": [1.50, \"é\\n\"]}",
            );
        assert_eq!(LoopRow::parse(&text).unwrap().text(), text);
    }

    #[test]
    fn lenient_where_the_other_program_is() {
        let row = LoopRow::parse(
            r#"{"prompt":"a","times":"3","status":null,"interval_seconds":"5","route":null}"#,
        )
        .unwrap();
        assert_eq!(
            (row.times, row.interval_seconds, row.status),
            (3, 5.0, Status::Active)
        );
        assert_eq!(row.max_ticks, DEFAULT_MAX_TICKS);
    }

    #[test]
    fn unreadable_is_an_error() {
        for text in [
            "[]",
            "",
            "{",
            r#"{"prompt":1}"#,
            r#"{"times":"x"}"#,
            r#"{"route":[]}"#,
        ] {
            assert!(LoopRow::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_route_needs_platform_and_chat() {
        assert!(LoopRow::parse(ROUTED).unwrap().is_routed());
        assert!(
            !LoopRow::parse(r#"{"route":{"platform":"telegram","chat_id":""}}"#)
                .unwrap()
                .is_routed()
        );
        assert!(!LoopRow::parse(STORED).unwrap().is_routed());
    }
}
