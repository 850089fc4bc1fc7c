//! The end of a ticker: what was submitted is waited for.

use std::time::Duration;

use super::Ticker;

/// How often a drain looks whether there is still something to wait for.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

impl Ticker {
    /// Waits for all that was submitted, whether it has begun or not, at most this long.
    pub async fn drain_all(&mut self, most: Duration) {
        let wait = async {
            while let Some(ended) = self.tasks.join_next().await {
                if let Ok((id, fate)) = ended {
                    self.note(&id, &fate);
                }
            }
        };
        let _whoever_is_left_has_a_row = tokio::time::timeout(most, wait).await;
    }

    /// Starts nothing more, and waits for the runs that a stop would take along, at most this long.
    /// Placed ones go on without us. Returns how many are left that will not.
    pub async fn drain(&mut self, most: Duration) -> usize {
        let _whoever_waits_for_room_listens = self.ask.send(true);
        let wait = async {
            while self.dispatcher.at_risk() > 0 {
                // A launch that gets placed meanwhile is no end, and still nothing to wait for.
                let ended = tokio::time::timeout(LOOK_AGAIN, self.tasks.join_next()).await;
                match ended {
                    Ok(Some(Ok((id, fate)))) => self.note(&id, &fate),
                    Ok(Some(Err(_))) | Err(_) => {}
                    Ok(None) => break,
                }
            }
        };
        let _the_rest_is_counted = tokio::time::timeout(most, wait).await;
        self.dispatcher.at_risk()
    }
}
