//! How a ticker looks for due jobs: at the store's stamp, and into the store where that has changed, a
//! job has woken, or something happens to one that is awake.

use std::sync::Arc;

use jiff::Timestamp;

use super::pace::is_before;
use super::{Ticker, flight};
use crate::cron::markers_file::Markers;
use crate::cron::scan::Found;
use crate::cron::scan_driver::{Looked, Scan};
use crate::error::Result;
use crate::output::human;

/// How often a ticker had to look into the store for due jobs, and at how many of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Looks {
    /// Reads of the store.
    pub reads: u64,
    /// Jobs that were read in it.
    pub jobs: u64,
}

impl Ticker {
    /// Looks for due jobs, unless nothing has changed since nothing was due.
    pub(super) async fn scan(&mut self, now: Timestamp) -> Result<Found> {
        let last_pass = self.passed_at.replace(now);
        let last_pass = last_pass.filter(|last| is_before(*last, now));
        let version = self.dispatcher.jobs().version()?;
        let mut seen = Looked::until(self.seen.take(), now);
        let rests = seen.as_ref().is_some_and(|seen| seen.rests(&version, now));
        if rests && seen.as_ref().is_some_and(|seen| !seen.agenda.has_awake()) {
            return Ok(self.nothing(seen));
        }
        let scan = Scan {
            dispatcher: Arc::clone(&self.dispatcher),
            in_flight: flight::reasons(&self.running, &self.dispatcher.zone()),
            now,
            last_pass,
            stopped: self.stopped,
            waiting: flight::waiting(&self.running),
            is_kept: self.markers.is_some(),
        };
        let mut stage = scan.stage().await?;
        if rests && let Some(asked) = seen.take() {
            let (gathered, asked, stays_so) = Scan::stays_so(stage, asked).await?;
            (stage, seen) = (gathered, Some(asked));
            if stays_so {
                return Ok(self.nothing(seen));
            }
        }
        let (found, seen) = scan.run(stage, seen).await?;
        self.seen = seen;
        self.stopped = None;
        self.looks.reads += 1;
        self.looks.jobs += found.judged;
        self.tell_of_held(&found);
        Markers::of(&self.dispatcher.parts.home).caught_up(found.catch_ups);
        Ok(found)
    }

    /// Nothing has come, and what was seen still holds.
    fn nothing(&mut self, seen: Option<Looked>) -> Found {
        self.seen = seen;
        self.stopped = None;
        Found::default()
    }

    fn tell_of_held(&mut self, found: &Found) {
        let before = std::mem::replace(&mut self.held, found.held);
        match (before, found.held) {
            (0, 1..) => (self.dispatcher.parts.say)(&format!(
                "{} for later passes (cron.max_catch_ups_per_tick).",
                human::count(found.held, "overdue job waits", "overdue jobs wait")
            )),
            (1.., 0) => (self.dispatcher.parts.say)("All overdue jobs have been started."),
            _ => {}
        }
    }
}
