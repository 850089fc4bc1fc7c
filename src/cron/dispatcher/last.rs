//! What a dispatcher that ends does about runs that nobody else would end: those that run beside it and are
//! supervised by nobody.

use std::collections::HashMap;

use super::{Dispatcher, blocking};
use crate::child::leftovers::kill_marked;
use crate::child::spawn::Watch;
use crate::cron::run::EXECUTION_VARIABLE;
use crate::cron::stop_run::{Target, look};
use crate::dispatch::mode::Mode;
use crate::error::Result;
use crate::ledger::{Cause, Execution, Status};

/// Why such a run ends, for its record.
const WHY: &str = "its dispatcher was stopped, and did not wait longer for it";

/// Runs that were asked to end, by their ids, each with a hold on its worker.
pub(in crate::cron) type Asked = HashMap<String, Watch>;

impl Dispatcher {
    /// Asks the workers of this process's `in_process` runs to end, each once, with the cause on record
    /// before. A worker gives what it runs its ten seconds, and writes the end. Returns whether there is
    /// an end to wait for, or a run that is on its way to its worker.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub(in crate::cron) async fn ask_to_end(&self, asked: &mut Asked) -> Result<bool> {
        let open = self.open_rows().await?;
        let is_new = |row: &Execution| self.in_hand.has(&row.id) && !asked.contains_key(&row.id);
        let open: Vec<_> = open.into_iter().filter(|(row, _)| is_new(row)).collect();
        let mut claimed = open.iter().map(|(row, _)| &row.status);
        let on_their_way = claimed.any(|status| *status == Status::Claimed);
        for (row, facts) in open {
            let own = facts.filter(|facts| facts.mode == Mode::InProcess.word());
            let Some(Ok(Target::Worker { watch, .. })) =
                own.map(|facts| look(&row, Some(&facts), &self.parts.identity))
            else {
                continue;
            };
            let (id, now) = (row.id.clone(), self.now());
            let record = self.with_ledger(move |ledger| {
                ledger.record_cause(&id, &Cause::GatewayRestart, WHY, now)
            });
            let _its_worker_says_less_then = record.await;
            let _gone_is_ended = watch.ask_to_end();
            asked.insert(row.id, watch);
        }
        Ok(on_their_way || !asked.is_empty())
    }

    /// Makes an end of those that did not listen, and of all that they started.
    pub(in crate::cron) async fn make_them_end(&self, asked: &Asked) {
        let mut left = Vec::new();
        for (id, watch) in asked.iter().filter(|(_, watch)| !watch.has_ended()) {
            let _gone_is_ended = watch.make_it_end();
            left.push(id.clone());
        }
        let kill = move || {
            for id in left {
                let _killed = kill_marked(EXECUTION_VARIABLE, &id);
            }
            Ok(())
        };
        let _as_far_as_it_went = blocking(kill).await;
    }
}
