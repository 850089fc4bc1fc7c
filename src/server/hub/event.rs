//! What reaches the hub, and what it asks for. Plain data.

use std::path::PathBuf;
use std::sync::Arc;

use super::Settings;
use crate::agent::AgentCommand;
use crate::server::protocol::Failure;
use crate::sessions::schedule::TimerKind;
use crate::sessions::store::{Card, Found, Loaded, Message, Theirs, Tick, Write};
use crate::timers::driver::{Save, Saved};

/// A connection.
pub(crate) type ConnId = u64;
/// A turn.
pub(crate) type TurnId = u64;

/// What happened.
#[derive(Debug)]
pub(crate) enum Event {
    /// A client came.
    Connected {
        /// Its connection.
        conn: ConnId,
        /// What it is called in refusals and lists.
        label: String,
    },
    /// A client said something.
    Frame {
        /// Its connection.
        conn: ConnId,
        /// The text.
        text: String,
    },
    /// A client is gone.
    Disconnected(ConnId),
    /// Something may be due.
    Wake,
    /// The agent runs.
    TurnBegan(TurnId),
    /// The agent could not be started.
    TurnNotStarted(TurnId, String),
    /// The agent said something; empty is a sign of life.
    TurnOutput(TurnId, String),
    /// The agent declares that it gets on, and with what.
    TurnProgress(TurnId, String),
    /// The agent is done.
    TurnEnded(TurnId, Box<End>),
    /// The judge has spoken.
    Judged(Judgement),
    /// A run by hand has begun, or is known not to.
    JobBegun {
        /// Who asked.
        conn: ConnId,
        /// The id of the request.
        id: serde_json::Value,
        /// What came of it.
        begun: Result<serde_json::Value, Failure>,
    },
    /// The store answers.
    Stored(Box<Stored>),
    /// There is a new configuration.
    Reloaded(Box<Settings>),
    /// What is to be said of this serve in `/readyz` has changed.
    Notes(Vec<String>),
    /// An emergency stop stands, or none does.
    EmergencyStop(Option<String>),
    /// Serve is asked to stop.
    Drain,
    /// The time for that is over.
    DrainOver,
}

/// How a turn ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct End {
    /// The answer.
    pub(crate) text: String,
    /// The agent's own id of the conversation.
    pub(crate) agent_session: Option<String>,
    /// The conversation that was to go on is not there any more.
    pub(crate) lost_session: bool,
    /// It was stopped on our request.
    pub(crate) cancelled: bool,
    /// What went wrong.
    pub(crate) failed: Option<String>,
}

/// What a judge said on the condition of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Judgement {
    /// The session.
    pub(crate) session: String,
    /// Whether it is met.
    pub(crate) met: bool,
    /// Why.
    pub(crate) reason: String,
}

/// An order to the store, with what is to become of the answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Order {
    /// Everything that a start has to know.
    Load,
    /// Something to be kept; there is no hurry, and it must not get lost.
    Write(Write),
    /// A timer, by compare-and-swap.
    SaveTimer {
        /// The runtime id.
        session: String,
        /// The stored id.
        stored_id: String,
        /// Which timer.
        kind: TimerKind,
        /// What is to be saved.
        save: Save,
    },
    /// A stored session is held under this runtime id; none lets it go.
    Lease(String, Option<String>),
    /// A session, by id or title.
    Find(String, Then),
    /// A session that nobody holds, for good; by its id.
    Delete(String, Then),
    /// The sessions used last.
    List {
        /// How many at most.
        most: u32,
        /// The hidden ones too.
        hidden: bool,
        /// A part of the title.
        title: Option<String>,
        /// What for.
        then: Then,
    },
    /// The transcript of a session.
    History(String, u32, Then),
    /// The wake-ups of a session's timers.
    Ticks(String, Option<TimerKind>, u32, Then),
    /// Sessions of ours that another process held, and holds no longer.
    Freed,
    /// Sessions that nobody ended, not used since.
    LeftOpen(f64),
    /// The first of these files that is there: a standing task.
    Task(Vec<PathBuf>, Then),
}

/// What an answer of the store is for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Then {
    /// A request of a client, and what it asked.
    Answer {
        /// Its connection.
        conn: ConnId,
        /// The id of its request.
        id: serde_json::Value,
        /// What it asked.
        what: What,
    },
}

/// A request that waits for the store.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum What {
    /// `session.resume`.
    Resume(super::sessions::Resume),
    /// `session.delete` of this session.
    Delete(String),
    /// `session.list`.
    List,
    /// `session.most_recent`.
    MostRecent,
    /// `session.history`.
    History,
    /// `timer.history`.
    Ticks,
    /// A bare `/loop` in this session.
    BareLoop(String, super::commands::Form),
}

/// An answer of the store.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stored {
    /// Of [`Order::Load`].
    Loaded(Result<Loaded, String>),
    /// So many writes are done with; what is wrong with the store, if anything is.
    Written(usize, Option<String>),
    /// Of [`Order::SaveTimer`].
    Timer(String, TimerKind, Saved),
    /// Of [`Order::Find`].
    Found(Result<Option<Box<Found>>, String>, Then),
    /// Of any question about one session: it is somebody else's, and whose.
    Theirs(Theirs, Then),
    /// Of any question about one session: nobody knows this id.
    Unknown(String, Then),
    /// Of [`Order::Delete`]: whether there was one.
    Deleted(Result<bool, String>, Then),
    /// Of [`Order::List`].
    List(Result<Vec<Card>, String>, Then),
    /// Of [`Order::History`].
    History(Result<Vec<Message>, String>, Then),
    /// Of [`Order::Ticks`].
    Ticks(Result<Vec<Tick>, String>, Then),
    /// Of [`Order::Freed`]: those that have something to do.
    Freed(Vec<Found>),
    /// Of [`Order::LeftOpen`].
    LeftOpen(Result<Vec<Card>, String>),
    /// Of [`Order::Task`].
    Task(Option<String>, Then),
}

/// A turn to be run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TurnSpec {
    /// Its number.
    pub(crate) turn: TurnId,
    /// The stored id of its session.
    pub(crate) stored_id: String,
    /// The agent.
    pub(crate) agent: Arc<AgentCommand>,
    /// What is asked, with whatever has to go before it.
    pub(crate) prompt: String,
    /// The agent's own id of the conversation.
    pub(crate) agent_session: Option<String>,
    /// Where it runs.
    pub(crate) cwd: Option<String>,
}

/// A job that a person wants to be run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RunJob {
    /// Who asks.
    pub(crate) conn: ConnId,
    /// The id of the request.
    pub(crate) id: serde_json::Value,
    /// The job.
    pub(crate) job_id: String,
    /// The id that the execution gets.
    pub(crate) execution_id: String,
}

/// What the hub asks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    /// Send a frame to a client.
    Send(ConnId, Arc<str>),
    /// An order to the store.
    Store(Order),
    /// Run a turn.
    StartTurn(Box<TurnSpec>),
    /// Stop it, politely, then not.
    StopTurn(TurnId),
    /// Ask the judge.
    Judge {
        /// The session.
        session: String,
        /// The condition.
        until: String,
        /// The answer to judge by.
        answer: String,
    },
    /// Run a job of cron now.
    RunJob(RunJob),
    /// Tell the service manager what serve does.
    Status(String),
    /// A line for the log.
    Log(String),
}

/// A page for those who watch serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    /// `/readyz`.
    Ready,
    /// `/metrics`.
    Metrics,
}

/// A page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// Whether all is well.
    pub(crate) good: bool,
    /// The text.
    pub(crate) body: String,
}
