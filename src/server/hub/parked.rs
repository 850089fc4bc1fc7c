//! Answers about timers that wait until the store has what they tell.

use serde_json::{Value, json};

use super::Hub;
use super::commands::Form;
use super::event::ConnId;
use super::rpc::Asked;
use crate::server::protocol::{Failure, code};
use crate::sessions::schedule::TimerKind;
use crate::timers::driver::Driven;

/// What the answer looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Of `session.control`.
    Control,
    /// The timer in words.
    Words(Form),
    /// The same, and that it was set.
    Set(Form),
}

/// An answer that waits.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parked {
    conn: ConnId,
    id: Value,
    session: String,
    kind: TimerKind,
    shape: Shape,
}

impl Hub {
    /// The answer about a timer, or none while its save is out.
    pub(super) fn about_timer(
        &mut self,
        asked: Asked<'_>,
        session: &str,
        (kind, shape): (TimerKind, Shape),
    ) -> Option<Value> {
        let parked = Parked {
            conn: asked.conn,
            id: asked.id.clone(),
            session: session.to_owned(),
            kind,
            shape,
        };
        if self.is_saving(session, kind) {
            self.parked.push(parked);
            return None;
        }
        Some(self.answered(&parked))
    }

    fn is_saving(&self, session: &str, kind: TimerKind) -> bool {
        let live = self.sessions.get(session);
        live.is_some_and(|live| match kind {
            TimerKind::Loop => live.looping.as_ref().is_some_and(Driven::is_saving),
            TimerKind::Heartbeat => live.heartbeat.as_ref().is_some_and(Driven::is_saving),
        })
    }

    fn answered(&self, parked: &Parked) -> Value {
        let id = &parked.session;
        let words = || match parked.kind {
            TimerKind::Loop => self.loop_text(id),
            TimerKind::Heartbeat => self.heartbeat_text(id),
        };
        match parked.shape {
            Shape::Control => json!({"control": self.control_of(id), "dispatch": null}),
            Shape::Words(form) => form.answer(&words()),
            Shape::Set(form) => {
                let what = match parked.kind {
                    TimerKind::Loop => "Loop",
                    TimerKind::Heartbeat => "Heartbeat",
                };
                form.answer(&format!("{what} set. {}{}", words(), self.caveats()))
            }
        }
    }

    /// The session is gone: whoever waits for its timers learns that, and that no save was confirmed.
    pub(super) fn unpark_all(&mut self, session: &str, reason: &str) {
        let (over, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.parked)
            .into_iter()
            .partition(|one| one.session == session);
        self.parked = rest;
        for one in over {
            let text = format!(
                "the session was removed ({reason}) before the store had confirmed the {}; resume it to see",
                one.kind.word()
            );
            let gone = Err(Failure::new(code::STORED_NOT_FOUND, text));
            self.answer(one.conn, &one.id, &gone);
        }
    }

    /// A save came back: what waited for it is told.
    pub(super) fn unpark(&mut self, session: &str, kind: TimerKind) {
        if self.is_saving(session, kind) {
            return;
        }
        let (ready, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.parked)
            .into_iter()
            .partition(|one| one.session == session && one.kind == kind);
        self.parked = rest;
        for one in ready {
            let answer = Ok(self.answered(&one));
            self.answer(one.conn, &one.id, &answer);
        }
    }
}
