//! The driver of the doctor. In this order: look at other processes (a confined process may not), let
//! the kernel take the right to write away, read buses and homes side by side, decide, let the checks
//! judge, assemble. One deadline holds for all of it: whatever hangs is left behind on a thread of its
//! own, and what it would have said is reported as not found out.

mod budget;
mod judge;
mod limits;
mod pick;
mod world;

use std::sync::Arc;
use std::time::Duration;

use super::check::{self, Check};
use super::confine::{Sandbox, confine};
use super::evidence::Evidence;
use super::finding::Severity;
use super::report::{self, Ran, Report, assemble};
use super::verdict::Thresholds;
use super::{human, json, plain};
use crate::clock::Now;
use crate::error::Result;
pub use crate::host::choose::Choice;
use crate::host::facts::OwnName;
use crate::host::locks::LockTable;
use crate::host::{Fact, Facts};
use crate::output::Out;
use crate::output::json::ascii;
use crate::runtime::Runtime;
pub use budget::Budget;
pub use judge::judge;
pub use pick::{Pick, pick};

/// Hidden: a JSON file of host facts that stands for the probes of the host, so that a test of the whole
/// binary judges a host that it is not on.
pub const FACTS_VARIABLE: &str = "__HERMES_FACTS";

/// What is asked of the doctor.
#[derive(Clone, Debug)]
pub struct Request {
    /// Whose point of view is taken, and of which home.
    pub choice: Choice,
    /// Which checks run.
    pub pick: Pick,
    /// How long it may take.
    pub deadline: Duration,
    /// What counts.
    pub thresholds: Thresholds,
}

/// How the report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Human,
    /// Tab-separated records.
    Plain,
    /// One JSON document.
    Json,
}

/// What of the report is printed, and how.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The format.
    pub format: Format,
    /// The least severity that is printed as text.
    pub least: Severity,
    /// Nothing is printed when the exit code is 0.
    pub quiet: bool,
    /// Every check with its duration, and all evidence.
    pub verbose: bool,
}

/// The report as text.
#[must_use]
pub fn render(report: &Report, view: &View, out: &Out) -> String {
    match view.format {
        Format::Json if out.ascii => ascii(&json::render(report)),
        Format::Json => json::render(report),
        Format::Plain => plain::render(report, view.least),
        Format::Human => human::render(
            report,
            human::Look {
                style: out.style,
                width: out.width,
                least: view.least,
                verbose: view.verbose,
            },
        ),
    }
}

/// Looks, judges, and makes the report. From here on this process is confined for good.
///
/// # Errors
/// When the request makes no sense: an unknown check, a home that cannot be chosen.
pub fn run(runtime: &Runtime, request: &Request) -> Result<Report> {
    let started = runtime.clock.now();
    let budget = Budget::of(request.deadline);
    let checks = pick(check::all(), &request.pick)?;
    let locks = Arc::new(LockTable::new());
    let (facts, sandbox) = match limits::too_low() {
        Some(why) => (Err(why), confine()),
        None => world::host(runtime, request, &locks, &budget)?,
    };
    let evidence = facts.map(|facts| Evidence::new(started.wall, facts));
    let (evidence, ran) = match evidence {
        Ok(evidence) => {
            let (evidence, ran) = look_and_judge(runtime, (evidence, &locks), checks, &budget);
            (Some(evidence), ran)
        }
        Err(why) => (None, late(checks, &why)),
    };
    let ran = ran.into_iter().map(|ran| request.pick.told(ran)).collect();
    let evidence = evidence.as_deref();
    Ok(assemble(report::Input {
        run: this_run(runtime, request, started, (evidence, &sandbox)),
        host: evidence.map_or_else(report::Host::default, |seen| report::Host::of(&seen.facts)),
        account: evidence.map(|seen| seen.facts.account.clone()),
        own_name: evidence.map_or_else(OwnName::default, |seen| seen.facts.own_name.clone()),
        view: evidence.map_or_else(Vec::new, |seen| view(&request.choice, &seen.facts)),
        dispatch: evidence.map(report::Dispatch::of),
        ran,
        thresholds: request.thresholds,
    }))
}

