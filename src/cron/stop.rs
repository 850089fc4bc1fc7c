//! The emergency stop: what its file says. Pure.
//!
//! The file is the other program's, which honours it before every tick, as we do. An empty or broken
//! one counts. That a stop can end by itself is ours: the other program looks only whether the file is
//! there, so our ticker removes one whose end is past.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::stamp::Stamp;
use crate::clock::{iso, zones};
use crate::output::human;

/// Name of the file, in the home, or in the root home above it.
pub const NAME: &str = "ESTOP";

/// A stop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stop {
    /// Why, in a person's words.
    pub reason: Option<String>,
    /// When it was set.
    pub since: Option<Timestamp>,
    /// When it ends by itself.
    pub until: Option<Timestamp>,
}

impl Stop {
    /// Reads the text of the file. Whatever it says, or fails to say, it is a stop.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let body: Value = serde_json::from_str(text).unwrap_or_default();
        let text = |key: &str| body.get(key).and_then(Value::as_str);
        let instant = |key| Stamp::parse(text(key)?)?.instant(&zones::system());
        Self {
            reason: text("reason")
                .filter(|reason| !reason.is_empty())
                .map(str::to_owned),
            since: instant("engaged_at"),
            until: instant("expires_at"),
        }
    }

    /// A stop from now on, for a while or until somebody lifts it.
    #[must_use]
    pub fn begin(now: Timestamp, reason: Option<&str>, length: Option<SignedDuration>) -> Self {
        Self {
            reason: reason.map(str::to_owned),
            since: Some(now),
            until: length.and_then(|length| now.checked_add(length).ok()),
        }
    }

    /// Whether its end is past.
    #[must_use]
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.until.is_some_and(|until| until <= now)
    }

    /// The text of the file.
    #[must_use]
    pub fn text(&self, zone: &TimeZone) -> String {
        let at = |instant: Option<Timestamp>| instant.map(|instant| iso(instant, zone));
        let mut body = json!({ "engaged_at": at(self.since), "reason": self.reason });
        if let (Some(until), Some(body)) = (at(self.until), body.as_object_mut()) {
            body.insert("expires_at".to_owned(), json!(until));
        }
        body.to_string()
    }

    /// That it is in force, since when, until when and why, as a fragment.
    #[must_use]
    pub fn in_force(&self, now: Timestamp) -> String {
        let told = self.told(now);
        if self.since.is_none() {
            return told;
        }
        format!("in force, {told}")
    }

    /// Since when, until when and why, as a fragment.
    #[must_use]
    pub fn told(&self, now: Timestamp) -> String {
        let mut words = self.since.map_or_else(
            || "in force".to_owned(),
            |since| format!("since {}", human::relative(since, now)),
        );
        if let Some(until) = self.until {
            words = format!("{words}, ends {}", human::relative(until, now));
        }
        match &self.reason {
            Some(reason) => format!("{words}: {}", human::printable(reason)),
            None => words,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-11-29T22:00:00Z".parse().unwrap()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let stop = Stop::begin(now(), Some("rollout"), Some(SignedDuration::from_hours(2)));
        let zone = TimeZone::fixed(jiff::tz::offset(1));
        assert_eq!(
            stop.text(&zone),
            r#"{"engaged_at":"2026-11-29T23:00:00+01:00","reason":"rollout","expires_at":"2026-11-30T01:00:00+01:00"}"#
        );
        assert_eq!(
            Stop::begin(now(), None, None).text(&zone),
            r#"{"engaged_at":"2026-11-29T23:00:00+01:00","reason":null}"#
        );
        assert_eq!(Stop::read(&stop.text(&zone)), stop);
        assert!(!stop.is_over(now()));
        assert!(stop.is_over(now() + SignedDuration::from_hours(2)));
        let later = now() + SignedDuration::from_mins(30);
        assert_eq!(stop.told(later), "since 30m ago, ends in 1h 30m: rollout");
        let told = "in force, since 30m ago, ends in 1h 30m: rollout";
        assert_eq!(stop.in_force(later), told);
        assert_eq!(Stop::default().in_force(later), "in force");
    }

    #[test]
    fn an_empty_or_broken_file_is_a_stop_without_an_end() {
        for text in ["", "stop!", "[]", "{\"expires_at\":\"soon\"}"] {
            let stop = Stop::read(text);
            assert_eq!(stop, Stop::default(), "{text}");
            assert!(!stop.is_over(now()));
        }
    }
}
