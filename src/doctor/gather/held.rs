//! Locks on databases that keep others from writing, seen twice: writers are done within milliseconds.

use std::time::Duration;

use crate::db;
use crate::doctor::evidence::Read;
use crate::doctor::evidence::read::{Trouble, TroubleKind};
use crate::home::Home;
use crate::host::locks::{SqliteLock, SqliteRole, sqlite_locks};

/// Between the two looks: many times what a commit takes.
const BETWEEN: Duration = Duration::from_millis(40);

/// Looks at the databases of a home. Never in a process that has one of them open by SQLite.
pub(super) fn look(home: &Home) -> Read<Vec<(&'static str, SqliteLock)>> {
    let twice = || {
        let first = held(home)?;
        if first.is_empty() {
            return Ok(first);
        }
        db::wait(BETWEEN);
        let again = held(home)?;
        let stays = |seen: &(&str, SqliteLock)| again.contains(seen);
        Ok(first.into_iter().filter(stays).collect())
    };
    twice().map_or_else(
        |why: String| Read::Unreadable(Trouble::new(TroubleKind::CouldNotCheck, "locks", why)),
        Read::Got,
    )
}

/// Each database that somebody keeps others from writing now.
fn held(home: &Home) -> Result<Vec<(&'static str, SqliteLock)>, String> {
    let mut held = Vec::new();
    for name in ["cron/executions.db", "state.db", "kanban.db"] {
        let mut locks = sqlite_locks(&home.join(name))?.into_iter();
        let writing = |lock: &SqliteLock| {
            matches!(
                lock.role,
                SqliteRole::Exclusive
                    | SqliteRole::Pending
                    | SqliteRole::Writing
                    | SqliteRole::WalWriter
            ) && lock.holder.is_held()
        };
        held.extend(locks.find(writing).map(|lock| (name, lock)));
    }
    Ok(held)
}
