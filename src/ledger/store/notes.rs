//! What stands beside the rows, in tables of ours: how an attempt was run, why it ended, and what became
//! of slots.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::{Ledger, SLOTS_KEPT_DAYS, failed};
use crate::clock::iso;
use crate::db;
use crate::error::Result;
use crate::ledger::facts::{Cause, ExecutionFacts};
use crate::ledger::slot::{Outcome, Slot, SlotRange};

impl Ledger {
    /// Records how an attempt is run; a later record of the same attempt replaces it.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn record_facts(&self, facts: &ExecutionFacts, now: Timestamp) -> Result<()> {
        self.change(
            "INSERT INTO execution_facts (execution_id, mode, manager, unit, mechanism, properties,
             boot_id, pid1_start, worker_pid, worker_start, recorded_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT (execution_id) DO UPDATE SET mode = ?2, manager = ?3, unit = ?4,
             mechanism = ?5, properties = ?6, boot_id = ?7, pid1_start = ?8, worker_pid = ?9,
             worker_start = ?10",
            params![
                facts.execution_id,
                facts.mode,
                facts.manager,
                facts.unit,
                facts.mechanism,
                facts.properties,
                facts.boot_id,
                facts.pid1_start,
                facts.worker_pid,
                facts.worker_start,
                iso(now, &self.zone),
            ],
        )
        .map(drop)
    }

    /// Records why an attempt ended. The first cause stays: who was there knows best.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn record_cause(
        &self,
        id: &str,
        cause: &Cause,
        detail: &str,
        now: Timestamp,
    ) -> Result<bool> {
        add_cause(&self.connection, (id, cause, detail), &iso(now, &self.zone))
            .map_err(|error| failed("write", error))
    }

    /// Takes a cause back that an attempt did not end by: it had come to its end before.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn retract_cause(&self, id: &str, cause: &Cause) -> Result<bool> {
        self.change(
            "UPDATE execution_facts SET cause = NULL, detail = NULL, ended_at = NULL
             WHERE execution_id = ?1 AND cause = ?2",
            params![id, cause.word()],
        )
    }

    /// Records something that is to be known of an attempt that goes on; the cause of its end replaces it.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn record_detail(&self, id: &str, detail: &str) -> Result<bool> {
        self.change(
            "UPDATE execution_facts SET detail = ?2 WHERE execution_id = ?1 AND cause IS NULL",
            params![id, detail],
        )
    }

    /// Records what was not as planned at the start of an attempt, before what is told of it already. The
    /// cause of its end counts for more.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn note(&self, id: &str, words: &str) -> Result<bool> {
        self.change(
            "UPDATE execution_facts SET detail = ?2 || coalesce('; ' || detail, '')
             WHERE execution_id = ?1 AND cause IS NULL",
            params![id, words],
        )
    }

    /// Records that the result of an attempt did not arrive, beside the cause of its end where there is
    /// one.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn record_delivery_error(&self, id: &str, error: &str) -> Result<bool> {
        self.change(
            "UPDATE execution_facts SET detail = CASE WHEN cause IS NULL THEN ?2
             WHEN instr(detail, ?2) THEN detail
             ELSE coalesce(detail || '; ', '') || ?2 END WHERE execution_id = ?1",
            params![id, error],
        )
    }

    /// Records a slot that did not become an attempt. A slot that has an attempt keeps it.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn record_slots(&mut self, slots: &[Slot], now: Timestamp) -> Result<()> {
        self.record_unrun(slots, &[], now)
    }

    /// Writes down that the slot of an attempt was refused, and why.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn refuse_slot(&mut self, execution_id: &str, reason: &str, now: Timestamp) -> Result<()> {
        let at = iso(now, &self.zone);
        let sql = "UPDATE cron_slots SET outcome = 'refused', reason = ?2, recorded_at = ?3
             WHERE execution_id = ?1";
        let told = self
            .connection
            .execute(sql, params![execution_id, reason, at]);
        told.map(drop)
            .map_err(|error| failed("record a refused slot in", error))
    }

    /// The same, with slots in a row of which the same became, all or none of it.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn record_unrun(
        &mut self,
        slots: &[Slot],
        ranges: &[SlotRange],
        now: Timestamp,
    ) -> Result<()> {
        let at = iso(now, &self.zone);
        let oldest = self.oldest_kept(now);
        let attempt = |connection: &mut Connection| -> rusqlite::Result<()> {
            let transaction = db::immediate(connection)?;
            {
                let mut insert = transaction.prepare_cached(
                    "INSERT INTO cron_slots (job_id, scheduled_at, outcome, reason, execution_id, recorded_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (job_id, scheduled_at) DO UPDATE SET
                     outcome = ?3, reason = ?4, recorded_at = ?6 WHERE execution_id IS NULL
                     AND NOT (outcome IN ('skipped', 'refused') AND ?3 = 'missed')",
                )?;
                for slot in slots {
                    insert.execute(params![
                        slot.job_id,
                        slot.scheduled_at,
                        slot.outcome.word(),
                        slot.reason,
                        slot.execution_id,
                        at
                    ])?;
                }
            }
            record_ranges(&transaction, ranges, &at)?;
            transaction.execute(
                "DELETE FROM cron_slots WHERE recorded_at < ?1 AND outcome <> 'running'",
                [&oldest],
            )?;
            let old = "DELETE FROM cron_slot_ranges WHERE recorded_at < ?1";
            transaction.execute(old, [oldest])?;
            transaction.commit()
        };
        attempt(&mut self.connection).map_err(|error| failed("record slots in", error))
    }

    /// What was recorded before this is dropped.
    fn oldest_kept(&self, now: Timestamp) -> String {
        let oldest = now.checked_sub(jiff::SignedDuration::from_hours(24 * SLOTS_KEPT_DAYS));
        oldest
            .map(|oldest| iso(oldest, &self.zone))
            .unwrap_or_default()
    }

    /// What became of a job's slots, the newest first.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn slots_of(&self, job_id: &str, most: u32) -> Result<Vec<Slot>> {
        let read = |connection: &Connection| -> rusqlite::Result<Vec<Slot>> {
            let mut select = connection.prepare_cached(
                "SELECT job_id, scheduled_at, outcome, reason, execution_id FROM cron_slots
                 WHERE job_id = ?1 ORDER BY scheduled_at DESC LIMIT ?2",
            )?;
            let rows = select.query_map(params![job_id, most], |row| {
                let word: String = row.get(2)?;
                Ok(Slot {
                    job_id: row.get(0)?,
                    scheduled_at: row.get(1)?,
                    outcome: Outcome::from_word(&word).unwrap_or(Outcome::Skipped),
                    reason: row.get(3)?,
                    execution_id: row.get(4)?,
                })
            })?;
            rows.collect()
        };
        self.read(read)
    }
}

