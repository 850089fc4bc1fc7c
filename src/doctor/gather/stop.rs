//! The emergency stop, as the doctor looks at it: with the reasons why it could not. What its file says
//! is `cron::stop`'s.

use std::path::Path;

use jiff::Timestamp;

use super::files;
use crate::cron::stop::{self, NAME};
use crate::doctor::evidence::home::Stop;
use crate::doctor::evidence::read::Read;
use crate::home::Home;

/// The stop that is in force for this home.
pub(super) fn look(home: &Home, now: Timestamp) -> Read<Stop> {
    let mut answer = Read::Absent;
    for home in [home.clone(), home.root()] {
        let found = one(&home.join(NAME));
        let past = |stop: &Stop| stop.until.is_some_and(|until| until <= now);
        match found {
            Read::Absent => {}
            Read::Got(stop) if past(&stop) => {}
            Read::Got(stop) => return Read::Got(stop),
            unreadable @ Read::Unreadable(_) => answer = unreadable,
        }
    }
    answer
}

fn one(path: &Path) -> Read<Stop> {
    let stat = match files::stat(path) {
        Read::Got(stat) => stat,
        Read::Absent => return Read::Absent,
        Read::Unreadable(trouble) => return Read::Unreadable(trouble),
    };
    let text = files::text(path);
    let said = text
        .got()
        .map(|text| stop::Stop::read(text))
        .unwrap_or_default();
    Read::Got(Stop {
        path: path.to_path_buf(),
        since: said.since.or(Some(stat.modified)),
        until: said.until,
        reason: said.reason,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_stops_its_profiles_and_a_past_end_lifts() {
        let dir = tempfile::tempdir().unwrap();
        let root = Home::at(dir.path());
        let profile = root.with_profile("ops").unwrap();
        let now: Timestamp = "2026-11-29T22:00:00Z".parse().unwrap();
        std::fs::create_dir_all(profile.path()).unwrap();
        assert!(look(&profile, now).is_absent());
        std::fs::write(root.join(NAME), "").unwrap();
        assert_eq!(look(&profile, now).got().unwrap().path, root.join(NAME));
        let body = r#"{"reason":"rollout","expires_at":"2026-11-29T21:00:00+00:00"}"#;
        std::fs::write(root.join(NAME), body).unwrap();
        assert!(look(&profile, now).is_absent());
        let before: Timestamp = "2026-11-29T20:00:00Z".parse().unwrap();
        let stop = look(&root, before);
        assert_eq!(stop.got().unwrap().reason.as_deref(), Some("rollout"));
    }
}
