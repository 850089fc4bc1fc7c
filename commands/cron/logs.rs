//! `hermes cron logs`: what a run prints, while it runs and after.

use std::path::Path;
use std::time::Duration;

use clap::Args;
use hermes::cron::job::Job;
use hermes::cron::output_time_file;
use hermes::cron::stop_run::{self, Target};
use hermes::cron::view_log_file::{Follower, document_of};
use hermes::db;
use hermes::error::{Error, Kind, Result};
use hermes::host::identity_probe::own_identity;
use hermes::ledger::{Execution, rows};
use hermes::output::{Out, human, json};
use hermes::runtime::Runtime;
use serde_json::json;

use super::cancel::find;
use super::desk::Desk;
use super::reference;
use crate::exit::Exit;

/// Show what a run prints, while it runs and after
///
/// Output and errors in the order in which they came, up to 8 MiB. The newest logs are kept; of older
/// runs the document that they left is shown. Those of Hermes Agent name no run: theirs is found by its
/// time. Changes nothing.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  hermes cron logs 3f2a9c01b7de
  hermes cron logs digest --follow
  hermes cron logs 3f2a9c01b7de --json | jq -r .output")]
pub(crate) struct Logs {
    /// The run: its id or the start of it; or a job, for its newest run
    #[arg(value_name = "RUN")]
    execution: String,
    /// Go on until the run has ended, or nobody runs it any more
    #[arg(long, short, conflicts_with = "json")]
    follow: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Between two looks at the log.
const PACE: Duration = Duration::from_millis(200);
/// Looks at the log between two looks at the ledger.
const LOOKS: u32 = 5;
/// Looks at the ledger, a second apart, after which a run that nobody runs is left.
const DESERTED: u32 = 2;

impl Logs {
    /// Prints the log.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let (desk, row) = match locate(runtime, &self.execution) {
            Ok(found) => found,
            Err(error) => return self.without_a_row(runtime, error),
        };
        let mut log = Follower::of(&desk.home, &row.id);
        if self.json {
            let output = output(&mut log, &desk, &row)?;
            let document = json!({
                "schema": "hermes.cron-logs/1",
                "execution": row.id,
                "job": row.job_id,
                "status": row.status.word(),
                "output": output,
            });
            json::print(&mut runtime.out, &document)?;
            return Ok(Exit::OK);
        }
        if self.follow {
            follow(runtime, &desk, &row, &mut log)?;
            return Ok(Exit::OK);
        }
        match output(&mut log, &desk, &row)? {
            Some(text) => print(&mut runtime.out, &text)?,
            None if row.status.is_open() => runtime.out.note("It has printed nothing so far."),
            None => return Err(nothing_kept(&row)),
        }
        Ok(Exit::OK)
    }
}

impl Logs {
    /// A job whose runs are on no record, as before there was one, may have left documents.
    fn without_a_row(&self, runtime: &mut Runtime, error: Error) -> Result<Exit> {
        let found = Desk::all(runtime)?.into_iter().find_map(|desk| {
            let jobs = desk.jobs().ok()?;
            let job = reference::job(&jobs, &self.execution).ok()?;
            let id = Job::read(job).id()?.to_owned();
            Some((output_time_file::newest(&desk.home, &id)?, id))
        });
        let Some((path, job)) = found else {
            return Err(error);
        };
        let text = read(&path)?;
        if self.json {
            let document = json!({
                "schema": "hermes.cron-logs/1",
                "execution": null,
                "job": job,
                "status": null,
                "output": text,
            });
            json::print(&mut runtime.out, &document)?;
        } else {
            print(&mut runtime.out, &text)?;
            let path = human::printable(&path.display().to_string());
            let note = format!("No run of it is on record; this is its newest document: {path}");
            runtime.out.note(&note);
        }
        Ok(Exit::OK)
    }
}

/// The run that is meant, in whichever home of those that are meant.
fn locate(runtime: &mut Runtime, named: &str) -> Result<(Desk, Execution)> {
    let mut missing = None;
    for desk in Desk::all(runtime)? {
        match find(&desk, named) {
            Ok((row, _)) => return Ok((desk, row)),
            Err(error) => missing = missing.or(Some(error)),
        }
    }
    Err(missing.unwrap_or_else(|| Error::usage("there is no home to look in")))
}

