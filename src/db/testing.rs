//! Writers for tests: a connection in this process, or a process of its own.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rusqlite::Connection;

/// A connection of a writer.
#[expect(clippy::disallowed_methods, reason = "this is `db`")]
pub(crate) fn writer(path: &Path, journal_mode: &str) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "page_size", 512).unwrap();
    connection
        .pragma_update(None, "journal_mode", journal_mode)
        .unwrap();
    connection
}

pub(crate) fn fill(connection: &Connection, rows: std::ops::Range<u32>) {
    // One commit, one fsync; within a transaction of the test none.
    let own = connection.is_autocommit();
    let around = |word: &str| {
        if own {
            connection.execute_batch(word).unwrap();
        }
    };
    around("BEGIN");
    connection
        .execute_batch("CREATE TABLE IF NOT EXISTS t(n INTEGER, pad TEXT)")
        .unwrap();
    for n in rows {
        connection
            .execute("INSERT INTO t VALUES (?1, hex(zeroblob(40)))", [n])
            .unwrap();
    }
    around("COMMIT");
}

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

/// A writer in another process, which does as it is told.
pub(crate) struct Writer {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Writer {
    #[expect(
        clippy::disallowed_methods,
        reason = "the test is its own second process"
    )]
    pub(crate) fn start(path: &Path, mode: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture"])
            .arg("db::testing::a_writer_in_another_process")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let mut writer = Self { child, answers };
        writer.say(&format!("{}\n{mode}", path.display()), "ready");
        writer
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn say(&mut self, line: &str, answer: &str) {
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
