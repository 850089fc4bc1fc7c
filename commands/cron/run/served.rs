//! `hermes cron run` beside a serve of this home: serve runs the job, the way it runs slots, so that the
//! run outlives this terminal; what it prints is shown here as it comes.

use std::time::Duration;

use hermes::cron::dispatcher::Fate;
use hermes::cron::job::{Job, RawJob};
use hermes::cron::stop_run::{self, Target};
use hermes::cron::view_log_file::Follower;
use hermes::cron::wanted_run::Begun;
use hermes::error::{Error, Kind, Result};
use hermes::host::identity_probe::own_identity;
use hermes::ledger::{Execution, Status};
use hermes::runtime::Runtime;
use hermes::server::client::Client;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::interval;

use super::super::desk::Desk;
use super::super::reference::short;
use super::{PACE, Screen, Seen, background, either};

/// Longest wait for the answer: the store's lock, a mute bus, and the handover's own time.
const PATIENCE: Duration = Duration::from_secs(100);
/// Looks at the log between two looks at the ledger.
const LOOKS: u32 = 5;

/// Asks the serve of this home. `None`: there is none, or it runs no jobs.
pub(super) fn ask(desk: &Desk, job: &RawJob, id: &str) -> Result<Option<Begun>> {
    let Ok(Some(mut serve)) = Client::connect(&desk.home) else {
        return Ok(None);
    };
    let job_id = Job::read(job).id().unwrap_or_default().to_owned();
    let params = json!({"job_id": job_id, "execution_id": id});
    match serve.call_within("cron.run", &params, PATIENCE) {
        Ok(answer) => Ok(Some(Begun::from_json(&answer, id))),
        // It was told to run no jobs, or it is older than this method.
        Err(error) if error.kind() == Kind::NotFound => Ok(None),
        // It broke off: what became of the run is in the ledger.
        Err(error) => match background::look(desk, id)? {
            Some(_) => Ok(Some(Begun::Running)),
            None => Err(error),
        },
    }
}

/// Shows what the run prints until its row has ended, or somebody has seen enough.
pub(super) fn follow(runtime: &mut Runtime, desk: &Desk, id: &str, shows: bool) -> Result<Seen> {
    if let Some(seen) = super::reactor()?.block_on(watch(runtime, desk, id, shows))? {
        return Ok(seen);
    }
    // Serve is gone, and took the run along.
    super::sweep(runtime, desk)?;
    match background::look(desk, id)? {
        Some(row) => Ok(Seen::End(fate(row))),
        None => Err(gone(id)),
    }
}

/// `None`: nobody runs it any more, and nobody is there who would close its row.
async fn watch(runtime: &mut Runtime, desk: &Desk, id: &str, shows: bool) -> Result<Option<Seen>> {
    let mut screen = Screen {
        log: Follower::of(&desk.home, id),
        runtime,
        shows,
    };
    let failed = |error| Error::io("failed to listen for signals", error);
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut beat = interval(PACE);
    loop {
        for _ in 0..LOOKS {
            tokio::select! {
                _ = beat.tick() => screen.show(false)?,
                () = either(&mut interrupt, &mut terminate) => {
                    super::left(screen.runtime, id);
                    return Ok(Some(Seen::Left));
                }
            }
        }
        let row = background::look(desk, id)?.ok_or_else(|| gone(id))?;
        let abandoned = row.status.is_open() && is_abandoned(desk, &row)?;
        if abandoned || !row.status.is_open() {
            screen.show(true)?;
            return Ok((!abandoned).then(|| Seen::End(fate(row))));
        }
    }
}

fn gone(id: &str) -> Error {
    Error::new(
        Kind::Failed,
        format!("the row of run {} is gone", short(id)),
    )
}

fn fate(row: Execution) -> Fate {
    Fate::Ended {
        ok: row.status == Status::Completed,
        execution_id: row.id,
        error: row.error,
    }
}

/// Whether the process that owned the run is gone, with nobody left who would close its row.
fn is_abandoned(desk: &Desk, row: &Execution) -> Result<bool> {
    let facts = desk.facts(&row.id)?;
    let target = stop_run::look(row, facts.as_ref(), &own_identity());
    let is_served = || Client::connect(&desk.home).is_ok_and(|serve| serve.is_some());
    Ok(matches!(target, Ok(Target::Abandoned)) && !is_served())
}
