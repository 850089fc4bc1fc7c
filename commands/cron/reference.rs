//! How a job, or a run, is named on the command line: a job by its id or its name, a run by its id or
//! the start of it.

use hermes::cron::job::{Job, RawJob};
use hermes::cron::job_id;
use hermes::error::{Error, Kind, Result};
use hermes::ledger::Execution;
use hermes::output::{human, nearest::nearest};

/// How much of a run's id people see, in characters.
pub(crate) const SHORT: usize = 12;

/// The job that is meant: by its id, else by its name in any case.
///
/// # Errors
/// When there is none, or several have the name.
pub(crate) fn job<'a>(jobs: &'a [RawJob], reference: &str) -> Result<&'a RawJob> {
    let id = |job: &RawJob| Job::read(job).id().map(str::to_owned);
    if let Some(found) = jobs
        .iter()
        .find(|job| id(job).as_deref() == Some(reference))
    {
        return Ok(found);
    }
    let found = named(jobs, reference);
    match found.as_slice() {
        [one] => Ok(one),
        [] => Err(no_such_job(jobs, reference)),
        several => {
            let message = format!(
                "{} are named '{}'",
                human::count(several.len(), "job", "jobs"),
                reference.escape_debug()
            );
            let error = Error::new(Kind::NotFound, message).with_hint("name one by its id");
            Err(several
                .iter()
                .fold(error, |error, job| error.with_hint(candidate(job))))
        }
    }
}

/// The jobs with this name, in any case.
fn named<'a>(jobs: &'a [RawJob], reference: &str) -> Vec<&'a RawJob> {
    let wanted = reference.to_lowercase();
    let has_it = |job: &&RawJob| {
        let job = Job::read(job);
        let name = job.name.text();
        name.is_some_and(|name| name.to_lowercase() == wanted)
    };
    jobs.iter().filter(has_it).collect()
}

/// The job that is meant, for a command that finds it again by its id.
///
/// # Errors
/// As [`job`], and where its id leads to no job or to another one.
pub(crate) fn by_id<'a>(jobs: &'a [RawJob], reference: &str) -> Result<&'a RawJob> {
    let found = job(jobs, reference)?;
    let view = Job::read(found);
    let refused = |why: &str| {
        let label = view.label().escape_debug();
        Error::new(Kind::Invalid, format!("nothing finds job '{label}': {why}"))
    };
    let Some(id) = view.id().filter(|id| !id.is_empty()) else {
        let why = job_id::objection(&view).unwrap_or_default();
        return Err(if view.id.is_true() {
            refused(&why).with_hint(BY_HAND)
        } else {
            refused(&why).with_hint("the next pass gives it one: hermes cron tick")
        });
    };
    match job(jobs, id)? {
        first if std::ptr::eq(first, found) => Ok(found),
        _ => Err(refused(job_id::BEHIND).with_hint(BY_HAND)),
    }
}

/// What no command can name.
const BY_HAND: &str = "give it an id of its own in cron/jobs.json, with the scheduler stopped";

/// Id, name and schedule of one that may be meant.
fn candidate(job: &RawJob) -> String {
    let view = Job::read(job);
    let schedule = view.schedule_display.text().unwrap_or("no schedule");
    format!(
        "{}  {} ({schedule})",
        view.id().unwrap_or("-"),
        view.label()
    )
}

fn no_such_job(jobs: &[RawJob], reference: &str) -> Error {
    let error = Error::new(
        Kind::NotFound,
        format!("there is no job '{}'", reference.escape_debug()),
    );
    let views: Vec<_> = jobs.iter().map(Job::read).collect();
    let names = views
        .iter()
        .flat_map(|view| [view.id(), view.name.text()])
        .flatten();
    match nearest(reference, names).as_slice() {
        [] => error.with_hint("hermes cron list --all lists the jobs"),
        near => error.with_hint(format!("did you mean {}?", near.join(" or "))),
    }
}

/// The run that is meant: by its id, or the start of it; or, for a job, its newest run.
///
/// # Errors
/// When there is none, or several begin like this.
pub(crate) fn execution(rows: &[Execution], jobs: &[RawJob], reference: &str) -> Result<Execution> {
    let wanted = reference.to_ascii_lowercase();
    let whole = rows.iter().find(|row| row.id == wanted);
    let begins = |row: &&Execution| wanted.len() >= 4 && row.id.starts_with(&wanted);
    let found: Vec<_> = rows.iter().filter(begins).collect();
    match (whole, found.as_slice()) {
        (Some(row), _) => Ok(row.clone()),
        (None, [one]) => Ok((*one).clone()),
        (None, []) => newest_of(rows, jobs, reference),
        (None, several) => {
            let message = format!(
                "{} begin with '{}'",
                human::count(several.len(), "run", "runs"),
                reference.escape_debug()
            );
            let error = Error::new(Kind::NotFound, message);
            Err(several
                .iter()
                .take(5)
                .fold(error, |error, row| error.with_hint(row.id.clone())))
        }
    }
}

fn newest_of(rows: &[Execution], jobs: &[RawJob], reference: &str) -> Result<Execution> {
    let unknown = || {
        Error::new(
            Kind::NotFound,
            format!("there is no run '{}'", reference.escape_debug()),
        )
        .with_hint("hermes cron runs lists the runs")
    };
    let id = match job(jobs, reference) {
        Ok(job) => Job::read(job).id().unwrap_or_default().to_owned(),
        // A job that is gone may have left runs.
        Err(_) if rows.iter().any(|row| row.job_id == reference) => reference.to_owned(),
        Err(several) if named(jobs, reference).len() > 1 => return Err(several),
        Err(_) => return Err(unknown()),
    };
    let newest = rows.iter().find(|row| row.job_id == id);
    newest.cloned().ok_or_else(|| {
        Error::new(
            Kind::NotFound,
            format!("no run of job '{}' is on record", reference.escape_debug()),
        )
    })
}

/// The start of a run's id, for people.
pub(crate) fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}
