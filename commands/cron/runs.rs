//! `hermes cron runs`: the attempts that the ledger keeps.

use clap::{Args, value_parser};
use hermes::cron::delivery::{self, Delivered};
use hermes::cron::job::{Job, RawJob};
use hermes::cron::redact::redact;
use hermes::db::Stamp;
use hermes::error::{Error, Kind, Result};
use hermes::home::Home;
use hermes::ledger::{Cause, Execution, ExecutionFacts, Outcome, Slot, SlotRange, Status, rows};
use hermes::output::layout::{self, Step};
use hermes::output::{human, json};
use hermes::runtime::Runtime;
use serde_json::{Value, json};

use super::desk::Desk;
use super::reference;
use crate::exit::Exit;
use crate::homes::heading;

/// List runs, the newest first
///
/// Every attempt at a job is a row of the ledger with one end: how it was dispatched, how long it took,
/// why it ended as it did, and whether its result was delivered. Below them stand slots that no run was made of, and why. Changes nothing.
#[derive(Args, Debug)]
#[command(visible_alias = "history")]
#[command(after_help = "\
Examples:
  hermes cron runs
  hermes cron runs digest --limit 5
  hermes cron runs --failed
  hermes cron runs --json | jq '.homes[].runs[] | select(.status == \"failed\")'")]
pub(crate) struct Runs {
    /// Only of this job: its id or its name
    #[arg(value_name = "JOB")]
    job: Option<String>,
    /// Only what did not end well: failed, unknown or not delivered, and slots that were missed or refused
    #[arg(long)]
    failed: bool,
    /// How many to show
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    #[arg(value_parser = value_parser!(u32).range(1..=1_000))]
    limit: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The runs of one home.
struct Kept {
    desk: Desk,
    jobs: Vec<RawJob>,
    runs: Vec<Execution>,
    facts: Vec<ExecutionFacts>,
    slots: Vec<Slot>,
    ranges: Vec<SlotRange>,
}

/// Columns of a run; where runs of several jobs stand, the job comes after the first.
pub(crate) const HEADINGS: [&str; 6] = ["run", "status", "began", "took", "mode", "what happened"];

/// What goes first where there is no room.
pub(crate) const NARROW: [Step<'_>; 3] = [Step::Drop("mode"), Step::Drop("took"), Step::Cut("job")];

/// More than a ledger keeps.
const KEPT: u32 = 2_000;

impl Runs {
    /// Prints the runs.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let desks = Desk::all(runtime)?;
        let several = desks.len() > 1;
        let looked = desks.into_iter().map(|desk| {
            let home = desk.home.clone();
            (home, self.of(desk))
        });
        let mut homes: Vec<_> = looked.collect();
        let is_missing = |kept: &Result<Kept>| {
            let error = kept.as_ref().err();
            self.job.is_some() && error.is_some_and(|error| error.kind() == Kind::NotFound)
        };
        // A job of one home is missing in the others.
        if homes.iter().any(|(_, kept)| !is_missing(kept)) {
            homes.retain(|(_, kept)| !is_missing(kept));
        }
        if !several || homes.iter().all(|(_, kept)| is_missing(kept)) {
            homes.truncate(1);
            homes = match homes.pop() {
                Some((_, Err(error))) => return Err(error),
                only => only.into_iter().collect(),
            };
        }
        let exit = if homes.iter().all(|(_, kept)| kept.is_ok()) {
            Exit::OK
        } else {
            Exit::FAILED
        };
        if self.json {
            json::print(&mut runtime.out, &document(&homes))?;
            return Ok(exit);
        }
        for (home, kept) in &homes {
            if several {
                heading(runtime, home)?;
            }
            match kept {
                Ok(kept) => print(runtime, kept, self.failed)?,
                Err(error) => runtime.out.error(error),
            }
        }
        Ok(exit)
    }

    fn of(&self, desk: Desk) -> Result<Kept> {
        // Runs can be told without a store that can be read, unless one of its jobs was named.
        let jobs = match &self.job {
            Some(_) => desk.jobs()?,
            None => desk.jobs().unwrap_or_default(),
        };
        let copy = desk.ledger()?;
        let wanted = self.job.as_deref().map(|named| {
            let found = reference::job(&jobs, named);
            found.map(|job| Job::read(job).id().unwrap_or_default().to_owned())
        });
        // Those that failed are looked for among all that are kept.
        let most = if self.failed { KEPT } else { self.limit };
        let mut runs = desk.read(copy.as_ref(), |copy| match &wanted {
            Some(Ok(id)) => copy.read(|c| rows::executions_of(c, id, most)),
            // A job that is gone may have left runs.
            Some(Err(_)) => {
                let id = self.job.as_deref().unwrap_or_default();
                copy.read(|c| rows::executions_of(c, id, most))
            }
            None => copy.read(|c| rows::executions(c, most)),
        })?;
        let of_a_job_that_ran = !runs.is_empty();
        let of = match &wanted {
            Some(Ok(id)) => Some(id.as_str()),
            Some(Err(_)) | None => self.job.as_deref(),
        };
        let mut slots = desk.read(copy.as_ref(), |copy| {
            copy.read(|c| rows::slots_not_run(c, of, most))
        })?;
        let mut ranges = desk.read(copy.as_ref(), |copy| {
            copy.read(|c| rows::slot_ranges(c, of, most))
        })?;
        if let (Some(Err(error)), false) = (wanted, of_a_job_that_ran || !slots.is_empty()) {
            return Err(error);
        }
        if self.failed {
            let shown = usize::try_from(self.limit).unwrap_or(usize::MAX);
            runs.retain(went_wrong);
            runs.truncate(shown);
            slots.retain(|slot| was_lost(slot.outcome));
            slots.truncate(shown);
            ranges.retain(|range| was_lost(range.outcome));
            ranges.truncate(shown);
        }
        let facts = desk.read(copy.as_ref(), |copy| copy.read(|c| rows::facts(c, 2_000)))?;
        Ok(Kept {
            desk,
            jobs,
            runs,
            facts,
            slots,
            ranges,
        })
    }
}

/// Whether a run did not end well, or its result did not arrive.
fn went_wrong(run: &Execution) -> bool {
    matches!(run.status, Status::Failed | Status::Unknown)
        || run.delivery_outcome.as_deref() == Some(delivery::FAILED)
}

/// Whether a slot was lost, and not passed over on purpose.
fn was_lost(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Missed | Outcome::Refused)
}

