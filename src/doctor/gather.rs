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
mod reader;
mod script;
mod stop;
mod stores;
mod workers;

use std::panic::resume_unwind;
use std::path::PathBuf;
use std::thread;

use jiff::Timestamp;

use super::evidence::{HomeEvidence, Read};
use crate::cron::jobs_lock::describe;
use crate::home::Home;
use crate::host::Facts;
use crate::host::locks::LockTable;
use crate::host::scheduler_owner;

const TICK_LOCK: &str = ".tick.lock";
const JOBS_LOCK: &str = ".jobs.lock";

/// What gathering needs to know beforehand.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The host, as the probes found it.
    pub facts: &'a Facts,
    /// The locks of the host.
    pub locks: &'a LockTable,
    /// The instant of the report.
    pub now: Timestamp,
}

/// Looks at each home.
#[must_use]
pub fn homes(homes: &[Home], scope: Scope<'_>) -> Vec<HomeEvidence> {
    thread::scope(|threads| {
        if homes.iter().any(has_locks) {
            // The kernel lets the reader of its table wait; the other files are read meanwhile.
            let ahead = || scope.locks.lines().is_ok();
            let ahead = thread::Builder::new().spawn_scoped(threads, ahead);
            // Where no thread can be had the first question reads it.
            drop(ahead);
        }
        homes.iter().map(|home| gather(home, scope)).collect()
    })
}

/// How many jobs the home holds that is served, where that is none of these.
#[must_use]
pub fn elsewhere(homes: &[Home], facts: &Facts) -> Read<usize> {
    let own = facts.dispatcher.home.known().map(PathBuf::as_path);
    let own = own.filter(|path| !homes.iter().any(|home| home.path() == *path));
    let served = scheduler_owner::elsewhere(facts, &homes.iter().collect::<Vec<_>>());
    let other = own.or_else(|| served.map(|(_, path)| path));
    other.map_or(Read::Absent, |path| {
        jobs::look(&Home::at(path).jobs_file()).map(|store| store.jobs.len())
    })
}

fn has_locks(home: &Home) -> bool {
    let cron = home.cron();
    cron.join(TICK_LOCK).exists() || cron.join(JOBS_LOCK).exists()
}

fn gather(home: &Home, scope: Scope<'_>) -> HomeEvidence {
    let mut evidence = HomeEvidence::empty(home.clone());
    evidence.files = files::look(home);
    evidence.reader = reader::look(scope.facts, evidence.file("").got());
    if !evidence.exists() {
        return evidence;
    }
    let cron = home.cron();
    // A worker has its row before it has files, and before its job is booked: looked at in this order, no
    // file and no booking is without one.
    evidence.workers = workers::look(&cron.join("external-workers"));
    let jobs = jobs::text(&home.jobs_file());
    evidence.databases = thread::scope(|threads| {
        let look = || stores::look(home);
        let is_there = |name: &&str| !evidence.file(name).is_absent();
        let any = stores::DATABASES.iter().any(is_there);
        let aside = any.then(|| thread::Builder::new().spawn_scoped(threads, look));
        evidence.jobs = jobs::read(jobs);
        beside(&mut evidence, scope);
        match aside {
            Some(Ok(aside)) => aside.join().unwrap_or_else(|broken| resume_unwind(broken)),
            // There is nothing to wait for, or no thread can be had.
            _ => look(),
        }
    });
    evidence.owners = owners::look(&evidence, &scope.facts.machine);
    evidence
}

/// What needs no database.
fn beside(evidence: &mut HomeEvidence, scope: Scope<'_>) {
    let home = evidence.home.clone();
    let cron = home.cron();
    evidence.disk = disk::look(&[&cron, home.path()]);
    evidence.backups = jobs::backups(&cron);
    evidence.config = config::look(&home, scope.facts);
    evidence.zone = config::zone(&evidence.config, scope.facts);
    evidence.agent = config::agent(&evidence.config, scope.facts);
    evidence.held_databases = held::look(&home);
    evidence.hostname = owners::hostname();
    evidence.tick_lock = scope.locks.holder(&cron.join(TICK_LOCK));
    if evidence.tick_lock.is_held() {
        evidence.tick_holder = describe(&evidence.tick_lock);
    }
    evidence.jobs_lock = scope.locks.holder(&cron.join(JOBS_LOCK));
    evidence.helpers = helpers::look(&home.join("spawn-ledger.json"));
    evidence.ticker = markers::look(&cron);
    evidence.stop = stop::look(&home, scope.now);
    evidence.output = output::look(&cron.join("output"));
    if let Read::Got(store) = &evidence.jobs {
        evidence.needs = needs::look(&home, store, scope.facts);
    }
}
