//! The ledger, for writing. Each method is one short transaction; each transition says in its WHERE
//! whose row it is, so that of two that try only one succeeds, and an end is written once.

use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rusqlite::{Connection, params};

use super::schema;
use super::slot::SlotAt;
use crate::clock::iso;
use crate::db;
use crate::error::{Error, Kind, Result};
use crate::host::identity_probe::OwnIdentity;

/// How many ended rows are kept, the newest ones: as many as Hermes Agent keeps.
pub const KEPT: u32 = 1000;
/// How long our record of slots reaches back.
pub const SLOTS_KEPT_DAYS: i64 = 90;

/// Who owns a row: a process, not a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// 32 hex digits that this process keeps for its life.
    pub process_id: String,
    /// Its pid.
    pub pid: u32,
    /// When it started, in clock ticks since boot.
    pub start_ticks: Option<u64>,
}

impl From<&OwnIdentity> for Owner {
    fn from(own: &OwnIdentity) -> Self {
        Self {
            process_id: own.process_id.clone(),
            pid: own.pid,
            start_ticks: own.start_ticks,
        }
    }
}

/// A new attempt.
#[derive(Debug, Clone)]
pub struct Claim<'a> {
    /// 32 hex digits.
    pub id: &'a str,
    /// The job.
    pub job_id: &'a str,
    /// `builtin` from the ticker, `direct` from a person.
    pub source: &'a str,
    /// The slot; none for a run that is no slot's.
    pub slot: Option<SlotAt>,
}

/// What came of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claimed {
    /// The row is ours.
    Ours,
    /// The slot has an attempt already.
    SlotTaken {
        /// That attempt.
        execution_id: String,
        /// Where it stands.
        status: String,
        /// Whose row it is.
        owner: Owner,
    },
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy)]
pub struct End<'a> {
    /// It did what was asked.
    pub ok: bool,
    /// What went wrong.
    pub error: Option<&'a str>,
    /// What became of its message.
    pub delivery: Option<&'a str>,
}

pub use self::delivery::UNKNOWN as DELIVERY_UNKNOWN;
pub use self::taken::slot_taken;
pub use self::untold::untold_ends;

/// The store of executions, open for writing.
#[derive(Debug)]
pub struct Ledger {
    connection: Connection,
    zone: TimeZone,
}

impl Ledger {
    /// Opens the store, and makes it or what it lacks. Times are written in this zone.
    ///
    /// # Errors
    /// When it cannot be opened, is no database, or stayed locked past [`db::BUSY`].
    pub fn open(path: &Path, zone: TimeZone) -> Result<Self> {
        let is_new = !path.exists();
        let connection = db::connect_or_create(path).map_err(|damage| {
            Error::new(
                Kind::Io,
                format!("failed to open the ledger {}", path.display()),
            )
            .with_source(damage)
            .with_hint("hermes cron doctor --only stores says what is wrong with it")
        })?;
        let ledger = Self { connection, zone };
        ledger
            .connection
            .execute_batch(&schema::statements())
            .map_err(|error| {
                let (place, code) = (path.display(), error.sqlite_error_code());
                let why = if code == Some(rusqlite::ErrorCode::ReadOnly) {
                    "it, its directory or its disk is read-only to this account"
                } else {
                    "is its disk full?"
                };
                failed("prepare", error).with_hint(format!("it is {place}; {why}"))
            })?;
        if is_new {
            db::give(path).map_err(|error| {
                Error::io(
                    format!("failed to give {} to its owner", path.display()),
                    error,
                )
            })?;
        }
        Ok(ledger)
    }

