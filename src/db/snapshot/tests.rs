//! Snapshots against databases as writers leave them: live, idle, killed, broken.
//!
//! Killed writers are copies of the files taken while the writer was in the middle of its work:
//! byte for byte what a power cut leaves.

mod corruption;
mod damage;
mod live;
mod states;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;

use tempfile::TempDir;

use super::*;
use crate::db::testing::{fill, writer};

fn unhurried(_: Duration) {}

fn count(snapshot: &Snapshot) -> u32 {
    snapshot
        .read(|c| c.query_row("SELECT count(*) FROM t", [], |row| row.get(0)))
        .unwrap()
}

/// Copies the files of a store as they are now, as a crash would leave them.
fn crashed(store: &Path, parts: &[&str]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for suffix in parts {
        let name = format!("a.db{suffix}");
        fs::copy(store.join(&name), dir.path().join(name)).unwrap();
    }
    dir
}

type Look = BTreeMap<String, (Vec<u8>, u64, i64, i64)>;

/// Names, bytes, inodes and times of all that lies in a directory, and the directory's own time.
fn look(dir: &Path) -> (Look, i64, i64) {
    let files = fs::read_dir(dir)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let meta = entry.metadata().unwrap();
            let bytes = fs::read(entry.path()).unwrap();
            (
                entry.file_name().into_string().unwrap(),
                (bytes, meta.ino(), meta.mtime(), meta.mtime_nsec()),
            )
        })
        .collect();
    let meta = fs::metadata(dir).unwrap();
    (files, meta.mtime(), meta.mtime_nsec())
}

/// Takes a snapshot and proves that it left no trace.
fn untouched(dir: &Path) -> Result<Snapshot, Damage> {
    let before = look(dir);
    let taken = snapshot(&dir.join("a.db"), &unhurried);
    assert_eq!(before, look(dir));
    taken
}

fn kind(dir: &Path) -> &'static str {
    untouched(dir).unwrap_err().slug()
}
