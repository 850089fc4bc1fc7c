//! Runs that a person asks the ticker of a serve for.

use std::sync::Arc;

use super::Ticker;
use crate::cron::dispatcher::{Dispatcher, Fate, Order};
use crate::cron::stop_file;
use crate::cron::wanted_run::{Begun, Wanted};
use crate::error::{Error, Kind, Result};

impl Ticker {
    /// Runs a job because a person asked for it: it takes no slot, and waits for no room.
    pub fn run_by_hand(&mut self, wanted: Wanted) {
        let dispatcher = Arc::clone(&self.dispatcher);
        self.tasks.spawn(async move {
            let fate = match asked(&dispatcher, &wanted.job_id) {
                Ok(order) => begin(&dispatcher, order, wanted).await,
                Err(error) => {
                    let fate = Fate::Refused(error.to_string());
                    let _nobody_waits = wanted.answer.send(Begun::Over(fate.clone()));
                    fate
                }
            };
            (String::new(), fate)
        });
    }
}

/// The order for a run by hand.
fn asked(dispatcher: &Dispatcher, job_id: &str) -> Result<Order> {
    if let Some(stop) = stop_file::in_force(&dispatcher.parts.home, dispatcher.now()) {
        return Err(Error::new(Kind::Refused, stop.text()));
    }
    let job = dispatcher.jobs().job(job_id)?;
    let gone = || Error::new(Kind::NotFound, format!("there is no job {job_id}"));
    Ok(Order {
        job: job.ok_or_else(gone)?,
        slot: None,
        manual: true,
        source: "direct",
    })
}

/// Runs it, and tells whoever asked as soon as it has begun.
async fn begin(dispatcher: &Dispatcher, order: Order, wanted: Wanted) -> Fate {
    let adopted = dispatcher.adopted(&wanted.execution_id);
    let mut run = Box::pin(dispatcher.run_as(order, &wanted.execution_id));
    tokio::select! {
        biased;
        Ok(()) = adopted => {
            let _nobody_waits = wanted.answer.send(Begun::Running);
            run.await
        }
        fate = &mut run => {
            let _nobody_waits = wanted.answer.send(Begun::Over(fate.clone()));
            fate
        }
    }
}
