//! Who fires the schedules of one home: the one answer that every command gives. Pure, over the facts.
//!
//! A gateway of Hermes Agent keeps the ticks of its home, and of every profile that it serves; our serve
//! ticks where no gateway does; a desktop's backend where neither is. A plain serve of Hermes Agent
//! never ticks. A lock or a record whose process cannot be checked is "cannot tell", never "none".

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::facts::{
    Fact, Facts, HomeRecords, OwnerRecord, ProcessFacts, Program, Role, Stopping, UnitFacts,
};
use super::liveness::{Doubt, Liveness};
use super::locks::Holder;
use crate::home::Home;

mod serving;

pub use serving::{Place, elsewhere, reaches, servers, serves, stand_bys};

/// Who fires the schedules of a home.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scheduler {
    /// A gateway of Hermes Agent.
    Gateway {
        /// Its pid, where known.
        pid: Option<u32>,
        /// It is the root's, and serves this profile too: the profile needs no gateway of its own.
        multiplexed: bool,
    },
    /// Our serve.
    Serve {
        /// Its pid, where known.
        pid: Option<u32>,
    },
    /// The backend of a desktop application: it ends with that.
    Desktop {
        /// Its pid.
        pid: u32,
    },
    /// Nobody.
    None {
        /// Records that name processes which have ended.
        stale: Vec<Stale>,
    },
    /// It cannot be told.
    CannotTell {
        /// Why, a fragment.
        why: String,
    },
}

impl Scheduler {
    /// Whether somebody fires them; `None`: cannot be told.
    #[must_use]
    pub fn runs(&self) -> Option<bool> {
        match self {
            Self::Gateway { .. } | Self::Serve { .. } | Self::Desktop { .. } => Some(true),
            Self::None { .. } => Some(false),
            Self::CannotTell { .. } => None,
        }
    }

    /// The process, where known.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        match self {
            Self::Gateway { pid, .. } | Self::Serve { pid } => *pid,
            Self::Desktop { pid } => Some(*pid),
            Self::None { .. } | Self::CannotTell { .. } => None,
        }
    }
}

/// A record that outlived its process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stale {
    /// The file, relative to the home.
    pub file: String,
    /// The pid that it names.
    pub pid: u32,
    /// What became of the process.
    pub liveness: Liveness,
}

/// What one kind of evidence says of one kind of process.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Said {
    Runs(Option<u32>),
    Not,
    Unsure(String),
}

/// Who fires the schedules of the home whose records these are.
#[must_use]
pub fn scheduler(facts: &Facts, home: &HomeRecords) -> Scheduler {
    let gateway = gateway(facts, home);
    if let Said::Runs(pid) = gateway {
        let multiplexed = false;
        return Scheduler::Gateway { pid, multiplexed };
    }
    let root = multiplexer(facts, home);
    if let Said::Runs(pid) = root {
        let multiplexed = true;
        return Scheduler::Gateway { pid, multiplexed };
    }
    let serve = serve(facts, home);
    if let Said::Runs(pid) = serve {
        return Scheduler::Serve { pid };
    }
    if let Some(desktop) = desktop(facts, home) {
        return Scheduler::Desktop { pid: desktop.pid };
    }
    let doubt = [gateway, root, serve]
        .into_iter()
        .find_map(|said| match said {
            Said::Unsure(why) => Some(why),
            Said::Runs(_) | Said::Not => None,
        });
    match doubt.or_else(|| hidden(facts, home)) {
        Some(why) => Scheduler::CannotTell { why },
        None => Scheduler::None { stale: stale(home) },
    }
}

/// Our serve of this home, alive and told to stop: it starts nothing more, and waits for jobs.
#[must_use]
pub fn stopping(home: &HomeRecords) -> Option<(u32, Stopping)> {
    let record = home.serve.known()?.as_ref()?;
    let stopping = record.stopping?;
    record.liveness.is_alive().then_some((record.pid, stopping))
}

