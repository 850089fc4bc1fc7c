//! The report: everything that was found, in the order in which it is told, as one document
//! (`hermes.doctor/1`). Pure; the renderers know this and nothing of checks.
//!
//! Fields are only ever added. `docs/doctor.schema.json` describes the document, and a test holds
//! every report against it.

mod asked;
mod assemble;
mod dispatch;
mod fold;
mod shell;
mod tree;
mod whose;

use serde::Serialize;

use super::finding::{Observation, Remedy, Severity, Subject};
use super::verdict::Status;
use crate::host::Facts;
use crate::host::facts::Container;
pub use assemble::{Ended, Input, Ran, assemble, milliseconds};
pub use dispatch::{Dispatch, Flip, LongLived, Now, Step};
pub use shell::Difference;
pub use tree::Tree;

/// The name and version of the document's shape.
pub const SCHEMA: &str = "hermes.doctor/1";

/// The whole report.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The program that made it.
    pub tool: Tool,
    /// This run of it.
    pub run: Run,
    /// Where it ran.
    pub host: Host,
    /// What it comes to.
    pub verdict: Verdict,
    /// In which mode jobs are dispatched; `null` where the host could not be looked at at all.
    pub dispatch: Option<Dispatch>,
    /// Every check that was asked for, also those that passed.
    pub checks: Vec<CheckReport>,
    /// Every finding, causes before their symptoms.
    pub findings: Vec<Reported>,
}

/// The program that made the report.
#[derive(Clone, Debug, Serialize)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// How the reader's shell calls it: its bare name, or its file where that name means another.
    pub command: String,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Run {
    /// When it started, RFC 3339 in UTC.
    pub started_at: String,
    /// How long it took, in milliseconds.
    pub duration_ms: f64,
    /// How long it might have taken, in milliseconds.
    pub deadline_ms: f64,
    /// Who ran it.
    pub uid: u32,
    /// The same by name.
    pub user: Option<String>,
    /// What kept it from writing: `landlock` or `none`.
    pub sandbox: &'static str,
    /// Why there was no sandbox, or not a whole one.
    pub sandbox_gap: Option<String>,
    /// The homes that were looked at.
    pub homes: Vec<String>,
    /// What alone was asked for, where it was not all; told to people only.
    #[serde(skip)]
    pub only: Vec<String>,
}

/// Where it ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Host {
    /// This boot.
    pub boot_id: Option<String>,
    /// Version of systemd, where a manager said it.
    pub systemd: Option<String>,
    /// The kind of container, if any.
    pub container: Option<String>,
    /// Release of the kernel.
    pub kernel: Option<String>,
}

/// What it comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// In one word.
    pub status: Status,
    /// The exit code of the default style.
    pub exit_code: u8,
    /// Nothing that could change the verdict stayed unknown.
    pub complete: bool,
    /// How many of each.
    pub counts: Counts,
    /// The least severity that counted.
    pub fail_on: Severity,
}

/// How many: checks that passed, could not be completed, did not apply; findings by severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Checks that found nothing above `info` and left no gap.
    pub pass: usize,
    /// Findings that are worth knowing.
    pub info: usize,
    /// Findings that warn.
    pub warning: usize,
    /// Findings of something that does not work.
    pub error: usize,
    /// Checks that could not be completed, whether or not that counts.
    pub unknown: usize,
    /// Checks that do not apply here.
    pub not_applicable: usize,
    /// Checks that broke down: defects of this program.
    pub internal: usize,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    /// Nothing above `info` was found, and nothing stayed unknown.
    Pass,
    /// It found a warning or an error.
    Fail,
    /// It could not find out what it wanted to know.
    Unknown,
    /// It does not apply here.
    NotApplicable,
    /// It broke down.
    Internal,
}

/// One check.
#[derive(Clone, Debug, Serialize)]
pub struct CheckReport {
    /// Its stable name.
    pub id: &'static str,
    /// Its group.
    pub group: &'static str,
    /// What it looks at.
    pub title: &'static str,
    /// The parts of the evidence that it reads.
    pub reads: Vec<&'static str>,
    /// How it ended.
    pub status: CheckStatus,
    /// How long it took, in milliseconds.
    pub duration_ms: f64,
    /// Why it does not apply, could not be completed or broke down.
    pub reason: Option<String>,
    /// What it saw when all was well.
    pub note: Option<String>,
    /// What it could not find out.
    pub unchecked: Vec<Unknown>,
    /// Ids of its findings.
    pub findings: Vec<String>,
}

