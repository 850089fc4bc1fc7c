//! Jobs that a ticker has submitted: those that run, and those that wait for their start. A slot that
//! comes meanwhile is not run, and its record says why.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tokio::task::Id;

use crate::clock::iso;

/// Most jobs that are named as the ones that are waited for.
const NAMED: usize = 3;

/// One job that was submitted.
#[derive(Debug)]
pub(super) struct Flight {
    since: Timestamp,
    staggered: bool,
    begun: Arc<AtomicBool>,
    task: Option<Id>,
}

impl Flight {
    pub(super) fn new(since: Timestamp, stagger: Duration) -> Self {
        Self {
            since,
            staggered: !stagger.is_zero(),
            begun: Arc::default(),
            task: None,
        }
    }

    /// Notes the task that it is.
    pub(super) fn is_task(&mut self, task: Id) {
        self.task = Some(task);
    }

    /// To be set once it has got its place.
    pub(super) fn begun(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.begun)
    }

    /// Whether it is this task.
    pub(super) fn is(&self, task: Id) -> bool {
        self.task == Some(task)
    }

    pub(super) fn has_begun(&self) -> bool {
        self.begun.load(Ordering::Relaxed)
    }
}

/// Why none of these jobs is started a second time now.
pub(super) fn reasons(
    flights: &HashMap<String, Flight>,
    zone: &TimeZone,
) -> HashMap<String, String> {
    let mut ahead: Vec<_> = flights
        .iter()
        .filter(|(_, flight)| flight.has_begun())
        .map(|(id, _)| id.as_str())
        .collect();
    ahead.sort_unstable();
    let reason = |flight: &Flight| {
        let since = iso(flight.since, zone);
        if flight.has_begun() {
            return format!("a run of it is still going on (since {since})");
        }
        if flight.staggered || ahead.is_empty() {
            return format!("an earlier slot of it waits to start since {since}");
        }
        format!(
            "an earlier slot of it waits for room since {since}, behind {}",
            names(&ahead)
        )
    };
    flights
        .iter()
        .map(|(id, flight)| (id.clone(), reason(flight)))
        .collect()
}

/// How many wait for room.
pub(super) fn waiting(flights: &HashMap<String, Flight>) -> usize {
    let waits = |flight: &&Flight| !flight.has_begun() && !flight.staggered;
    flights.values().filter(waits).count()
}

fn names(ids: &[&str]) -> String {
    let named: Vec<_> = ids.iter().take(NAMED).copied().collect();
    let named = named.join(", ");
    match ids.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b49_a_job_that_waits_says_since_when_and_behind_whom() {
        let now: Timestamp = "2026-06-17T10:00:00Z".parse().unwrap();
        let mut flights = HashMap::new();
        for id in ["a", "b", "c", "d", "waits"] {
            let flight = Flight::new(now, Duration::ZERO);
            flight.begun().store(id != "waits", Ordering::Relaxed);
            flights.insert(id.to_owned(), flight);
        }
        let reasons = reasons(&flights, &TimeZone::UTC);
        assert_eq!(
            reasons["waits"],
            "an earlier slot of it waits for room since 2026-06-17T10:00:00+00:00, behind a, b, c and 1 more"
        );
        assert!(reasons["a"].starts_with("a run of it is still going on"));
    }
}
