//! A session that serve holds, with all that belongs to it.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use super::event::{ConnId, TurnId};
use crate::sessions::schedule::{Schedule, TimerKind, of_heartbeat, of_loop};
use crate::sessions::session::Session;
use crate::sessions::store::{Card, Message, state};
use crate::sessions::turn::By;
use crate::timers::driver::Driven;
use crate::timers::event::TimerRules;
use crate::timers::heartbeat::Heartbeat;
use crate::timers::loop_state::LoopState;

/// How many messages are kept at hand, for agents that cannot resume a conversation of their own.
const WINDOW: usize = 40;
/// And how many bytes of them.
const WINDOW_BYTES: usize = 64 << 10;
/// Most of what a running turn has said, in bytes: as much as its end keeps of it.
const SAID: usize = crate::agent::runner::KEPT;
/// How much of the first message is shown in lists, in characters.
const PREVIEW: usize = 80;

/// A message of the user that waits for its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// Its row.
    pub(crate) row: i64,
    /// The text.
    pub(crate) text: String,
}

/// A wake-up that was claimed and has no turn yet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WakeUp {
    /// Which timer.
    pub(crate) kind: TimerKind,
    /// What the agent is asked.
    pub(crate) text: String,
    /// Slots that passed unserved before it.
    pub(crate) missed: u64,
    /// When it was claimed.
    pub(crate) claimed_at: f64,
}

/// The turn of a session.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TurnNow {
    /// Its number.
    pub(crate) id: TurnId,
    /// Who asked for it.
    pub(crate) by: By,
    /// The row of the message that asks.
    pub(crate) row: i64,
    /// What is asked.
    pub(crate) text: String,
    /// What the agent said so far.
    pub(crate) said: String,
    /// Whether it has its place; false while it waits in line.
    pub(crate) placed: bool,
    /// When it was claimed.
    pub(crate) claimed_at: f64,
    /// Slots of its timer that passed unserved before it.
    pub(crate) missed: u64,
}

impl TurnNow {
    /// The agent said more. Of a flood the end is kept.
    pub(crate) fn says(&mut self, text: &str) {
        self.said.push_str(text);
        if self.said.len() > 2 * SAID {
            let from = self.said.len() - SAID;
            let from = self.said.ceil_char_boundary(from);
            self.said.drain(..from);
        }
    }
}

/// A session that serve holds.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    /// Who is attached, which turn is claimed, what keeps it.
    pub(crate) session: Session,
    /// What is stored of it.
    pub(crate) card: Card,
    /// Whether it has a row: a draft has none.
    pub(crate) stored: bool,
    /// Its clients, with the names by which `session` knows them.
    pub(crate) viewers: BTreeMap<ConnId, String>,
    /// Messages that wait.
    pub(crate) prompts: VecDeque<Waiting>,
    /// Its turn.
    pub(crate) turn: Option<TurnNow>,
    /// The wake-up that is to become its turn.
    pub(crate) wake_up: Option<WakeUp>,
    /// Its loop.
    pub(crate) looping: Option<Driven<LoopState>>,
    /// Its heartbeat.
    pub(crate) heartbeat: Option<Driven<Heartbeat>>,
    /// The newest messages: who, and what.
    window: VecDeque<(&'static str, String)>,
    /// The last message of the user.
    pub(crate) last_asked: Option<String>,
}

impl Live {
    /// A session without history.
    pub(crate) fn new(session: Session, card: Card) -> Self {
        Self {
            session,
            card,
            stored: false,
            viewers: BTreeMap::new(),
            prompts: VecDeque::new(),
            turn: None,
            wake_up: None,
            looping: None,
            heartbeat: None,
            window: VecDeque::new(),
            last_asked: None,
        }
    }

    /// Takes a message into the window.
    pub(crate) fn remember(&mut self, role: &'static str, text: &str) {
        self.window.push_back((role, text.to_owned()));
        let bytes = |window: &VecDeque<(&str, String)>| -> usize {
            window.iter().map(|(_, text)| text.len()).sum()
        };
        while self.window.len() > WINDOW
            || (self.window.len() > 1 && bytes(&self.window) > WINDOW_BYTES)
        {
            self.window.pop_front();
        }
    }

    /// The window.
    pub(crate) fn window(&self) -> impl Iterator<Item = (&str, &str)> {
        self.window
            .iter()
            .map(|(role, text)| (*role, text.as_str()))
    }

