//! The end of a ticker: what was submitted is waited for.

use std::sync::Arc;
use std::time::Duration;

use super::Ticker;
use crate::agent::settings::STOP_GRACE;
use crate::cron::dispatcher::Asked;

/// How often a drain looks whether there is still something to wait for.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// What a worker gets to write the end of its run.
const WRITES: Duration = Duration::from_secs(5);

impl Ticker {
    /// Waits for all that was submitted, whether it has begun or not, at most this long.
    pub async fn drain_all(&mut self, most: Duration) {
        let wait = async {
            while let Some(ended) = self.tasks.join_next().await {
                self.ended(ended);
            }
        };
        let _whoever_is_left_has_a_row = tokio::time::timeout(most, wait).await;
    }

    /// Starts nothing more, and waits for the runs that a stop would take along, at most this long.
    /// Placed ones go on without us. Those that nobody else would end are ended then. Returns how many
    /// are left for whoever supervises us.
    pub async fn drain(&mut self, most: Duration) -> usize {
        self.dispatcher.begin_to_stop();
        let _whoever_waits_for_room_listens = self.ask.send(true);
        // What they hold of their jobs is given back, where the store can be had in time.
        let leave = async { while self.some_wait() && self.look_for_an_end().await {} };
        let _a_claim_of_ours_is_taken_over = tokio::time::timeout(WRITES, leave).await;
        let wait = async { while self.dispatcher.at_risk() > 0 && self.look_for_an_end().await {} };
        let _the_rest_is_ended_or_counted = tokio::time::timeout(most, wait).await;
        if self.dispatcher.at_risk() > 0 {
            self.end_what_is_left().await;
        }
        self.dispatcher.at_risk()
    }

    /// Whether some job has not begun.
    fn some_wait(&self) -> bool {
        self.running.values().any(|flight| !flight.has_begun())
    }

    /// A launch that gets placed meanwhile is no end, and still nothing to wait for. `false`: there is
    /// nothing more to wait for.
    async fn look_for_an_end(&mut self) -> bool {
        match tokio::time::timeout(LOOK_AGAIN, self.tasks.join_next()).await {
            Ok(Some(ended)) => self.ended(ended),
            Err(_) => {}
            Ok(None) => return false,
        }
        true
    }

    /// Ends the runs that would outlive a dispatcher that nobody supervises: asks them, and then makes
    /// them. A run that is on its way to its worker is asked as soon as that has it.
    async fn end_what_is_left(&mut self) {
        let dispatcher = Arc::clone(&self.dispatcher);
        let mut asked = Asked::new();
        for patience in [STOP_GRACE + WRITES, WRITES] {
            let wait = async {
                while dispatcher.at_risk() > 0 {
                    match dispatcher.ask_to_end(&mut asked).await {
                        Ok(true) => {}
                        Ok(false) => break,
                        Err(error) => {
                            let told = format!("Who runs a job cannot be learned: {error}.");
                            return (dispatcher.parts.say)(&told);
                        }
                    }
                    if !self.look_for_an_end().await {
                        break;
                    }
                }
            };
            let _those_that_do_not_listen_are_made_to = tokio::time::timeout(patience, wait).await;
            dispatcher.make_them_end(&asked).await;
        }
    }
}
