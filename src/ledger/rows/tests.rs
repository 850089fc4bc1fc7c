//! The readers over a store of the other program, and over stores that are not quite one.

use std::path::Path;

use super::*;
use crate::db::snapshot;

fn sample() -> db::Snapshot {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/stores/executions.db");
    snapshot(&path, &|_| ()).unwrap()
}

#[test]
fn the_other_programs_rows_are_read() {
    let rows = sample().read(|c| executions(c, 10)).unwrap().unwrap();
    assert_eq!(rows.len(), 2);
    let failed = &rows[0];
    assert_eq!(failed.status, Status::Failed);
    assert_eq!(failed.error.as_deref(), Some("Script exited with code 3"));
    assert_eq!(
        (failed.pid, failed.process_started_at),
        (Some(4242), Some(100_000))
    );
    let finished = failed.finished_at.as_ref().unwrap();
    assert_eq!(finished.at.unwrap().as_second(), 1_795_991_998);
    assert!(failed.progress_at.is_none() && !failed.handoff_pending);

    let incident = &sample().read(|c| incidents(c, 10)).unwrap().unwrap()[0];
    assert_eq!(incident.state, IncidentState::Detected);
    assert_eq!(incident.failure_type, "script");
    assert_eq!(sample().read(|c| facts(c, 10)).unwrap(), None);
    assert_eq!(
        sample().read(|c| open_executions(c, 10)).unwrap(),
        Some(vec![])
    );
    let one = sample()
        .read(|c| executions_of(c, "a49f6beb5b17", 10))
        .unwrap()
        .unwrap();
    assert_eq!(one[0].id, "18f632c3286d4db296a1ac64b3108210");
    let same = sample().read(|c| execution_by_id(c, &one[0].id)).unwrap();
    assert_eq!(same.as_ref(), Some(&one[0]));
    let reach = sample().read(reach).unwrap().unwrap();
    assert_eq!(reach.rows, 2);
    assert!(
        reach
            .oldest_end
            .unwrap()
            .text
            .starts_with("2026-11-29T23:39:58.08")
    );
}

#[test]
fn other_versions_and_odd_values_are_read_as_far_as_they_go() {
    let connection = Connection::open_in_memory().unwrap();
    assert_eq!(executions(&connection, 10).unwrap(), None);
    assert_eq!(reach(&connection).unwrap(), None);
    connection
        .execute_batch(
            "CREATE TABLE executions(id TEXT, job_id TEXT, status TEXT, claimed_at TEXT, pid);
             INSERT INTO executions VALUES ('a', 'j', 'parked', '2026-01-01T00:00:00', 'x'),
               (x'62ff', 'j', 'running', '2026-01-02T00:00:00+00:00', 7.0);
             CREATE TABLE cron_incidents(id TEXT)",
        )
        .unwrap();
    let rows = executions(&connection, 10).unwrap().unwrap();
    assert_eq!(rows[0].id, "b\u{fffd}");
    assert_eq!((rows[0].pid, rows[1].pid), (Some(7), None));
    assert_eq!(rows[1].status, Status::Other("parked".to_owned()));
    assert_eq!(rows[1].claimed_at.as_ref().unwrap().at, None);
    assert_eq!(open_executions(&connection, 10).unwrap().unwrap().len(), 1);
    assert_eq!(executions(&connection, 1).unwrap().unwrap().len(), 1);
    assert_eq!(reach(&connection).unwrap(), None);
    assert_eq!(incidents(&connection, 10).unwrap(), Some(vec![]));
    connection
        .execute_batch("DROP TABLE executions; CREATE TABLE executions(x)")
        .unwrap();
    assert_eq!(open_executions(&connection, 10).unwrap(), Some(vec![]));
}

#[test]
fn the_oldest_end_is_the_oldest_instant_not_the_smallest_text() {
    let connection = Connection::open_in_memory().unwrap();
    connection
        .execute_batch(
            "CREATE TABLE executions(id TEXT, finished_at TEXT);
             INSERT INTO executions VALUES ('a', '2026-10-25T02:10:00+01:00'),
               ('b', '2026-10-25T02:50:00+02:00'), ('c', NULL)",
        )
        .unwrap();
    let reach = reach(&connection).unwrap().unwrap();
    assert_eq!(reach.oldest_end.unwrap().text, "2026-10-25T02:50:00+02:00");
    assert_eq!(reach.rows, 3);
}

#[test]
fn our_own_table_lives_beside_theirs_and_follows_its_pruning() {
    let connection = Connection::open_in_memory().unwrap();
    connection
        .execute_batch("CREATE TABLE executions(id TEXT PRIMARY KEY)")
        .unwrap();
    connection
        .execute_batch(crate::ledger::facts::SCHEMA)
        .unwrap();
    connection
        .execute_batch(crate::ledger::facts::SCHEMA)
        .unwrap();
    connection
        .execute_batch(
            "INSERT INTO executions VALUES ('e1');
             INSERT INTO execution_facts(execution_id, mode, worker_pid, cause, recorded_at)
             VALUES ('e1', 'scoped', 12, 'oom', '2026-01-01T00:00:00Z'),
               ('e0', 'degraded', 11, NULL, '2026-01-01T00:00:00Z')",
        )
        .unwrap();
    connection
        .execute_batch(crate::ledger::facts::PRUNE)
        .unwrap();
    let rows = facts(&connection, 10).unwrap().unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].cause, Some(Cause::Oom));
    assert_eq!(
        (rows[0].worker_pid, rows[0].mode.as_str()),
        (Some(12), "scoped")
    );
}
