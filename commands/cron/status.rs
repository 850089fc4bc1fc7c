//! `hermes cron status`: whether anything will fire, in one look.

use clap::Args;
use hermes::cron::redact::redact;
use hermes::cron::view::{Standing, View};
use hermes::error::Result;
use hermes::ledger::{Execution, ExecutionFacts, rows};
use hermes::output::{human, json, layout};
use hermes::runtime::Runtime;
use serde_json::{Value, json};

use super::desk::{Desk, warn_of};
use super::list::{Listing, footing, last_words, listings, worst};
use super::reference;
use super::runs::to_json;
use crate::exit::Exit;

/// Tell whether anything will fire
///
/// Who schedules this home, when it last ticked, how jobs would be dispatched and why, what is overdue,
/// what runs, and what failed. Changes nothing. Ends with 1 where nothing will fire or a job is overdue,
/// and with 3 where it cannot be told. 'hermes cron doctor' says what to do about it.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  hermes cron status
  hermes cron status --profile all
  hermes cron status --json | jq '.homes[].will_fire'
  hermes cron status >/dev/null || notify-operator")]
pub(crate) struct Status {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A run that goes on, and what was recorded of it.
type Running = (Execution, Option<ExecutionFacts>);

/// Open rows that are looked at.
const MOST: u32 = 200;
/// Jobs that are named one by one.
const NAMED: usize = 5;

impl Status {
    /// Prints the state of each home.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let listings = listings(runtime)?;
        let mut homes = Vec::new();
        let mut exits: Vec<_> = listings.iter().map(|listing| listing.exit(true)).collect();
        for listing in &listings {
            let running = running(&listing.desk);
            exits.extend(running.is_err().then_some(Exit::FAILED));
            if self.json {
                homes.push(document(listing, &running));
            } else {
                if !homes.is_empty() {
                    runtime.out.line("")?;
                }
                homes.push(Value::Null);
                print(runtime, listing, &running)?;
            }
        }
        if self.json {
            let document = json!({ "schema": "hermes.cron-status/1", "homes": homes });
            json::print(&mut runtime.out, &document)?;
        }
        Ok(worst(exits.into_iter()))
    }
}

fn running(desk: &Desk) -> Result<Vec<Running>> {
    let copy = desk.ledger()?;
    let open = desk.read(copy.as_ref(), |copy| {
        copy.read(|c| rows::open_executions(c, MOST))
    })?;
    let with_facts = |run: Execution| {
        let facts = desk.read(copy.as_ref(), |copy| {
            copy.read(|c| rows::facts_of(c, &run.id).map(Some))
        })?;
        Ok((run, facts))
    };
    open.into_iter().map(with_facts).collect()
}

fn document(listing: &Listing, running: &Result<Vec<Running>>) -> Value {
    let mut home = listing.to_json();
    let jobs = listing.jobs.as_deref().unwrap_or_default();
    let counts: serde_json::Map<String, Value> = STANDINGS
        .iter()
        .map(|standing| {
            let count = jobs.iter().filter(|view| view.state == *standing).count();
            let word = json!(standing);
            (word.as_str().unwrap_or_default().to_owned(), json!(count))
        })
        .collect();
    let wrong: Vec<_> = jobs.iter().filter(|view| view.is_wrong()).collect();
    home.insert("counts".into(), Value::Object(counts));
    home.insert("wrong".into(), json!(wrong));
    let failed: Vec<_> = jobs.iter().filter(|view| has_failed(view)).collect();
    home.insert("failed".into(), json!(failed));
    match running {
        Ok(running) => {
            let runs = running.iter();
            let runs: Vec<_> = runs
                .map(|(run, facts)| to_json(run, facts.as_ref()))
                .collect();
            home.insert("running".into(), json!(runs));
        }
        Err(error) => {
            home.insert("running".into(), Value::Null);
            home.extend(error.to_json().as_object().cloned().unwrap_or_default());
        }
    }
    home.insert(
        "last_success_at".into(),
        json!(last_good(&listing.desk, jobs)),
    );
    Value::Object(home)
}

const STANDINGS: [Standing; 11] = [
    Standing::Active,
    Standing::Overdue,
    Standing::Refused,
    Standing::WouldFail,
    Standing::OnceMore,
    Standing::Never,
    Standing::Missed,
    Standing::Paused,
    Standing::Completed,
    Standing::Error,
    Standing::Disabled,
];

/// When any job last went well, as stored.
fn last_good(desk: &Desk, jobs: &[View]) -> Option<String> {
    let good = jobs.iter().filter_map(|view| {
        let text = view.last_success_at.as_deref()?;
        Some((desk.zone.zones.instant(text)?, text))
    });
    good.max().map(|(_, text)| text.to_owned())
}

