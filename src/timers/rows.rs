//! Readers of `state_meta` about timers: typed rows, each with its text or with what is wrong.
//!
//! A row that cannot be read is an answer, not an absence: it keeps its place among the others, and
//! its text stays for whoever writes. `None` is the answer for a store without the table.

use rusqlite::{Connection, OptionalExtension};

use super::goal_row::GoalRow;
use super::heartbeat_row::HeartbeatRow;
use super::loop_row::LoopRow;
use super::row::RowError;
use crate::db::{self, Columns, Fields};

/// What timers of a kind are stored under, before the id of the session.
const LOOP: &str = "loop:";
const HEARTBEAT: &str = "heartbeat:";
const GOAL: &str = "goal:";

/// One row: whose it is, what is written, and what that means.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored<T> {
    /// The stored session it belongs to.
    pub session_id: String,
    /// The text, as stored: what a compare-and-swap compares.
    pub text: String,
    /// What the text means, or why it means nothing.
    pub row: Result<T, RowError>,
}

impl<T> Stored<T> {
    fn parse(session_id: &str, text: String, parse: fn(&str) -> Result<T, RowError>) -> Self {
        let row = parse(&text);
        let session_id = session_id.to_owned();
        Self {
            session_id,
            text,
            row,
        }
    }
}

/// All loops, by session.
pub fn loops(connection: &Connection, most: u32) -> rusqlite::Result<Option<Vec<Stored<LoopRow>>>> {
    all(connection, LOOP, most, LoopRow::parse)
}

/// All heartbeats, by session.
pub fn heartbeats(
    connection: &Connection,
    most: u32,
) -> rusqlite::Result<Option<Vec<Stored<HeartbeatRow>>>> {
    all(connection, HEARTBEAT, most, HeartbeatRow::parse)
}

/// All goals, by session.
pub fn goals(connection: &Connection, most: u32) -> rusqlite::Result<Option<Vec<Stored<GoalRow>>>> {
    all(connection, GOAL, most, GoalRow::parse)
}

/// The loop of a session.
pub fn loop_of(
    connection: &Connection,
    session_id: &str,
) -> rusqlite::Result<Option<Stored<LoopRow>>> {
    one(connection, LOOP, session_id, LoopRow::parse)
}

/// The heartbeat of a session.
pub fn heartbeat_of(
    connection: &Connection,
    session_id: &str,
) -> rusqlite::Result<Option<Stored<HeartbeatRow>>> {
    one(connection, HEARTBEAT, session_id, HeartbeatRow::parse)
}

/// The goal of a session.
pub fn goal_of(
    connection: &Connection,
    session_id: &str,
) -> rusqlite::Result<Option<Stored<GoalRow>>> {
    one(connection, GOAL, session_id, GoalRow::parse)
}

fn all<T>(
    connection: &Connection,
    prefix: &str,
    most: u32,
    parse: fn(&str) -> Result<T, RowError>,
) -> rusqlite::Result<Option<Vec<Stored<T>>>> {
    let Some(columns) = Columns::of(connection, "state_meta")? else {
        return Ok(None);
    };
    // A range, so that the key's index finds them among all else that lies in the table.
    let end = prefix.replace(':', ";");
    let sql = format!(
        "{} WHERE key >= ?1 AND key < ?2 ORDER BY key LIMIT {most}",
        columns.select(&["key", "value"])
    );
    let rows = db::rows(connection, &sql, [prefix, &end], |row| {
        let key = row.text_or_empty("key");
        let session_id = key.strip_prefix(prefix).unwrap_or(&key);
        Stored::parse(session_id, row.text_or_empty("value"), parse)
    })?;
    Ok(Some(rows))
}

fn one<T>(
    connection: &Connection,
    prefix: &str,
    session_id: &str,
    parse: fn(&str) -> Result<T, RowError>,
) -> rusqlite::Result<Option<Stored<T>>> {
    if Columns::of(connection, "state_meta")?.is_none() {
        return Ok(None);
    }
    let mut query = connection.prepare_cached("SELECT value FROM state_meta WHERE key = ?1")?;
    let text = query
        .query_row([format!("{prefix}{session_id}")], |row| {
            Ok(Fields::of(row).text_or_empty("value"))
        })
        .optional()?;
    Ok(text.map(|text| Stored::parse(session_id, text, parse)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::row::Status;
    use super::*;

    fn sample() -> db::Snapshot {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/stores/state.db");
        db::snapshot(&path, &|_| ()).unwrap()
    }

    #[test]
    fn the_other_programs_timers_are_read() {
        let found = sample().read(|c| loops(c, 10)).unwrap().unwrap();
        let status: Vec<_> = found
            .iter()
            .map(|row| &row.row.as_ref().unwrap().status)
            .collect();
        assert_eq!(status, [&Status::Active, &Status::Paused]);
        assert_eq!(found[0].session_id, "20260101_090000_aaaaaa");
        assert!(found[1].row.as_ref().unwrap().is_routed());
        let beats = sample().read(|c| heartbeats(c, 10)).unwrap().unwrap();
        assert_eq!(beats[0].row.as_ref().unwrap().interval_seconds, 600);
        let goal = sample()
            .read(|c| goal_of(c, "20260101_093000_cccccc"))
            .unwrap()
            .unwrap();
        assert_eq!(goal.row.unwrap().goal, "ship the sample");
        let goals = sample().read(|c| goals(c, 10)).unwrap().unwrap();
        assert_eq!(goals.len(), 1);
        let one = sample().read(|c| loop_of(c, &found[0].session_id)).unwrap();
        assert_eq!(one.as_ref(), Some(&found[0]));
        assert_eq!(sample().read(|c| heartbeat_of(c, "none")).unwrap(), None);
    }

    #[test]
    fn an_unreadable_row_keeps_its_place_and_its_text() {
        let connection = Connection::open_in_memory().unwrap();
        assert_eq!(loops(&connection, 10).unwrap(), None);
        assert_eq!(loop_of(&connection, "a").unwrap(), None);
        connection
            .execute_batch(
                r#"CREATE TABLE state_meta(key TEXT PRIMARY KEY, value TEXT);
                INSERT INTO state_meta VALUES ('loop:a', '{"prompt": "x"}'), ('loop:b', '{'),
                  ('loop:c', NULL), ('loops', 'not one'), ('heartbeat:a', '[]')"#,
            )
            .unwrap();
        let found = loops(&connection, 10).unwrap().unwrap();
        let read: Vec<_> = found
            .iter()
            .map(|row| (row.session_id.as_str(), row.text.as_str(), row.row.is_ok()))
            .collect();
        assert_eq!(
            read,
            [
                ("a", r#"{"prompt": "x"}"#, true),
                ("b", "{", false),
                ("c", "", false)
            ]
        );
        assert!(
            heartbeats(&connection, 10).unwrap().unwrap()[0]
                .row
                .is_err()
        );
        assert_eq!(loops(&connection, 1).unwrap().unwrap().len(), 1);
    }
}
