//! Snapshots of the databases of a home, and what is read from them.

use std::collections::HashSet;
use std::path::Path;

use jiff::Timestamp;

use super::files;
use crate::db::{self, Damage, Snapshot};
use crate::doctor::evidence::read::{Read, Trouble, TroubleKind};
use crate::doctor::evidence::stores::{Databases, Index, Ledger, State};
use crate::home::Home;
use crate::ledger::rows as ledger_rows;
use crate::sessions::rows as session_rows;
use crate::sessions::store::{not_driven, own_of_heartbeats};
use crate::timers::heartbeat::HeartbeatOwn;
use crate::timers::rows as timer_rows;

/// The databases of a home.
pub(super) const DATABASES: [&str; 3] = [LEDGER, STATE, KANBAN];
const LEDGER: &str = "cron/executions.db";
const STATE: &str = "state.db";
const KANBAN: &str = "kanban.db";

/// Slots without a run that are read: a minute schedule of a fortnight.
pub(in crate::doctor) const SLOTS: u32 = 20_000;
/// Rows of the ledger: Hermes Agent keeps a thousand that have ended.
const EXECUTIONS: u32 = 2_000;
/// Rows of everything else.
const SOME: u32 = 500;
/// Timers of a kind.
const TIMERS: u32 = 2_000;
/// Above this a store is not gone over page by page.
const CHECKED: u64 = 32 << 20;
/// Complaints that are kept.
const COMPLAINTS: u32 = 5;

/// Reads the databases of a home.
pub(super) fn look(home: &Home) -> Databases {
    let mut found = Databases::default();
    found.ledger = read(home, LEDGER, &mut found, ledger);
    found.state = read(home, STATE, &mut found, state);
    found.kanban = read(home, KANBAN, &mut found, |snapshot| {
        snapshot.read(ledger_rows::kanban::board)
    });
    found.registry = match session_rows::read_registry(home) {
        Ok(Some(registry)) => Read::Got(registry),
        Ok(None) => Read::Absent,
        Err(why) => {
            let path = home.join("runtime/active_sessions.json");
            let denied = files::text(&path).trouble().cloned();
            let denied = denied.filter(|trouble| trouble.kind == TroubleKind::Permission);
            Read::Unreadable(denied.unwrap_or_else(|| Trouble::damaged("not-json", why)))
        }
    };
    found
}

fn read<T>(
    home: &Home,
    name: &'static str,
    found: &mut Databases,
    reader: impl FnOnce(&Snapshot) -> Result<T, Damage>,
) -> Read<T> {
    let path: &Path = &home.join(name);
    let snapshot = match db::snapshot(path, &db::wait) {
        Ok(snapshot) => snapshot,
        Err(damage) => return Err(damage).into(),
    };
    if snapshot.facts().size <= CHECKED {
        match snapshot.complaints(COMPLAINTS) {
            Ok(complaints) if complaints.is_empty() => {}
            Ok(complaints) => {
                found.complaints.insert(name, complaints);
            }
            Err(damage) => return Err(damage).into(),
        }
    }
    reader(&snapshot).into()
}

fn ledger(snapshot: &Snapshot) -> Result<Ledger, Damage> {
    snapshot.read(|connection| {
        let executions = ledger_rows::executions(connection, EXECUTIONS)?;
        let full = usize::try_from(EXECUTIONS).unwrap_or(usize::MAX);
        let cut = executions.as_ref().is_some_and(|rows| rows.len() >= full);
        let facts = ledger_rows::facts(connection, EXECUTIONS)?;
        let slots = ledger_rows::slots_without_row(connection, SLOTS)?.unwrap_or_default();
        let ranges = ledger_rows::slot_ranges(connection, None, SOME)?.unwrap_or_default();
        let slots_cut = cut_at(&slots, SLOTS, |slot| &slot.scheduled_at);
        Ok(Ledger {
            slots_cut: slots_cut.max(cut_at(&ranges, SOME, |range| &range.last_at)),
            cut,
            executions,
            open: ledger_rows::open_executions(connection, SOME)?.unwrap_or_default(),
            incidents: ledger_rows::incidents(connection, SOME)?.unwrap_or_default(),
            slot_ranges: ranges,
            facts: facts
                .into_iter()
                .flatten()
                .map(|facts| (facts.execution_id.clone(), facts))
                .collect(),
            slots_without_row: slots,
            reach: ledger_rows::reach(connection)?,
            by_job: Index::default(),
        })
    })
}

/// The oldest of what was read, the newest first, where it is as much as is read; where that one is no
/// time, nothing of it proves anything.
fn cut_at<T>(rows: &[T], most: u32, at: impl Fn(&T) -> &str) -> Option<Timestamp> {
    let full = usize::try_from(most).is_ok_and(|most| rows.len() >= most);
    let oldest = rows.last().filter(|_| full)?;
    Some(at(oldest).parse().unwrap_or(Timestamp::MAX))
}

fn state(snapshot: &Snapshot) -> Result<State, Damage> {
    snapshot.read(|connection| {
        let loops = timer_rows::loops(connection, TIMERS)?.unwrap_or_default();
        let heartbeats = timer_rows::heartbeats(connection, TIMERS)?.unwrap_or_default();
        let mut open = session_rows::open_sessions(connection, SOME)?.unwrap_or_default();
        let ours = session_rows::own_open_sessions(connection, SOME)?;
        open.extend(ours.into_iter().flatten());
        let mut ended = Vec::new();
        let mut known: HashSet<&str> = open.iter().map(|session| session.id.as_str()).collect();
        let timed = loops.iter().map(|timer| timer.session_id.as_str());
        for id in timed.chain(heartbeats.iter().map(|timer| timer.session_id.as_str())) {
            if known.insert(id) {
                ended.extend(session_rows::session_by_id(connection, id)?);
            }
        }
        let heartbeats_own = own_of_heartbeats(connection)?.into_iter();
        let beats = heartbeats_own.filter_map(|(session, own)| {
            let own: HeartbeatOwn = serde_json::from_str(&own).ok()?;
            Some((session, own.beats()))
        });
        Ok(State {
            schema: session_rows::schema_version(connection)?,
            open,
            ended,
            loops,
            heartbeats,
            beats: beats.collect(),
            left: not_driven(connection)?,
            backends: session_rows::backend_heartbeats(connection, SOME)?.unwrap_or_default(),
            routing: session_rows::routing(connection, SOME)?.unwrap_or_default(),
            leases: session_rows::turn_leases(connection, SOME)?.unwrap_or_default(),
            by_id: Index::default(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{Outcome, Slot};

    #[test]
    fn slots_that_were_cut_are_cut_at_the_oldest_that_was_read() {
        let slot = |at: &str| Slot {
            job_id: "a".to_owned(),
            scheduled_at: at.to_owned(),
            outcome: Outcome::Skipped,
            reason: None,
            execution_id: None,
        };
        let slots = ["2026-11-29T08:00:00+00:00", "2026-11-27T08:00:00+00:00"].map(slot);
        let cut = |slots: &[Slot], most| cut_at(slots, most, |slot| &slot.scheduled_at);
        assert_eq!(cut(&slots, 3), None);
        let oldest = "2026-11-27T08:00:00Z".parse().unwrap();
        assert_eq!(cut(&slots, 2), Some(oldest));
        assert_eq!(cut(&[slot("never")], 1), Some(Timestamp::MAX));
        assert_eq!(cut(&[], 0), None);
    }
}
