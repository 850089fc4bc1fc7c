//! The result of a run on its way to its target: once, and only as long as nobody asks for its end.

use std::collections::BTreeMap;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::Worker;
use crate::child::leftovers::kill_marked;
use crate::cron::delivery::{Command, Deliver as _, Delivered, FAILED, Local, Parcel};
use crate::cron::fire_lock;
use crate::cron::run::{EXECUTION_VARIABLE, Report};
use crate::error::{Error, Kind, Result};
use crate::fault;

impl Worker {
    /// Delivers what came of a run. Somebody who cancels the run now ends its delivery: the run has its own end
    /// already. A stop of the dispatcher lets it come to its end, which it does within a minute.
    pub(super) async fn deliver(&self, report: &Report, error: Option<&str>) -> Result<Delivered> {
        let parcel = Parcel {
            job: &self.work.task.name,
            execution_id: self.id(),
            ok: report.ok,
            text: error.unwrap_or(&report.body),
        };
        if self.work.task.deliver_command.is_empty() {
            return Local.deliver(&parcel).await;
        }
        let mut terminate = signal(SignalKind::terminate())
            .map_err(|error| Error::io("failed to listen for signals", error))?;
        let (ask, cancel) = watch::channel(!report.cancelled && self.was_cancelled());
        let mut sending = Box::pin(self.send(&parcel, cancel));
        let delivered = loop {
            tokio::select! {
                delivered = &mut sending => break delivered?,
                _ = terminate.recv() => {
                    let _it_listens = ask.send(!report.cancelled && self.was_cancelled());
                }
            }
        };
        if delivered == Delivered::Cancelled {
            let _as_far_as_it_went = kill_marked(EXECUTION_VARIABLE, self.id());
        }
        Ok(delivered)
    }

    async fn send(
        &self,
        parcel: &Parcel<'_>,
        mut cancel: watch::Receiver<bool>,
    ) -> Result<Delivered> {
        let cron = self.home.cron();
        let lock = fire_lock::take(&cron, &self.work.task.job_id);
        let _lock = tokio::select! {
            biased;
            Ok(_) = cancel.wait_for(|asked| *asked) => return Ok(Delivered::Cancelled),
            lock = lock => lock?,
        };
        // Before it goes out: what is cut short in the middle is not sent a second time.
        if matches!(
            self.ledger.begin_delivery(self.id(), &self.owner),
            Ok(false)
        ) {
            let words = "somebody else has closed its row, and sees to its delivery";
            return Err(Error::new(Kind::Busy, words));
        }
        fault::point("worker.delivering");
        let environment: &BTreeMap<String, String> = &self.payload.environment;
        let command = Command {
            argv: &self.work.task.deliver_command,
            environment,
            guard: true,
            cancel,
        };
        let delivered = command.deliver(parcel).await;
        let word = delivered.as_ref().map_or(FAILED, |how| how.word());
        let _the_end_says_it_too = self.ledger.settle_delivery(self.id(), word);
        delivered
    }
}
