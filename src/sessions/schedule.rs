//! What a session knows of its own timers, and of work that others do for it.

use serde::Serialize;

use super::ending;
use crate::timers::event::TimerRules;
use crate::timers::heartbeat::Heartbeat;
use crate::timers::loop_row::LoopRow;
use crate::timers::row::Status;

/// An answer that may be missing because its source could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Asked<T> {
    /// The answer.
    Known(T),
    /// Why there is none.
    Unreadable(String),
}

/// The two kinds of timers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TimerKind {
    /// A loop.
    Loop,
    /// A heartbeat.
    Heartbeat,
}

impl TimerKind {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Loop => "loop",
            Self::Heartbeat => "heartbeat",
        }
    }
}

/// A timer, as far as its session is concerned.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Schedule {
    /// Which kind.
    pub kind: TimerKind,
    /// Whether it is armed: neither paused nor at its end.
    pub active: bool,
    /// Whether a messaging gateway drives it: a routed loop, or a heartbeat whose session is in the
    /// gateway's routing index.
    pub elsewhere: bool,
    /// Whether no limit ends it.
    pub unbounded: bool,
    /// When it is due; seconds since the epoch.
    pub due_at: Option<f64>,
}

impl Schedule {
    /// Whether serve is the sole driver of this schedule, and it is live.
    #[must_use]
    pub fn pins(&self) -> bool {
        self.active && !self.elsewhere
    }
}

/// A schedule that outlives its session in the store, and why nobody drives it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NotDriven {
    /// Which kind.
    pub kind: TimerKind,
    /// Why, as it follows `not driven: `.
    pub reason: String,
    /// When it would have been due; seconds since the epoch.
    pub due_at: Option<f64>,
}

/// What the removal of a session leaves of its schedules: those that it was the sole driver of.
#[must_use]
pub fn left(schedules: &[Schedule], reason: &str) -> Vec<NotDriven> {
    let live = schedules.iter().filter(|one| one.pins());
    live.map(|one| NotDriven {
        kind: one.kind,
        reason: format!("its session has ended: {}", ending::in_full(reason)),
        due_at: one.due_at,
    })
    .collect()
}

/// How a session sees its loop.
#[must_use]
pub fn of_loop(row: &LoopRow) -> Schedule {
    Schedule {
        kind: TimerKind::Loop,
        active: row.status == Status::Active,
        elsewhere: row.is_routed(),
        unbounded: row.is_unbounded(),
        due_at: Some(row.next_due_at),
    }
}

/// How a session sees its heartbeat, and by which rules.
#[must_use]
pub fn of_heartbeat(beat: &Heartbeat, rules: &TimerRules) -> Schedule {
    Schedule {
        kind: TimerKind::Heartbeat,
        active: beat.row.status == Status::Active,
        elsewhere: beat.gateway_owned,
        unbounded: rules.max_beats == 0,
        due_at: Some(beat.due_at(rules)),
    }
}
