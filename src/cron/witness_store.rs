//! What the due scan asks beside the jobs, answered from the ledger and the process table of this
//! host. Reads by snapshot: nothing is touched.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use rusqlite::Connection;
use rustix::process::{Pid, test_kill_process};

use super::claim::Holder;
use super::due::Witness;
use super::fate::Fate;
use super::owner_probe::{Beholder, is_unbegun};
use crate::db::{self, Damage, Snapshot};
use crate::dispatch::handover::offer_left;
use crate::error::{Error, Kind, Result};
use crate::home::Home;
use crate::ledger::store::{slot_taken, untold_ends, utc};
use crate::ledger::{Claimed, Execution, ExecutionFacts, SlotAt, Status, Untold, rows};

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
            open: open.iter().map(|row| row.job_id.clone()).collect(),
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

/// What a sweep makes of the runs that have not ended.
#[derive(Debug, Default)]
pub(super) struct Swept {
    /// Those that go on, or of which that cannot be told.
    pub(super) goes_on: Vec<Execution>,
    /// Slots that somebody took who is gone, and that nobody has begun.
    pub(super) unbegun: Vec<(Execution, SlotAt)>,
    /// Those whose slots come too late by now, or that nobody wants any more, each with why.
    pub(super) passed_by: Vec<(Execution, String)>,
    /// Jobs of which a run is on its way to a worker, though whoever sent it is gone.
    pub(super) on_offer: Vec<String>,
    /// Those of whoever is gone, each with its slot.
    pub(super) closed: Vec<(Execution, Option<SlotAt>)>,
}

/// A run that has ended, with its slot, and what its job is still to be told of that.
pub(super) type UntoldRun = (Execution, Option<SlotAt>, Untold);

fn untold_runs(connection: &Connection) -> rusqlite::Result<Vec<UntoldRun>> {
    let with_row = |end: Untold| {
        let row = rows::execution_by_id(connection, &end.execution_id)?;
        let slot = row.as_ref().map(|row| rows::slot_of(connection, row));
        let slot = slot.transpose()?.flatten();
        Ok(row.map(|row| (row, slot, end)))
    };
    let untold = untold_ends(connection, None)?.into_iter().map(with_row);
    untold.filter_map(rusqlite::Result::transpose).collect()
}

/// A run that has not ended, with what is recorded of it.
type OpenRun = (Execution, Option<ExecutionFacts>, Option<SlotAt>);

fn open_runs(connection: &Connection) -> rusqlite::Result<Vec<OpenRun>> {
    let open = rows::open_executions(connection, KEPT)?.unwrap_or_default();
    let with_more = |row: Execution| {
        let facts = rows::facts_of(connection, &row.id)?;
        let slot = rows::slot_of(connection, &row)?;
        Ok((row, facts, slot))
    };
    open.into_iter().map(with_more).collect()
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

impl StoreWitness {
    /// What a sweep by this process would make of the runs that have not ended. Those that it would close are
    /// open no longer. `passed_by` says why a slot that nobody has begun is not to be run any more.
    pub(super) fn sweep(
        &mut self,
        beholder: &Beholder,
        passed_by: &dyn Fn(&str, SlotAt) -> Option<String>,
    ) -> Swept {
        let open = self
            .ledger
            .as_ref()
            .and_then(|ledger| ledger.read(open_runs).ok());
        let mut swept = Swept::default();
        for (row, facts, slot) in open.unwrap_or_default() {
            if !beholder.liveness_of(&row, facts.as_ref()).is_over() {
                swept.goes_on.push(row);
                continue;
            }
            if offer_left(&row, beholder.now).is_some() {
                // On its way to a worker, whose end is awaited.
                swept.on_offer.push(row.job_id);
                continue;
            }
            match slot.filter(|_| is_unbegun(&row, facts.as_ref())) {
                None => swept.closed.push((row, slot)),
                Some(slot) => match passed_by(&row.job_id, slot) {
                    Some(why) => swept.passed_by.push((row, why)),
                    None => swept.unbegun.push((row, slot)),
                },
            }
        }
        let unbegun = swept.unbegun.iter().map(|(row, _)| row);
        let open = swept.goes_on.iter().chain(unbegun);
        let open = open.map(|row| &row.job_id).chain(&swept.on_offer);
        self.runs.open = open.cloned().collect();
        swept
    }

    /// Ends of runs that jobs are still to be told of.
    pub(super) fn untold(&self) -> Vec<UntoldRun> {
        let ledger = self.ledger.as_ref();
        let untold = ledger.and_then(|ledger| ledger.read(untold_runs).ok());
        untold.unwrap_or_default()
    }

    /// What becomes of a slot that has an attempt already.
    pub(super) fn taken(&self, job_id: &str, slot: SlotAt) -> Option<Fate> {
        let look = |store: &Connection| slot_taken(store, job_id, slot);
        match self.ledger.as_ref()?.read(look).ok()?? {
            Claimed::Ours => None,
            Claimed::SlotTaken {
                execution_id,
                status,
                ..
            } => Some(Fate::slot_taken(&execution_id, &status)),
        }
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

    fn done_ahead(&self, now: Timestamp) -> Vec<String> {
        self.runs.done_ahead(now)
    }
}
