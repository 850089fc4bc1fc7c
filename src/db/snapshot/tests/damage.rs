//! Each kind of damage, told apart.

use std::os::unix::fs::PermissionsExt;

use super::*;

#[test]
fn each_kind_of_damage_is_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    assert_eq!(snapshot(&path, &unhurried).unwrap_err(), Damage::Missing);
    assert_eq!(
        snapshot(&path.join("b.db"), &unhurried).unwrap_err(),
        Damage::Missing
    );
    fs::write(&path, "").unwrap();
    assert_eq!(
        snapshot(&path.join("b.db"), &unhurried).unwrap_err(),
        Damage::Missing
    );
    assert_eq!(kind(dir.path()), "empty");
    fs::write(&path, "not a database at all").unwrap();
    assert_eq!(kind(dir.path()), "not-a-database");
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&path, &path).unwrap();
    assert_eq!(
        snapshot(&path, &unhurried).unwrap_err(),
        Damage::Loop(Part::Database)
    );
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(
        snapshot(&path, &unhurried).unwrap_err(),
        Damage::Directory(Part::Database)
    );
    fs::remove_dir(&path).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &path,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    assert_eq!(
        snapshot(&path, &unhurried).unwrap_err(),
        Damage::NotRegular(Part::Database)
    );
    fs::remove_file(&path).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
    assert_eq!(
        snapshot(&path, &unhurried).unwrap_err(),
        Damage::NotRegular(Part::Database)
    );
}

#[test]
fn a_log_that_cannot_be_a_log_is_named() {
    let dir = tempfile::tempdir().unwrap();
    fill(&writer(&dir.path().join("a.db"), "wal"), 0..5);
    fs::create_dir(dir.path().join("a.db-wal")).unwrap();
    assert_eq!(
        snapshot(&dir.path().join("a.db"), &unhurried).unwrap_err(),
        Damage::Directory(Part::Wal)
    );
}

#[test]
fn without_permission_it_could_not_be_checked() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    fill(&writer(&path, "delete"), 0..5);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    match snapshot(&path, &unhurried) {
        // Root reads everything.
        Ok(taken) => assert!(rustix::process::geteuid().is_root() && count(&taken) == 5),
        Err(damage) => {
            assert_eq!(damage, Damage::Permission(Part::Database));
            assert!(damage.could_not_check());
        }
    }
}

#[test]
fn a_cut_and_a_scribbled_database_are_truncated_and_malformed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    fill(&writer(&path, "delete"), 0..200);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 100]).unwrap();
    assert_eq!(kind(dir.path()), "truncated");
    let mut scribbled = whole.clone();
    scribbled[512..].fill(0xee);
    fs::write(&path, &scribbled).unwrap();
    let snapshot = untouched(dir.path()).unwrap();
    let sum = "SELECT sum(n) FROM t";
    let read = snapshot.read(|c| c.query_row(sum, [], |row| row.get::<_, i64>(0)));
    assert_eq!(read.unwrap_err().slug(), "malformed");
    assert_ne!(
        snapshot.complaints(5).unwrap_or(vec!["error".into()]),
        Vec::<String>::new()
    );
}
