//! The checks. A check is a pure function over the evidence; it says what it found, what it could not
//! find out, and whether it applied at all. Every check that ran is listed, also the ones that passed.

mod clock;
mod config;
mod descriptors;
mod homes;
mod host;
mod impact;
mod jobs;
mod launch_error;
mod ledger;
mod linger;
mod loops;
mod memory;
mod mend;
mod policy;
mod programs;
mod redact;
mod restarts;
mod runtime_dir;
mod scheduler;
mod service;
mod session_bus;
mod sessions;
mod stores;
mod time;
mod unit;

#[cfg(test)]
mod home_tests;
#[cfg(test)]
mod host_tests;

use super::evidence::{Evidence, Part};
use super::finding::Finding;
use crate::host::Gap;

/// A group of the report: also what `--only` and `--skip` take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// systemd, logind, container, cgroup, clock.
    Host,
    /// The doors to the user manager.
    SessionBus,
    /// Whether the user manager outlives a login.
    Linger,
    /// Where the sockets are.
    RuntimeDir,
    /// The unit and the process that dispatch.
    Service,
    /// What the operator asked for.
    Policy,
    /// The ticker and its locks.
    Scheduler,
    /// The jobs and their schedules.
    Jobs,
    /// What has run, and what has not.
    Ledger,
    /// Timers of sessions.
    Loops,
    /// Sessions and their leases.
    Sessions,
    /// The files and databases.
    Stores,
    /// The configuration.
    Config,
}

impl Group {
    /// All groups, in the order of the report: causes before symptoms.
    pub const ALL: [Self; 13] = [
        Self::Host,
        Self::SessionBus,
        Self::Linger,
        Self::RuntimeDir,
        Self::Service,
        Self::Policy,
        Self::Config,
        Self::Stores,
        Self::Scheduler,
        Self::Jobs,
        Self::Ledger,
        Self::Loops,
        Self::Sessions,
    ];

    /// Its stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::SessionBus => "session-bus",
            Self::Linger => "linger",
            Self::RuntimeDir => "runtime-dir",
            Self::Service => "service",
            Self::Policy => "policy",
            Self::Scheduler => "scheduler",
            Self::Jobs => "jobs",
            Self::Ledger => "ledger",
            Self::Loops => "loops",
            Self::Sessions => "sessions",
            Self::Stores => "stores",
            Self::Config => "config",
        }
    }
}

/// One check.
#[derive(Clone, Copy)]
pub struct Check {
    /// Its stable name; that of its group, or `group-detail`.
    pub id: &'static str,
    /// Its group.
    pub group: Group,
    /// One line: what it looks at.
    pub title: &'static str,
    /// Codes that it can find.
    pub codes: &'static [&'static str],
    /// The parts of the evidence that it reads, to judge or to word what it found. Where one told
    /// nothing that could have made a finding, the check says what it does not know.
    pub reads: &'static [Part],
    /// The check itself.
    pub run: fn(&Evidence) -> Outcome,
}

/// Something that a check could not find out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unchecked {
    /// What it wanted to know, a noun phrase.
    pub what: String,
    /// Why not, and what would tell.
    pub gap: Gap,
    /// Whether knowing it could change the verdict: then the run is incomplete.
    pub matters: bool,
}

/// What a check says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What it found.
    pub findings: Vec<Finding>,
    /// What it could not find out.
    pub unchecked: Vec<Unchecked>,
    /// Why it does not apply here; then it has neither findings nor gaps.
    pub not_applicable: Option<String>,
    /// What it saw when all was well, for the list of checks: `252, running`.
    pub note: Option<String>,
}

impl Outcome {
    /// Nothing found; this is what was seen.
    pub fn passed(note: impl Into<String>) -> Self {
        Self {
            note: Some(note.into()),
            ..Self::default()
        }
    }

    /// It does not apply here.
    pub fn not_applicable(why: impl Into<String>) -> Self {
        Self {
            not_applicable: Some(why.into()),
            ..Self::default()
        }
    }

    /// Adds a finding.
    pub fn find(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// Adds to what it saw.
    pub fn saw(&mut self, words: impl Into<String>) {
        let words = words.into();
        self.note = match self.note.take() {
            Some(before) if before != words => Some(format!("{before}; {words}")),
            _ => Some(words),
        };
    }

    /// Adds something that could not be found out and cannot change the verdict.
    pub fn could_not(&mut self, what: impl Into<String>, gap: &Gap) {
        self.unchecked.push(Unchecked {
            what: what.into(),
            gap: gap.clone(),
            matters: false,
        });
    }

    /// Adds something that could not be found out and could change the verdict.
    pub fn could_not_and_it_matters(&mut self, what: impl Into<String>, gap: &Gap) {
        self.unchecked.push(Unchecked {
            what: what.into(),
            gap: gap.clone(),
            matters: true,
        });
    }
}

/// All checks, in the order of the report.
const CHECKS: &[&[Check]] = &[
    host::CHECKS,
    clock::CHECKS,
    memory::CHECKS,
    session_bus::CHECKS,
    restarts::CHECKS,
    linger::CHECKS,
    runtime_dir::CHECKS,
    service::CHECKS,
    unit::CHECKS,
    programs::CHECKS,
    launch_error::CHECKS,
    policy::CHECKS,
    config::CHECKS,
    stores::content::CHECKS,
    stores::databases::CHECKS,
    stores::CHECKS,
    scheduler::quiet::CHECKS,
    scheduler::CHECKS,
    scheduler::hosts::CHECKS,
    descriptors::CHECKS,
    jobs::records::CHECKS,
    jobs::due::CHECKS,
    jobs::needs::CHECKS,
    jobs::last::CHECKS,
    jobs::claims::CHECKS,
    ledger::open::CHECKS,
    ledger::launch::CHECKS,
    ledger::ends::CHECKS,
    ledger::missing::CHECKS,
    loops::CHECKS,
    sessions::CHECKS,
];

/// All checks, in the order of the report.
pub fn all() -> impl Iterator<Item = &'static Check> {
    CHECKS.iter().copied().flatten()
}
