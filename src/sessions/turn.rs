//! The turn of a session: who asked for it, and how far it is.

use super::schedule::TimerKind;

/// Who asked for a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum By {
    /// A message of the user.
    User,
    /// A wake-up of a timer.
    Timer(TimerKind),
}

impl By {
    /// The words for it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::User => "a message of the user",
            Self::Timer(TimerKind::Loop) => "a wake-up of its loop",
            Self::Timer(TimerKind::Heartbeat) => "a beat of its heartbeat",
        }
    }
}

/// Why a turn was told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StopCause {
    /// The user interrupted it.
    User,
    /// Its client is gone and it makes no progress.
    ClientGone,
    /// It makes no progress.
    Stalled,
    /// Its session is being closed.
    Closing,
}

impl StopCause {
    /// Whether a timer counts the turn as a failure of its agent.
    #[must_use]
    pub fn is_failure(self) -> bool {
        matches!(self, Self::ClientGone | Self::Stalled)
    }

    /// The words for it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::User => "the user interrupted it",
            Self::ClientGone => "its client is gone and it made no progress",
            Self::Stalled => "it made no progress",
            Self::Closing => "its session is being closed",
        }
    }
}

/// An order to stop, with the moment at which the turn is given up. Awake seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    /// Why.
    pub cause: StopCause,
    /// When it was told.
    pub at: f64,
    /// When it is given up.
    pub until: f64,
}

/// A turn that was claimed. Awake seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Who asked for it.
    pub by: By,
    /// When it was claimed.
    pub claimed_at: f64,
    /// Whether the agent runs, or still waits for its place.
    pub began: bool,
    /// The last real output or declared progress; at first, the claim.
    pub progress_at: f64,
    /// Whether it was told to stop.
    pub stop: Option<Stop>,
}

impl Turn {
    /// A turn that is claimed now.
    #[must_use]
    pub fn claim(by: By, now: f64) -> Self {
        Self {
            by,
            claimed_at: now,
            began: false,
            progress_at: now,
            stop: None,
        }
    }
}
