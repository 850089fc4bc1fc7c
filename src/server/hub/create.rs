//! `session.create`: a new session, with the conversation that its client brings; once for each key.

use std::collections::VecDeque;

use serde_json::Value;

use super::Hub;
use super::live::Row;
use super::rpc::Asked;
use super::transcript;
use crate::server::protocol::{Failure, Params, code};
use crate::sessions::store::{Card, Write, state};

/// A request with the same `idempotency_key` within so many seconds is the same one.
const SAME_SECONDS: f64 = 300.0;
/// Most keys that are known.
const KEYS: usize = 1024;
/// Most messages that a new session begins with.
const BROUGHT: usize = 1000;

/// Sessions by the keys under which they were asked for, the oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Created(VecDeque<(f64, String, String)>);

impl Created {
    /// The session that was made for this key.
    fn by(&mut self, key: &str, now: f64) -> Option<String> {
        self.0.retain(|(at, _, _)| now - at < SAME_SECONDS);
        let mut known = self.0.iter();
        known
            .find(|(_, known, _)| known == key)
            .map(|(_, _, id)| id.clone())
    }

    fn note(&mut self, key: &str, id: &str, now: f64) {
        if self.0.len() >= KEYS {
            self.0.pop_front();
        }
        self.0.push_back((now, key.to_owned(), id.to_owned()));
    }
}

/// The conversation that a client brings: who said what.
fn brought(params: &Params) -> Result<Vec<(&'static str, String)>, Failure> {
    let messages = match params.0.get("messages") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(messages)) if messages.len() <= BROUGHT => messages,
        Some(Value::Array(_)) => {
            let text = format!("a new session begins with {BROUGHT} messages at most");
            return Err(Failure::new(code::BAD_ARGUMENT, text));
        }
        Some(_) => {
            let text = "messages must be a list";
            return Err(Failure::new(code::INVALID_PARAMS, text));
        }
    };
    let one = |message: &Value| {
        let text = |name: &str| message.get(name).and_then(Value::as_str);
        let role = match text("role") {
            Some("user") => "user",
            Some("assistant") => "assistant",
            _ => return None,
        };
        Some((role, text("content")?.to_owned()))
    };
    let told = messages.iter().map(one).collect::<Option<Vec<_>>>();
    told.ok_or_else(|| {
        let text = "a message that a session begins with has the role user or assistant, and a \
                    text as content";
        Failure::new(code::BAD_ARGUMENT, text)
    })
}

impl Hub {
    pub(super) fn create(&mut self, asked: Asked<'_>) -> Result<Value, Failure> {
        self.need_store()?;
        let params = asked.params;
        let key = params.text("idempotency_key")?;
        let made = key.and_then(|key| self.created.by(key, self.now.awake));
        if let Some(id) = made.filter(|id| self.sessions.contains_key(id)) {
            self.attach(asked.conn, &id)?;
            return Ok(self.described(&id, true, &self.told(&id)));
        }
        self.need_room()?;
        let messages = brought(params)?;
        let _columns = params.number("cols")?;
        let text = |name: &str| Ok(params.text(name)?.map(str::to_owned));
        let card = Card {
            source: params.text("source")?.unwrap_or("tui").to_owned(),
            title: text("title")?,
            cwd: text("cwd")?,
            model: text("model")?,
            parent_id: text("parent_session_id")?,
            hidden: params.flag("hidden")?,
            started_at: self.now.wall,
            last_active: self.now.wall,
            id: self.new_stored_id(),
            ..Card::default()
        };
        let close = params.flag("close_on_disconnect")?;
        let id = self.begin_session(card, close);
        if let Some(key) = key {
            self.created.note(key, &id, self.now.awake);
        }
        self.begin_with(&id, messages);
        self.attach(asked.conn, &id)?;
        self.cap_soon();
        self.show_status();
        Ok(self.described(&id, true, &self.told(&id)))
    }

    fn new_stored_id(&mut self) -> String {
        let now = self.wall.to_zoned_datetime(self.settings.zone.clone());
        format!("{}_{}", now.strftime("%Y%m%d_%H%M%S"), self.hex(6))
    }

    /// Stores the conversation that a session begins with.
    fn begin_with(&mut self, id: &str, messages: Vec<(&'static str, String)>) {
        let at = self.now.wall;
        let mut rows = Vec::new();
        for (role, text) in messages {
            let row = self.message_id();
            let Some(live) = self.sessions.get_mut(id) else {
                return;
            };
            let origin = if role == "user" { "user" } else { "agent" };
            let row = Row {
                id: row,
                origin,
                text: &text,
                at,
            };
            rows.push(live.message(row, state::DONE));
            live.remember(role, &text);
            live.card.message_count += 1;
            if role == "user" {
                live.preview(&text);
                live.last_asked = Some(text);
            }
        }
        if !rows.is_empty() {
            self.keep(id, true);
        }
        for row in rows {
            self.write(Write::Message(row));
        }
    }

    /// What was said in a session, as far as it is at hand.
    pub(super) fn told(&self, id: &str) -> Value {
        let live = self.sessions.get(id);
        live.map_or_else(
            || Value::Array(Vec::new()),
            |live| transcript::window(live.window()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_for_five_minutes() {
        let mut created = Created::default();
        created.note("k", "a", 100.0);
        assert_eq!(created.by("k", 399.0).as_deref(), Some("a"));
        assert_eq!(created.by("j", 399.0), None);
        assert_eq!(created.by("k", 400.0), None);
        for number in 0..2 * KEYS {
            created.note(&number.to_string(), "x", 500.0);
        }
        assert_eq!(created.0.len(), KEYS);
    }
}
