//! What a pass over a home would do at an instant: what a dry run of it shows.

use std::collections::{HashMap, HashSet};

use hermes::config::Settings;
use hermes::cron::dispatcher::settings::machine;
use hermes::cron::due::{self, Change, Due, Note, Order, Policy, Scene};
use hermes::cron::foresee;
use hermes::cron::job_id;
use hermes::cron::stamp::Stamp;
use hermes::cron::ticker::stands;
use hermes::cron::witness_store::StoreWitness;
use hermes::error::Result;
use hermes::ledger::store::utc;
use hermes::output::human;
use hermes::runtime::Runtime;
use serde_json::{Value, json};

use super::desk::Desk;
use super::eye::Eye;
use super::next::instant;
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
        let (home, zone) = (&desk.home, &desk.zone);
        let now = at.map_or_else(|| Ok(runtime.clock.wall()), |at| instant(at, zone, "--at"))?;
        let at = Stamp::of(now, &zone.zones.configured);
        if let Some(why) = stands(home, now) {
            return Ok(Self::Standing(at, why));
        }
        let read_in = desk.zone_of_pass(runtime)?;
        let jobs = desk.jobs()?;
        let settings = Settings::of(&desk.config).cron;
        let machine = machine(settings.machine_id.as_deref(), std::process::id());
        let witness = StoreWitness::read(home, &machine, now)?;
        let scene = Scene {
            now,
            last_pass: None,
            zones: &read_in.zones,
            policy: Policy::of(&settings),
            machine: &machine,
            running: &HashSet::new(),
            witness: &witness,
        };
        let mut found = due::due(jobs.iter().enumerate(), &scene, &mut new_id);
        foresee::foresee(&mut found, &jobs, &scene);
        let eye = Eye::of(desk, &desk.situation(runtime));
        let behind = job_id::behind(&jobs);
        let refused = found.orders.iter().filter_map(|order| {
            let is_behind = behind.contains(&order.index);
            let behind = is_behind.then(|| job_id::BEHIND.to_owned());
            let why = behind.or_else(|| eye.refusal(desk, jobs.get(order.index)?));
            Some((order.index, why?))
        });
        Ok(Self::Pass(Seen {
            at,
            refused: refused.collect(),
            found,
        }))
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
                    "held": nothing, "skipped": nothing, "changes": nothing})
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
        for note in &seen.found.notes {
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
