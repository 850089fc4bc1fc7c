//! Readers of `cron/executions.db`: typed rows, no opinions.
//!
//! Every reader is bounded, tolerates columns that are not there and values of an odd type, and
//! answers `None` for a table that is not there.

pub mod kanban;

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Params};
use serde::{Deserialize, Serialize};

use super::execution::{Execution, Status};
use super::facts::{Cause, ExecutionFacts};
use super::incident::{Incident, IncidentState};
use super::slot::{Outcome, Slot, SlotAt, SlotRange};
use crate::db::{self, Columns, Fields, Stamp};

const EXECUTION: [&str; 16] = [
    "id",
    "job_id",
    "source",
    "process_id",
    "pid",
    "process_started_at",
    "status",
    "handoff_pending",
    "handoff_started_at",
    "claimed_at",
    "started_at",
    "finished_at",
    "error",
    "delivery_outcome",
    "scheduled_instant",
    "progress_at",
];

const INCIDENT: [&str; 12] = [
    "id",
    "job_id",
    "error_sig",
    "state",
    "failure_type",
    "first_seen_at",
    "last_seen_at",
    "acked_at",
    "alerted_at",
    "closed_at",
    "error",
    "output_file",
];

const FACTS: [&str; 14] = [
    "execution_id",
    "mode",
    "manager",
    "unit",
    "mechanism",
    "properties",
    "boot_id",
    "pid1_start",
    "worker_pid",
    "worker_start",
    "cause",
    "detail",
    "recorded_at",
    "ended_at",
];

const RANGE: [&str; 6] = [
    "job_id", "first_at", "last_at", "slots", "outcome", "reason",
];
const SLOT: [&str; 5] = [
    "job_id",
    "scheduled_at",
    "outcome",
    "reason",
    "execution_id",
];

fn execution(row: Fields<'_>) -> Execution {
    Execution {
        id: row.text_or_empty("id"),
        job_id: row.text_or_empty("job_id"),
        source: row.text_or_empty("source"),
        process_id: row.text_or_empty("process_id"),
        pid: row.integer("pid"),
        process_started_at: row.integer("process_started_at"),
        status: Status::from(row.text_or_empty("status")),
        handoff_pending: row.flag("handoff_pending"),
        handoff_started_at: row.instant("handoff_started_at"),
        claimed_at: row.stamp("claimed_at"),
        started_at: row.stamp("started_at"),
        finished_at: row.stamp("finished_at"),
        error: row.text("error"),
        delivery_outcome: row.text("delivery_outcome"),
        scheduled_instant: row.stamp("scheduled_instant"),
        progress_at: row.stamp("progress_at"),
    }
}

fn select(
    connection: &Connection,
    needed: &[&str],
    condition: &str,
    most: u32,
    parameters: impl Params,
) -> rusqlite::Result<Option<Vec<Execution>>> {
    let Some(columns) = Columns::of(connection, "executions")? else {
        return Ok(None);
    };
    if !columns.missing(needed).is_empty() {
        return Ok(Some(Vec::new()));
    }
    let order = columns.newest_first("claimed_at");
    let limit = if condition.is_empty() && count(connection)? <= i64::from(most) {
        // To find the first of many, SQLite keeps whole rows in a tree; to sort all takes half the time.
        String::new()
    } else {
        format!(" LIMIT {most}")
    };
    let sql = format!("{} {condition}{order}{limit}", columns.select(&EXECUTION));
    db::rows(connection, &sql, parameters, execution).map(Some)
}

fn count(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("SELECT count(*) FROM executions", [], |row| row.get(0))
}

/// The newest executions, by the text of their claim.
pub fn executions(connection: &Connection, most: u32) -> rusqlite::Result<Option<Vec<Execution>>> {
    select(connection, &[], "", most, [])
}

/// Executions that have not ended: these must not be lost behind newer rows.
pub fn open_executions(
    connection: &Connection,
    most: u32,
) -> rusqlite::Result<Option<Vec<Execution>>> {
    let condition = "WHERE status IN ('claimed', 'running')";
    select(connection, &["status"], condition, most, [])
}

/// The newest executions of one job.
pub fn executions_of(
    connection: &Connection,
    job_id: &str,
    most: u32,
) -> rusqlite::Result<Option<Vec<Execution>>> {
    select(connection, &["job_id"], "WHERE job_id = ?1", most, [job_id])
}

/// One execution by its id.
pub fn execution_by_id(connection: &Connection, id: &str) -> rusqlite::Result<Option<Execution>> {
    let rows = select(connection, &["id"], "WHERE id = ?1", 1, [id])?;
    Ok(rows.and_then(|rows| rows.into_iter().next()))
}

