//! The ticker: one pass a minute over due jobs, on aligned starts, under the lock that all schedulers
//! of the home honour. A pass costs what is due: one look at the store's stamp, and nothing more until
//! a job wakes or the store changes; then the jobs alone that woke or changed are read.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinError, JoinSet};

use self::flight::Flight;
pub use self::look::Looks;
use self::pace::{is_before, next_start, pause_after};
use self::shown::show;
use self::told::Told;
use self::turn::Turn;
use super::dispatcher::{Dispatcher, Fate};
use super::markers_file::Markers;
use super::scan_driver::{self, Looked};
use super::stop_file;
use super::zone_probe::ZoneProbe;
use crate::clock::Now;
use crate::error::Result;
use crate::fault;
use crate::files;
use crate::home::Home;

/// Ends of runs that are kept for whoever asks.
const FATES: usize = 1000;

mod by_hand;
mod drain;
mod flight;
mod left;
mod look;
pub mod pace;
mod shown;
mod start;
mod told;
mod turn;

/// What a pass did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Somebody else ticks at this moment.
    Busy,
    /// An emergency stop is in force, or another scheduler owns the ticks.
    Standing(String),
    /// It scanned, and met so many jobs: those that it started, and those that it left out.
    Done(usize),
}

/// The ticker of one home.
pub struct Ticker {
    dispatcher: Arc<Dispatcher>,
    /// Where it shows that it turns; a pass by hand shows nothing.
    markers: Option<Markers>,
    zone: Option<ZoneProbe>,
    running: HashMap<String, Flight>,
    waited_for: HashSet<String>,
    room: Arc<Semaphore>,
    tasks: JoinSet<(String, Fate)>,
    seen: Option<Looked>,
    /// When the last pass looked for due jobs.
    passed_at: Option<Timestamp>,
    /// Overdue jobs that it left to later ones.
    held: usize,
    /// In awake time: somebody may set the wall clock.
    swept_at: Option<Duration>,
    failures: u32,
    standing: Option<String>,
    /// From when to when an emergency stop has kept it from looking.
    stopped: Option<(Timestamp, Timestamp)>,
    fates: Vec<(String, Fate)>,
    /// What the last pass did not hand out.
    left_out: Vec<(String, Fate)>,
    /// Slots that somebody took and left, and that this pass runs.
    after_all: Vec<(String, Timestamp)>,
    told: Told,
    turn: Turn,
    looks: Looks,
    ask: watch::Sender<bool>,
}

impl Ticker {
    /// The ticker of a serve: it leaves the markers of one that turns, and notices another zone.
    #[must_use]
    pub fn turning(dispatcher: Arc<Dispatcher>, zone: ZoneProbe) -> Self {
        Self {
            markers: Some(Markers::of(&dispatcher.parts.home)),
            zone: Some(zone),
            ..Self::once(dispatcher)
        }
    }

    /// One for a pass by hand. As in Hermes Agent it leaves no markers: they would tell for some
    /// minutes that a ticker is alive.
    #[must_use]
    pub fn once(dispatcher: Arc<Dispatcher>) -> Self {
        let settings = &dispatcher.parts.settings;
        let parallel = settings
            .max_parallel_jobs
            .map_or(Semaphore::MAX_PERMITS, |most| {
                usize::try_from(most)
                    .unwrap_or(Semaphore::MAX_PERMITS)
                    .min(Semaphore::MAX_PERMITS)
            });
        Self {
            markers: None,
            zone: None,
            dispatcher,
            running: HashMap::new(),
            waited_for: HashSet::new(),
            room: Arc::new(Semaphore::new(parallel)),
            tasks: JoinSet::new(),
            seen: None,
            passed_at: None,
            held: 0,
            swept_at: None,
            failures: 0,
            standing: None,
            stopped: None,
            fates: Vec::new(),
            left_out: Vec::new(),
            after_all: Vec::new(),
            told: Told::default(),
            turn: Turn::default(),
            looks: Looks::default(),
            ask: watch::channel(false).0,
        }
    }

    /// The clocks that it goes by.
    #[must_use]
    pub fn now(&self) -> Now {
        self.dispatcher.parts.clock.now()
    }