impl Kept {
    fn facts_of(&self, run: &Execution) -> Option<&ExecutionFacts> {
        self.facts.iter().find(|facts| facts.execution_id == run.id)
    }
}

fn document(homes: &[(Home, Result<Kept>)]) -> Value {
    let homes: Vec<_> = homes
        .iter()
        .map(|(home, kept)| match kept {
            Ok(kept) => {
                let runs = kept.runs.iter().map(|run| to_json(run, kept.facts_of(run)));
                json!({
                    "home": home.path(),
                    "profile": home.profile(),
                    "runs": runs.collect::<Vec<_>>(),
                    "slots_not_run": kept.slots,
                    "slot_ranges": kept.ranges,
                })
            }
            Err(error) => unreadable(home, error),
        })
        .collect();
    json!({ "schema": "hermes.cron-runs/1", "homes": homes })
}

/// A home that could not be looked at, in the document of several.
pub(crate) fn unreadable(home: &Home, error: &Error) -> Value {
    let mut entry = error.to_json();
    if let Value::Object(entry) = &mut entry {
        entry.insert("home".into(), json!(home.path()));
        entry.insert("profile".into(), json!(home.profile()));
    }
    entry
}

/// A run for `--json`: the row of the ledger, and what we recorded beside it. Instants are as stored.
pub(crate) fn to_json(run: &Execution, facts: Option<&ExecutionFacts>) -> Value {
    let text = |stamp: &Option<Stamp>| stamp.as_ref().map(|stamp| stamp.text.clone());
    let error = run.error.as_deref();
    let error = error.map(|error| redact(error, []));
    json!({
        "id": run.id,
        "job_id": run.job_id,
        "source": run.source,
        "status": run.status.word(),
        "scheduled_instant": text(&run.scheduled_instant),
        "claimed_at": text(&run.claimed_at),
        "started_at": text(&run.started_at),
        "finished_at": text(&run.finished_at),
        "progress_at": text(&run.progress_at),
        "pid": run.pid,
        "error": error,
        "delivery_outcome": run.delivery_outcome,
        "delivery_error": delivery_error(run, facts),
        "facts": facts.map(|facts| json!({
            "mode": facts.mode,
            "manager": facts.manager,
            "unit": facts.unit,
            "mechanism": facts.mechanism,
            "worker_pid": facts.worker_pid,
            "boot_id": facts.boot_id,
            "cause": facts.cause.as_ref().map(Cause::word),
            "detail": facts.detail,
        })),
    })
}

/// Why the result of a run did not arrive.
pub(crate) fn delivery_error(run: &Execution, facts: Option<&ExecutionFacts>) -> Option<String> {
    let detail = facts?.detail.as_deref()?;
    let failed = run.delivery_outcome.as_deref() == Some(delivery::FAILED);
    failed.then(|| redact(detail, []))
}

