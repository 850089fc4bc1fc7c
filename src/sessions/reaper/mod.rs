//! The three reapers, and the sweep at the start. Each is a pure function from sessions and limits to claims; none of them knows
//! an exemption.

pub mod cap;
pub mod idle;
pub mod orphan;
pub mod sweep;

use serde::Serialize;

/// Which reaper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reaper {
    /// Nobody came back within the grace.
    Orphan,
    /// Nobody used it for hours.
    Idle,
    /// Too many are held.
    Cap,
    /// A process left it open and has ended.
    Sweep,
}

impl Reaper {
    /// Those that look at live sessions, in the order in which they are asked.
    pub const ALL: [Self; 3] = [Self::Orphan, Self::Idle, Self::Cap];

    /// Its word on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Orphan => "orphan",
            Self::Idle => "idle",
            Self::Cap => "cap",
            Self::Sweep => "sweep",
        }
    }

    /// The end reason it leaves in the store.
    #[must_use]
    pub fn end_reason(self) -> &'static str {
        match self {
            Self::Orphan => "ws_orphan_reap",
            Self::Idle => "idle_timeout",
            Self::Cap => "lru_evict",
            Self::Sweep => "startup_orphan_reap",
        }
    }
}

/// What a reaper would do with a session, exemptions aside.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// Not its business, or not yet; with the next look where one is due. Awake seconds.
    Pass {
        /// Why.
        why: String,
        /// When to look again.
        next_check: Option<f64>,
    },
    /// Stop its turn first.
    Interrupt(String),
    /// Remove it.
    Take(String),
    /// Remove it if it is among the first `excess` of all `Surplus` sessions that nothing keeps.
    Surplus {
        /// Its place, oldest use first.
        place: usize,
        /// How many are to go.
        excess: usize,
    },
}

impl Claim {
    pub(crate) fn pass(why: impl Into<String>, next_check: Option<f64>) -> Self {
        Self::Pass {
            why: why.into(),
            next_check,
        }
    }
}
