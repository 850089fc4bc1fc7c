//! The judge of `--until`: a command of the operator's that says whether a condition is met. It reads
//! the condition and the answer on stdin; status 0 is "met", 1 is "not met", anything else is a judge
//! that failed, and then the loop goes on. The first line that it prints is the reason.

use std::ffi::OsString;
use std::time::Duration;

use tokio::sync::{mpsc, watch};

use super::driver::Input;
use super::hub::{Event, Judgement};
use super::turn::{Surroundings, words};
use crate::agent::command::environment;
use crate::agent::runner::find_program;
use crate::child::guard::guarded;
use crate::child::run::{self, End, Limits, Spec, Stream};
use crate::error::Result;

/// Longest judgement.
const LONGEST: Duration = Duration::from_secs(120);
/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(5);
/// How much of the reason is kept, in bytes.
const REASON: usize = 500;

/// A question to the judge.
pub(crate) struct Question {
    /// The session.
    pub(crate) session: String,
    /// The condition.
    pub(crate) until: String,
    /// The answer to judge by.
    pub(crate) answer: String,
}

/// Asks, and tells the hub.
pub(crate) async fn ask(
    command: Vec<String>,
    question: Question,
    around: Surroundings,
    stop: watch::Receiver<bool>,
    hub: mpsc::Sender<Input>,
) {
    let (met, reason) = match judge(&command, &question, &around, stop).await {
        Ok(verdict) => verdict,
        Err(error) => (false, format!("the judge failed: {}", words(&error))),
    };
    let judgement = Judgement {
        session: question.session,
        met,
        reason,
    };
    let _stopped = hub.send(Input::Event(Event::Judged(judgement))).await;
}

async fn judge(
    command: &[String],
    question: &Question,
    around: &Surroundings,
    stop: watch::Receiver<bool>,
) -> Result<(bool, String)> {
    let mut argv: Vec<OsString> = command.iter().map(OsString::from).collect();
    let program = command.first().map(String::as_str).unwrap_or_default();
    let found = find_program(program, around.environ.get("PATH"))?;
    if let Some(word) = argv.first_mut() {
        *word = found.into_os_string();
    }
    let text = format!(
        "Condition: {}\n\nAnswer:\n{}\n",
        question.until, question.answer
    );
    // That it could not be told is said by the turn that is judged.
    let (marked, _told) = around.survivor.mark();
    let spec = Spec {
        argv: guarded(argv),
        cwd: around.cwd.clone(),
        env: environment(&[], around.environ.iter(), [marked.variable()]),
        stdin: Some(text.into_bytes()),
        limits: Limits {
            total: Some(LONGEST),
            inactivity: None,
            grace: GRACE,
        },
    };
    let mut said = Vec::new();
    let ended = run::start(spec)?
        .wait(stop, |stream, piece| {
            if stream == Stream::Out && said.len() < REASON {
                said.extend_from_slice(piece);
            }
        })
        .await?;
    if ended.end.is_by_us() {
        marked.end_what_is_left().await;
    }
    said.truncate(REASON);
    let said = String::from_utf8_lossy(&said);
    let reason = said.lines().next().unwrap_or_default().trim().to_owned();
    Ok(match ended.end {
        End::Exited(0) => (
            true,
            if reason.is_empty() {
                "the judge says so".to_owned()
            } else {
                reason
            },
        ),
        End::Exited(1) => (false, reason),
        other => (false, format!("the judge failed ({other:?})")),
    })
}
