//! What the log of a serve says of each run: a line where it begins and one where it ends, with its id and its
//! outcome. Nothing that the run printed, or was given, stands in them.

use super::Fate;
use crate::dispatch::handover::Acknowledgement;
use crate::output::human;

/// A worker has begun with a run, by its word, which is handed on.
pub(super) fn began<'w>(job_id: &str, worker: &'w Acknowledgement) -> &'w Acknowledgement {
    let Acknowledgement {
        execution_id: id,
        mode,
        pid,
        ..
    } = worker;
    let job = human::printable(job_id);
    let place = worker.unit.as_ref();
    let place = place.map_or_else(String::new, |unit| format!(", in {unit}"));
    tracing::info!("Run {id} of job {job} began: {mode}, pid {pid}{place}.");
    worker
}

/// How a run ended, which is handed on.
pub(super) fn ended(job_id: &str, fate: Fate) -> Fate {
    if let Fate::Ended {
        execution_id, ok, ..
    } = &fate
    {
        let job = human::printable(job_id);
        let outcome = if *ok { "completed" } else { "failed" };
        tracing::info!("Run {execution_id} of job {job} ended: {outcome}.");
    }
    fate
}
