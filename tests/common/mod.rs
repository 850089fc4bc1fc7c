//! The harness: the binary with a cleared environment and a home of its own.

pub(crate) mod agent;
pub(crate) mod chance;
pub(crate) mod cost;
mod facts;
pub(crate) mod jobs;
pub(crate) mod log;
pub(crate) mod manager;
pub(crate) mod schema;
pub(crate) mod serving;
pub(crate) mod standin;
pub(crate) mod tree;
pub(crate) mod writer;
pub(crate) mod ws;

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use tempfile::TempDir;

/// A user with a home directory, and nothing else in the environment.
pub(crate) struct Sandbox {
    dir: TempDir,
}

impl Sandbox {
    /// An empty one: `~/.hermes` does not exist.
    pub(crate) fn new() -> Self {
        Self {
            dir: TempDir::new().expect("a temporary directory"),
        }
    }

    /// One whose `~/.hermes` is a copy of the sample home.
    pub(crate) fn with_sample_home() -> Self {
        let sandbox = Self::new();
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sample-home");
        copy(&sample, &sandbox.home());
        sandbox
    }

    /// The user's home directory.
    pub(crate) fn user_home(&self) -> &Path {
        self.dir.path()
    }

    /// `~/.hermes`, whether it exists or not.
    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join(".hermes")
    }

    /// Writes a file of the home, with its directories.
    pub(crate) fn write(&self, relative: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.home().join(relative);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(&path, content).expect("a file");
        path
    }

    /// A pipe of the home.
    pub(crate) fn fifo(&self, relative: &str) -> PathBuf {
        let path = self.home().join(relative);
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, mode).expect("a pipe");
        path
    }

    /// The binary, as this user.
    pub(crate) fn hermes(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hermes"));
        command
            .env_clear()
            .env("HOME", self.dir.path())
            // Named, so that root's doctor does not judge whatever else is served on this host.
            .env("HERMES_HOME", self.home())
            .env("PATH", "/usr/bin:/bin")
            .env("TZ", "UTC")
            .env("LC_ALL", "C.UTF-8")
            .current_dir(self.dir.path());
        command
    }
}

/// A copy of the binary where everybody may run it: the folder of a build may be closed to others.
pub(crate) fn binary(folder: &Path) -> PathBuf {
    let path = folder.join("hermes");
    // By another process: a descriptor of this one that writes it would be inherited by what other
    // tests start meanwhile, and what is being written cannot be executed.
    let mut copy = Command::new("cp");
    copy.arg(env!("CARGO_BIN_EXE_hermes")).arg(&path);
    copy.assert().success();
    path
}

/// Copies a directory with all that is in it.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a directory");
    for entry in std::fs::read_dir(from).expect("a directory to copy") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a file to copy");
        }
    }
}
