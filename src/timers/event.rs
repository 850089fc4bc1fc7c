//! What happens to a timer, and what it asks for in return. Owns the words that loops and heartbeats
//! share, and the limits both obey.

use super::pacing::Pace;
use crate::config::Settings;

/// What happened to a timer.
#[derive(Debug, Clone, PartialEq)]
pub enum TimerEvent {
    /// The moment of `next_wake` has come, or the session of the timer changed between busy and
    /// idle, or the clock was set.
    Due {
        /// Whether a turn, a queued message or a closing session leaves no room for a wake-up.
        busy: bool,
    },
    /// The agent runs for the wake-up.
    TurnBegan,
    /// The wake-up was claimed, but no agent ever ran for it.
    TurnNeverBegan(NeverBegan),
    /// The turn of the wake-up ended.
    Answered(Outcome),
    /// The judge has spoken on the `--until` condition.
    Judged {
        /// Whether it is met.
        met: bool,
        /// Why.
        reason: String,
    },
    /// The user wrote something in the session.
    UserMessage,
    /// Someone pauses the timer.
    Pause(String),
    /// Someone resumes it.
    Resume,
    /// Someone ends it for good.
    Stop(String),
    /// A look after a wake-up without an answer.
    Recover(Proof),
}

/// Why a claimed wake-up came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NeverBegan {
    /// A message of the user came first.
    UserFirst,
    /// The agent could not be started.
    Failed(String),
    /// serve drains.
    Stopping,
}

/// How the turn of a wake-up ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// With this answer; an empty one is an answer too.
    Finished(String),
    /// The agent failed, or its result could not be delivered.
    Failed(String),
    /// The user interrupted it.
    Interrupted,
    /// It was cut short for a reason that is not the timer's: no client, a stop of serve.
    Cut,
}

/// What is known about whoever claimed a wake-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// It is proved to be gone.
    OwnerGone,
    /// Nothing; only time tells.
    Unknown,
}

/// What a timer asks for, in this order.
#[derive(Debug, Clone, PartialEq)]
pub enum TimerEffect {
    /// Write the row with a compare-and-swap on its former text. Where that is lost, drop all
    /// effects that follow and read the row again.
    Save,
    /// Run a turn with this text.
    Wake {
        /// What the agent is asked.
        text: String,
        /// Slots that passed unserved before this wake-up.
        missed: u64,
    },
    /// Ask the judge whether the condition is met.
    Judge {
        /// The condition.
        until: String,
        /// The answer to judge by.
        answer: String,
    },
    /// Tell the user.
    Notice(String),
}

/// The limits of timers, from the configuration. Seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct TimerRules {
    /// No two fires of one timer are closer than this (`loops.min_interval_seconds`, at least 5).
    pub floor: f64,
    /// The pace of self-paced loops.
    pub pace: Pace,
    /// The tick budget of a loop (`loops.max_ticks`); 0 is no limit.
    pub max_ticks: u64,
    /// Whether a judge command is configured for `--until`.
    pub judge: bool,
    /// Beats of a heartbeat without a message of the user (`heartbeats.max_beats`); 0 is no limit.
    pub max_beats: u64,
}

impl TimerRules {
    /// The limits that a configuration sets; what it leaves open is 0 here.
    #[must_use]
    pub fn of(settings: &Settings) -> Self {
        let loops = &settings.loops;
        let (floor, ceiling) = (loops.self_paced_floor, loops.self_paced_ceiling);
        Self {
            floor: loops.min_interval.as_secs_f64().max(LEAST_FLOOR_SECONDS),
            pace: Pace::new(floor.as_secs_f64(), ceiling.as_secs_f64()),
            max_ticks: loops.max_ticks.unwrap_or(0),
            judge: !loops.judge.is_empty(),
            max_beats: settings.heartbeats.max_beats.unwrap_or(0),
        }
    }
}

/// `loops.min_interval_seconds` cannot be set below this.
const LEAST_FLOOR_SECONDS: f64 = 5.0;

impl Default for TimerRules {
    fn default() -> Self {
        Self {
            floor: 30.0,
            pace: Pace::default(),
            max_ticks: 100,
            judge: false,
            max_beats: 100,
        }
    }
}

/// A wake-up after `resume` comes this soon, or after the cadence where that is shorter. Seconds.
pub const RESUME_DELAY_SECONDS: f64 = 5.0;

/// A wake-up without an answer is given up after so many cadences.
pub const LOST_AFTER_CADENCES: f64 = 2.0;
