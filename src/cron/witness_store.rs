//! What the due scan asks beside the jobs, answered from the ledger and the process table of this
//! host. Reads by snapshot: nothing is touched.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use rusqlite::Connection;
use rustix::process::{Pid, test_kill_process};

use super::claim::Holder;
use super::due::Witness;
use crate::db::{self, Damage, Snapshot};
use crate::error::{Error, Kind, Result};
use crate::home::Home;
use crate::ledger::store::utc;
use crate::ledger::{Status, rows};

/// Rows that are looked at: all that are kept.
const KEPT: u32 = crate::ledger::store::KEPT;

/// What the ledger says of runs, as far as its rows are kept.
#[derive(Debug, Default)]
pub(super) struct Runs {
    completed: HashMap<(String, Timestamp), Timestamp>,
    open: HashSet<String>,
}

impl Runs {
    /// Reads them. Runs that have not ended are asked for by themselves: they may be older than all
    /// rows that are looked at.
    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let open = rows::open_executions(connection, KEPT)?.unwrap_or_default();
        let mut runs = Self {
            open: open.into_iter().map(|row| row.job_id).collect(),
            ..Self::default()
        };
        for row in rows::executions(connection, KEPT)?.unwrap_or_default() {
            let slot = row.scheduled_instant.and_then(|slot| slot.at);
            let ended = row.finished_at.and_then(|ended| ended.at);
            if let (Status::Completed, Some(slot), Some(ended)) = (row.status, slot, ended) {
                let last = runs.completed.entry((row.job_id, slot)).or_insert(ended);
                *last = ended.max(*last);
            }
        }
        Ok(runs)
    }

    /// When a run of this slot completed; the last one, if there were several.
    pub(super) fn completed(&self, job_id: &str, slot: Timestamp) -> Option<Timestamp> {
        self.completed.get(&(job_id.to_owned(), slot)).copied()
    }

    /// Jobs of which a slot is known as done that has not come.
    pub(super) fn done_ahead(&self, now: Timestamp) -> Vec<String> {
        let slots = self.completed.keys();
        let ahead = slots.filter(|(_, slot)| *slot > now);
        ahead.map(|(job_id, _)| job_id.clone()).collect()
    }

    /// Whether a run of the job has not ended.
    pub(super) fn is_open(&self, job_id: &str) -> bool {
        self.open.contains(job_id)
    }
}

/// Whether the owner of a claim, `host:pid` or that with a nonce behind, is of this host and has ended.
pub(super) fn is_dead(owner: &str, host: &str) -> bool {
    let pid = Holder::parse(owner).pid_on(host);
    let pid = pid.and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
    pid.is_some_and(|pid| test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
}

/// Completed slots, and who is who on this host.
#[derive(Debug)]
pub struct StoreWitness {
    runs: Runs,
    host: String,
    now: Timestamp,
    /// For runs whose rows are kept no more.
    ledger: Option<Snapshot>,
}

impl StoreWitness {
    /// Reads the ledger of a home, for one who is this machine in claims. A ledger that is not there knows of no
    /// run, nor does one without a byte, as a full disk leaves it.
    ///
    /// # Errors
    /// When it is there and cannot be read: a scan without it could run a finished slot again.
    pub fn read(home: &Home, machine: &str, now: Timestamp) -> Result<StoreWitness> {
        let host = Holder::parse(machine).host.to_owned();
        let path = home.ledger();
        let read = db::snapshot(&path, &db::wait)
            .and_then(|snapshot| Ok((snapshot.read(Runs::read)?, Some(snapshot))));
        let (runs, ledger) = match read {
            Ok(read) => read,
            Err(Damage::Missing | Damage::Empty) => (Runs::default(), None),
            Err(damage) => {
                let message = format!("failed to read {}: {damage}", path.display());
                return Err(Error::new(Kind::Unavailable, message)
                    .with_hint("'hermes cron doctor' says what is wrong with it"));
            }
        };
        Ok(StoreWitness {
            runs,
            host,
            now,
            ledger,
        })
    }
}

impl Witness for StoreWitness {
    fn completed(&self, job_id: &str, slot: Timestamp) -> Option<Timestamp> {
        // Jobs that only wait are looked at without a question each.
        let long_ago = || {
            let ledger = self.ledger.as_ref().filter(|_| slot <= self.now)?;
            let ran = ledger.read(|store| rows::slot_ran(store, job_id, &utc(slot)));
            ran.ok().flatten()?.at
        };
        self.runs.completed(job_id, slot).or_else(long_ago)
    }

    fn is_dead(&self, owner: &str) -> bool {
        is_dead(owner, &self.host)
    }

    fn is_open(&self, job_id: &str) -> bool {
        self.runs.is_open(job_id)
    }
}
