//! What only we record of an execution: how it was launched, who runs it, and why it ended.
//!
//! It lies in a table of our own beside the other program's, in the same store, so that one
//! transaction covers both and neither changes the meaning of the other's columns. There is no
//! foreign key on purpose: the other program prunes its rows with foreign keys on, and must not be
//! refused because of ours. [`PRUNE`] follows it.

use serde::{Deserialize, Serialize};

use crate::db::Stamp;

/// The table, made where it is not there. No `STRICT`: an older SQLite of the other program could
/// not open the store any more.
///
/// - `execution_id`: the row of `executions` this is about;
/// - `mode`: `in_process`, `scoped` or `degraded`;
/// - `manager`: `user` or `system`, for a scoped one;
/// - `unit`: the scope or service it runs in;
/// - `mechanism`: `scope`, `service` or `child`;
/// - `properties`: a JSON object: what was asked of the unit, and what this systemd refused;
/// - `boot_id`, `pid1_start`: the boot it runs in; containers share the host's boot id, so the
///   start of PID 1 in clock ticks stands beside it;
/// - `worker_pid`, `worker_start`: the worker, and its start in clock ticks;
/// - `pgid`: not written any more, and kept for an older version beside this one, which writes it;
/// - `cause`: why it ended, one of the words of [`Cause`]; `detail`: the same in a sentence;
/// - `recorded_at`, `ended_at`: RFC 3339, when it was launched and when the cause was recorded.
pub const SCHEMA: &str = "CREATE TABLE IF NOT EXISTS execution_facts (
    execution_id TEXT PRIMARY KEY,
    mode TEXT NOT NULL,
    manager TEXT,
    unit TEXT,
    mechanism TEXT,
    properties TEXT,
    boot_id TEXT,
    pid1_start INTEGER,
    worker_pid INTEGER,
    worker_start INTEGER,
    pgid INTEGER,
    cause TEXT,
    detail TEXT,
    recorded_at TEXT NOT NULL,
    ended_at TEXT
)";

/// Drops the facts of executions that the ledger no longer keeps.
pub const PRUNE: &str =
    "DELETE FROM execution_facts WHERE execution_id NOT IN (SELECT id FROM executions)";

/// Why an execution ended that did not end by itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The process that dispatched it was restarted, and it went along.
    GatewayRestart,
    /// The user manager stopped (a logout, or linger switched off) and took its scopes along.
    UserManagerStopped,
    /// The kernel killed it for want of memory.
    Oom,
    /// A signal from somebody.
    Signal,
    /// The machine went down.
    Reboot,
    /// It ran longer than it may.
    TimeLimit,
    /// Nothing that is left tells why.
    CannotTell,
    /// A word that a newer version may have added.
    Other(String),
}

impl Cause {
    /// The word in the store.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::GatewayRestart => "gateway_restart",
            Self::UserManagerStopped => "user_manager_stopped",
            Self::Oom => "oom",
            Self::Signal => "signal",
            Self::Reboot => "reboot",
            Self::TimeLimit => "time_limit",
            Self::CannotTell => "cannot_tell",
            Self::Other(word) => word,
        }
    }
}

impl From<String> for Cause {
    fn from(word: String) -> Self {
        match word.as_str() {
            "gateway_restart" => Self::GatewayRestart,
            "user_manager_stopped" => Self::UserManagerStopped,
            "oom" => Self::Oom,
            "signal" => Self::Signal,
            "reboot" => Self::Reboot,
            "time_limit" => Self::TimeLimit,
            "cannot_tell" => Self::CannotTell,
            _ => Self::Other(word),
        }
    }
}

/// One row of `execution_facts`; the columns are explained at [`SCHEMA`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutionFacts {
    /// The execution.
    pub execution_id: String,
    /// The dispatch mode's word.
    pub mode: String,
    /// Whose manager.
    pub manager: Option<String>,
    /// The unit's name.
    pub unit: Option<String>,
    /// How the worker was placed.
    pub mechanism: Option<String>,
    /// A JSON object, as written.
    pub properties: Option<String>,
    /// The boot it runs in.
    pub boot_id: Option<String>,
    /// Start of PID 1 in clock ticks.
    pub pid1_start: Option<i64>,
    /// The worker.
    pub worker_pid: Option<i64>,
    /// Start of the worker in clock ticks.
    pub worker_start: Option<i64>,
    /// Why it ended.
    pub cause: Option<Cause>,
    /// The same in a sentence.
    pub detail: Option<String>,
    /// When it was launched.
    pub recorded_at: Option<Stamp>,
    /// When the cause was recorded.
    pub ended_at: Option<Stamp>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_causes_survive_a_round_trip() {
        let words = [
            "gateway_restart",
            "user_manager_stopped",
            "oom",
            "signal",
            "reboot",
            "time_limit",
            "cannot_tell",
            "hit_by_a_meteor",
        ];
        for word in words {
            let cause = Cause::from(word.to_owned());
            assert_eq!(cause.word(), word);
            assert_eq!(matches!(cause, Cause::Other(_)), word == "hit_by_a_meteor");
        }
    }
}
