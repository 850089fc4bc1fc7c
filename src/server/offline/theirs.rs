//! Orders to timers, and to left-over leases, of sessions that Hermes Agent made, while nobody alive has
//! them.
//!
//! Hermes Agent reads and writes a timer's row without a lock, so that whoever drives it would write over
//! what is ordered here. So nothing is written where anybody alive may have the session, or where that
//! cannot be told. Only the row is written, in its own shape; a row that is cleared stays.

use super::{Order, Which, unreadable};
use crate::error::{Error, Kind, Result};
use crate::home::Home;
use crate::host::facts::Machine;
use crate::host::liveness::Liveness;
use crate::runtime::Runtime;
use crate::server::{instance, lease_file};
use crate::sessions::driven::Party;
use crate::sessions::gather::{self, View};
use crate::sessions::lease::{OwnerLife, Worth, judge, may_claim};
use crate::sessions::rows::{LiveLease, read_registry};
use crate::sessions::store::Store;
use crate::timers::heartbeat_row::HeartbeatRow;
use crate::timers::loop_row::LoopRow;
use crate::timers::loop_state::{LoopOwn, LoopState};

/// Hands an event to the timer of a session of Hermes Agent's; its row, as it is now.
pub(super) fn order(
    (runtime, home): (&Runtime, &Home),
    store: &mut Store,
    id: &str,
    order: Order<'_>,
) -> Result<String> {
    let Order {
        which,
        event,
        rules,
    } = order;
    let text = store
        .timer_row(id, which.word())?
        .ok_or_else(|| super::no_timer(id, which))?;
    let view = gather::view(runtime, home, 0)?;
    let machine = instance::machine(runtime.clock.now());
    let now = runtime.clock.wall().as_duration().as_secs_f64();
    let events = super::in_order(event);
    let broken = |error| unreadable(id, &error);
    let after = match which {
        Which::Loop => {
            let row = LoopRow::parse(&text).map_err(broken)?;
            free((&view, home, &machine), id, row.is_routed())?;
            let mut state = LoopState::restore(row, LoopOwn::default());
            for event in events {
                let _notices = state.step(event, rules, now);
            }
            state.row.text()
        }
        Which::Heartbeat => {
            let row = HeartbeatRow::parse(&text).map_err(broken)?;
            let mut state = view.heartbeat(id, &row);
            free((&view, home, &machine), id, state.gateway_owned)?;
            for event in events {
                let _notices = state.step(event, rules, now);
            }
            state.row.text()
        }
    };
    if after == text {
        return Ok(after);
    }
    let saved = store.swap_row(id, which.word(), &text, &after)?;
    super::stored(saved).map(|()| after)
}

/// The leases of the home, with what each is worth.
fn leases(home: &Home, machine: &Machine) -> Result<Vec<(LiveLease, Worth)>> {
    let registry = read_registry(home).map_err(|why| {
        let path = home.join("runtime/active_sessions.json");
        Error::new(
            Kind::Io,
            format!("failed to read {}: {why}", path.display()),
        )
        .with_hint("it says who has which session; without it nothing is changed")
    })?;
    let worth = |lease: &LiveLease| {
        let life = match gather::life(lease, machine) {
            Some(life) if life.is_over() => OwnerLife::Ended,
            Some(Liveness::Alive) => OwnerLife::Alive,
            _ => OwnerLife::Unverified("it cannot be told whether that process lives".to_owned()),
        };
        judge(&life, || false)
    };
    let leases = registry.unwrap_or_default().leases.into_iter();
    Ok(leases
        .map(|lease| {
            let worth = worth(&lease);
            (lease, worth)
        })
        .collect())
}

fn holder(lease: &LiveLease) -> String {
    let surface = lease.surface.as_deref().unwrap_or("a process");
    match lease.pid {
        Some(pid) => format!("{surface}, pid {pid}"),
        None => format!("{surface}, which names no pid"),
    }
}

/// Whether no other process has a session of ours: Hermes Agent opens any id of the right shape.
pub(super) fn free_of_others((runtime, home): (&Runtime, &Home), id: &str) -> Result<()> {
    let machine = instance::machine(runtime.clock.now());
    leased(&leases(home, &machine)?, id)
}

/// Whether nobody alive has a session, whoever its timer belongs to: a row that cannot be read does not
/// say whether a messaging gateway drives it.
pub(super) fn free_of_anybody((runtime, home): (&Runtime, &Home), id: &str) -> Result<()> {
    let view = gather::view(runtime, home, 0)?;
    let machine = instance::machine(runtime.clock.now());
    free((&view, home, &machine), id, true)
}

/// Whether nobody alive has a session: not by a lease, not as a backend that may have loaded it, and,
/// for a routed timer, not as the messaging gateway.
fn free((view, home, machine): (&View, &Home, &Machine), id: &str, routed: bool) -> Result<()> {
    leased(&leases(home, machine)?, id)?;
    let gateway = routed.then_some(&view.drivers.gateway);
    for party in view.drivers.backends.iter().chain(gateway) {
        match party {
            Party::Not(_) => {}
            Party::Runs { .. } => return Err(had(id, &party.words(), None)),
            Party::Unsure(why) => return Err(had(id, "somebody", Some(why))),
        }
    }
    Ok(())
}

/// Refuses where a lease stands that is not known to be left over.
fn leased(leases: &[(LiveLease, Worth)], id: &str) -> Result<()> {
    let worths: Vec<(String, Worth)> = leases
        .iter()
        .map(|(lease, worth)| (lease.session_id.clone(), worth.clone()))
        .collect();
    let taken = may_claim(id, &worths).err();
    if let Some((lease, worth)) = taken.and_then(|place| leases.get(place)) {
        return Err(had(id, &holder(lease), doubt(worth)));
    }
    Ok(())
}

fn doubt(worth: &Worth) -> Option<&str> {
    match worth {
        Worth::Unverified(why) => Some(why),
        _ => None,
    }
}

fn had(id: &str, who: &str, doubt: Option<&str>) -> Error {
    let doubt = doubt.map(|why| format!(" ({why})")).unwrap_or_default();
    Error::new(
        Kind::Busy,
        format!("session '{id}' is not ours to change: {who} may have it{doubt}"),
    )
    .with_hint("order it there, as a slash command in that session, or end that process first")
}

/// Gives the leases of a session back whose processes have ended; which those are.
pub(super) fn give_back(
    (runtime, home): (&Runtime, &Home),
    id: &str,
    dry_run: bool,
) -> Result<Vec<String>> {
    let machine = instance::machine(runtime.clock.now());
    let mut left = Vec::new();
    for (lease, worth) in leases(home, &machine)? {
        if lease.session_id != id {
            continue;
        }
        if !worth.is_free() {
            return Err(had(id, &holder(&lease), doubt(&worth)));
        }
        left.push(lease);
    }
    if left.is_empty() {
        return Err(Error::new(
            Kind::NotFound,
            format!("session '{id}' is Hermes Agent's, and no process has a lease on it"),
        )
        .with_hint("there is nothing to close; its own backend ends the row when it sweeps"));
    }
    if !dry_run {
        let ids: Vec<&str> = left.iter().map(|lease| lease.lease_id.as_str()).collect();
        lease_file::remove(home, id, &ids)?;
    }
    let words = |lease: &LiveLease| format!("the lease of {}, which has ended", holder(lease));
    Ok(left.iter().map(words).collect())
}
