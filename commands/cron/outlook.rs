//! What a pass over a home would do at an instant: what a dry run of it shows.

use hermes::config::Settings;
use hermes::cron::dispatcher::Fate;
use hermes::cron::due::{Change, Note};
use hermes::cron::job::RawJob;
use hermes::cron::pass_probe::{Foretold, Passing, foretell};
use hermes::cron::stamp::Stamp;
use hermes::cron::ticker::stands;
use hermes::error::Result;
use hermes::ledger::SlotAt;
use hermes::ledger::store::utc;
use hermes::output::human;
use hermes::runtime::Runtime;
use serde_json::{Value, json};

use super::desk::Desk;
use super::eye::Eye;
use super::next::instant;
use super::tick::outcome;
use crate::exit::Exit;

/// What a pass over a home would do.
pub(crate) enum Outlook {
    /// Nothing at all: so says a pass, in the same words and with the same end.
    Standing(Stamp, String),
    Pass(Seen),
}

impl Outlook {
    /// Looks at a home at an instant, or now.
    pub(crate) fn of(runtime: &Runtime, desk: &Desk, at: Option<&str>) -> Result<Self> {
        let home = &desk.home;
        let zone = desk.zone_of_pass(runtime)?;
        let now = at.map_or_else(|| Ok(runtime.clock.wall()), |at| instant(at, &zone, "--at"))?;
        let at = Stamp::of(now, &zone.zones.configured);
        if let Some(why) = stands(home, now) {
            return Ok(Self::Standing(at, why));
        }
        let jobs = desk.jobs()?;
        let eye = Eye::of(desk, desk.situation(runtime));
        let passing = Passing {
            home,
            settings: &Settings::of(&desk.config).cron,
            zones: &zone.zones,
            now,
        };
        let refusal = |job: &RawJob| eye.refusal(desk, job);
        let foretold = foretell(&jobs, passing, &refusal)?;
        Ok(Self::Pass(Seen { at, foretold }))
    }

    /// What a dry run ends with.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Standing(..) => Exit::FAILED,
            Self::Pass(_) => Exit::OK,
        }
    }

    /// For `--json`.
    pub(crate) fn document(&self) -> Value {
        match self {
            Self::Standing(at, why) => {
                let nothing: [Value; 0] = [];
                json!({"at": at.to_string(), "standing": why, "orders": nothing,
                    "held": nothing, "skipped": nothing, "closes": nothing,
                    "changes": nothing})
            }
            Self::Pass(seen) => document(seen),
        }
    }

    /// For people.
    pub(crate) fn page(&self) -> String {
        match self {
            Self::Standing(at, why) => {
                let line = format!("At {at} a pass would do nothing: {why}.");
                human::printable(&line) + "\n"
            }
            Self::Pass(seen) => page(seen),
        }
    }

    /// Tells, on stderr, what somebody should see of it.
    pub(crate) fn warn(&self, runtime: &mut Runtime) {
        let Self::Pass(seen) = self else { return };
        for note in &seen.foretold.found.notes {
            let said = match note {
                Note::MissedOnce { job_id, .. } => {
                    format!("The one-shot {job_id} missed its time and will not run.")
                }
                Note::Unreadable { job_id, why, .. } => {
                    format!("The job {job_id} cannot fire: {why}.")
                }
            };
            runtime.out.warn(&human::printable(&said));
        }
    }
}

/// What a pass would do.
pub(crate) struct Seen {
    at: Stamp,
    foretold: Foretold,
}

fn document(Seen { at, foretold }: &Seen) -> Value {
    let found = &foretold.found;
    let slot = |slot: Option<SlotAt>| slot.and_then(SlotAt::named).map(utc);
    let orders = foretold.orders.iter().map(|met| {
        let lateness = met.kind.as_str();
        let instead = met.instead.as_ref();
        let refused = instead.filter(|fate| matches!(fate, Fate::Refused(_)));
        json!({
            "job_id": met.job_id,
            "scheduled_instant": slot(met.slot),
            "kind": instead.map_or(lateness, outcome),
            "lateness": lateness,
            "left": met.is_left,
            "reason": instead.and_then(Fate::error),
            "refused": refused.and_then(Fate::error),
        })
    });
    let held = found.held.iter().map(|order| {
        json!({"job_id": order.job_id, "scheduled_instant": slot(order.slot),
            "kind": "held", "lateness": order.kind.as_str()})
    });
    let skipped = found.passed_by.iter().map(|late| {
        json!({"job_id": late.job_id, "scheduled_instant": utc(late.slot), "reason": late.reason})
    });
    let closes = foretold.closes.iter().map(
        |run| json!({"execution_id": run.execution_id, "job_id": run.job_id, "reason": run.why}),
    );
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
        "closes": closes.collect::<Vec<_>>(),
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

/// What a pass does instead of a run.
fn verb(fate: &Fate) -> &'static str {
    match fate {
        Fate::Skipped(_) => "skip",
        Fate::Waits(_) => "wait",
        Fate::Refused(_) | Fate::NotLaunched { .. } => "refuse",
        Fate::Ended { .. } => "run",
    }
}

/// The outcome for people: what would run, then what would change.
fn page(Seen { at, foretold }: &Seen) -> String {
    let found = &foretold.found;
    let count = foretold.orders.len() + found.held.len();
    let due = human::count(count, "job is due", "jobs are due");
    let mut lines = vec![format!("At {at} {due}.")];
    lines.extend(foretold.closes.iter().map(|run| {
        let (id, job, why) = (&run.execution_id, &run.job_id, &run.why);
        format!("  close   {id}  of job {job}: {why}")
    }));
    let line = |verb: &str, (id, slot): (&str, Option<SlotAt>), lateness: &str, why: &str| {
        let slot = slot.map(|slot| format!("for {}", utc(slot.at)));
        let slot = slot.unwrap_or_else(|| "on request".to_owned());
        format!("  {verb:<6}  {id}  {slot}, {lateness}{why}")
    };
    lines.extend(foretold.orders.iter().map(|met| {
        let (verb, why) = match (&met.instead, met.is_left) {
            (Some(fate), _) => (verb(fate), fate.error()),
            (None, true) => ("run", Some("it was taken before, and never run")),
            (None, false) => ("run", None),
        };
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        line(verb, (&met.job_id, met.slot), met.kind.as_str(), &why)
    }));
    let later = ": left to a later pass (cron.max_catch_ups_per_tick)";
    lines.extend(found.held.iter().map(|order| {
        let lateness = order.kind.as_str();
        line("hold", (&order.job_id, order.slot), lateness, later)
    }));
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