/// How far back the ledger reaches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// Rows in the table.
    pub rows: i64,
    /// The oldest end that is kept: before it nothing can be proved missing.
    pub oldest_end: Option<Stamp>,
}

/// How far back the ledger reaches; none without the table or its `finished_at`.
pub fn reach(connection: &Connection) -> rusqlite::Result<Option<Reach>> {
    let Some(columns) = Columns::of(connection, "executions")? else {
        return Ok(None);
    };
    if !columns.has("finished_at") {
        return Ok(None);
    }
    // The bare column is that of the row with the smallest value: local offsets may differ.
    let sql = "SELECT finished_at, min(julianday(finished_at)) FROM executions";
    let oldest: Option<String> = connection
        .query_row(sql, [], |row| Ok(Fields::of(row).text("finished_at")))
        .optional()?
        .flatten();
    Ok(Some(Reach {
        rows: count(connection)?,
        oldest_end: oldest.map(Stamp::from),
    }))
}

/// Incidents, the last seen first.
pub fn incidents(connection: &Connection, most: u32) -> rusqlite::Result<Option<Vec<Incident>>> {
    let Some(columns) = Columns::of(connection, "cron_incidents")? else {
        return Ok(None);
    };
    let order = columns.newest_first("last_seen_at");
    let sql = format!("{} {order} LIMIT {most}", columns.select(&INCIDENT));
    let ends = incident_ends(connection)?;
    let because = |row: Fields<'_>| {
        let is_closed = row.text_or_empty("state") == IncidentState::Closed.word();
        let reason = ends.get(&row.text_or_empty("id"));
        reason.filter(|_| is_closed).cloned()
    };
    let rows = db::rows(connection, &sql, [], |row| Incident {
        id: row.text_or_empty("id"),
        job_id: row.text_or_empty("job_id"),
        error_sig: row.text_or_empty("error_sig"),
        state: IncidentState::from(row.text_or_empty("state")),
        failure_type: row.text_or_empty("failure_type"),
        first_seen_at: row.stamp("first_seen_at"),
        last_seen_at: row.stamp("last_seen_at"),
        acked_at: row.stamp("acked_at"),
        alerted_at: row.stamp("alerted_at"),
        closed_at: row.stamp("closed_at"),
        closed_because: because(row),
        error: row.text_or_empty("error"),
        output_file: row.text("output_file"),
    })?;
    Ok(Some(rows))
}

/// Incidents that were closed for a reason, each with it.
fn incident_ends(connection: &Connection) -> rusqlite::Result<HashMap<String, String>> {
    if Columns::of(connection, "incident_ends")?.is_none() {
        return Ok(HashMap::new());
    }
    let sql = "SELECT incident_id, reason FROM incident_ends";
    let pair = |row: Fields<'_>| {
        (
            row.text_or_empty("incident_id"),
            row.text_or_empty("reason"),
        )
    };
    Ok(db::rows(connection, sql, [], pair)?.into_iter().collect())
}

/// What we recorded of executions, the newest first; none where we never ran.
pub fn facts(connection: &Connection, most: u32) -> rusqlite::Result<Option<Vec<ExecutionFacts>>> {
    let Some(columns) = Columns::of(connection, "execution_facts")? else {
        return Ok(None);
    };
    let order = columns.newest_first("recorded_at");
    let sql = format!("{} {order} LIMIT {most}", columns.select(&FACTS));
    db::rows(connection, &sql, [], facts_row).map(Some)
}

/// What we recorded of one execution.
pub fn facts_of(
    connection: &Connection,
    execution_id: &str,
) -> rusqlite::Result<Option<ExecutionFacts>> {
    let Some(columns) = Columns::of(connection, "execution_facts")? else {
        return Ok(None);
    };
    let sql = format!("{} WHERE execution_id = ?1", columns.select(&FACTS));
    let rows = db::rows(connection, &sql, [execution_id], facts_row)?;
    Ok(rows.into_iter().next())
}

const NOT_RUN: &str = "outcome NOT IN ('run', 'running')";

/// Slots that no run was made of, the newest first; of one job, or of all.
pub fn slots_not_run(
    connection: &Connection,
    job_id: Option<&str>,
    most: u32,
) -> rusqlite::Result<Option<Vec<Slot>>> {
    slots(connection, NOT_RUN, job_id, most)
}

