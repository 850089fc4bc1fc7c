//! Slash commands that serve knows: `/loop`, `/proactive`, `/heartbeat`, `/help`, `/status`. They need
//! neither a model nor the network. A command that serve does not know goes to the agent as text.

use std::path::Path;

use serde_json::{Value, json};

use super::Hub;
use super::event::{ConnId, Order, What};
use super::parked::Shape;
use super::rpc::Asked;
use crate::server::protocol::{Failure, Params, code};
use crate::sessions::schedule::TimerKind;
use crate::timers::args::{LoopArgs, LoopCommand, loop_command};
use crate::timers::event::TimerEvent;
use crate::timers::heartbeat_args::{HeartbeatCommand, heartbeat_command};
use crate::timers::row::Status;

/// What `/help` says.
const HELP: &str = "\
/loop [INTERVAL] PROMPT [--times N] [--until CONDITION]   run a prompt again and again; no interval: at its own pace
/loop status|pause|resume|stop                             look at the loop, or control it
/heartbeat [every] INTERVAL PROMPT                         ask this session to report at a cadence
/heartbeat status|pause|resume|stop                        look at the heartbeat, or control it
/status                                                    what this session does
Work that must run at fixed times, without this conversation, is a cron job: hermes cron create.";

/// Longest text of a timer, in bytes: each wake-up and each look at it has it whole. A standing task that
/// is in a file is cut there.
const TIMER: usize = 64 << 10;

/// How `/loop` is used.
const LOOP_USAGE: &str = "usage: /loop [INTERVAL] PROMPT [--times N] [--until CONDITION], \
as in /loop 5m check the build; a bare /loop takes its task from loop.md";

/// A command that serve knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    name: &'static str,
    arg: String,
}

/// What the answer to a command looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `command.dispatch`.
    Dispatch,
    /// `slash.exec`.
    Slash,
    /// `prompt.submit`.
    Submit,
}

impl Form {
    pub(super) fn answer(self, output: &str) -> Value {
        match self {
            Self::Dispatch => json!({"type": "exec", "output": output}),
            Self::Slash => json!({"output": output}),
            Self::Submit => json!({"status": "command", "output": output}),
        }
    }
}

const NAMES: [&str; 5] = ["loop", "proactive", "heartbeat", "help", "status"];

fn known(name: &str) -> Option<&'static str> {
    NAMES
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(name))
}

/// The command that a text is, if serve knows it.
pub(crate) fn ours(text: &str) -> Option<Command> {
    let text = text.trim().strip_prefix('/')?;
    let (name, arg) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let name = known(name)?;
    Some(Command {
        name,
        arg: arg.to_owned(),
    })
}

impl Hub {
    pub(super) fn dispatch(&mut self, asked: Asked<'_>) -> Result<Option<Value>, Failure> {
        let name = asked.params.required("name")?;
        let arg = asked.params.text("arg")?.unwrap_or_default().to_owned();
        let bare = name.trim_start_matches('/');
        let Some(name) = known(bare) else {
            let message = format!("/{bare} {arg}").trim_end().to_owned();
            return Ok(Some(json!({"type": "send", "message": message})));
        };
        let id = self.command_session(asked, name)?;
        Ok(self.run_command(&id, &Command { name, arg }, asked, Form::Dispatch))
    }

    pub(super) fn slash(&mut self, asked: Asked<'_>) -> Result<Option<Value>, Failure> {
        let text = asked.params.required("command")?;
        let text = format!("/{}", text.trim().trim_start_matches('/'));
        let Some(command) = ours(&text) else {
            return Err(Failure::new(
                code::NOT_DISPATCHABLE,
                format!("{text} is no command of serve; submit it as a prompt"),
            ));
        };
        let id = self.command_session(asked, command.name)?;
        Ok(self.run_command(&id, &command, asked, Form::Slash))
    }

    fn command_session(&mut self, asked: Asked<'_>, name: &str) -> Result<String, Failure> {
        let id = self.known(asked)?;
        // A look is no use of the session.
        if !matches!(name, "help" | "status") {
            self.need_store()?;
            self.used(asked.conn, &id)?;
        }
        Ok(id)
    }

    /// Runs a command; none where the answer comes later.
    pub(super) fn run_command(
        &mut self,
        id: &str,
        command: &Command,
        asked: Asked<'_>,
        form: Form,
    ) -> Option<Value> {
        let done = match command.name {
            "loop" | "proactive" | "heartbeat" if command.arg.len() > TIMER => Done::Says(format!(
                "What is run again and again has {TIMER} bytes at most."
            )),
            "help" => Done::Says(HELP.to_owned()),
            "status" => Done::Says(self.status_text(id)),
            "heartbeat" => self.heartbeat(id, &command.arg),
            _ => match loop_command(&command.arg) {
                Err(error) => Done::Says(format!("{error}. {LOOP_USAGE}")),
                Ok(LoopCommand::Bare) if !self.has_loop(id) => {
                    self.ask_for_task(id, asked, form);
                    return None;
                }
                Ok(asked) => self.looping(id, asked),
            },
        };
        let kind = if command.name == "heartbeat" {
            TimerKind::Heartbeat
        } else {
            TimerKind::Loop
        };
        match done {
            Done::Says(output) => Some(form.answer(&output)),
            Done::Shows => self.about_timer(asked, id, (kind, Shape::Words(form))),
            Done::Set => self.about_timer(asked, id, (kind, Shape::Set(form))),
        }
    }

