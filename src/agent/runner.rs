//! Runs turns of the agent command, and finds its program.

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use tokio::sync::watch;

use super::answer::{Answer, Reader};
use super::command::Invocation;
use super::settings::{AgentCommand, PromptBy, STOP_GRACE};
use crate::child::run::{self, End, Limits, Spec, Stream};
use crate::error::{Error, Kind, Result};

/// Most of an answer that is kept, in bytes: the end of a longer output is what counts.
pub(crate) const KEPT: usize = 4 << 20;

/// A turn that has ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// How the command ended.
    pub end: End,
    /// What it said.
    pub answer: Answer,
    /// The end of its stderr.
    pub stderr_tail: String,
}

impl Ended {
    /// Whether the turn did what was asked, as far as the command tells.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.end == End::Exited(0) && self.answer.failure().is_none()
    }
}

/// Runs one turn. Output goes to `sink` as it comes.
///
/// # Errors
/// When the command cannot be started.
pub async fn run_turn(
    agent: &AgentCommand,
    invocation: Invocation,
    place: Place,
    cancel: watch::Receiver<bool>,
    mut sink: impl FnMut(Stream, &[u8]),
) -> Result<Ended> {
    let limits = Limits {
        total: agent.timeout,
        inactivity: agent.inactivity,
        grace: STOP_GRACE,
    };
    let spec = Spec {
        argv: invocation.argv,
        cwd: place.cwd,
        env: place.env,
        stdin: invocation.stdin,
        limits,
    };
    let mut reader = Reader::new(agent.answer, KEPT);
    let ended = run::start(spec)?
        .wait(cancel, |stream, piece| {
            if stream == Stream::Out {
                reader.hear(piece);
            }
            sink(stream, piece);
        })
        .await?;
    Ok(Ended {
        end: ended.end,
        answer: reader.answer(),
        stderr_tail: ended.stderr_tail,
    })
}

/// Where a turn runs.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// Working directory.
    pub cwd: Option<PathBuf>,
    /// The whole environment.
    pub env: Vec<(std::ffi::OsString, std::ffi::OsString)>,
}

/// A file with the prompt that only we can read, for an agent that wants one. It goes when it is dropped.
///
/// # Errors
/// When it cannot be written.
pub fn prompt_file(agent: &AgentCommand, prompt: &str) -> Result<Option<NamedTempFile>> {
    if agent.prompt != PromptBy::File {
        return Ok(None);
    }
    let failed = |error| Error::io("failed to write the prompt to a file", error);
    let mut file = tempfile::Builder::new()
        .prefix("hermes-prompt-")
        .tempfile()
        .map_err(failed)?;
    file.write_all(prompt.as_bytes()).map_err(failed)?;
    Ok(Some(file))
}

/// The file that a program name means on this `PATH`.
///
/// # Errors
/// When there is none, or it is this very binary: an agent that is us would call itself for ever.
pub fn find_program(program: &str, path: Option<&OsStr>) -> Result<PathBuf> {
    let found = look_up(program, path).ok_or_else(|| {
        let shown = path
            .map(OsStr::to_string_lossy)
            .unwrap_or_default()
            .into_owned();
        Error::new(
            Kind::NotFound,
            format!("the agent's program '{program}' was not found"),
        )
        .with_hint(format!("PATH is: {shown}"))
        .with_hint("name the program by its whole path in agent.command")
    })?;
    if is_this_binary(&found) {
        return Err(Error::new(
            Kind::Refused,
            format!(
                "the agent's program '{program}' is this binary itself ({})",
                found.display()
            ),
        )
        .with_hint(
            "Hermes Agent has the same name: give the whole path of its program in agent.command",
        ));
    }
    Ok(found)
}

/// Where a program is that is named so, on this `PATH`; `None`: nowhere.
#[must_use]
pub fn look_up(program: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    if program.contains('/') {
        return is_program(Path::new(program)).then(|| PathBuf::from(program));
    }
    std::env::split_paths(path?)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(program))
        .find(|candidate| is_program(candidate))
}

fn is_program(path: &Path) -> bool {
    fs_err::metadata(path).is_ok_and(|file| file.is_file() && file.mode() & 0o111 != 0)
}

/// By device and inode, so that a link or a copy under another name of the same file counts.
fn is_this_binary(path: &Path) -> bool {
    let identity = |path: &Path| {
        fs_err::metadata(path)
            .map(|file| (file.dev(), file.ino()))
            .ok()
    };
    let own = identity(Path::new("/proc/self/exe"));
    own.is_some() && own == identity(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_looked_up_on_the_path_given() {
        assert!(find_program("sh", Some(OsStr::new("/nonexistent:/bin"))).is_ok());
        let error = find_program("sh", Some(OsStr::new("/nonexistent"))).unwrap_err();
        assert_eq!(error.kind(), Kind::NotFound);
        assert!(
            error
                .hints()
                .iter()
                .any(|hint| hint.contains("/nonexistent"))
        );
    }

    #[test]
    fn this_binary_is_refused_under_any_name() {
        let directory = tempfile::tempdir().unwrap();
        let link = directory.path().join("agent");
        std::os::unix::fs::symlink("/proc/self/exe", &link).unwrap();
        let own = std::env::current_exe().unwrap();
        for path in [link, own] {
            let error = find_program(path.to_str().unwrap(), None).unwrap_err();
            assert_eq!(error.kind(), Kind::Refused);
        }
    }
}