/// Whether this process ticks jobs: every gateway, our serve, and of Hermes Agent's serves only the
/// one that a desktop application started; `None`: it cannot be told.
#[must_use]
pub fn ticks(process: &ProcessFacts) -> Option<bool> {
    match (process.role, process.program) {
        (Role::Gateway, _) | (Role::Serve, Some(Program::Ours)) => Some(true),
        (Role::Serve, Some(Program::HermesAgent)) => process.desktop.known().copied(),
        (Role::Serve, None) => None,
        _ => Some(false),
    }
}

/// All processes of the two programs that were seen.
pub fn processes(facts: &Facts) -> impl Iterator<Item = &ProcessFacts> {
    let all = facts.dispatcher.process.iter().chain(&facts.others);
    all.filter(|process| !process.zombie && !process.nested)
}

fn serving<'a>(
    facts: &'a Facts,
    home: &'a Path,
    role: Role,
) -> impl Iterator<Item = &'a ProcessFacts> {
    processes(facts)
        .filter(move |process| process.role == role)
        .filter(move |process| process.home.known().is_some_and(|served| served == home))
}

/// Units of this home whose manager says that they run: it tells also of what `/proc` hides.
fn active<'a>(facts: &'a Facts, home: &'a Path, role: Role) -> impl Iterator<Item = &'a UnitFacts> {
    let units = facts.units.known().into_iter().flatten();
    units.filter(move |unit| {
        let runs = unit.asked && unit.active_state.as_deref() == Some("active");
        runs && unit.main_pid.is_some()
            && unit.role == Some(role)
            && unit.home.as_deref() == Some(home)
    })
}

fn gateway(facts: &Facts, home: &HomeRecords) -> Said {
    if let Some(process) = serving(facts, &home.path, Role::Gateway).next() {
        return Said::Runs(Some(process.pid));
    }
    if let Some(unit) = active(facts, &home.path, Role::Gateway).next() {
        return Said::Runs(unit.main_pid);
    }
    let records = [
        ("gateway.pid", &home.gateway_pid),
        ("gateway.lock", &home.gateway_lock),
    ];
    by_files(&home.gateway_lock_held, &records)
}

/// Our serve of this home, where one is seen or tells of itself, whether or not it is what ticks.
#[must_use]
pub fn our_serve(facts: &Facts, home: &HomeRecords) -> Option<Scheduler> {
    match serve(facts, home) {
        Said::Runs(pid) => Some(Scheduler::Serve { pid }),
        Said::Not | Said::Unsure(_) => None,
    }
}

fn serve(facts: &Facts, home: &HomeRecords) -> Said {
    let mut ours = serving(facts, &home.path, Role::Serve)
        .filter(|process| process.program == Some(Program::Ours));
    if let Some(process) = ours.find(|process| !serving::waits(home, process)) {
        return Said::Runs(Some(process.pid));
    }
    // A unit runs while its serve stands by, too.
    let waits = |pid: u32| {
        let mut seen = processes(facts).filter(|process| process.pid == pid);
        seen.any(|process| serving::waits(home, process))
    };
    let mut units =
        active(facts, &home.path, Role::Serve).filter(|unit| unit.program == Some(Program::Ours));
    if let Some(unit) = units.find(|unit| !unit.main_pid.is_some_and(waits)) {
        return Said::Runs(unit.main_pid);
    }
    by_files(&home.serve_lock_held, &[("run/serve.json", &home.serve)])
}

fn desktop<'a>(facts: &'a Facts, home: &HomeRecords) -> Option<&'a ProcessFacts> {
    servers(facts, &Home::at(&home.path)).find(|process| {
        let backend = process.role == Role::Serve && process.program == Some(Program::HermesAgent);
        backend && ticks(process) == Some(true)
    })
}

