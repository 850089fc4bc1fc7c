//! The field cases: each has a test with its id in its name.

use std::collections::BTreeSet;
use std::path::Path;

/// Ids, by what they are about.
const CASES: &[(&str, &[u16])] = &[
    (
        "restart-safe scopes, user bus, linger",
        &[
            1, 2, 3, 5, 7, 8, 9, 10, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26,
            27, 28, 29, 30, 31, 32, 33, 34,
        ],
    ),
    (
        "the ticker, its heartbeat, lock and descriptors",
        &[
            35, 36, 37, 39, 40, 41, 42, 43, 44, 45, 47, 48, 49, 50, 51, 52,
        ],
    ),
    ("the job store", &[53, 54, 55, 56, 57, 59, 60, 61, 62, 63]),
    (
        "time zones, daylight saving, clocks",
        &[64, 65, 66, 68, 69, 70, 71, 72, 73],
    ),
    (
        "missed runs, one-shots, catching up",
        &[
            74, 75, 76, 77, 78, 79, 80, 81, 82, 84, 85, 86, 87, 88, 89, 90, 91, 92,
        ],
    ),
    (
        "the ledger, claims, owners",
        &[
            94, 95, 96, 97, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108,
        ],
    ),
    (
        "two schedulers, restarts, updates",
        &[109, 111, 112, 113, 114],
    ),
    (
        "loops and heartbeats",
        &[115, 116, 118, 119, 120, 121, 122, 123, 124, 125, 126],
    ),
    (
        "sessions and reapers",
        &[128, 129, 130, 132, 133, 134, 135, 136, 138, 139, 140],
    ),
    ("what a diagnostic prints", &[141, 142, 143, 144]),
];

/// Ids in the names of the tests of this file tree.
fn named(directory: &Path, found: &mut BTreeSet<u16>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            named(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source file");
            let names = text.lines().filter_map(|line| {
                let (_, name) = line.trim_start().split_once("fn ")?;
                name.split('(').next()
            });
            let ids = names.flat_map(|name| name.split('_'));
            found.extend(ids.filter_map(|word| word.strip_prefix('b')?.parse::<u16>().ok()));
        }
    }
}

#[test]
fn every_field_case_is_named_by_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeSet::new();
    for directory in ["src", "tests"] {
        named(&root.join(directory), &mut found);
    }
    let mut holes = Vec::new();
    for (about, ids) in CASES {
        let missing = ids.iter().filter(|id| !found.contains(id));
        holes.extend(missing.map(|id| format!("B{id:02} ({about})")));
    }
    assert!(holes.is_empty(), "without a test: {holes:?}");
}
