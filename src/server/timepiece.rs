//! What drivers sleep by. Over the clocks of the host that is a timer of the runtime, which counts
//! awake time; over a clock that is driven by a test it is that test's word.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::clock::{Clock, Now};

/// A wait that is as good as none: nobody has to drive a clock for it.
const AT_ONCE: Duration = Duration::from_millis(1);

/// A clock, and how to wait for a moment of it.
#[derive(Clone)]
pub struct Timepiece {
    clock: Arc<dyn Clock>,
    driven: Option<watch::Receiver<u64>>,
}

impl Timepiece {
    /// Over this clock; `driven` changes whenever somebody moved it.
    pub(crate) fn new(clock: Arc<dyn Clock>, driven: Option<watch::Receiver<u64>>) -> Self {
        Self { clock, driven }
    }

    /// The moment.
    #[must_use]
    pub fn now(&self) -> Now {
        self.clock.now()
    }

    /// The clock itself.
    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    /// Waits so much awake time. Whoever stops waiting loses nothing.
    pub async fn sleep(&self, time: Duration) {
        let Some(driven) = self.driven.as_ref().filter(|_| time > AT_ONCE) else {
            return tokio::time::sleep(time).await;
        };
        let mut driven = driven.clone();
        let until = self.now().monotonic + time;
        while self.now().monotonic < until {
            if driven.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}
