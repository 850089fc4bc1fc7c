//! Asking the serve of a home: what all verbs that need one have in common.

use std::path::Path;

use hermes::error::{Error, Kind, Result};
use hermes::output::human;
use hermes::runtime::Runtime;
use hermes::server::client::Client;
use hermes::server::neighbours;
use hermes::sessions::ending;
use serde_json::{Value, json};

/// The serve of the home, if one runs.
pub(crate) fn serve(runtime: &Runtime) -> Result<Option<Client>> {
    Client::connect(&runtime.one_home()?)
}

/// The serve of the home; without one the error says how to start it.
pub(crate) fn needed(runtime: &Runtime, what: &str) -> Result<Client> {
    let home = runtime.one_home()?;
    Client::connect(&home)?.ok_or_else(|| {
        let mut error = Error::new(
            Kind::Unavailable,
            format!("no serve runs for this home, so {what}"),
        );
        if let Some(pid) = neighbours::of_desktop_alone(runtime, &home) {
            error = error.with_hint(format!(
                "the only backend of this home belongs to a desktop application (pid {pid}): what \
                 is set there ends with it"
            ));
        }
        error
            .with_hint("start one that stays: hermes serve")
            .with_hint("or let the service manager keep one: hermes service print --user")
    })
}

/// A session that serve holds.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    /// Its runtime id.
    pub(crate) id: String,
    /// Its id in the store.
    pub(crate) stored: String,
    /// Why it had ended, by the code of the store, where it is opened again by this.
    pub(crate) reopened: Option<String>,
}

impl Named {
    /// Says that a session that had ended is open again: nobody is to learn that later.
    pub(crate) fn tell_reopened(&self, runtime: &mut Runtime) {
        if let Some(why) = &self.reopened {
            let why = human::printable(&ending::in_full(why));
            let stored = human::printable(&self.stored);
            runtime.out.note(&format!(
                "Session {stored} had ended ({why}); it is open again."
            ));
        }
    }
}

fn text(value: &Value, key: &str) -> String {
    value
        .get(key)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

/// The sessions that serve holds, as it lists them.
pub(crate) fn live(client: &mut Client) -> Result<Vec<Value>> {
    let answer = client.call("session.active_list", &json!({}))?;
    let rows = answer.get("sessions").and_then(Value::as_array);
    Ok(rows.cloned().unwrap_or_default())
}

/// The session that a name means: its id or the begin of it, its runtime id, its title. One that is
/// only stored is loaded.
pub(crate) fn session(client: &mut Client, name: &str) -> Result<Named> {
    if let Some(found) = held(client, name)? {
        return Ok(found);
    }
    let rows = stored_rows(client)?;
    let id = among(&rows, name)?;
    let params = json!({"session_id": id, "omit_messages": true});
    let answer = client.call("session.resume", &params)?;
    let stored = text(&answer, "stored_session_id");
    let row = rows.iter().find(|row| text(row, "id") == stored);
    let why = row.and_then(|row| row.get("end_reason")?.as_str());
    Ok(Named {
        id: text(&answer, "session_id"),
        reopened: why.map(str::to_owned),
        stored,
    })
}

/// The session among those that serve holds.
pub(crate) fn held(client: &mut Client, name: &str) -> Result<Option<Named>> {
    let rows = live(client)?;
    let named = |row: &&Value| {
        let (id, key) = (text(row, "id"), text(row, "session_key"));
        id == name || key.starts_with(name) || text(row, "title") == name
    };
    let found: Vec<Named> = rows
        .iter()
        .filter(named)
        .map(|row| Named {
            id: text(row, "id"),
            stored: text(row, "session_key"),
            reopened: None,
        })
        .collect();
    let exact = found
        .iter()
        .find(|one| one.stored == name || one.id == name);
    match (exact, found.as_slice()) {
        (Some(one), _) | (None, [one]) => Ok(Some(one.clone())),
        (None, []) => Ok(None),
        (None, many) => Err(ambiguous(name, many.iter().map(|one| one.stored.as_str()))),
    }
}

/// The stored session that the begin of an id means.
pub(crate) fn stored(client: &mut Client, name: &str) -> Result<String> {
    among(&stored_rows(client)?, name)
}

/// The sessions that serve has stored, as it lists them.
fn stored_rows(client: &mut Client) -> Result<Vec<Value>> {
    let params = json!({"limit": 10_000, "include_hidden": true});
    let answer = client.call("session.list", &params)?;
    let rows = answer.get("sessions").and_then(Value::as_array);
    Ok(rows.cloned().unwrap_or_default())
}

fn among(rows: &[Value], name: &str) -> Result<String> {
    let ids: Vec<String> = rows.iter().map(|row| text(row, "id")).collect();
    if ids.iter().any(|id| id == name) {
        return Ok(name.to_owned());
    }
    let found: Vec<&str> = ids
        .iter()
        .map(String::as_str)
        .filter(|id| id.starts_with(name))
        .collect();
    match found.as_slice() {
        [one] => Ok((*one).to_owned()),
        // It may be a title.
        [] => Ok(name.to_owned()),
        many => Err(ambiguous(name, many.iter().copied())),
    }
}

fn ambiguous<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Error {
    let mut error = Error::new(
        Kind::NotFound,
        format!("'{name}' is the begin of several sessions"),
    );
    for candidate in candidates.take(10) {
        error = error.with_hint(candidate);
    }
    error
}

/// A new session, for work that the command line begins.
pub(crate) fn create(client: &mut Client, cwd: Option<&Path>) -> Result<Named> {
    let answer = client.call("session.create", &json!({"source": "cli", "cwd": cwd}))?;
    Ok(Named {
        id: text(&answer, "session_id"),
        stored: text(&answer, "stored_session_id"),
        reopened: None,
    })
}

/// What a slash command says.
pub(crate) fn command(client: &mut Client, session: &Named, command: &str) -> Result<String> {
    let params = json!({"session_id": session.id, "command": command});
    Ok(text(&client.call("slash.exec", &params)?, "output"))
}
