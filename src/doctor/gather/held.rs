//! Locks on databases that keep others from writing, seen twice: writers are done within milliseconds.

use std::time::Duration;

use crate::db;
use crate::home::Home;
use crate::host::locks::{SqliteLock, SqliteRole, sqlite_locks};

/// Between the two looks: many times what a commit takes.
const BETWEEN: Duration = Duration::from_millis(40);

/// Looks at the databases of a home. Never in a process that has one of them open by SQLite.
pub(super) fn look(home: &Home) -> Vec<(&'static str, SqliteLock)> {
    let names = ["cron/executions.db", "state.db", "kanban.db"];
    let held = |name: &'static str| {
        let locks = sqlite_locks(&home.join(name)).unwrap_or_default();
        let writing = |lock: &SqliteLock| {
            matches!(
                lock.role,
                SqliteRole::Exclusive
                    | SqliteRole::Pending
                    | SqliteRole::Writing
                    | SqliteRole::WalWriter
            ) && lock.holder.is_held()
        };
        locks.into_iter().find(writing).map(|lock| (name, lock))
    };
    let first: Vec<_> = names.into_iter().filter_map(held).collect();
    if first.is_empty() {
        return first;
    }
    db::wait(BETWEEN);
    let again: Vec<_> = names.into_iter().filter_map(held).collect();
    first
        .into_iter()
        .filter(|seen| again.contains(seen))
        .collect()
}
