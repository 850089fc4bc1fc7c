//! `hermes cron run --detach`: another process of this program runs the job and waits for its end; this
//! one comes back as soon as the run has begun.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use hermes::child::spawn::detached;
use hermes::cron::job::{Job, RawJob};
use hermes::error::{Error, Kind, Result};
use hermes::ledger::{Execution, rows};
use hermes::output::json;
use hermes::runtime::Runtime;
use serde_json::json;
use tokio::io::AsyncReadExt as _;
use tokio::process::Child;
use tokio::time::interval;
use uuid::Uuid;

use super::super::desk::Desk;
use super::super::reference::short;
use crate::exit::Exit;

/// Between two looks at the ledger.
const PACE: Duration = Duration::from_millis(100);
/// Looks until a run that has not begun is given up: the handover's time, and some.
const LOOKS: u32 = 450;

/// Starts it, and waits until it runs.
pub(super) fn start(
    runtime: &mut Runtime,
    desk: &Desk,
    job: &RawJob,
    as_json: bool,
) -> Result<Exit> {
    let id = Uuid::new_v4().simple().to_string();
    let job_id = Job::read(job).id().unwrap_or_default().to_owned();
    let words = [
        OsString::from("--home"),
        desk.home.path().into(),
        "cron".into(),
        "run".into(),
        job_id.clone().into(),
        "--execution".into(),
        id.clone().into(),
    ];
    let environment: Vec<_> = runtime
        .environ
        .iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let row = super::reactor()?.block_on(async {
        let child = detached(Path::new("/proc/self/exe"), &words, &environment)?;
        begun(child, desk, &id).await
    })?;
    let outcome = if row.status.is_open() {
        "running"
    } else {
        row.status.word()
    };
    tell(runtime, job, (&id, outcome, row.error), as_json)?;
    Ok(Exit::OK)
}

/// Tells the id of a run that has begun.
pub(super) fn tell(
    runtime: &mut Runtime,
    job: &RawJob,
    (id, outcome, error): (&str, &str, Option<String>),
    as_json: bool,
) -> Result<()> {
    if as_json {
        let document = json!({
            "schema": "hermes.cron-run/1",
            "dry_run": false,
            "job": Job::read(job).id(),
            "execution": id,
            "outcome": outcome,
            "error": error,
        });
        return json::print(&mut runtime.out, &document);
    }
    runtime.out.line(id)?;
    runtime.out.note(&format!(
        "It runs. Follow it: hermes cron logs {} -f",
        short(id)
    ));
    Ok(())
}

/// Waits until the row of the run has left `claimed`, or the process has ended without one.
async fn begun(mut child: Child, desk: &Desk, id: &str) -> Result<Execution> {
    let mut beat = interval(PACE);
    for _ in 0..LOOKS {
        beat.tick().await;
        let ended = child.try_wait().ok().flatten();
        if let Some(row) = look(desk, id)?
            && row.status.word() != "claimed"
        {
            return Ok(row);
        }
        if ended.is_some() {
            let mut said = String::new();
            if let Some(mut stderr) = child.stderr.take() {
                let _what_came = stderr.read_to_string(&mut said).await;
            }
            let said = said.trim().trim_start_matches("error: ");
            return Err(Error::new(Kind::Failed, said.to_owned()));
        }
    }
    Err(Error::new(
        Kind::Unavailable,
        format!("run {} has not begun in time", short(id)),
    )
    .with_hint("hermes cron runs tells what became of it"))
}

/// The row of a run, where there is one.
pub(super) fn look(desk: &Desk, id: &str) -> Result<Option<Execution>> {
    let copy = desk.ledger()?;
    desk.read(copy.as_ref(), |copy| {
        copy.read(|c| rows::execution_by_id(c, id).map(Some))
    })
}
