//! A writer that lives, in another process: this one must not lose its locks.

use super::*;
use crate::db::testing::Writer;

#[test]
fn a_live_writer_is_not_felt_and_not_seen_before_its_commit() {
    for mode in ["wal", "delete"] {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = Writer::start(&dir.path().join("a.db"), mode);
        assert_eq!(count(&untouched(dir.path()).unwrap()), 40, "{mode}");
        writer.say("COMMIT", "done");
        assert_eq!(count(&untouched(dir.path()).unwrap()), 60, "{mode}");
        writer.say("BEGIN EXCLUSIVE; DELETE FROM t", "done");
        assert_eq!(count(&untouched(dir.path()).unwrap()), 60, "{mode}");
        writer.say("COMMIT", "done");
        if mode == "wal" {
            // A reader that took a lock would make this checkpoint answer "busy".
            writer.say("PRAGMA wal_checkpoint(truncate)", "done");
            assert_eq!(fs::metadata(dir.path().join("a.db-wal")).unwrap().len(), 0);
        }
        assert_eq!(count(&untouched(dir.path()).unwrap()), 0, "{mode}");
    }
}
