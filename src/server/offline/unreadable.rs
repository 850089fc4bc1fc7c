//! The end of a timer whose row nobody can read: neither serve nor Hermes Agent drives it, so that it is
//! ended the same way beside either. What was written there is set aside, not lost.

use super::{Ordered, Which, one, stored, theirs};
use crate::error::Result;
use crate::home::Home;
use crate::runtime::Runtime;
use crate::sessions::store::{Store, timer_row};
use crate::timers::heartbeat_row::HeartbeatRow;
use crate::timers::loop_row::LoopRow;
use crate::timers::row::Status;

/// A timer that was ended unread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// What became of it.
    pub ordered: Ordered,
    /// The key in `state_meta` under which its old text lies.
    pub key: String,
}

/// Whether this text is no row of a timer of this kind.
fn is_unreadable(which: Which, text: &str) -> bool {
    match which {
        Which::Loop => LoopRow::parse(text).is_err(),
        Which::Heartbeat => HeartbeatRow::parse(text).is_err(),
    }
}

/// The row of a timer that was ended, of which nothing else is known.
fn ended(which: Which, reason: &str) -> String {
    const NOTHING: &str = "{}";
    let text = match which {
        Which::Loop => LoopRow::parse(NOTHING).map(|mut row| {
            row.status = Status::Cleared;
            row.last_stop_reason = Some(reason.to_owned());
            row.text()
        }),
        Which::Heartbeat => HeartbeatRow::parse(NOTHING).map(|mut row| {
            row.status = Status::Cleared;
            row.text()
        }),
    };
    text.unwrap_or_default()
}

/// Ends the timer of the session that a name means, where its row cannot be read; `None` where it can, or
/// the store tells nothing now: then it is another's to say why. It is written to for such a row alone.
///
/// # Errors
/// When anybody else alive may have a session of Hermes Agent's, or the store refuses.
pub fn end(
    runtime: &Runtime,
    home: &Home,
    (name, which): (&str, Which),
    reason: &str,
) -> Result<Option<SetAside>> {
    let Ok(Some((snapshot, named))) = super::look_up(home, name) else {
        return Ok(None);
    };
    let Ok(named) = one(name, named) else {
        // Whoever is asked next says what a name may mean, and knows more names.
        return Ok(None);
    };
    let (id, ours) = (named.id, named.ours);
    let kind = which.word();
    let Ok(Some(text)) = snapshot.read(|connection| timer_row(connection, &id, kind)) else {
        return Ok(None);
    };
    if !is_unreadable(which, &text) {
        return Ok(None);
    }
    if !ours {
        theirs::free_of_anybody((runtime, home), &id)?;
    }
    let row = ended(which, reason);
    let at = runtime.clock.wall().as_millisecond();
    let key = format!("unreadable:{kind}:{id}:{at}");
    let mut store = Store::open(&home.state_db())?;
    stored(store.set_aside((&id, kind), (&text, &row), &key)?)?;
    let session = id;
    let ordered = Ordered { session, row, ours };
    Ok(Some(SetAside { ordered, key }))
}
