//! A writer that lives, in another process: this one must not lose its locks.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use super::*;

/// Not a test of its own: the writer that other tests start as a process.
#[test]
#[ignore = "started by other tests, with a path on stdin"]
fn a_writer_in_another_process() {
    let mut lines = BufReader::new(std::io::stdin()).lines();
    let Some(Ok(path)) = lines.next() else { return };
    let Some(Ok(mode)) = lines.next() else { return };
    let connection = writer(Path::new(&path), &mode);
    fill(&connection, 0..40);
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    fill(&connection, 40..60);
    println!("ready");
    while let Some(Ok(line)) = lines.next() {
        connection.execute_batch(&line).unwrap();
        println!("done");
    }
}

struct Writer {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Writer {
    #[expect(
        clippy::disallowed_methods,
        reason = "the test is its own second process"
    )]
    fn start(path: &Path, mode: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture"])
            .arg("db::snapshot::tests::live::a_writer_in_another_process")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let mut writer = Self { child, answers };
        writer.say(&format!("{}\n{mode}", path.display()), "ready");
        writer
    }

    fn say(&mut self, line: &str, answer: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        writeln!(stdin, "{line}").unwrap();
        let mut heard = String::new();
        while !heard.trim_end().ends_with(answer) {
            heard.clear();
            assert_ne!(
                self.answers.read_line(&mut heard).unwrap(),
                0,
                "the writer ended"
            );
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

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
