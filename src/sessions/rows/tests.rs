//! The readers over a store of the other program, and over stores that are not quite one.

use std::path::{Path, PathBuf};

use super::*;
use crate::db::{Snapshot, snapshot};
use crate::home::Home;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/stores")
        .join(name)
}

fn sample() -> Snapshot {
    snapshot(&data("state.db"), &|_| ()).unwrap()
}

#[test]
fn the_other_programs_rows_are_read() {
    let all = sample().read(|c| sessions(c, 10)).unwrap().unwrap();
    assert_eq!(all.len(), 3);
    let open = sample().read(|c| open_sessions(c, 10)).unwrap().unwrap();
    assert_eq!(open.len(), 2);
    let reaped = sample()
        .read(|c| session_by_id(c, "20260101_091500_bbbbbb"))
        .unwrap()
        .unwrap();
    assert_eq!(reaped.end_reason.as_deref(), Some("startup_orphan_reap"));
    assert_eq!(reaped.ended_at.unwrap().as_second(), 1_795_992_000);
    assert!(!reaped.pinned && !reaped.archived);

    let beats = sample()
        .read(|c| backend_heartbeats(c, 10))
        .unwrap()
        .unwrap();
    assert_eq!(beats[0].backend_id, "default@sample-host:4242:0badcafe");
    assert_eq!(beats[0].pid, Some(4242));
    assert_eq!(sample().read(schema_version).unwrap(), Some(31));
    assert_eq!(sample().read(|c| routing(c, 10)).unwrap(), Some(vec![]));
    assert_eq!(sample().read(|c| turn_leases(c, 10)).unwrap(), Some(vec![]));
    assert_eq!(
        sample().read(|c| compression_locks(c, 10)).unwrap(),
        Some(vec![])
    );
}

#[test]
fn absent_tables_are_not_empty_ones() {
    let connection = Connection::open_in_memory().unwrap();
    assert_eq!(sessions(&connection, 10).unwrap(), None);
    assert_eq!(backend_heartbeats(&connection, 10).unwrap(), None);
    assert_eq!(routing(&connection, 10).unwrap(), None);
    assert_eq!(turn_leases(&connection, 10).unwrap(), None);
    assert_eq!(schema_version(&connection).unwrap(), None);
    connection
        .execute_batch("CREATE TABLE schema_version(version)")
        .unwrap();
    assert_eq!(schema_version(&connection).unwrap(), None);
}

#[test]
fn routing_entries_and_leases_are_read_one_by_one() {
    let connection = Connection::open_in_memory().unwrap();
    connection
        .execute_batch(
            r#"CREATE TABLE gateway_routing(scope, session_key, entry_json, updated_at);
            INSERT INTO gateway_routing VALUES
              ('', 'a', '{"session_id": "s1", "suspended": false, "origin": {"chat_id": 1}}', 3),
              ('', 'b', '{"session_id": "s2", "suspended": true, "origin": null}', 2),
              ('', 'c', '[1', 1);
            CREATE TABLE session_turn_leases(conversation_id, holder, acquired_at, expires_at);
            INSERT INTO session_turn_leases VALUES ('s1', 'pid:7', 10.5, 70.5)"#,
        )
        .unwrap();
    let rows = routing(&connection, 10).unwrap().unwrap();
    let first = rows[0].entry.as_ref().unwrap();
    assert_eq!(first.session_id.as_deref(), Some("s1"));
    assert!(first.has_origin && !first.suspended);
    let second = rows[1].entry.as_ref().unwrap();
    assert!(!second.has_origin && second.suspended);
    assert!(rows[2].entry.is_err());
    let lease = &turn_leases(&connection, 10).unwrap().unwrap()[0];
    assert_eq!((lease.of.as_str(), lease.holder.as_str()), ("s1", "pid:7"));
    assert_eq!(lease.expires_at.unwrap().as_millisecond(), 70_500);
}

#[test]
fn the_registry_of_live_sessions_is_read_entry_by_entry() {
    let text = std::fs::read(data("active_sessions.json")).unwrap();
    let registry = Registry::parse(&text).unwrap();
    let lease = &registry.leases[0];
    assert_eq!(lease.session_id, "20260101_090000_aaaaaa");
    assert_eq!(lease.live_session_id.as_deref(), Some("2a52ecb1"));
    assert_eq!((lease.pid, registry.unreadable.len()), (Some(4242), 0));

    let odd = Registry::parse(br#"{"entries": [7, {"pid": 1}, {"session_id": "s"}]}"#).unwrap();
    assert_eq!((odd.leases.len(), odd.unreadable.len()), (1, 2));
    assert!(Registry::parse(b"[]").is_err());
    assert!(Registry::parse(b"{").is_err());
}

#[test]
fn an_absent_registry_is_not_an_unreadable_one() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path());
    assert_eq!(read_registry(&home), Ok(None));
    std::fs::create_dir_all(dir.path().join("runtime/active_sessions.json")).unwrap();
    assert!(read_registry(&home).is_err());
    std::fs::remove_dir(dir.path().join("runtime/active_sessions.json")).unwrap();
    std::fs::copy(
        data("active_sessions.json"),
        dir.path().join("runtime/active_sessions.json"),
    )
    .unwrap();
    assert_eq!(read_registry(&home).unwrap().unwrap().leases.len(), 1);
}
