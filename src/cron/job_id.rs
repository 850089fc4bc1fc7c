//! Ids as names of files: a job's folder of outputs, a run's log. An id that leads elsewhere names
//! none. Pure.

use std::collections::HashSet;
use std::path::Path;

use serde_json::Value;

use super::job::{Job, RawJob};
use super::loose::Loose;

/// Longest id that names a file, in bytes: file systems stop at 255, and endings come behind it.
const LONGEST: usize = 200;

/// What is said of a job whose id leads to another one.
pub const BEHIND: &str = "a job before it in the store has the same id";

/// The places of the jobs that are not found by their id, since one before them has the same. An empty id is
/// nobody's.
#[must_use]
pub fn behind(jobs: &[RawJob]) -> HashSet<usize> {
    let mut seen = HashSet::new();
    let ids = jobs.iter().map(|job| job.get("id").and_then(Value::as_str));
    let places = ids.enumerate().filter_map(|(index, id)| Some((index, id?)));
    places
        .filter(|(_, id)| !id.is_empty() && !seen.insert(*id))
        .map(|(index, _)| index)
        .collect()
}

/// An id that is one part of a path, and so stays in the folder that it is put into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileName<'a>(&'a str);

impl<'a> FileName<'a> {
    /// `None` where the id is no single name.
    #[must_use]
    pub fn of(id: &'a str) -> Option<Self> {
        let is_name = !matches!(id, "" | "." | "..") && !id.contains(['/', '\\', '\0']);
        (is_name && id.len() <= LONGEST).then_some(Self(id))
    }
}

impl AsRef<Path> for FileName<'_> {
    fn as_ref(&self) -> &Path {
        Path::new(self.0)
    }
}

impl AsRef<str> for FileName<'_> {
    fn as_ref(&self) -> &str {
        self.0
    }
}

/// Why no run of this job can be kept apart, as a sentence without its end; `None`: its id will do.
#[must_use]
pub fn objection(job: &Job<'_>) -> Option<String> {
    match &job.id {
        Loose::Text(id) if FileName::of(id).is_some() => None,
        Loose::Text(id) if id.len() > LONGEST => Some(format!(
            "its id is longer than {LONGEST} bytes, and a folder cannot have it as its name"
        )),
        Loose::Text(id) if !id.is_empty() => Some(format!(
            "its id '{}' is no single name, and its outputs would lie outside of cron/output",
            id.escape_debug()
        )),
        id if !id.is_true() => Some("it has no id".to_owned()),
        _ => Some("its id is no text".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_id_is_one_part_of_a_path() {
        for good in ["a1b2c3d4e5f6", "nightly report", "...", ".hidden", "ä"] {
            assert!(FileName::of(good).is_some(), "{good}");
        }
        let long = "x".repeat(LONGEST + 1);
        for bad in [
            "",
            ".",
            "..",
            "/",
            "/abs",
            "a/b",
            "../../memories",
            "a/",
            "a\0b",
            &long,
        ] {
            assert!(FileName::of(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn an_id_that_will_not_do_says_why() {
        let why = |id: Value| {
            let raw = json!({ "id": id });
            objection(&Job::read(raw.as_object().unwrap()))
        };
        assert_eq!(why(json!("a1")), None);
        assert!(
            why(json!("../x"))
                .unwrap()
                .contains("'../x' is no single name")
        );
        assert_eq!(why(json!(7)).unwrap(), "its id is no text");
        assert_eq!(objection(&Job::default()).unwrap(), "it has no id");
    }
}
