//! Whether whoever has a run lives, by all that is recorded of it. Looks at the process table.

use crate::host::identity_probe::OwnIdentity;
use crate::host::liveness::{BootMark, Identity, Liveness, judge};
use crate::host::liveness_probe;
use crate::ledger::{Execution, ExecutionFacts, Status};

/// Whether the owner of a row lives.
pub(super) fn liveness_of(
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
