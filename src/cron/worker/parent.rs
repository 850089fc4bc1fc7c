//! The dispatcher beside which a worker runs, as far as the worker sees it: whether it lives, and since when it
//! does not. Whoever dispatches next is nobody's parent.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::time::Instant;

use crate::child::spawn::Watch;

/// The process that started this one.
pub(super) struct Parent {
    watch: Option<Watch>,
    ended: Arc<OnceLock<Instant>>,
}

impl Parent {
    /// Looks from now on. To be asked for at once: an orphan has another parent.
    pub(super) fn here() -> Self {
        let hold = || {
            let pid = rustix::process::getppid()?.as_raw_nonzero().get();
            Watch::of(u32::try_from(pid).ok()?).ok().flatten()
        };
        let ended = Arc::new(OnceLock::new());
        if let Some(watch) = hold() {
            let ended = Arc::clone(&ended);
            tokio::spawn(async move {
                if watch.ended().await.is_ok() {
                    let _once = ended.set(Instant::now());
                }
            });
        }
        let watch = hold();
        Self { watch, ended }
    }

    /// For how long it is gone; `None`: it lives.
    pub(super) fn gone_for(&self) -> Option<Duration> {
        if self.watch.as_ref().is_some_and(|watch| !watch.has_ended()) {
            return None;
        }
        let ended = self.ended.get().map(Instant::elapsed);
        Some(ended.unwrap_or_default())
    }
}
