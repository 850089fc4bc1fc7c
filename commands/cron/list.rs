//! `hermes cron list`: every job, where it stands, and whether anything will fire.

use clap::Args;
use hermes::cron::view::{Standing, View};
use hermes::cron::view_firing::{Dispatch, Firing, Situation};
use hermes::error::Result;
use hermes::output::layout::{self, Step};
use hermes::output::{human, json, wrap};
use hermes::runtime::Runtime;
use serde_json::{Value, json};

use super::desk::{Desk, warn_of};
use super::eye::Eye;
use crate::exit::Exit;
use crate::homes::heading;

/// List the jobs
///
/// Shows each job's next run, or OVERDUE and by how long; how it went last; how jobs would be dispatched;
/// and whether a scheduler is alive. Changes nothing. Ends with 1 where a job is armed and nothing will
/// fire, or a job is overdue, and with 3 where it cannot be told. Where no job is armed there is nothing
/// to fire, and it ends with 0; 'hermes cron status' tells of the scheduler all the same.
#[derive(Args, Debug)]
#[command(visible_alias = "ls")]
#[command(after_help = "\
Examples:
  hermes cron list
  hermes cron list --all
  hermes cron list --profile all --json | jq '.homes[].jobs[].name'")]
pub(crate) struct List {
    /// Jobs that have ended or are switched off, too
    #[arg(long, short)]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The jobs of one home, or why they cannot be read.
pub(crate) struct Listing {
    pub(crate) desk: Desk,
    pub(crate) situation: Situation,
    pub(crate) jobs: Result<Vec<View>>,
}

/// Why nothing comes of any job that is armed; none where something does, or none is armed.
fn all_in_vain(jobs: &[View]) -> Option<String> {
    let armed: Vec<_> = jobs.iter().filter(|view| view.state.is_armed()).collect();
    let first = armed.first()?;
    if !armed.iter().all(|view| view.state.is_in_vain()) {
        return None;
    }
    let why = first.because.as_deref().unwrap_or("see its state");
    Some(match armed.len() {
        1 => format!("the only armed job does nothing when it is due: {why}"),
        count => format!(
            "none of {count} armed jobs does anything when it is due, job {} because {why}",
            first.id
        ),
    })
}

impl Listing {
    /// Looks at a home.
    pub(crate) fn of(desk: Desk, runtime: &Runtime) -> Self {
        let desk = desk.beside_serve(runtime);
        let mut situation = desk.situation(runtime).clone();
        let eye = Eye::of(&desk, &situation);
        let jobs = desk.jobs().map(|jobs| eye.see(&desk, &jobs));
        // What refuses all of them is said of the dispatch.
        let seen = jobs.as_deref().ok().filter(|_| !eye.refuses_all());
        situation.all_in_vain = seen.and_then(all_in_vain);
        Self {
            desk,
            situation,
            jobs,
        }
    }

    /// What the home ends a command with.
    pub(crate) fn exit(&self, even_without_jobs: bool) -> Exit {
        let Ok(jobs) = &self.jobs else {
            return Exit::FAILED;
        };
        let stuck = |view: &View| {
            let ends = matches!(
                view.state,
                Standing::OnceMore | Standing::Never | Standing::Missed
            );
            ends || view.overdue_seconds.is_some()
        };
        if jobs.iter().any(stuck) {
            return Exit::FAILED;
        }
        let armed = jobs.iter().any(|view| view.state.is_armed());
        match self.situation.firing(self.desk.now) {
            _ if !armed && !even_without_jobs => Exit::OK,
            Firing::Yes => Exit::OK,
            Firing::No(_) => Exit::FAILED,
            Firing::CannotTell(_) => Exit::INCOMPLETE,
        }
    }

    /// The part of a document about this home.
    pub(crate) fn to_json(&self) -> serde_json::Map<String, Value> {
        let mut object = serde_json::Map::new();
        object.insert("home".into(), json!(self.desk.home.path()));
        object.insert("profile".into(), json!(self.desk.home.profile()));
        let (zone, source) = self.desk.zone_named();
        object.insert("zone".into(), json!(zone));
        object.insert("zone_source".into(), json!(source));
        object.insert("warnings".into(), json!(self.desk.warnings(&[])));
        let firing = self.situation.to_json(self.desk.now);
        if let Value::Object(firing) = firing {
            object.extend(firing);
        }
        if let Err(error) = &self.jobs {
            object.extend(error.to_json().as_object().cloned().unwrap_or_default());
        }
        object
    }
}

/// Of several ends the one that counts: a failure before what could not be told.
pub(crate) fn worst(exits: impl Iterator<Item = Exit>) -> Exit {
    let mut worst = Exit::OK;
    for exit in exits {
        if exit == Exit::FAILED || worst == Exit::OK {
            worst = if worst == Exit::FAILED { worst } else { exit };
        }
    }
    worst
}

/// Looks at every home that is meant. Of a single one an unreadable store is the error of the command.
pub(crate) fn listings(runtime: &mut Runtime) -> Result<Vec<Listing>> {
    let desks = Desk::all(runtime)?;
    let alone = desks.len() == 1;
    let mut listings: Vec<_> = desks
        .into_iter()
        .map(|desk| Listing::of(desk, runtime))
        .collect();
    for listing in &listings {
        listing.desk.warn_of_store(runtime);
    }
    if alone && listings.iter().any(|listing| listing.jobs.is_err()) {
        let broken = listings.pop().and_then(|listing| listing.jobs.err());
        return broken.map_or(Ok(listings), Err);
    }
    Ok(listings)
}

impl List {
    /// Prints the jobs.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let listings = listings(runtime)?;
        if self.json {
            let homes: Vec<_> = listings
                .iter()
                .map(|listing| {
                    let mut home = listing.to_json();
                    home.insert("jobs".into(), json!(listing.jobs.as_ref().ok()));
                    home
                })
                .collect();
            let document = json!({ "schema": "hermes.cron-list/1", "homes": homes });
            json::print(&mut runtime.out, &document)?;
        } else {
            let several = listings.len() > 1;
            for (index, listing) in listings.iter().enumerate() {
                if index > 0 {
                    runtime.out.line("")?;
                }
                self.print(runtime, listing, several)?;
            }
        }
        Ok(worst(listings.iter().map(|listing| listing.exit(false))))
    }

