//! JSON documents: one value, pretty on a terminal and compact elsewhere would differ for no reason,
//! so it is always indented by two spaces and ends with a line break.

use std::fmt::Write as _;

use serde::Serialize;

use super::{Out, human};
use crate::error::{Context, Kind, Result};

/// Prints one document.
///
/// # Errors
/// When it cannot be written.
pub fn print(out: &mut Out, document: &impl Serialize) -> Result<()> {
    let text = text(document).context(Kind::Internal, "failed to make the JSON document")?;
    if out.ascii {
        return out.line(&ascii(&text));
    }
    out.line(&text)
}

/// The text of one document, without a line break at its end.
///
/// # Errors
/// When it cannot be a document, as with keys that are no text.
pub fn text(document: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string_pretty(document).map(|text| visible(&text))
}

/// The same document, with what a terminal might act on written as escapes: JSON leaves DEL, the C1
/// controls and marks of direction as they are, and they occur inside strings only.
fn visible(text: &str) -> String {
    escaped(text, |c| c != '\n' && human::is_unsafe(c))
}

/// The same document in ASCII.
#[must_use]
pub fn ascii(text: &str) -> String {
    escaped(text, |c| !c.is_ascii())
}

fn escaped(text: &str, wanted: impl Fn(char) -> bool) -> String {
    if !text.chars().any(&wanted) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if wanted(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _infallible = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_means_the_same_and_shows_no_control_characters() {
        let value = serde_json::json!({"name": "a\u{7f}\u{9b}\u{202e}\u{2028}é\u{1b}"});
        let text = visible(&serde_json::to_string_pretty(&value).unwrap());
        assert!(
            text.chars().all(|c| c == '\n' || !human::is_unsafe(c)),
            "{text}"
        );
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).unwrap(),
            value
        );
    }
}
