//! The markers of a ticker, as the other program writes and reads them: heartbeat, last success, last
//! error, the count of catch-ups. Best effort: a marker that cannot be written never fails a tick.

use jiff::Timestamp;

use crate::files::{Replace, read_regular};
use crate::home::Home;

/// The markers of one home.
#[derive(Clone, Debug)]
pub struct Markers {
    home: Home,
}

#[expect(
    clippy::cast_precision_loss,
    reason = "microseconds of this century fit a float"
)]
fn epoch(now: Timestamp) -> f64 {
    now.as_microsecond() as f64 / 1e6
}

impl Markers {
    /// Of this home.
    #[must_use]
    pub fn of(home: &Home) -> Self {
        Self { home: home.clone() }
    }

    fn write(&self, name: &str, prefix: &'static str, text: &str) {
        let plan = Replace {
            prefix,
            mode: 0o600,
            durable: false,
        };
        let _best_effort = plan.write(&self.home.cron().join(name), text.as_bytes());
    }

    /// A pass began or ended, well or not: somebody is ticking.
    pub fn beat(&self, now: Timestamp) {
        let text = format!("{:?} {}", epoch(now), std::process::id());
        self.write("ticker_heartbeat", ".hb_", &text);
    }

    /// A pass went well.
    pub fn succeeded(&self, now: Timestamp) {
        self.write("ticker_last_success", ".hb_", &format!("{:?}", epoch(now)));
        let _it_may_not_be_there = fs_err::remove_file(self.home.cron().join("ticker_last_error"));
    }

    /// A pass failed.
    pub fn failed(&self, now: Timestamp, kind: &str, message: &str) {
        let message = message.replace('\n', " ");
        let text = format!("{:?}\n{kind}: {message}\n", epoch(now));
        self.write("ticker_last_error", ".terr_", &text);
    }

    /// So many jobs caught up.
    pub fn caught_up(&self, count: usize) {
        if count == 0 {
            return;
        }
        let path = self.home.cron().join("catch_up_occurrences");
        let text = read_regular(&path, 64).unwrap_or_default();
        let before: u64 = String::from_utf8_lossy(&text).trim().parse().unwrap_or(0);
        let now = before.saturating_add(count as u64);
        self.write("catch_up_occurrences", ".count_", &now.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_have_the_shape_of_the_other_program() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        std::fs::create_dir(home.cron()).unwrap();
        let markers = Markers::of(&home);
        let now: Timestamp = "2026-11-29T22:39:59.871570Z".parse().unwrap();
        let read = |name: &str| std::fs::read_to_string(home.cron().join(name));
        markers.beat(now);
        let own = std::process::id();
        assert_eq!(
            read("ticker_heartbeat").unwrap(),
            format!("1795991999.87157 {own}")
        );
        markers.failed(now, "OSError", "no\nspace");
        assert_eq!(
            read("ticker_last_error").unwrap(),
            "1795991999.87157\nOSError: no space\n"
        );
        markers.succeeded(now);
        assert!(read("ticker_last_error").is_err());
        markers.caught_up(2);
        markers.caught_up(3);
        assert_eq!(read("catch_up_occurrences").unwrap(), "5");
    }
}
