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

/// The places of bytes in a text, each found in a time that does not grow with the text.
#[derive(Debug)]
pub struct Places<'t> {
    text: &'t [u8],
    /// Where each line starts.
    lines: Vec<usize>,
    /// How many characters start before every [`STEP`]th byte.
    steps: Vec<usize>,
}

/// Bytes between two counts.
const STEP: usize = 256;

impl<'t> Places<'t> {
    /// Of this text.
    #[must_use]
    pub fn of(text: &'t str) -> Self {
        let text = text.as_bytes();
        let ends = (0..).zip(text).filter(|(_, byte)| **byte == b'\n');
        let mut before = 0;
        let steps = text.chunks(STEP).map(|chunk| {
            let so_far = before;
            before += starts(chunk);
            so_far
        });
        Self {
            text,
            lines: std::iter::once(0)
                .chain(ends.map(|(at, _)| at + 1))
                .collect(),
            steps: steps.collect(),
        }
    }

    /// The place of a byte.
    #[must_use]
    pub fn at(&self, byte: usize) -> Place {
        let byte = byte.min(self.text.len());
        let line = self.lines.partition_point(|start| *start <= byte);
        let start = self.lines.get(line.saturating_sub(1)).copied();
        let column = self.before(byte) - self.before(start.unwrap_or(0)) + 1;
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Place {
            line: count(line),
            column: count(column),
        }
    }

    /// How many characters start before a byte.
    fn before(&self, byte: usize) -> usize {
        let step = (byte / STEP).min(self.steps.len().saturating_sub(1));
        let rest = self.text.get(step * STEP..byte).unwrap_or_default();
        self.steps.get(step).copied().unwrap_or(0) + starts(rest)
    }
}

/// How many characters of UTF-8 start here.
fn starts(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn places_are_those_of_counting(text in "[aä\u{1f600}\n]{0,600}") {
            let places = Places::of(&text);
            for (at, _) in text.char_indices().chain([(text.len(), ' '), (text.len() + 9, ' ')]) {
                let before = text.get(..at).unwrap_or(&text);
                let line = before.matches('\n').count() + 1;
                let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
                let place = places.at(at);
                prop_assert_eq!((place.line, place.column), (u32::try_from(line)?, u32::try_from(column)?));
            }
        }
    }
}
