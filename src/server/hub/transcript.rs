//! Transcripts: on the wire, and as a window before a prompt. Pure.

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

/// What goes around a window, in bytes at most.
const FRAME: usize = 128;

/// A prompt with what was said before, for an agent that does not keep conversations itself: the newest of
/// it, where all of it would be longer than `most` bytes.
pub(super) fn with_window<'a>(
    window: impl Iterator<Item = (&'a str, &'a str)>,
    prompt: &str,
    most: usize,
) -> String {
    let mut room = most.saturating_sub(prompt.len() + FRAME);
    let all: Vec<_> = window.collect();
    let mut said = Vec::new();
    for (role, text) in all.into_iter().rev() {
        let who = if role == "assistant" { "You" } else { "User" };
        let line = format!("{who}: {text}\n\n");
        if line.len() <= room {
            room -= line.len();
            said.push(line);
            continue;
        }
        // Of one that is longer alone its end is kept.
        if said.is_empty() && room > FRAME {
            let end = text.ceil_char_boundary(text.len() - text.len().min(room - FRAME));
            said.push(format!(
                "{who}: [...] {}\n\n",
                &text.get(end..).unwrap_or_default()
            ));
        }
        break;
    }
    if said.is_empty() {
        return prompt.to_owned();
    }
    said.reverse();
    let text = said.concat();
    format!("This conversation so far:\n\n{text}---\n\nNow answer this:\n\n{prompt}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_prompt_stands_alone_and_a_later_one_has_its_past() {
        assert_eq!(
            with_window(std::iter::empty(), "hello", usize::MAX),
            "hello"
        );
        let window = [("user", "one"), ("assistant", "two")];
        let text = with_window(window.into_iter(), "three", usize::MAX);
        assert!(text.contains("User: one\n\nYou: two\n\n"), "{text}");
        assert!(text.ends_with("\n\nthree"), "{text}");
    }

    #[test]
    fn the_newest_of_a_long_past_is_what_has_room() {
        let long = "\u{e9}".repeat(500);
        let window = [
            ("user", "one"),
            ("assistant", long.as_str()),
            ("user", "two"),
        ];
        let text = with_window(window.into_iter(), "three", 400);
        assert!(
            !text.contains("one") && text.contains("User: two"),
            "{text}"
        );
        let text = with_window(window[..2].iter().copied(), "three", 400);
        assert!(text.contains("You: [...] \u{e9}"), "{text}");
        assert!(text.len() <= 400 && text.ends_with("\n\nthree"), "{text}");
        assert_eq!(with_window(window.into_iter(), "three", 10), "three");
    }
}
