//! The ticker: one pass a minute over due jobs, on aligned starts, under the lock that all schedulers
//! of the home honour. A pass costs what is due: one look at the store's stamp, and nothing more until
//! the earliest job wakes or the store changes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::dispatcher::{Dispatcher, Fate, Order};
use super::jobs_file::Version;
use super::markers_file::Markers;
use super::scan_driver::{self, Found, Scan};
use super::stop_file;
use crate::error::{Error, Kind, Result};
use crate::files;

/// Between two passes, as in Hermes Agent.
pub const PERIOD: SignedDuration = SignedDuration::from_secs(60);
/// Longest time between two sweeps of open rows.
const SWEEP: SignedDuration = SignedDuration::from_secs(300);
/// Jobs that run side by side where the operator says nothing.
pub const PARALLEL: usize = 8;
/// The longest pause after descriptors ran out.
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_secs(900);

/// How often a drain looks whether there is still something to wait for.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// Ends of runs that are kept for whoever asks.
const FATES: usize = 1000;

/// What a pass did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Somebody else ticks at this moment.
    Busy,
    /// An emergency stop is in force, or another scheduler owns the ticks.
    Standing(String),
    /// It scanned; so many jobs were started.
    Done(usize),
}

/// The ticker of one home.
pub struct Ticker {
    dispatcher: Arc<Dispatcher>,
    markers: Markers,
    running: HashMap<String, u64>,
    waited_for: HashSet<String>,
    room: Arc<Semaphore>,
    tasks: JoinSet<(String, Fate)>,
    seen: Option<(Option<Version>, Option<Timestamp>)>,
    swept_at: Option<Timestamp>,
    failures: u32,
    started: u64,
    standing: Option<String>,
    fates: Vec<(String, Fate)>,
    ask: watch::Sender<bool>,
}

/// The start of the pass after this instant: whole minutes of the wall clock, so that the work of a
/// pass never shifts the next one.
#[must_use]
pub fn next_start(now: Timestamp) -> Timestamp {
    let period = PERIOD.as_secs();
    let next = (now.as_second().div_euclid(period) + 1) * period;
    Timestamp::from_second(next).unwrap_or(Timestamp::MAX)
}

/// How long the next pass waits after so many failed for want of descriptors.
#[must_use]
pub fn pause_after(failures: u32) -> SignedDuration {
    let doubled = PERIOD
        .as_secs()
        .checked_shl(failures.saturating_sub(1).min(10))
        .unwrap_or(i64::MAX);
    SignedDuration::from_secs(doubled.clamp(0, LONGEST_PAUSE.as_secs()))
}

impl Ticker {
    /// A ticker over this dispatcher.
    #[must_use]
    pub fn new(dispatcher: Arc<Dispatcher>) -> Self {
        let settings = &dispatcher.parts.settings;
        let parallel = settings.max_parallel_jobs.map_or(PARALLEL, |most| {
            usize::try_from(most)
                .unwrap_or(Semaphore::MAX_PERMITS)
                .min(Semaphore::MAX_PERMITS)
        });
        Self {
            markers: Markers::of(&dispatcher.parts.home),
            dispatcher,
            running: HashMap::new(),
            waited_for: HashSet::new(),
            room: Arc::new(Semaphore::new(parallel)),
            tasks: JoinSet::new(),
            seen: None,
            swept_at: None,
            failures: 0,
            started: 0,
            standing: None,
            fates: Vec::new(),
            ask: watch::channel(false).0,
        }
    }

