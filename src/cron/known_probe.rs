//! What a scan by a dispatcher asks beside the jobs: the ledger that it has open, and the process table.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use super::dispatcher::{Dispatcher, LedgerDoor};
use super::due::Witness;
use crate::child::spawn::Watch;
use crate::error::Result;
use crate::ledger::store::utc;
use crate::ledger::{Ledger, Status, rows};

/// Ended rows that are looked at for slots that have run already: all that are kept.
const KEPT: u32 = crate::ledger::store::KEPT;

/// What the ledger and the process table know, gathered before the scan.
pub(super) struct Known {
    completed: HashMap<(String, i64), Timestamp>,
    open: HashSet<String>,
    host: String,
    now: Timestamp,
    /// For slots that have come, of runs whose rows are kept no more.
    ledger: Option<LedgerDoor>,
}

impl Known {
    /// A ledger that cannot be asked now refuses the slot when it is claimed.
    fn ran_long_ago(&self, job_id: &str, slot: Timestamp) -> Option<Timestamp> {
        let ask = |ledger: &mut Ledger| ledger.read(|c| rows::slot_ran(c, job_id, &utc(slot)));
        self.ledger.as_ref()?.with(ask).ok().flatten()?.at
    }
}

impl Witness for Known {
    fn completed(&self, job_id: &str, slot: Timestamp) -> Option<Timestamp> {
        let recent = self
            .completed
            .get(&(job_id.to_owned(), slot.as_microsecond()))
            .copied();
        // Jobs that only wait are looked at without a question each.
        match recent {
            None if slot <= self.now => self.ran_long_ago(job_id, slot),
            recent => recent,
        }
    }

    fn is_dead(&self, owner: &str) -> bool {
        let holder = owner.rsplit_once(':').filter(|(_, last)| last.len() == 32);
        let holder = holder.map_or(owner, |(holder, _)| holder);
        let Some((host, pid)) = holder.rsplit_once(':') else {
            return false;
        };
        let pid = pid.parse::<u32>().ok();
        host == self.host && pid.is_some_and(|pid| matches!(Watch::of(pid), Ok(None)))
    }

    fn is_open(&self, job_id: &str) -> bool {
        self.open.contains(job_id)
    }
}

impl Known {
    pub(super) async fn of(dispatcher: &Dispatcher, now: Timestamp) -> Result<Self> {
        let there_is_one = dispatcher.parts.home.ledger().exists();
        let rows = if there_is_one {
            dispatcher
                .with_ledger(|ledger| ledger.read(|c| rows::executions(c, KEPT)))
                .await?
                .unwrap_or_default()
        } else {
            Vec::new()
        };
        let (open, ended): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(|row| row.status.is_open());
        let ended = ended
            .into_iter()
            .filter(|row| row.status == Status::Completed);
        let completed = ended
            .filter_map(|row| {
                let slot = row.scheduled_instant?.at?.as_microsecond();
                Some(((row.job_id, slot), row.finished_at?.at?))
            })
            .collect();
        let machine = &dispatcher.parts.machine;
        let host = machine
            .rsplit_once(':')
            .map_or(machine.as_str(), |(host, _)| host)
            .to_owned();
        Ok(Self {
            completed,
            open: open.into_iter().map(|row| row.job_id).collect(),
            host,
            now,
            ledger: there_is_one.then(|| dispatcher.ledger_door()),
        })
    }
}
