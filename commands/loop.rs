//! `hermes loop …`: what a text would set, and the loops that are stored.

use clap::{Args, Subcommand};
use hermes::error::{Error, Result};
use hermes::output::{human, json};
use hermes::runtime::Runtime;
use hermes::server::offline::Which;
use hermes::sessions::gather::{View, view};
use hermes::sessions::listing::{self, TimerLine};
use hermes::timers::args::{LoopArgs, loop_format_interval, parse_loop_args};
use hermes::timers::loop_mistaken::{Mistaken, mistaken};
use serde_json::json;

use crate::exit::Exit;
use crate::timer::{List, Of};
use crate::timer_order::{self, History, Order};

/// Set and control loops: prompts that a session runs again and again
#[derive(Args, Debug)]
#[command(after_help = "\
A loop belongs to a session and its conversation. For work that stands on its own, at given times, \
    'hermes cron' is the right tool.

Examples:
  hermes loop start 5m check the build
  hermes loop list
  hermes loop pause 20260101_09
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
    /// Pause the loop of a session
    #[command(after_help = "Examples:\n  hermes loop pause 20260101_090000_aaaaaa")]
    Pause(Order),
    /// Let the loop of a session go on
    #[command(after_help = "Examples:\n  hermes loop resume 20260101_090000_aaaaaa")]
    Resume(Order),
    /// End the loop of a session
    #[command(after_help = "Examples:\n  hermes loop stop 20260101_090000_aaaaaa")]
    Stop(Order),
    /// Show past wake-ups of a loop, the newest first
    #[command(after_help = "Examples:\n  hermes loop history 20260101_090000_aaaaaa --limit 50")]
    History(History),
}

/// Set a loop, or show how a text would be read as one
#[derive(Args, Debug)]
#[command(after_help = "\
A loop ends with its session. For work that must run at given times whether or not anybody talks about \
    it, 'hermes cron create' is the right tool.

Text: [every] [INTERVAL] PROMPT [--times N] [--until CONDITION]; an interval is like 45s, 5m or 1h30m, \
    without one the loop paces itself. What follows '--' is the text, as one would type it after /loop.

Examples:
  hermes loop start 5m check the build
  hermes loop start --foreground 1m check the build
  hermes loop start --session 20260101_09 --times 3 10m check the build
  hermes loop start --dry-run --json -- watch the queue --until it is empty")]
struct Start {
    /// In this session: its id or the begin of it, or its title [default: a new one]
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Only show how the text is read
    #[arg(long)]
    dry_run: bool,
    /// Run it in this terminal, without any serve; Ctrl-C ends it
    #[arg(long, conflicts_with_all = ["session", "dry_run", "json"])]
    foreground: bool,
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
            Verb::Pause(order) => order.run(Which::Loop, timer_order::Verb::Pause, runtime),
            Verb::Resume(order) => order.run(Which::Loop, timer_order::Verb::Resume, runtime),
            Verb::Stop(order) => order.run(Which::Loop, timer_order::Verb::Stop, runtime),
            Verb::History(history) => history.run(Which::Loop, runtime),
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
        let odd = mistaken(&text).filter(|_| args.interval_seconds.is_none());
        if let Some(odd) = odd.map(|odd| not_an_interval(&odd)) {
            if !self.dry_run {
                return Err(odd);
            }
            // How the text is read is what was asked.
            runtime.out.warn(&human::printable(&odd.in_full()));
            for hint in odd.hints() {
                runtime.out.note(&format!("  {}", human::printable(hint)));
            }
        }
        if self.foreground {
            let cwd = runtime.cwd.clone();
            hermes::server::foreground::run(runtime, &args, cwd)?;
            return Ok(Exit::OK);
        }
        if !self.dry_run {
            let session = self.session.as_deref();
            return timer_order::set(runtime, Which::Loop, session, &text, self.json);
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

/// What would be a self-paced loop that repeats its own cadence to the agent, as nobody wants it.
fn not_an_interval(mistaken: &Mistaken) -> Error {
    let Mistaken { words, interval } = mistaken;
    Error::usage(format!(
        "'{words}' is no interval of a loop, which is one word: the loop would pace itself, and '{words}' be \
         of its prompt"
    ))
    .with_hint(format!("write {interval} for it: hermes loop start {interval} PROMPT"))
    .with_hint("if it is meant to be of the prompt, begin that with another word")
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
    look_back(runtime, 0)
}

/// The same, with so many of the sessions that have ended.
pub(crate) fn look_back(runtime: &Runtime, past: u32) -> Result<View> {
    let home = runtime.one_home()?;
    let mut view = view(runtime, &home, past)?;
    let stop = hermes::cron::stop_file::in_force(&home, runtime.clock.wall());
    view.stop = stop.map(|stop| stop.text());
    Ok(view)
}
