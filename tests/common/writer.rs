//! A process that holds a database open in a transaction. It has to be another one: a process that
//! reads a database file by other means loses the locks that it has on it.

#![expect(
    clippy::disallowed_methods,
    reason = "the test is its own second process"
)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use hermes::db;

/// Not a test of its own: the process that [`Writer`] starts.
#[test]
#[ignore = "started by other tests, with a path on stdin"]
fn holds_a_database_in_another_process() {
    let mut lines = std::io::stdin().lines().map_while(Result::ok);
    let Some(path) = lines.next() else { return };
    let connection = db::connect(Path::new(&path)).expect("a connection");
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE held (x INTEGER);
             INSERT INTO held VALUES (1);
             BEGIN IMMEDIATE;
             INSERT INTO held VALUES (2);",
        )
        .expect("a transaction");
    println!("held");
    lines.next();
    connection.execute_batch("COMMIT").expect("a commit");
    let rows: i64 = connection
        .query_row("SELECT count(*) FROM held", [], |row| row.get(0))
        .expect("a count");
    println!("committed {rows}");
}

/// A writer in the middle of a transaction.
pub(crate) struct Writer {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Writer {
    /// Opens the database in WAL mode and writes without committing.
    pub(crate) fn hold(path: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("this binary"))
            .args(["--ignored", "--exact", "--nocapture"])
            .arg("common::writer::holds_a_database_in_another_process")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the writer starts");
        let answers = BufReader::new(child.stdout.take().expect("its stdout"));
        let mut writer = Self { child, answers };
        writer.tell(&path.display().to_string());
        writer.hear("held");
        writer
    }

    /// Lets it commit; answers how many rows there are then.
    pub(crate) fn commit(mut self) -> String {
        self.tell("");
        let heard = self.hear("committed");
        self.child.wait().expect("its end");
        heard
    }

    fn tell(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().expect("its stdin");
        writeln!(stdin, "{line}").expect("it listens");
    }

    fn hear(&mut self, word: &str) -> String {
        let mut line = String::new();
        while !line.contains(word) {
            line.clear();
            let read = self.answers.read_line(&mut line).expect("an answer");
            assert_ne!(read, 0, "the writer ended");
        }
        line.trim().to_owned()
    }
}
