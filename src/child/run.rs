//! Runs one command to its end: in a process group of its own, its output handed on as it comes,
//! under a total and an inactivity limit, stoppable at any moment. Politely first, then not.
//!
//! What it does not do: a grandchild that made a session of its own (`setsid`) has left the group and
//! is out of reach here; a scope reaches it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use crate::error::{Error, Kind, Result};

/// How much of the end of stderr is kept, in bytes.
const TAIL: usize = 4096;

/// How long the output may stay open after the command has ended: something that it started holds it.
const DRAIN: Duration = Duration::from_secs(2);

/// What to run, and under which limits.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Program and arguments; never a shell unless the words name one.
    pub argv: Vec<OsString>,
    /// Working directory.
    pub cwd: Option<PathBuf>,
    /// The whole environment: nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// What it reads on stdin; `None` is an empty one.
    pub stdin: Option<Vec<u8>>,
    /// The limits.
    pub limits: Limits,
}

/// Limits on a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Longest run; `None` is no limit.
    pub total: Option<Duration>,
    /// Longest silence on both outputs; `None` is no limit.
    pub inactivity: Option<Duration>,
    /// Between asking (SIGTERM) and making (SIGKILL) it stop.
    pub grace: Duration,
}

/// Which stream a piece belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard input: an empty piece says that all of it was handed over, or that nobody wants it.
    In,
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this status.
    Exited(i32),
    /// By a signal that was not ours.
    Signaled(i32),
    /// Stopped by us: it ran longer than the total limit.
    TimedOut,
    /// Stopped by us: it was silent longer than the inactivity limit.
    Inactive,
    /// Stopped by us: somebody asked for it.
    Cancelled,
}

impl End {
    /// Whether we stopped it: what it has started is to end as well.
    #[must_use]
    pub fn is_by_us(self) -> bool {
        matches!(self, Self::TimedOut | Self::Inactive | Self::Cancelled)
    }
}

/// A run that has ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// How.
    pub end: End,
    /// The end of stderr, as text.
    pub stderr_tail: String,
}

/// A run that goes on.
#[derive(Debug)]
pub struct Running {
    child: Child,
    pid: Pid,
    limits: Limits,
    input: Option<(ChildStdin, Vec<u8>)>,
}

/// Starts the command.
///
/// # Errors
/// When it cannot be started; the message names the program.
pub fn start(spec: Spec) -> Result<Running> {
    let Some((program, arguments)) = spec.argv.split_first() else {
        return Err(Error::new(Kind::Invalid, "there is no command to run"));
    };
    let shown = super::guard::program(&spec.argv)
        .to_string_lossy()
        .into_owned();
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the window on child processes"
    )]
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(spec.env)
        .process_group(0)
        .kill_on_drop(true);
    let stdin = if spec.stdin.is_some() {
        Stdio::piped()
    } else {
        Stdio::null()
    };
    command
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(cwd) = spec.cwd {
        command.current_dir(cwd);
    }
    let mut child = command.spawn().map_err(|error| {
        Error::new(Kind::Unavailable, format!("failed to start '{shown}'")).with_source(error)
    })?;
    let pid = child
        .id()
        .and_then(|pid| i32::try_from(pid).ok())
        .and_then(Pid::from_raw)
        .ok_or_else(|| Error::new(Kind::Internal, "a child that has just started has no pid"))?;
    let input = child.stdin.take().zip(spec.stdin);
    Ok(Running {
        child,
        pid,
        limits: spec.limits,
        input,
    })
}

/// Why we stop a run.
fn stop_reason(timed_out: bool, inactive: bool) -> End {
    match (timed_out, inactive) {
        (true, _) => End::TimedOut,
        (false, true) => End::Inactive,
        (false, false) => End::Cancelled,
    }
}

impl Running {
    /// Its pid, which is that of its process group too.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Waits for its end. Every piece of output goes to `sink` as it comes, and the news that the input
    /// was handed over; `cancel` turning true stops the run. Whatever is left of the group is killed at the end.
    ///
    /// # Errors
    /// When the end cannot be learned.
    pub async fn wait(
        mut self,
        mut cancel: watch::Receiver<bool>,
        mut sink: impl FnMut(Stream, &[u8]),
    ) -> Result<Ended> {
        let mut out = Pipe::new(self.child.stdout.take());
        let mut err = Pipe::new(self.child.stderr.take());
        let mut input = Box::pin(feed(self.input.take()));
        let (mut fed, mut tail) = (false, Tail::default());
        let total = self.limits.total.map(|limit| Instant::now() + limit);
        let mut quiet_since = Instant::now();
        let status = loop {
            let quiet = self.limits.inactivity.map(|limit| quiet_since + limit);
            tokio::select! {
                status = self.child.wait() => break Some(status),
                () = &mut input, if !fed => {
                    fed = true;
                    sink(Stream::In, &[]);
                }
                piece = out.read(), if out.open => {
                    quiet_since = Instant::now();
                    sink(Stream::Out, piece);
                }
                piece = err.read(), if err.open => {
                    quiet_since = Instant::now();
                    tail.push(piece);
                    sink(Stream::Err, piece);
                }
                () = reached(total) => break None,
                () = reached(quiet) => break None,
                () = cancelled(&mut cancel) => break None,
            }
        };
        let end = if let Some(status) = status {
            ended(status.map_err(|error| Error::io("failed to wait for a child", error))?)
        } else {
            let now = Instant::now();
            let past = |limit: Option<Instant>| limit.is_some_and(|limit| now >= limit);
            let quiet = self.limits.inactivity.map(|limit| quiet_since + limit);
            self.stop().await;
            stop_reason(past(total), past(quiet))
        };
        self.kill_group(Signal::KILL);
        let rest = async {
            while out.open || err.open {
                tokio::select! {
                    piece = out.read(), if out.open => sink(Stream::Out, piece),
                    piece = err.read(), if err.open => { tail.push(piece); sink(Stream::Err, piece); }
                }
            }
        };
        // Past this the outputs belong to something that left the group.
        let _held_open = timeout(DRAIN, rest).await;
        Ok(Ended {
            end,
            stderr_tail: tail.text(),
        })
    }

