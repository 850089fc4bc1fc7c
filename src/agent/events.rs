//! An answer that is told in events, one JSON object a line. Pure.

use serde_json::Value;

use super::answer::{Answer, message, string};

/// What was learned from JSON lines so far.
#[derive(Debug, Default)]
pub(super) struct Events {
    known: bool,
    session: Option<String>,
    text: String,
    /// The turn failed, and what is said of that.
    failed: Option<String>,
    /// An error that nothing has followed yet: one that the agent got over is none.
    error: Option<String>,
}

impl Events {
    /// Hears one.
    pub(super) fn hear(&mut self, event: &Value) {
        let error = || event.get("error").and_then(message).unwrap_or_default();
        match event.get("type").and_then(Value::as_str) {
            Some("thread.started") => {
                self.session = string(event, "thread_id").or(self.session.take());
            }
            Some("item.completed") => {
                let item = event.get("item").unwrap_or(&Value::Null);
                if string(item, "type").as_deref() == Some("agent_message") {
                    self.text = string(item, "text").unwrap_or_default();
                    self.error = None;
                }
            }
            Some("turn.completed") => self.error = None,
            Some("turn.failed") => self.failed = Some(error()),
            Some("error") => {
                self.error = Some(string(event, "message").unwrap_or_else(error));
            }
            _ => return,
        }
        self.known = true;
    }

    /// The answer, where any of them was one that is known.
    pub(super) fn answer(self) -> Option<Answer> {
        let told = self.failed.clone().filter(|why| !why.is_empty());
        let failed = told.or(self.error).or(self.failed);
        self.known.then_some(Answer {
            text: self.text,
            session: self.session,
            failed: failed.is_some(),
            reason: failed,
            unexpected_form: false,
        })
    }
}
