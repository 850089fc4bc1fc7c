//! A run that a person asks the serve of a home for: what is asked, and what is answered as soon as it
//! has begun, or is known not to begin. Plain data; it travels over the Unix socket of serve.

use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::dispatcher::Fate;

/// What is asked.
#[derive(Debug)]
pub struct Wanted {
    /// The job.
    pub job_id: String,
    /// The id that its execution gets: 32 hex digits that no other has.
    pub execution_id: String,
    /// Gets the answer.
    pub answer: oneshot::Sender<Begun>,
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begun {
    /// A worker has it; its end will be in its row.
    Running,
    /// It is over already, or did not begin.
    Over(Fate),
}

impl Begun {
    /// For the socket.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let (outcome, error) = match self {
            Self::Running => ("running", None),
            Self::Over(fate) => (fate.word(), fate.error()),
        };
        json!({"outcome": outcome, "error": error})
    }

    /// What came over the socket about this execution. An outcome that we do not know did not begin.
    #[must_use]
    pub fn from_json(answer: &Value, execution_id: &str) -> Self {
        let text = |key: &str| answer.get(key).and_then(Value::as_str).map(str::to_owned);
        let why = || text("error").unwrap_or_else(|| "serve does not say why".to_owned());
        let ended = |ok| Fate::Ended {
            execution_id: execution_id.to_owned(),
            ok,
            error: text("error"),
        };
        Self::Over(match text("outcome").as_deref() {
            Some("running") => return Self::Running,
            Some("succeeded") => ended(true),
            Some("failed") => ended(false),
            Some("was_not_run") => Fate::Skipped(why()),
            Some("was_refused") => Fate::Refused(why()),
            _ => Fate::NotLaunched {
                execution_id: None,
                error: why(),
                refused: false,
            },
        })
    }
}

impl Fate {
    /// The word of `hermes.cron-run/1`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Ended { ok: true, .. } => "succeeded",
            Self::Ended { ok: false, .. } => "failed",
            Self::Skipped(_) | Self::Waits(_) => "was_not_run",
            Self::Refused(_) => "was_refused",
            Self::NotLaunched { .. } => "could_not_be_launched",
        }
    }

    /// Why, where there is something to say.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        match self {
            Self::Ended { error, .. } => error.as_deref(),
            Self::Skipped(why) | Self::Waits(why) | Self::Refused(why) => Some(why),
            Self::NotLaunched { error, .. } => Some(error),
        }
    }

    /// The row, where there is one.
    #[must_use]
    pub fn execution_id(&self) -> Option<&str> {
        match self {
            Self::Ended { execution_id, .. } => Some(execution_id),
            Self::NotLaunched { execution_id, .. } => execution_id.as_deref(),
            Self::Skipped(_) | Self::Waits(_) | Self::Refused(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_answered_is_read_back() {
        let ended = |ok, error: Option<&str>| Fate::Ended {
            execution_id: "e".to_owned(),
            ok,
            error: error.map(str::to_owned),
        };
        let lost = Fate::NotLaunched {
            execution_id: None,
            error: "x".to_owned(),
            refused: false,
        };
        let fates = [
            ended(true, None),
            ended(false, Some("x")),
            Fate::Skipped("x".to_owned()),
            Fate::Refused("x".to_owned()),
            lost,
        ];
        for begun in fates.map(Begun::Over).into_iter().chain([Begun::Running]) {
            assert_eq!(Begun::from_json(&begun.to_json(), "e"), begun);
        }
        let newer = Begun::from_json(&json!({"outcome": "postponed"}), "e");
        assert!(matches!(newer, Begun::Over(Fate::NotLaunched { .. })));
    }
}