/// The first cause stays.
pub(super) fn add_cause(
    connection: &Connection,
    (id, cause, detail): (&str, &Cause, &str),
    at: &str,
) -> rusqlite::Result<bool> {
    let sql =
        "INSERT INTO execution_facts (execution_id, mode, cause, detail, recorded_at, ended_at)
         VALUES (?1, 'unknown', ?2, ?3, ?4, ?4)
         ON CONFLICT (execution_id) DO UPDATE SET cause = ?2, detail = ?3, ended_at = ?4
         WHERE cause IS NULL";
    let added = connection.execute(sql, params![id, cause.word(), detail, at])?;
    Ok(added == 1)
}

/// A run that was asked to end and came to a good end first has no such cause. Why its result did not
/// arrive stands in the same place, and stays.
pub(super) fn forget_cause(connection: &Connection, id: &str) -> rusqlite::Result<()> {
    let sql = "UPDATE execution_facts SET cause = NULL, ended_at = NULL, detail =
         CASE (SELECT delivery_outcome FROM executions WHERE id = ?1)
         WHEN 'failed' THEN detail WHEN 'cancelled' THEN detail END WHERE execution_id = ?1 AND cause IS NOT NULL";
    connection.execute(sql, [id]).map(drop)
}

/// As with single slots, what was left out on purpose is not called missed afterwards.
fn record_ranges(connection: &Connection, ranges: &[SlotRange], at: &str) -> rusqlite::Result<()> {
    for range in ranges {
        connection.execute(
            "INSERT INTO cron_slot_ranges
             (job_id, first_at, last_at, slots, outcome, reason, recorded_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (job_id, first_at) DO UPDATE SET
             last_at = ?3, slots = ?4, outcome = ?5, reason = ?6, recorded_at = ?7
             WHERE NOT (outcome = 'skipped' AND ?5 = 'missed')",
            params![
                range.job_id,
                range.first_at,
                range.last_at,
                range.count,
                range.outcome.word(),
                range.reason,
                at
            ],
        )?;
    }
    Ok(())
}
