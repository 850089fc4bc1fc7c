//! Looks at the store, the records and the processes of one home, and says what it could not see.
//! Reads only: the store as a snapshot, locks from the kernel's table, nothing is tried or made.

mod parties;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

pub use self::parties::life;
use self::parties::{backend, drivers, machine_of};
use super::driven::{Drivers, Party};
use super::limits::{Law, Limits};
use super::moment::Moment;
use super::rows::{self, StoredSession};
use super::schedule::{Asked, Schedule, of_heartbeat, of_loop};
use super::session::Session;
use super::store;
use super::stored::{Evidence, session};
use crate::config::{Config, Settings};
use crate::db::{self, Damage, Snapshot};
use crate::error::{Error, Kind, Result};
use crate::home::Home;
use crate::host::facts::Machine;
use crate::runtime::Runtime;
use crate::timers::event::TimerRules;
use crate::timers::heartbeat::{Heartbeat, HeartbeatOwn};
use crate::timers::heartbeat_row::HeartbeatRow;
use crate::timers::loop_row::LoopRow;
use crate::timers::rows::{Stored, heartbeats, loops};

/// No home has more timers or open sessions than this; beyond it, the rest is said to be left out.
const MOST: u32 = 100_000;

/// What there is to see in one home.
#[derive(Debug)]
pub struct View {
    /// When it was looked at.
    pub now: Moment,
    /// The limits and rules in force.
    pub law: Law,
    /// The limits of timers.
    pub rules: TimerRules,
    /// Open sessions.
    pub open: Vec<StoredSession>,
    /// How many sessions have ended, by their reason.
    pub ended: BTreeMap<String, u64>,
    /// Those that have ended, the last to end first: as many as were asked for.
    pub past: Vec<StoredSession>,
    /// Loops, with the unreadable ones.
    pub loops: Vec<Stored<LoopRow>>,
    /// Heartbeats, with the unreadable ones.
    pub heartbeats: Vec<Stored<HeartbeatRow>>,
    /// Sessions that the messaging gateway answers for.
    pub routed: BTreeSet<String>,
    /// Who might drive timers.
    pub drivers: Drivers,
    /// What could not be read, and why.
    pub gaps: Vec<String>,
    /// The emergency stop that is in force, in words: whoever looks for one fills it in.
    pub stop: Option<String>,
    own: BTreeMap<String, String>,
    newest: BTreeMap<String, Timestamp>,
    leased: BTreeMap<String, f64>,
    delegated: Asked<BTreeMap<String, u32>>,
}

/// Looks at a home, and at so many of its sessions that have ended. A home without a store has no sessions
/// and no timers.
///
/// # Errors
/// When the store is there and cannot be read.
pub fn view(runtime: &Runtime, home: &Home, past: u32) -> Result<View> {
    let config = Config::load(
        home,
        &|name| runtime.environ.text(name).map(str::to_owned),
        &[],
    );
    let settings = Settings::of(&config);
    let wall = runtime.clock.wall().as_duration().as_secs_f64();
    let machine = machine_of(runtime);
    let mut view = View {
        now: Moment::of_store(wall),
        law: Law {
            limits: Limits::of(&settings.sessions),
            ..Law::default()
        },
        rules: TimerRules::of(&settings),
        open: Vec::new(),
        ended: BTreeMap::new(),
        past: Vec::new(),
        loops: Vec::new(),
        heartbeats: Vec::new(),
        routed: BTreeSet::new(),
        drivers: drivers(&machine, home),
        gaps: config.problems().iter().map(ToString::to_string).collect(),
        stop: None,
        own: BTreeMap::new(),
        newest: BTreeMap::new(),
        leased: BTreeMap::new(),
        delegated: Asked::Known(BTreeMap::new()),
    };
    let path = home.state_db();
    match db::snapshot(&path, &db::wait) {
        Ok(snapshot) => view
            .read(&snapshot, &machine, past)
            .map_err(|damage| unreadable(home, damage))?,
        Err(Damage::Missing) => {
            let no_store = || format!("{}: no such file", path.display());
            view.gaps.push(home.missing().unwrap_or_else(no_store));
        }
        Err(damage) => return Err(unreadable(home, damage)),
    }
    Ok(view)
}

fn unreadable(home: &Home, damage: Damage) -> Error {
    let path = home.state_db();
    Error::new(Kind::Io, format!("failed to read {}", path.display()))
        .with_source(damage)
        .with_hint("hermes cron doctor --only stores says what is wrong with it")
}

