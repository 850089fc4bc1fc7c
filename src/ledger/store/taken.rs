//! Whether a slot has an attempt already.

use rusqlite::{Connection, OptionalExtension, params};

use super::{Claimed, Owner};
use crate::db::Columns;
use crate::ledger::SlotAt;
use crate::ledger::slot::Outcome;
use crate::ledger::store::utc;

/// Who has a slot, in a ledger that may be of the other program.
///
/// # Errors
/// When SQLite refuses.
pub fn slot_taken(
    connection: &Connection,
    job_id: &str,
    slot: SlotAt,
) -> rusqlite::Result<Option<Claimed>> {
    if Columns::of(connection, "executions")?.is_none() {
        return Ok(None);
    }
    let slot = Some(utc(slot.at));
    if Columns::of(connection, "cron_slots")?.is_none() {
        return by_row(connection, job_id, slot.as_deref());
    }
    look(connection, job_id, slot.as_deref())
}

/// Who has a slot. The row of a run goes with a thousand newer ones; that its slot was run is known for
/// longer.
pub(super) fn look(
    connection: &Connection,
    job_id: &str,
    slot: Option<&str>,
) -> rusqlite::Result<Option<Claimed>> {
    let row = by_row(connection, job_id, slot)?;
    if row.is_some() {
        return Ok(row);
    }
    // The row of a slot that stood without an offset names none: our own record leads to it.
    let sql = "SELECT e.id, e.status, e.process_id, e.pid, e.process_started_at,
         coalesce(s.execution_id, '') FROM cron_slots s LEFT JOIN executions e ON e.id = s.execution_id
         WHERE s.job_id = ?1 AND s.scheduled_at = ?2 AND (s.outcome = 'run' OR e.id IS NOT NULL)";
    let ran = |row: &rusqlite::Row<'_>| {
        if row.get::<_, Option<String>>(0)?.is_some() {
            return taken_row(row);
        }
        Ok(Claimed::SlotTaken {
            execution_id: row.get(5)?,
            status: Outcome::Run.word().to_owned(),
            owner: Owner {
                process_id: String::new(),
                pid: 0,
                start_ticks: None,
            },
        })
    };
    connection
        .query_row(sql, params![job_id, slot], ran)
        .optional()
}

fn by_row(
    connection: &Connection,
    job_id: &str,
    slot: Option<&str>,
) -> rusqlite::Result<Option<Claimed>> {
    let sql = "SELECT id, status, process_id, pid, process_started_at FROM executions
         WHERE job_id = ?1 AND scheduled_instant = ?2 ORDER BY claimed_at DESC LIMIT 1";
    connection
        .query_row(sql, params![job_id, slot], taken_row)
        .optional()
}

fn taken_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Claimed> {
    let start: Option<i64> = row.get(4)?;
    let owner = Owner {
        process_id: row.get(2)?,
        pid: row.get(3)?,
        start_ticks: start.and_then(|ticks| u64::try_from(ticks).ok()),
    };
    Ok(Claimed::SlotTaken {
        execution_id: row.get(0)?,
        status: row.get(1)?,
        owner,
    })
}
