//! The emergency stop: a file `ESTOP` in the home, or in the root home above it, that the other program
//! honours as well. An empty or broken one counts; one that names an end which is past does not.

use jiff::Timestamp;
use serde_json::Value;

use crate::home::Home;

/// Its name.
pub const NAME: &str = "ESTOP";

/// A stop that is in force.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stop {
    /// Its file.
    pub path: std::path::PathBuf,
    /// Why, where it says so.
    pub reason: Option<String>,
    /// Until when, where it says so.
    pub until: Option<Timestamp>,
}

impl Stop {
    /// In words.
    #[must_use]
    pub fn text(&self) -> String {
        let reason = self
            .reason
            .as_deref()
            .map(|reason| format!(" ({reason})"))
            .unwrap_or_default();
        format!(
            "an emergency stop is in force{reason}: {}",
            self.path.display()
        )
    }
}

/// The stop that is in force for a home. One that cannot be read is in force.
#[must_use]
pub fn in_force(home: &Home, now: Timestamp) -> Option<Stop> {
    [home.clone(), home.root()].into_iter().find_map(|home| {
        let path = home.join(NAME);
        match fs_err::read(&path) {
            Ok(bytes) => {
                Some(read(path, &bytes)).filter(|stop| stop.until.is_none_or(|until| until > now))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(_) => Some(Stop {
                path,
                ..Stop::default()
            }),
        }
    })
}

fn read(path: std::path::PathBuf, bytes: &[u8]) -> Stop {
    let body: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let text = |key: &str| {
        body.get(key)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    };
    Stop {
        path,
        reason: text("reason").map(str::to_owned),
        until: text("expires_at").and_then(|text| text.parse().ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_counts_unless_its_end_is_past() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        let now: Timestamp = "2026-06-17T10:00:00Z".parse().unwrap();
        assert_eq!(in_force(&home, now), None);
        std::fs::write(home.join(NAME), "").unwrap();
        assert!(in_force(&home, now).is_some());
        let profile = Home::at(directory.path().join("profiles/ops"));
        assert!(
            in_force(&profile, now).is_some(),
            "the root's stop holds for its profiles"
        );
        std::fs::write(home.join(NAME), r#"{"expires_at":"2026-06-17T09:00:00Z"}"#).unwrap();
        assert_eq!(in_force(&home, now), None);
        std::fs::write(home.join(NAME), r#"{"reason":"fire drill"}"#).unwrap();
        assert!(in_force(&home, now).unwrap().text().contains("fire drill"));
    }
}
