//! A loop in this terminal, without any serve: one line a tick, a countdown, and Ctrl-C pauses.
//!
//! It is stored nowhere and drives no session; it ends with the terminal, and says so.

use std::io::IsTerminal as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, watch};

use super::driver::Input;
use super::hub::{End, Event, TurnSpec};
use super::settings::{self, Read};
use super::{judge, start, turn};
use crate::agent;
use crate::error::{Error, Result};
use crate::output::human::span;
use crate::runtime::Runtime;
use crate::timers::args::LoopArgs;
use crate::timers::event::{NeverBegan, Outcome, TimerEffect, TimerEvent};
use crate::timers::loop_state::LoopState;
use crate::timers::row::Status;

/// What agents and the judge are told as the session.
const SESSION: &str = "foreground";
/// How much of an answer is shown in the line of its tick, in characters.
const SHOWN: usize = 120;

/// Runs a loop until it ends, pauses itself, or Ctrl-C is pressed.
///
/// # Errors
/// When no agent is configured, or the output cannot be written.
pub fn run(runtime: &mut Runtime, args: &LoopArgs, cwd: Option<PathBuf>) -> Result<()> {
    let home = runtime.one_home()?;
    let read = settings::read(&home, &runtime.environ, &[]);
    let reactor = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::io("failed to start the event loop", error))?;
    let run_dir = tempfile::tempdir()
        .map_err(|error| Error::io("failed to make a temporary directory", error))?;
    let mut around = start::surroundings(&home, runtime);
    run_dir.path().clone_into(&mut around.run_dir);
    around.cwd = cwd.or(around.cwd);
    let now = runtime.clock.wall().as_duration().as_secs_f64();
    let agent = agent::Settings::of(&read.config)?.resolve()?;
    // From here on no Ctrl-C is lost, whatever we are at.
    let ctrl_c = {
        let _reactor = reactor.enter();
        signal(SignalKind::interrupt())
            .map_err(|error| Error::io("failed to listen for Ctrl-C", error))?
    };
    let here = Here {
        ctrl_c,
        state: LoopState::start(args, &read.hub.rules, now),
        agent: Arc::new(agent),
        agent_session: None,
        ticks: 0,
        around,
        read,
    };
    reactor.block_on(here.turn(runtime))
}

struct Here {
    ctrl_c: Signal,
    state: LoopState,
    agent: Arc<agent::AgentCommand>,
    agent_session: Option<String>,
    ticks: u64,
    around: turn::Surroundings,
    read: Read,
}

impl Here {
    async fn turn(mut self, runtime: &mut Runtime) -> Result<()> {
        runtime
            .out
            .note("This loop is stored nowhere: it ends with this terminal.");
        while self.state.row.status == Status::Active {
            let now = runtime.clock.wall().as_duration().as_secs_f64();
            let rules = self.read.hub.rules.clone();
            let wait = self.state.next_wake(&rules).map_or(0.0, |at| at - now);
            if wait > 0.0 {
                if interrupted(wait, &mut self.ctrl_c).await {
                    self.state
                        .step(TimerEvent::Pause("Ctrl-C".to_owned()), &rules, now);
                    break;
                }
                continue;
            }
            let effects = self
                .state
                .step(TimerEvent::Due { busy: false }, &rules, now);
            self.obey(effects, runtime).await?;
        }
        let row = &self.state.row;
        let why = row.last_stop_reason.as_ref().or(row.paused_reason.as_ref());
        let why = why.map_or(String::new(), |why| format!(" ({why})"));
        runtime.out.note(&format!(
            "loop {}{why} after {} ticks",
            row.status.word(),
            self.ticks
        ));
        Ok(())
    }

    async fn obey(&mut self, effects: Vec<TimerEffect>, runtime: &mut Runtime) -> Result<()> {
        let mut effects = std::collections::VecDeque::from(effects);
        while let Some(effect) = effects.pop_front() {
            let event = match effect {
                TimerEffect::Save | TimerEffect::Notice(_) => continue,
                TimerEffect::Judge { until, answer } => self.judged(until, answer).await,
                TimerEffect::Wake { text, missed } => self.tick(&text, missed, runtime).await?,
            };
            let now = runtime.clock.wall().as_duration().as_secs_f64();
            let rules = self.read.hub.rules.clone();
            effects.extend(self.state.step(event, &rules, now));
        }
        Ok(())
    }

