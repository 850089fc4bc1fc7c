//! The driver of the doctor. In this order: look at other processes (a confined process may not), let
//! the kernel take the right to write away, read buses and homes side by side, decide, let the checks
//! judge, assemble. One deadline holds for all of it: whatever hangs is left behind on a thread of its
//! own, and what it would have said is reported as not found out.

mod budget;
mod judge;
mod pick;
mod world;

use std::sync::Arc;
use std::time::Duration;

use super::check::{self, Group};
use super::confine::Sandbox;
use super::evidence::Evidence;
use super::finding::Severity;
use super::report::{self, Report, assemble};
use super::verdict::Thresholds;
use super::{human, json, plain};
use crate::clock::Now;
use crate::error::Result;
pub use crate::host::choose::Choice;
use crate::output::Out;
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
    let (facts, sandbox) = world::host(runtime, request, &budget)?;
    let for_checks = budget.left() / 10;
    let reading = budget.at_most(budget.left().saturating_sub(for_checks));
    let (homes, late) = match world::homes(&facts, started.wall, &reading) {
        Ok(homes) => (homes, Vec::new()),
        Err(names) => (Vec::new(), names),
    };
    let evidence = Arc::new(Evidence::new(started.wall, facts).with_homes(homes));
    let (blind, able) = checks
        .into_iter()
        .partition::<Vec<_>, _>(|check| !late.is_empty() && reads_homes(check.group));
    let mut ran = judge(&able, &evidence, &runtime.clock, &budget);
    let why = format!("reading {} did not end in time", late.join(", "));
    ran.extend(blind.into_iter().map(|check| judge::late(check, &why)));
    let input = report::Input {
        run: this_run(runtime, request, started, (&evidence, &sandbox)),
        host: report::Host::of(&evidence.facts),
        dispatch: Some(report::Dispatch::of(&evidence)),
        ran,
        thresholds: request.thresholds,
    };
    Ok(assemble(input))
}

/// Whether the checks of this group judge what lies in homes. Where that could not be read they would
/// take it for absent.
fn reads_homes(group: Group) -> bool {
    match group {
        Group::Host
        | Group::SessionBus
        | Group::Linger
        | Group::RuntimeDir
        | Group::Service
        | Group::Policy => false,
        Group::Config
        | Group::Stores
        | Group::Scheduler
        | Group::Jobs
        | Group::Ledger
        | Group::Loops
        | Group::Sessions => true,
    }
}

fn this_run(
    runtime: &Runtime,
    request: &Request,
    started: Now,
    (evidence, sandbox): (&Evidence, &Sandbox),
) -> report::Run {
    let now = runtime.clock.now();
    let took = now.monotonic.saturating_sub(started.monotonic);
    let homes = evidence.facts.homes.iter();
    report::Run {
        started_at: started.wall.to_string(),
        duration_ms: report::milliseconds(took),
        deadline_ms: report::milliseconds(request.deadline),
        uid: runtime.account.uid,
        user: runtime.account.name.clone(),
        sandbox: sandbox.word(),
        sandbox_gap: sandbox.gap(),
        homes: homes.map(|home| home.path.display().to_string()).collect(),
    }
}
