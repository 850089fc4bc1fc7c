//! `hermes cron show`: everything about one job.

use clap::Args;
use hermes::clock::iso;
use hermes::cron::catch_up::CatchUp;
use hermes::cron::job::{Job, RawJob};
use hermes::cron::next::next_fire;
use hermes::cron::redact::redact;
use hermes::cron::view::{Standing, View};
use hermes::db::Snapshot;
use hermes::error::{Error, Kind, Result};
use hermes::ledger::{Execution, ExecutionFacts, rows};
use hermes::output::{human, json, layout};
use hermes::runtime::Runtime;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::create::{schedule_words, timeout_words};
use super::desk::Desk;
use super::eye::Eye;
use super::list::{last_words, next_words};
use super::reference;
use super::runs::{print_slots, to_json};
use crate::exit::Exit;

/// Show one job
///
/// What it runs and when, how it went last and when it last went well, its next runs, and its newest
/// attempts. Changes nothing.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  hermes cron show digest
  hermes cron show a1b2c3d4e5f6 --json | jq .job.x_hermes")]
pub(crate) struct Show {
    /// The job: its id or its name
    #[arg(value_name = "JOB")]
    job: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Attempts that are shown.
const NEWEST: u32 = 5;
/// Slots to come that are shown.
const COMING: usize = 3;

impl Show {
    /// Prints the job.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let (desk, job, seen) = find(runtime, &self.job)?;
        desk.warn_of_store(runtime);
        let view = Job::read(&job);
        let id = view.id().unwrap_or_default().to_owned();
        let copy = desk.ledger()?;
        let runs = attempts(&desk, copy.as_ref(), &id)?;
        let slots = desk.read(copy.as_ref(), |copy| {
            copy.read(|c| rows::slots_not_run(c, Some(&id), NEWEST))
        })?;
        let ranges = desk.read(copy.as_ref(), |copy| {
            copy.read(|c| rows::slot_ranges(c, Some(&id), NEWEST))
        })?;
        let coming = coming(&desk, &job, &seen);
        let zone = &desk.zone.zones.configured;
        if self.json {
            let (zone_name, zone_source) = desk.zone_named();
            let document = json!({
                "schema": "hermes.cron-show/1",
                "home": desk.home.path(),
                "profile": desk.home.profile(),
                "zone": zone_name,
                "zone_source": zone_source,
                "job": job,
                "view": seen,
                "next": coming.iter().map(|at| iso(*at, zone)).collect::<Vec<_>>(),
                "runs": runs.iter().map(|(run, facts)| to_json(run, facts.as_ref())).collect::<Vec<_>>(),
                "slots_not_run": slots,
                "slot_ranges": ranges,
                "warnings": desk.warnings(&[]),
            });
            json::print(&mut runtime.out, &document)?;
            return Ok(Exit::OK);
        }
        let mut pairs = about(&desk, &job, &seen);
        let coming: Vec<_> = coming.iter().map(|at| desk.wall(*at)).collect();
        pairs.push(("coming", coming.join(", ")));
        pairs.extend(history(&desk, &seen));
        let pairs: Vec<_> = pairs
            .into_iter()
            .map(|(label, text)| (label, redact(&text, [])))
            .collect();
        let text = layout::pairs(&runtime.out, &pairs);
        runtime.out.line(&text)?;
        print_runs(runtime, &desk, &runs)?;
        print_slots(runtime, &desk, (&slots, &ranges), &|id| id.to_owned())?;
        Ok(Exit::OK)
    }
}

/// An attempt, and what we recorded beside it.
type Attempt = (Execution, Option<ExecutionFacts>);

fn attempts(desk: &Desk, copy: Option<&Snapshot>, id: &str) -> Result<Vec<Attempt>> {
    let runs = desk.read(copy, |copy| {
        copy.read(|c| rows::executions_of(c, id, NEWEST))
    })?;
    let with_facts = |run: Execution| {
        let facts = desk.read(copy, |copy| {
            copy.read(|c| rows::facts_of(c, &run.id).map(Some))
        })?;
        Ok((run, facts))
    };
    runs.into_iter().map(with_facts).collect()
}

/// The job that is meant, in whichever home of those that are meant, as it is and as it is looked at. A home
/// that cannot be read is in the way only where no other has the job.
fn find(runtime: &mut Runtime, named: &str) -> Result<(Desk, RawJob, View)> {
    let mut missing: Option<Error> = None;
    let mut found = Vec::new();
    for desk in Desk::all(runtime)? {
        let place = desk.jobs().and_then(|jobs| {
            let job = reference::job(&jobs, named)?;
            let place = jobs.iter().position(|other| std::ptr::eq(other, job));
            Ok((place.unwrap_or_default(), jobs))
        });
        match place {
            Ok((place, jobs)) => found.push((desk, place, jobs)),
            // That a home cannot be read says more than that another one has no such job.
            Err(error) if missing.as_ref().is_none_or(is_no_job) => missing = Some(error),
            Err(_) => {}
        }
    }
    if found.len() > 1 {
        let homes = human::count(found.len(), "home", "homes");
        let message = format!("{homes} have a job '{}'", named.escape_debug());
        let error = Error::new(Kind::NotFound, message).with_hint("name one by its home:");
        return Err(found.iter().fold(error, |error, (desk, ..)| {
            error.with_hint(format!("--profile {}", desk.home.profile()))
        }));
    }
    let Some((desk, place, jobs)) = found.pop() else {
        return Err(missing.unwrap_or_else(|| Error::usage("there is no home to look in")));
    };
    let desk = desk.beside_serve(runtime);
    let eye = Eye::of(&desk, desk.situation(runtime));
    let view = eye.see(&desk, &jobs).into_iter().nth(place);
    let job = jobs.into_iter().nth(place);
    let (Some(job), Some(view)) = (job, view) else {
        return Err(Error::usage("there is no home to look in"));
    };
    Ok((desk, job, view))
}

