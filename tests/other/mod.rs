//! The other program itself, from its package, on the homes that we use. `tests/run other` makes the
//! virtual environment and names its interpreter in `HERMES_AGENT_PYTHON`.

#![expect(
    clippy::disallowed_methods,
    reason = "the other program is a process that is talked to, and the tests look at the ledger"
)]

mod home;
mod oracle;
mod slots;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::common::Sandbox;

/// A process of Hermes Agent on a home.
struct Other {
    child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Other {
    fn start(sandbox: &Sandbox) -> Self {
        let python = std::env::var_os("HERMES_AGENT_PYTHON")
            .map(PathBuf::from)
            .expect("HERMES_AGENT_PYTHON names an interpreter: run tests/run other");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/other/hermes_agent.py");
        let mut child = Command::new(python)
            .arg(script)
            .env_clear()
            .env("HOME", sandbox.user_home())
            .env("HERMES_HOME", sandbox.home())
            .env("PATH", "/usr/bin:/bin")
            .env("TZ", "UTC")
            .env("LC_ALL", "C.UTF-8")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .current_dir(sandbox.user_home())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the interpreter starts");
        Self {
            ask: child.stdin.take().expect("its stdin"),
            answers: BufReader::new(child.stdout.take().expect("its stdout")),
            child,
        }
    }

    /// Asks, without waiting for the answer.
    fn begin(&mut self, request: &Value) {
        writeln!(self.ask, "{request}").expect("it reads");
    }

    /// The answer to what was asked.
    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("an answer");
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        assert!(answer.get("error").is_none(), "{answer}");
        answer["ok"].clone()
    }

    fn ask(&mut self, request: &Value) -> Value {
        self.begin(request);
        self.answer()
    }

    /// One pass of its scheduler.
    fn tick(&mut self, at: &str) -> Value {
        self.ask(&json!({"do": "tick", "at": at}))
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _ended = self.child.wait();
    }
}
