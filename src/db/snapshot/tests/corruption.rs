//! Arbitrary bytes: always an answer.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;

type Files = Vec<(&'static str, Vec<u8>)>;

static SPECIMENS: LazyLock<Vec<Files>> = LazyLock::new(specimens);

/// A crashed store of each mode: its files with their bytes.
fn specimens() -> Vec<Files> {
    let mut out = Vec::new();
    for (mode, beside) in [("wal", "-wal"), ("delete", "-journal")] {
        let dir = tempfile::tempdir().unwrap();
        let connection = writer(&dir.path().join("a.db"), mode);
        fill(&connection, 0..20);
        connection.pragma_update(None, "cache_size", 2).unwrap();
        connection
            .execute_batch("BEGIN; UPDATE t SET n = n + 1000")
            .unwrap();
        fill(&connection, 0..20);
        let read = |suffix| fs::read(dir.path().join(format!("a.db{suffix}"))).unwrap();
        out.push(vec![("", read("")), (beside, read(beside))]);
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever bytes lie there: an answer, no panic, no endless loop, no trace.
    #[test]
    fn any_corruption_gets_an_answer(
        which in 0_usize..2,
        edits in proptest::collection::vec((any::<bool>(), any::<prop::sample::Index>(), any::<u8>()), 1..24),
        cut in proptest::option::of(any::<prop::sample::Index>()),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut files = SPECIMENS[which].clone();
        for (beside, at, value) in edits {
            let bytes = &mut files[usize::from(beside)].1;
            // Half of the edits go into the headers, where they hurt most.
            let place = if value % 2 == 0 { at.index(bytes.len().min(100)) } else { at.index(bytes.len()) };
            bytes[place] = value;
        }
        if let Some(cut) = cut {
            let bytes = &mut files[1].1;
            let keep = cut.index(bytes.len());
            bytes.truncate(keep);
        }
        for (suffix, bytes) in &files {
            fs::write(dir.path().join(format!("a.db{suffix}")), bytes).unwrap();
        }
        match untouched(dir.path()) {
            Ok(snapshot) => { drop(snapshot.complaints(3)); }
            Err(damage) => prop_assert!(!damage.to_string().is_empty()),
        }
    }

    /// The pure parsers take any bytes at all.
    #[test]
    fn any_bytes_are_parsed(
        image in proptest::collection::vec(any::<u8>(), 0..2048),
        log in proptest::collection::vec(any::<u8>(), 0..2048),
    ) {
        drop(Header::parse(&image, image.len() as u64));
        drop(wal::committed(&log));
        _ = journal::super_journal(&log);
        let mut copy = image.clone();
        drop(journal::roll_back(&log, &mut copy, 4096));
        prop_assert!(copy.len() <= 4096.max(image.len()));
    }
}
