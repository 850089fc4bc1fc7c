//! `hermes cron tick`: one pass over the jobs, or what it would do at an instant.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use hermes::config::{Config, Settings};
use hermes::cron::dispatcher::settings::machine;
use hermes::cron::dispatcher::{Dispatcher, Fate, Parts};
use hermes::cron::due::{self, Change, Due, Note, Order, Policy, Scene};
use hermes::cron::foresee;
use hermes::cron::job::{Job, RawJob};
use hermes::cron::job_id;
use hermes::cron::stamp::Stamp;
use hermes::cron::ticker::{Pass, Ticker, stands};
use hermes::cron::witness_store::StoreWitness;
use hermes::cron::zone::Zone;
use hermes::error::{Context, Error, Kind, Result};
use hermes::ledger::store::utc;
use hermes::output::{human, json};
use hermes::runtime::Runtime;
use serde_json::{Value, json};

use crate::cron::desk::{Desk, is_ours_to_run, warn_of_settings};
use crate::cron::list::Eye;
use crate::cron::next::instant;
use crate::exit::Exit;

/// Longest wait for jobs that a pass has started: their own limits end them earlier.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

/// One real pass.
fn pass(runtime: &mut Runtime, as_json: bool) -> Result<Exit> {
    let home = runtime.one_home()?;
    is_ours_to_run(runtime, &home, "cron tick")?;
    let environ = &runtime.environ;
    let variable = |name: &str| environ.text(name).map(str::to_owned);
    let config = Config::load(&home, &variable, &[]);
    warn_of_settings(runtime, &config, &Zone::of(&config));
    let say = |sentence: &str| eprint_line(sentence);
    let parts = Parts::of(runtime, &home, &config, Box::new(say))?;
    let reactor = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context(Kind::Internal, "there is no event loop")?;
    let mut ticker = Ticker::once(Arc::new(Dispatcher::new(parts)));
    let (pass, fates) = reactor.block_on(async {
        let pass = ticker.tick().await?;
        ticker.drain_all(LONGEST).await;
        Ok::<_, Error>((pass, ticker.take_fates()))
    })?;
    tell(runtime, &pass, &fates, as_json)
}

/// What became of the pass. A job that failed is no failure of the pass; one that could not be
/// launched is.
fn tell(
    runtime: &mut Runtime,
    pass: &Pass,
    fates: &[(String, Fate)],
    as_json: bool,
) -> Result<Exit> {
    if as_json {
        let runs: Vec<_> = fates
            .iter()
            .map(|(job, fate)| fate_json(job, fate))
            .collect();
        let (word, why) = match pass {
            Pass::Busy => ("busy", None),
            Pass::Standing(why) => ("standing", Some(why)),
            Pass::Done(_) => ("done", None),
        };
        let document =
            json!({"schema": "hermes.cron-tick/1", "pass": word, "reason": why, "runs": runs});
        json::print(&mut runtime.out, &document)?;
    } else {
        match pass {
            Pass::Busy => runtime
                .out
                .note("Another scheduler is at it; nothing was done."),
            Pass::Done(0) => runtime.out.line("nothing is due")?,
            // Why it stands was said by the ticker.
            Pass::Standing(_) | Pass::Done(_) => {}
        }
        for (job, fate) in fates {
            let line = format!("{job}  {}", fate_text(fate));
            runtime.out.line(&human::printable(&line))?;
        }
    }
    let lost = |(_, fate): &(String, Fate)| matches!(fate, Fate::NotLaunched { .. });
    Ok(match pass {
        _ if fates.iter().any(lost) => Exit::ERROR,
        Pass::Standing(_) => Exit::FAILED,
        Pass::Busy | Pass::Done(_) => Exit::OK,
    })
}

fn fate_text(fate: &Fate) -> String {
    match fate {
        Fate::Skipped(why) => format!("skipped: {why}"),
        Fate::Waits(why) => format!("waits: {why}"),
        Fate::Refused(why) => format!("refused: {why}"),
        Fate::NotLaunched { error, .. } => format!("not launched: {error}"),
        Fate::Ended {
            execution_id,
            ok: true,
            ..
        } => format!("ok ({execution_id})"),
        Fate::Ended {
            execution_id,
            error,
            ..
        } => {
            format!(
                "failed ({execution_id}): {}",
                error.as_deref().unwrap_or("no reason")
            )
        }
    }
}