fn nothing_kept(row: &Execution) -> Error {
    let error = Error::new(
        Kind::NotFound,
        format!("no output of run {} is kept", row.id),
    );
    error.with_hint(match &row.error {
        Some(why) => format!("it ended {}: {why}", row.status.word()),
        None => format!("it ended {}", row.status.word()),
    })
}

/// The log, else the document; none where neither is kept.
fn output(log: &mut Follower, desk: &Desk, row: &Execution) -> Result<Option<String>> {
    if log.exists() {
        return log.all().map(Some);
    }
    if let Some(path) = document_of(&desk.home, &row.job_id, &row.id) {
        return read(&path).map(Some);
    }
    // Those of Hermes Agent name no run.
    match output_time_file::during(&desk.home, row).as_slice() {
        [] => Ok(None),
        [path] => read(path).map(Some),
        several => {
            let message = format!(
                "{} of the job were written while run {} went on, and none names its run",
                human::count(several.len(), "document", "documents"),
                row.id
            );
            let error = Error::new(Kind::NotFound, message);
            let paths = several.iter().map(|path| path.display().to_string());
            Err(paths.fold(error, Error::with_hint))
        }
    }
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path)
        .map_err(|error| Error::io(format!("failed to read {}", path.display()), error))
}

/// Prints what comes until the run has ended, and then the rest.
fn follow(runtime: &mut Runtime, desk: &Desk, row: &Execution, log: &mut Follower) -> Result<()> {
    let mut open = row.status.is_open();
    let mut ended = row.clone();
    // Between the end of its worker and the word of it nobody runs it, for a moment.
    let mut deserted = 0;
    while open && deserted < DESERTED && !runtime.out.is_closed() {
        for _ in 0..LOOKS {
            let text = log.more()?;
            if text.is_empty() {
                db::wait(PACE);
            } else {
                print(&mut runtime.out, &text)?;
            }
        }
        let copy = desk.ledger()?;
        let now = desk.read(copy.as_ref(), |copy| {
            copy.read(|c| rows::execution_by_id(c, &row.id).map(Some))
        })?;
        open = now.as_ref().is_some_and(|row| row.status.is_open());
        ended = now.unwrap_or(ended);
        let is_deserted = open && is_deserted(desk, &ended)?;
        deserted = if is_deserted { deserted + 1 } else { 0 };
    }
    if log.exists() {
        let text = log.all()?;
        print(&mut runtime.out, &text)?;
    } else if let Some(text) = output(log, desk, row)? {
        print(&mut runtime.out, &text)?;
    }
    if deserted > 0 {
        let words =
            "Nobody runs it any more, and nobody has said how it ended: the next pass does.";
        runtime.out.note(words);
        return Ok(());
    }
    let status = ended.status.word();
    let why = ended
        .error
        .map(|why| format!(": {}", human::printable(&why)))
        .unwrap_or_default();
    runtime.out.note(&format!("The run ended: {status}{why}"));
    Ok(())
}

/// Whether the process that ran it is gone.
fn is_deserted(desk: &Desk, row: &Execution) -> Result<bool> {
    let facts = desk.facts(&row.id)?;
    let target = stop_run::look(row, facts.as_ref(), &own_identity());
    Ok(matches!(target, Ok(Target::Abandoned)))
}

/// Output of a job as it is; on a terminal without what the terminal would act on.
pub(crate) fn print(out: &mut Out, text: &str) -> Result<()> {
    if out.width.is_none() {
        return out.print(text);
    }
    let safe: Vec<_> = text.split_inclusive('\n').map(safe_line).collect();
    out.print(&safe.concat())
}

fn safe_line(line: &str) -> String {
    let (text, end) = match line.strip_suffix('\n') {
        Some(text) => (text.strip_suffix('\r').unwrap_or(text), "\n"),
        None => (line, ""),
    };
    let parts: Vec<_> = text.split('\t').map(human::printable).collect();
    parts.join("\t") + end
}
