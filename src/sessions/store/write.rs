//! The statements of each [`Write`].

use rusqlite::{Connection, params};

use super::record::{Backend, Card, Message, Tick, Write};
use super::schema::TICKS_KEPT;

/// Carries one write out; the caller has the transaction.
pub(super) fn one(connection: &Connection, write: &Write) -> rusqlite::Result<()> {
    match write {
        Write::Card(card) => self::card(connection, card),
        Write::Title(id, title) => connection
            .execute(
                "UPDATE hermes_sessions SET title = ?2 WHERE id = ?1",
                params![id, title],
            )
            .map(drop),
        Write::Message(message) => self::message(connection, message),
        Write::State(id, state) => connection
            .prepare_cached("UPDATE hermes_messages SET state = ?2 WHERE id = ?1")?
            .execute(params![id, state])
            .map(drop),
        Write::Tick(tick) => self::tick(connection, tick),
        Write::NotDriven {
            session_id,
            kind,
            reason,
            due_at,
        } => connection
            .execute(
                "INSERT INTO hermes_timers (session_id, kind, not_driven, due_at)
                 VALUES (?1, ?2, ?3, ?4) ON CONFLICT (session_id, kind)
                 DO UPDATE SET not_driven = excluded.not_driven, due_at = excluded.due_at",
                params![session_id, kind, reason, due_at],
            )
            .map(drop),
        Write::Alive(backend, at) => alive(connection, backend, *at),
        Write::Gone(id) => gone(connection, id),
    }
}

fn card(connection: &Connection, card: &Card) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT OR REPLACE INTO hermes_sessions
         (id, source, title, cwd, model, parent_id, hidden, agent_session, preview, message_count,
          started_at, last_active, ended_at, end_reason)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?;
    let count = i64::try_from(card.message_count).unwrap_or(i64::MAX);
    statement
        .execute(params![
            card.id,
            card.source,
            card.title,
            card.cwd,
            card.model,
            card.parent_id,
            card.hidden,
            card.agent_session,
            card.preview,
            count,
            card.started_at,
            card.last_active,
            card.ended_at,
            card.end_reason,
        ])
        .map(drop)
}

fn message(connection: &Connection, message: &Message) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT OR REPLACE INTO hermes_messages (id, session_id, role, origin, text, at, state)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    statement
        .execute(params![
            message.id,
            message.session_id,
            message.role,
            message.origin,
            message.text,
            message.at,
            message.state,
        ])
        .map(drop)
}

fn tick(connection: &Connection, tick: &Tick) -> rusqlite::Result<()> {
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached(
        "INSERT INTO hermes_ticks
         (session_id, kind, number, missed, claimed_at, ended_at, outcome, detail)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    statement.execute(params![
        tick.session_id,
        tick.kind,
        number(tick.number),
        number(tick.missed),
        tick.claimed_at,
        tick.ended_at,
        tick.outcome,
        tick.detail,
    ])?;
    let mut prune = connection.prepare_cached(
        "DELETE FROM hermes_ticks WHERE session_id = ?1 AND kind = ?2 AND id <=
         (SELECT id FROM hermes_ticks WHERE session_id = ?1 AND kind = ?2
          ORDER BY id DESC LIMIT 1 OFFSET ?3)",
    )?;
    prune
        .execute(params![tick.session_id, tick.kind, TICKS_KEPT])
        .map(drop)
}

/// Deletes a session with all of it, if it is ours: an id of Hermes Agent's has rows of timers too.
pub(super) fn delete(connection: &Connection, id: &str) -> rusqlite::Result<bool> {
    if connection.execute("DELETE FROM hermes_sessions WHERE id = ?1", [id])? == 0 {
        return Ok(false);
    }
    for sql in [
        "DELETE FROM hermes_messages WHERE session_id = ?1",
        "DELETE FROM hermes_timers WHERE session_id = ?1",
        "DELETE FROM hermes_ticks WHERE session_id = ?1",
        "DELETE FROM state_meta WHERE key IN ('loop:' || ?1, 'heartbeat:' || ?1)",
    ] {
        connection.execute(sql, [id])?;
    }
    Ok(true)
}

/// Only where Hermes Agent made the table.
fn has_heartbeats(connection: &Connection) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM sqlite_master WHERE name = 'gateway_heartbeats'")?
        .exists([])
}

fn alive(connection: &Connection, backend: &Backend, at: f64) -> rusqlite::Result<()> {
    if !has_heartbeats(connection)? {
        return Ok(());
    }
    connection
        .execute(
            "INSERT INTO gateway_heartbeats
             (backend_id, pid, started_at, last_heartbeat, profile, host)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (backend_id) DO UPDATE SET last_heartbeat = excluded.last_heartbeat",
            params![
                backend.id,
                backend.pid,
                backend.started_at,
                at,
                backend.profile,
                backend.host
            ],
        )
        .map(drop)
}

fn gone(connection: &Connection, id: &str) -> rusqlite::Result<()> {
    if !has_heartbeats(connection)? {
        return Ok(());
    }
    connection
        .execute("DELETE FROM gateway_heartbeats WHERE backend_id = ?1", [id])
        .map(drop)
}