fn fate_json(job: &str, fate: &Fate) -> Value {
    let (outcome, execution, reason) = match fate {
        Fate::Skipped(why) => ("skipped", None, Some(why)),
        Fate::Waits(why) => ("waits", None, Some(why)),
        Fate::Refused(why) => ("refused", None, Some(why)),
        Fate::NotLaunched {
            execution_id,
            error,
        } => ("not_launched", execution_id.as_ref(), Some(error)),
        Fate::Ended {
            execution_id,
            ok,
            error,
        } => (
            if *ok { "ok" } else { "failed" },
            Some(execution_id),
            error.as_ref(),
        ),
    };
    json!({"job_id": job, "outcome": outcome, "execution_id": execution, "reason": reason})
}

/// A sentence for the operator, on stderr: one that cannot be told is lost, and the run goes on.
fn eprint_line(sentence: &str) {
    use std::io::Write as _;
    let _nobody_to_tell = writeln!(std::io::stderr(), "{sentence}");
}

/// Run what is due once, and wait for it
///
/// One pass, as the scheduler of 'hermes serve' makes one each minute: for hosts where something else
/// keeps the time. It honours the lock, so it does nothing while another scheduler is at it. With
/// --dry-run it only shows which jobs are due and what the pass would change.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  hermes cron tick
  hermes cron tick --dry-run
  hermes cron tick --dry-run --at 2026-06-17T09:00:30
  hermes cron tick --dry-run --json")]
pub(crate) struct Tick {
    /// Only show it: nothing is run and nothing is written
    #[arg(long)]
    dry_run: bool,
    /// Look at this instant instead of now
    #[arg(long, value_name = "TIME", requires = "dry_run")]
    at: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Tick {
    /// Scans the jobs and shows the outcome.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        if !self.dry_run {
            return pass(runtime, self.json);
        }
        let desk = Desk::one(runtime)?;
        let (home, zone) = (&desk.home, &desk.zone);
        let now = self
            .at
            .as_deref()
            .map_or_else(|| Ok(runtime.clock.wall()), |at| instant(at, zone, "--at"))?;
        if let Some(why) = stands(home, now) {
            return self.show_standing(runtime, &Stamp::of(now, &zone.zones.configured), &why);
        }
        let jobs = desk.jobs()?;
        let settings = Settings::of(&desk.config).cron;
        let machine = machine(settings.machine_id.as_deref(), std::process::id());
        let witness = StoreWitness::read(home, &machine, now)?;
        let scene = Scene {
            now,
            last_pass: None,
            zones: &zone.zones,
            policy: Policy::of(&settings),
            machine: &machine,
            running: &HashSet::new(),
            witness: &witness,
        };
        let mut found = due::due(jobs.iter().enumerate(), &scene, &mut new_id);
        foresee::foresee(&mut found, &jobs, &scene);
        let eye = Eye::of(&desk, &desk.situation(runtime));
        let refused = found.orders.iter().filter_map(|order| {
            let behind = is_behind(&jobs, order).then(|| job_id::BEHIND.to_owned());
            let why = behind.or_else(|| eye.refusal(&desk, jobs.get(order.index)?));
            Some((order.index, why?))
        });
        let seen = Seen {
            at: Stamp::of(now, &zone.zones.configured),
            refused: refused.collect(),
            found,
        };
        self.show(runtime, &seen)
    }

    /// A pass does nothing at all: so does this, in the same words and with the same end.
    fn show_standing(&self, runtime: &mut Runtime, at: &Stamp, why: &str) -> Result<Exit> {
        if self.json {
            let nothing: [Value; 0] = [];
            let document = json!({"at": at.to_string(), "standing": why, "orders": nothing,
                "held": nothing, "skipped": nothing, "changes": nothing});
            json::print(&mut runtime.out, &document)?;
        } else {
            let line = format!("At {at} a pass would do nothing: {why}.");
            runtime.out.line(&human::printable(&line))?;
        }
        Ok(Exit::FAILED)
    }

    fn show(&self, runtime: &mut Runtime, seen: &Seen) -> Result<Exit> {
        let found = &seen.found;
        if self.json {
            json::print(&mut runtime.out, &document(seen))?;
        } else {
            runtime.out.print(&page(seen))?;
        }
        for note in &found.notes {
            let said = match note {
                Note::MissedOnce { job_id } => {
                    format!("The one-shot {job_id} missed its time and will not run.")
                }
                Note::Unreadable { job_id, why } => format!("The job {job_id} cannot fire: {why}."),
            };
            runtime.out.warn(&human::printable(&said));
        }
        Ok(Exit::OK)
    }
}

