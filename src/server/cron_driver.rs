//! Cron inside serve: the ticker as one of the drivers.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;

use super::drivers::{Driver, Turning};
use crate::clock::Now;
use crate::config::{Config, Settings};
use crate::cron::dispatcher::{Dispatcher, Parts};
use crate::cron::ticker::Ticker;
use crate::error::Result;
use crate::runtime::Runtime;

/// Longest pass that still counts as turning: the store's lock may be waited for twice, and a mute bus
/// once.
const PATIENCE: Duration = Duration::from_secs(120);

/// The ticker of a home, as a driver.
pub(super) struct Cron {
    ticker: Ticker,
    drain: Duration,
}

/// The driver of cron for the home that this command is about; `None` where cron is switched off.
///
/// # Errors
/// When the zone, the agent or the environment of jobs is configured and makes no sense.
pub fn cron(
    runtime: &Runtime,
    flags: &[(&'static str, String)],
) -> Result<Option<Box<dyn Driver>>> {
    let home = runtime.one_home()?;
    let variable = |name: &str| runtime.environ.text(name).map(str::to_owned);
    let config = Config::load(&home, &variable, flags);
    let settings = Settings::of(&config);
    if !settings.serve.cron {
        return Ok(None);
    }
    let say = |sentence: &str| tracing::warn!("{sentence}");
    let parts = Parts::of(runtime, &home, &config, Box::new(say))?;
    let ticker = Ticker::new(Arc::new(Dispatcher::new(parts)));
    Ok(Some(Box::new(Cron::new(
        ticker,
        settings.cron.drain_timeout,
    ))))
}

impl Cron {
    /// Over this ticker; at a stop, jobs that a restart would kill get this long.
    #[must_use]
    pub(super) fn new(ticker: Ticker, drain: Duration) -> Self {
        Self { ticker, drain }
    }
}

impl Driver for Cron {
    fn name(&self) -> &'static str {
        "cron"
    }

    fn patience(&self) -> Duration {
        PATIENCE
    }

    fn turn(&mut self, now: Now) -> Turning<'_, Duration> {
        Box::pin(async move {
            if let Err(error) = self.ticker.tick().await {
                tracing::error!("A pass over the jobs failed: {error}.");
            }
            let wait: SignedDuration = self.ticker.next_wake(now.wall).duration_since(now.wall);
            Duration::try_from(wait).unwrap_or_default()
        })
    }

    fn drain(&mut self, _: Now) -> Turning<'_, ()> {
        Box::pin(async move {
            let left = self.ticker.drain(self.drain).await;
            if left > 0 {
                tracing::warn!("{left} jobs go on, or are stopped with this service.");
            }
        })
    }
}
