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
use tokio::process::Child;

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
    hearer: Option<Hearer>,
}

/// The process that survives us, and the pipe to it.
#[derive(Debug)]
struct Hearer {
    child: Child,
    pipe: File,
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
        let told = state.tell(&mark);
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

    /// Kills all that is left of the run, also what has left its process group.
    pub async fn end_what_is_left(&self) {
        let mark = self.mark.clone();
        let kill = move || kill_marked(VARIABLE, &mark);
        let _as_far_as_it_went = tokio::task::spawn_blocking(kill).await;
    }
}

impl Drop for Marked {
    fn drop(&mut self) {
        let mut state = self.survivor.state();
        state.marks.remove(&self.mark);
        if let Some(hearer) = &mut state.hearer
            && hearer.tell('-', &self.mark).is_err()
        {
            // It would kill for a run that has ended: the next one learns what goes on.
            state.let_go();
        }
    }
}

impl State {
    /// Tells of a new run; where nobody hears it, a new process of all of them.
    fn tell(&mut self, mark: &str) -> Result<()> {
        if let Some(hearer) = &mut self.hearer
            && hearer.tell('+', mark).is_ok()
        {
            return Ok(());
        }
        self.let_go();
        let failed = |error| Error::io("failed to reach the process that survives this one", error);
        let hearer = self.hearer.insert(Hearer::start()?);
        let told = self
            .marks
            .iter()
            .try_for_each(|mark| hearer.tell('+', mark));
        if told.is_err() {
            self.let_go();
        }
        told.map_err(failed)
    }

    /// One that cannot be told is ended first: it may only have been stopped for a while, and the end of
    /// its pipe would make it kill all that goes on.
    fn let_go(&mut self) {
        if let Some(mut hearer) = self.hearer.take() {
            let _ended_already = hearer.child.start_kill();
        }
    }
}

impl Hearer {
    fn start() -> Result<Self> {
        let child = detached(Path::new("/proc/self/exe"), &[WORD.into()], &[])?;
        Self::of(child)
    }

    fn of(mut child: Child) -> Result<Self> {
        let failed = |error| Error::io("failed to keep the pipe to a child", error);
        let pipe = child.stdin.take();
        let pipe =
            pipe.ok_or_else(|| failed(std::io::Error::from(std::io::ErrorKind::BrokenPipe)))?;
        let pipe = pipe.into_owned_fd().map_err(failed)?;
        // It is never waited for: one that does not read is replaced.
        fcntl_setfl(&pipe, OFlags::NONBLOCK).map_err(|errno| failed(errno.into()))?;
        // It has nothing to say.
        (child.stdout, child.stderr) = (None, None);
        let pipe = File::from(pipe);
        Ok(Self { child, pipe })
    }

    fn tell(&mut self, sign: char, mark: &str) -> std::io::Result<()> {
        self.pipe.write_all(format!("{sign}{mark}\n").as_bytes())
    }
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

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the test starts what it does not want killed"
    )]
    fn a_survivor_that_is_stopped_kills_nothing_when_it_is_let_go() {
        use std::os::unix::process::ExitStatusExt as _;

        use crate::child::spawn::{Watch, pid};
        use rustix::process::{Signal, kill_process};

        let mut goes_on = Command::new("/bin/sh")
            .args(["-c", "read line"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let reactor = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let _entered = reactor.enter();
        // What a survivor does at the end of its pipe.
        let script = format!("while read line; do :; done; kill -KILL {}", goes_on.id());
        let child = detached(Path::new("/bin/sh"), &["-c".into(), script.into()], &[]).unwrap();
        let number = child.id().unwrap();
        let end = Watch::of(number).unwrap().unwrap();
        kill_process(pid(number).unwrap(), Signal::STOP).unwrap();
        let mut hearer = Hearer::of(child).unwrap();
        while hearer.tell('+', "more").is_ok() {}
        let survivor = Survivor::default();
        survivor.state().hearer = Some(hearer);
        let mark = "over".to_owned();
        drop(Marked {
            survivor: survivor.clone(),
            mark,
        });
        assert!(survivor.state().hearer.is_none());
        let _ended_already = kill_process(pid(number).unwrap(), Signal::CONT);
        assert!(end.ends_within(std::time::Duration::from_secs(60)));
        goes_on.stdin.take().unwrap().write_all(b"\n").unwrap();
        assert_eq!(goes_on.wait().unwrap().signal(), None);
    }
}
