//! A clock that is driven from outside, for tests of the whole binary: no test has to wait for a night.
//!
//! A hidden variable names a Unix socket; a line on it moves the clock (`advance 20`, `suspend 3600`,
//! both in seconds, or `step 2026-06-01T00:00:00Z`) and is answered once serve has seen it. `settle`
//! is answered when no turn runs, nothing is left to be stored, cron has had its turn, and no job runs.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{mpsc, oneshot, watch};

use super::cron_driver::{Asked, Desk};
use super::driver::Input;
use super::hub::Event;
use super::unix::{self, Lines};
use crate::clock::ManualClock;
use crate::error::Result;

/// The hidden variable.
pub(crate) const VARIABLE: &str = "__HERMES_CLOCK";

/// What moves the clock.
pub(crate) struct Control {
    listener: UnixListener,
    clock: Arc<ManualClock>,
    moved: watch::Sender<u64>,
}

impl Control {
    /// Binds the socket of a clock.
    pub(crate) fn bind(path: &Path, clock: Arc<ManualClock>) -> Result<Self> {
        Ok(Self {
            listener: unix::bind(path)?,
            clock,
            moved: watch::Sender::new(0),
        })
    }

    /// Changes whenever the clock was moved.
    pub(crate) fn moved(&self) -> watch::Receiver<u64> {
        self.moved.subscribe()
    }

    /// Obeys for ever, one tester at a time.
    pub(crate) async fn obey(self, hub: mpsc::Sender<Input>, cron: Option<Desk>) {
        while let Ok((stream, _)) = self.listener.accept().await {
            self.talk(stream, (&hub, cron.as_ref())).await;
        }
    }

    async fn talk(&self, stream: UnixStream, serve: (&mpsc::Sender<Input>, Option<&Desk>)) {
        let (reader, mut writer) = stream.into_split();
        let mut lines = Lines::new(reader);
        while let Some(line) = lines.next().await {
            let answer = self.command(&line, serve).await;
            let text = format!("{}\n", answer.unwrap_or("no such command"));
            if writer.write_all(text.as_bytes()).await.is_err() {
                return;
            }
        }
    }

    async fn command(
        &self,
        line: &str,
        (hub, cron): (&mpsc::Sender<Input>, Option<&Desk>),
    ) -> Option<&'static str> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let seconds = || Duration::try_from_secs_f64(rest.parse().ok()?).ok();
        match word {
            "advance" => self.clock.advance(seconds()?),
            "suspend" => self.clock.suspend(seconds()?),
            "step" => self.clock.step_to(rest.parse().ok()?),
            "settle" => {}
            _ => return None,
        }
        self.moved.send_modify(|times| *times += 1);
        let (sender, seen) = oneshot::channel();
        hub.send(Input::Event(Event::Wake)).await.ok()?;
        let ask = if word == "settle" {
            Input::Settle(sender)
        } else {
            Input::Sync(sender)
        };
        hub.send(ask).await.ok()?;
        seen.await.ok()?;
        if let Some(cron) = cron.filter(|_| word == "settle") {
            let (sender, settled) = oneshot::channel();
            cron.send(Asked::Settle(sender)).await.ok()?;
            settled.await.ok()?;
        }
        Some("ok")
    }
}