/// Slots that no row of an execution names, the newest first: those that no run was made of, and those that
/// stood without an offset.
pub fn slots_without_row(
    connection: &Connection,
    most: u32,
) -> rusqlite::Result<Option<Vec<Slot>>> {
    let columns = Columns::of(connection, "executions")?;
    if !columns.is_some_and(|columns| columns.has("scheduled_instant")) {
        return slots_not_run(connection, None, most);
    }
    let naive = "execution_id IN (SELECT id FROM executions WHERE scheduled_instant IS NULL)";
    slots(connection, &format!("({NOT_RUN} OR {naive})"), None, most)
}

fn slots(
    connection: &Connection,
    condition: &str,
    job_id: Option<&str>,
    most: u32,
) -> rusqlite::Result<Option<Vec<Slot>>> {
    let Some(columns) = Columns::of(connection, "cron_slots")? else {
        return Ok(None);
    };
    let sql = format!(
        "{} WHERE {condition} AND (?1 IS NULL OR job_id = ?1) ORDER BY scheduled_at DESC LIMIT {most}",
        columns.select(&SLOT)
    );
    let slot = |row: Fields<'_>| Slot {
        job_id: row.text_or_empty("job_id"),
        scheduled_at: row.text_or_empty("scheduled_at"),
        outcome: Outcome::from_word(&row.text_or_empty("outcome")).unwrap_or(Outcome::Skipped),
        reason: row.text("reason"),
        execution_id: row.text("execution_id"),
    };
    db::rows(connection, &sql, [job_id], slot).map(Some)
}

/// Slots in a row that no run was made of, the newest first; of one job, or of all.
pub fn slot_ranges(
    connection: &Connection,
    job_id: Option<&str>,
    most: u32,
) -> rusqlite::Result<Option<Vec<SlotRange>>> {
    let Some(columns) = Columns::of(connection, "cron_slot_ranges")? else {
        return Ok(None);
    };
    let sql = format!(
        "{} WHERE ?1 IS NULL OR job_id = ?1 ORDER BY last_at DESC LIMIT {most}",
        columns.select(&RANGE)
    );
    let range = |row: Fields<'_>| SlotRange {
        job_id: row.text_or_empty("job_id"),
        first_at: row.text_or_empty("first_at"),
        last_at: row.text_or_empty("last_at"),
        count: row.integer("slots"),
        outcome: Outcome::from_word(&row.text_or_empty("outcome")).unwrap_or(Outcome::Skipped),
        reason: row.text("reason"),
    };
    db::rows(connection, &sql, [job_id], range).map(Some)
}

/// The slot that an execution is of; none for a run that somebody asked for.
pub fn slot_of(connection: &Connection, row: &Execution) -> rusqlite::Result<Option<SlotAt>> {
    if let Some(named) = &row.scheduled_instant {
        return Ok(named.at.map(SlotAt::from));
    }
    if Columns::of(connection, "cron_slots")?.is_none() {
        return Ok(None);
    }
    let sql = "SELECT scheduled_at FROM cron_slots WHERE execution_id = ?1";
    let naive: Option<String> = connection
        .prepare_cached(sql)?
        .query_row([&row.id], |row| row.get(0))
        .optional()?;
    let at = naive.and_then(|text| Stamp::from(text).at);
    let is_naive = true;
    Ok(at.map(|at| SlotAt { at, is_naive }))
}

/// When the run of a slot was recorded as over, however it ended. Slots are kept longer than the rows of
/// their executions.
pub fn slot_ran(
    connection: &Connection,
    job_id: &str,
    slot: &str,
) -> rusqlite::Result<Option<Stamp>> {
    if Columns::of(connection, "cron_slots")?.is_none() {
        return Ok(None);
    }
    let sql = "SELECT recorded_at FROM cron_slots
         WHERE job_id = ?1 AND scheduled_at = ?2 AND outcome = 'run'";
    let recorded: Option<String> = connection
        .prepare_cached(sql)?
        .query_row([job_id, slot], |row| row.get(0))
        .optional()?;
    Ok(recorded.map(Stamp::from))
}

fn facts_row(row: Fields<'_>) -> ExecutionFacts {
    ExecutionFacts {
        execution_id: row.text_or_empty("execution_id"),
        mode: row.text_or_empty("mode"),
        manager: row.text("manager"),
        unit: row.text("unit"),
        mechanism: row.text("mechanism"),
        properties: row.text("properties"),
        boot_id: row.text("boot_id"),
        pid1_start: row.integer("pid1_start"),
        worker_pid: row.integer("worker_pid"),
        worker_start: row.integer("worker_start"),
        cause: row.text("cause").map(Cause::from),
        detail: row.text("detail"),
        recorded_at: row.stamp("recorded_at"),
        ended_at: row.stamp("ended_at"),
    }
}

#[cfg(test)]
mod tests;
