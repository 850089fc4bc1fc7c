//! Orders to timers and sessions, and looks at their past, while no serve runs: straight on the store.
//!
//! The home is taken for as long as an order takes, so that no serve starts in the middle of it; one
//! that wants to start waits.

mod theirs;
mod title;
pub mod unreadable;

use super::instance::{self, Held, Instance};
use super::settings;
use jiff::Timestamp;

use crate::clock::Now;
use crate::db::{self, Damage, Snapshot};
use crate::error::{Error, Kind, Result};
use crate::home::Home;
use crate::runtime::Runtime;
use crate::sessions::ending;
use crate::sessions::rows;
use crate::sessions::schedule::left;
use crate::sessions::store::names::{self, Named};
use crate::sessions::store::{self, Found, Store, StoredTimer, Tick, Write};
use crate::timers::driver::{Save, Saved, Timer};
use crate::timers::event::{Proof, TimerEvent, TimerRules};

/// Why a session ends that somebody closes.
const CLOSED: &str = "tui_close";
/// Sessions that are named where a name may mean several.
const CANDIDATES: u32 = 10;

pub use self::title::{set_title, title};
pub use crate::sessions::schedule::TimerKind as Which;

/// What became of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordered {
    /// The stored session.
    pub session: String,
    /// The row, as it is now.
    pub row: String,
    /// Whether the session is ours.
    pub ours: bool,
}

/// What is ordered.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// Which timer.
    pub which: Which,
    /// What happens to it.
    pub event: &'a TimerEvent,
    /// The limits.
    pub rules: &'a TimerRules,
}

/// Whose timer is ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whose<'a> {
    /// That of a session of Hermes Agent's, by its id: see [`of_hermes_agent`].
    HermesAgents(String),
    /// That of one of ours that no serve holds, as it has ended, by its id: see [`ended`]. A serve may run.
    Ended(&'a str),
    /// That of one of ours, by its name, while no serve runs.
    Ours(&'a str),
}

/// Hands an event to the timer of a stored session. One that Hermes Agent made, or that another process
/// may have live, is left to whoever has it.
///
/// # Errors
/// When a serve or anybody else alive has it, there is no such session or timer, or the store refuses.
pub fn order(
    runtime: &Runtime,
    home: &Home,
    whose: Whose<'_>,
    order: Order<'_>,
) -> Result<Ordered> {
    let now = runtime.clock.now();
    let name = match whose {
        Whose::HermesAgents(session) => {
            let mut store = Store::open(&home.state_db())?;
            let row = theirs::order((runtime, home), &mut store, &session, order)?;
            return Ok(Ordered {
                session,
                row,
                ours: false,
            });
        }
        Whose::Ended(session) => {
            let mut store = Store::open(&home.state_db())?;
            return ours((runtime, home), &mut store, session, order);
        }
        Whose::Ours(name) => name,
    };
    let (_taken, mut store) = open(home, name, now)?;
    let named = one(name, store.named(name, CANDIDATES)?)?;
    ours((runtime, home), &mut store, &named.id, order)
}

/// Hands an event to the timer of a session of ours that nobody holds. One of a session that has ended would
/// be driven by nobody: it is not resumed.
fn ours(
    (runtime, home): (&Runtime, &Home),
    store: &mut Store,
    id: &str,
    order: Order<'_>,
) -> Result<Ordered> {
    let Order {
        which,
        event,
        rules,
    } = order;
    theirs::free_of_others((runtime, home), id)?;
    let found = store.find(id)?.ok_or_else(|| unknown(id))?;
    if let (TimerEvent::Resume, Some(why)) = (event, &found.card.end_reason) {
        let kind = which.word();
        let message = format!(
            "session '{id}' has ended: {}; nobody would drive its {kind}",
            ending::in_full(why)
        );
        return Err(Error::new(Kind::Refused, message).with_hint(format!(
            "start a serve, and open it again: hermes {kind} resume {id}"
        )));
    }
    let now = runtime.clock.now();
    let wall = now.wall.as_duration().as_secs_f64();
    let stored = of(&found, which)?;
    let events = &in_order(event);
    let broken = |error| unreadable(&found.card.id, &error);
    let row = match which {
        Which::Loop => {
            let state = stored.looping().map_err(broken)?;
            apply(store, (&found, which), state, events, (rules, wall))?
        }
        Which::Heartbeat => {
            let state = stored.heartbeat(found.gateway_owned).map_err(broken)?;
            apply(store, (&found, which), state, events, (rules, wall))?
        }
    };
    Ok(Ordered {
        session: found.card.id,
        row,
        ours: true,
    })
}

/// What was closed, or would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    /// The stored session.
    pub session: String,
    /// What is over with it, in words.
    pub over: Vec<String>,
}