/// The gateway of the root, if it serves this profile.
fn multiplexer(facts: &Facts, home: &HomeRecords) -> Said {
    let own = Home::at(&home.path);
    let root = own.root();
    if root.path() == own.path() {
        return Said::Not;
    }
    let Some(records) = facts.homes.iter().find(|home| home.path == root.path()) else {
        return match serving(facts, root.path(), Role::Gateway).next() {
            Some(process) => Said::Runs(Some(process.pid)),
            None => Said::Not,
        };
    };
    let running = gateway(facts, records);
    let serves = records.gateway_serves(own.profile());
    match running {
        Said::Runs(pid) if serves => Said::Runs(pid),
        Said::Unsure(why) if serves => Said::Unsure(why),
        _ => Said::Not,
    }
}

/// What the lock and the records say. The lock counts most: it is held for the life of the process.
fn by_files(lock: &Holder, records: &[(&str, &Fact<Option<OwnerRecord>>)]) -> Said {
    let named = || {
        records
            .iter()
            .filter_map(|(file, record)| Some((*file, record.known()?.as_ref()?)))
    };
    let alive = named().find(|(_, record)| record.liveness.is_alive());
    if lock.is_held() {
        let pid = lock.pids().first().copied();
        return Said::Runs(pid.or_else(|| alive.map(|(_, record)| record.pid)));
    }
    if let Some((_, record)) = alive {
        return Said::Runs(Some(record.pid));
    }
    if *lock == Holder::Free {
        return Said::Not;
    }
    let unreadable = records.iter().find_map(|(_, record)| record.gap());
    if let Some(gap) = unreadable {
        return Said::Unsure(gap.why.clone());
    }
    let unverified = named().find_map(|(file, record)| match &record.liveness {
        Liveness::Unverified(doubt) => Some(doubtful(file, record.pid, doubt)),
        _ => None,
    });
    unverified.map_or(Said::Not, Said::Unsure)
}

fn doubtful(file: &str, pid: u32, doubt: &Doubt) -> String {
    let why = match doubt {
        Doubt::OtherNamespace => "that is a pid of another container or host".to_owned(),
        Doubt::OtherInit => "that is a pid of an earlier or another container".to_owned(),
        Doubt::StartUnknown => "its start cannot be compared".to_owned(),
        Doubt::ClockMoved => "the clock was set since".to_owned(),
        Doubt::Unasked(why) => why.clone(),
    };
    format!("{file} names pid {pid}, and {why}")
}

/// A process that might serve this home, but does not show what it serves.
fn hidden(facts: &Facts, home: &HomeRecords) -> Option<String> {
    let might = processes(facts).find(|process| {
        let ticks = process.role == Role::Gateway
            || (process.role == Role::Serve && process.program == Some(Program::Ours));
        let owner = home.owner.unwrap_or(facts.account.uid);
        let account = process.uid.known().is_none_or(|uid| *uid == owner);
        ticks && account && process.home.known().is_none()
    });
    if let Some(process) = might {
        return Some(format!(
            "pid {} does not show which home it serves",
            process.pid
        ));
    }
    let foreign = home.owner.is_some_and(|owner| owner != facts.caller.uid);
    let blind = facts.machine.namespaces.hidepid && facts.caller.uid != 0 && foreign;
    blind.then(|| "/proc hides the processes of other accounts".to_owned())
}

fn stale(home: &HomeRecords) -> Vec<Stale> {
    let records = [
        ("gateway.pid", &home.gateway_pid),
        ("gateway.lock", &home.gateway_lock),
        ("run/serve.json", &home.serve),
    ];
    let named = records
        .into_iter()
        .filter_map(|(file, record)| Some((file, record.known()?.as_ref()?)));
    named
        .filter(|(_, record)| !record.liveness.is_alive())
        .map(|(file, record)| Stale {
            file: file.to_owned(),
            pid: record.pid,
            liveness: record.liveness.clone(),
        })
        .collect()
}

#[cfg(test)]
mod tests;
