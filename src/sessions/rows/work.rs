//! Counts and stamps around sessions: when something was last said in one, and what works for
//! one. What was said is never read.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::Connection;

use crate::db::{self, Columns};

/// When the newest message of each open session was written.
pub fn last_messages(
    connection: &Connection,
) -> rusqlite::Result<Option<BTreeMap<String, Timestamp>>> {
    let has = |table, columns: &[&str]| {
        Ok::<_, rusqlite::Error>(
            Columns::of(connection, table)?.is_some_and(|of| of.missing(columns).is_empty()),
        )
    };
    if !has("messages", &["session_id", "timestamp"])? || !has("sessions", &["id", "ended_at"])? {
        return Ok(None);
    }
    let sql = "SELECT s.id AS id, (SELECT max(m.timestamp) FROM messages m WHERE m.session_id = s.id) \
               AS newest FROM sessions s WHERE s.ended_at IS NULL";
    let rows = db::rows(connection, sql, [], |row| {
        (row.text_or_empty("id"), row.instant("newest"))
    })?;
    Ok(Some(
        rows.into_iter()
            .filter_map(|(id, newest)| Some((id, newest?)))
            .collect(),
    ))
}

/// How much delegated work that has not ended each session has.
pub fn delegations(connection: &Connection) -> rusqlite::Result<Option<BTreeMap<String, u32>>> {
    let Some(columns) = Columns::of(connection, "async_delegations")? else {
        return Ok(None);
    };
    if !columns
        .missing(&["origin_session", "completed_at"])
        .is_empty()
    {
        return Ok(None);
    }
    let sql = "SELECT origin_session AS id, count(*) AS n FROM async_delegations \
               WHERE completed_at IS NULL GROUP BY origin_session";
    let rows = db::rows(connection, sql, [], |row| {
        let count = row.integer("n").and_then(|n| u32::try_from(n).ok());
        (row.text_or_empty("id"), count.unwrap_or(u32::MAX))
    })?;
    Ok(Some(rows.into_iter().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_is_not_empty_and_open_work_is_counted() {
        let connection = Connection::open_in_memory().unwrap();
        assert_eq!(last_messages(&connection).unwrap(), None);
        assert_eq!(delegations(&connection).unwrap(), None);
        connection
            .execute_batch(
                "CREATE TABLE sessions(id TEXT, ended_at REAL, end_reason TEXT);
                CREATE TABLE messages(session_id TEXT, timestamp REAL);
                CREATE TABLE async_delegations(origin_session TEXT, completed_at REAL);
                INSERT INTO sessions VALUES ('a', NULL, NULL), ('b', 5, 'tui_close'), ('c', 6, NULL);
                INSERT INTO messages VALUES ('a', 10), ('a', 12.5), ('b', 99);
                INSERT INTO async_delegations VALUES ('a', NULL), ('a', NULL), ('a', 3);",
            )
            .unwrap();
        let newest = last_messages(&connection).unwrap().unwrap();
        assert_eq!(newest.len(), 1);
        assert_eq!(newest["a"], db::instant(12.5).unwrap());
        assert_eq!(delegations(&connection).unwrap().unwrap()["a"], 2);
    }
}
