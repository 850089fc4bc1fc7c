//! Locks on databases that keep others from writing, seen twice: writers are done within milliseconds.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::stores::DATABASES;
use crate::db;
use crate::doctor::evidence::Read;
use crate::doctor::evidence::read::{Trouble, TroubleKind};
use crate::home::Home;
use crate::host::locks::{SqliteLock, SqliteRole, sqlite_locks};

/// Between the two looks: many times what a commit takes.
const BETWEEN: Duration = Duration::from_millis(40);

/// Looks at the databases of a home. Never in a process that has one of them open by SQLite.
pub(super) fn look(home: &Home) -> BTreeMap<&'static str, Read<SqliteLock>> {
    let mut seen = held(home);
    if seen.values().any(|lock| lock.got().is_some()) {
        db::wait(BETWEEN);
        let again = held(home);
        seen.retain(|name, lock| lock.trouble().is_some() || again.get(name) == Some(&*lock));
    }
    seen
}

/// Each database that somebody keeps others from writing now, or of which that is not known.
fn held(home: &Home) -> BTreeMap<&'static str, Read<SqliteLock>> {
    let seen = DATABASES.map(|name| (name, writer(&home.join(name))));
    let mut seen = BTreeMap::from(seen);
    seen.retain(|_, lock| !lock.is_absent());
    seen
}

/// Who keeps others from writing this one; who keeps everybody out holds the lesser locks as well.
fn writer(database: &Path) -> Read<SqliteLock> {
    let writing = |lock: &SqliteLock| {
        matches!(
            lock.role,
            SqliteRole::Exclusive
                | SqliteRole::Pending
                | SqliteRole::Writing
                | SqliteRole::WalWriter
        ) && lock.holder.is_held()
    };
    match sqlite_locks(database) {
        Ok(mut locks) => {
            locks.retain(writing);
            locks.sort_by_key(|lock| lock.role != SqliteRole::Exclusive);
            locks.into_iter().next().map_or(Read::Absent, Read::Got)
        }
        Err(why) => Read::Unreadable(Trouble::new(TroubleKind::CouldNotCheck, "locks", why)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::testing::Writer;

    #[test]
    fn b104_who_keeps_everybody_out_does_not_merely_wait_to_write() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = Writer::start(&dir.path().join("kanban.db"), "delete");
        writer.say("COMMIT", "done");
        writer.say("BEGIN EXCLUSIVE", "done");
        let seen = look(&Home::at(dir.path()));
        let lock = seen["kanban.db"].got().unwrap();
        assert_eq!(lock.role, SqliteRole::Exclusive);
        assert_eq!(lock.holder.pids(), [writer.pid()]);
    }

    #[test]
    fn a_database_that_cannot_be_opened_says_nothing_of_the_others() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("kanban.db"), "").unwrap();
        std::os::unix::fs::symlink("state.db", dir.path().join("state.db")).unwrap();
        let seen = look(&Home::at(dir.path()));
        assert_eq!(seen.keys().collect::<Vec<_>>(), [&"state.db"]);
        assert!(seen["state.db"].trouble().is_some(), "{seen:?}");
    }
}