fn print(runtime: &mut Runtime, listing: &Listing, running: &Result<Vec<Running>>) -> Result<()> {
    let running = match running {
        Ok(running) => running.as_slice(),
        Err(error) => {
            runtime.out.error(error);
            &[]
        }
    };
    let desk = &listing.desk;
    let firing = listing.situation.firing(desk.now);
    let verdict = match firing.known() {
        Some(true) => "jobs fire".to_owned(),
        Some(false) => "nothing will fire".to_owned(),
        None => "cannot be told".to_owned(),
    };
    let mut pairs = vec![
        ("home", desk.home.path().display().to_string()),
        ("verdict", verdict),
    ];
    pairs.extend(footing(listing));
    let seen = &listing.situation;
    if let Some((at, error)) = &seen.last_error {
        let ago = human::relative(*at, desk.now);
        pairs.push(("tick error", format!("{error} ({ago})")));
    }
    if let Some(good) = seen.last_success {
        pairs.push(("good tick", desk.when(good)));
    }
    match &listing.jobs {
        Err(error) => runtime.out.error(error),
        Ok(jobs) => {
            pairs.push(("jobs", counted(jobs)));
            let good = last_good(desk, jobs);
            pairs.push((
                "last good",
                good.map(|at| desk.stored(&at)).unwrap_or_default(),
            ));
            pairs.extend(named(jobs));
            pairs.extend(failed(jobs, desk));
        }
    }
    pairs.extend(running.iter().take(NAMED).map(|(run, facts)| {
        let since = run.claimed_at.as_ref().map(|stamp| desk.ago(&stamp.text));
        let since = since.unwrap_or_default();
        let id = reference::short(&run.id);
        let recorded = facts.as_ref().map(|facts| {
            let detail = facts.detail.iter().map(String::as_str);
            let words: Vec<_> = std::iter::once(facts.mode.as_str()).chain(detail).collect();
            format!(", {}", words.join("; "))
        });
        let recorded = recorded.unwrap_or_default();
        (
            "running",
            format!("{id} of job {}, began {since}{recorded}", run.job_id),
        )
    }));
    pairs.extend(more("running", running.len(), "hermes cron runs"));
    let text = layout::pairs(&runtime.out, &pairs);
    runtime.out.line(&text)?;
    warn_of(runtime, &listing.situation, desk.now);
    Ok(())
}

/// Whether the last run of a job that goes on failed, or its result did not arrive.
fn has_failed(view: &View) -> bool {
    let status = view.last_status.as_deref();
    view.state.is_armed() && matches!(status, Some("error" | "delivery_failed"))
}

/// The jobs whose last run failed, each with why and how often in a row.
fn failed(jobs: &[View], desk: &Desk) -> Vec<(&'static str, String)> {
    let failed: Vec<_> = jobs.iter().filter(|view| has_failed(view)).collect();
    let line = |view: &&View| {
        let why = view
            .last_error
            .as_ref()
            .or(view.last_delivery_error.as_ref());
        let why = why.and_then(|why| why.lines().next().map(|line| redact(line, [])));
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        let row = match view.failure_streak {
            streak if streak > 1 => format!(", {streak} times in a row"),
            _ => String::new(),
        };
        let last = last_words(view, desk);
        (
            "failed",
            format!("{} {}, {last}{row}{why}", view.id, view.name),
        )
    };
    let mut lines: Vec<_> = failed.iter().take(NAMED).map(line).collect();
    lines.extend(more("failed", failed.len(), "hermes cron incidents"));
    lines
}

fn counted(jobs: &[View]) -> String {
    let counts = STANDINGS.iter().filter_map(|standing| {
        let count = jobs.iter().filter(|view| view.state == *standing).count();
        (count > 0).then(|| format!("{count} {}", standing.word()))
    });
    let counts: Vec<_> = counts.collect();
    if counts.is_empty() {
        "none".to_owned()
    } else {
        counts.join(", ")
    }
}

/// The jobs that are wrong, each with what is, and those that wait for their start.
fn named(jobs: &[View]) -> Vec<(&'static str, String)> {
    let wrong: Vec<_> = jobs.iter().filter(|view| view.is_wrong()).collect();
    let mut lines: Vec<_> = wrong
        .iter()
        .take(NAMED)
        .map(|view| {
            let what = match (view.overdue_seconds, &view.because) {
                (Some(late), None) => format!("OVERDUE by {}", human::duration(late)),
                (Some(late), Some(why)) => {
                    let (late, state) = (human::duration(late), view.state.word());
                    format!("OVERDUE by {late}, {state}: {why}")
                }
                (None, Some(why)) => format!("{}: {why}", view.state.word()),
                (None, None) => view.state.word().to_owned(),
            };
            ("look at", format!("{} {}, {what}", view.id, view.name))
        })
        .collect();
    lines.extend(more("look at", wrong.len(), "hermes cron list"));
    lines.extend(noted(jobs, "waits", |view| view.waits));
    lines.extend(noted(jobs, "note", |view| !view.waits));
    lines
}

/// Jobs that are well, and of which there is something to say.
fn noted(
    jobs: &[View],
    label: &'static str,
    is_meant: impl Fn(&View) -> bool,
) -> Vec<(&'static str, String)> {
    let is_noted = |view: &&View| view.state == Standing::Active && view.because.is_some();
    let noted = jobs.iter().filter(is_noted).filter(|view| is_meant(view));
    let noted: Vec<_> = noted.collect();
    let line = |view: &&View| {
        let why = view.because.as_deref().unwrap_or_default();
        (label, format!("{} {}, {why}", view.id, view.name))
    };
    let mut lines: Vec<_> = noted.iter().take(NAMED).map(line).collect();
    lines.extend(more(label, noted.len(), "hermes cron list"));
    lines
}

/// How many of so many are not named, and what shows them.
fn more(label: &'static str, count: usize, shown_by: &str) -> Option<(&'static str, String)> {
    let more = count.saturating_sub(NAMED);
    (more > 0).then(|| (label, format!("and {more} more: {shown_by}")))
}
