//! `hermes heartbeat …`: what a text would set, and the heartbeats that are stored.

use clap::{Args, Subcommand};
use hermes::error::{Error, Result};
use hermes::output::json;
use hermes::runtime::Runtime;
use hermes::server::offline::Which;
use hermes::sessions::listing;
use hermes::timers::heartbeat_args::{
    HeartbeatArgsError, HeartbeatCommand, heartbeat_command, heartbeat_format_interval,
};
use serde_json::json;

use crate::exit::Exit;
use crate::timer::{List, Of};
use crate::timer_order::{self, History, Order};

/// Set and control heartbeats: cadences at which a session reports
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  hermes heartbeat start --session 20260101_09 every 10m say what is new
  hermes heartbeat list
  hermes heartbeat stop 20260101_091500_bbbbbb
  hermes heartbeat start --dry-run -- every 10m say what is new")]
pub(crate) struct Heartbeat {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Start(Start),
    /// List the heartbeats of a home, and who drives each
    #[command(
        after_help = "Examples:\n  hermes heartbeat list\n  hermes heartbeat list --all --json"
    )]
    List(List),
    /// Show the heartbeat of a session
    #[command(after_help = "Examples:\n  hermes heartbeat status 20260101_091500_bbbbbb")]
    Status(Of),
    /// Pause the heartbeat of a session
    #[command(after_help = "Examples:\n  hermes heartbeat pause 20260101_091500_bbbbbb")]
    Pause(Order),
    /// Let the heartbeat of a session go on
    #[command(after_help = "Examples:\n  hermes heartbeat resume 20260101_091500_bbbbbb")]
    Resume(Order),
    /// End the heartbeat of a session
    #[command(after_help = "Examples:\n  hermes heartbeat stop 20260101_091500_bbbbbb")]
    Stop(Order),
    /// Show past beats, the newest first
    #[command(after_help = "Examples:\n  hermes heartbeat history 20260101_091500_bbbbbb")]
    History(History),
}

/// Set a heartbeat, or show how a text would be read as one
#[derive(Args, Debug)]
#[command(after_help = "\
Text: [every] INTERVAL PROMPT; an interval is one word like 10m, 90s or 1.5h, at least a minute.

Examples:
  hermes heartbeat start --session 20260101_09 every 10m say what is new
  hermes heartbeat start --dry-run --json -- 2h report")]
struct Start {
    /// In this session: its id or the begin of it, or its title [default: a new one]
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Only show how the text is read
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The text
    #[arg(value_name = "TEXT")]
    text: Vec<String>,
}

impl Heartbeat {
    /// Runs the verb.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        match self.verb {
            Verb::Start(start) => start.run(runtime),
            Verb::List(list) => list.run("heartbeat", listing::heartbeats, runtime),
            Verb::Status(of) => of.run("heartbeat", listing::heartbeats, runtime),
            Verb::Pause(order) => order.run(Which::Heartbeat, timer_order::Verb::Pause, runtime),
            Verb::Resume(order) => order.run(Which::Heartbeat, timer_order::Verb::Resume, runtime),
            Verb::Stop(order) => order.run(Which::Heartbeat, timer_order::Verb::Stop, runtime),
            Verb::History(history) => history.run(Which::Heartbeat, runtime),
        }
    }
}

impl Start {
    fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let read = match heartbeat_command(&self.text.join(" ")) {
            Ok(HeartbeatCommand::Set {
                interval_seconds,
                prompt,
            }) => Ok((interval_seconds, prompt)),
            Ok(_) => Err(HeartbeatArgsError::Usage),
            Err(error) => Err(error),
        };
        let (interval_seconds, prompt) = read.map_err(|error| {
            Error::usage(error.to_string())
                .with_hint("hermes heartbeat start --help shows the form of a text")
        })?;
        if !self.dry_run {
            let (session, text) = (self.session.as_deref(), self.text.join(" "));
            return timer_order::set(runtime, Which::Heartbeat, session, &text, self.json);
        }
        if self.json {
            let read = json!({ "interval_seconds": interval_seconds, "prompt": prompt });
            json::print(&mut runtime.out, &read)?;
        } else {
            let every =
                heartbeat_format_interval(i64::try_from(interval_seconds).unwrap_or(i64::MAX));
            let text = format!("every   {every}\nprompt  {prompt}\n");
            runtime.out.print(&text)?;
        }
        Ok(Exit::OK)
    }
}
