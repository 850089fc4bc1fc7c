//! What happens to a session, and what it asks for in return.

use super::reaper::Reaper;
use super::refusal::Refusal;
use super::schedule::{Asked, NotDriven, Schedule, TimerKind};
use super::turn::{By, StopCause};

/// What happened to a session.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A client opens or activates this session.
    Attach(String),
    /// A client closed it, or its socket is gone.
    Detach(String),
    /// A client used this session. Status polls, pings and lists are no use and no event.
    Used(String),
    /// The user wrote something.
    UserMessage,
    /// A timer is due.
    TickDue(TimerKind),
    /// The agent runs for the claimed turn.
    TurnBegan,
    /// No agent ever ran for the claimed turn.
    TurnNeverBegan,
    /// Real output, or declared progress.
    Progress,
    /// The agent is done, however it ended.
    TurnEnded,
    /// The user interrupts (`session.interrupt`).
    Interrupt,
    /// The agent waits for an answer of the user.
    PromptAsked,
    /// It has it, or no longer needs it.
    PromptAnswered,
    /// The session has started.
    Started,
    /// What is known of delegated work.
    Delegated(Asked<u32>),
    /// What is known of its timers.
    Schedules(Asked<Vec<Schedule>>),
    /// The moment of `next_wake` may have come.
    Wake,
    /// The plan of the idle reaper or the cap has this session as a victim.
    Reap(Reaper),
    /// Someone closes the session for good.
    Close(String),
}

/// What a session asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// The client is in; send it what it missed.
    Attached,
    /// The request is refused.
    Refuse(Refusal),
    /// Run the agent.
    StartTurn(By),
    /// The message waits for the running turn; so many wait now.
    Queued(usize),
    /// The timer has to wait: the session is busy.
    Busy(TimerKind),
    /// Nothing runs and nothing waits: due timers may have their turn.
    Idle,
    /// Stop the agent, politely.
    StopTurn(StopCause),
    /// The agent did not stop in time: kill its group; its turn is over.
    AbandonTurn(StopCause),
    /// Queued messages were dropped.
    DropQueued(usize),
    /// Tell the waiting prompt that nobody answers.
    DenyPrompt,
    /// A live schedule loses its driver. It stays in the store with its due time and this record.
    NotDriven(NotDriven),
    /// The session is over, with this end reason. Always the last effect.
    Remove(String),
}
