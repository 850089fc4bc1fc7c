//! The Kanban store: whether it is one that can be read, and how many tasks stand where.

use std::collections::BTreeMap;

use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use crate::db::{self, Columns};

/// Columns of `tasks` without which its tasks cannot be judged.
const NEEDED: [&str; 5] = ["id", "status", "claim_lock", "claim_expires", "worker_pid"];
/// Statuses that are told apart; more than that is no vocabulary but damage.
const MOST_STATUSES: u32 = 64;

/// What a Kanban store holds, in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Board {
    /// Columns that were expected in `tasks` and are not there.
    pub missing_columns: Vec<String>,
    /// Tasks by status.
    pub tasks: BTreeMap<String, i64>,
    /// Runs by status; none without the table.
    pub runs: Option<BTreeMap<String, i64>>,
}

/// Looks a board over; none if the store has no `tasks`.
pub fn board(connection: &Connection) -> rusqlite::Result<Option<Board>> {
    let Some(columns) = Columns::of(connection, "tasks")? else {
        return Ok(None);
    };
    let missing = columns.missing(&NEEDED);
    let tasks = by_status(connection, &columns, "tasks")?;
    let runs = match Columns::of(connection, "task_runs")? {
        Some(columns) => Some(by_status(connection, &columns, "task_runs")?),
        None => None,
    };
    Ok(Some(Board {
        missing_columns: missing.into_iter().map(str::to_owned).collect(),
        tasks,
        runs,
    }))
}

fn by_status(
    connection: &Connection,
    columns: &Columns,
    table: &'static str,
) -> rusqlite::Result<BTreeMap<String, i64>> {
    if !columns.has("status") {
        return Ok(BTreeMap::new());
    }
    let sql =
        format!("SELECT status, count(*) AS n FROM {table} GROUP BY status LIMIT {MOST_STATUSES}");
    let rows = db::rows(connection, &sql, [], |row| {
        (row.text_or_empty("status"), row.integer("n").unwrap_or(0))
    })?;
    Ok(rows.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_counted_by_status() {
        let connection = Connection::open_in_memory().unwrap();
        assert_eq!(board(&connection).unwrap(), None);
        connection
            .execute_batch(
                "CREATE TABLE tasks(id TEXT, status TEXT, claim_lock TEXT, worker_pid INTEGER);
                 INSERT INTO tasks(id, status) VALUES ('t_1', 'ready'), ('t_2', 'ready'),
                   ('t_3', 'done')",
            )
            .unwrap();
        let found = board(&connection).unwrap().unwrap();
        assert_eq!(found.missing_columns, ["claim_expires"]);
        let counts: Vec<_> = found.tasks.into_iter().collect();
        assert_eq!(counts, [("done".to_owned(), 1), ("ready".to_owned(), 2)]);
        assert_eq!(found.runs, None);
    }
}
