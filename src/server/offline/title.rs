//! The title of a session that nobody holds.

use super::{CANDIDATES, look_up, one, theirs, unknown, unread};
use crate::error::{Error, Kind, Result};
use crate::home::Home;
use crate::runtime::Runtime;
use crate::sessions::rows;
use crate::sessions::store::{Store, Write};

/// The session that a name means, and its title. Writes nothing.
///
/// # Errors
/// When the name means no session, or the store cannot be read.
pub fn title(home: &Home, name: &str) -> Result<(String, Option<String>)> {
    let (snapshot, named) = look_up(home, name)?.ok_or_else(|| unknown(name))?;
    let named = one(name, named)?;
    let row = snapshot.read(|connection| rows::session_by_id(connection, &named.id));
    let row = row.map_err(|damage| unread(home, damage))?;
    Ok((named.id, row.and_then(|row| row.title)))
}

/// Gives a session of ours that no serve holds another title, also beside a serve. The session's id.
///
/// # Errors
/// When the name means no session of ours, anybody alive has it, or the store refuses.
pub fn set_title(runtime: &Runtime, home: &Home, name: &str, title: &str) -> Result<String> {
    let path = home.state_db();
    if !path.exists() {
        return Err(unknown(name));
    }
    let mut store = Store::open(&path)?;
    let named = one(name, store.named(name, CANDIDATES)?)?;
    if !named.ours {
        let message = format!(
            "session '{}' is Hermes Agent's, which titles its own",
            named.id
        );
        return Err(Error::new(Kind::Refused, message));
    }
    theirs::free_of_others((runtime, home), &named.id)?;
    store.write(&[Write::Title(named.id.clone(), title.to_owned())])?;
    Ok(named.id)
}
