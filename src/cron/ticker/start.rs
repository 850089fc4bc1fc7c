//! The start of a job: it waits for its stagger and for room, and begins only where nothing has come
//! between.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Ticker;
use super::flight::Flight;
use crate::cron::dispatcher::Order;
use crate::cron::scan::DueJob;
use crate::cron::stop_file;

/// Why a job that waited is left to the next scheduler.
const LEFT: &str = "the scheduler stopped before there was room for it";

impl Ticker {
    /// Starts a job beside the others, as soon as there is room. A stop that came meanwhile leaves its slot
    /// to a later pass.
    pub(super) fn submit(&mut self, order: DueJob) {
        let mut flight = Flight::new(self.dispatcher.now(), order.stagger);
        let (begun, job_id) = (flight.begun(), order.job_id.clone());
        let (dispatcher, room) = (Arc::clone(&self.dispatcher), Arc::clone(&self.room));
        let mut stopping = self.ask.subscribe();
        let task = self.tasks.spawn(async move {
            let id = order.job_id.clone();
            let wait = async {
                tokio::time::sleep(order.stagger).await;
                room.acquire_owned().await.ok()
            };
            let place = tokio::select! {
                place = wait => place,
                _ = stopping.wait_for(|stop| *stop) => None,
            };
            let order = Order {
                job: order.job,
                slot: order.slot,
                manual: order.manual,
                source: "builtin",
            };
            let stop = stop_file::in_force(&dispatcher.parts.home, dispatcher.now());
            let fate = match (place, stop) {
                (Some(_place), None) => {
                    begun.store(true, Ordering::Relaxed);
                    dispatcher.run(order).await
                }
                (_, Some(stop)) => dispatcher.leave(&order, stop.text()).await,
                (None, None) => dispatcher.leave(&order, LEFT.to_owned()).await,
            };
            (id, fate)
        });
        flight.is_task(task.id());
        self.running.insert(job_id, flight);
    }
}
