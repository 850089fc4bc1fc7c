//! Connections of the runtime to stores that other programs use at the same time.
//!
//! Short transactions, a busy timeout instead of retries of our own. The journal mode of a store is
//! never changed: a new one gets SQLite's default, and the program that wants WAL switches to it.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::damage::{Damage, Part};

/// How long a connection waits for the lock of another one; Hermes Agent waits as long.
pub const BUSY: Duration = Duration::from_secs(5);

/// Opens a store for reading and writing; it must be there.
pub fn connect(database: &Path) -> Result<Connection, Damage> {
    regular(database)?;
    open(database, OpenFlags::SQLITE_OPEN_READ_WRITE)
}

/// Opens a store for reading and writing, and makes it if it is not there.
pub fn connect_or_create(database: &Path) -> Result<Connection, Damage> {
    match regular(database) {
        Ok(()) | Err(Damage::Missing) => open(
            database,
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        ),
        Err(damage) => Err(damage),
    }
}

/// A store that root has made belongs to the owner of its directory, who has to go on with it. By its
/// name alone, as everything about a store that this process has open.
///
/// # Errors
/// When it cannot be given away.
pub fn give(database: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let directory = std::fs::metadata(database.parent().unwrap_or(Path::new("/")))?;
    let own = std::fs::metadata(database)?;
    if !rustix::process::geteuid().is_root() || own.uid() == directory.uid() {
        return Ok(());
    }
    match std::os::unix::fs::lchown(database, Some(directory.uid()), Some(directory.gid())) {
        // A root that may not give files away keeps them, as everywhere else.
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Ok(()),
        given => given,
    }
}

/// Begins a transaction that holds the write lock from its start, so that it cannot fail half way.
pub fn immediate(connection: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
}

/// By a look at the name only: opening and closing the file would drop this process's locks on it.
fn regular(database: &Path) -> Result<(), Damage> {
    let meta = std::fs::metadata(database).map_err(|e| Damage::of_io(Part::Database, &e))?;
    if meta.is_dir() {
        Err(Damage::Directory(Part::Database))
    } else if meta.is_file() {
        Ok(())
    } else {
        Err(Damage::NotRegular(Part::Database))
    }
}

#[expect(clippy::disallowed_methods, reason = "this is `db`")]
fn open(database: &Path, flags: OpenFlags) -> Result<Connection, Damage> {
    let prepare = || {
        let connection =
            Connection::open_with_flags(database, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        connection.busy_timeout(BUSY)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        // Touches the header, so that what is no database is refused here and not half way.
        connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))?;
        Ok(connection)
    };
    prepare().map_err(|error| Damage::of_sqlite(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(connection: &Connection) -> String {
        connection
            .pragma_query_value(None, "journal_mode", |row| row.get(0))
            .unwrap()
    }

    #[test]
    fn the_journal_mode_of_a_store_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        assert_eq!(connect(&path).unwrap_err(), Damage::Missing);
        let connection = connect_or_create(&path).unwrap();
        assert_eq!(mode(&connection), "delete");
        connection
            .pragma_update(None, "journal_mode", "wal")
            .unwrap();
        drop(connection);
        assert_eq!(mode(&connect(&path).unwrap()), "wal");
    }

    #[test]
    fn what_is_no_database_is_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(
            connect_or_create(dir.path()).unwrap_err(),
            Damage::Directory(Part::Database)
        );
        let path = dir.path().join("a.db");
        std::fs::write(&path, [b'x'; 4096]).unwrap();
        assert_eq!(connect(&path).unwrap_err().slug(), "not-a-database");
    }

    #[test]
    fn a_transaction_holds_the_write_lock_from_its_start() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        let mut first = connect_or_create(&path).unwrap();
        let mut second = connect(&path).unwrap();
        second.busy_timeout(Duration::ZERO).unwrap();
        let held = immediate(&mut first).unwrap();
        assert!(immediate(&mut second).is_err());
        drop(held);
        assert!(immediate(&mut second).is_ok());
    }
}
