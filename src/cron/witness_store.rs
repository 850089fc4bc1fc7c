//! What the due scan asks beside the jobs, answered from the ledger and the process table of this
//! host. Reads by snapshot: nothing is touched.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use rustix::process::{Pid, test_kill_process};

use super::due::Witness;
use crate::db::{self, Damage, Snapshot};
use crate::error::{Error, Kind, Result};
use crate::home::Home;
use crate::ledger::store::utc;
use crate::ledger::{Status, rows};

/// The other program keeps a thousand ends; ours are among them.
const MOST: u32 = 10_000;

/// Completed slots, and who is who on this host.
#[derive(Debug, Default)]
pub struct StoreWitness {
    completed: HashMap<(String, Timestamp), Timestamp>,
    open: HashSet<String>,
    host: String,
    /// For runs whose rows are kept no more.
    ledger: Option<Snapshot>,
}

impl StoreWitness {
    /// Reads the ledger of a home. A ledger that is not there knows of no run.
    ///
    /// # Errors
    /// When it is there and cannot be read: a scan without it could run a finished slot again.
    pub fn read(home: &Home) -> Result<StoreWitness> {
        let host = rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .into_owned();
        let path = home.ledger();
        let read = db::snapshot(&path, &db::wait).and_then(|snapshot| {
            let rows = snapshot.read(|store| rows::executions(store, MOST))?;
            Ok((rows, snapshot))
        });
        let (rows, ledger) = match read {
            Ok((rows, snapshot)) => (rows.unwrap_or_default(), Some(snapshot)),
            Err(Damage::Missing) => (Vec::new(), None),
            Err(damage) => {
                let message = format!("failed to read {}: {damage}", path.display());
                return Err(Error::new(Kind::Unavailable, message)
                    .with_hint("'hermes cron doctor' says what is wrong with it"));
            }
        };
        let (mut completed, mut open) = (HashMap::new(), HashSet::new());
        for row in rows {
            if row.status.is_open() {
                open.insert(row.job_id);
                continue;
            }
            if row.status != Status::Completed {
                continue;
            }
            let slot = row.scheduled_instant.and_then(|slot| slot.at);
            let ended = row.finished_at.and_then(|ended| ended.at);
            if let (Some(slot), Some(ended)) = (slot, ended) {
                let last: &mut Timestamp = completed.entry((row.job_id, slot)).or_insert(ended);
                *last = ended.max(*last);
            }
        }
        Ok(StoreWitness {
            completed,
            open,
            host,
            ledger,
        })
    }

    /// Who this process is in claims.
    #[must_use]
    pub fn machine(&self, named: Option<&str>) -> String {
        named.filter(|name| !name.is_empty()).map_or_else(
            || {
                format!(
                    "{}:{}",
                    self.host,
                    rustix::process::getpid().as_raw_nonzero()
                )
            },
            str::to_owned,
        )
    }
}

impl Witness for StoreWitness {
    fn completed(&self, job_id: &str, slot: Timestamp) -> Option<Timestamp> {
        let recent = self.completed.get(&(job_id.to_owned(), slot)).copied();
        recent.or_else(|| {
            let ledger = self.ledger.as_ref()?;
            let ran = ledger.read(|store| rows::slot_ran(store, job_id, &utc(slot)));
            ran.ok().flatten()?.at
        })
    }

    /// `host:pid`, or that with a nonce behind: dead if the host is this one and has no such
    /// process.
    fn is_dead(&self, owner: &str) -> bool {
        let pid = owner
            .strip_prefix(&self.host)
            .and_then(|rest| rest.strip_prefix(':'))
            .and_then(|rest| rest.split(':').next())
            .and_then(|pid| pid.parse().ok())
            .and_then(Pid::from_raw);
        pid.is_some_and(|pid| test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
    }

    fn is_open(&self, job_id: &str) -> bool {
        self.open.contains(job_id)
    }
}
