//! Lenient reading of the JSON rows in `state_meta` that both programs write. Owns the way in
//! (numbers as text, `null` for "default"); the shapes are in `loop_row` and `heartbeat_row`.

use serde_json::{Map, Value};

/// Why a stored row could not be read. An unreadable row is never an absent one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    /// The text is not a JSON object.
    #[error("not a JSON object: {0}")]
    NotAnObject(String),
    /// A field has a value that cannot mean what the field means.
    #[error("field `{field}` holds {value}")]
    Field {
        /// The name of the field.
        field: &'static str,
        /// The value, as JSON.
        value: String,
    },
}

/// Whether a timer of this row may fire, and if not, why not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Armed.
    Active,
    /// Stopped for now; `resume` arms it again.
    Paused,
    /// A loop that came to its end.
    Done,
    /// Stopped by someone; the row stays.
    Cleared,
    /// A word of another version. Never fires; written back as it is.
    Other(String),
}

impl Status {
    /// The word in the row.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Done => "done",
            Self::Cleared => "cleared",
            Self::Other(word) => word,
        }
    }

    /// The status of a word.
    #[must_use]
    pub fn of(word: &str) -> Self {
        match word {
            "active" => Self::Active,
            "paused" => Self::Paused,
            "done" => Self::Done,
            "cleared" => Self::Cleared,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// The fields of a row that are not read yet; what is left at the end is unknown and is kept.
#[derive(Debug)]
pub struct Fields(Map<String, Value>);

impl Fields {
    /// Parses the text of a row.
    ///
    /// # Errors
    /// [`RowError::NotAnObject`].
    pub fn parse(text: &str) -> Result<Self, RowError> {
        match serde_json::from_str(text) {
            Ok(Value::Object(fields)) => Ok(Self(fields)),
            Ok(_) => Err(RowError::NotAnObject("another kind of value".into())),
            Err(error) => Err(RowError::NotAnObject(error.to_string())),
        }
    }

    /// Takes a text; absent or `null` is the default.
    ///
    /// # Errors
    /// [`RowError::Field`] where the value is no text.
    pub fn text(&mut self, field: &'static str, default: &str) -> Result<String, RowError> {
        Ok(self
            .optional_text(field)?
            .unwrap_or_else(|| default.to_owned()))
    }

    /// Takes a text that may be absent or `null`.
    ///
    /// # Errors
    /// [`RowError::Field`] where the value is no text.
    pub fn optional_text(&mut self, field: &'static str) -> Result<Option<String>, RowError> {
        match self.0.shift_remove(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(value) => Err(RowError::Field {
                field,
                value: value.to_string(),
            }),
        }
    }

    /// Takes a number, also one written as text; absent or `null` is the default.
    ///
    /// # Errors
    /// [`RowError::Field`] where the value is no finite number.
    pub fn float(&mut self, field: &'static str, default: f64) -> Result<f64, RowError> {
        let value = self.0.shift_remove(field).unwrap_or(Value::Null);
        let number = match &value {
            Value::Null => Some(default),
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        number
            .filter(|number| number.is_finite())
            .ok_or_else(|| RowError::Field {
                field,
                value: value.to_string(),
            })
    }

    /// Takes a whole number that is not negative; a fraction is cut off, less than 0 is 0.
    ///
    /// # Errors
    /// [`RowError::Field`] where the value is no number.
    pub fn count(&mut self, field: &'static str, default: u64) -> Result<u64, RowError> {
        if let Some(value) = self.0.get(field).and_then(Value::as_u64) {
            self.0.shift_remove(field);
            return Ok(value);
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "counts are small; `as` saturates"
        )]
        Ok(self.float(field, default as f64)? as u64)
    }

    /// Takes a truth value, as Python's `bool` judges it: absent, `null`, 0 and empty are false.
    pub fn truth(&mut self, field: &str) -> bool {
        match self.0.shift_remove(field) {
            None | Some(Value::Null | Value::Bool(false)) => false,
            Some(Value::Number(number)) => number.as_f64() != Some(0.0),
            Some(Value::String(text)) => !text.is_empty(),
            Some(Value::Array(items)) => !items.is_empty(),
            Some(Value::Object(entries)) => !entries.is_empty(),
            Some(Value::Bool(true)) => true,
        }
    }

    /// Takes an object; absent or `null` is an empty one.
    ///
    /// # Errors
    /// [`RowError::Field`] where the value is no object.
    pub fn object(&mut self, field: &'static str) -> Result<Map<String, Value>, RowError> {
        match self.0.shift_remove(field) {
            None | Some(Value::Null) => Ok(Map::new()),
            Some(Value::Object(entries)) => Ok(entries),
            Some(value) => Err(RowError::Field {
                field,
                value: value.to_string(),
            }),
        }
    }

    /// The fields that nobody took.
    #[must_use]
    pub fn rest(self) -> Map<String, Value> {
        self.0
    }
}
