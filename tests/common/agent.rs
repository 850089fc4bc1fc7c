//! The agent of the tests, `tests/agent`: where it is, what it does, what it was asked.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{Mode, OFlags};

use super::Sandbox;

/// Steps of an agent that begins an answer and says no more.
pub(crate) const STALLS: &[&str] = &["say I begin", "stall"];

/// Its program. Cargo builds it along with all tests, but not along with some: then it is built here.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let debug = Path::new(env!("CARGO_BIN_EXE_hermes"))
        .parent()
        .expect("where binaries are");
    #[expect(clippy::disallowed_methods, reason = "the tests build what they need")]
    let mut cargo = std::process::Command::new(env!("CARGO"));
    cargo
        .args(["build", "--quiet", "--example", "agent", "--target-dir"])
        .arg(debug.parent().expect("the target directory"))
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    assert!(cargo.status().expect("cargo").success(), "no test agent");
    debug.join("examples/agent")
});

/// The words that start it for this home.
pub(crate) fn command(sandbox: &Sandbox) -> Vec<String> {
    let script = sandbox.home().join("agent-script");
    let words = [PROGRAM.as_path(), &script];
    words.map(|word| word.display().to_string()).to_vec()
}

/// Writes a configuration with it, and `more`.
pub(crate) fn configure(sandbox: &Sandbox, more: &str) {
    let command = command(sandbox);
    sandbox.write(
        "config.toml",
        format!("[agent]\ncommand = {command:?}\n{more}\n"),
    );
}

/// Tells it what to do from now on, step by step.
pub(crate) fn does(sandbox: &Sandbox, steps: &[&str]) {
    sandbox.write("agent-script", steps.join("\n"));
}

/// A turn that it was given.
pub(crate) struct Asked {
    /// Which life of serve it was, where the test counts them.
    pub(crate) life: String,
    /// The session.
    pub(crate) session: String,
    /// The whole prompt.
    pub(crate) prompt: String,
}

/// All turns that it was given.
pub(crate) fn turns(sandbox: &Sandbox) -> Vec<Asked> {
    let text = std::fs::read_to_string(sandbox.home().join("agent-log")).unwrap_or_default();
    let asked = |line: &str| {
        let mut fields = line.splitn(3, '\t').map(str::to_owned);
        Some(Asked {
            life: fields.next()?,
            session: fields.next()?,
            prompt: fields.next()?.replace('\u{1f}', "\n"),
        })
    };
    text.lines().filter_map(asked).collect()
}

/// What it was asked, by the last line of each prompt that begins with `ask:`.
pub(crate) fn asked(sandbox: &Sandbox) -> Vec<String> {
    let line = |turn: Asked| {
        let mut lines = turn.prompt.lines().rev();
        lines
            .find(|line| line.starts_with("ask:"))
            .map(str::to_owned)
    };
    turns(sandbox).into_iter().filter_map(line).collect()
}

/// The pipe that it holds open while it lives, and so does whatever it starts.
pub(crate) struct Alive(OwnedFd);

impl Alive {
    /// Makes the pipe, before anybody looks for it.
    pub(crate) fn of(sandbox: &Sandbox) -> Self {
        let pipe = sandbox.fifo("agent-alive");
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        Self(rustix::fs::open(pipe, flags, Mode::empty()).expect("our end of it"))
    }

    /// Waits until one has lived and none is left.
    pub(crate) fn ended(&self) {
        assert!(self.ends_within(60), "a process of the agent is left");
    }

    /// Whether that is so within so many seconds.
    pub(crate) fn ends_within(&self, seconds: i64) -> bool {
        let mut ends = [PollFd::new(&self.0, PollFlags::IN)];
        let patience = Timespec {
            tv_sec: seconds,
            tv_nsec: 0,
        };
        rustix::event::poll(&mut ends, Some(&patience)).expect("a look") > 0
    }
}
