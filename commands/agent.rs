//! `hermes agent check`: one turn of the configured agent, and what happened.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::pin::pin;
use std::time::Duration;

use clap::{Args, Subcommand};
use hermes::agent::runner::{Ended, Place, find_programs, prepare, prompt_file, run_turn};
use hermes::agent::settings::{AgentCommand, PromptBy};
use hermes::agent::{Settings, Turn};
use hermes::child::guard::guarded;
use hermes::child::run::End;
use hermes::child::survivor::Survivor;
use hermes::config::Config;
use hermes::cron::dispatcher::Parts;
use hermes::cron::edit;
use hermes::cron::redact::redact;
use hermes::error::{Context as _, Error, Kind, Result};
use hermes::output::{human, json, wrap};
use hermes::runtime::Runtime;
use serde_json::json;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::exit::Exit;

/// Look at the agent that prompts are given to
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  hermes agent check\n  hermes help agent check")]
pub(crate) struct Agent {
    #[command(subcommand)]
    verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
enum Verb {
    Check(Check),
}

/// Ask the agent for one word, and tell what happened
///
/// Runs one real turn of the agent of the configuration, as a job would: in the home, with the
/// environment that jobs get. It may cost what a turn costs. Tells which program was found, how it ended,
/// what it answered and how long it took. Ends with 0 if it answered.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  hermes agent check
  hermes agent check --timeout 30s --json | jq .answer
  hermes config show agent")]
struct Check {
    /// Longest wait for the answer; 0 leaves it to agent.timeout
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = edit::seconds)]
    timeout: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What is asked.
const PROMPT: &str = "Reply with the single word: ready";

impl Agent {
    /// Runs the verb.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        match self.verb {
            Verb::Check(check) => check.run(runtime),
        }
    }
}

/// A turn, and what is told of it.
struct Seen {
    program: String,
    prompt_by: PromptBy,
    can_resume: bool,
    shows_prompts: bool,
    limit: Option<Duration>,
    /// Words in braces that are given to the agent as they stand.
    literal: Vec<String>,
    problems: Vec<String>,
    ended: Ended,
    took: Duration,
}

impl Check {
    fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let home = runtime.one_home()?;
        let environ = &runtime.environ;
        let variable = |name: &str| environ.text(name).map(str::to_owned);
        let config = Config::load(&home, &variable, &[]);
        let parts = Parts::of(runtime, &home, &config, Box::new(|_| {}))?;
        for problem in &parts.agent.problems {
            runtime.out.warn(&human::printable(&format!("{problem}.")));
        }
        let agent = self.agent(&parts.agent)?;
        let path = parts.environment.get("PATH").map(OsStr::new);
        let program = find_programs(&agent, path)?;
        let ours = parts
            .environment
            .iter()
            .map(|(name, value)| (OsStr::new(name), OsStr::new(value)));
        let place = Place {
            cwd: home.path().is_dir().then(|| home.path().to_path_buf()),
            env: agent.environment(ours, []),
        };
        if !self.json {
            let shown = human::printable(&program.display().to_string());
            runtime.out.note(&format!("Asking {shown} for one word."));
        }
        let began = runtime.clock.now().monotonic;
        let variable = |name: &str| parts.environment.get(name).map(OsString::from);
        let ended = ask(&agent, &variable, place)?;
        let took = runtime.clock.now().monotonic.saturating_sub(began);
        let seen = Seen {
            program: program.display().to_string(),
            prompt_by: agent.prompt,
            can_resume: agent.can_resume(),
            shows_prompts: agent.shows_prompts(),
            limit: agent.timeout,
            literal: agent.literal_marks(),
            problems: parts.agent.problems.clone(),
            ended: hidden(ended, &parts.environment),
            took,
        };
        self.tell(runtime, &seen)
    }

    /// The agent, which must answer within our time, if that has an end.
    fn agent(&self, settings: &Settings) -> Result<AgentCommand> {
        let mut agent = settings.resolve()?;
        let most = (self.timeout > 0).then(|| Duration::from_secs(self.timeout));
        agent.timeout = [agent.timeout, most].into_iter().flatten().min();
        Ok(agent)
    }

    fn tell(&self, runtime: &mut Runtime, seen: &Seen) -> Result<Exit> {
        let answered = seen.ended.succeeded();
        let exit = if answered { Exit::OK } else { Exit::FAILED };
        let answer = &seen.ended.answer;
        if self.json {
            let document = json!({
                "schema": "hermes.agent-check/1",
                "ok": answered,
                "program": seen.program,
                "ended": end_words(seen),
                "answer": answer.text,
                "session": answer.session,
                "unexpected_form": answer.unexpected_form,
                "can_resume": seen.can_resume,
                "prompt_by": seen.prompt_by,
                "problems": seen.problems,
                "duration_ms": u64::try_from(seen.took.as_millis()).unwrap_or(u64::MAX),
                "stderr": seen.ended.stderr_tail,
            });
            json::print(&mut runtime.out, &document)?;
            return Ok(exit);
        }
        let verdict = if answered {
            "The agent answers."
        } else {
            "The agent does not answer."
        };
        runtime.out.line(verdict)?;
        for (label, text) in facts(seen) {
            let text = human::printable(&text);
            let line = wrap::hanging(
                &text,
                runtime.out.width,
                &format!("  {label:9}"),
                "           ",
            );
            runtime.out.line(&line)?;
        }
        warn(runtime, seen);
        Ok(exit)
    }
}