impl View {
    fn read(
        &mut self,
        snapshot: &Snapshot,
        machine: &Machine,
        past: u32,
    ) -> std::result::Result<(), Damage> {
        if past > 0 {
            self.past = snapshot.read(|c| rows::ended_sessions(c, past))?;
        }
        self.open = snapshot
            .read(|c| rows::open_sessions(c, MOST))?
            .unwrap_or_default();
        let ours = snapshot
            .read(|c| rows::own_open_sessions(c, MOST))?
            .unwrap_or_default();
        self.drivers.ours = ours.iter().map(|session| session.id.clone()).collect();
        self.drivers.left = snapshot.read(store::not_driven)?;
        let backends = snapshot.read(|c| rows::backend_heartbeats(c, MOST))?;
        // Serve gives a sign of life too; it is known by its lock.
        let own = match &self.drivers.serve {
            Party::Runs { pid, .. } => pid.map(i64::from),
            _ => None,
        };
        self.drivers.backends = backends
            .iter()
            .flatten()
            .filter(|row| own.is_none() || row.pid != own)
            .map(|row| backend(row, machine, self.now.wall))
            .collect();
        self.own = snapshot.read(store::own_of_heartbeats)?;
        self.open.extend(ours);
        self.ended = snapshot.read(rows::ended)?;
        self.loops = snapshot.read(|c| loops(c, MOST))?.unwrap_or_default();
        self.heartbeats = snapshot.read(|c| heartbeats(c, MOST))?.unwrap_or_default();
        for route in snapshot
            .read(|c| rows::routing(c, MOST))?
            .unwrap_or_default()
        {
            match route.entry {
                Ok(entry) if !entry.suspended && entry.has_origin => {
                    self.routed.extend(entry.session_id);
                }
                Ok(_) => {}
                Err(why) => self
                    .gaps
                    .push(format!("routing of {}: {why}", route.session_key)),
            }
        }
        self.newest = snapshot.read(rows::last_messages)?.unwrap_or_default();
        self.delegated = match snapshot.read(rows::delegations) {
            Ok(known) => Asked::Known(known.unwrap_or_default()),
            Err(damage) => Asked::Unreadable(damage.to_string()),
        };
        let turns = snapshot.read(|c| rows::turn_leases(c, MOST))?;
        let locks = snapshot.read(|c| rows::compression_locks(c, MOST))?;
        for lease in turns.into_iter().chain(locks).flatten() {
            if let Some(until) = lease.expires_at.map(seconds) {
                let held = self.leased.entry(lease.of).or_insert(until);
                *held = held.max(until);
            }
        }
        Ok(())
    }

    /// The schedules of a session, paused ones too.
    #[must_use]
    pub fn schedules(&self, id: &str) -> Asked<Vec<Schedule>> {
        let mut known = Vec::new();
        for stored in self.loops.iter().filter(|stored| stored.session_id == id) {
            match &stored.row {
                Ok(row) => known.push(of_loop(row)),
                Err(why) => return Asked::Unreadable(format!("its loop: {why}")),
            }
        }
        for stored in self
            .heartbeats
            .iter()
            .filter(|stored| stored.session_id == id)
        {
            match &stored.row {
                Ok(row) => known.push(of_heartbeat(&self.heartbeat(id, row), &self.rules)),
                Err(why) => return Asked::Unreadable(format!("its heartbeat: {why}")),
            }
        }
        Asked::Known(known)
    }

    /// A heartbeat as the machine knows it, by its row and what is stored beside it.
    #[must_use]
    pub fn heartbeat(&self, id: &str, row: &HeartbeatRow) -> Heartbeat {
        let gateway_owned = self.routed.contains(id);
        let own = self.own.get(id);
        let own = own.and_then(|text| serde_json::from_str::<HeartbeatOwn>(text).ok());
        Heartbeat {
            row: row.clone(),
            own: own.unwrap_or_default(),
            gateway_owned,
        }
    }

    /// Whether an open session is ours, and not Hermes Agent's.
    #[must_use]
    pub fn is_ours(&self, id: &str) -> bool {
        self.drivers.ours.contains(id)
    }

    /// The live process that holds a session.
    #[must_use]
    pub fn holder(&self, id: &str) -> Option<String> {
        self.drivers
            .holders
            .get(id)?
            .iter()
            .find_map(|party| match party {
                Party::Runs {
                    what,
                    pid: Some(pid),
                } => Some(format!("{what}, pid {pid}")),
                Party::Runs { what, pid: None } => Some(what.clone()),
                _ => None,
            })
    }

    /// The open sessions, as the reapers see them.
    #[must_use]
    pub fn sessions(&self) -> Vec<Session> {
        self.open
            .iter()
            .map(|stored| session(&self.evidence(stored), self.now))
            .collect()
    }

    fn evidence(&self, stored: &StoredSession) -> Evidence {
        let id = &stored.id;
        let holders = self
            .drivers
            .holders
            .get(id)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let unsure = holders.iter().find_map(|party| match party {
            Party::Unsure(why) => Some(why.clone()),
            _ => None,
        });
        let newest = self
            .newest
            .get(id)
            .copied()
            .into_iter()
            .chain(stored.last_activity_at)
            .max();
        Evidence {
            id: id.clone(),
            source: stored.source.clone(),
            ours: self.is_ours(id),
            started_at: stored.started_at.map(seconds),
            last_activity_at: newest.map(seconds),
            pinned: stored.pinned,
            leased_until: self.leased.get(id).copied(),
            held_by: self.holder(id),
            unsure: unsure.or_else(|| self.drivers.registry_gap.clone()),
            delegated: match &self.delegated {
                Asked::Known(all) => Asked::Known(all.get(id).copied().unwrap_or(0)),
                Asked::Unreadable(why) => Asked::Unreadable(why.clone()),
            },
            schedules: self.schedules(id),
        }
    }
}

fn seconds(at: Timestamp) -> f64 {
    at.as_duration().as_secs_f64()
}
