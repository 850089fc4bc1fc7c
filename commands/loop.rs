//! `hermes loop …`: what a text would set, and the loops that are stored.

use clap::{Args, Subcommand};
use hermes::error::{Error, Kind, Result};
use hermes::output::json;
use hermes::runtime::Runtime;
use hermes::sessions::gather::{View, view};
use hermes::sessions::listing::{self, TimerLine};
use hermes::timers::args::{LoopArgs, loop_format_interval, parse_loop_args};
use serde_json::json;

use crate::exit::Exit;
use crate::timer::{self, List, Of};

/// Show loops: prompts that a session runs again and again
#[derive(Args, Debug)]
#[command(after_help = "\
A loop belongs to a session and its conversation. For work that stands on its own, at given times,
'hermes cron' is the right tool.

Examples:
  hermes loop list
  hermes loop status 20260101_090000_aaaaaa
  hermes loop start --dry-run -- 5m check the build --times 3")]
pub(crate) struct Loop {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Start(Start),
    /// List the loops of a home, and who drives each
    #[command(after_help = "Examples:\n  hermes loop list\n  hermes loop list --all --json")]
    List(List),
    /// Show the loop of a session
    #[command(after_help = "Examples:\n  hermes loop status 20260101_090000_aaaaaa")]
    Status(Of),
}

/// Show how a text would be read as a loop
#[derive(Args, Debug)]
#[command(after_help = "\
Text: [every] [INTERVAL] PROMPT [--times N] [--until CONDITION]; an interval is like 45s, 5m or 1h30m,
without one the loop paces itself. What follows '--' is the text, as one would type it after /loop.

Examples:
  hermes loop start --dry-run -- 5m check the build --times 3
  hermes loop start --dry-run --json -- watch the queue --until it is empty")]
struct Start {
    /// Only show how the text is read
    #[arg(long)]
    dry_run: bool,
    /// End after so many wake-ups
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    times: Option<String>,
    /// End when this holds
    #[arg(long, value_name = "CONDITION")]
    until: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The text
    #[arg(value_name = "TEXT")]
    text: Vec<String>,
}

impl Loop {
    /// Runs the verb.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        match self.verb {
            Verb::Start(start) => start.run(runtime),
            Verb::List(list) => list.run("loop", listing::loops, runtime),
            Verb::Status(of) => of.run("loop", listing::loops, runtime),
        }
    }
}

impl Start {
    fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let mut text = self.text.join(" ");
        for (flag, value) in [("--times", &self.times), ("--until", &self.until)] {
            if let Some(value) = value {
                text = format!("{text} {flag} {value}");
            }
        }
        let args = parse_loop_args(&text).map_err(|error| {
            Error::usage(error.to_string())
                .with_hint("hermes loop start --help shows the form of a text")
        })?;
        if !self.dry_run {
            return Err(timer::nothing_drives("loop"));
        }
        if self.json {
            json::print(&mut runtime.out, &read_json(&args))?;
        } else {
            let floor = floor(runtime)?;
            runtime.out.print(&read_text(&args, floor))?;
        }
        Ok(Exit::OK)
    }
}

fn read_json(args: &LoopArgs) -> serde_json::Value {
    json!({
        "interval_seconds": args.interval_seconds,
        "prompt": args.prompt,
        "times": args.times,
        "until": args.until,
    })
}

fn floor(runtime: &Runtime) -> Result<f64> {
    let home = runtime.one_home()?;
    let config = hermes::config::Config::load(
        &home,
        &|name| runtime.environ.text(name).map(str::to_owned),
        &[],
    );
    Ok(hermes::config::Settings::of(&config)
        .loops
        .min_interval
        .as_secs_f64())
}

fn read_text(args: &LoopArgs, floor: f64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "seconds for people")]
    let cadence = match args.interval_seconds {
        None => "self-paced".to_owned(),
        Some(seconds) if (seconds as f64) < floor => {
            format!(
                "{}, raised from {} (loops.min_interval_seconds)",
                loop_format_interval(floor),
                loop_format_interval(seconds as f64)
            )
        }
        Some(seconds) => loop_format_interval(seconds as f64),
    };
    let times = if args.times == 0 {
        "no limit".to_owned()
    } else {
        args.times.to_string()
    };
    let until = if args.until.is_empty() {
        "-"
    } else {
        &args.until
    };
    format!(
        "every   {cadence}\nprompt  {}\ntimes   {times}\nuntil   {until}\n",
        args.prompt
    )
}

/// How a reading of one kind of timer is made.
pub(crate) type Lines = fn(&View) -> Vec<TimerLine>;

/// The view of the one home a command is about.
pub(crate) fn look(runtime: &Runtime) -> Result<View> {
    let home = runtime.one_home()?;
    if !home.path().exists() {
        let message = format!("there is no home at {}", home.path().display());
        return Err(
            Error::new(Kind::NotFound, message).with_hint("--home or HERMES_HOME names another")
        );
    }
    view(runtime, &home)
}