/// Something that could not be found out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unknown {
    /// What, as a noun phrase.
    pub what: String,
    /// Why not.
    pub why: String,
    /// The command that would tell; empty where none can.
    pub would_tell: Vec<String>,
    /// Knowing it could change the verdict.
    pub matters: bool,
}

/// One finding, in its place.
#[derive(Clone, Debug, Serialize)]
pub struct Reported {
    /// `f1`, `f2`, … in the order of the report.
    pub id: String,
    /// Its code.
    pub code: &'static str,
    /// The code's short name.
    pub slug: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// The same for the same finding on another day.
    pub fingerprint: String,
    /// Id of the finding that explains this one.
    pub cause: Option<String>,
    /// The check that found it.
    pub check: &'static str,
    /// The check's group.
    pub group: &'static str,
    /// What it is about.
    pub subject: Subject,
    /// What is wrong.
    pub summary: String,
    /// What was seen.
    pub evidence: Vec<Observation>,
    /// Ways out, the best first.
    pub remedies: Vec<Remedy>,
}

impl Host {
    /// What the facts say of it.
    #[must_use]
    pub fn of(facts: &Facts) -> Self {
        let machine = &facts.machine;
        let container = machine.container.known();
        let doors = facts
            .system_bus
            .doors
            .iter()
            .chain(&facts.session_bus.doors);
        let mut managers = doors.filter_map(|door| door.manager.as_ref());
        Self {
            boot_id: machine.boot.id.known().cloned(),
            systemd: managers.next().map(|manager| manager.version.clone()),
            container: container.and_then(container_word),
            kernel: machine.kernel.known().cloned(),
        }
    }
}

fn container_word(container: &Container) -> Option<String> {
    let word = match container {
        Container::None => return None,
        Container::Docker => "docker",
        Container::Podman => "podman",
        Container::Lxc => "lxc",
        Container::Nspawn => "nspawn",
        Container::Wsl1 => "wsl1",
        Container::Wsl2 => "wsl2",
        Container::Chroot => "chroot",
        Container::Other(name) => name,
    };
    Some(word.to_owned())
}

impl Report {
    /// The findings that no other finding explains.
    pub fn roots(&self) -> impl Iterator<Item = &Reported> {
        self.findings.iter().filter(|found| found.cause.is_none())
    }

    /// Each finding that no other explains, with those that it explains: in the order of the report
    /// these follow it.
    pub fn trees(&self) -> impl Iterator<Item = Tree<'_>> {
        let mut rest = self.findings.as_slice();
        std::iter::from_fn(move || {
            let (root, after) = rest.split_first()?;
            let end = after.iter().position(|found| found.cause.is_none());
            let (symptoms, others) = after.split_at(end.unwrap_or(after.len()));
            rest = others;
            Some(Tree { root, symptoms })
        })
    }

    /// What could not be found out, with the check that wanted to know.
    pub fn unknowns(&self) -> impl Iterator<Item = (&CheckReport, &Unknown)> {
        self.checks
            .iter()
            .flat_map(|check| check.unchecked.iter().map(move |unknown| (check, unknown)))
    }

    /// What a person is to begin with: the first of the worst that has a way out, else the first of the
    /// worst. What explains is as bad as what it explains: a stop comes before a fault that it hides.
    #[must_use]
    pub fn first_to_mend(&self) -> Option<Tree<'_>> {
        let key = |tree: &Tree<'_>| (tree.worst(), tree.way_out().is_some());
        let best = self.trees().map(|tree| key(&tree)).max()?;
        self.trees().find(|tree| key(tree) == best)
    }
}

impl Unknown {
    /// Whether it is all that this check wanted to know: the check was not done.
    #[must_use]
    pub fn is_whole(&self, check: &CheckReport) -> bool {
        self.what == check.title
    }
}

/// What is wrong with a document, by the schema in `docs/`.
#[cfg(test)]
pub(super) fn against_schema(document: &serde_json::Value) -> Vec<String> {
    let text = include_str!("../../docs/doctor.schema.json");
    let schema = serde_json::from_str(text).expect("the schema is JSON");
    schema::validate(&schema, document)
}

#[cfg(test)]
#[path = "../../tests/common/schema.rs"]
mod schema;
#[cfg(test)]
mod tests;
