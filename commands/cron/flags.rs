//! The flags that `create` and `edit` share, and what they ask for.

use std::path::Path;

use clap::Args;
use hermes::cron::edit::{self, Wishes};
use hermes::cron::edit_words;
use hermes::error::{Error, Result};
use hermes::output::quote;
use hermes::runtime::Runtime;
use serde_json::{Value, json};

/// What a job is made of.
#[derive(Args, Debug)]
pub(crate) struct Flags {
    /// Name of the job [default: the start of its prompt, or its script]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Script under scripts/ of the home; its output goes before the prompt
    #[arg(long, value_name = "FILE")]
    script: Option<String>,
    /// Program that runs the script [default: by its ending, or by its own first line]
    #[arg(long, value_name = "PROGRAM")]
    interpreter: Option<String>,
    /// Run the script alone, without an agent
    #[arg(long)]
    no_agent: bool,
    /// Script under scripts/; the agent is asked only when its output has changed
    #[arg(long, value_name = "FILE")]
    monitor_script: Option<String>,
    /// Directory to run in [default: the home]
    #[arg(long, value_name = "DIR")]
    workdir: Option<String>,
    /// How often to run: a number, 'once' or 'forever'
    #[arg(long, value_name = "N", value_parser = repeat, allow_hyphen_values = true)]
    repeat: Option<Repeat>,
    /// Where the result goes: 'local' keeps it in the home
    #[arg(long, value_name = "TARGET", help_heading = "Delivery")]
    deliver: Option<String>,
    /// Command that gets each result on its stdin, in words as a shell has them
    #[arg(long, value_name = "COMMAND", help_heading = "Delivery")]
    deliver_command: Option<String>,
    /// Longest run, like 90s or 2h; 0 is no limit
    #[arg(long, value_name = "TIME", value_parser = timeout, allow_negative_numbers = true)]
    timeout: Option<Value>,
    /// File of variables (NAME=value) for the run
    #[arg(long, value_name = "FILE")]
    env_file: Option<String>,
    /// What to do with a slot that was missed: once, skip, or max-lateness=TIME
    #[arg(long, value_name = "POLICY", value_parser = catch_up)]
    catch_up: Option<Value>,
    /// Start up to so much later than the slot, so that jobs do not start all at once
    #[arg(long, value_name = "TIME", value_parser = stagger, allow_negative_numbers = true)]
    stagger: Option<u64>,
}

/// A count of runs.
#[derive(Clone, Copy, Debug)]
struct Repeat {
    /// None is for ever.
    times: Option<i64>,
    /// A number that is none: it counts as for ever.
    is_no_count: bool,
}

fn repeat(text: &str) -> Result<Repeat> {
    let times = edit::repeat(text)?;
    let is_no_count = times.is_none() && text.trim().parse::<i64>().is_ok();
    Ok(Repeat { times, is_no_count })
}

impl Flags {
    /// Whether the count of runs is a number that counts as for ever.
    pub(crate) fn is_told_no_end(&self) -> bool {
        self.repeat.is_some_and(|repeat| repeat.is_no_count)
    }

    /// What is asked for, apart from schedule and prompt.
    pub(crate) fn wishes(&self, runtime: &Runtime) -> Result<Wishes> {
        let path = |name: &Option<String>| {
            name.as_deref()
                .map(|name| absolute(name, runtime))
                .transpose()
        };
        let mut own = Vec::new();
        let target = self.deliver.as_deref().unwrap_or_default();
        if let Some(command) = target.strip_prefix("command:") {
            return Err(
                Error::usage("a command is no target of --deliver").with_hint(format!(
                    "give it by itself: --deliver-command {}",
                    quote::word(command.trim())
                )),
            );
        }
        if let Some(command) = &self.deliver_command {
            let words = edit_words::split(command)?;
            let words = (!words.is_empty()).then_some(words);
            own.push(("deliver_command", json!(words)));
        }
        if let Some(timeout) = &self.timeout {
            own.push(("timeout_seconds", timeout.clone()));
        }
        if let Some(file) = path(&self.env_file)? {
            let file = Some(file).filter(|file| !file.is_empty());
            own.push(("env_file", json!(file)));
        }
        if let Some(policy) = &self.catch_up {
            own.push(("catch_up", policy.clone()));
        }
        if let Some(most) = self.stagger {
            own.push((
                "stagger_seconds",
                json!(Some(most).filter(|most| *most > 0)),
            ));
        }
        Ok(Wishes {
            schedule: None,
            prompt: None,
            name: self.name.clone(),
            script: self.script.clone(),
            interpreter: self.interpreter.clone(),
            no_agent: self.no_agent.then_some(true),
            monitor_script: self.monitor_script.clone(),
            workdir: path(&self.workdir)?,
            repeat: self.repeat.map(|repeat| repeat.times),
            deliver: self.deliver.clone(),
            clear: Vec::new(),
            own,
        })
    }
}

/// A path as it was typed, seen from the root; an empty one stays empty.
fn absolute(name: &str, runtime: &Runtime) -> Result<String> {
    if name.is_empty() || Path::new(name).is_absolute() {
        return Ok(name.to_owned());
    }
    let cwd = runtime.cwd.as_ref().ok_or_else(|| {
        Error::usage(format!(
            "'{}' is relative, and to what is not known",
            name.escape_debug()
        ))
        .with_hint("the working directory is gone; give the whole path")
    })?;
    let whole = cwd.join(name);
    whole
        .into_os_string()
        .into_string()
        .map_err(|_| Error::usage("a path that is no UTF-8 cannot be kept in the store"))
}

/// An empty text is what a job has that says nothing: the limit of the configuration.
fn timeout(text: &str) -> Result<Value> {
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    edit::seconds(text).map(|seconds| json!(seconds))
}

/// `once` is what a job does that says nothing.
fn catch_up(text: &str) -> Result<Value> {
    match text.split_once('=') {
        None if text == "once" || text.is_empty() => Ok(Value::Null),
        None if text == "skip" => Ok(json!("skip")),
        Some(("max-lateness", limit)) => {
            let limit = edit::seconds(limit)?;
            Ok(json!({ "max_lateness_seconds": limit }))
        }
        _ => Err(Error::usage("write once, skip, or max-lateness=TIME")),
    }
}

/// Longest stagger, in seconds.
const LONGEST_STAGGER: u64 = 3600;

fn stagger(text: &str) -> Result<u64> {
    if text.trim().is_empty() {
        return Ok(0);
    }
    let seconds = edit::seconds(text)?;
    if seconds <= LONGEST_STAGGER {
        Ok(seconds)
    } else {
        Err(Error::usage("at most an hour"))
    }
}
