//! Sessions that have ended, Hermes Agent's and ours.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rusqlite::Connection;

use super::{OURS, StoredSession, THEIRS, select};
use crate::db::{self, Columns};

/// How many sessions have ended, by their reason.
pub fn ended(connection: &Connection) -> rusqlite::Result<BTreeMap<String, u64>> {
    let mut all = BTreeMap::new();
    for table in [THEIRS.name, OURS.name] {
        let Some(columns) = Columns::of(connection, table)? else {
            continue;
        };
        if !columns.missing(&["ended_at", "end_reason"]).is_empty() {
            continue;
        }
        let sql = format!(
            "SELECT coalesce(end_reason, 'no reason') AS why, count(*) AS n FROM {table} \
             WHERE ended_at IS NOT NULL GROUP BY 1"
        );
        let rows = db::rows(connection, &sql, [], |row| {
            let count = row.integer("n").and_then(|n| u64::try_from(n).ok());
            (row.text_or_empty("why"), count.unwrap_or(0))
        })?;
        for (why, count) in rows {
            *all.entry(why).or_insert(0) += count;
        }
    }
    Ok(all)
}

/// Sessions that have ended, those of the newest first that ended last.
pub fn ended_sessions(connection: &Connection, most: u32) -> rusqlite::Result<Vec<StoredSession>> {
    let mut all = Vec::new();
    for table in [&THEIRS, &OURS] {
        let condition = ("WHERE ended_at IS NOT NULL", []);
        let found = select(connection, table, &["ended_at"], condition, most)?;
        all.extend(found.unwrap_or_default());
    }
    all.sort_by_key(|session| Reverse(session.ended_at));
    all.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_past_of_both_programs_is_one() {
        let connection = Connection::open_in_memory().unwrap();
        assert!(ended(&connection).unwrap().is_empty());
        assert!(ended_sessions(&connection, 9).unwrap().is_empty());
        connection
            .execute_batch(
                "CREATE TABLE sessions(id TEXT, source TEXT, started_at REAL, ended_at REAL, end_reason TEXT);
                CREATE TABLE hermes_sessions(id TEXT, source TEXT, last_active REAL, ended_at REAL, end_reason TEXT);
                INSERT INTO sessions VALUES ('a', 'tui', 1, NULL, NULL), ('b', 'tui', 2, 5, 'tui_close'),
                    ('c', 'cli', 3, 6, NULL);
                INSERT INTO hermes_sessions VALUES ('d', 'cli', 4, 7, 'tui_close'), ('e', 'cli', 4, NULL, NULL);",
            )
            .unwrap();
        let counts = ended(&connection).unwrap();
        assert_eq!((counts["tui_close"], counts["no reason"]), (2, 1));
        let ids = |most| {
            let found = ended_sessions(&connection, most).unwrap();
            found.into_iter().map(|one| one.id).collect::<Vec<_>>()
        };
        assert_eq!(ids(9), ["d", "c", "b"]);
        assert_eq!(ids(1), ["d"]);
    }
}
