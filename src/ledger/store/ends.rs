//! Ends of attempts: each is written once, by whoever has the row, with what stands beside it.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::{End, KEPT, Ledger, Owner, failed, notes};
use crate::clock::iso;
use crate::db;
use crate::error::Result;
use crate::ledger::facts::{Cause, PRUNE};
use crate::ledger::group;
use crate::ledger::slot::Outcome;

// A pid that none can be is nobody's: the process id alone names such an owner.
impl Ledger {
    /// Ends our own row.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn finish(
        &mut self,
        id: &str,
        owner: &Owner,
        end: End<'_>,
        now: Timestamp,
    ) -> Result<bool> {
        let status = if end.ok { "completed" } else { "failed" };
        let at = iso(now, &self.zone);
        let sql =
            "UPDATE executions SET status = ?2, handoff_pending = 0, finished_at = ?3, error = ?4,
             delivery_outcome = ?5 WHERE id = ?1 AND status IN ('claimed', 'running')
             AND process_id = ?6 AND (pid = ?7 OR pid NOT BETWEEN 0 AND 4294967295)";
        let row = params![
            id,
            status,
            at,
            end.error,
            end.delivery,
            owner.process_id,
            owner.pid
        ];
        self.end(id, (sql, row), (&at, None), |transaction| {
            if end.ok {
                notes::forget_cause(transaction, id)?;
            }
            Ok(())
        })
    }

    /// Ends the row of an owner that is proved dead: `unknown`, with the cause beside it. The row must
    /// still be that owner's. Where nobody had begun it, its slot is passed by.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn finish_dead(
        &mut self,
        id: &str,
        dead: &Owner,
        (cause, detail): (&Cause, &str),
        now: Timestamp,
    ) -> Result<bool> {
        let at = iso(now, &self.zone);
        let sql = "UPDATE executions SET status = 'unknown', handoff_pending = 0, finished_at = ?2,
             error = ?3 WHERE id = ?1 AND status IN ('claimed', 'running')
             AND process_id = ?4 AND (pid = ?5 OR pid NOT BETWEEN 0 AND 4294967295)";
        let row = params![id, at, detail, dead.process_id, dead.pid];
        let unbegun = Some((Outcome::Skipped, detail));
        self.end(id, (sql, row), (&at, unbegun), |transaction| {
            notes::add_cause(transaction, (id, cause, detail), &at).map(drop)
        })
    }

    /// Ends the row of an owner that is proved dead, where nobody had begun it and nobody is to: what becomes of
    /// its slot, and why.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn pass_by(
        &mut self,
        id: &str,
        dead: &Owner,
        (outcome, why): (Outcome, &str),
        now: Timestamp,
    ) -> Result<bool> {
        let at = iso(now, &self.zone);
        let sql = "UPDATE executions SET status = 'unknown', handoff_pending = 0, finished_at = ?2,
             error = ?3 WHERE id = ?1 AND status = 'claimed' AND process_id = ?4 AND (pid = ?5 OR pid NOT BETWEEN 0 AND 4294967295)";
        let row = params![id, at, why, dead.process_id, dead.pid];
        let unbegun = Some((outcome, why));
        self.end(id, (sql, row), (&at, unbegun), |transaction| {
            notes::add_cause(transaction, (id, &Cause::CannotTell, why), &at).map(drop)
        })
    }

    /// Writes an end and what stands beside it, closes its slot and keeps the table within its bounds, in
    /// one transaction. `unbegun`: what becomes of the slot where nobody had begun the attempt, and why.
    fn end(
        &mut self,
        id: &str,
        (sql, row): (&str, impl rusqlite::Params),
        (at, unbegun): (&str, Option<(Outcome, &str)>),
        beside: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    ) -> Result<bool> {
        let attempt = |connection: &mut Connection| -> rusqlite::Result<bool> {
            let transaction = db::immediate(connection)?;
            let claimed = "SELECT 1 FROM executions WHERE id = ?1 AND status = 'claimed'";
            let is_begun = !transaction.prepare_cached(claimed)?.exists([id])?;
            let unbegun = unbegun.filter(|_| !is_begun);
            let ended = transaction.execute(sql, row)? == 1;
            if ended {
                beside(&transaction)?;
                let (outcome, why) =
                    unbegun.map_or((Outcome::Run, None), |(outcome, why)| (outcome, Some(why)));
                transaction.execute(
                    "UPDATE cron_slots SET outcome = ?3, reason = coalesce(?4, reason), recorded_at = ?2
                     WHERE execution_id = ?1",
                    params![id, at, outcome.word(), why],
                )?;
                transaction.execute(
                    "DELETE FROM executions WHERE status IN ('completed','failed','unknown') AND id NOT IN
                     (SELECT id FROM executions WHERE status IN ('completed','failed','unknown')
                      ORDER BY julianday(finished_at) DESC LIMIT ?1)",
                    params![KEPT],
                )?;
                transaction.execute(PRUNE, [])?;
                transaction.execute(group::PRUNE, [])?;
            }
            transaction.commit()?;
            Ok(ended)
        };
        attempt(&mut self.connection).map_err(|error| failed("end an execution in", error))
    }
}
