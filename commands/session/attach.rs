//! `hermes session attach`.

use std::io::BufRead as _;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

use clap::Args;
use hermes::error::Result;
use hermes::output::human;
use hermes::runtime::Runtime;
use hermes::server::client::Client;
use serde_json::{Value, json};

use crate::asking::{self, Named};
use crate::exit::Exit;

/// Talk to a session: each line is a message, what it says is shown as it comes
#[derive(Args, Debug)]
#[command(after_help = "\
Commands such as /loop, /heartbeat, /status and /help work here. The end of the input leaves when no \
    turn runs any more; the session goes on without you as long as something keeps it.

Examples:
  hermes session attach 20260101_09
  echo 'how is it going' | hermes session attach 20260101_09")]
pub(super) struct Attach {
    /// The session: its id or the begin of it, or its title [default: a new one]
    session: Option<String>,
}

/// Between two looks at what was typed.
const LOOK: Duration = Duration::from_millis(50);

impl Attach {
    /// Talks until the input ends.
    pub(super) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let mut client = asking::needed(runtime, "there is no session to talk to")?;
        let session = match &self.session {
            Some(name) => asking::session(&mut client, name)?,
            None => asking::create(&mut client, runtime.cwd.as_deref())?,
        };
        session.tell_reopened(runtime);
        client.call("session.activate", &json!({"session_id": session.id}))?;
        runtime.out.note(&format!("session {}", session.stored));
        talk(&mut client, &session, &typed(), runtime)?;
        Ok(Exit::OK)
    }
}

/// Lines of stdin, read by a thread of its own: nothing else can wait for both.
fn typed() -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    lines
}

fn talk(
    client: &mut Client,
    session: &Named,
    lines: &Receiver<String>,
    runtime: &mut Runtime,
) -> Result<()> {
    let mut open = true;
    let mut waiting = 0_u32;
    while open || waiting > 0 {
        while open {
            match lines.try_recv() {
                Ok(line) if line.trim().is_empty() => {}
                Ok(line) => {
                    let params = json!({"session_id": session.id, "text": line});
                    let answer = client.call("prompt.submit", &params)?;
                    match answer.get("output").and_then(Value::as_str) {
                        Some(output) => print(output, runtime)?,
                        None => waiting += 1,
                    }
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => open = false,
            }
        }
        if let Some(event) = client.event(Some(LOOK))?
            && show(&event, runtime)?
        {
            waiting = waiting.saturating_sub(1);
        }
    }
    Ok(())
}

fn print(text: &str, runtime: &mut Runtime) -> Result<()> {
    for line in text.lines() {
        runtime.out.line(&human::printable(line))?;
    }
    Ok(())
}

/// Shows an event; whether it ends a turn.
fn show(event: &Value, runtime: &mut Runtime) -> Result<bool> {
    let text = |path: &str| {
        event
            .pointer(path)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    match text("/type") {
        "message.complete" => {
            print(text("/payload/text"), runtime)?;
            let error = text("/payload/error");
            if !error.is_empty() {
                runtime.out.warn(&human::printable(error));
            }
            Ok(true)
        }
        "status.update" => {
            runtime.out.note(&human::printable(text("/payload/text")));
            Ok(false)
        }
        _ => Ok(false),
    }
}
