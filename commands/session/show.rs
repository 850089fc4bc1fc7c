//! `hermes session show`.

use clap::Args;
use hermes::error::Result;
use hermes::output::{human, json};
use hermes::runtime::Runtime;
use hermes::server::offline::{self, Ended};
use hermes::sessions::ending;
use serde_json::{Value, json};

use crate::asking;
use crate::exit::Exit;
use crate::when::When;

/// Show a session: what it does, who holds it, what was said last
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  hermes session show 20260101_09
  hermes session show 20260101_090000_aaaaaa --messages 50")]
pub(super) struct Show {
    /// The session: its id or the begin of it, or its title
    session: String,
    /// So many of its newest messages
    #[arg(long, value_name = "N", default_value_t = 5)]
    messages: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What is to be said of a session that serve does not hold.
fn parked(id: &str, ended: Option<&Ended>, runtime: &Runtime) -> Result<String> {
    let Some(Ended { at, why, .. }) = ended else {
        return Ok(format!("Session {id} is open, and serve does not hold it."));
    };
    let at = When::of(runtime)?.whole(*at);
    let why = ending::in_full(why);
    Ok(format!("Session {id} has ended, {at}: {why}."))
}

impl Show {
    /// Prints it. A session that serve does not hold is not loaded for that.
    pub(super) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let mut client = asking::needed(runtime, "nobody can be asked for the session")?;
        let held = asking::held(&mut client, &self.session)?;
        let id = match &held {
            Some(held) => held.stored.clone(),
            None => asking::stored(&mut client, &self.session)?,
        };
        let params = json!({"session_id": id, "limit": self.messages});
        let history = client.call("session.history", &params)?;
        let messages = history.get("messages").cloned().unwrap_or_default();
        let ended = match &held {
            Some(_) => None,
            None => offline::ended(&runtime.one_home()?, &id)?,
        };
        let (status, said) = match &held {
            Some(held) => {
                let status = client.call("session.status", &json!({"session_id": held.id}))?;
                (status, asking::command(&mut client, held, "/status")?)
            }
            None => (Value::Null, parked(&id, ended.as_ref(), runtime)?),
        };
        if self.json {
            let document = json!({
                "schema": "hermes.session.show/1",
                "session": id,
                "status": status,
                "ended_at": ended.as_ref().and_then(|ended| ended.at).map(|at| at.to_string()),
                "end_reason": ended.as_ref().map(|ended| &ended.why),
                "messages": messages,
            });
            json::print(&mut runtime.out, &document)?;
            return Ok(Exit::OK);
        }
        for line in said.lines() {
            runtime.out.line(&human::printable(line))?;
        }
        for message in messages.as_array().into_iter().flatten() {
            let text = |key: &str| message.get(key).and_then(Value::as_str).unwrap_or_default();
            runtime
                .out
                .line(&format!("\n{} ({}):", text("origin"), text("state")))?;
            for line in text("content").lines() {
                runtime.out.line(&format!("  {}", human::printable(line)))?;
            }
        }
        Ok(Exit::OK)
    }
}