/// What became of a result, where it was to leave the home.
fn delivery_words(run: &Execution) -> Option<String> {
    match run.delivery_outcome.as_deref()? {
        delivery::FAILED => Some("not delivered".to_owned()),
        delivery::UNKNOWN => Some("delivery unknown".to_owned()),
        delivery::CANCELLED => Some("delivery cancelled".to_owned()),
        outcome if outcome.starts_with(Delivered::Suppressed.word()) => None,
        outcome => Some(outcome.replace('_', " ")),
    }
}

fn print(runtime: &mut Runtime, home: &Kept, failed: bool) -> Result<()> {
    let name = |id: &str| {
        let job = home.jobs.iter().map(Job::read);
        let job = job.into_iter().find(|job| job.id() == Some(id));
        job.map_or_else(|| id.to_owned(), |job| job.label().to_owned())
    };
    if home.runs.is_empty() {
        runtime.out.line(if failed {
            "No run that failed is on record."
        } else {
            "No run is on record."
        })?;
    } else {
        let rows = home
            .runs
            .iter()
            .map(|run| {
                let mut row = row(run, home.facts_of(run), &home.desk);
                row.insert(1, name(&run.job_id));
                row
            })
            .collect();
        let mut headings = HEADINGS.to_vec();
        headings.insert(1, "job");
        let text = layout::rows(&runtime.out, &headings, &NARROW, rows);
        runtime.out.line(&text)?;
    }
    print_slots(runtime, &home.desk, (&home.slots, &home.ranges), &name)
}

/// Slots that no run was made of, below the runs.
pub(crate) fn print_slots(
    runtime: &mut Runtime,
    desk: &Desk,
    (slots, ranges): (&[Slot], &[SlotRange]),
    name: &dyn Fn(&str) -> String,
) -> Result<()> {
    if slots.is_empty() && ranges.is_empty() {
        return Ok(());
    }
    let one = slots.iter().map(|slot| {
        vec![
            desk.stored(&slot.scheduled_at),
            name(&slot.job_id),
            slot.outcome.word().to_owned(),
            slot.reason.clone().unwrap_or_default(),
        ]
    });
    let several = ranges.iter().map(|range| {
        let (first, last) = (desk.stored(&range.first_at), desk.stored(&range.last_at));
        let all = match range.count {
            Some(count) => format!("{first} to {last}, {count} in all"),
            None => format!("{first} to {last}, every one"),
        };
        vec![
            all,
            name(&range.job_id),
            range.outcome.word().to_owned(),
            range.reason.clone().unwrap_or_default(),
        ]
    });
    let rows = several.chain(one).collect();
    let headings = ["slot without a run", "job", "", "why"];
    let text = layout::rows(&runtime.out, &headings, &[Step::Drop("job")], rows);
    runtime.out.line("")?;
    runtime.out.line(&text)
}

/// What is to be known of a run that goes on.
fn goes_on(facts: Option<&ExecutionFacts>) -> Option<String> {
    let facts = facts.filter(|facts| facts.cause.is_none())?;
    facts.detail.clone()
}

/// One run as a row.
pub(crate) fn row(run: &Execution, facts: Option<&ExecutionFacts>, desk: &Desk) -> Vec<String> {
    let began = run.started_at.as_ref().or(run.claimed_at.as_ref());
    let at = began.and_then(|stamp| stamp.at);
    let end = run.finished_at.as_ref().and_then(|stamp| stamp.at);
    let end = end.or_else(|| run.status.is_open().then_some(desk.now));
    let took = at
        .zip(end)
        .map(|(at, end)| human::duration(end.duration_since(at).as_secs()));
    let cause = facts.and_then(|facts| facts.cause.as_ref());
    let error = run.error.as_deref().map(|error| {
        let first = error.lines().next().unwrap_or_default();
        redact(first, [])
    });
    let what = match (cause, error) {
        (Some(cause), Some(error)) => format!("{}: {error}", cause.word()),
        (Some(cause), None) => cause.word().to_owned(),
        (None, Some(error)) => error,
        (None, None) if run.status.is_open() => goes_on(facts).unwrap_or_default(),
        (None, None) => delivery_error(run, facts).unwrap_or_default(),
    };
    let by_hand = (run.source == "direct").then(|| "by hand".to_owned());
    let status = [Some(run.status.word().to_owned()), by_hand];
    let status = status.into_iter().chain([delivery_words(run)]).flatten();
    vec![
        reference::short(&run.id).to_owned(),
        status.collect::<Vec<_>>().join(", "),
        began.map(|stamp| desk.ago(&stamp.text)).unwrap_or_default(),
        took.unwrap_or_default(),
        facts.map(|facts| facts.mode.clone()).unwrap_or_default(),
        what,
    ]
}
