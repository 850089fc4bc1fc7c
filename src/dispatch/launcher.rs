//! The dispatcher's side of a handover: offers a row, starts a worker, waits for its acknowledgement,
//! and from then on only for its end. Decisions about a silent worker are `handover`'s.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr};
use tokio::time::{Instant, timeout, timeout_at};

use super::handover::{Acknowledgement, DEADLINE, Payload};
use super::mode::Manager;
use crate::child::spawn;
use crate::error::{Error, Kind, Result};

/// The binary that workers are started from: our own open file, so that an upgrade under a running
/// dispatcher cannot mix two builds.
pub const OWN_BINARY: &str = "/proc/self/exe";
/// How much of a worker's last words is kept, in bytes.
const LAST_WORDS: usize = 4096;
/// How long last words are waited for once the worker has ended.
const LAST_WORDS_WAIT: Duration = Duration::from_secs(1);

/// What a worker is told on its command line: nothing secret.
#[derive(Clone, Debug)]
pub struct Orders {
    /// Where it is to place itself; `None`: nowhere.
    pub manager: Option<Manager>,
    /// That one would hang at a scope: it is asked for a service at once.
    pub services_only: bool,
    /// Rather end than run where a restart of the dispatcher would kill it.
    pub require_placement: bool,
    /// `MemoryMax` of its unit, in bytes.
    pub memory_max: Option<u64>,
}

impl Orders {
    /// The words after the program's name.
    #[must_use]
    pub fn words(&self, execution_id: &str) -> Vec<OsString> {
        let mut words = vec![
            "worker".to_owned(),
            "--execution".to_owned(),
            execution_id.to_owned(),
        ];
        if let Some(manager) = self.manager {
            words.extend(["--manager".to_owned(), manager.word().to_owned()]);
        }
        if self.services_only {
            words.push("--services-only".to_owned());
        }
        if self.require_placement {
            words.push("--require-placement".to_owned());
        }
        if let Some(bytes) = self.memory_max {
            words.extend(["--memory-max".to_owned(), bytes.to_string()]);
        }
        words.into_iter().map(OsString::from).collect()
    }
}

/// A worker that has been started.
#[derive(Debug)]
pub struct Worker {
    child: Child,
    pid: u32,
    last_words: Option<ChildStderr>,
}

/// What came of the wait for an acknowledgement.
#[derive(Debug)]
pub enum Answer {
    /// It adopted the row.
    Adopted(Acknowledgement),
    /// It ended, or closed its stdout, without one.
    Ended {
        /// How it ended, in words.
        status: String,
        /// Its last words on stderr.
        last_words: String,
    },
    /// It said nothing until the deadline.
    Silent,
}

/// Starts a worker and gives it its payload.
///
/// # Errors
/// When it cannot be started. A payload that it did not take shows as an end without acknowledgement.
pub async fn start(
    orders: &Orders,
    payload: &Payload,
    environment: &[(OsString, OsString)],
) -> Result<Worker> {
    let words = orders.words(&payload.execution_id);
    let mut child = spawn::detached(Path::new(OWN_BINARY), &words, environment)?;
    let pid = child
        .id()
        .ok_or_else(|| Error::new(Kind::Internal, "a worker that has just started has no pid"))?;
    let text = serde_json::to_vec(payload).map_err(|error| {
        Error::new(Kind::Internal, "failed to write the payload").with_source(error)
    })?;
    if let Some(mut stdin) = child.stdin.take() {
        let written = timeout(DEADLINE, async {
            stdin.write_all(&text).await?;
            stdin.shutdown().await
        });
        let _shows_as_an_end_without_acknowledgement = written.await;
    }
    let last_words = child.stderr.take();
    Ok(Worker {
        child,
        pid,
        last_words,
    })
}

impl Worker {
    /// The pid that was started. With the service mechanism another process goes on in its place.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits for the acknowledgement, until the deadline of the handover that began at `since`. The
    /// end of the process alone says nothing: a service may have taken its place, and holds the pipe.
    pub async fn answer(&mut self, execution_id: &str, since: Instant) -> Answer {
        let until = since + DEADLINE;
        let Some(stdout) = self.child.stdout.take() else {
            return self.ended().await;
        };
        let mut lines = BufReader::new(stdout).lines();
        loop {
            match timeout_at(until, lines.next_line()).await {
                Err(_) => return Answer::Silent,
                Ok(Ok(Some(line))) => {
                    if let Some(read) = Acknowledgement::parse(&line, execution_id) {
                        return Answer::Adopted(read);
                    }
                }
                Ok(Ok(None) | Err(_)) => return self.ended().await,
            }
        }
    }

    async fn ended(&mut self) -> Answer {
        let status = match timeout(LAST_WORDS_WAIT, self.child.wait()).await {
            Ok(Ok(status)) => describe(status),
            _ => "it closed its output and goes on".to_owned(),
        };
        Answer::Ended {
            status,
            last_words: self.last_words().await,
        }
    }

    /// The end of its stderr, as far as it can be read now.
    pub async fn last_words(&mut self) -> String {
        let Some(mut stderr) = self.last_words.take() else {
            return String::new();
        };
        let mut words = Vec::new();
        let _as_far_as_it_goes = timeout(LAST_WORDS_WAIT, stderr.read_to_end(&mut words)).await;
        let start = words.len().saturating_sub(LAST_WORDS);
        String::from_utf8_lossy(words.get(start..).unwrap_or_default())
            .trim()
            .to_owned()
    }

    /// Kills it, with its group, and reaps it. For a worker that has not adopted anything.
    pub async fn kill(&mut self) {
        spawn::kill_group(self.pid);
        let _reaped = timeout(LAST_WORDS_WAIT, self.child.wait()).await;
    }

    /// Waits for the end of the process that was started; what it said last goes with it.
    ///
    /// # Errors
    /// When the end cannot be learned.
    pub async fn wait(&mut self) -> Result<std::process::ExitStatus> {
        let drain = async {
            if let Some(stderr) = self.last_words.as_mut() {
                let mut dropped = tokio::io::sink();
                let _until_closed = tokio::io::copy(stderr, &mut dropped).await;
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            status = self.child.wait() => {
                status.map_err(|error| Error::io("failed to wait for a worker", error))
            }
            () = drain => Err(Error::new(Kind::Internal, "an output that never ends has ended")),
        }
    }
}

/// How a process ended, in words.
#[must_use]
pub fn describe(status: std::process::ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("it exited with {code}"),
        (None, Some(signal)) => format!("it was killed by signal {signal}"),
        (None, None) => "it ended".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_hold_nothing_but_what_the_operator_may_see() {
        let orders = Orders {
            manager: Some(Manager::User),
            services_only: true,
            require_placement: true,
            memory_max: Some(64),
        };
        let words: Vec<_> = orders
            .words("abc")
            .iter()
            .map(|w| w.to_string_lossy().into_owned())
            .collect();
        assert_eq!(
            words.join(" "),
            "worker --execution abc --manager user --services-only --require-placement --memory-max 64"
        );
    }
}
