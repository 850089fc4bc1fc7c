//! What becomes of what children have started where this process is killed. The kernel kills the
//! children themselves ([`super::guard`]); what they started carries the mark of its run in the
//! environment, and a small process of ours, which learns over a pipe which runs go on, kills by them
//! once the pipe ends. That end comes however we ended.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::{OFlags, fcntl_setfl};

use super::leftovers::kill_marked;
use super::spawn::detached;
use crate::error::{Error, Result};

/// The hidden word that `commands` answers with [`survive`].
pub const WORD: &str = "survivor";
/// The variable that carries the mark of a run.
pub const VARIABLE: &str = "_HERMES_RUN";

/// Which runs go on, for whoever survives us.
#[derive(Clone, Debug, Default)]
pub struct Survivor(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    marks: BTreeSet<String>,
    pipe: Option<File>,
}

/// A run that goes on. It has ended when this is dropped.
#[derive(Debug)]
pub struct Marked {
    survivor: Survivor,
    mark: String,
}

impl Survivor {
    /// A new run. The process that survives us is started with the first one.
    ///
    /// # Errors
    /// When there is no such process, and none can be started: the run may begin all the same.
    pub fn mark(&self) -> (Marked, Result<()>) {
        let mark = uuid::Uuid::new_v4().simple().to_string();
        let mut state = self.state();
        state.marks.insert(mark.clone());
        let told = state.tell(&format!("+{mark}\n"));
        drop(state);
        let survivor = self.clone();
        (Marked { survivor, mark }, told)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Marked {
    /// The variable for the environment of the run.
    #[must_use]
    pub fn variable(&self) -> (OsString, OsString) {
        (OsString::from(VARIABLE), OsString::from(&self.mark))
    }
}

impl Drop for Marked {
    fn drop(&mut self) {
        let mut state = self.survivor.state();
        state.marks.remove(&self.mark);
        if let Some(pipe) = &mut state.pipe
            && pipe
                .write_all(format!("-{}\n", self.mark).as_bytes())
                .is_err()
        {
            // It would kill for a run that has ended: the next one learns what goes on.
            state.pipe = None;
        }
    }
}

impl State {
    /// Tells a line; where nobody hears it, a new process all of them.
    fn tell(&mut self, line: &str) -> Result<()> {
        if let Some(pipe) = &mut self.pipe
            && pipe.write_all(line.as_bytes()).is_ok()
        {
            return Ok(());
        }
        self.pipe = None;
        let failed = |error| Error::io("failed to reach the process that survives this one", error);
        let mut pipe = start()?;
        for mark in &self.marks {
            pipe.write_all(format!("+{mark}\n").as_bytes())
                .map_err(failed)?;
        }
        self.pipe = Some(pipe);
        Ok(())
    }
}

fn start() -> Result<File> {
    let failed = |error| Error::io("failed to keep the pipe to a child", error);
    let mut child = detached(Path::new("/proc/self/exe"), &[WORD.into()], &[])?;
    let pipe = child.stdin.take();
    let pipe = pipe.ok_or_else(|| failed(std::io::Error::from(std::io::ErrorKind::BrokenPipe)))?;
    let pipe = pipe.into_owned_fd().map_err(failed)?;
    // It is never waited for: one that does not read is replaced.
    fcntl_setfl(&pipe, OFlags::NONBLOCK).map_err(|errno| failed(errno.into()))?;
    Ok(File::from(pipe))
}

/// Reads which runs go on; at the end kills all that is left of them. Returns how much that was.
pub fn survive(runs: impl BufRead) -> usize {
    let mut marks = BTreeSet::new();
    for line in runs.lines().map_while(std::io::Result::ok) {
        if let Some(mark) = line.strip_prefix('+') {
            marks.insert(mark.to_owned());
        } else if let Some(mark) = line.strip_prefix('-') {
            marks.remove(mark);
        }
    }
    marks.iter().map(|mark| kill_marked(VARIABLE, mark)).sum()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the test starts what it wants killed"
    )]
    fn what_a_run_left_is_killed_unless_the_run_had_ended() {
        let start = |mark: &str| {
            Command::new("/bin/sh")
                .args(["-c", "read line"])
                .env(VARIABLE, mark)
                .stdin(Stdio::piped())
                .spawn()
                .unwrap()
        };
        let marks = ["a", "b"].map(|name| format!("{name}-{}", std::process::id()));
        let [mut goes_on, mut over] = marks.each_ref().map(|mark| start(mark));
        let told = format!("+{0}\n+{1}\nwhat?\n-{1}\n", marks[0], marks[1]);
        assert!(survive(told.as_bytes()) >= 1);
        assert!(!goes_on.wait().unwrap().success());
        assert_eq!(over.try_wait().unwrap(), None);
        over.kill().unwrap();
        over.wait().unwrap();
    }
}
