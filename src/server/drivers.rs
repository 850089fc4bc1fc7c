//! The table of drivers: what turns beside the hub, each on a task of its own, and whether it still
//! turns. The service manager's watchdog is fed only while all of them do.

use std::fmt::Write as _;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use tokio::sync::watch;

use super::timepiece::Timepiece;
use crate::clock::Now;

/// How long a driver rests after a turn that broke off.
const REST: Duration = Duration::from_secs(60);

/// What a driver is busy with.
pub type Turning<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Something that has to be given a turn now and then.
pub trait Driver: Send {
    /// Its name, for the log, the metrics and `/readyz`.
    fn name(&self) -> &'static str;

    /// Longest turn after which it still counts as turning.
    fn patience(&self) -> Duration;

    /// One turn; the answer is how long it can wait for the next, in awake time.
    fn turn(&mut self, now: Now) -> Turning<'_, Duration>;

    /// Waits for whatever else gives it a turn before its time. Whoever stops waiting loses nothing.
    fn woken(&mut self) -> Turning<'_, ()> {
        Box::pin(std::future::pending())
    }

    /// What it has counted so far, each by the name of its metric.
    fn counts(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Serve stops: nothing new, and what runs gets its bounded time.
    fn drain(&mut self, now: Now) -> Turning<'_, ()>;
}

/// When each driver last turned, in awake time.
#[derive(Clone, Debug, Default)]
pub struct Turns(Arc<Mutex<Vec<Turn>>>);

#[derive(Debug)]
struct Turn {
    name: &'static str,
    patience: Duration,
    due: Duration,
    count: u64,
    spent: Duration,
    longest: Duration,
    counts: Vec<(&'static str, u64)>,
}

impl Turn {
    fn of(name: &'static str, patience: Duration, due: Duration) -> Self {
        Self {
            name,
            patience,
            due,
            count: 0,
            spent: Duration::ZERO,
            longest: Duration::ZERO,
            counts: Vec::new(),
        }
    }
}

impl Turns {
    /// Notes how long a turn of this driver took, and what the driver has counted.
    fn took(&self, name: &'static str, time: Duration, counts: Vec<(&'static str, u64)>) {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = turns.iter_mut().find(|turn| turn.name == name) {
            turn.count += 1;
            turn.spent += time;
            turn.longest = turn.longest.max(time);
            turn.counts = counts;
        }
    }

    /// How often each driver turned, how long that took and what the drivers counted, in the text format of Prometheus.
    #[must_use]
    pub(crate) fn metrics(&self) -> String {
        let turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let counted = || turns.iter().filter(|turn| turn.count > 0);
        let mut text = String::new();
        let mut family = |name: &str, kind: &str, value: &dyn Fn(&Turn) -> String| {
            let _infallible = writeln!(text, "# TYPE {name} {kind}");
            for turn in counted() {
                let (driver, value) = (turn.name, value(turn));
                let _infallible = writeln!(text, "{name}{{driver=\"{driver}\"}} {value}");
            }
        };
        let seconds = |time: Duration| time.as_secs_f64().to_string();
        family("hermes_driver_turns_total", "counter", &|turn| {
            turn.count.to_string()
        });
        family("hermes_driver_turn_seconds_total", "counter", &|turn| {
            seconds(turn.spent)
        });
        family("hermes_driver_longest_turn_seconds", "gauge", &|turn| {
            seconds(turn.longest)
        });
        for (name, count) in counted().flat_map(|turn| &turn.counts) {
            let _infallible = writeln!(text, "# TYPE {name} counter\n{name} {count}");
        }
        text
    }

    /// Notes that a driver turned, and within which time it has to turn again.
    pub(crate) fn turned(&self, name: &'static str, now: Duration, within: Duration) {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = now + within;
        match turns.iter_mut().find(|turn| turn.name == name) {
            Some(turn) => turn.due = due + turn.patience,
            None => turns.push(Turn::of(name, Duration::ZERO, due)),
        }
    }

    /// Notes that a driver has nothing to do: until it turns again it cannot be late.
    pub(crate) fn rests(&self, name: &'static str) {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = turns.iter_mut().find(|turn| turn.name == name) {
            turn.due = Duration::MAX;
        }
    }

    /// Takes a driver up, with the longest turn after which it still counts as turning.
    pub(crate) fn enter(&self, name: &'static str, patience: Duration, now: Duration) {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        turns.push(Turn::of(name, patience, now + patience));
    }

    /// Drivers that should have turned by now.
    #[must_use]
    pub fn stuck(&self, now: Duration) -> Vec<&'static str> {
        let turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let late = turns.iter().filter(|turn| turn.due < now);
        late.map(|turn| turn.name).collect()
    }

    /// All drivers.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        let turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        turns.iter().map(|turn| turn.name).collect()
    }
}

/// Gives a driver its turns until serve stops.
pub(crate) async fn run(
    mut driver: Box<dyn Driver>,
    time: Timepiece,
    turns: Turns,
    mut stop: watch::Receiver<bool>,
) {
    let name = driver.name();
    turns.enter(name, driver.patience(), time.now().monotonic);
    while !*stop.borrow() {
        let began = time.now();
        let turned = unbroken(driver.turn(began)).await;
        let ended = time.now().monotonic;
        let spent = ended.saturating_sub(began.monotonic);
        turns.took(name, spent, driver.counts());
        let next = if let Some(next) = turned {
            turns.turned(name, ended, next);
            next
        } else {
            // It has not turned: where no turn of it comes to its end, it is late before long.
            tracing::error!(
                "A turn of the driver {name} broke off by an internal error, which is told before this. It \
                 turns again in {} s.",
                REST.as_secs()
            );
            REST
        };
        tokio::select! {
            () = time.sleep(next) => {}
            () = driver.woken() => {}
            _ = stop.changed() => {}
        }
    }
    driver.drain(time.now()).await;
}

/// `None`: it panicked. What a defect breaks is one turn, and not the driver.
async fn unbroken<T>(mut turning: Turning<'_, T>) -> Option<T> {
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| turning.as_mut().poll(context)));
        polled.map_or(Poll::Ready(None), |polled| polled.map(Some))
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_driver_that_does_not_turn_is_named() {
        let turns = Turns::default();
        turns.enter("cron", s(10), s(100));
        assert!(turns.stuck(s(110)).is_empty());
        assert_eq!(turns.stuck(s(111)), ["cron"]);
        turns.turned("cron", s(111), s(60));
        assert!(turns.stuck(s(181)).is_empty());
        assert_eq!(turns.stuck(s(182)), ["cron"]);
        assert_eq!(turns.names(), ["cron"]);
        turns.rests("cron");
        assert!(turns.stuck(s(100_000)).is_empty());
        turns.turned("cron", s(200_000), s(0));
        assert_eq!(turns.stuck(s(200_011)), ["cron"]);
    }

    #[test]
    fn the_turns_of_a_driver_are_counted_and_timed() {
        let turns = Turns::default();
        turns.enter("cron", s(10), s(100));
        turns.turned("store", s(100), s(10));
        turns.took("cron", s(3), vec![("reads_total", 1)]);
        turns.took("cron", Duration::from_millis(500), vec![("reads_total", 2)]);
        let text = turns.metrics();
        for line in [
            "hermes_driver_turns_total{driver=\"cron\"} 2",
            "hermes_driver_turn_seconds_total{driver=\"cron\"} 3.5",
            "hermes_driver_longest_turn_seconds{driver=\"cron\"} 3",
            "# TYPE reads_total counter",
            "reads_total 2",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        assert!(!text.contains("store"), "it has no turns: {text}");
    }
}