    fn print(&self, runtime: &mut Runtime, listing: &Listing, several: bool) -> Result<()> {
        if several {
            heading(runtime, &listing.desk.home)?;
        }
        let jobs = match &listing.jobs {
            Ok(jobs) => jobs,
            Err(error) => {
                runtime.out.error(error);
                return Ok(());
            }
        };
        let shown = |view: &&View| {
            let over = matches!(view.state, Standing::Completed | Standing::Disabled);
            self.all || !over || view.is_wrong()
        };
        let shown: Vec<_> = jobs.iter().filter(shown).collect();
        let hidden = jobs.len() - shown.len();
        if shown.is_empty() {
            runtime.out.line("There are no jobs.")?;
        } else {
            let rows = shown.iter().map(|view| row(view, &listing.desk)).collect();
            let text = layout::rows(&runtime.out, &HEADINGS, &NARROW, rows);
            runtime.out.line(&text)?;
        }
        for view in shown.iter().filter(|view| view.because.is_some()) {
            because(runtime, view)?;
        }
        if hidden > 0 {
            let jobs = human::count(hidden, "job that has ended is", "jobs that have ended are");
            runtime.out.note(&format!("{jobs} not shown: --all"));
        }
        runtime.out.line("")?;
        let text = layout::pairs(&runtime.out, &footing(listing));
        runtime.out.line(&text)?;
        if jobs.iter().any(|view| view.state.is_armed()) {
            warn_of(runtime, &listing.situation, listing.desk.now);
        }
        Ok(())
    }
}

const HEADINGS: [&str; 7] = [
    "id",
    "name",
    "state",
    "schedule",
    "next run",
    "last run",
    "last good",
];

/// What goes first where there is no room.
const NARROW: [Step<'_>; 3] = [
    Step::Drop("last good"),
    Step::Drop("state"),
    Step::Cut("name"),
];

fn row(view: &View, desk: &Desk) -> Vec<String> {
    vec![
        view.id.clone(),
        view.name.clone(),
        view.state.word().to_owned(),
        view.schedule.clone(),
        next_words(view, desk),
        last_words(view, desk),
        view.last_success_at
            .as_deref()
            .map(|at| desk.ago(at))
            .unwrap_or_default(),
    ]
}

/// `in 25m`, or `OVERDUE by 7h`.
pub(crate) fn next_words(view: &View, desk: &Desk) -> String {
    match (view.overdue_seconds, view.next, view.state.is_armed()) {
        (Some(late), ..) => format!("OVERDUE by {}", human::duration(late)),
        (None, Some(next), true) if view.state == Standing::Active => {
            if next <= desk.now {
                "due".to_owned()
            } else {
                human::relative(next, desk.now)
            }
        }
        // Where there is no room for the state, this tells it.
        (None, Some(next), true) => {
            format!("{}, {}", view.state.word(), human::relative(next, desk.now))
        }
        _ => view.state.word().to_owned(),
    }
}

/// `completed 7h ago`, in the words of runs, or nothing.
pub(crate) fn last_words(view: &View, desk: &Desk) -> String {
    let Some(at) = &view.last_run_at else {
        return "never".to_owned();
    };
    let status = view.last_status.as_deref().unwrap_or("unknown");
    let word = match status {
        "ok" => "completed",
        "error" => "failed",
        other => other,
    };
    format!("{word} {}", desk.ago(at))
}

fn because(runtime: &mut Runtime, view: &View) -> Result<()> {
    let why = view.because.as_deref().unwrap_or_default();
    let text = human::printable(&format!("{} {}: {why}", view.id, view.state.word()));
    let text = wrap::hanging(&text, runtime.out.width, "", "  ");
    runtime.out.line(&text)
}

/// Who schedules, when it last ticked, and how jobs are dispatched.
pub(crate) fn footing(listing: &Listing) -> Vec<(&'static str, String)> {
    let (seen, now) = (&listing.situation, listing.desk.now);
    let dispatch = seen.dispatch.as_ref();
    vec![
        (
            "scheduler",
            format!("{} ({})", seen.scheduler_words(), seen.tick_words(now)),
        ),
        (
            "dispatch",
            dispatch.map_or_else(|| "unknown".to_owned(), Dispatch::words),
        ),
        ("zone", listing.desk.zone_words()),
        (
            "stop",
            seen.stop
                .as_ref()
                .map(|stop| format!("{} ({})", stop.stop.told(now), stop.path.display()))
                .unwrap_or_default(),
        ),
    ]
}