    fn has_loop(&self, id: &str) -> bool {
        let row = self.sessions.get(id).and_then(|live| live.looping.as_ref());
        row.is_some_and(|one| matches!(one.state.row.status, Status::Active | Status::Paused))
    }

    fn has_heartbeat(&self, id: &str) -> bool {
        let row = self
            .sessions
            .get(id)
            .and_then(|live| live.heartbeat.as_ref());
        row.is_some_and(|one| matches!(one.state.row.status, Status::Active | Status::Paused))
    }

    fn looping(&mut self, id: &str, command: LoopCommand) -> Done {
        let event = match command {
            LoopCommand::Help => return Done::Says(LOOP_USAGE.to_owned()),
            LoopCommand::Set(args) => {
                self.set_loop(id, &args);
                return Done::Set;
            }
            LoopCommand::Bare | LoopCommand::Status => return Done::Says(self.loop_text(id)),
            _ if !self.has_loop(id) => return Done::Says(self.loop_text(id)),
            LoopCommand::Pause => TimerEvent::Pause("paused by the user".to_owned()),
            LoopCommand::Resume => TimerEvent::Resume,
            LoopCommand::Stop => TimerEvent::Stop("stopped by the user".to_owned()),
        };
        self.timer(id, TimerKind::Loop, event);
        Done::Shows
    }

    fn heartbeat(&mut self, id: &str, arg: &str) -> Done {
        let command = match heartbeat_command(arg) {
            Ok(command) => command,
            Err(error) => return Done::Says(format!("{error}.")),
        };
        let event = match command {
            HeartbeatCommand::Set {
                interval_seconds,
                prompt,
            } => {
                self.set_heartbeat(id, interval_seconds, &prompt);
                return Done::Set;
            }
            HeartbeatCommand::Bare if !self.has_heartbeat(id) => {
                let interval = u128::from(self.settings.beat_interval);
                let prompt = self.settings.beat_prompt.clone();
                self.set_heartbeat(id, interval, &prompt);
                return Done::Set;
            }
            HeartbeatCommand::Bare | HeartbeatCommand::Status => {
                return Done::Says(self.heartbeat_text(id));
            }
            _ if !self.has_heartbeat(id) => return Done::Says(self.heartbeat_text(id)),
            HeartbeatCommand::Pause => TimerEvent::Pause("paused by the user".to_owned()),
            HeartbeatCommand::Resume => TimerEvent::Resume,
            HeartbeatCommand::Clear => TimerEvent::Stop("stopped by the user".to_owned()),
        };
        self.timer(id, TimerKind::Heartbeat, event);
        Done::Shows
    }

    /// A bare `/loop` works on the session's standing task, which may be in a file.
    fn ask_for_task(&mut self, id: &str, asked: Asked<'_>, form: Form) {
        let cwd = self.sessions.get(id).and_then(|live| live.card.cwd.clone());
        let own = cwd.map(|cwd| Path::new(&cwd).join("loop.md"));
        let files = own.into_iter().chain([self.identity.home_task.clone()]);
        let then = asked.then(What::BareLoop(id.to_owned(), form));
        self.order(Order::Task(files.collect(), then));
    }

    /// The task was looked for: it, else the last message of the user, else the usage.
    pub(super) fn standing_task(
        &mut self,
        (conn, request, what): (ConnId, &Value, What),
        task: Option<String>,
    ) -> Option<Value> {
        let What::BareLoop(id, form) = what else {
            return Some(Value::Null);
        };
        let said = self
            .sessions
            .get(&id)
            .and_then(|live| live.last_asked.clone());
        let said = said.filter(|said| said.len() <= TIMER);
        let task = task.filter(|task| !task.trim().is_empty()).or(said);
        let Some(task) = task else {
            return Some(form.answer(LOOP_USAGE));
        };
        let args = LoopArgs {
            prompt: task.trim().to_owned(),
            ..LoopArgs::default()
        };
        self.set_loop(&id, &args);
        let asked = Asked {
            conn,
            id: request,
            params: &Params::default(),
        };
        self.about_timer(asked, &id, (TimerKind::Loop, Shape::Set(form)))
    }
}

/// What a command did.
enum Done {
    /// It has something to say.
    Says(String),
    /// It changed the timer.
    Shows,
    /// It set the timer.
    Set,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_serve_knows_is_a_command() {
        assert_eq!(
            ours("/loop 5m x y").map(|c| (c.name, c.arg)),
            Some(("loop", "5m x y".into()))
        );
        assert_eq!(ours(" /LOOP ").map(|c| c.name), Some("loop"));
        assert_eq!(
            ours("/heartbeat\nevery 5m x").map(|c| c.name),
            Some("heartbeat")
        );
        for text in [
            "",
            "/",
            "loop 5m x",
            "/loops",
            "/etc/passwd is odd",
            "/compact",
        ] {
            assert_eq!(ours(text), None, "{text}");
        }
    }
}
