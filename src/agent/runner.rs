//! Runs turns of the agent command, and finds its program.

use std::ffi::{OsStr, OsString};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use tempfile::NamedTempFile;
use tokio::sync::watch;

use super::answer::{Answer, Reader};
use super::command::{DEEPEST, DEPTH_VARIABLE, Invocation, Turn, depth_of};
use super::settings::{AgentCommand, PromptBy, STOP_GRACE};
use crate::child::run::{self, End, Limits, Spec, Stream};
use crate::error::{Error, Kind, Result};
use crate::files::open_regular;

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
    let mut ended = run::start(spec)?
        .wait(cancel, |stream, piece| {
            if stream == Stream::Out {
                reader.hear(piece);
            }
            sink(stream, piece);
        })
        .await?;
    Ok(Ended {
        end: ended.end,
        answer: reader.answer_beside(&mut ended.stderr_tail),
        stderr_tail: ended.stderr_tail,
    })
}

/// Where a turn runs.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// Working directory.
    pub cwd: Option<PathBuf>,
    /// The whole environment.
    pub env: Vec<(OsString, OsString)>,
}

/// How the files of prompts are named.
const PROMPT_FILE: &str = "hermes-prompt-";

/// A file with the prompt that only we can read, in this directory, for an agent that wants one. It goes
/// when it is dropped; one whose owner was killed goes with the next one. Its owner holds a lock on it.
///
/// # Errors
/// When it cannot be written.
pub fn prompt_file(
    agent: &AgentCommand,
    prompt: &str,
    directory: &Path,
) -> Result<Option<NamedTempFile>> {
    if agent.prompt != PromptBy::File {
        return Ok(None);
    }
    sweep(directory);
    let failed = |error| Error::io("failed to write the prompt to a file", error);
    let mut file = tempfile::Builder::new()
        .prefix(PROMPT_FILE)
        .tempfile_in(directory)
        .map_err(failed)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|error| failed(error.into()))?;
    file.write_all(prompt.as_bytes()).map_err(failed)?;
    Ok(Some(file))
}

/// Removes prompts of ours whose owner is gone. An empty one may be about to be locked.
fn sweep(directory: &Path) {
    let entries = fs_err::read_dir(directory).into_iter().flatten().flatten();
    let named = entries.filter(|entry| {
        entry.file_type().is_ok_and(|kind| kind.is_file())
            && entry.file_name().to_string_lossy().starts_with(PROMPT_FILE)
    });
    for path in named.map(|entry| entry.path()) {
        let Ok(file) = open_regular(&path) else {
            continue;
        };
        let is_left = file
            .metadata()
            .is_ok_and(|file| file.len() > 0 && file.uid() == rustix::process::geteuid().as_raw());
        if is_left && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _somebody_else_did = fs_err::remove_file(&path);
        }
    }
}

/// One turn, ready to be started: its program is found, and its words can be given to it.
///
/// # Errors
/// When its program is not there or is this very binary, its words are none that a program can get, or it
/// would be one more agent inside of agents.
pub fn prepare(
    agent: &AgentCommand,
    turn: &Turn<'_>,
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Invocation> {
    nests(variable(DEPTH_VARIABLE).as_deref())?;
    let mut invocation = agent.invocation(turn);
    let words = if invocation.resumes {
        &agent.resume
    } else {
        &agent.command
    };
    let program = words.first().map(String::as_str).unwrap_or_default();
    invocation.fits(program)?;
    let found = find_program(program, variable("PATH").as_deref())?;
    if let Some(word) = invocation.argv.first_mut() {
        *word = found.into_os_string();
    }
    Ok(invocation)
}

/// An agent may ask for a job that asks an agent; one that does so in every turn never ends.
fn nests(depth: Option<&OsStr>) -> Result<()> {
    if depth_of(depth) < DEEPEST {
        return Ok(());
    }
    Err(Error::new(
        Kind::Refused,
        format!(
            "this runs inside of {DEEPEST} agents already, each in a turn of the one before it"
        ),
    )
    .with_hint(
        "agent.command leads back here: name the program of an agent, not one that runs hermes",
    ))
}

/// The programs of an agent: that of a first turn, once that of a later one is there as well.
///
/// # Errors
/// When one is not there, or is this very binary.
pub fn find_programs(agent: &AgentCommand, path: Option<&OsStr>) -> Result<PathBuf> {
    let first = |words: &[String]| words.first().cloned().unwrap_or_default();
    let (command, resume) = (first(&agent.command), first(&agent.resume));
    let found = find_program(&command, path)?;
    if agent.can_resume() && resume != command {
        find_program(&resume, path)
            .map_err(|error| error.with_hint("it is the one of agent.resume"))?;
    }
    Ok(found)
}

/// The file that a program name means on this `PATH`.
///
/// # Errors
/// When there is none, it is no program, or it is this very binary: an agent that is us would call itself
/// for ever.
pub fn find_program(program: &str, path: Option<&OsStr>) -> Result<PathBuf> {
    let found = look_up(program, path).ok_or_else(|| {
        if let Some(file) = candidates(program, path).find(|file| file.is_file()) {
            let file = file.display();
            let message = format!("the agent's program '{program}' is not executable: {file}");
            return Error::new(Kind::Invalid, message).with_hint(format!("chmod +x {file}"));
        }
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
    if is_bare_text(&found) {
        let message = format!(
            "the agent's program '{program}' is a text whose first line names no interpreter ({})",
            found.display()
        );
        return Err(Error::new(Kind::Invalid, message)
            .with_hint("begin it with a line such as #!/bin/sh, or name its interpreter first in agent.command"));
    }
    Ok(found)
}

/// Some ways to start a program give such a text to a shell, which nobody asked for, and others do not.
fn is_bare_text(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = fs_err::File::open(path).and_then(|file| file.take(256).read_to_end(&mut start));
    read.is_ok() && !start.starts_with(b"#!") && !start.contains(&0)
}

/// Where a program is that is named so, on this `PATH`; `None`: nowhere.
#[must_use]
pub fn look_up(program: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    candidates(program, path).find(|candidate| is_program(candidate))
}

/// The files that a name may mean.
fn candidates(program: &str, path: Option<&OsStr>) -> impl Iterator<Item = PathBuf> {
    let named = program.contains('/').then(|| PathBuf::from(program));
    let path = path.filter(|_| named.is_none()).unwrap_or_default();
    let directories: Vec<_> = std::env::split_paths(path).collect();
    let absolute = directories
        .into_iter()
        .filter(|directory| directory.is_absolute());
    let on_path: Vec<_> = absolute.map(|directory| directory.join(program)).collect();
    named.into_iter().chain(on_path)
}

fn is_program(path: &Path) -> bool {
    fs_err::metadata(path).is_ok_and(|file| file.is_file() && file.mode() & 0o111 != 0)
}

/// By device and inode, so that another name of the same file counts; a copy is another file.
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
