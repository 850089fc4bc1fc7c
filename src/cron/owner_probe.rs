//! Whether whoever has a run lives, by all that is recorded of it. Looks at the process table.

use std::time::Duration;

use jiff::Timestamp;

use crate::config::settings::Cron;
use crate::host::identity_probe::OwnIdentity;
use crate::host::liveness::{BootMark, Doubt, Identity, Liveness, judge};
use crate::host::liveness_probe;
use crate::ledger::{Execution, ExecutionFacts, Status};
use crate::output::human;

/// Shortest silence after which a run counts as over whose owner cannot be told: as in Hermes Agent, which
/// says so of any run.
const SILENCE: Duration = Duration::from_secs(7200);

/// Who judges of owners, and when.
#[derive(Clone, Debug)]
pub(super) struct Beholder {
    /// This process.
    pub(super) own: OwnIdentity,
    /// How long a run may be silent.
    pub(super) silence: Duration,
    /// The instant.
    pub(super) now: Timestamp,
}

impl Beholder {
    /// This process, with what the operator chose.
    pub(super) fn of(own: &OwnIdentity, settings: &Cron, now: Timestamp) -> Self {
        let agent = settings.inactivity_timeout;
        let agent = agent.map(|limit| limit.saturating_mul(3));
        let limits = [agent, settings.script_timeout].into_iter().flatten();
        Self {
            own: own.clone(),
            silence: limits.fold(SILENCE, Duration::max),
            now,
        }
    }

    /// Whether the owner of a row lives. Nobody had it, where it may be somebody else and nothing was heard of
    /// it for too long.
    pub(super) fn liveness_of(&self, row: &Execution, facts: Option<&ExecutionFacts>) -> Liveness {
        match (self.lapse(row, facts), seen_of(row, facts, &self.own)) {
            (Some(_), _) => Liveness::Reused,
            (None, seen) => seen,
        }
    }

    /// Why nobody has a row any more although a process of its pid lives; `None`: somebody may.
    pub(super) fn lapse(&self, row: &Execution, facts: Option<&ExecutionFacts>) -> Option<String> {
        if seen_of(row, facts, &self.own) != Liveness::Unverified(Doubt::StartUnknown) {
            return None;
        }
        let stamps = [&row.progress_at, &row.started_at, &row.claimed_at];
        let heard = stamps.into_iter().flatten().filter_map(|stamp| stamp.at);
        let silent = heard.max().map(|heard| self.now.duration_since(heard));
        let silent = silent.map_or(i64::MAX, |silent| silent.as_secs());
        let limit = i64::try_from(self.silence.as_secs()).unwrap_or(i64::MAX);
        let pid = row.pid.unwrap_or_default();
        (silent > limit).then(|| {
            format!(
                "pid {pid} lives, but nothing tells that it is the one that had the run, of which nothing \
                 was heard for {}",
                human::duration(silent)
            )
        })
    }
}

/// What is seen of the owner of a row.
pub(super) fn seen_of(
    row: &Execution,
    facts: Option<&ExecutionFacts>,
    own: &OwnIdentity,
) -> Liveness {
    let recorded = Identity {
        pid: row.pid.and_then(|pid| u32::try_from(pid).ok()).unwrap_or(0),
        start_ticks: ticks(row.process_started_at),
        boot: facts.and_then(boot_of),
        ..Identity::default()
    };
    liveness(&recorded, own)
}

/// Whether a recorded process lives.
pub(super) fn liveness(recorded: &Identity, own: &OwnIdentity) -> Liveness {
    let boot = own.boot_id.clone().map(|id| BootMark {
        id,
        init_start: own.init_start,
    });
    judge(recorded, &liveness_probe::observe_here(recorded.pid, boot))
}

/// The boot that a run was begun in.
pub(super) fn boot_of(facts: &ExecutionFacts) -> Option<BootMark> {
    Some(BootMark {
        id: facts.boot_id.clone()?,
        init_start: ticks(facts.pid1_start),
    })
}

/// A count of clock ticks, as a record has it.
pub(super) fn ticks(recorded: Option<i64>) -> Option<u64> {
    recorded.and_then(|recorded| u64::try_from(recorded).ok())
}

/// Whether nobody has begun a run, nor taken it over from who had claimed it.
pub(super) fn is_unbegun(row: &Execution, facts: Option<&ExecutionFacts>) -> bool {
    row.status == Status::Claimed && facts.is_none()
}