/// The words that ask again from the point of view that was chosen. A process may be gone by then, and
/// its unit is not.
fn view(choice: &Choice, facts: &Facts) -> Vec<String> {
    let unit = facts.dispatcher.unit.as_ref().map(|unit| &unit.name);
    let unit = choice
        .unit
        .as_ref()
        .or(unit.filter(|_| choice.pid.is_some()));
    let pid = choice.pid.filter(|_| unit.is_none());
    let mut words = Vec::new();
    for (name, value) in [
        ("--unit", unit.cloned()),
        ("--pid", pid.map(|pid| pid.to_string())),
        ("--user", choice.user.clone()),
        ("--profile", choice.profile.clone()),
    ] {
        words.extend(
            value
                .map(|value| [name.to_owned(), value])
                .into_iter()
                .flatten(),
        );
    }
    words.extend(choice.shell.then(|| "--shell".to_owned()));
    let path = &facts.home.path;
    let mut homes = facts.homes.iter();
    if homes.any(|home| home.path == *path && home.exists == Fact::Known(true)) {
        words.extend(["--home".to_owned(), path.display().to_string()]);
    }
    words
}

/// Reads the homes and lets the checks judge. A part of the time is kept for them.
fn look_and_judge(
    runtime: &Runtime,
    (mut evidence, locks): (Evidence, &Arc<LockTable>),
    checks: Vec<&'static Check>,
    budget: &Budget,
) -> (Arc<Evidence>, Vec<Ran>) {
    let for_checks = budget.left() / 10;
    let reading = budget.at_most(budget.left().saturating_sub(for_checks));
    let hung = match world::homes(&evidence.facts, evidence.now, locks, &reading) {
        Ok(held) => {
            evidence = evidence.with_homes(held.homes);
            evidence.elsewhere = held.elsewhere;
            Vec::new()
        }
        Err(names) => names,
    };
    let evidence = Arc::new(evidence);
    // The process ends with its report: what was seen need not be taken apart, row by row, before.
    std::mem::forget(Arc::clone(&evidence));
    let (blind, able) = checks
        .into_iter()
        .partition::<Vec<_>, _>(|check| !hung.is_empty() && reads_homes(check));
    let mut ran = judge(&able, &evidence, &runtime.clock, budget);
    let why = format!("reading {} did not end in time", hung.join(", "));
    ran.extend(late(blind, &why));
    (evidence, ran)
}

/// Checks that could not begin, and why.
fn late(checks: Vec<&'static Check>, why: &str) -> Vec<Ran> {
    let late = |check| judge::late(check, why);
    checks.into_iter().map(late).collect()
}

/// Whether a check reads what lies in homes. Where that could not be read it would take it for absent.
fn reads_homes(check: &Check) -> bool {
    check.reads.iter().any(|part| part.is_of_home())
}

fn this_run(
    runtime: &Runtime,
    request: &Request,
    started: Now,
    (evidence, sandbox): (Option<&Evidence>, &Sandbox),
) -> report::Run {
    let now = runtime.clock.now();
    let took = now.monotonic.saturating_sub(started.monotonic);
    let homes = evidence.map(|evidence| evidence.facts.homes.as_slice());
    let homes = homes.unwrap_or_default().iter();
    report::Run {
        started_at: started.wall.to_string(),
        duration_ms: report::milliseconds(took),
        deadline_ms: report::milliseconds(request.deadline),
        uid: runtime.account.uid,
        user: runtime.account.name.clone(),
        sandbox: sandbox.word(),
        sandbox_gap: sandbox.gap(),
        homes: homes.map(|home| home.path.display().to_string()).collect(),
        only: request.pick.only.clone(),
    }
}

#[cfg(test)]
mod tests;
