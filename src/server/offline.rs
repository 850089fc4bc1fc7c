//! Orders to timers, and looks at their past, while no serve runs: straight on the store.
//!
//! The home's lock is taken for as long as an order takes, so that no serve starts in the middle of it.

use super::instance::{Held, Instance};
use crate::clock::Now;
use crate::db::{self, Damage};
use crate::error::{Error, Kind, Result};
use crate::home::Home;
use crate::sessions::store::{self, Found, Store, StoredTimer, Tick};
use crate::timers::driver::{Driven, Save, Saved, Timer};
use crate::timers::event::{TimerEvent, TimerRules};
use crate::timers::heartbeat::{Heartbeat, HeartbeatOwn};
use crate::timers::heartbeat_row::HeartbeatRow;
use crate::timers::loop_row::LoopRow;
use crate::timers::loop_state::{LoopOwn, LoopState};

/// Which kind of timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// A loop.
    Loop,
    /// A heartbeat.
    Heartbeat,
}

impl Which {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Loop => "loop",
            Self::Heartbeat => "heartbeat",
        }
    }
}

/// What became of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordered {
    /// The stored session.
    pub session: String,
    /// The row, as it is now.
    pub row: String,
}

/// Hands an event to the timer of a stored session of ours.
///
/// # Errors
/// When a serve has the home, there is no such session or timer, or the store refuses.
pub fn order(
    home: &Home,
    name: &str,
    which: Which,
    event: &TimerEvent,
    (rules, now): (&TimerRules, Now),
) -> Result<Ordered> {
    let Some(_instance) = Instance::take(home)? else {
        return Err(Held::look(home, now).refusal(home));
    };
    let path = home.state_db();
    if !path.exists() {
        return Err(unknown(name));
    }
    let mut store = Store::open(&path)?;
    let found = store.find(name)?.ok_or_else(|| unknown(name))?;
    let wall = now.wall.as_duration().as_secs_f64();
    let row = match which {
        Which::Loop => {
            let stored = of(&found, which)?;
            let row = LoopRow::parse(&stored.text).map_err(|error| unreadable(&found, &error))?;
            let own: LoopOwn = serde_json::from_str(&stored.own).unwrap_or_default();
            let state = LoopState::restore(row, own);
            apply(&mut store, (&found, which), state, event, (rules, wall))?
        }
        Which::Heartbeat => {
            let stored = of(&found, which)?;
            let row =
                HeartbeatRow::parse(&stored.text).map_err(|error| unreadable(&found, &error))?;
            let own: HeartbeatOwn = serde_json::from_str(&stored.own).unwrap_or_default();
            let state = Heartbeat {
                row,
                own,
                gateway_owned: found.gateway_owned,
            };
            apply(&mut store, (&found, which), state, event, (rules, wall))?
        }
    };
    Ok(Ordered {
        session: found.card.id,
        row,
    })
}

fn of(found: &Found, which: Which) -> Result<&StoredTimer> {
    let timer = match which {
        Which::Loop => found.looping.as_ref(),
        Which::Heartbeat => found.heartbeat.as_ref(),
    };
    timer.ok_or_else(|| {
        let kind = which.word();
        Error::new(
            Kind::NotFound,
            format!("session '{}' has no {kind}", found.card.id),
        )
    })
}

fn apply<T: Timer>(
    store: &mut Store,
    (found, which): (&Found, Which),
    state: T,
    event: &TimerEvent,
    (rules, wall): (&TimerRules, f64),
) -> Result<String> {
    let before = state.row_text();
    let text = of(found, which)?.text.clone();
    let mut driven = Driven::stored(state, text.clone());
    let _effects = driven.step(event.clone(), rules, wall);
    let after = driven.state.row_text();
    if after == before {
        return Ok(after);
    }
    let save = Save {
        expected: Some(text),
        text: after.clone(),
        own: driven.state.own_text(),
    };
    match store.save_timer(&found.card.id, which.word(), &save)? {
        Saved::Done => Ok(after),
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

/// The newest wake-ups of a session's timers, without writing anything.
///
/// # Errors
/// When the store cannot be read.
pub fn ticks(home: &Home, name: &str, most: u32) -> Result<Vec<Tick>> {
    let failed = |damage: Damage| {
        let path = home.state_db();
        Error::new(Kind::Io, format!("failed to read {}", path.display())).with_source(damage)
    };
    match db::snapshot(&home.state_db(), &db::wait) {
        Err(Damage::Missing) => Err(unknown(name)),
        Err(damage) => Err(failed(damage)),
        Ok(snapshot) => snapshot
            .read(|connection| store::ticks_of(connection, name, most))
            .map_err(failed),
    }
}

fn unknown(name: &str) -> Error {
    Error::new(
        Kind::NotFound,
        format!("no session of this home is called '{name}'"),
    )
    .with_hint("hermes session list")
}

fn unreadable(found: &Found, error: &crate::timers::row::RowError) -> Error {
    let id = &found.card.id;
    Error::new(
        Kind::Invalid,
        format!("the row of session '{id}' cannot be read: {error}"),
    )
}