    /// Asks the group to stop, waits the grace, and makes it.
    async fn stop(&mut self) {
        self.kill_group(Signal::TERM);
        if timeout(self.limits.grace, self.child.wait()).await.is_err() {
            self.kill_group(Signal::KILL);
            let _status_of_a_killed_child = self.child.wait().await;
        }
    }

    /// A group that has ended already is as good as killed. Its number cannot belong to another one
    /// while a member of it lives, and is not handed out again at once when none does.
    fn kill_group(&self, signal: Signal) {
        let _already_gone = kill_process_group(self.pid, signal);
    }
}

fn ended(status: ExitStatus) -> End {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, Some(signal)) => End::Signaled(signal),
        (None, None) => End::Signaled(0),
    }
}

async fn feed(input: Option<(ChildStdin, Vec<u8>)>) {
    if let Some((mut stdin, bytes)) = input {
        // A command that does not read its stdin is free not to.
        let _closed_early = stdin.write_all(&bytes).await;
    }
}

/// Waits for this instant; where there is none, for ever.
pub(crate) async fn reached(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

async fn cancelled(cancel: &mut watch::Receiver<bool>) {
    if cancel.wait_for(|stop| *stop).await.is_err() {
        // Nobody is left who could ask.
        std::future::pending::<()>().await;
    }
}

/// One output, read piece by piece.
struct Pipe<R> {
    reader: Option<R>,
    buffer: Vec<u8>,
    open: bool,
}

impl<R: AsyncRead + Unpin> Pipe<R> {
    fn new(reader: Option<R>) -> Self {
        let open = reader.is_some();
        Self {
            reader,
            buffer: vec![0; 8192],
            open,
        }
    }

    /// The next piece; empty at the end, and then it is closed.
    async fn read(&mut self) -> &[u8] {
        let length = match self.reader.as_mut() {
            Some(reader) => reader.read(&mut self.buffer).await.unwrap_or(0),
            None => 0,
        };
        self.open = length > 0;
        self.buffer.get(..length).unwrap_or_default()
    }
}

/// The end of an output.
#[derive(Default)]
struct Tail(Vec<u8>);

impl Tail {
    fn push(&mut self, piece: &[u8]) {
        self.0.extend_from_slice(piece);
        if self.0.len() > 2 * TAIL {
            self.0.drain(..self.0.len() - TAIL);
        }
    }

    fn text(&self) -> String {
        let start = self.0.len().saturating_sub(TAIL);
        String::from_utf8_lossy(self.0.get(start..).unwrap_or_default())
            .trim()
            .to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(script: &str) -> Spec {
        Spec {
            argv: ["/bin/sh", "-c", script].map(OsString::from).to_vec(),
            cwd: None,
            env: vec![("PATH".into(), "/usr/bin:/bin".into())],
            stdin: None,
            limits: Limits {
                total: None,
                inactivity: None,
                grace: Duration::from_secs(5),
            },
        }
    }

    fn run(spec: Spec, cancel: watch::Receiver<bool>) -> (Ended, Vec<u8>) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut seen = Vec::new();
            let sink = |stream: Stream, piece: &[u8]| {
                if stream == Stream::Out {
                    seen.extend_from_slice(piece);
                }
            };
            let ended = start(spec).unwrap().wait(cancel, sink).await.unwrap();
            (ended, seen)
        })
    }

    fn never() -> (watch::Sender<bool>, watch::Receiver<bool>) {
        watch::channel(false)
    }

    #[test]
    fn output_status_and_the_last_words_come_through() {
        let (_keep, cancel) = never();
        let (ended, out) = run(spec("echo hello; echo oops >&2; exit 3"), cancel);
        assert_eq!(
            (ended.end, out.as_slice()),
            (End::Exited(3), b"hello\n".as_slice())
        );
        assert_eq!(ended.stderr_tail, "oops");
    }

    #[test]
    fn stdin_is_fed_and_closed() {
        let (_keep, cancel) = never();
        let mut spec = spec("cat");
        spec.stdin = Some(vec![b'x'; 200_000]);
        assert_eq!(run(spec, cancel).1.len(), 200_000);
    }

    #[test]
    fn a_child_that_ignores_sigterm_is_killed_with_its_children() {
        let (ask, cancel) = never();
        ask.send(true).unwrap();
        let mut spec = spec("trap '' TERM; sleep 1000 & echo $!; wait; wait");
        spec.limits.grace = Duration::from_millis(50);
        let (ended, _) = run(spec, cancel);
        assert_eq!(ended.end, End::Cancelled);
    }

    #[test]
    fn silence_and_length_have_limits_of_their_own() {
        let (_keep, cancel) = never();
        let mut silent = spec("exec sleep 1000");
        silent.limits.inactivity = Some(Duration::from_millis(20));
        assert_eq!(run(silent, cancel.clone()).0.end, End::Inactive);
        let mut long = spec("while :; do echo .; done");
        long.limits.total = Some(Duration::from_millis(50));
        assert_eq!(run(long, cancel).0.end, End::TimedOut);
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let mut absent = spec("");
        absent.argv = vec!["/nonexistent/agent".into()];
        let error = start_error(absent);
        assert!(error.message().contains("/nonexistent/agent"), "{error}");
    }

    fn start_error(spec: Spec) -> Error {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async { start(spec).unwrap_err() })
    }
}
