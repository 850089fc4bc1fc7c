//! The emergency stop: a file `ESTOP` in the home, or in the root home above it. An empty or broken
//! one counts; one that names an end which is past does not.

use std::path::Path;

use jiff::Timestamp;
use serde::Deserialize;

use super::files;
use crate::doctor::evidence::home::Stop;
use crate::doctor::evidence::read::Read;
use crate::home::Home;

/// Its name.
const NAME: &str = "ESTOP";

#[derive(Default, Deserialize)]
#[serde(default)]
struct Body {
    reason: Option<String>,
    engaged_at: Option<String>,
    expires_at: Option<String>,
}

/// The stop that is in force for this home.
pub(super) fn look(home: &Home, now: Timestamp) -> Read<Stop> {
    let mut answer = Read::Absent;
    for home in [home.clone(), home.root()] {
        let found = stop(&home.join(NAME));
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

fn stop(path: &Path) -> Read<Stop> {
    let stat = match files::stat(path) {
        Read::Got(stat) => stat,
        Read::Absent => return Read::Absent,
        Read::Unreadable(trouble) => return Read::Unreadable(trouble),
    };
    let text = files::text(path);
    let body: Body = text
        .got()
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    let instant = |text: Option<String>| text.and_then(|text| text.parse().ok());
    Read::Got(Stop {
        path: path.to_path_buf(),
        since: instant(body.engaged_at).or(Some(stat.modified)),
        until: instant(body.expires_at),
        reason: body.reason.filter(|reason| !reason.is_empty()),
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
