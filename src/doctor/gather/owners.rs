//! Looks once at every process that a record of the home names: owners of claims and rows, backends,
//! holders of leases, workers.

use std::collections::BTreeSet;

use crate::doctor::evidence::HomeEvidence;
use crate::doctor::evidence::stores::Owners;
use crate::host::facts::{Machine, Role};
use crate::host::liveness_probe::observe;

/// Processes that are looked at: each costs two small files.
const MOST: usize = 2_000;

/// The name of this host, as claims have it.
pub(super) fn hostname() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

/// Looks at the processes that the records of this home name.
pub(super) fn look(home: &HomeEvidence, machine: &Machine) -> Owners {
    let kin = |role| matches!(role, Role::Serve | Role::Gateway | Role::Worker);
    let look = |pid| {
        let mut seen = observe(pid, machine, kin);
        // A run by hand is of no such role, so that only kinship is told by the command line.
        seen.kin = seen.kin.filter(|kin| *kin);
        (pid, seen)
    };
    Owners(pids(home).into_iter().take(MOST).map(look).collect())
}

fn pids(home: &HomeEvidence) -> BTreeSet<u32> {
    let mut pids = BTreeSet::new();
    let mut add = |pid: Option<i64>| pids.extend(pid.and_then(|pid| u32::try_from(pid).ok()));
    if let Some(ledger) = home.databases.ledger.got() {
        for row in &ledger.open {
            add(row.pid);
            let facts = ledger.facts.get(&row.id);
            add(facts.and_then(|facts| facts.worker_pid));
        }
    }
    if let Some(state) = home.databases.state.got() {
        let here = state
            .backends
            .iter()
            .filter(|backend| backend.host == home.hostname);
        here.for_each(|backend| add(backend.pid));
    }
    if let Some(registry) = home.databases.registry.got() {
        registry.leases.iter().for_each(|lease| add(lease.pid));
    }
    pids.extend(
        home.workers
            .got()
            .into_iter()
            .flatten()
            .filter_map(|worker| worker.pid),
    );
    for helper in home.helpers.got().into_iter().flatten() {
        pids.insert(helper.pid);
        pids.extend(helper.spawner.map(|(pid, _)| pid));
    }
    pids.extend(home.ticker.heartbeat.got().and_then(|beat| beat.pid));
    if let Some(store) = home.jobs.got() {
        for job in &store.jobs {
            let claims = &job.claims;
            let all = [&claims.fire, &claims.run, &claims.pending]
                .into_iter()
                .flatten();
            pids.extend(all.filter_map(|claim| claim.pid_on(&home.hostname)));
        }
    }
    pids
}
