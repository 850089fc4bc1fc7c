//! The promise of the doctor: whole homes are byte for byte, inode for inode and nanosecond for
//! nanosecond what they were, whatever the home and whatever the format.

use std::path::Path;

use crate::common::Sandbox;
use crate::common::tree::{differences, tree};
use crate::common::writer::Writer;

const FORMATS: [&[&str]; 4] = [&[], &["--verbose"], &["--plain"], &["--json"]];

/// Runs the doctor in every format, as the other command too, and compares what lies in the user's
/// home directory before and after.
fn assert_untouched(sandbox: &Sandbox, what: &str) {
    let before = tree(sandbox.user_home());
    for format in FORMATS {
        for command in [["cron", "doctor"].as_slice(), &["doctor"]] {
            let output = sandbox.hermes().args(command).args(format).output();
            let output = output.expect("it runs");
            let code = output.status.code().expect("a code");
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(code <= 3, "{what} {format:?} ended with {code}: {errors}");
            assert!(!output.stdout.is_empty(), "{what} {format:?}: {errors}");
            let found = differences(&before, &tree(sandbox.user_home()));
            assert!(found.is_empty(), "{what} {format:?}:\n{}", found.join("\n"));
        }
    }
}

#[test]
fn no_home_is_not_made() {
    assert_untouched(&Sandbox::new(), "no home");
}

#[test]
fn an_empty_home_stays_empty() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.home()).expect("a home");
    assert_untouched(&sandbox, "an empty home");
}

#[test]
fn the_sample_home_is_untouched() {
    let sandbox = Sandbox::with_sample_home();
    assert_untouched(&sandbox, "the sample home");
}

#[test]
fn damaged_homes_are_untouched() {
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 7] = [
        ("truncated jobs", |home| {
            let path = home.join("cron/jobs.json");
            let text = std::fs::read(&path).expect("jobs");
            std::fs::write(&path, &text[..text.len() / 2]).expect("half of them");
        }),
        ("empty jobs", |home| write(home, "cron/jobs.json", b"")),
        ("jobs with control characters", |home| {
            write(home, "cron/jobs.json", b"{\"jobs\": [\x1b\x00]}");
        }),
        ("a ledger that is no database", |home| {
            write(home, "cron/executions.db", &[b'x'; 8192]);
        }),
        ("a truncated state.db", |home| {
            let path = home.join("state.db");
            let bytes = std::fs::read(&path).expect("a database");
            std::fs::write(&path, &bytes[..bytes.len() / 3]).expect("a third of it");
        }),
        ("a directory for a ledger", |home| {
            std::fs::remove_file(home.join("cron/executions.db")).expect("removed");
            std::fs::create_dir(home.join("cron/executions.db")).expect("a directory");
        }),
        ("a configuration that does not parse", |home| {
            write(home, "config.yaml", b"cron: [unclosed\n\t: x");
        }),
    ];
    for (what, damage) in damages {
        let sandbox = Sandbox::with_sample_home();
        damage(&sandbox.home());
        assert_untouched(&sandbox, what);
    }
}

fn write(home: &Path, relative: &str, content: &[u8]) {
    std::fs::write(home.join(relative), content).expect("a file");
}

#[test]
fn databases_that_a_writer_holds_are_untouched_and_so_is_the_writer() {
    let sandbox = Sandbox::with_sample_home();
    let stores = ["state.db", "cron/executions.db"];
    let writers = stores.map(|store| Writer::hold(&sandbox.home().join(store)));
    assert!(sandbox.home().join("state.db-wal").exists(), "a live WAL");
    assert_untouched(&sandbox, "held databases");
    for writer in writers {
        assert!(
            writer.commit().ends_with("committed 2"),
            "its transaction still stands"
        );
    }
}