    /// How many jobs run or wait for room.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.running.len()
    }

    /// How often it has looked into the store, and at how much of it.
    #[must_use]
    pub fn looks(&self) -> Looks {
        self.looks
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

    /// What became of jobs that the last pass met and did not hand out.
    pub fn take_left_out(&mut self) -> Vec<(String, Fate)> {
        std::mem::take(&mut self.left_out)
    }

    /// One pass, with its markers, whatever became of it.
    pub async fn tick(&mut self) -> Result<Pass> {
        self.collect();
        let result = self.attempt().await;
        let spent = result.is_err() && files::out_of_descriptors();
        self.failures = if spent { self.failures + 1 } else { 0 };
        if let Some(markers) = &self.markers {
            show(markers, &result, self.dispatcher.now());
        }
        result
    }

    /// The start of the next pass.
    #[must_use]
    pub fn next_wake(&self, now: Timestamp) -> Timestamp {
        let next = next_start(now);
        // Only so much helps where descriptors ran out; anything else is tried again at once.
        if self.failures > 1 {
            return next.checked_add(pause_after(self.failures)).unwrap_or(next);
        }
        next
    }

    async fn attempt(&mut self) -> Result<Pass> {
        self.look_at_zone();
        let now = self.dispatcher.now();
        let home = &self.dispatcher.parts.home;
        if let Ok(true) = stop_file::lift_if_over(home, now) {
            (self.dispatcher.parts.say)("The emergency stop has ended, and was lifted.");
        }
        if let Some(why) = stands(&self.dispatcher.parts.home, now) {
            if stop_file::in_force(&self.dispatcher.parts.home, now).is_some() {
                let last = self.passed_at.filter(|last| is_before(*last, now));
                let since = self.stopped.map_or(last.unwrap_or(now), |(since, _)| since);
                self.stopped = Some((since, now));
                self.look_after_runs().await?;
            }
            return Ok(self.stand(why));
        }
        self.go_on();
        if !self.dispatcher.parts.home.cron().is_dir() {
            return Ok(Pass::Done(0));
        }
        let Some(_lock) = self.take_turn()? else {
            return Ok(Pass::Busy);
        };
        fault::point("ticker.pass");
        let has_swept = self.sweep_if_due(true).await?;
        let found = self.scan(now).await?;
        let count = found.orders.len() + self.account_for(found.left_out);
        if !found.orders.is_empty() {
            // What was changed on the host since the last pass counts from this one on.
            self.dispatcher.parts.verdicts.forget();
        }
        for order in found.orders {
            self.submit(order);
        }
        if has_swept {
            // Last: a manager that is mute takes its time.
            self.dispatcher.end_units_left().await;
        }
        Ok(Pass::Done(count))
    }

    fn look_at_zone(&mut self) {
        let Some(zone) = self.zone.as_mut().and_then(ZoneProbe::look) else {
            return;
        };
        (self.dispatcher.parts.say)(&format!(
            "Schedules are read in another zone, or by new rules, from now on: {} ({}).",
            zone.name, zone.origin
        ));
        self.dispatcher.go_by(zone);
        self.seen = None;
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
            // Slots that were claimed and never run may have waited for this.
            self.swept_at = None;
            (self.dispatcher.parts.say)("Jobs are started again.");
        }
    }

    /// Forgets the runs that have ended.
    fn collect(&mut self) {
        while let Some(ended) = self.tasks.try_join_next() {
            self.ended(ended);
        }
    }

    /// Takes note of a run that has ended. One that broke off holds its job no longer.
    fn ended(&mut self, ended: std::result::Result<(String, Fate), JoinError>) {
        match ended {
            Ok((id, fate)) => self.note(&id, &fate),
            Err(error) => {
                self.running.retain(|_, flight| !flight.is(error.id()));
                self.dispatcher.leave_unsettled();
                (self.dispatcher.parts.say)(&format!("A run broke off: {error}."));
            }
        }
    }

    fn note(&mut self, job_id: &str, fate: &Fate) {
        self.running.remove(job_id);
        let is_by_hand = job_id.is_empty();
        if !is_by_hand && self.fates.len() < FATES {
            self.fates.push((job_id.to_owned(), fate.clone()));
        }
        match fate {
            Fate::Ended { execution_id, .. } => {
                self.waited_for.remove(execution_id);
                self.told.forget(job_id);
            }
            // Whoever asked for a run by hand has been told.
            _ if is_by_hand => {}
            _ => {
                if let Some(sentence) = self.told.news(job_id, fate) {
                    (self.dispatcher.parts.say)(&sentence);
                }
            }
        }
    }
}

/// Why no pass over this home would start anything at an instant; `None`: it would.
#[must_use]
pub fn stands(home: &Home, now: Timestamp) -> Option<String> {
    let stop = stop_file::in_force(home, now).map(|stop| stop.text());
    stop.or_else(|| scan_driver::other_scheduler(home))
}
