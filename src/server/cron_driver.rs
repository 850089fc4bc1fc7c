//! Cron inside serve: the ticker as one of the drivers.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use tokio::sync::{mpsc, oneshot, watch};

use super::drivers::{Driver, Turning};
use super::farewell::Farewell;
use crate::clock::Now;
use crate::config::{Config, Settings};
use crate::cron::dispatcher::{Dispatcher, Parts};
use crate::cron::ticker::Ticker;
use crate::cron::wanted_run::Wanted;
use crate::cron::zone_probe::ZoneProbe;
use crate::error::Result;
use crate::output::human;
use crate::runtime::Runtime;

/// Longest pass that still counts as turning: the store's lock may be waited for twice, and a mute bus
/// once.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often somebody who stops counts those that he waits for.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// Runs that may be asked for before one is taken up.
const ASKED: usize = 64;

/// The way to the driver of cron.
pub(super) type Desk = mpsc::Sender<Asked>;

/// What the driver of cron is asked for.
pub(super) enum Asked {
    /// A run by hand.
    Run(Wanted),
    /// Somebody who drives the clock wants to know when it has had its turn and no job runs.
    Settle(oneshot::Sender<()>),
}

/// The ticker of a home, as a driver.
pub(super) struct Cron {
    ticker: Ticker,
    drain: Duration,
    dispatcher: Arc<Dispatcher>,
    farewell: Option<Farewell>,
    asked: mpsc::Receiver<Asked>,
    taken: Vec<Asked>,
    /// When the next pass begins, in awake time: the wall clock may be set.
    next: Duration,
}

/// The driver of cron for the home that this command is about, and the way to it; `None` where cron is
/// switched off.
///
/// # Errors
/// When the agent or the environment of jobs is configured and makes no sense.
pub(super) fn cron(
    runtime: &Runtime,
    flags: &[(&'static str, String)],
) -> Result<Option<(Cron, Desk)>> {
    let home = runtime.one_home()?;
    let variable = |name: &str| runtime.environ.text(name).map(str::to_owned);
    let config = Config::load(&home, &variable, flags);
    let settings = Settings::of(&config);
    if !settings.serve.cron {
        return Ok(None);
    }
    let say = |sentence: &str| tracing::warn!("{}", human::printable(sentence));
    let parts = Parts::of(runtime, &home, &config, Box::new(say))?;
    let zone = ZoneProbe::begin(&home, &runtime.environ, &parts.zone);
    let dispatcher = Arc::new(Dispatcher::new(parts));
    let ticker = Ticker::turning(Arc::clone(&dispatcher), zone);
    let (desk, asked) = mpsc::channel(ASKED);
    let cron = Cron {
        ticker,
        drain: settings.cron.drain_timeout,
        dispatcher,
        farewell: None,
        asked,
        taken: Vec::new(),
        next: Duration::ZERO,
    };
    Ok(Some((cron, desk)))
}

impl Cron {
    /// What a stop leaves to jobs.
    pub(super) fn bound(&self) -> Duration {
        self.drain
    }

    /// Has it tell others, at the end, that it waits for jobs; and lets runs that end know at once that serve is
    /// being stopped, in the middle of a turn as well: a stop of the unit asks them to end at the same moment.
    pub(super) fn stopped_by(self, stop: &watch::Receiver<bool>, farewell: Farewell) -> Self {
        let (dispatcher, mut stop) = (Arc::clone(&self.dispatcher), stop.clone());
        tokio::spawn(async move {
            if stop.wait_for(|stopped| *stopped).await.is_ok() {
                dispatcher.begin_to_stop();
            }
        });
        Self {
            farewell: Some(farewell),
            ..self
        }
    }

    async fn pass(&mut self) {
        if let Err(error) = self.ticker.tick().await {
            tracing::error!("A pass over the jobs failed: {}.", error.in_full());
        }
        let after = self.ticker.now();
        let wait: SignedDuration = self.ticker.next_wake(after.wall).duration_since(after.wall);
        self.next = after.monotonic + Duration::try_from(wait).unwrap_or_default();
    }
}

/// Tells for how many jobs a stop waits, whenever it is another number. Never ends.
async fn tell(farewell: Option<&mut Farewell>, dispatcher: &Dispatcher, since: Now) {
    let mut told = None;
    if let Some(farewell) = farewell {
        loop {
            let jobs = dispatcher.at_risk();
            if told.replace(jobs) != Some(jobs) {
                farewell.tell(since, jobs);
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }
    std::future::pending::<()>().await;
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
            let mut settling = Vec::new();
            for asked in self.taken.drain(..) {
                match asked {
                    Asked::Run(wanted) => self.ticker.run_by_hand(wanted),
                    Asked::Settle(settled) => settling.push(settled),
                }
            }
            if now.monotonic >= self.next {
                self.pass().await;
            }
            if !settling.is_empty() {
                self.ticker.drain_all(PATIENCE).await;
            }
            for settled in settling {
                let _nobody_waits = settled.send(());
            }
            self.next.saturating_sub(self.ticker.now().monotonic)
        })
    }

    fn woken(&mut self) -> Turning<'_, ()> {
        Box::pin(async move {
            match self.asked.recv().await {
                Some(asked) => self.taken.push(asked),
                None => std::future::pending().await,
            }
        })
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        let looks = self.ticker.looks();
        vec![
            ("hermes_cron_store_reads_total", looks.reads),
            ("hermes_cron_jobs_read_total", looks.jobs),
        ]
    }

    fn drain(&mut self, now: Now) -> Turning<'_, ()> {
        Box::pin(async move {
            let left = tokio::select! {
                left = self.ticker.drain(self.drain) => left,
                () = tell(self.farewell.as_mut(), &self.dispatcher, now) => 0,
            };
            if let Some(farewell) = &mut self.farewell {
                farewell.tell(now, 0);
            }
            if left > 0 {
                tracing::warn!("Jobs that go on, or are stopped with this service: {left}.");
            }
        })
    }
}