    /// Takes stored messages in: the window, and what still waits.
    pub(crate) fn recall(&mut self, messages: &[Message]) {
        for message in messages {
            if message.state == state::QUEUED && message.role == "user" {
                self.prompts.push_back(Waiting {
                    row: message.id,
                    text: message.text.clone(),
                });
                continue;
            }
            if message.origin == "user" {
                self.last_asked = Some(message.text.clone());
            }
            self.remember(message.role, &message.text);
        }
    }

    /// The begin of a first message becomes the preview.
    pub(crate) fn preview(&mut self, text: &str) {
        if self.card.preview.is_empty() {
            let line = text.lines().next().unwrap_or_default();
            self.card.preview = line.chars().take(PREVIEW).collect();
        }
    }

    /// Its timers, as the session machine sees them.
    pub(crate) fn schedules(&self, rules: &TimerRules) -> Vec<Schedule> {
        let looping = self.looping.as_ref().map(|one| of_loop(&one.state.row));
        let beat = self.heartbeat.as_ref();
        let beat = beat.map(|one| of_heartbeat(&one.state, rules));
        looping.into_iter().chain(beat).collect()
    }

    /// When one of its timers wants a look.
    pub(crate) fn next_fire(&self, rules: &TimerRules) -> Option<f64> {
        let looping = self.looping.as_ref().and_then(|one| one.next_wake(rules));
        let beat = self.heartbeat.as_ref().and_then(|one| one.next_wake(rules));
        [looping, beat].into_iter().flatten().min_by(f64::total_cmp)
    }

    /// Whether the other timer of the session is claiming a wake-up just now.
    pub(crate) fn is_claiming(&self, kind: TimerKind) -> bool {
        let other = match kind {
            TimerKind::Loop => self.heartbeat.as_ref().map(Driven::is_claiming),
            TimerKind::Heartbeat => self.looping.as_ref().map(Driven::is_claiming),
        };
        self.wake_up.is_some() || other.unwrap_or(false)
    }

    /// What it does, in the word of lists.
    pub(crate) fn status(&self) -> &'static str {
        match &self.turn {
            Some(turn) if turn.placed => "working",
            Some(_) => "queued",
            None if self.session.starting_since.is_some() => "starting",
            None => "idle",
        }
    }

    /// The turn that runs, for a client that comes in the middle of it.
    pub(crate) fn inflight(&self) -> Value {
        match &self.turn {
            Some(turn) => json!({
                "user": turn.text,
                "assistant": turn.said,
                "by": turn.by.words(),
                "running": turn.placed,
                "since": turn.claimed_at,
            }),
            None => Value::Null,
        }
    }

    /// What every answer about a session says of it.
    pub(crate) fn info(&self, agent: &str) -> Value {
        json!({
            "model": self.card.model,
            "cwd": self.card.cwd,
            "title": self.card.title,
            "source": self.card.source,
            "agent": agent,
            "lazy": !self.stored,
            "version": env!("CARGO_PKG_VERSION"),
        })
    }

    /// A message of this session, with the state that it has now.
    pub(crate) fn message(&self, row: Row<'_>, state: &'static str) -> Message {
        Message {
            id: row.id,
            session_id: self.card.id.clone(),
            role: if row.origin == "agent" {
                "assistant"
            } else {
                "user"
            },
            origin: row.origin,
            text: row.text.to_owned(),
            at: row.at,
            state,
        }
    }
}

/// A message before its session is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    /// Its id.
    pub(crate) id: i64,
    /// Who wrote it: `user`, `loop`, `heartbeat`, `agent`.
    pub(crate) origin: &'static str,
    /// The text.
    pub(crate) text: &'a str,
    /// When.
    pub(crate) at: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_flood_the_end_is_kept() {
        let mut turn = TurnNow {
            id: 1,
            by: By::User,
            row: 1,
            text: String::new(),
            said: String::new(),
            placed: true,
            claimed_at: 0.0,
            missed: 0,
        };
        let piece = "é".repeat(100_001);
        for _ in 0..100 {
            turn.says(&piece);
            assert!(turn.said.len() <= 2 * SAID);
        }
        turn.says("the end");
        assert!(turn.said.len() >= SAID && turn.said.ends_with("éthe end"));
    }
}