/// Closes a session that nobody holds any more. One of ours is ended in the store, and its timers are
/// left as a serve leaves them; of one of Hermes Agent's the leases of dead processes are given back.
///
/// # Errors
/// When a serve or anybody else alive has it, there is nothing to close, or the store refuses.
pub fn close(runtime: &Runtime, home: &Home, name: &str, dry_run: bool) -> Result<Closed> {
    let now = runtime.clock.now();
    let (_taken, mut store) = open(home, name, now)?;
    let named = one(name, store.named(name, CANDIDATES)?)?;
    let session = named.id;
    if !named.ours {
        let over = theirs::give_back((runtime, home), &session, dry_run)?;
        return Ok(Closed { session, over });
    }
    theirs::free_of_others((runtime, home), &session)?;
    let found = store.find(&session)?.ok_or_else(|| unknown(name))?;
    if let Some(why) = &found.card.end_reason {
        return Err(over(&session, why));
    }
    let mut over = vec![format!("the session, of '{}'", found.card.source)];
    let mut writes = Vec::new();
    let rules = settings::read(home, &runtime.environ, &[]).hub.rules;
    for one in left(&found.schedules(&rules), CLOSED) {
        let kind = one.kind.word();
        over.push(format!(
            "its live {kind}, which stays in the store and is not driven"
        ));
        writes.push(Write::NotDriven {
            session_id: session.clone(),
            kind,
            reason: Some(one.reason),
            due_at: one.due_at,
        });
    }
    let mut card = found.card;
    card.ended_at = Some(now.wall.as_duration().as_secs_f64());
    card.end_reason = Some(CLOSED.to_owned());
    writes.push(Write::Card(card));
    if !dry_run {
        store.write(&writes)?;
    }
    Ok(Closed { session, over })
}

/// The session of Hermes Agent's that a name means, if it means one. No serve of ours ever has it, so
/// that it is ordered the same way beside one.
///
/// # Errors
/// When the store cannot be read.
pub fn of_hermes_agent(home: &Home, name: &str) -> Result<Option<String>> {
    let Some((_, mut named)) = look_up(home, name)? else {
        return Ok(None);
    };
    let one = named.pop().filter(|one| named.is_empty() && !one.ours);
    Ok(one.map(|one| one.id))
}

/// The store as it is, and the sessions that a name may mean; `None` where there is no store.
fn look_up(home: &Home, name: &str) -> Result<Option<(Snapshot, Vec<Named>)>> {
    let snapshot = match db::snapshot(&home.state_db(), &db::wait) {
        Err(Damage::Missing) => return Ok(None),
        other => other.map_err(|damage| unread(home, damage))?,
    };
    let named = snapshot.read(|connection| names::named(connection, name, CANDIDATES));
    let named = named.map_err(|damage| unread(home, damage))?;
    Ok(Some((snapshot, named)))
}

fn unread(home: &Home, damage: Damage) -> Error {
    let path = home.state_db();
    Error::new(Kind::Io, format!("failed to read {}", path.display())).with_source(damage)
}

/// Gives the left-over leases of a session of Hermes Agent's back, also beside a serve.
///
/// # Errors
/// When the session is ours, anybody alive has it, or there is nothing to give back.
pub fn give_back(runtime: &Runtime, home: &Home, name: &str, dry_run: bool) -> Result<Closed> {
    let (snapshot, named) = look_up(home, name)?.ok_or_else(|| unknown(name))?;
    let Named { id, ours } = one(name, named)?;
    if ours {
        if let Some(Ended { why, .. }) = ended_of(home, &snapshot, &id)? {
            return Err(over(&id, &why));
        }
        let message = format!("serve does not hold session '{id}': there is nothing to close");
        return Err(Error::new(Kind::NotFound, message).with_hint("hermes session list"));
    }
    let over = theirs::give_back((runtime, home), &id, dry_run)?;
    Ok(Closed { session: id, over })
}

fn over(session: &str, why: &str) -> Error {
    let why = ending::in_full(why);
    let message = format!("session '{session}' has ended already: {why}");
    Error::new(Kind::NotFound, message)
        .with_hint("hermes session list --all lists those that have ended")
}

/// A session of ours that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its id.
    pub session: String,
    /// When it ended.
    pub at: Option<Timestamp>,
    /// Why, by the code of the store.
    pub why: String,
}

/// The session of ours that a name means, where it means one, and that has ended.
///
/// # Errors
/// When the store cannot be read.
pub fn ended(home: &Home, name: &str) -> Result<Option<Ended>> {
    let Some((snapshot, mut named)) = look_up(home, name)? else {
        return Ok(None);
    };
    let Some(one) = named.pop().filter(|one| named.is_empty() && one.ours) else {
        return Ok(None);
    };
    ended_of(home, &snapshot, &one.id)
}

