//! `session.control`: a session's timers as programs see them, and the orders to them.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::Hub;
use super::event::{Order, What};
use super::parked::Shape;
use super::rpc::Asked;
use crate::server::protocol::{Failure, code};
use crate::sessions::schedule::TimerKind;
use crate::timers::event::TimerEvent;

/// Wake-ups in an answer where nobody says how many.
const TICKS: u64 = 50;

fn row(text: Option<String>) -> Value {
    text.and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or(Value::Null)
}

impl Hub {
    /// The timers of a session. The revision changes with every change of them.
    pub(super) fn control_of(&self, id: &str) -> Value {
        let Some(live) = self.sessions.get(id) else {
            return Value::Null;
        };
        let looping = row(live.looping.as_ref().map(|one| one.state.row.text()));
        let mut heartbeat = row(live.heartbeat.as_ref().map(|one| one.state.row.text()));
        let beat = live.heartbeat.as_ref();
        let why = beat.and_then(|beat| beat.state.paused_reason());
        if let (Some(why), Some(heartbeat)) = (why, heartbeat.as_object_mut()) {
            heartbeat.insert("paused_reason".into(), why.into());
        }
        let digest = Sha256::digest(format!("{looping}{heartbeat}").as_bytes());
        let mut revision = String::with_capacity(64);
        for byte in digest {
            let _infallible = write!(revision, "{byte:02x}");
        }
        json!({
            "goal": null,
            "loop": looping,
            "heartbeat": heartbeat,
            "revision": revision,
            "updated_at": self.now.wall,
        })
    }

    pub(super) fn control_changed(&mut self, id: &str) {
        let control = self.control_of(id);
        self.tell(
            id,
            "session.control.update",
            Some(&json!({"control": control})),
        );
    }

    pub(super) fn control_read(&mut self, asked: Asked<'_>) -> Result<Value, Failure> {
        let id = self.known(asked)?;
        Ok(json!({"control": self.control_of(&id), "dispatch": null}))
    }

    pub(super) fn control(&mut self, asked: Asked<'_>) -> Result<Option<Value>, Failure> {
        let id = self.known(asked)?;
        let action = asked.params.required("action")?;
        let (kind, event) = match action {
            "loop.pause" => (TimerKind::Loop, pause()),
            "loop.resume" => (TimerKind::Loop, TimerEvent::Resume),
            "loop.stop" => (TimerKind::Loop, stop()),
            "heartbeat.pause" => (TimerKind::Heartbeat, pause()),
            "heartbeat.resume" => (TimerKind::Heartbeat, TimerEvent::Resume),
            "heartbeat.clear" => (TimerKind::Heartbeat, stop()),
            _ => {
                let text = format!("{action} is no action of loops and heartbeats");
                return Err(Failure::new(code::BAD_ARGUMENT, text));
            }
        };
        self.need_store()?;
        let there = self.sessions.get(&id).is_some_and(|live| match kind {
            TimerKind::Loop => live.looping.is_some(),
            TimerKind::Heartbeat => live.heartbeat.is_some(),
        });
        if !there {
            let text = format!("there is no {} in this session", kind.word());
            return Err(Failure::new(code::BAD_ARGUMENT, text));
        }
        self.used(asked.conn, &id)?;
        self.timer(&id, kind, event);
        Ok(self.about_timer(asked, &id, (kind, Shape::Control)))
    }

    pub(super) fn timer_history(&mut self, asked: Asked<'_>) -> Result<Option<Value>, Failure> {
        self.need_store()?;
        let kind = match asked.params.text("kind")? {
            None => None,
            Some("loop") => Some(TimerKind::Loop),
            Some("heartbeat") => Some(TimerKind::Heartbeat),
            Some(word) => {
                let text = format!("{word} is no kind of timer: loop or heartbeat");
                return Err(Failure::new(code::BAD_ARGUMENT, text));
            }
        };
        let most = asked.params.number("limit")?.unwrap_or(TICKS);
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        let Some(id) = self.stored_id(asked)? else {
            return Ok(Some(super::transcript::ticks(&[])));
        };
        let then = asked.then(What::Ticks);
        self.order(Order::Ticks(id, kind, most, then));
        Ok(None)
    }
}

fn pause() -> TimerEvent {
    TimerEvent::Pause("paused by the user".to_owned())
}

fn stop() -> TimerEvent {
    TimerEvent::Stop("stopped by the user".to_owned())
}
