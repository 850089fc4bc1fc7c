//! `prompt.submit`: a message of the user.

use serde_json::{Value, json};

use super::Hub;
use super::commands::Form;
use super::live::{Row, Waiting};
use super::rpc::Asked;
use crate::server::protocol::{Failure, Params, code};
use crate::sessions::event::Event as SessionEvent;
use crate::sessions::schedule::TimerKind;
use crate::sessions::store::{Write, state};
use crate::sessions::turn::By;
use crate::timers::event::{NeverBegan, TimerEvent};

/// Messages that wait for one session.
const QUEUED: usize = 32;

/// A conversation is only added to: a prompt that wants a part of it gone is not run without that.
fn refuse_to_cut(params: &Params) -> Result<(), Failure> {
    let wanted = |value: &Value| !matches!(value, Value::Null | Value::Bool(false));
    let mut cuts = params.0.iter();
    let cut = cuts.find(|(name, value)| name.starts_with("truncate_") && wanted(value));
    match cut {
        None => Ok(()),
        Some((name, _)) => {
            let text = format!("serve cuts no conversation: {name} cannot be done");
            Err(Failure::new(code::BAD_ARGUMENT, text))
        }
    }
}

impl Hub {
    pub(super) fn submit(&mut self, asked: Asked<'_>) -> Result<Option<Value>, Failure> {
        let id = self.known(asked)?;
        let text = asked.params.required("text")?.to_owned();
        if self.draining {
            return Err(Failure::new(code::RETIRING, "serve is stopping"));
        }
        refuse_to_cut(asked.params)?;
        self.need_store()?;
        self.used(asked.conn, &id)?;
        if let Some(command) = super::commands::ours(&text) {
            return Ok(self.run_command(&id, &command, asked, Form::Submit));
        }
        self.refuse_over_full(&id)?;
        let row = self.accept(&id, &text);
        let before = self
            .sessions
            .get(&id)
            .is_some_and(|live| live.turn.is_some());
        self.step(&id, SessionEvent::UserMessage);
        self.yield_to_user(&id);
        self.timers_hear_user(&id);
        let queued = self
            .sessions
            .get(&id)
            .is_some_and(|live| live.prompts.iter().any(|waiting| waiting.row == row));
        let status = if queued || before && !self.is_asked(&id, row) {
            "queued"
        } else {
            "streaming"
        };
        Ok(Some(json!({"status": status, "user_row_id": row})))
    }

    fn is_asked(&self, id: &str, row: i64) -> bool {
        let turn = self.sessions.get(id).and_then(|live| live.turn.as_ref());
        turn.is_some_and(|turn| turn.row == row)
    }

    /// Too many messages wait: who holds the session, since when, and until when.
    fn refuse_over_full(&self, id: &str) -> Result<(), Failure> {
        let Some(live) = self
            .sessions
            .get(id)
            .filter(|live| live.prompts.len() >= QUEUED)
        else {
            return Ok(());
        };
        match live.session.busy(&self.settings.law, self.now.awake) {
            Some(refusal) => Err(self.refused(&refusal)),
            None => Err(Failure::new(
                code::BUSY,
                format!("{QUEUED} messages wait already"),
            )),
        }
    }

    /// Stores a message of the user; its row.
    fn accept(&mut self, id: &str, text: &str) -> i64 {
        let row = self.message_id();
        let now = self.now.wall;
        if let Some(live) = self.sessions.get_mut(id) {
            live.card.message_count += 1;
            live.preview(text);
            live.last_asked = Some(text.to_owned());
            live.prompts.push_back(Waiting {
                row,
                text: text.to_owned(),
            });
            let new = Row {
                id: row,
                origin: "user",
                text,
                at: now,
            };
            let message = live.message(new, state::QUEUED);
            self.keep(id, true);
            self.write(Write::Message(message));
        }
        row
    }

    /// A wake-up that was claimed and still waits in line makes room: the user goes first.
    fn yield_to_user(&mut self, id: &str) {
        let waiting = self.sessions.get(id).and_then(|live| live.turn.as_ref());
        let Some(By::Timer(kind)) = waiting.filter(|turn| !turn.placed).map(|turn| turn.by) else {
            return;
        };
        self.withdraw(id, kind, NeverBegan::UserFirst);
    }

    /// Takes a claimed turn out of the line again, and gives the wake-up back.
    pub(super) fn withdraw(&mut self, id: &str, kind: TimerKind, why: NeverBegan) {
        self.line.withdraw(id);
        let turn = self.sessions.get_mut(id).and_then(|live| live.turn.take());
        if let Some(turn) = turn {
            self.given_back(id, kind, &turn, "a message of the user came first");
        }
        self.timer(id, kind, TimerEvent::TurnNeverBegan(why));
        self.step(id, SessionEvent::TurnNeverBegan);
    }

    fn timers_hear_user(&mut self, id: &str) {
        for kind in super::timers::KINDS {
            self.timer(id, kind, TimerEvent::UserMessage);
        }
    }
}
