//! Runs one turn: the agent's process, its output as events, its end.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, mpsc, watch};

use super::declared::Declared;
use super::driver::Input;
use super::hub::{End, Event, TurnId, TurnSpec};
use crate::agent::runner::{self, Ended, Place};
use crate::agent::settings::TOKEN_VARIABLE;
use crate::agent::{Invocation, Turn};
use crate::child::guard::guarded;
use crate::child::run::{End as ProcessEnd, Stream};
use crate::child::survivor::{Marked, Survivor};
use crate::error::{Error, Kind, Result};
use crate::runtime::Environ;

/// Output is handed on this much later at most, so that a flood of pieces becomes few.
const COALESCE: Duration = Duration::from_millis(33);

/// What all turns of this serve have in common.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    /// Our own environment.
    pub(crate) environ: Arc<Environ>,
    /// The home.
    pub(crate) home: PathBuf,
    /// Where files of this serve lie.
    pub(crate) run_dir: PathBuf,
    /// Where a turn runs whose session names no directory.
    pub(crate) cwd: Option<PathBuf>,
    /// What outlives this serve, to end what its turns have started.
    pub(crate) survivor: Survivor,
}

/// Runs a turn to its end and tells the hub of it.
pub(crate) async fn run(
    spec: TurnSpec,
    around: Surroundings,
    cancel: watch::Receiver<bool>,
    hub: mpsc::Sender<Input>,
) {
    let (marked, told) = around.survivor.mark();
    if let Err(error) = told {
        tracing::warn!(
            "What an agent starts would outlive a serve that is killed: {}.",
            words(&error)
        );
    }
    let prepared = prepare(&spec, &around, &marked);
    let mut teller = Teller {
        turn: spec.turn,
        hub,
        shown: spec.agent.answer.is_text(),
        began: false,
        resumed: spec.agent_session.clone(),
        heard: Arc::default(),
    };
    let (invocation, place, _file) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return teller.not_started(&error).await,
    };
    let heard = Arc::clone(&teller.heard);
    let sink = move |stream: Stream, piece: &[u8]| heard.hear(stream, piece);
    let mut running = pin!(runner::run_turn(
        &spec.agent,
        invocation,
        place,
        cancel,
        sink
    ));
    // The process is started by the first poll: an error there is one of starting.
    let first = tokio::select! {
        biased;
        ended = &mut running => Some(ended),
        () = std::future::ready(()) => None,
    };
    let ended = match first {
        Some(Err(error)) => return teller.not_started(&error).await,
        Some(ended) => ended,
        None => teller.watch_over(running).await,
    };
    if ended.as_ref().is_ok_and(|ended| ended.end.is_by_us()) {
        marked.end_what_is_left().await;
    }
    teller.ended(ended).await;
}

/// What an agent has said and nobody was told yet.
#[derive(Default)]
struct Heard {
    pieces: std::sync::Mutex<Pieces>,
    there: Notify,
}

impl Heard {
    fn hear(&self, stream: Stream, piece: &[u8]) {
        match stream {
            Stream::In => self.there.notify_one(),
            Stream::Out => {
                self.pieces().bytes.extend(piece);
                self.there.notify_one();
            }
            // Noise, such as retries, is no progress; what is declared to be some is.
            Stream::Err => {
                if self.pieces().declared.hear(piece) {
                    self.there.notify_one();
                }
            }
        }
    }

    fn pieces(&self) -> std::sync::MutexGuard<'_, Pieces> {
        self.pieces
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Tells the hub of one turn.
struct Teller {
    turn: TurnId,
    hub: mpsc::Sender<Input>,
    /// Whether what comes on stdout is the answer, and no notation of it.
    shown: bool,
    began: bool,
    /// The conversation of the agent that goes on.
    resumed: Option<String>,
    heard: Arc<Heard>,
}

impl Teller {
    async fn tell(&self, event: Event) {
        let _stopped = self.hub.send(Input::Event(event)).await;
    }

    async fn not_started(&self, error: &Error) {
        let event = Event::TurnNotStarted(self.turn, words(error));
        self.tell(event).await;
    }

    /// A process that has not got its prompt has not begun: where serve dies before, the wake-up is
    /// given back.
    async fn began(&mut self) {
        if !std::mem::replace(&mut self.began, true) {
            self.tell(Event::TurnBegan(self.turn)).await;
        }
    }

    async fn said(&self, text: String) {
        let text = if self.shown { text } else { String::new() };
        self.tell(Event::TurnOutput(self.turn, text)).await;
    }

    async fn declared(&self) {
        let declared = self.heard.pieces().declared.take();
        if let Some(words) = declared {
            self.tell(Event::TurnProgress(self.turn, words)).await;
        }
    }

    async fn watch_over(
        &mut self,
        mut running: Pin<&mut impl Future<Output = Result<Ended>>>,
    ) -> Result<Ended> {
        loop {
            tokio::select! {
                ended = &mut running => return ended,
                () = self.heard.there.notified() => {
                    self.began().await;
                    self.declared().await;
                    if self.heard.pieces().bytes.is_empty() {
                        continue;
                    }
                    tokio::time::sleep(COALESCE).await;
                    let text = self.heard.pieces().take(false);
                    self.said(text).await;
                }
            }
        }
    }

