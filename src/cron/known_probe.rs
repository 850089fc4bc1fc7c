//! What a scan by a dispatcher asks beside the jobs: the ledger that it has open, and the process table.

use jiff::Timestamp;

use super::claim::Holder;
use super::dispatcher::{Dispatcher, LedgerDoor};
use super::due::Witness;
use super::witness_store::{Runs, is_dead};
use crate::error::Result;
use crate::ledger::store::utc;
use crate::ledger::{Ledger, rows};

/// What the ledger and the process table know, gathered before the scan.
pub(super) struct Known {
    runs: Runs,
    host: String,
    now: Timestamp,
    /// For slots that have come, of runs whose rows are kept no more.
    ledger: Option<LedgerDoor>,
}

impl Known {
    /// Asks the ledger, if there is one.
    pub(super) async fn of(dispatcher: &Dispatcher, now: Timestamp) -> Result<Self> {
        let there_is_one = dispatcher.parts.home.ledger().exists();
        let runs = if there_is_one {
            let read = |ledger: &mut Ledger| ledger.read(Runs::read);
            dispatcher.with_ledger(read).await?
        } else {
            Runs::default()
        };
        let host = Holder::parse(&dispatcher.parts.machine).host;
        Ok(Self {
            runs,
            host: host.to_owned(),
            now,
            ledger: there_is_one.then(|| dispatcher.ledger_door()),
        })
    }

    /// A ledger that cannot be asked now refuses the slot when it is claimed.
    fn ran_long_ago(&self, job_id: &str, slot: Timestamp) -> Option<Timestamp> {
        let ask = |ledger: &mut Ledger| ledger.read(|c| rows::slot_ran(c, job_id, &utc(slot)));
        self.ledger.as_ref()?.with(ask).ok().flatten()?.at
    }
}

impl Witness for Known {
    fn completed(&self, job_id: &str, slot: Timestamp) -> Option<Timestamp> {
        match self.runs.completed(job_id, slot) {
            // Jobs that only wait are looked at without a question each.
            None if slot <= self.now => self.ran_long_ago(job_id, slot),
            recent => recent,
        }
    }

    fn is_dead(&self, owner: &str) -> bool {
        is_dead(owner, &self.host)
    }

    fn is_open(&self, job_id: &str) -> bool {
        self.runs.is_open(job_id)
    }

    fn done_ahead(&self, now: Timestamp) -> Vec<String> {
        self.runs.done_ahead(now)
    }
}
