//! What one home holds: its files as `stat` sees them, its stores, its markers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::jobs::{Backup, JobStore, Needs};
use super::read::{Read, Stat};
use super::stores::{Databases, Owners};
use crate::config::{Config, Settings};
use crate::cron::markers::{Beat, TickError};
use crate::cron::next::Zones;
use crate::home::Home;
use crate::host::facts::Gap;
use crate::host::locks::{Holder, SqliteLock};
use crate::host::program_probe::relative;

/// What one home holds.
#[derive(Clone, Debug)]
pub struct HomeEvidence {
    /// Which one.
    pub home: Home,
    /// What lies where, by path inside the home; the home itself is the empty path.
    pub files: BTreeMap<&'static str, Read<Stat>>,
    /// Who reads and writes them.
    pub reader: Reader,
    /// The file system under `cron/`, or under the home where that is not there.
    pub disk: Read<Disk>,
    /// The databases.
    pub databases: Databases,
    /// What was observed of the processes that the records of this home name.
    pub owners: Owners,
    /// The name of this host, as claims have it.
    pub hostname: String,
    /// What the armed jobs need of the host.
    pub needs: FoundNeeds,
    /// The zones that schedules and stamps are read in.
    pub zone: ZoneSeen,
    /// The configuration, under the environment of the dispatcher.
    pub config: Config,
    /// The agent that prompts are given to.
    pub agent: AgentSeen,
    /// Locks on databases that keep others from writing, seen twice.
    pub held_databases: BTreeMap<&'static str, Read<SqliteLock>>,
    /// Who holds `cron/.tick.lock`.
    pub tick_lock: Holder,
    /// The same in words: pid, command and age; empty where nobody does.
    pub tick_holder: String,
    /// Who holds `cron/.jobs.lock`.
    pub jobs_lock: Holder,
    /// What workers left behind in `cron/external-workers`.
    pub workers: Read<Vec<WorkerFiles>>,
    /// Helper processes that backends started.
    pub helpers: Read<Vec<Helper>>,
    /// What the ticker left behind.
    pub ticker: Ticker,
    /// The job store.
    pub jobs: Read<JobStore>,
    /// Copies of the job store beside it, the newest first.
    pub backups: Vec<Backup>,
    /// The emergency stop that is in force, of this home or of its root.
    pub stop: Read<Stop>,
    /// What the jobs have written.
    pub output: Read<Output>,
}

impl HomeEvidence {
    /// Evidence of a home that holds nothing.
    #[must_use]
    pub fn empty(home: Home) -> Self {
        Self {
            home,
            files: BTreeMap::new(),
            reader: Reader::default(),
            disk: Read::Absent,
            databases: Databases::default(),
            owners: Owners::default(),
            hostname: String::new(),
            needs: FoundNeeds::default(),
            zone: ZoneSeen::default(),
            config: Config::of_layers(Vec::new(), Vec::new()),
            agent: AgentSeen::NotConfigured,
            held_databases: BTreeMap::new(),
            tick_lock: Holder::Absent,
            tick_holder: String::new(),
            jobs_lock: Holder::Absent,
            workers: Read::Absent,
            helpers: Read::Absent,
            ticker: Ticker::default(),
            jobs: Read::Absent,
            backups: Vec::new(),
            stop: Read::Absent,
            output: Read::Absent,
        }
    }

    /// What lies at this path inside the home.
    #[must_use]
    pub fn file(&self, relative: &str) -> &Read<Stat> {
        self.files.get(relative).unwrap_or(&Read::Absent)
    }

    /// The settings that are in force.
    #[must_use]
    pub fn settings(&self) -> Settings {
        Settings::of(&self.config)
    }

    /// Whether the directory of the home is there.
    #[must_use]
    pub fn exists(&self) -> bool {
        !self.file("").is_absent()
    }

    /// The path of the home, as text.
    #[must_use]
    pub fn label(&self) -> String {
        self.home.path().display().to_string()
    }

    /// A path inside the home, as text.
    #[must_use]
    pub fn path(&self, relative: &str) -> String {
        if relative.is_empty() {
            self.label()
        } else {
            self.home.join(relative).display().to_string()
        }
    }
}