/// Whether a home was read, and has no such job.
fn is_no_job(error: &Error) -> bool {
    error.kind() == Kind::NotFound
}

/// The slots to come.
fn coming(desk: &Desk, job: &RawJob, view: &View) -> Vec<Timestamp> {
    let fires = view.state.is_armed() && view.state != Standing::Never;
    let Some(next) = view.next.filter(|_| fires) else {
        return Vec::new();
    };
    let Ok(schedule) = Job::read(job).schedule() else {
        return Vec::new();
    };
    let times = view.repeat.times.filter(|times| *times > 0);
    let left = times.map_or(usize::MAX, |times| {
        usize::try_from(times.saturating_sub(view.repeat.completed).max(1)).unwrap_or(usize::MAX)
    });
    // One of them makes up for what is overdue.
    let left = left.saturating_sub(usize::from(next <= desk.now));
    let zone = &desk.zone.zones.configured;
    let after = |at: &Timestamp| next_fire(&schedule, *at, zone).map(|fire| fire.instant);
    std::iter::successors(Some(next), |at| {
        schedule.is_recurring().then(|| after(at)).flatten()
    })
    .skip_while(|at| *at <= desk.now)
    .take(COMING.min(left))
    .collect()
}

fn about(desk: &Desk, job: &RawJob, view: &View) -> Vec<(&'static str, String)> {
    let raw = Job::read(job);
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let own = |key: &str| raw.x_hermes.get(key);
    let state = match &view.because {
        Some(why) => format!("{}: {why}", view.state.word()),
        None => view.state.word().to_owned(),
    };
    let next = match view.next {
        Some(next) if view.state.is_armed() => {
            format!("{}, {}", next_words(view, desk), desk.wall(next))
        }
        _ => "none".to_owned(),
    };
    let times = view
        .repeat
        .times
        .map_or_else(|| "for ever".to_owned(), |times| format!("{times} times"));
    let command = own("deliver_command").and_then(Value::as_array);
    let command = command.map(|words| {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        hermes::output::quote::command(&words)
    });
    let odd = raw.oddities().into_iter();
    let odd = odd.map(|odd| format!("{} {}", odd.field, odd.what));
    let odd: Vec<_> = odd.collect();
    vec![
        ("job", view.id.clone()),
        ("name", view.name.clone()),
        ("state", state),
        ("fires", schedule_words(job, &view.schedule)),
        ("next run", next),
        ("zone", desk.zone_words()),
        (
            "repeats",
            format!("{times}, {} so far", view.repeat.completed),
        ),
        ("runs", view.work.to_owned()),
        ("prompt", text(raw.prompt.text())),
        ("script", text(view.script.as_deref())),
        ("run by", text(raw.interpreter.text())),
        ("directory", text(view.workdir.as_deref())),
        ("variables", text(own("env_file").and_then(Value::as_str))),
        ("time limit", timeout_words(job, desk)),
        (
            "catch-up",
            catch_up_words(job, desk.config.flag("cron.catch_up_missed")),
        ),
        ("stagger", stagger_words(own("stagger_seconds"))),
        ("not understood", odd.join("; ")),
        ("delivers to", text(view.deliver.as_deref())),
        ("delivered by", command.unwrap_or_default()),
        ("goes without", view.goes_without.join("; ")),
        ("paused since", stored(desk, raw.paused_at.text())),
    ]
}

fn stagger_words(most: Option<&Value>) -> String {
    let most = most.and_then(Value::as_i64).filter(|most| *most > 0);
    most.map_or_else(String::new, |most| {
        format!("up to {} after the slot", human::duration(most))
    })
}

fn stored(desk: &Desk, text: Option<&str>) -> String {
    text.map(|text| desk.stored(text)).unwrap_or_default()
}

fn catch_up_words(job: &RawJob, missed_are_caught_up: bool) -> String {
    if Job::read(job).kind() == Some("once") {
        return "none: more than two minutes late, a one-shot counts as missed".to_owned();
    }
    if !missed_are_caught_up {
        return "missed slots are skipped (cron.catch_up_missed is false)".to_owned();
    }
    match CatchUp::of(job) {
        CatchUp::Once => "one run stands for all that were missed".to_owned(),
        CatchUp::Skip => "missed slots are skipped".to_owned(),
        CatchUp::MaxLateness(limit) => {
            let limit = human::duration(limit.as_secs());
            format!("one run, unless it would be more than {limit} late")
        }
    }
}

fn history(desk: &Desk, view: &View) -> Vec<(&'static str, String)> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    vec![
        ("last run", last_words(view, desk)),
        ("error", text(&view.last_error)),
        ("delivery", text(&view.last_delivery_error)),
        (
            "last good run",
            stored(desk, view.last_success_at.as_deref()),
        ),
        (
            "last failure",
            stored(desk, view.last_failure_at.as_deref()),
        ),
        ("held by", text(&view.claimed_by)),
    ]
}

fn print_runs(runtime: &mut Runtime, desk: &Desk, runs: &[Attempt]) -> Result<()> {
    if runs.is_empty() {
        return Ok(());
    }
    let rows = runs
        .iter()
        .map(|(run, facts)| super::runs::row(run, facts.as_ref(), desk))
        .collect();
    let (headings, narrow) = (&super::runs::HEADINGS, &super::runs::NARROW);
    let text = layout::rows(&runtime.out, headings, narrow, rows);
    runtime.out.line("")?;
    runtime.out.line(&text)
}