    /// How many jobs run or wait for room.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.running.len()
    }

    /// Why it does not tick, where it does not.
    #[must_use]
    pub fn standing(&self) -> Option<&str> {
        self.standing.as_deref()
    }

    /// What became of the jobs whose runs have ended since this was last asked; the last thousand.
    pub fn take_fates(&mut self) -> Vec<(String, Fate)> {
        std::mem::take(&mut self.fates)
    }

    /// One pass, with its markers, whatever became of it.
    pub async fn tick(&mut self) -> Result<Pass> {
        self.collect();
        let result = self.attempt().await;
        let now = self.dispatcher.now();
        self.markers.beat(now);
        match &result {
            Ok(pass) => {
                self.failures = 0;
                if *pass != Pass::Busy {
                    self.markers.succeeded(now);
                }
            }
            Err(error) => {
                self.failures += 1;
                let causes = error.causes().join(": ");
                let message = format!("{error}: {causes}");
                self.markers
                    .failed(now, kind_word(error), message.trim_end_matches(": "));
            }
        }
        result
    }

    /// The start of the next pass.
    #[must_use]
    pub fn next_wake(&self, now: Timestamp) -> Timestamp {
        let next = next_start(now);
        if self.failures > 1 {
            return next.checked_add(pause_after(self.failures)).unwrap_or(next);
        }
        next
    }

    async fn attempt(&mut self) -> Result<Pass> {
        let now = self.dispatcher.now();
        let home = &self.dispatcher.parts.home;
        if let Ok(true) = stop_file::lift_if_over(home, now) {
            (self.dispatcher.parts.say)("The emergency stop has ended, and was lifted.");
        }
        if let Some(stop) = stop_file::in_force(&self.dispatcher.parts.home, now) {
            return Ok(self.stand(stop.text()));
        }
        if let Some(other) = scan_driver::other_scheduler(&self.dispatcher.parts.home) {
            return Ok(self.stand(other));
        }
        self.go_on();
        let path = self.dispatcher.parts.home.join("cron/.tick.lock");
        if !self.dispatcher.parts.home.cron().is_dir() {
            return Ok(Pass::Done(0));
        }
        let Some(_lock) = files::try_lock(&path)? else {
            return Ok(Pass::Busy);
        };
        if self
            .swept_at
            .is_none_or(|at| now.duration_since(at) >= SWEEP)
        {
            self.swept_at = Some(now);
            self.sweep().await?;
        }
        let found = self.scan(now).await?;
        let count = found.orders.len();
        for order in found.orders {
            self.submit(order);
        }
        Ok(Pass::Done(count))
    }

    fn stand(&mut self, why: String) -> Pass {
        if self.standing.as_ref() != Some(&why) {
            (self.dispatcher.parts.say)(&format!("Jobs are not started: {why}."));
        }
        self.standing = Some(why.clone());
        Pass::Standing(why)
    }

    fn go_on(&mut self) {
        if self.standing.take().is_some() {
            (self.dispatcher.parts.say)("Jobs are started again.");
        }
    }

    /// Closes what dead owners left, and waits for what goes on without a dispatcher.
    async fn sweep(&mut self) -> Result<()> {
        let swept = self.dispatcher.sweep(&self.waited_for).await?;
        for id in &swept.closed {
            (self.dispatcher.parts.say)(&format!(
                "Execution {id} was interrupted; its row is closed."
            ));
        }
        for (job_id, slot) in swept.unadopted {
            self.run_after_all(&job_id, slot)?;
        }
        for id in swept.alive {
            if !self.waited_for.insert(id.clone()) {
                continue;
            }
            (self.dispatcher.parts.say)(&format!(
                "Execution {id} goes on in its worker; waiting for its end."
            ));
            let dispatcher = Arc::clone(&self.dispatcher);
            self.tasks.spawn(async move {
                let waited = dispatcher.wait_for_stranger(&id).await;
                let error = waited.err().map(|error| error.to_string());
                let fate = Fate::Ended {
                    execution_id: id,
                    ok: error.is_none(),
                    error,
                };
                (String::new(), fate)
            });
        }
        Ok(())
    }

    /// A slot that a dispatcher took, and was gone before a worker had it, is run now. A job that is no
    /// longer there leaves a row to be closed by the next sweep.
    fn run_after_all(&mut self, job_id: &str, slot: Timestamp) -> Result<()> {
        if self.running.contains_key(job_id) {
            return Ok(());
        }
        let jobs = self.dispatcher.jobs().read()?.jobs.jobs;
        let job = jobs
            .into_iter()
            .find(|job| job.get("id").and_then(|id| id.as_str()) == Some(job_id));
        if let Some(job) = job {
            (self.dispatcher.parts.say)(&format!(
                "A slot of job {job_id} was taken and never run; it is run now."
            ));
            self.submit(scan_driver::DueJob {
                job_id: job_id.to_owned(),
                job,
                slot: Some(slot),
                manual: false,
                stagger: Duration::ZERO,
            });
        }
        Ok(())
    }

    /// Looks for due jobs, unless nothing has changed since nothing was due.
    async fn scan(&mut self, now: Timestamp) -> Result<Found> {
        let file = self.dispatcher.jobs();
        let version = file.version()?;
        if let Some((seen, wakes_at)) = &self.seen
            && *seen == version
            && wakes_at.is_none_or(|at| at > now)
        {
            return Ok(Found::default());
        }
        let running = self.running.keys().cloned().collect();
        let scan = Scan {
            dispatcher: Arc::clone(&self.dispatcher),
            running,
            now,
        };
        let found = scan.run().await?;
        self.markers.caught_up(found.catch_ups);
        self.seen = Some((self.dispatcher.jobs().version()?, found.wakes_at));
        Ok(found)
    }

    /// Starts a job beside the others, as soon as there is room.
    fn submit(&mut self, order: scan_driver::DueJob) {
        self.started += 1;
        self.running.insert(order.job_id.clone(), self.started);
        let (dispatcher, room) = (Arc::clone(&self.dispatcher), Arc::clone(&self.room));
        let mut stopping = self.ask.subscribe();
        self.tasks.spawn(async move {
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
            let fate = match place {
                Some(_place) => dispatcher.run(order).await,
                None => {
                    Fate::Skipped("the scheduler stopped before there was room for it".to_owned())
                }
            };
            (id, fate)
        });
    }

    /// Forgets the runs that have ended.
    fn collect(&mut self) {
        while let Some(ended) = self.tasks.try_join_next() {
            match ended {
                Ok((id, fate)) => self.note(&id, &fate),
                Err(error) => (self.dispatcher.parts.say)(&format!("A run broke off: {error}.")),
            }
        }
    }

    fn note(&mut self, job_id: &str, fate: &Fate) {
        self.running.remove(job_id);
        if !job_id.is_empty() && self.fates.len() < FATES {
            self.fates.push((job_id.to_owned(), fate.clone()));
        }
        match fate {
            Fate::Ended { execution_id, .. } => {
                self.waited_for.remove(execution_id);
            }
            Fate::Refused(why) => {
                (self.dispatcher.parts.say)(&format!("Job {job_id} was refused: {why}."));
            }
            Fate::NotLaunched { error, .. } => {
                (self.dispatcher.parts.say)(&format!(
                    "Job {job_id} could not be started: {error}."
                ));
            }
            Fate::Skipped(_) => {}
        }
    }

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

/// The kind of an error, in the words of the markers.
fn kind_word(error: &Error) -> &'static str {
    match error.kind() {
        Kind::Io => "OSError",
        Kind::Invalid => "ValueError",
        Kind::Busy => "TimeoutError",
        _ => "RuntimeError",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b48_starts_stay_a_minute_apart_whatever_the_work_takes() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let first = next_start(at("2026-06-17T10:00:00.2Z"));
        assert_eq!(first, at("2026-06-17T10:01:00Z"));
        assert_eq!(
            next_start(first + SignedDuration::from_secs(5)),
            at("2026-06-17T10:02:00Z")
        );
        assert_eq!(next_start(first), at("2026-06-17T10:02:00Z"));
    }

    #[test]
    fn failures_are_tried_again_at_a_growing_pace() {
        let seconds: Vec<_> = (1..=6).map(|count| pause_after(count).as_secs()).collect();
        assert_eq!(seconds, [60, 120, 240, 480, 900, 900]);
    }
}