/// The agent that prompts are given to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentSeen {
    /// None is configured.
    NotConfigured,
    /// It is this program.
    Found(PathBuf),
    /// It cannot be used: why, and what to do.
    Unusable(String, Vec<String>),
}

/// Whoever reads and writes the files of a home.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reader {
    /// The uid that opens them.
    pub uid: u32,
    /// Its gid, where known.
    pub gid: Option<u32>,
    /// The groups that it is in besides, where known.
    pub groups: Option<Vec<u32>>,
}

/// Whether somebody may do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Yes.
    Yes,
    /// No.
    No,
    /// Only a group that is not known would let it.
    PerhapsByGroup,
}

impl Reader {
    /// Whether owner and mode let it do what these bits say, of 0 to 7.
    #[must_use]
    pub fn may(&self, stat: &Stat, bits: u32) -> Access {
        let allows = |shift: u32| (stat.mode >> shift) & bits == bits;
        let of = |allowed| if allowed { Access::Yes } else { Access::No };
        if self.uid == 0 || stat.uid == self.uid {
            return of(self.uid == 0 || allows(6));
        }
        let groups = self.groups.as_ref();
        let within = |groups: &Vec<u32>| groups.contains(&stat.gid);
        if self.gid == Some(stat.gid) || groups.is_some_and(within) {
            return of(allows(3));
        }
        match (groups, allows(3), allows(0)) {
            (Some(_), _, others) => of(others),
            (None, group, others) if group == others => of(others),
            (None, ..) => Access::PerhapsByGroup,
        }
    }
}

/// A file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// Its kind by name: `ext4`, `nfs`; a number where it is not known.
    pub kind: String,
    /// Mounted read-only.
    pub read_only: bool,
    /// Bytes that an ordinary user can still write.
    pub free: u64,
    /// Bytes in all.
    pub total: u64,
    /// Inodes that are free; `None` where the file system does not count them.
    pub free_inodes: Option<u64>,
    /// Inodes in all.
    pub total_inodes: Option<u64>,
}

impl Disk {
    /// Whether the kernel of another host, or a user-space program, answers for its locks.
    #[must_use]
    pub fn is_remote(&self) -> bool {
        const REMOTE: [&str; 8] = ["nfs", "smb", "cifs", "smb2", "9p", "afs", "ceph", "fuse"];
        REMOTE.contains(&self.kind.as_str())
    }
}

/// The markers in `cron/`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ticker {
    /// `ticker_heartbeat`: written by every pass of the ticker, good or bad.
    pub heartbeat: Read<Beat>,
    /// `ticker_last_success`.
    pub success: Read<Timestamp>,
    /// `ticker_last_error`: removed after a good tick.
    pub error: Read<TickError>,
    /// `catch_up_occurrences`: runs that stood for several missed ones, since ever.
    pub catch_ups: Read<u64>,
}

/// An emergency stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The file that makes it.
    pub path: PathBuf,
    /// Since when: its own word, else when the file was made.
    pub since: Option<Timestamp>,
    /// Until when, where it says so.
    pub until: Option<Timestamp>,
    /// Why, where it says so.
    pub reason: Option<String>,
}

/// What lies in `cron/output`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Directories of jobs.
    pub directories: usize,
    /// Files in them, as far as they were counted.
    pub files: usize,
    /// The directory with the most files, and how many.
    pub fullest: Option<(String, usize)>,
    /// Counting stopped here: there are more.
    pub stopped: bool,
}

/// The zones that schedules and stamps are read in, and where they come from.
#[derive(Clone, Debug)]
pub struct ZoneSeen {
    /// The zones.
    pub zones: Zones,
    /// The name of the configured one.
    pub name: String,
    /// What chose it, in words: `timezone in config.yaml`.
    pub source: String,
    /// Why it is only guessed.
    pub unknown: Option<Gap>,
}

