//! Sessions as clients ask for them: made, resumed, looked at, interrupted, closed.

use serde_json::{Value, json};

use super::Hub;
use super::event::{ConnId, Order, What};
use super::live::Live;
use super::rpc::Asked;
use crate::server::protocol::{Failure, code};
use crate::sessions::event::Event as SessionEvent;
use crate::sessions::session::Session;
use crate::sessions::store::{Card, Found};

/// Sessions in a list where nobody says how many.
const LISTED: u64 = 100;

/// What a client wants of a session that it resumes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Resume {
    /// The id or title that it named.
    name: String,
    /// Without the messages.
    bare: bool,
    /// It ends with the connection.
    close_on_disconnect: bool,
}

fn text(asked: Asked<'_>, name: &str) -> Result<Option<String>, Failure> {
    Ok(asked.params.text(name)?.map(str::to_owned))
}

/// No session, live or stored, has this id.
pub(super) fn unknown_id(id: &str) -> Failure {
    Failure::new(
        code::STORED_NOT_FOUND,
        format!("no session of this home has the id {id}"),
    )
}

/// `YYYYMMDD_HHMMSS_` and six hex digits: only such an id that nobody knows is made on resume.
fn is_minted(id: &str) -> bool {
    let digits =
        |part: &str, count| part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = id.split('_');
    let shape = (parts.next(), parts.next(), parts.next(), parts.next());
    matches!(shape, (Some(day), Some(time), Some(hex), None)
        if digits(day, 8) && digits(time, 6) && hex.len() == 6
        && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

impl Hub {
    pub(super) fn begin_session(&mut self, card: Card, close_on_disconnect: bool) -> String {
        let id = self.hex(8);
        let mut session = Session::new(&id, &card.id, &self.settings.law.limits, self.now);
        session.close_on_disconnect = close_on_disconnect;
        self.enter(&id, Live::new(session, card));
        id
    }

    /// What a client gets that comes to a session.
    pub(super) fn described(&self, id: &str, fresh: bool, messages: &Value) -> Value {
        let Some(live) = self.sessions.get(id) else {
            return Value::Null;
        };
        let mut answer = json!({
            "session_id": id,
            "stored_session_id": live.card.id,
            "message_count": live.card.message_count,
            "messages": messages,
            "info": live.info(&self.agent_name()),
        });
        if let (false, Some(answer)) = (fresh, answer.as_object_mut()) {
            let queued: Vec<&str> = live.prompts.iter().map(|one| one.text.as_str()).collect();
            answer.insert("resumed".into(), live.card.id.clone().into());
            answer.insert("running".into(), live.turn.is_some().into());
            answer.insert("status".into(), live.status().into());
            answer.insert("inflight".into(), live.inflight());
            answer.insert("queued".into(), json!({"user": queued}));
            answer.insert("pending_approval".into(), Value::Null);
            answer.insert("open_requests".into(), json!([]));
            answer.insert("auto_continue".into(), false.into());
            answer.insert("control".into(), self.control_of(id));
        }
        answer
    }

    pub(super) fn resume(&mut self, asked: Asked<'_>) -> Result<Option<Value>, Failure> {
        self.need_store()?;
        let params = asked.params;
        let name = params.required("session_id")?.to_owned();
        let resume = Resume {
            bare: params.flag("omit_messages")? || params.flag("defer_history")?,
            close_on_disconnect: params.flag("close_on_disconnect")?,
            name: name.clone(),
        };
        // The transcript is in the store, also that of a live session.
        let stored = self.sessions.get(&name).map(|live| live.card.id.clone());
        let then = asked.then(What::Resume(resume));
        self.order(Order::Find(stored.unwrap_or(name), then));
        Ok(None)
    }

    /// The store's answer to a resume.
    pub(super) fn found(
        &mut self,
        (conn, _, what): (ConnId, &Value, What),
        found: Option<Found>,
    ) -> Result<Value, Failure> {
        let What::Resume(resume) = what else {
            return Err(Failure::new(code::INTERNAL, "an answer without a question"));
        };
        let (id, messages) = match found {
            Some(mut found) => {
                found.card.ended_at = None;
                found.card.end_reason = None;
                let messages = super::transcript::wire(&found.messages);
                if !self.by_stored.contains_key(&found.card.id) {
                    self.need_room()?;
                }
                (self.load(found), messages)
            }
            None => (self.unknown(&resume)?, json!([])),
        };
        if let Some(live) = self.sessions.get_mut(&id) {
            live.session.close_on_disconnect = resume.close_on_disconnect;
        }
        self.attach(conn, &id)?;
        self.keep(&id, false);
        self.cap_soon();
        self.show_status();
        let messages = if resume.bare { json!([]) } else { messages };
        Ok(self.described(&id, false, &messages))
    }

    /// A session that has no row: a draft that is live, or an id that its client minted.
    fn unknown(&mut self, resume: &Resume) -> Result<String, Failure> {
        let name = &resume.name;
        if let Some(id) = self.by_stored.get(name) {
            return Ok(id.clone());
        }
        if self.sessions.contains_key(name) {
            return Ok(name.clone());
        }
        if !is_minted(name) {
            let text = format!("no stored session has the id or title {name}");
            return Err(Failure::new(code::STORED_NOT_FOUND, text));
        }
        self.need_room()?;
        let card = Card {
            id: name.clone(),
            source: "tui".to_owned(),
            started_at: self.now.wall,
            last_active: self.now.wall,
            ..Card::default()
        };
        Ok(self.begin_session(card, resume.close_on_disconnect))
    }

    pub(super) fn activate(&mut self, asked: Asked<'_>) -> Result<Value, Failure> {
        let id = self.known(asked)?;
        self.attach(asked.conn, &id)?;
        Ok(self.described(&id, false, &self.told(&id)))
    }

    pub(super) fn list(&mut self, asked: Asked<'_>) -> Result<Option<Value>, Failure> {
        self.need_store()?;
        let most = asked.params.number("limit")?.unwrap_or(LISTED);
        let order = Order::List {
            most: u32::try_from(most).unwrap_or(u32::MAX),
            hidden: asked.params.flag("include_hidden")?,
            title: text(asked, "title")?,
            then: asked.then(What::List),
        };
        self.order(order);
        Ok(None)
    }

    pub(super) fn most_recent(&mut self, asked: Asked<'_>) -> Result<Option<Value>, Failure> {
        self.need_store()?;
        let order = Order::List {
            most: 1,
            hidden: false,
            title: None,
            then: asked.then(What::MostRecent),
        };
        self.order(order);
        Ok(None)
    }

    pub(super) fn listed(&self, what: &What, cards: &[Card]) -> Value {
        if *what == What::MostRecent {
            return json!({"session_id": cards.first().map(|card| card.id.clone())});
        }
        let rows: Vec<Value> = cards
            .iter()
            .map(|card| {
                json!({
                    "id": card.id,
                    "title": card.title,
                    "preview": card.preview,
                    "started_at": card.started_at,
                    "last_active": card.last_active,
                    "message_count": card.message_count,
                    "source": card.source,
                    "ended_at": card.ended_at,
                    "end_reason": card.end_reason,
                    "live": self.by_stored.get(&card.id),
                })
            })
            .collect();
        json!({"sessions": rows})
    }

    /// Polls of the list are no use of a session.
    pub(super) fn active_list(&mut self, asked: Asked<'_>) -> Result<Value, Failure> {
        let current = asked.params.text("current_session_id")?;
        let rows: Vec<Value> = self
            .sessions
            .iter()
            .map(|(id, live)| {
                let idle = self.now.awake - live.session.last_used;
                json!({
                    "id": id,
                    "session_key": live.card.id,
                    "status": live.status(),
                    "title": live.card.title,
                    "model": live.card.model,
                    "preview": live.card.preview,
                    "message_count": live.card.message_count,
                    "last_active": self.now.wall - idle,
                    "started_at": live.card.started_at,
                    "current": current == Some(id.as_str()),
                    "source": live.card.source,
                    "holder": live.session.holder(),
                    "clients": live.viewers.len(),
                    "schedules": live.schedules(&self.settings.rules),
                })
            })
            .collect();
        Ok(json!({"sessions": rows}))
    }

    pub(super) fn history(&mut self, asked: Asked<'_>) -> Result<Option<Value>, Failure> {
        self.need_store()?;
        let most = asked.params.number("limit")?.unwrap_or(LISTED);
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        let Some(id) = self.stored_id(asked)? else {
            return Ok(Some(super::transcript::history(&[])));
        };
        let then = asked.then(What::History);
        self.order(Order::History(id, most, then));
        Ok(None)
    }

    /// The stored id that a request means, live or not; none of a draft, of which nothing is stored.
    pub(super) fn stored_id(&self, asked: Asked<'_>) -> Result<Option<String>, Failure> {
        let name = asked.params.required("session_id")?;
        let runtime = self.by_stored.get(name).map_or(name, String::as_str);
        Ok(match self.sessions.get(runtime) {
            Some(live) => live.stored.then(|| live.card.id.clone()),
            None => Some(name.to_owned()),
        })
    }

    pub(super) fn status(&mut self, asked: Asked<'_>) -> Result<Value, Failure> {
        let id = self.known(asked)?;
        let mut answer = self.described(&id, false, &json!([]));
        if let (Some(answer), Some(live)) = (answer.as_object_mut(), self.sessions.get(&id)) {
            answer.insert("holder".into(), json!(live.session.holder()));
            answer.insert(
                "schedules".into(),
                json!(live.schedules(&self.settings.rules)),
            );
        }
        Ok(answer)
    }

    pub(super) fn title(&mut self, asked: Asked<'_>) -> Result<Value, Failure> {
        let id = self.known(asked)?;
        let title = text(asked, "title")?;
        let mut current = None;
        if let Some(live) = self.sessions.get_mut(&id) {
            if title.is_some() {
                live.card.title.clone_from(&title);
            }
            current.clone_from(&live.card.title);
        }
        if title.is_some() {
            self.used(asked.conn, &id)?;
            self.keep(&id, true);
            self.tell(&id, "session.title", Some(&json!({"title": current})));
            self.show_status();
        }
        Ok(json!({"title": current}))
    }

    pub(super) fn events_since(&mut self, asked: Asked<'_>) -> Result<Value, Failure> {
        let id = self.known(asked)?;
        let last_seen = asked.params.number("last_seen")?.unwrap_or(0);
        let missed = self.replay.since(&id, last_seen);
        let events: Vec<Value> = missed
            .frames
            .iter()
            .filter_map(|frame| {
                serde_json::from_str::<Value>(frame)
                    .ok()?
                    .get("params")
                    .cloned()
            })
            .collect();
        Ok(json!({
            "count": events.len(),
            "events": events,
            "latest_seq": missed.latest,
            "truncated": missed.truncated,
            "epoch": self.identity.epoch,
            "open_requests": [],
        }))
    }

    pub(super) fn events_stats(&mut self, asked: Asked<'_>) -> Result<Value, Failure> {
        let id = self.known(asked)?;
        let latest = self.replay.next_seq(&id) - 1;
        Ok(json!({"latest_seq": latest, "epoch": self.identity.epoch}))
    }

    pub(super) fn interrupt(&mut self, asked: Asked<'_>) -> Result<Value, Failure> {
        let id = self.known(asked)?;
        if self
            .sessions
            .get(&id)
            .is_some_and(|live| live.session.closing.is_none())
        {
            self.used(asked.conn, &id)?;
        }
        let ran = self
            .sessions
            .get(&id)
            .is_some_and(|live| live.turn.is_some());
        self.step(&id, SessionEvent::Interrupt);
        let status = if ran {
            "interrupted"
        } else {
            "not_interrupted"
        };
        Ok(json!({"status": status}))
    }

    pub(super) fn close(&mut self, asked: Asked<'_>) -> Result<Value, Failure> {
        let id = self.known(asked)?;
        let count = self
            .sessions
            .get(&id)
            .map_or(0, |live| live.card.message_count);
        self.step(&id, SessionEvent::Close("tui_close".to_owned()));
        Ok(json!({"closed": true, "messages": count}))
    }

    pub(super) fn delete(&mut self, asked: Asked<'_>) -> Result<Option<Value>, Failure> {
        self.need_store()?;
        let name = asked.params.required("session_id")?;
        if self.sessions.contains_key(name) || self.by_stored.contains_key(name) {
            return Err(Failure::new(
                code::DELETE_ACTIVE,
                "the session is live; close it first",
            ));
        }
        let then = asked.then(What::Delete(name.to_owned()));
        self.order(Order::Delete(name.to_owned(), then));
        Ok(None)
    }
}

/// The store's answer to a deletion.
pub(super) fn deleted(what: What, deleted: Result<bool, String>) -> Result<Value, Failure> {
    let What::Delete(name) = what else {
        return Err(Failure::new(code::INTERNAL, "an answer without a question"));
    };
    match deleted {
        Ok(true) => Ok(json!({"deleted": name})),
        Ok(false) => Err(unknown_id(&name)),
        Err(why) => Err(Failure::new(code::STORE, why)),
    }
}
