//! How a run that was watched ended, and whether its result arrived.

use hermes::cron::delivery::FAILED;
use hermes::cron::dispatcher::Fate;
use hermes::cron::edit_probe;
use hermes::cron::job::{Job, RawJob};
use hermes::cron::run::status_on_record;
use hermes::cron::view_log_file::Follower;
use hermes::error::{Error, Kind, Result};
use hermes::ledger::rows;
use hermes::output::{human, json};
use hermes::runtime::Runtime;
use serde_json::json;

use super::super::desk::Desk;
use super::super::reference;
use super::super::runs::delivery_error;
use super::Run;
use crate::exit::Exit;

impl Run {
    /// Tells how it ended. Whether its result arrived is told beside, and ends with nothing else.
    pub(super) fn tell(
        &self,
        runtime: &mut Runtime,
        desk: &Desk,
        job: &RawJob,
        fate: &Fate,
    ) -> Result<Exit> {
        let view = Job::read(job);
        let job_id = view.id().unwrap_or_default();
        let ending = Ending::of(desk, job, fate);
        let exit = ending.exit;
        // Nobody is to take a run that ended well for one that did not.
        let (delivery, undelivered) = delivery(desk, fate).unwrap_or_else(|error| {
            let words = format!("It cannot be told whether its result arrived: {error}.");
            runtime.out.warn(&words);
            (None, None)
        });
        if self.json {
            let output = fate.execution_id().map(|id| {
                let mut log = Follower::of(&desk.home, id);
                log.all().unwrap_or_default()
            });
            let document = json!({
                "schema": "hermes.cron-run/1",
                "dry_run": false,
                "output": output,
                "job": job_id,
                "execution": fate.execution_id(),
                "outcome": ending.word,
                "exit_status": ending.exit_status,
                "signal": ending.signal,
                "error": fate.error(),
                "delivery_outcome": delivery,
                "delivery_error": undelivered,
            });
            json::print(&mut runtime.out, &document)?;
            return Ok(exit);
        }
        let run = fate
            .execution_id()
            .map_or_else(String::new, |id| format!(" (run {})", reference::short(id)));
        let label = human::printable(view.label());
        let why = fate.error().map(human::printable);
        let what = ending.word.replace('_', " ");
        match (exit, why) {
            (Exit::OK, _) => runtime.out.note(&format!("Job {label} succeeded{run}.")),
            (_, Some(why)) => {
                runtime.out.error(&Error::new(
                    Kind::Failed,
                    format!("job {label} {what}{run}: {why}"),
                ));
            }
            (_, None) => runtime.out.error(&Error::new(
                Kind::Failed,
                format!("job {label} {what}{run}"),
            )),
        }
        if delivery.as_deref() == Some(FAILED) {
            let why = undelivered.unwrap_or_else(|| "nobody wrote down why".to_owned());
            let why = human::printable(&why);
            runtime
                .out
                .warn(&format!("Its result was not delivered: {why}."));
        }
        Ok(exit)
    }
}

/// How a run ended, for people and for tools.
struct Ending {
    exit: Exit,
    word: &'static str,
    /// Of what the job ran.
    exit_status: Option<i32>,
    signal: Option<i32>,
}

impl Ending {
    fn of(desk: &Desk, job: &RawJob, fate: &Fate) -> Self {
        if is_unlaunched(desk, job, fate) {
            return Self {
                exit: Exit::ERROR,
                word: "could_not_be_launched",
                exit_status: None,
                signal: None,
            };
        }
        let (exit_status, signal) = match fate {
            Fate::Ended { ok, error, .. } => status_on_record(*ok, error.as_deref()),
            _ => (None, None),
        };
        Self {
            exit: exit_of(fate),
            word: fate.word(),
            exit_status,
            signal,
        }
    }
}

/// Whether a run that failed could not be launched: its script, its directory or its file of variables is not
/// there. Its row says that it failed, and its error is that of the dry run.
fn is_unlaunched(desk: &Desk, job: &RawJob, fate: &Fate) -> bool {
    let Fate::Ended {
        ok: false,
        error: Some(error),
        ..
    } = fate
    else {
        return false;
    };
    let missing = edit_probe::hindrance(job, &desk.home);
    missing.is_some_and(|(_, why)| error.starts_with(why.message()))
}

/// What a fate ends with.
fn exit_of(fate: &Fate) -> Exit {
    match fate {
        Fate::Ended { ok: true, .. } => Exit::OK,
        Fate::Ended { ok: false, .. } => Exit::FAILED,
        Fate::Skipped(_) | Fate::Waits(_) | Fate::Refused(_) | Fate::NotLaunched { .. } => {
            Exit::ERROR
        }
    }
}

/// What became of the result of a run, and why it did not arrive.
fn delivery(desk: &Desk, fate: &Fate) -> Result<(Option<String>, Option<String>)> {
    let Some(id) = fate.execution_id() else {
        return Ok((None, None));
    };
    let copy = desk.ledger()?;
    let row = desk.read(copy.as_ref(), |copy| {
        copy.read(|c| rows::execution_by_id(c, id).map(Some))
    })?;
    let facts = desk.read(copy.as_ref(), |copy| {
        copy.read(|c| rows::facts_of(c, id).map(Some))
    })?;
    Ok(row.map_or((None, None), |row| {
        let why = delivery_error(&row, facts.as_ref());
        (row.delivery_outcome, why)
    }))
}
