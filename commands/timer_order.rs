//! Orders to the timer of a session, and its past: by way of serve, or, where none runs, straight on
//! the store. They need neither a model nor the network.

use clap::Args;
use hermes::config::{Config, Settings};
use hermes::error::Result;
use hermes::home::Home;
use hermes::output::layout::{self, Step};
use hermes::output::{human, json};
use hermes::runtime::Runtime;
use hermes::server::client::Client;
use hermes::server::offline::unreadable::{self, SetAside};
use hermes::server::offline::{self, Which, Whose};
use hermes::timers::event::{TimerEvent, TimerRules};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::asking;
use crate::exit::Exit;
use crate::when::When;

/// What is ordered.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Verb {
    /// No wake-up until it is resumed.
    Pause,
    /// Wake-ups again.
    Resume,
    /// The end.
    Stop,
}

impl Verb {
    fn word(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Stop => "stop",
        }
    }

    fn action(self, which: Which) -> &'static str {
        match (self, which) {
            (Self::Pause, Which::Loop) => "loop.pause",
            (Self::Resume, Which::Loop) => "loop.resume",
            (Self::Stop, Which::Loop) => "loop.stop",
            (Self::Pause, Which::Heartbeat) => "heartbeat.pause",
            (Self::Resume, Which::Heartbeat) => "heartbeat.resume",
            (Self::Stop, Which::Heartbeat) => "heartbeat.clear",
        }
    }

    fn event(self) -> TimerEvent {
        match self {
            Self::Pause => TimerEvent::Pause("paused by the user".to_owned()),
            Self::Resume => TimerEvent::Resume,
            Self::Stop => TimerEvent::Stop("stopped by the user".to_owned()),
        }
    }
}