fn ended_of(home: &Home, snapshot: &Snapshot, id: &str) -> Result<Option<Ended>> {
    let card = snapshot.read(|connection| rows::session_by_id(connection, id));
    let card = card.map_err(|damage| unread(home, damage))?;
    let over = card.filter(|card| card.ended_at.is_some());
    Ok(over.map(|card| Ended {
        session: card.id,
        at: card.ended_at,
        why: card.end_reason.unwrap_or_else(|| "no reason".to_owned()),
    }))
}

/// Takes the home for an order, and opens its store.
fn open(home: &Home, name: &str, now: Now) -> Result<(instance::Order, Store)> {
    let path = home.state_db();
    // Before the home is taken, which would make it.
    if !path.exists() {
        return Err(unknown(name));
    }
    let Some(taken) = Instance::take_for_order(home)? else {
        return Err(Held::look(home, now).refusal(home));
    };
    Ok((taken, Store::open(&path)?))
}

/// The one session that a name means.
fn one(name: &str, mut found: Vec<Named>) -> Result<Named> {
    if found.len() > 1 {
        let error = Error::new(
            Kind::NotFound,
            format!("'{name}' is the begin, or the title, of several sessions"),
        );
        let hints = found.into_iter().map(|one| one.id);
        return Err(hints.fold(error, Error::with_hint));
    }
    found.pop().ok_or_else(|| unknown(name))
}

fn no_timer(id: &str, which: Which) -> Error {
    let kind = which.word();
    Error::new(Kind::NotFound, format!("session '{id}' has no {kind}"))
        .with_hint(format!("hermes {kind} list --all lists them"))
}

fn of(found: &Found, which: Which) -> Result<&StoredTimer> {
    let timer = match which {
        Which::Loop => found.looping.as_ref(),
        Which::Heartbeat => found.heartbeat.as_ref(),
    };
    timer.ok_or_else(|| no_timer(&found.card.id, which))
}

/// What an order amounts to where nobody drives the timer. Whoever claimed the wake-up that is out is
/// gone then: no answer will come, and a timer that is to go on must not wait for it.
fn in_order(event: &TimerEvent) -> Vec<TimerEvent> {
    match event {
        TimerEvent::Resume => vec![TimerEvent::Recover(Proof::OwnerGone), TimerEvent::Resume],
        event => vec![event.clone()],
    }
}

fn apply<T: Timer>(
    store: &mut Store,
    (found, which): (&Found, Which),
    state: T,
    events: &[TimerEvent],
    (rules, wall): (&TimerRules, f64),
) -> Result<String> {
    let before = state.row_text();
    let text = of(found, which)?.text.clone();
    let mut state = state;
    for event in events {
        // Each is stored with the last.
        let _effects = state.step(event.clone(), rules, wall);
    }
    let after = state.row_text();
    if after == before {
        return Ok(after);
    }
    let save = Save {
        expected: Some(text),
        text: after.clone(),
        own: state.own_text(),
    };
    stored(store.save_timer(&found.card.id, which.word(), &save)?).map(|()| after)
}

fn stored(saved: Saved) -> Result<()> {
    match saved {
        Saved::Done => Ok(()),
        Saved::Lost(_) => Err(Error::new(
            Kind::Busy,
            "another program changed the timer at the same moment",
        )
        .with_hint("try again")),
        Saved::Failed(why) => Err(Error::new(
            Kind::Io,
            format!("failed to store the order: {why}"),
        )),
    }
}

/// The newest wake-ups of a session's timers of one kind, without writing anything, and the session.
///
/// # Errors
/// When the store cannot be read, or the name means no session of ours.
pub fn ticks(home: &Home, name: &str, which: Which, most: u32) -> Result<(String, Vec<Tick>)> {
    let (snapshot, named) = look_up(home, name)?.ok_or_else(|| unknown(name))?;
    let named = one(name, named)?;
    if !named.ours {
        let message = format!(
            "session '{}' is Hermes Agent's, which keeps no record of wake-ups",
            named.id
        );
        return Err(Error::new(Kind::NotFound, message));
    }
    let ticks = snapshot
        .read(|connection| store::ticks_of(connection, &named.id, Some(which.word()), most))
        .map_err(|damage| unread(home, damage))?;
    Ok((named.id, ticks))
}

fn unknown(name: &str) -> Error {
    Error::new(
        Kind::NotFound,
        format!("no session of this home is called '{name}'"),
    )
    .with_hint("hermes session list")
}

fn unreadable(id: &str, error: &crate::timers::row::RowError) -> Error {
    Error::new(
        Kind::Invalid,
        format!("the row of session '{id}' cannot be read: {error}"),
    )
    .with_hint("'stop' ends it, and keeps what is written there")
}