fn facts(seen: &Seen) -> Vec<(&'static str, String)> {
    let answer: String = seen.ended.answer.text.chars().take(400).collect();
    let mut facts = vec![
        ("program", seen.program.clone()),
        ("ended", end_words(seen)),
        ("took", format!("{:.1} s", seen.took.as_secs_f64())),
        (
            "answer",
            if answer.is_empty() {
                "(none)".to_owned()
            } else {
                answer
            },
        ),
    ];
    if let Some(session) = &seen.ended.answer.session {
        facts.push(("session", session.clone()));
    }
    if !seen.ended.succeeded() && !seen.ended.stderr_tail.is_empty() {
        facts.push(("said", seen.ended.stderr_tail.clone()));
    }
    facts
}

/// What may surprise later.
fn warn(runtime: &mut Runtime, seen: &Seen) {
    if seen.ended.answer.unexpected_form {
        runtime.out.warn(
            "What it printed is not in the form of agent.answer; all of it counts as the answer.",
        );
    }
    if !seen.can_resume {
        runtime
            .out
            .note("It has no resume form, so every turn of a session begins anew (agent.resume).");
    }
    for word in &seen.literal {
        runtime.out.warn(&human::printable(&format!(
            "The agent is given {word} as it stands: nothing is put in its place there."
        )));
    }
    if seen.shows_prompts {
        runtime
            .out
            .note("Prompts are among its arguments, where every user of this host can read them.");
    }
}

/// How the command ended, in words.
fn end_words(seen: &Seen) -> String {
    let ended = &seen.ended;
    match ended.end {
        End::Exited(0) if ended.answer.failed => ended.answer.failure().unwrap_or_default(),
        End::Exited(code) => match &ended.answer.reason {
            Some(reason) => format!("exited with code {code}: {reason}"),
            None => format!("exited with code {code}"),
        },
        End::Signaled(signal) => format!("was killed by signal {signal}"),
        End::TimedOut => {
            let limit = seen.limit.map_or(0, |limit| limit.as_secs());
            let limit = human::duration(i64::try_from(limit).unwrap_or(i64::MAX));
            format!("was stopped: no end within its time limit (here at most {limit})")
        }
        End::Inactive => "was stopped: it was silent for too long".to_owned(),
        End::Cancelled => "was stopped on request".to_owned(),
    }
}

/// The same without secrets.
fn hidden(ended: Ended, environment: &BTreeMap<String, String>) -> Ended {
    let hide = |text: &str| redact(text, environment);
    let mut answer = ended.answer;
    answer.text = hide(&answer.text);
    answer.reason = answer.reason.as_deref().map(hide);
    Ended {
        stderr_tail: hide(&ended.stderr_tail),
        answer,
        ..ended
    }
}

/// Runs the turn. A signal that ends us ends it first, with all that it has started.
fn ask(
    agent: &AgentCommand,
    variable: &dyn Fn(&str) -> Option<OsString>,
    mut place: Place,
) -> Result<Ended> {
    let file = prompt_file(agent, PROMPT, &std::env::temp_dir())?;
    let path = file
        .as_ref()
        .map(|file| file.path().to_string_lossy().into_owned());
    let turn = Turn {
        prompt: PROMPT,
        session: None,
        prompt_file: path.as_deref(),
    };
    let mut invocation = prepare(agent, &turn, variable)?;
    invocation.argv = guarded(invocation.argv);
    let reactor = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context(Kind::Internal, "there is no event loop")?;
    let ended = reactor.block_on(async {
        let (marked, told) = Survivor::default().mark();
        told?;
        place.env.push(marked.variable());
        let (ask, cancel) = watch::channel(false);
        let mut asked = signals()?;
        let mut running = pin!(run_turn(agent, invocation, place, cancel, |_, _| {}));
        let ended = loop {
            tokio::select! {
                ended = &mut running => break ended?,
                () = asked.any() => {
                    let _the_turn_is_over = ask.send(true);
                }
            }
        };
        if ended.end.is_by_us() {
            marked.end_what_is_left().await;
        }
        Ok(ended)
    });
    ended.map_err(|error: Error| {
        Error::new(error.kind(), "the agent could not be started").with_source(error)
    })
}

/// The signals that end us.
struct Signals([Signal; 3]);

fn signals() -> Result<Signals> {
    let listen =
        |kind| signal(kind).map_err(|error| Error::io("failed to listen for signals", error));
    Ok(Signals([
        listen(SignalKind::interrupt())?,
        listen(SignalKind::terminate())?,
        listen(SignalKind::hangup())?,
    ]))
}

impl Signals {
    async fn any(&mut self) {
        let [interrupt, terminate, hangup] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}
