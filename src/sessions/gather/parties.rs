//! Who might drive or hold something: processes, by their locks, records and signs of life.

use std::collections::{BTreeMap, BTreeSet};

use super::super::driven::{Drivers, Party};
use super::super::rows::{self, BackendHeartbeat, LiveLease};
use super::seconds;
use crate::home::Home;
use crate::host::facts::{Environment, HomeRecords, Machine, OwnerRecord, Recorded, Role};
use crate::host::liveness::{Identity, Liveness};
use crate::host::liveness_probe::liveness;
use crate::host::locks::{Holder, LockTable};
use crate::host::machine_probe::machine;
use crate::host::records_probe;
use crate::runtime::Runtime;

/// A backend gives a sign of life every minute; one that is silent for so long has ended.
const SILENT_SECONDS: f64 = 600.0;

/// The machine, with the part of our environment that says something of it.
pub(super) fn machine_of(runtime: &Runtime) -> Machine {
    let pairs: Vec<(String, String)> = runtime
        .environ
        .iter()
        .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.to_str()?.to_owned())))
        .collect();
    let environ = Environment::select(
        pairs
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str())),
    );
    machine(&environ, runtime.clock.now())
}

/// Who might drive timers of this home.
pub(super) fn drivers(machine: &Machine, home: &Home) -> Drivers {
    let root = home.root();
    let mut homes = vec![home.clone()];
    if root.path() != home.path() {
        homes.push(root);
    }
    let records = records_probe::homes(&homes, machine, &LockTable::new());
    let (holders, registry_gap) = holders(home, machine);
    // That of the root counts where it serves this profile.
    let serving = |records: &&HomeRecords| {
        records.path == home.path() || records.gateway_serves(home.profile())
    };
    let gateways = records.iter().filter(serving).map(gateway);
    let serve = records.first().map_or_else(
        || Party::Unsure("the records of the home cannot be read".to_owned()),
        |own| {
            party(
                "serve",
                &own.serve_lock_held,
                &[&own.serve],
                "no serve runs for this home",
            )
        },
    );
    Drivers {
        gateway: best(gateways),
        serve,
        backends: Vec::new(),
        holders,
        registry_gap,
        ours: BTreeSet::new(),
        left: BTreeMap::new(),
    }
}

fn gateway(records: &HomeRecords) -> Party {
    let named = [&records.gateway_lock, &records.gateway_pid];
    let none = "no messaging gateway runs for this home";
    party(
        "messaging gateway",
        &records.gateway_lock_held,
        &named,
        none,
    )
}

/// The surest of several.
fn best(parties: impl Iterator<Item = Party>) -> Party {
    let rank = |party: &Party| match party {
        Party::Runs { .. } => 0,
        Party::Unsure(_) => 1,
        Party::Not(_) => 2,
    };
    let none = Party::Not("no messaging gateway runs for this home".to_owned());
    parties.min_by_key(rank).unwrap_or(none)
}

/// What a lock and records say. The lock counts most: it is held for the life of the process.
fn party(what: &str, lock: &Holder, records: &[&Recorded<OwnerRecord>], none: &str) -> Party {
    let named = || records.iter().filter_map(|record| record.known()?.as_ref());
    let alive = named()
        .find(|record| record.liveness.is_alive())
        .map(|record| record.pid);
    if lock.is_held() || alive.is_some() {
        let pid = lock.pids().first().copied().or(alive);
        return Party::Runs {
            what: what.to_owned(),
            pid,
        };
    }
    if *lock == Holder::Free {
        return Party::Not(none.to_owned());
    }
    if let Some(gap) = records.iter().find_map(|record| record.gap()) {
        return Party::Unsure(format!("{what}: {}", gap.why));
    }
    let doubtful = named().find(|record| matches!(record.liveness, Liveness::Unverified(_)));
    match doubtful {
        Some(record) => Party::Unsure(format!(
            "{what}, pid {}, cannot be checked from here",
            record.pid
        )),
        None => Party::Not(none.to_owned()),
    }
}

/// Whether the process that took a lease lives; none where it names no pid.
#[must_use]
pub fn life(lease: &LiveLease, machine: &Machine) -> Option<Liveness> {
    let recorded = Identity {
        pid: lease.pid.and_then(|pid| u32::try_from(pid).ok())?,
        started_at: lease.process_start_time.map(seconds),
        ..Identity::default()
    };
    Some(liveness(&recorded, machine, |role| role != Role::Other))
}

/// A backend by its sign of life. One of another host counts as long as it gives any.
pub(super) fn backend(row: &BackendHeartbeat, machine: &Machine, now: f64) -> Party {
    let what = format!("a backend of Hermes Agent ({})", row.backend_id);
    let silent = row
        .last_heartbeat
        .is_none_or(|at| now - seconds(at) > SILENT_SECONDS);
    let here = rustix::system::uname().nodename().to_string_lossy() == row.host;
    let pid = row.pid.and_then(|pid| u32::try_from(pid).ok());
    let life = pid.filter(|_| here).map(|pid| {
        let recorded = Identity {
            pid,
            ..Identity::default()
        };
        liveness(&recorded, machine, |role| role != Role::Other)
    });
    match life {
        Some(life) if life.is_over() => Party::Not(format!("{what} has ended")),
        Some(_) if !silent => Party::Runs { what, pid },
        None if silent => Party::Not(format!("{what} is silent")),
        _ => Party::Unsure(format!("{what} cannot be checked from here")),
    }
}

fn holders(home: &Home, machine: &Machine) -> (BTreeMap<String, Vec<Party>>, Option<String>) {
    let registry = match rows::read_registry(home) {
        Ok(registry) => registry.unwrap_or_default(),
        Err(why) => {
            return (
                BTreeMap::new(),
                Some(format!("runtime/active_sessions.json: {why}")),
            );
        }
    };
    let mut holders: BTreeMap<String, Vec<Party>> = BTreeMap::new();
    for lease in registry.leases {
        let life = life(&lease, machine);
        let what = lease.surface.unwrap_or_else(|| "a process".to_owned());
        let pid = lease.pid.and_then(|pid| u32::try_from(pid).ok());
        let party = match (life, pid) {
            (Some(life), Some(pid)) if life.is_alive() => Party::Runs {
                what,
                pid: Some(pid),
            },
            (Some(life), Some(pid)) if life.is_over() => {
                Party::Not(format!("{what}, pid {pid}, has ended"))
            }
            (_, Some(pid)) => {
                Party::Unsure(format!("{what}, pid {pid}, cannot be checked from here"))
            }
            _ => Party::Unsure(format!("{what} holds it and names no pid")),
        };
        holders.entry(lease.session_id).or_default().push(party);
    }
    (holders, None)
}
