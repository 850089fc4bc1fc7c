//! Writers that ended, were killed, or left more than can be copied.

use std::cell::Cell;

use super::*;

#[test]
fn a_closed_wal_database_is_read_and_gets_no_files_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    fill(&writer(&dir.path().join("a.db"), "wal"), 0..50);
    let snapshot = untouched(dir.path()).unwrap();
    assert_eq!(count(&snapshot), 50);
    assert!(snapshot.facts().wal_mode);
    assert_eq!(snapshot.complaints(5).unwrap(), Vec::<String>::new());
    assert_eq!(look(dir.path()).0.len(), 1);
}

#[test]
fn a_killed_wal_writer_leaves_its_commits_and_not_its_open_transaction() {
    let dir = tempfile::tempdir().unwrap();
    let connection = writer(&dir.path().join("a.db"), "wal");
    connection
        .pragma_update(None, "wal_autocheckpoint", 0)
        .unwrap();
    fill(&connection, 0..30);
    connection.pragma_update(None, "cache_size", 2).unwrap();
    connection.execute_batch("BEGIN; DELETE FROM t; ").unwrap();
    fill(&connection, 0..400);
    for parts in [&["", "-wal"][..], &["", "-wal", "-shm"]] {
        let crash = crashed(dir.path(), parts);
        let snapshot = untouched(crash.path()).unwrap();
        assert_eq!(count(&snapshot), 30);
        assert!(snapshot.facts().wal_frames > 0);
        assert_eq!(snapshot.complaints(5).unwrap(), Vec::<String>::new());
    }
}

#[test]
fn a_hot_journal_is_rolled_back_in_the_copy() {
    for mode in ["delete", "truncate", "persist"] {
        let dir = tempfile::tempdir().unwrap();
        let connection = writer(&dir.path().join("a.db"), mode);
        fill(&connection, 0..200);
        connection.pragma_update(None, "cache_size", 2).unwrap();
        connection
            .execute_batch("BEGIN; UPDATE t SET n = n + 1000")
            .unwrap();
        fill(&connection, 0..200);
        let crash = crashed(dir.path(), &["", "-journal"]);
        let snapshot = untouched(crash.path()).unwrap();
        assert!(snapshot.facts().rolled_back, "{mode}");
        let (rows, largest): (u32, u32) = snapshot
            .read(|c| {
                c.query_row("SELECT count(*), max(n) FROM t", [], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })
            })
            .unwrap();
        assert_eq!((rows, largest), (200, 199), "{mode}");
        assert_eq!(snapshot.complaints(5).unwrap(), Vec::<String>::new());
    }
}

#[test]
fn a_store_that_keeps_changing_is_unsteady_after_twenty_tries() {
    let waited = Cell::new(Duration::ZERO);
    let pause = |time| waited.set(waited.get() + time);
    let never = attempt(&pause, |_| Ok(None::<()>));
    assert_eq!(never, Err(Damage::Unsteady { tries: 20 }));
    assert_eq!(waited.replace(Duration::ZERO), Duration::from_millis(420));
    assert_eq!(
        attempt(&pause, |tries| Ok((tries == 3).then_some(tries))),
        Ok(3)
    );
    assert_eq!(waited.get(), Duration::from_millis(6));
}

#[test]
fn marks_forgive_a_checkpoint_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    let connection = writer(&path, "wal");
    fill(&connection, 0..5);
    let before = files::mark(&path).unwrap();
    connection
        .execute_batch("PRAGMA wal_checkpoint(full)")
        .unwrap();
    let after = files::mark(&path).unwrap();
    assert!(before.holds(&after) && !before.same(&after));
    // The log begins anew with the next commit: other salts.
    fill(&connection, 5..6);
    assert!(!after.holds(&files::mark(&path).unwrap()));
    connection
        .execute_batch("PRAGMA wal_checkpoint(truncate)")
        .unwrap();
    let empty = files::mark(&path).unwrap();
    assert!(empty.holds(&files::mark(&path).unwrap()));
    fill(&connection, 6..7);
    assert!(!empty.holds(&files::mark(&path).unwrap()));
    let held = files::mark(&path).unwrap();
    fs::copy(&path, dir.path().join("new")).unwrap();
    fs::rename(dir.path().join("new"), &path).unwrap();
    assert!(!held.holds(&files::mark(&path).unwrap()));
}

#[test]
fn a_large_file_is_read_in_place_while_nothing_but_the_file_holds_content() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a odd%?name.db");
    let connection = writer(&path, "wal");
    fill(&connection, 0..50);
    connection
        .execute_batch("PRAGMA wal_checkpoint(truncate)")
        .unwrap();
    let size = fs::metadata(&path).unwrap().len();
    let taken = take(&path, size - 1, &unhurried).unwrap();
    assert_eq!(count(&taken), 50);
    fill(&connection, 50..51);
    let read =
        taken.read(|c| c.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, u32>(0)));
    assert_eq!(read, Err(Damage::Unsteady { tries: 1 }));
    assert_eq!(
        take(&path, size - 1, &unhurried).unwrap_err().slug(),
        "too-large"
    );
    connection
        .execute_batch("PRAGMA wal_checkpoint(full)")
        .unwrap();
    assert_eq!(count(&take(&path, size - 1, &unhurried).unwrap()), 51);
}

#[test]
fn a_log_too_long_to_read_is_not_cut_short() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    let connection = writer(&path, "wal");
    fill(&connection, 0..50);
    let size = fs::metadata(&path).unwrap().len();
    let log = fs::metadata(dir.path().join("a.db-wal")).unwrap().len();
    assert!(size < log);
    let taken = take(&path, size, &unhurried);
    assert_eq!(taken.unwrap_err(), Damage::TooLarge { size: log });
}