    /// What the judge says on the condition; Ctrl-C pauses here too.
    async fn judged(&mut self, until: String, answer: String) -> TimerEvent {
        let (sender, mut inputs) = mpsc::channel(1);
        let (cancel, cancelled) = watch::channel(false);
        let question = judge::Question {
            session: SESSION.to_owned(),
            until,
            answer,
        };
        let around = self.around.clone();
        let command = self.read.judge.clone();
        let asking = tokio::spawn(judge::ask(command, question, around, cancelled, sender));
        let mut interrupted = false;
        let mut verdict = (false, String::new());
        loop {
            tokio::select! {
                input = inputs.recv() => match input {
                    Some(Input::Event(Event::Judged(said))) => verdict = (said.met, said.reason),
                    Some(_) => {}
                    None => break,
                },
                _ = self.ctrl_c.recv() => {
                    interrupted = true;
                    let _ended = cancel.send(true);
                }
            }
        }
        let _panicked = asking.await;
        if interrupted {
            return TimerEvent::Pause("Ctrl-C".to_owned());
        }
        let (met, reason) = verdict;
        TimerEvent::Judged { met, reason }
    }

    /// One run of the agent; what it means to the loop.
    async fn tick(
        &mut self,
        prompt: &str,
        missed: u64,
        runtime: &mut Runtime,
    ) -> Result<TimerEvent> {
        let (sender, mut inputs) = mpsc::channel(64);
        let (cancel, cancelled) = watch::channel(false);
        let spec = TurnSpec {
            turn: 1,
            stored_id: SESSION.to_owned(),
            agent: Arc::clone(&self.agent),
            prompt: prompt.to_owned(),
            agent_session: self
                .agent_session
                .clone()
                .filter(|_| self.agent.can_resume()),
            cwd: None,
        };
        let begun = runtime.clock.now().monotonic;
        let running = tokio::spawn(turn::run(spec, self.around.clone(), cancelled, sender));
        let rules = self.read.hub.rules.clone();
        let now = runtime.clock.wall().as_duration().as_secs_f64();
        let mut over = TimerEvent::TurnNeverBegan(NeverBegan::Stopping);
        loop {
            tokio::select! {
                input = inputs.recv() => match input {
                    Some(Input::Event(Event::TurnBegan(_))) => {
                        self.state.step(TimerEvent::TurnBegan, &rules, now);
                    }
                    Some(Input::Event(Event::TurnNotStarted(_, why))) => {
                        runtime.out.warn(&why);
                        over = TimerEvent::TurnNeverBegan(NeverBegan::Failed(why));
                    }
                    Some(Input::Event(Event::TurnEnded(_, end))) => {
                        let took = runtime.clock.now().monotonic.saturating_sub(begun).as_secs_f64();
                        self.ticks += 1;
                        self.line(&end, missed, took, runtime)?;
                        over = TimerEvent::Answered(self.outcome(*end));
                    }
                    Some(_) => {}
                    None => break,
                },
                _ = self.ctrl_c.recv() => {
                    let _ended = cancel.send(true);
                }
            }
        }
        let _panicked = running.await;
        Ok(over)
    }

    fn line(&self, end: &End, missed: u64, took: f64, runtime: &mut Runtime) -> Result<()> {
        let at = runtime
            .clock
            .wall()
            .to_zoned_datetime(self.read.hub.zone.clone());
        let said = end.failed.as_deref().unwrap_or(&end.text);
        let said = said.lines().rev().find(|line| !line.trim().is_empty());
        let said: String = said.unwrap_or("(no answer)").chars().take(SHOWN).collect();
        let missed = if missed > 0 {
            format!(" ({missed} missed)")
        } else {
            String::new()
        };
        let said = crate::output::human::printable(&said);
        let line = format!(
            "{}  #{}{missed}  {}  {said}",
            at.strftime("%H:%M:%S"),
            self.ticks,
            span(took)
        );
        runtime.out.line(&line)
    }

    fn outcome(&mut self, end: End) -> Outcome {
        if end.agent_session.is_some() || end.lost_session {
            self.agent_session = end.agent_session;
        }
        match (end.cancelled, end.failed) {
            (true, _) => Outcome::Interrupted,
            (false, Some(why)) => Outcome::Failed(why),
            (false, None) => Outcome::Finished(end.text),
        }
    }
}

/// Waits, with a countdown on a terminal; whether Ctrl-C was pressed. Never longer than a second at a
/// time on a terminal, so that the countdown counts.
async fn interrupted(wait: f64, ctrl_c: &mut Signal) -> bool {
    let terminal = std::io::stderr().is_terminal();
    let longest = if terminal { 1.0 } else { 60.0 };
    if terminal {
        let mut stderr = std::io::stderr();
        let _nobody_looks = write!(stderr, "\r\x1b[Knext in {}", span(wait.ceil()));
        let _nobody_looks = stderr.flush();
    }
    let wait = Duration::try_from_secs_f64(wait.min(longest)).unwrap_or(Duration::from_secs(1));
    let pressed = tokio::select! {
        () = tokio::time::sleep(wait) => false,
        _ = ctrl_c.recv() => true,
    };
    if terminal {
        let mut stderr = std::io::stderr();
        let _nobody_looks = write!(stderr, "\r\x1b[K");
        let _nobody_looks = stderr.flush();
    }
    pressed
}