/// Whether a job that is due is not the one that its id leads to.
fn is_behind(jobs: &[RawJob], order: &Order) -> bool {
    let mut before = jobs.iter().take(order.index);
    before.any(|job| Job::read(job).id() == Some(order.job_id.as_str()))
}

/// What a pass would do.
struct Seen {
    at: Stamp,
    found: Due,
    /// Jobs that are due and would be refused, by their places in the store, and why.
    refused: HashMap<usize, String>,
}

/// An id as it would be drawn for a record without one; the real scan draws another.
fn new_id() -> String {
    uuid::Uuid::new_v4()
        .simple()
        .to_string()
        .chars()
        .take(12)
        .collect()
}

fn document(Seen { at, found, refused }: &Seen) -> Value {
    let order = |order: &Order| {
        json!({
            "job_id": order.job_id,
            "scheduled_instant": order.scheduled_instant(),
            "kind": order.kind.as_str(),
            "refused": refused.get(&order.index),
        })
    };
    let orders = found.orders.iter().map(order);
    let held = found.held.iter().map(order);
    let skipped = found.passed_by.iter().map(|late| {
        json!({"job_id": late.job_id, "scheduled_instant": utc(late.slot), "reason": late.reason})
    });
    let changes = found.changes.iter().map(|change| {
        // A key that goes is set to null, which is what readers of the store make of it.
        let mut set = change.set.clone();
        set.extend(change.unset.iter().map(|key| (key.clone(), Value::Null)));
        json!({
            "job_id": change.job_id,
            "set": set,
            "removed": change.removed,
            "reason": reasons(change),
        })
    });
    json!({
        "at": at.to_string(),
        "standing": null,
        "orders": orders.collect::<Vec<_>>(),
        "held": held.collect::<Vec<_>>(),
        "skipped": skipped.collect::<Vec<_>>(),
        "changes": changes.collect::<Vec<_>>(),
    })
}

fn reasons(change: &Change) -> String {
    change
        .reasons
        .iter()
        .map(|reason| reason.as_str())
        .collect::<Vec<_>>()
        .join(", ")
}

/// The outcome for people: what would run, then what would change.
fn page(Seen { at, found, refused }: &Seen) -> String {
    let count = found.orders.len() + found.held.len();
    let due = human::count(count, "job is due", "jobs are due");
    let mut lines = vec![format!("At {at} {due}.")];
    let line = |verb: &str, order: &Order, why: &str| {
        let slot = order.slot.map(|slot| format!("for {}", utc(slot.at)));
        let slot = slot.unwrap_or_else(|| "on request".to_owned());
        format!(
            "  {verb:<6}  {}  {slot}, {}{why}",
            order.job_id,
            order.kind.as_str()
        )
    };
    lines.extend(
        found
            .orders
            .iter()
            .map(|order| match refused.get(&order.index) {
                Some(why) => line("refuse", order, &format!(": {why}")),
                None => line("run", order, ""),
            }),
    );
    let later = ": left to a later pass (cron.max_catch_ups_per_tick)";
    lines.extend(found.held.iter().map(|order| line("hold", order, later)));
    lines.extend(found.passed_by.iter().map(|late| {
        let (slot, reason) = (utc(late.slot), &late.reason);
        format!("  skip    {}  for {slot}, {reason}", late.job_id)
    }));
    for change in &found.changes {
        let verb = if change.removed { "remove" } else { "change" };
        let set = change.set.iter().map(|(key, value)| match value {
            // When it fires next is what people look for.
            Value::String(at) if key == "next_run_at" => format!("{key} {at}"),
            _ => key.clone(),
        });
        let keys: Vec<_> = set.chain(change.unset.iter().cloned()).collect();
        let keys = if keys.is_empty() {
            String::new()
        } else {
            format!(": {}", keys.join(", "))
        };
        lines.push(format!(
            "  {verb}  {}  {}{keys}",
            change.job_id,
            reasons(change)
        ));
    }
    lines.iter().fold(String::new(), |page, line| {
        page + &human::printable(line) + "\n"
    })
}
