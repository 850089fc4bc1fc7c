//! What the databases of a home hold, as far as a check asks for it: bounded rows, no conversations.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use jiff::Timestamp;

use super::read::Read;
use crate::host::liveness::{Identity, Liveness, Observation, judge};
use crate::ledger::rows::Reach;
use crate::ledger::rows::kanban::Board;
use crate::ledger::{Execution, ExecutionFacts, Incident, Slot, SlotRange};
use crate::sessions::rows::{BackendHeartbeat, Lease, Registry, Routing, StoredSession};
use crate::timers::heartbeat_row::HeartbeatRow;
use crate::timers::loop_row::LoopRow;
use crate::timers::rows::Stored;

/// The databases of a home.
#[derive(Clone, Debug, Default)]
pub struct Databases {
    /// `cron/executions.db`.
    pub ledger: Read<Ledger>,
    /// `state.db`.
    pub state: Read<State>,
    /// `kanban.db`.
    pub kanban: Read<Option<Board>>,
    /// What SQLite's quick check complained about, by path inside the home; only of stores that can
    /// be read and are small enough to be gone over.
    pub complaints: BTreeMap<&'static str, Vec<String>>,
    /// `runtime/active_sessions.json`.
    pub registry: Read<Registry>,
}

/// What the ledger holds.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// The newest executions, the newest first; `None` without their table.
    pub executions: Option<Vec<Execution>>,
    /// Those that have not ended, however old.
    pub open: Vec<Execution>,
    /// Incidents, the last seen first.
    pub incidents: Vec<Incident>,
    /// Slots in a row that no run was made of, and of which that is on record.
    pub slot_ranges: Vec<SlotRange>,
    /// What only we record, by execution.
    pub facts: BTreeMap<String, ExecutionFacts>,
    /// Slots on record that no row names: that no run was made of, or that stood without an offset.
    pub slots_without_row: Vec<Slot>,
    /// Where those, or the rows of slots, were more than are read, the oldest slot that was: what became of
    /// it and of those before it is not known of every job.
    pub slots_cut: Option<Timestamp>,
    /// How far back it reaches.
    pub reach: Option<Reach>,
    /// The rows were more than are read: nothing older may be concluded from.
    pub cut: bool,
    /// Where the executions of each job are.
    pub by_job: Index,
}

/// Where the entries of a list are by a key; made at the first question.
#[derive(Debug, Default)]
pub struct Index(OnceLock<HashMap<String, Vec<usize>>>);

impl Clone for Index {
    /// A copy is of a list that may be changed: it makes its own.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Index {
    pub(super) fn places<'a>(&self, keys: impl Iterator<Item = &'a str>, key: &str) -> &[usize] {
        let index = self.0.get_or_init(|| {
            let mut index = HashMap::<String, Vec<usize>>::new();
            for (place, key) in keys.enumerate() {
                index.entry(key.to_owned()).or_default().push(place);
            }
            index
        });
        index.get(key).map_or(&[], Vec::as_slice)
    }
}

impl Ledger {
    /// The executions, the newest first.
    pub fn rows(&self) -> impl Iterator<Item = &Execution> {
        self.executions.iter().flatten()
    }

    /// The executions of a job, the newest first.
    pub fn of<'a>(&'a self, job: &str) -> impl Iterator<Item = &'a Execution> {
        let jobs = self.rows().map(|row| row.job_id.as_str());
        let places = self.by_job.places(jobs, job).iter();
        places.filter_map(|place| self.executions.as_ref()?.get(*place))
    }
}

/// What `state.db` holds of sessions and their timers.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The version of its schema.
    pub schema: Option<i64>,
    /// Sessions that have not ended: those of Hermes Agent, the newest first, and then ours likewise.
    pub open: Vec<StoredSession>,
    /// Sessions that have ended and have a timer, whosever they are.
    pub ended: Vec<StoredSession>,
    /// Loops, by session.
    pub loops: Vec<Stored<LoopRow>>,
    /// Heartbeats, by session.
    pub heartbeats: Vec<Stored<HeartbeatRow>>,
    /// Their beats since the user last wrote something, as far as our serve has counted them.
    pub beats: BTreeMap<String, u64>,
    /// Sessions whose timers our serve left without a driver, and why.
    pub left: BTreeMap<String, String>,
    /// Backends that said they live.
    pub backends: Vec<BackendHeartbeat>,
    /// The routing index of the messaging gateway.
    pub routing: Vec<Routing>,
    /// Leases of turns.
    pub leases: Vec<Lease>,
    /// Where each session is, the open before the ended.
    pub by_id: Index,
}

impl State {
    /// The session, open or ended.
    #[must_use]
    pub fn session(&self, id: &str) -> Option<&StoredSession> {
        let ids = self.open.iter().chain(&self.ended);
        let ids = ids.map(|session| session.id.as_str());
        let place = *self.by_id.places(ids, id).first()?;
        self.open
            .get(place)
            .or_else(|| self.ended.get(place.checked_sub(self.open.len())?))
    }
}

/// What was observed of the processes that records name, by pid.
#[derive(Clone, Debug, Default)]
pub struct Owners(pub BTreeMap<u32, Observation>);

impl Owners {
    /// Whether the process of this record lives; `None` where its pid was not looked at.
    #[must_use]
    pub fn liveness(&self, recorded: &Identity) -> Option<Liveness> {
        self.0
            .get(&recorded.pid)
            .map(|observed| judge(recorded, observed))
    }

    /// The same for the owner of an execution.
    #[must_use]
    pub fn of_execution(&self, row: &Execution) -> Option<Liveness> {
        self.liveness(&identity(row.pid, row.process_started_at)?)
    }
}

/// What a row recorded of a process by pid and start.
#[must_use]
pub fn identity(pid: Option<i64>, start: Option<i64>) -> Option<Identity> {
    Some(Identity {
        pid: u32::try_from(pid?).ok().filter(|pid| *pid > 0)?,
        start_ticks: start.and_then(|start| u64::try_from(start).ok()),
        ..Identity::default()
    })
}