    async fn ended(&mut self, ended: Result<Ended>) {
        self.began().await;
        let rest = self.heard.pieces().take(true);
        if self.shown && !rest.is_empty() {
            self.said(rest).await;
        }
        let event = Event::TurnEnded(self.turn, Box::new(end(ended, self.resumed.as_deref())));
        self.tell(event).await;
    }
}

/// Output that was not handed on yet; a character may have come in half.
#[derive(Default)]
struct Pieces {
    bytes: VecDeque<u8>,
    declared: Declared,
}

impl Pieces {
    fn take(&mut self, last: bool) -> String {
        let bytes = self.bytes.make_contiguous();
        let whole = match std::str::from_utf8(bytes) {
            Err(error) if !last && error.error_len().is_none() => error.valid_up_to(),
            _ => bytes.len(),
        };
        let taken: Vec<u8> = self.bytes.drain(..whole).collect();
        String::from_utf8_lossy(&taken).into_owned()
    }
}

type Prepared = (Invocation, Place, Option<tempfile::NamedTempFile>);

fn prepare(spec: &TurnSpec, around: &Surroundings, marked: &Marked) -> Result<Prepared> {
    let file = runner::prompt_file(&spec.agent, &spec.prompt, &around.run_dir)?;
    let path = file
        .as_ref()
        .map(|file| file.path().to_string_lossy().into_owned());
    let turn = Turn {
        prompt: &spec.prompt,
        session: spec.agent_session.as_deref(),
        prompt_file: path.as_deref(),
    };
    let variable = |name: &str| around.environ.get(name).map(OsString::from);
    let mut invocation = runner::prepare(&spec.agent, &turn, &variable)?;
    // A serve that is killed takes its agents with it: the next one begins their turns anew.
    invocation.argv = guarded(invocation.argv);
    let cwd = match &spec.cwd {
        Some(cwd) if !std::path::Path::new(cwd).is_dir() => {
            return Err(Error::new(
                Kind::NotFound,
                format!("the working directory {cwd} of the session does not exist"),
            ));
        }
        Some(cwd) => Some(PathBuf::from(cwd)),
        None => around.cwd.clone(),
    };
    let ours = around
        .environ
        .iter()
        .filter(|(name, _)| *name != TOKEN_VARIABLE);
    let extra = [
        (
            OsString::from("HERMES_HOME"),
            around.home.clone().into_os_string(),
        ),
        (
            OsString::from("HERMES_SESSION_ID"),
            OsString::from(&spec.stored_id),
        ),
        marked.variable(),
    ];
    let env = spec.agent.environment(ours, extra);
    Ok((invocation, Place { cwd, env }, file))
}

/// An error with its causes, in one line.
pub(crate) fn words(error: &Error) -> String {
    let mut words = error.message().to_owned();
    for cause in error.causes() {
        words.push_str(": ");
        words.push_str(&cause);
    }
    words
}

/// What the end of a process means to a turn, which resumed this conversation of the agent.
fn end(ended: Result<Ended>, resumed: Option<&str>) -> End {
    let ended = match ended {
        Ok(ended) => ended,
        Err(error) => {
            return End {
                failed: Some(words(&error)),
                ..End::default()
            };
        }
    };
    let last = ended.stderr_tail.lines().last().unwrap_or_default().trim();
    // The reason that an agent itself gives says more.
    let last = ended.answer.reason.as_deref().unwrap_or(last);
    let with_last = |what: String| {
        if last.is_empty() {
            what
        } else {
            format!("{what}: {last}")
        }
    };
    let failed = match ended.end {
        ProcessEnd::Exited(0) => ended.answer.failure().map(|failure| {
            if ended.answer.reason.is_some() {
                failure
            } else {
                with_last(failure)
            }
        }),
        ProcessEnd::Cancelled => None,
        ProcessEnd::Exited(status) => {
            Some(with_last(format!("the agent ended with status {status}")))
        }
        ProcessEnd::Signaled(signal) => Some(with_last(format!(
            "the agent was killed by signal {signal}"
        ))),
        ProcessEnd::TimedOut => Some("the turn ran longer than its limit".to_owned()),
        ProcessEnd::Inactive => Some("the agent was silent for longer than its limit".to_owned()),
    };
    // One that has its conversation still says so, in whatever it fails; one that does not is to begin
    // anew, or it would fail for ever.
    let by_itself = matches!(ended.end, ProcessEnd::Exited(_) | ProcessEnd::Signaled(_));
    let is_lost = resumed.is_some()
        && by_itself
        && failed.is_some()
        && ended.answer.session.as_deref() != resumed;
    End {
        text: ended.answer.text,
        agent_session: ended.answer.session.filter(|_| !is_lost),
        lost_session: is_lost,
        cancelled: ended.end == ProcessEnd::Cancelled,
        failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_not_cut_in_half() {
        let mut pieces = Pieces::default();
        pieces.bytes.extend(b"a\xc3");
        assert_eq!(pieces.take(false), "a");
        pieces.bytes.extend(b"\xa9b");
        assert_eq!(pieces.take(false), "\u{e9}b");
        pieces.bytes.extend(b"x\xff\xc3");
        assert_eq!(pieces.take(true), "x\u{fffd}\u{fffd}");
        assert_eq!(pieces.take(true), "");
    }
}
