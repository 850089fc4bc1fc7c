//! Fills the part of the evidence that lies in homes. Reads only, takes no lock, makes no file; what
//! it may spend on each source is bounded here.

mod config;
mod disk;
mod files;
mod held;
mod helpers;
mod jobs;
mod markers;
mod needs;
mod output;
mod owners;
mod stop;
mod stores;
mod workers;

use jiff::Timestamp;

use super::evidence::{HomeEvidence, Read};
use crate::home::Home;
use crate::host::Facts;
use crate::host::locks::LockTable;

/// What gathering needs to know beforehand.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The host, as the probes found it.
    pub facts: &'a Facts,
    /// The instant of the report.
    pub now: Timestamp,
}

/// Looks at each home.
#[must_use]
pub fn homes(homes: &[Home], scope: Scope<'_>) -> Vec<HomeEvidence> {
    let locks = LockTable::read();
    let look = |home| gather(home, scope, &locks);
    homes.iter().map(look).collect()
}

/// How many jobs the home of the dispatcher holds, where that is none of these.
#[must_use]
pub fn elsewhere(homes: &[Home], facts: &Facts) -> Read<usize> {
    match facts.dispatcher.home.known() {
        Some(path) if !homes.iter().any(|home| home.path() == path) => {
            jobs::look(&Home::at(path).jobs_file()).map(|store| store.jobs.len())
        }
        _ => Read::Absent,
    }
}

fn gather(home: &Home, scope: Scope<'_>, locks: &LockTable) -> HomeEvidence {
    let mut evidence = HomeEvidence::empty(home.clone());
    evidence.files = files::look(home);
    if !evidence.exists() {
        return evidence;
    }
    let cron = home.cron();
    evidence.disk = disk::look(&[&cron, home.path()]);
    evidence.jobs = jobs::look(&home.jobs_file());
    evidence.backups = jobs::backups(&cron);
    evidence.databases = stores::look(home);
    evidence.config = config::look(home, scope.facts);
    evidence.zone = config::zone(&evidence.config, scope.facts);
    evidence.agent = config::agent(&evidence.config, scope.facts);
    evidence.held_databases = held::look(home);
    evidence.hostname = owners::hostname();
    evidence.tick_lock = locks.holder(&cron.join(".tick.lock"));
    evidence.jobs_lock = locks.holder(&cron.join(".jobs.lock"));
    evidence.workers = workers::look(&cron.join("external-workers"));
    evidence.helpers = helpers::look(&home.join("spawn-ledger.json"));
    evidence.ticker = markers::look(&cron);
    evidence.stop = stop::look(home, scope.now);
    evidence.output = output::look(&cron.join("output"));
    if let Read::Got(store) = &evidence.jobs {
        evidence.needs = needs::look(home, store, scope.facts);
    }
    evidence.owners = owners::look(&evidence, &scope.facts.machine);
    evidence
}
