//! The emergency stop on disk: looked for in the home and in the root home above it, set and lifted.

use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::stop::{NAME, Stop};
use crate::error::{Error, Result};
use crate::files::{Replace, open_regular};
use crate::home::Home;

/// Nobody writes more than a line.
const LONGEST: u64 = 1 << 20;

/// A stop that is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InForce {
    /// Its file.
    pub path: PathBuf,
    /// What it says.
    pub stop: Stop,
}

impl InForce {
    /// In words.
    #[must_use]
    pub fn text(&self) -> String {
        let reason = self.stop.reason.as_deref();
        let reason = reason
            .map(|reason| format!(" ({reason})"))
            .unwrap_or_default();
        let path = self.path.display();
        format!("an emergency stop is in force{reason}: {path}")
    }
}

/// The stop that is in force for this home: its own, or its root's. Whatever cannot be read is one:
/// nobody can tell that it has ended.
#[must_use]
pub fn in_force(home: &Home, now: Timestamp) -> Option<InForce> {
    let own = home.join(NAME);
    let root = home.root().join(NAME);
    let both = std::iter::once(own.clone()).chain((root != own).then_some(root));
    both.filter_map(|path| {
        let stop = read(&path)?;
        Some(InForce { path, stop })
    })
    .find(|found| !found.stop.is_over(now))
}

fn read(path: &Path) -> Option<Stop> {
    // The link itself: whoever put one there that leads nowhere meant a stop all the same.
    if let Err(error) = std::fs::symlink_metadata(path)
        && matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
    {
        return None;
    }
    let mut text = String::new();
    let read = open_regular(path).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
    Some(match read {
        Ok(_) => Stop::read(&text),
        _ => Stop::default(),
    })
}

/// Sets a stop in this home, over one that may be there.
///
/// # Errors
/// When it cannot be written.
pub fn set(home: &Home, stop: &Stop, zone: &TimeZone) -> Result<PathBuf> {
    let path = home.join(NAME);
    let plan = Replace {
        prefix: ".estop_",
        mode: 0o600,
        durable: true,
    };
    plan.write(&path, stop.text(zone).as_bytes())?;
    Ok(path)
}

/// Lifts the stop of this home. Returns whether there was one.
///
/// # Errors
/// When it cannot be removed.
pub fn lift(home: &Home) -> Result<bool> {
    let path = home.join(NAME);
    match std::fs::remove_file(&path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::io(
            format!("failed to remove {}", path.display()),
            error,
        )),
    }
}

/// Removes the stop of this home if its end is past: the other program would honour it for ever.
/// Returns whether it did.
///
/// # Errors
/// When it cannot be removed.
pub fn lift_if_over(home: &Home, now: Timestamp) -> Result<bool> {
    match read(&home.join(NAME)) {
        Some(stop) if stop.is_over(now) => lift(home),
        _ => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn the_root_stops_its_profiles_and_a_past_end_lifts() {
        let directory = tempfile::tempdir().unwrap();
        let root = Home::at(directory.path());
        let profile = root.with_profile("ops").unwrap();
        std::fs::create_dir_all(profile.path()).unwrap();
        let now: Timestamp = "2026-11-29T22:00:00Z".parse().unwrap();
        let hour = SignedDuration::from_hours(1);
        assert_eq!(in_force(&profile, now), None);
        set(
            &root,
            &Stop::begin(now, Some("x"), Some(hour)),
            &TimeZone::UTC,
        )
        .unwrap();
        let found = in_force(&profile, now).unwrap();
        assert_eq!(found.path, root.join(NAME));
        assert!(found.text().contains("(x)"), "{}", found.text());
        assert_eq!(in_force(&profile, now + hour), None);
        assert!(!lift_if_over(&root, now).unwrap());
        assert!(lift_if_over(&root, now + hour).unwrap());
        set(&root, &Stop::default(), &TimeZone::UTC).unwrap();
        assert!(!lift_if_over(&root, now + hour).unwrap(), "it has no end");
        assert!(lift(&root).unwrap());
        assert!(!lift(&root).unwrap());
    }

    #[test]
    fn whatever_lies_there_is_a_stop() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        let now = Timestamp::UNIX_EPOCH;
        std::os::unix::fs::symlink("/nonexistent", home.join(NAME)).unwrap();
        assert!(in_force(&home, now).is_some());
        std::fs::remove_file(home.join(NAME)).unwrap();
        std::fs::create_dir(home.join(NAME)).unwrap();
        assert!(in_force(&home, now).is_some());
    }
}
