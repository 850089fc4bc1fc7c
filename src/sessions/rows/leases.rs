//! Leases of one thing at a time: a turn of a conversation, the compression of a session.

use jiff::Timestamp;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use crate::db::{self, Columns};

/// One row of `session_turn_leases` or `compression_locks`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The conversation, or the session.
    pub of: String,
    /// Who has it.
    pub holder: String,
    /// Since when.
    pub acquired_at: Option<Timestamp>,
    /// Until when, if it is not renewed.
    pub expires_at: Option<Timestamp>,
}

/// Leases of turns, the last to expire first.
pub fn turn_leases(connection: &Connection, most: u32) -> rusqlite::Result<Option<Vec<Lease>>> {
    leases(connection, "session_turn_leases", "conversation_id", most)
}

/// Locks of sessions that are being compressed, the last to expire first.
pub fn compression_locks(
    connection: &Connection,
    most: u32,
) -> rusqlite::Result<Option<Vec<Lease>>> {
    leases(connection, "compression_locks", "session_id", most)
}

fn leases(
    connection: &Connection,
    table: &str,
    key: &str,
    most: u32,
) -> rusqlite::Result<Option<Vec<Lease>>> {
    let Some(columns) = Columns::of(connection, table)? else {
        return Ok(None);
    };
    let wanted = [key, "holder", "acquired_at", "expires_at"];
    let order = columns.newest_first("expires_at");
    let sql = format!("{} {order} LIMIT {most}", columns.select(&wanted));
    let rows = db::rows(connection, &sql, [], |row| Lease {
        of: row.text_or_empty(key),
        holder: row.text_or_empty("holder"),
        acquired_at: row.instant("acquired_at"),
        expires_at: row.instant("expires_at"),
    })?;
    Ok(Some(rows))
}
