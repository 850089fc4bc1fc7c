//! What is stored of a session. Plain data; stamps are seconds since the epoch.

use serde::Serialize;

use crate::sessions::schedule::{Schedule, of_heartbeat, of_loop};
use crate::timers::event::TimerRules;
use crate::timers::heartbeat::{Heartbeat, HeartbeatOwn};
use crate::timers::heartbeat_row::HeartbeatRow;
use crate::timers::loop_row::LoopRow;
use crate::timers::loop_state::{LoopOwn, LoopState};
use crate::timers::row::RowError;

/// The words of a message's state.
pub mod state {
    /// It waits for its turn.
    pub const QUEUED: &str = "queued";
    /// Its turn runs.
    pub const RUNNING: &str = "running";
    /// Its turn ended well.
    pub const DONE: &str = "done";
    /// Its turn was cut short.
    pub const INTERRUPTED: &str = "interrupted";
    /// Its turn failed.
    pub const ERROR: &str = "error";
}

/// A session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Card {
    /// Its id: `YYYYMMDD_HHMMSS_` and six hex digits.
    pub id: String,
    /// Where it was begun: `desktop`, `tui`, `cli`.
    pub source: String,
    /// What a person knows it by.
    pub title: Option<String>,
    /// Its working directory.
    pub cwd: Option<String>,
    /// The model that its client named.
    pub model: Option<String>,
    /// The session it was branched from.
    pub parent_id: Option<String>,
    /// Not shown in lists.
    pub hidden: bool,
    /// The agent's own id of the conversation.
    pub agent_session: Option<String>,
    /// The begin of its first message.
    pub preview: String,
    /// How many messages it has.
    pub message_count: u64,
    /// When it was begun.
    pub started_at: f64,
    /// When it was last used.
    pub last_active: f64,
    /// When it ended.
    pub ended_at: Option<f64>,
    /// Why.
    pub end_reason: Option<String>,
}

/// A message.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Its id, rising over all sessions.
    pub id: i64,
    /// Its session.
    pub session_id: String,
    /// `user` or `assistant`.
    pub role: &'static str,
    /// Who wrote it: `user`, `loop`, `heartbeat`, `agent`.
    pub origin: &'static str,
    /// The text.
    pub text: String,
    /// When.
    pub at: f64,
    /// A word of [`state`].
    pub state: &'static str,
}

/// A wake-up that is over, and as answers show it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tick {
    /// The session; whoever asked named it.
    #[serde(skip)]
    pub session_id: String,
    /// `loop` or `heartbeat`.
    pub kind: &'static str,
    /// Which one, from 1.
    pub number: u64,
    /// Slots that passed unserved before it.
    pub missed: u64,
    /// When it was claimed.
    pub claimed_at: f64,
    /// When it was over.
    pub ended_at: f64,
    /// `finished`, `failed`, `interrupted`, `cut`, `given back`.
    pub outcome: &'static str,
    /// The begin of the answer, or what went wrong.
    pub detail: String,
}

/// The sign of life of a backend, as Hermes Agent knows them.
#[derive(Debug, Clone, PartialEq)]
pub struct Backend {
    /// `<profile>@<host>:<pid>:<8 hex digits>`.
    pub id: String,
    /// Its pid.
    pub pid: u32,
    /// When it started.
    pub started_at: f64,
    /// Its profile.
    pub profile: String,
    /// Its host.
    pub host: String,
}

/// Something to be stored, in any order but within its session.
#[derive(Debug, Clone, PartialEq)]
pub enum Write {
    /// A session, as it is now.
    Card(Card),
    /// A session's title.
    Title(String, String),
    /// A message, as it is now.
    Message(Message),
    /// A message's new state.
    State(i64, &'static str),
    /// A wake-up that is over.
    Tick(Tick),
    /// Why a timer is not driven; none where it is.
    NotDriven {
        /// The session.
        session_id: String,
        /// `loop` or `heartbeat`.
        kind: &'static str,
        /// Why.
        reason: Option<String>,
        /// When it would have been due.
        due_at: Option<f64>,
    },
    /// A backend lives at this moment.
    Alive(Backend, f64),
    /// A backend is gone.
    Gone(String),
}

/// A timer as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredTimer {
    /// The text of its row.
    pub text: String,
    /// What only we know of it.
    pub own: String,
    /// Why it is not driven.
    pub not_driven: Option<String>,
}

impl StoredTimer {
    /// It as a loop. What only we know of it can be lost without harm: counts begin anew.
    ///
    /// # Errors
    /// When its row cannot be read.
    pub fn looping(&self) -> Result<LoopState, RowError> {
        let row = LoopRow::parse(&self.text)?;
        let own: LoopOwn = serde_json::from_str(&self.own).unwrap_or_default();
        Ok(LoopState::restore(row, own))
    }

    /// It as a heartbeat.
    ///
    /// # Errors
    /// When its row cannot be read.
    pub fn heartbeat(&self, gateway_owned: bool) -> Result<Heartbeat, RowError> {
        let row = HeartbeatRow::parse(&self.text)?;
        let own: HeartbeatOwn = serde_json::from_str(&self.own).unwrap_or_default();
        Ok(Heartbeat {
            row,
            own,
            gateway_owned,
        })
    }
}

/// A session that is not for us: Hermes Agent made it, or another process has it live.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Theirs {
    /// Whose it is, in words.
    pub holder: String,
    /// Since when a process has it, where the registry says so, else since when it is there: seconds
    /// since the epoch.
    pub since: Option<i64>,
}

/// A session that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The session.
    pub card: Card,
    /// The newest messages, oldest first.
    pub messages: Vec<Message>,
    /// Its loop.
    pub looping: Option<StoredTimer>,
    /// Its heartbeat.
    pub heartbeat: Option<StoredTimer>,
    /// A messaging gateway has it in its routing index, so that one beats.
    pub gateway_owned: bool,
}

impl Found {
    /// Its timers, as far as their rows can be read.
    #[must_use]
    pub fn schedules(&self, rules: &TimerRules) -> Vec<Schedule> {
        let looping = self.looping.as_ref().and_then(|one| one.looping().ok());
        let beat = self.heartbeat.as_ref();
        let beat = beat.and_then(|one| one.heartbeat(self.gateway_owned).ok());
        let looping = looping.map(|state| of_loop(&state.row));
        let beat = beat.map(|state| of_heartbeat(&state, rules));
        looping.into_iter().chain(beat).collect()
    }
}

/// What a start finds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Loaded {
    /// The id of the next message.
    pub next_message: i64,
    /// Sessions with an armed timer or a message that waits.
    pub revived: Vec<Found>,
    /// Turns that the end of the last serve cut short.
    pub interrupted: usize,
}