    /// Reads with one of the readers of `rows`.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        read(&self.connection).map_err(|error| failed("read", error))
    }

    /// Takes a slot, or records the start of a manual run: a new row, `claimed`. Of any number of
    /// schedulers on the home one gets the slot; the others are told who has it.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn claim(&mut self, claim: &Claim<'_>, owner: &Owner, now: Timestamp) -> Result<Claimed> {
        let slot = claim.slot.map(|slot| utc(slot.at));
        let named = claim.slot.and_then(SlotAt::named).map(utc);
        let at = iso(now, &self.zone);
        let transaction =
            db::immediate(&mut self.connection).map_err(|error| failed("claim", error))?;
        let taken = taken::look(&transaction, claim.job_id, slot.as_deref());
        if let Some(taken) = taken.map_err(|error| failed("claim", error))? {
            return Ok(taken);
        }
        let insert = "INSERT INTO executions
            (id, job_id, source, process_id, pid, process_started_at, status, claimed_at, scheduled_instant)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'claimed', ?7, ?8)";
        let (pid, start) = (
            owner.pid,
            owner
                .start_ticks
                .and_then(|ticks| i64::try_from(ticks).ok()),
        );
        let row = params![
            claim.id,
            claim.job_id,
            claim.source,
            owner.process_id,
            pid,
            start,
            at,
            named
        ];
        transaction
            .execute(insert, row)
            .map_err(|error| failed("claim", error))?;
        if let Some(slot) = slot {
            let record =
                "INSERT INTO cron_slots (job_id, scheduled_at, outcome, execution_id, recorded_at)
                 VALUES (?1, ?2, 'running', ?3, ?4)
                 ON CONFLICT (job_id, scheduled_at) DO UPDATE SET
                 outcome = 'running', reason = NULL, execution_id = ?3, recorded_at = ?4";
            transaction
                .execute(record, params![claim.job_id, slot, claim.id, at])
                .map_err(|error| failed("claim", error))?;
        }
        transaction
            .commit()
            .map_err(|error| failed("claim", error))?;
        Ok(Claimed::Ours)
    }

    /// Takes over a row that was claimed, and never adopted, from an owner that is proved dead: once.
    /// `false`: somebody else has it, or it was taken over before, and then its launch has failed.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn inherit(
        &mut self,
        id: &str,
        dead: &Owner,
        heir: &Owner,
        now: Timestamp,
    ) -> Result<bool> {
        let at = iso(now, &self.zone);
        let start = heir.start_ticks.and_then(|ticks| i64::try_from(ticks).ok());
        let attempt = |connection: &mut Connection| -> rusqlite::Result<bool> {
            let transaction = db::immediate(connection)?;
            let first = transaction.execute(
                "INSERT INTO execution_facts (execution_id, mode, detail, recorded_at)
                 VALUES (?1, 'unknown', 'inherited from a dispatcher that is gone', ?2)
                 ON CONFLICT (execution_id) DO NOTHING",
                params![id, at],
            )?;
            let taken = transaction.execute(
                "UPDATE executions SET process_id = ?2, pid = ?3, process_started_at = ?4,
                 handoff_pending = 0, handoff_started_at = NULL
                 WHERE id = ?1 AND status = 'claimed' AND process_id = ?5
                 AND (pid = ?6 OR pid NOT BETWEEN 0 AND 4294967295)",
                params![
                    id,
                    heir.process_id,
                    heir.pid,
                    start,
                    dead.process_id,
                    dead.pid
                ],
            )?;
            if first == 1 && taken == 1 {
                transaction.commit()?;
                return Ok(true);
            }
            Ok(false)
        };
        attempt(&mut self.connection).map_err(|error| failed("inherit a row of", error))
    }

    /// Offers a claimed row to a worker, from now on.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn offer(&self, id: &str, owner: &Owner, now: Timestamp) -> Result<bool> {
        self.change(
            "UPDATE executions SET handoff_pending = 1, handoff_started_at = ?2
             WHERE id = ?1 AND status = 'claimed' AND process_id = ?3 AND pid = ?4",
            params![id, epoch(now), owner.process_id, owner.pid],
        )
    }

    /// Takes an offered row back. `false`: a worker has adopted it.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn take_back(&self, id: &str, owner: &Owner) -> Result<bool> {
        self.change(
            "UPDATE executions SET handoff_pending = 0, handoff_started_at = NULL
             WHERE id = ?1 AND status = 'claimed' AND process_id = ?2 AND pid = ?3",
            params![id, owner.process_id, owner.pid],
        )
    }

    /// Adopts an offered row: the one conditional update whose winner may run side effects.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn adopt(&self, id: &str, worker: &Owner, now: Timestamp) -> Result<bool> {
        let start = worker
            .start_ticks
            .and_then(|ticks| i64::try_from(ticks).ok());
        let at = iso(now, &self.zone);
        self.change(
            "UPDATE executions SET status = 'running', handoff_pending = 0, process_id = ?2, pid = ?3,
             process_started_at = ?4, started_at = ?5, progress_at = ?5
             WHERE id = ?1 AND status = 'claimed' AND handoff_pending = 1",
            params![id, worker.process_id, worker.pid, start, at],
        )
    }

    /// Starts a claimed row in the process that claimed it, without a worker.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn start(&self, id: &str, owner: &Owner, now: Timestamp) -> Result<bool> {
        let at = iso(now, &self.zone);
        self.change(
            "UPDATE executions SET status = 'running', handoff_pending = 0, started_at = ?2, progress_at = ?2
             WHERE id = ?1 AND status = 'claimed' AND process_id = ?3 AND pid = ?4",
            params![id, at, owner.process_id, owner.pid],
        )
    }

    /// Stamps progress, whatever kind of run it is.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn progress(&self, id: &str, owner: &Owner, now: Timestamp) -> Result<bool> {
        self.change(
            "UPDATE executions SET progress_at = ?2
             WHERE id = ?1 AND status = 'running' AND process_id = ?3 AND pid = ?4",
            params![id, iso(now, &self.zone), owner.process_id, owner.pid],
        )
    }

    /// Several steps as one.
    pub(super) fn all_or_none<T>(
        &mut self,
        what: &str,
        steps: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let attempt = |connection: &mut Connection| {
            let transaction = db::immediate(connection)?;
            let made = steps(&transaction)?;
            transaction.commit()?;
            Ok(made)
        };
        attempt(&mut self.connection).map_err(|error| failed(what, error))
    }

    pub(super) fn change(&self, sql: &str, row: impl rusqlite::Params) -> Result<bool> {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute(row))
            .map(|changed| changed == 1)
            .map_err(|error| failed("write", error))
    }

    /// The zone that times are written in.
    #[must_use]
    pub fn zone(&self) -> &TimeZone {
        &self.zone
    }
}

/// The slot's instant as the store has it: ISO in UTC.
#[must_use]
pub fn utc(instant: Timestamp) -> String {
    iso(instant, &TimeZone::UTC)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "microseconds of this century fit a float"
)]
fn epoch(now: Timestamp) -> f64 {
    now.as_microsecond() as f64 / 1e6
}

fn failed(what: &str, error: rusqlite::Error) -> Error {
    let busy = matches!(
        error.sqlite_error_code(),
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked)
    );
    let kind = if busy { Kind::Busy } else { Kind::Io };
    Error::new(kind, format!("failed to {what} the ledger")).with_source(error)
}

mod delivery;
mod ends;
mod groups;
mod notes;
mod taken;
#[cfg(test)]
mod tests;
mod untold;
