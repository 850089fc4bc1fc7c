//! The driver of the doctor. In this order: look at other processes (a confined process may not), let
//! the kernel take the right to write away, read buses and homes side by side, decide, let the checks
//! judge, assemble. One deadline holds for all of it: whatever hangs is left behind on a thread of its
//! own, and what it would have said is reported as not found out.

mod budget;
mod judge;
mod pick;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::check;
use super::confine::{Sandbox, confine};
use super::evidence::{Evidence, HomeEvidence};
use super::finding::Severity;
use super::gather;
use super::report::{self, Report, assemble};
use super::verdict::Thresholds;
use super::{human, json, plain};
use crate::clock::Now;
use crate::error::{Context, Error, Kind, Result};
use crate::home::Home;
use crate::host::Facts;
pub use crate::host::choose::Choice;
use crate::output::Out;
use crate::runtime::Runtime;
pub use budget::Budget;
pub use judge::judge;
pub use pick::{Pick, pick};

/// Hidden: a JSON file of [`Facts`] that stands for the probes of the host, so that a test of the whole
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
    let facts = recorded_facts(runtime)?;
    let sandbox = confine();
    let homes = homes(&facts, started.wall, &budget);
    let evidence = Arc::new(Evidence::new(started.wall, facts).with_homes(homes));
    let ran = judge(&checks, &evidence, &runtime.clock, &budget);
    let input = report::Input {
        run: this_run(runtime, request, started, &sandbox),
        host: report::Host::of(&evidence.facts),
        dispatch: Some(report::Dispatch::of(&evidence)),
        ran,
        thresholds: request.thresholds,
    };
    Ok(assemble(input))
}

/// What the homes hold. They are read on a thread of their own: a file system may hang.
fn homes(facts: &Facts, now: Timestamp, budget: &Budget) -> Vec<HomeEvidence> {
    let homes: Vec<_> = facts
        .homes
        .iter()
        .map(|home| Home::at(&home.path))
        .collect();
    let facts = facts.clone();
    let reading = Budget::start("homes", move || {
        gather::homes(&homes, gather::Scope { facts: &facts, now })
    });
    reading.wait(budget).unwrap_or_default()
}

/// The facts of another host, where a test brought them.
fn recorded_facts(runtime: &Runtime) -> Result<Facts> {
    let Some(path) = runtime.environ.text(FACTS_VARIABLE) else {
        return Err(Error::new(Kind::Unavailable, "this host cannot be probed"));
    };
    let text = fs_err::read_to_string(path).context(Kind::Usage, "failed to read the facts")?;
    serde_json::from_str(&text).context(Kind::Usage, format!("'{path}' holds no facts of a host"))
}

fn this_run(runtime: &Runtime, request: &Request, started: Now, sandbox: &Sandbox) -> report::Run {
    let took = runtime
        .clock
        .now()
        .monotonic
        .saturating_sub(started.monotonic);
    report::Run {
        started_at: started.wall.to_string(),
        duration_ms: report::milliseconds(took),
        deadline_ms: report::milliseconds(request.deadline),
        uid: runtime.account.uid,
        user: runtime.account.name.clone(),
        sandbox: sandbox.word(),
        sandbox_gap: sandbox.gap(),
        homes: Vec::new(),
    }
}