impl Default for ZoneSeen {
    fn default() -> Self {
        Self {
            zones: Zones::of(jiff::tz::TimeZone::UTC),
            name: "UTC".to_owned(),
            source: "nothing chose one".to_owned(),
            unknown: None,
        }
    }
}

/// What armed jobs need of the host, looked up once for each name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundNeeds {
    /// Scripts, by the name that jobs give them.
    pub scripts: BTreeMap<String, ScriptSeen>,
    /// Names of which nothing is known: they do not answer or may not be looked at, or too many others
    /// hung, or there are too many.
    pub not_looked: usize,
    /// Working directories.
    pub workdirs: BTreeMap<String, PlaceSeen>,
    /// Whether a program is there, by whole path, or by bare name on the `PATH` of the dispatcher; absent
    /// where that is not known.
    pub programs: BTreeMap<String, bool>,
    /// That `PATH`.
    pub search_path: Option<String>,
}

impl FoundNeeds {
    /// The programs that a job needs by name: what runs its scripts, and what those call.
    #[must_use]
    pub fn programs_of<'a>(&'a self, needs: &'a Needs) -> BTreeSet<&'a str> {
        if let Some(interpreter) = &needs.interpreter {
            return BTreeSet::from([interpreter.as_str()]);
        }
        let scripts = [&needs.script, &needs.monitor_script].into_iter().flatten();
        let scripts = scripts.filter_map(|name| self.scripts.get(name));
        let named = |script: &'a ScriptSeen| script.runner.iter().chain(&script.calls);
        scripts.flat_map(named).map(String::as_str).collect()
    }

    /// Where that `PATH` leads from this directory, for a bare name.
    #[must_use]
    pub fn beside(&self, name: &str, directory: &Path) -> Vec<String> {
        let elements = self.search_path.iter().flat_map(|path| relative(path));
        let places = elements.map(|element| directory.join(element).join(name));
        places.map(|place| place.display().to_string()).collect()
    }

    /// Whether a program is missing for who works in this directory. What is not known is not missing.
    #[must_use]
    pub fn lacks(&self, name: &str, directory: Option<&Path>) -> bool {
        if self.programs.get(name) != Some(&false) {
            return false;
        }
        if name.contains('/') {
            return true;
        }
        let Some(directory) = directory else {
            let mut paths = self.search_path.iter();
            return paths.all(|path| relative(path).next().is_none());
        };
        let places = self.beside(name, directory);
        let missing = |place: &String| self.programs.get(place) == Some(&false);
        places.iter().all(missing)
    }
}

/// What lies where a job's script should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptSeen {
    /// The whole path.
    pub path: PathBuf,
    /// What is there.
    pub place: PlaceSeen,
    /// The program that runs it, by name or path, unless its job names another: `bash`.
    pub runner: Option<String>,
    /// Programs that it calls by bare name, of those that are looked for.
    pub calls: BTreeSet<String>,
}

/// What a bounded look at a path said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlaceSeen {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// It is there, outside of the directory in which it must be.
    Outside(PathBuf),
    /// Nothing is there.
    Missing,
    /// The file system did not answer in time.
    Hangs,
    /// Its owner, or a directory above, lets nobody of this account look.
    Denied,
    /// It cannot be looked at.
    Failed(String),
}

/// A helper process, as `spawn-ledger.json` has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Helper {
    /// Its pid.
    pub pid: u32,
    /// Its start, in seconds since 1970.
    pub started_at: Option<f64>,
    /// What it is for.
    pub purpose: String,
    /// Who started it: pid, and start in seconds since 1970.
    pub spawner: Option<(u32, Option<f64>)>,
    /// What the process of this pid has in memory now, in bytes.
    pub resident: Option<u64>,
}

/// The files of one worker in `cron/external-workers`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerFiles {
    /// The execution.
    pub execution: String,
    /// The newest change of its files.
    pub modified: Option<Timestamp>,
    /// Its payload was never picked up.
    pub payload: bool,
    /// The home that the payload names.
    pub home: Option<PathBuf>,
    /// The pid in its acknowledgement.
    pub pid: Option<u32>,
    /// The last line of what it said on its way out.
    pub last_words: Option<String>,
}
