//! Which sessions a name means, ours and Hermes Agent's, for all who have no serve to ask.

use rusqlite::{Connection, params};

use crate::db::Columns;

/// A session that a name may mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Its id.
    pub id: String,
    /// Whether it is ours.
    pub ours: bool,
}

/// What a name may be, in this order.
const WAYS: [&str; 3] = [
    "id = ?1",
    "title = ?1",
    "length(?1) > 0 AND substr(id, 1, length(?1)) = ?1",
];

/// The sessions that a name may mean: the one with this id, else those of ours with this title, else
/// those whose id begins with it. Ended ones count, and those of which only a timer is left.
///
/// # Errors
/// When SQLite refuses.
pub fn named(connection: &Connection, name: &str, most: u32) -> rusqlite::Result<Vec<Named>> {
    let mut all = Vec::new();
    for (table, select) in [
        (
            "hermes_sessions",
            "SELECT id, 1 AS ours, title FROM hermes_sessions",
        ),
        (
            "sessions",
            "SELECT id, 0 AS ours, NULL AS title FROM sessions",
        ),
        (
            "state_meta",
            "SELECT substr(key, instr(key, ':') + 1) AS id, 0 AS ours, NULL AS title
             FROM state_meta WHERE key GLOB 'loop:*' OR key GLOB 'heartbeat:*'",
        ),
    ] {
        if Columns::of(connection, table)?.is_some() {
            all.push(select);
        }
    }
    if all.is_empty() {
        return Ok(Vec::new());
    }
    let all = all.join(" UNION ALL ");
    for way in WAYS {
        let sql = format!(
            "SELECT id, max(ours) FROM ({all}) WHERE {way} GROUP BY id ORDER BY id LIMIT ?2"
        );
        let found = connection
            .prepare(&sql)?
            .query_map(params![name, most], |row| {
                Ok(Named {
                    id: row.get(0)?,
                    ours: row.get(1)?,
                })
            })?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}
