//! The handover of an execution from the dispatcher to a worker, as data: what goes to the worker on
//! stdin, what comes back on stdout, and how long either may take. Pure.
//!
//! ```text
//! claimed ── offered, worker spawned ── placed ── adopted (running) ── one end
//!    │            │                        │
//!    │            └── no worker adopts ────┴── taken back: offered once more, then a failed launch
//!    └── the row alone decides who has it: one conditional update adopts, one takes back
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Kind, Result};
use crate::ledger::Execution;

/// The one deadline of a handover, for both sides; Hermes Agent's recovery waits as long.
pub const DEADLINE: Duration = Duration::from_secs(30);
/// The part of it that placing may take, so that the fallback still fits.
pub const PLACING: Duration = Duration::from_secs(5);
/// The version of payload and acknowledgement. A worker is always of its dispatcher's build, so any
/// other version is somebody else's.
pub const VERSION: u32 = 1;
/// How often an offer is made before the launch counts as failed.
pub const OFFERS: u32 = 2;

/// How much longer a worker may be on its way with a row; `None`: it is not on offer, or was for too long.
#[must_use]
pub fn offer_left(row: &Execution, now: Timestamp) -> Option<Duration> {
    let since = row.handoff_started_at.filter(|_| row.handoff_pending)?;
    let age = Duration::try_from(now.duration_since(since)).ok()?;
    DEADLINE.checked_sub(age).filter(|left| !left.is_zero())
}

/// What a worker reads on its stdin.
#[derive(Clone, Serialize, Deserialize)]
pub struct Payload {
    /// [`VERSION`].
    pub version: u32,
    /// The row to adopt.
    pub execution_id: String,
    /// The home.
    pub home: String,
    /// Zone in which times are written: an IANA name, or none for the host's.
    pub zone: Option<String>,
    /// What is to be run, in the terms of whoever dispatches: a job of cron.
    pub work: Value,
    /// Environment of whatever the job runs: the worker inherits none of it.
    pub environment: BTreeMap<String, String>,
    /// The dispatch mode if the worker is not placed: `in_process` or `degraded`.
    pub unplaced_mode: String,
}

impl std::fmt::Debug for Payload {
    /// Without job and environment: they hold prompts and secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Payload")
            .field("execution_id", &self.execution_id)
            .finish_non_exhaustive()
    }
}

impl Payload {
    /// Reads what came on stdin.
    ///
    /// # Errors
    /// When it is no payload of this version. The text itself is never part of the error.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(
                Error::new(Kind::Refused, "there is no payload on stdin").with_hint(
                    "workers are started by 'hermes serve' and 'hermes cron run', not by hand",
                ),
            );
        }
        let payload: Self = serde_json::from_slice(bytes).map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            Error::new(
                Kind::Invalid,
                format!("the payload cannot be read ({place})"),
            )
        })?;
        if payload.version == VERSION {
            Ok(payload)
        } else {
            let message = format!("the payload has version {}, not {VERSION}", payload.version);
            Err(Error::new(Kind::Invalid, message))
        }
    }
}

/// How the worker was placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mechanism {
    /// It is a plain child.
    Child,
    /// A scope was made around it.
    Scope,
    /// A manager started it as a service.
    Service,
}

impl Mechanism {
    /// The word in the store.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Child => "child",
            Self::Scope => "scope",
            Self::Service => "service",
        }
    }
}

/// What a worker says on its stdout once the row is its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acknowledgement {
    /// [`VERSION`].
    pub version: u32,
    /// The row.
    pub execution_id: String,
    /// Who runs it now.
    pub pid: u32,
    /// When that process started, in clock ticks since boot.
    pub start_ticks: Option<u64>,
    /// The dispatch mode.
    pub mode: String,
    /// How it was placed.
    pub mechanism: Mechanism,
    /// The unit that it is in.
    pub unit: Option<String>,
    /// Why it is in none, where one was asked for.
    pub unplaced_because: Option<String>,
}

impl Acknowledgement {
    /// Reads one line of a worker's stdout; `None` for anything else than this row's acknowledgement.
    #[must_use]
    pub fn parse(line: &str, execution_id: &str) -> Option<Self> {
        let read: Self = serde_json::from_str(line).ok()?;
        (read.version == VERSION && read.execution_id == execution_id).then_some(read)
    }
}

/// What becomes of an offer that nobody adopted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Somebody adopted it after all: wait for its end.
    Wait,
    /// It is offered once more.
    OfferAgain,
    /// The launch has failed.
    GiveUp,
}

/// Decides after a worker ended, or stayed silent past the deadline, without an acknowledgement.
/// `taken_back`: the conditional update that takes the row back found it not adopted.
#[must_use]
pub fn after_silence(taken_back: bool, offers: u32, refused: bool) -> Next {
    match (taken_back, refused, offers < OFFERS) {
        (false, _, _) => Next::Wait,
        (true, false, true) => Next::OfferAgain,
        (true, ..) => Next::GiveUp,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn b89_silence_is_offered_once_more_and_an_adopted_row_never() {
        for offers in 0..4 {
            for refused in [false, true] {
                assert_eq!(after_silence(false, offers, refused), Next::Wait);
            }
        }
        assert_eq!(after_silence(true, 1, false), Next::OfferAgain);
        assert_eq!(after_silence(true, OFFERS, false), Next::GiveUp);
        assert_eq!(
            after_silence(true, 1, true),
            Next::GiveUp,
            "a refusal is final"
        );
    }

    #[test]
    fn b26_an_offer_stands_for_half_a_minute() {
        let made: Timestamp = "2026-06-17T10:00:00Z".parse().unwrap();
        let left = |seconds: i64, pending: bool| {
            let row: Execution = serde_json::from_value(serde_json::json!({
                "id": "e", "job_id": "j", "source": "builtin", "process_id": "p", "status": "claimed",
                "handoff_pending": pending, "handoff_started_at": made,
            }))
            .unwrap();
            let now = made + jiff::SignedDuration::from_secs(seconds);
            offer_left(&row, now).map(|left| left.as_secs())
        };
        assert_eq!((left(0, true), left(29, true)), (Some(30), Some(1)));
        assert_eq!((left(30, true), left(31, true)), (None, None));
        assert_eq!(left(-1, true), None, "the clock was set back");
        assert_eq!(left(5, false), None, "it is not on offer");
    }

    #[test]
    fn b27_a_half_written_acknowledgement_is_none_yet() {
        let whole = r#"{"version":1,"execution_id":"x","pid":7,"start_ticks":9,"mode":"scoped","mechanism":"scope","unit":null,"unplaced_because":null}"#;
        assert!(Acknowledgement::parse(whole, "x").is_some());
        assert_eq!(Acknowledgement::parse(whole, "y"), None);
        for end in 0..whole.len() {
            assert_eq!(Acknowledgement::parse(&whole[..end], "x"), None);
        }
    }

    #[test]
    fn an_empty_stdin_is_told_from_a_broken_one() {
        assert_eq!(Payload::parse(b" \n").unwrap_err().kind(), Kind::Refused);
        let error = Payload::parse(br#"{"version":1,"environment":{"K":"secret""#).unwrap_err();
        assert_eq!(error.kind(), Kind::Invalid);
        assert!(!format!("{error:?}").contains("secret"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_refused_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(Payload::parse(&bytes).is_err());
        }

        #[test]
        fn any_line_is_read(line in ".*") {
            prop_assert!(Acknowledgement::parse(&line, "x").is_none());
        }
    }
}
