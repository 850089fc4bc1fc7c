//! The log of a program that runs, as it comes.

use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStderr, Command, Stdio};

/// Its lines.
pub(crate) struct Log(Lines<BufReader<ChildStderr>>);

impl Log {
    /// Starts a command; it, and its log.
    pub(crate) fn of(mut command: Command) -> (Child, Self) {
        let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
        let stderr = child.stderr.take().expect("its log");
        (child, Self(BufReader::new(stderr).lines()))
    }

    /// What is left of it, to its end.
    pub(crate) fn rest(self) -> impl Iterator<Item = String> {
        self.0.map(|line| line.expect("text"))
    }

    /// Waits for a line with this text.
    pub(crate) fn wait_for(&mut self, text: &str) -> String {
        let mut seen = Vec::new();
        for line in self.0.by_ref() {
            let line = line.expect("text");
            if line.contains(text) {
                return line;
            }
            seen.push(line);
        }
        panic!("the log ends without {text:?}: {seen:#?}");
    }
}
