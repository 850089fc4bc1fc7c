//! Facts of the process or unit that dispatches. Plain data.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::home::Source;

use super::{Environment, Fact, ProcessFacts, UnitFacts};

/// The account that dispatches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountFacts {
    /// Its uid.
    pub uid: u32,
    /// Its primary gid, where known.
    pub gid: Option<u32>,
    /// Its name; `None` where the user database has none.
    pub name: Option<String>,
    /// Its home directory.
    pub home: Option<PathBuf>,
}

impl AccountFacts {
    /// The name, or the number where there is none.
    #[must_use]
    pub fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.uid.to_string())
    }
}

/// The home that is judged, and how it was chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChosenHome {
    /// The root home; a named profile's own path where only that was asked for.
    pub path: PathBuf,
    /// What chose it.
    pub source: Source,
    /// The same in words, a fragment: `HERMES_HOME of pid 812`.
    pub because: String,
}

/// The process that dispatches a home's jobs, or would.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dispatcher {
    /// Whose point of view this is.
    pub viewpoint: Viewpoint,
    /// Why this one was chosen, in words.
    pub chosen_because: String,
    /// Which program.
    pub program: Program,
    /// Its version, as it calls itself; unknown is judged as the newest.
    pub version: Fact<String>,
    /// Where the version comes from, in words.
    pub version_source: Option<String>,
    /// The process, where one runs. For a unit that does not run it is absent.
    pub process: Option<ProcessFacts>,
    /// Environment that the process has, or that the unit will give it.
    pub environ: Fact<Environment>,
    /// Where the environment comes from, in words.
    pub environ_source: String,
    /// Name of the unit that owns it, if a unit does.
    pub unit: Option<UnitFacts>,
    /// It was spawned by a desktop application and ends with it.
    pub desktop: bool,
    /// The home that it serves, where that is known.
    pub home: Fact<PathBuf>,
    /// Programs that it or its jobs name without a path, looked up with its own `PATH`.
    #[serde(default)]
    pub programs: Vec<ProgramLookup>,
}

/// One program, looked up as the dispatcher would.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramLookup {
    /// Its name: `systemd-run`, `bash`, `hermes`.
    pub name: String,
    /// Who names it: `hermes-agent` for the dispatcher itself, [`ProgramLookup::JOBS`] for the jobs that it
    /// runs.
    pub wanted_by: String,
    /// Where it was found; `Known(None)`: nowhere on that `PATH`.
    pub found: Fact<Option<PathBuf>>,
}

impl ProgramLookup {
    /// Who names what nearly every job calls.
    pub const JOBS: &'static str = "jobs";
}

/// Whose point of view is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Viewpoint {
    /// A running serve.
    Serve,
    /// A running gateway.
    Gateway,
    /// An installed unit that is not running.
    Unit,
    /// A process that was named.
    Pid,
    /// This shell: nothing else was found, or it was asked for.
    Shell,
}

/// Which program launches the jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Program {
    /// This one.
    Ours,
    /// Hermes Agent.
    HermesAgent,
}
