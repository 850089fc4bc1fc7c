//! Clients: who is connected, who looks at which session, and what each is sent.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::Hub;
use super::event::{ConnId, Effect};
use crate::server::protocol::{Failure, Frame, code, event, response};
use crate::sessions::event::Event as SessionEvent;

/// A client.
#[derive(Clone, Debug, Default)]
pub(crate) struct Client {
    /// What it is called in refusals and lists.
    pub(crate) label: String,
    /// The sessions that it looks at.
    pub(crate) views: BTreeSet<String>,
    /// The questions of ours that it can answer.
    pub(crate) answers: Vec<String>,
}

/// All clients.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clients(BTreeMap<ConnId, Client>);

impl Clients {
    /// One of them.
    pub(crate) fn get_mut(&mut self, conn: ConnId) -> Option<&mut Client> {
        self.0.get_mut(&conn)
    }

    /// What one of them is called.
    pub(crate) fn label(&self, conn: ConnId) -> String {
        let known = self.0.get(&conn).map(|client| client.label.clone());
        known.unwrap_or_else(|| format!("client {conn}"))
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl Hub {
    pub(super) fn connected(&mut self, conn: ConnId, label: String) {
        let client = Client {
            label,
            ..Client::default()
        };
        self.clients.0.insert(conn, client);
        let payload = json!({
            "skin": {},
            "change_events": true,
            "heartbeat": true,
            "replay_epoch": self.identity.epoch,
        });
        self.send(conn, event("gateway.ready", "", Some(&payload), None));
    }

    pub(super) fn disconnected(&mut self, conn: ConnId) {
        let Some(client) = self.clients.0.remove(&conn) else {
            return;
        };
        for id in client.views {
            let name = self
                .sessions
                .get_mut(&id)
                .and_then(|live| live.viewers.remove(&conn));
            if let Some(name) = name {
                self.step(&id, SessionEvent::Detach(name));
            }
        }
    }

    pub(super) fn frame(&mut self, conn: ConnId, text: &str) {
        // What a client sent before it was dropped may come after: nobody would ever detach it again.
        if !self.clients.0.contains_key(&conn) {
            return;
        }
        let request = match Frame::parse(text) {
            Ok(Frame::Request(request)) => request,
            // Nothing of ours asks a client anything that only one answer settles.
            Ok(Frame::Answer { .. }) => return,
            Err((id, failure)) => return self.answer(conn, &id, &Err(failure)),
        };
        let id = request.id.clone().unwrap_or(Value::Null);
        let Some(answer) = self.request(conn, &id, &request) else {
            return;
        };
        if request.id.is_some() {
            self.answer(conn, &id, &answer);
        }
    }

    /// Answers a request.
    pub(super) fn answer(&mut self, conn: ConnId, id: &Value, answer: &Result<Value, Failure>) {
        self.send(conn, response(id, answer));
    }

    pub(super) fn send(&mut self, conn: ConnId, frame: String) {
        if self.clients.0.contains_key(&conn) {
            self.out.push(Effect::Send(conn, frame.into()));
        }
    }

    /// Tells everyone who looks at a session, and keeps it for those who come back.
    pub(super) fn tell(&mut self, id: &str, kind: &str, payload: Option<&Value>) {
        let seq = self.replay.next_seq(id);
        let frame: Arc<str> = event(kind, id, payload, Some(seq)).into();
        self.replay.push(id, frame.to_string());
        if let Some(live) = self.sessions.get(id) {
            for conn in live.viewers.keys() {
                self.out.push(Effect::Send(*conn, Arc::clone(&frame)));
            }
        }
    }

    /// Tells everyone.
    pub(super) fn tell_all(&mut self, kind: &str, payload: &Value) {
        if self.clients.0.is_empty() {
            return;
        }
        let frame: Arc<str> = event(kind, "", Some(payload), None).into();
        for conn in self.clients.0.keys() {
            self.out.push(Effect::Send(*conn, Arc::clone(&frame)));
        }
    }

    /// Says what a timer or serve itself has to say in a session.
    pub(super) fn say(&mut self, id: &str, kind: &str, text: &str) {
        self.tell(
            id,
            "status.update",
            Some(&json!({"kind": kind, "text": text})),
        );
    }

    /// A client looks at a session from now on; whoever asks for it may be refused.
    pub(super) fn attach(&mut self, conn: ConnId, id: &str) -> Result<(), Failure> {
        let name = self.clients.label(conn);
        let refusal = self.step(id, SessionEvent::Attach(name.clone()));
        if let Some(refusal) = refusal {
            return Err(self.refused(&refusal));
        }
        let Some(live) = self.sessions.get_mut(id) else {
            let gone = "the session is no longer live";
            return Err(Failure::new(code::STORED_NOT_FOUND, gone));
        };
        live.viewers.insert(conn, name);
        if let Some(client) = self.clients.get_mut(conn) {
            client.views.insert(id.to_owned());
        }
        Ok(())
    }

    /// A client used a session: it looks at it from now on, if it did not before.
    pub(super) fn used(&mut self, conn: ConnId, id: &str) -> Result<(), Failure> {
        let leaving = self
            .sessions
            .get(id)
            .and_then(|live| live.session.leaving());
        if let Some(refusal) = leaving {
            return Err(self.refused(&refusal));
        }
        let name = self
            .sessions
            .get(id)
            .and_then(|live| live.viewers.get(&conn).cloned());
        match name {
            Some(name) => {
                self.step(id, SessionEvent::Used(name));
                Ok(())
            }
            None => self.attach(conn, id),
        }
    }
}
