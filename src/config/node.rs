//! A document as it was written: values with the places where they stand. Pure.

use serde::{Deserialize, Serialize};

/// A place in a file, counted from 1 in lines and characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The character in the line.
    pub column: u32,
}

impl Place {
    /// The place of a byte in a text.
    #[must_use]
    pub fn of_byte(text: &str, at: usize) -> Self {
        let before = text.get(..at.min(text.len())).unwrap_or(text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Self {
            line: count(before.matches('\n').count() + 1),
            column: count(line.chars().count() + 1),
        }
    }
}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where it stands.
    pub at: Place,
    /// What it is.
    pub content: Content,
}

/// What a value is, whatever was expected.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Nothing, or YAML's null.
    Null,
    /// A truth value.
    Flag(bool),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction, or one too large for a whole number.
    Number(f64),
    /// Text, and all that is none of the others, such as a date.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A table; of keys that stand twice, the last one counts.
    Table(Vec<Entry>),
}

/// A key of a table with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key; keys that are no text are written as such.
    pub key: String,
    /// Where the key stands.
    pub at: Place,
    /// The value.
    pub node: Node,
}

impl Content {
    /// What it is, in a word for a message.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Flag(_) => "a truth value",
            Self::Integer(_) => "a whole number",
            Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

impl Node {
    /// The entries of a table; none of anything else.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        match &self.content {
            Content::Table(entries) => entries,
            _ => &[],
        }
    }

    /// The entry of a key; of several the last.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().rev().find(|entry| entry.key == key)
    }

    /// The entry at a dotted path.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<&Entry> {
        match path.split_once('.') {
            Some((first, rest)) => self.entry(first)?.node.find(rest),
            None => self.entry(path),
        }
    }
}

/// Why a file is no document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// Where it went wrong, if the parser knows.
    pub at: Option<Place>,
    /// What went wrong.
    pub message: String,
}
