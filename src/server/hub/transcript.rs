//! Transcripts: on the wire, and as a window before a prompt. Pure.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::sessions::store::{Message, Tick};

/// Messages as clients get them.
pub(super) fn wire(messages: &[Message]) -> Value {
    let rows = messages.iter().map(|message| {
        json!({
            "id": message.id,
            "role": message.role,
            "content": message.text,
            "timestamp": message.at,
            "origin": message.origin,
            "state": message.state,
        })
    });
    Value::Array(rows.collect())
}

/// The newest messages, as far as they are at hand.
pub(super) fn window<'a>(messages: impl Iterator<Item = (&'a str, &'a str)>) -> Value {
    let rows = messages.map(|(role, text)| json!({"role": role, "content": text}));
    Value::Array(rows.collect())
}

/// The answer to `session.history`.
pub(super) fn history(messages: &[Message]) -> Value {
    json!({"count": messages.len(), "messages": wire(messages)})
}

/// The answer to a question for wake-ups.
pub(super) fn ticks(ticks: &[Tick]) -> Value {
    json!({"ticks": ticks})
}

/// A prompt with what was said before, for an agent that does not keep conversations itself.
pub(super) fn with_window<'a>(
    window: impl Iterator<Item = (&'a str, &'a str)>,
    prompt: &str,
) -> String {
    let mut text = String::new();
    for (role, said) in window {
        let who = if role == "assistant" { "You" } else { "User" };
        let _infallible = write!(text, "{who}: {said}\n\n");
    }
    if text.is_empty() {
        return prompt.to_owned();
    }
    format!("This conversation so far:\n\n{text}---\n\nNow answer this:\n\n{prompt}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_prompt_stands_alone_and_a_later_one_has_its_past() {
        assert_eq!(with_window(std::iter::empty(), "hello"), "hello");
        let window = [("user", "one"), ("assistant", "two")];
        let text = with_window(window.into_iter(), "three");
        assert!(text.contains("User: one\n\nYou: two\n\n"), "{text}");
        assert!(text.ends_with("\n\nthree"), "{text}");
    }
}
