//! The turn of a pass: it takes the lock that all schedulers of the home honour, and says once who has it
//! where that lasts.

use std::time::Duration;

use super::Ticker;
use crate::cron::jobs_lock;
use crate::error::Result;
use crate::files::{self, Lock};
use crate::host::locks::LockTable;
use crate::output::human;

/// How long somebody else may have the lock before that is told: longer than any pass that was measured.
const LONG: Duration = Duration::from_secs(180);

/// Since when somebody else has it, in awake time, and whether that was told.
#[derive(Debug, Default)]
pub(super) struct Turn {
    since: Option<Duration>,
    told: bool,
}

impl Ticker {
    /// The lock; `None`: somebody else ticks.
    pub(super) fn take_turn(&mut self) -> Result<Option<Lock>> {
        let parts = &self.dispatcher.parts;
        let path = parts.home.join("cron/.tick.lock");
        if let Some(lock) = files::try_lock(&path)? {
            if std::mem::take(&mut self.turn).told {
                (parts.say)("The tick lock is free again.");
            }
            return Ok(Some(lock));
        }
        let awake = parts.clock.now().monotonic;
        let gone = awake.saturating_sub(*self.turn.since.get_or_insert(awake));
        if gone >= LONG && !std::mem::replace(&mut self.turn.told, true) {
            let holder = LockTable::new().holder(&path);
            let time = human::duration(i64::try_from(gone.as_secs()).unwrap_or(i64::MAX));
            (parts.say)(&format!(
                "No pass over the jobs for {time}: {} was taken, {}.",
                path.display(),
                jobs_lock::describe(&holder)
            ));
        }
        Ok(None)
    }
}