/// A session whose timer is meant.
#[derive(Args, Debug)]
pub(crate) struct Order {
    /// The session: its id or the begin of it, or its title
    session: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Order {
    /// Orders.
    pub(crate) fn run(self, which: Which, verb: Verb, runtime: &mut Runtime) -> Result<Exit> {
        let home = runtime.one_home()?;
        if let Some((session, row, said)) = self.unreadable(which, verb, runtime)? {
            return self.told((which, verb), (&session, &row, &said), runtime);
        }
        // A store that cannot be read here is no reason not to ask serve.
        let theirs = offline::of_hermes_agent(&home, &self.session);
        let serve = match theirs {
            Ok(Some(_)) => None,
            _ => asking::serve(runtime)?,
        };
        let (session, row, said) = if let Some(mut client) = serve {
            if let Some(ended) = self.ended(verb, &mut client, &home)? {
                let done = offline(Whose::Ended(&ended), (which, verb), runtime)?;
                return self.told((which, verb), (&done.0, &done.1, &done.2), runtime);
            }
            let session = asking::session(&mut client, &self.session)?;
            session.tell_reopened(runtime);
            let params = json!({"session_id": session.id, "action": verb.action(which)});
            let answer = client.call("session.control", &params)?;
            let said = format!("/{} status", which.word());
            let said = asking::command(&mut client, &session, &said)?;
            let row = answer.pointer(&format!("/control/{}", which.word()));
            (session.stored, row.cloned().unwrap_or_default(), said)
        } else {
            let whose = theirs?.map_or(Whose::Ours(&self.session), Whose::HermesAgents);
            offline(whose, (which, verb), runtime)?
        };
        self.told((which, verb), (&session, &row, &said), runtime)
    }

    /// Ends a timer whose row cannot be read, also beside a serve: none drives it.
    fn unreadable(
        &self,
        which: Which,
        verb: Verb,
        runtime: &Runtime,
    ) -> Result<Option<(String, Value, String)>> {
        let (Verb::Stop, TimerEvent::Stop(reason)) = (verb, verb.event()) else {
            return Ok(None);
        };
        let home = runtime.one_home()?;
        let ended = unreadable::end(runtime, &home, (&self.session, which), &reason)?;
        Ok(ended.map(|SetAside { ordered, key }| {
            let row = serde_json::from_str(&ordered.row).unwrap_or_default();
            let (kind, session) = (which.word(), ordered.session);
            let said = format!(
                "The {kind} of {session} is cleared. What was written of it and could not be read is kept in \
                 state.db, in state_meta under '{key}'."
            );
            (session, row, said)
        }))
    }

    /// The session, where it has ended and is to stay so: an end or a pause of its timer opens none again.
    fn ended(&self, verb: Verb, client: &mut Client, home: &Home) -> Result<Option<String>> {
        if matches!(verb, Verb::Resume) || asking::held(client, &self.session)?.is_some() {
            return Ok(None);
        }
        // A store that cannot be read here is no reason not to ask serve.
        let ended = offline::ended(home, &self.session).unwrap_or_default();
        Ok(ended.map(|ended| ended.session))
    }

    fn told(
        &self,
        (which, verb): (Which, Verb),
        (session, row, said): (&str, &Value, &str),
        runtime: &mut Runtime,
    ) -> Result<Exit> {
        if self.json {
            let word = which.word();
            let schema = format!("hermes.{word}.{}/1", verb.word());
            let document = json!({"schema": schema, "session": session, (word): row});
            json::print(&mut runtime.out, &document)?;
        } else {
            runtime.out.line(&human::printable(said))?;
        }
        Ok(Exit::OK)
    }
}

/// Orders on the store.
fn offline(
    whose: Whose<'_>,
    (which, verb): (Which, Verb),
    runtime: &mut Runtime,
) -> Result<(String, Value, String)> {
    let home = runtime.one_home()?;
    let variable = |name: &str| runtime.environ.text(name).map(str::to_owned);
    let rules = TimerRules::of(&Settings::of(&Config::load(&home, &variable, &[])));
    let order = offline::Order {
        which,
        event: &verb.event(),
        rules: &rules,
    };
    let done = offline::order(runtime, &home, whose, order)?;
    let row: Value = serde_json::from_str(&done.row).unwrap_or_default();
    let status = row
        .get("status")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let kind = which.word();
    let said = format!("The {kind} of {} is {status}.", done.session);
    if status == "active" && done.ours {
        runtime.out.note(&format!(
            "No serve runs for this home, so nothing drives the {kind}; start one: hermes serve"
        ));
    } else if status == "active" {
        runtime.out.note(&format!(
            "The session is Hermes Agent's and no process has it, so nothing drives the {kind}."
        ));
    }
    Ok((done.session, row, said))
}

/// A session whose timers' past is meant.
#[derive(Args, Debug)]
pub(crate) struct History {
    /// The session: its id or the begin of it, or its title
    session: String,
    /// At most so many wake-ups
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn at(tick: &Value, key: &str) -> Option<Timestamp> {
    hermes::db::instant(tick.get(key)?.as_f64()?)
}

fn shown(tick: &Value, when: &When) -> Vec<String> {
    let number = |key: &str| tick.get(key).and_then(Value::as_u64).unwrap_or_default();
    let text = |key: &str| {
        let text = tick.get(key).and_then(Value::as_str).unwrap_or_default();
        text.lines().next().unwrap_or_default().to_owned()
    };
    let (began, ended) = (at(tick, "claimed_at"), at(tick, "ended_at"));
    let took = began.zip(ended).map(|(began, ended)| {
        let took = ended.duration_since(began);
        human::duration(took.as_secs())
    });
    vec![
        number("number").to_string(),
        when.ago(began),
        took.unwrap_or_default(),
        number("missed").to_string(),
        // The word of runs; the store has another one for wake-ups.
        text("outcome").replace("finished", "completed"),
        text("detail"),
    ]
}

impl History {
    /// Prints it, the newest first.
    pub(crate) fn run(self, which: Which, runtime: &mut Runtime) -> Result<Exit> {
        let (session, ticks) = match asking::serve(runtime)? {
            Some(mut client) => {
                let id = match asking::held(&mut client, &self.session)? {
                    Some(held) => held.stored,
                    None => asking::stored(&mut client, &self.session)?,
                };
                let params = json!({"session_id": id, "kind": which.word(), "limit": self.limit});
                let mut answer = client.call("timer.history", &params)?;
                let ticks = answer.get_mut("ticks").map(Value::take);
                let ticks = ticks.and_then(|ticks| ticks.as_array().cloned());
                (id, ticks.unwrap_or_default())
            }
            None => self.stored(which, runtime)?,
        };
        if self.json {
            let schema = format!("hermes.{}.history/1", which.word());
            let document = json!({"schema": schema, "session": session, "ticks": ticks});
            json::print(&mut runtime.out, &document)?;
        } else if ticks.is_empty() {
            runtime
                .out
                .line(&format!("No wake-up of a {} is recorded.", which.word()))?;
        } else {
            let when = When::of(runtime)?;
            let headings = ["number", "began", "took", "missed", "outcome", "detail"];
            let rows = ticks.iter().map(|tick| shown(tick, &when)).collect();
            let narrow = [Step::Cut("detail"), Step::Drop("missed")];
            let text = layout::rows(&runtime.out, &headings, &narrow, rows);
            runtime.out.line(&text)?;
        }
        Ok(Exit::OK)
    }

    fn stored(&self, which: Which, runtime: &Runtime) -> Result<(String, Vec<Value>)> {
        let home = runtime.one_home()?;
        let (session, ticks) = offline::ticks(&home, &self.session, which, self.limit)?;
        Ok((session, ticks.iter().map(|tick| json!(tick)).collect()))
    }
}

/// Sets a timer by its slash command; in a new session where none is named.
pub(crate) fn set(
    runtime: &mut Runtime,
    which: Which,
    session: Option<&str>,
    text: &str,
    json: bool,
) -> Result<Exit> {
    let kind = which.word();
    let mut client = asking::needed(runtime, &format!("nothing would drive this {kind}"))?;
    let session = match session {
        Some(name) => asking::session(&mut client, name)?,
        None => asking::create(&mut client, runtime.cwd.as_deref())?,
    };
    session.tell_reopened(runtime);
    let said = asking::command(&mut client, &session, &format!("/{kind} {text}"))?;
    if json {
        let params = json!({"session_id": session.id});
        let answer = client.call("session.control.read", &params)?;
        let row = answer.pointer(&format!("/control/{kind}")).cloned();
        let document = json!({
            "schema": format!("hermes.{kind}.start/1"),
            "session": session.stored,
            (kind): row,
            "said": said,
        });
        json::print(&mut runtime.out, &document)?;
    } else {
        runtime.out.line(&human::printable(&said))?;
        runtime.out.line(&format!("session {}", session.stored))?;
    }
    Ok(Exit::OK)
}
