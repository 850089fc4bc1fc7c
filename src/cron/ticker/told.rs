//! What an operator reads of slots that were not run: each has its record, and a reason that stays the
//! same is said once. Pure.

use std::collections::HashMap;

use super::Fate;

/// The reasons that were said, by job.
#[derive(Debug, Default)]
pub(super) struct Told {
    refusals: HashMap<String, String>,
}

impl Told {
    /// The sentence for a fate, where it is news.
    pub(super) fn news(&mut self, job_id: &str, fate: &Fate) -> Option<String> {
        match fate {
            Fate::Refused(why) => {
                let before = self.refusals.insert(job_id.to_owned(), why.clone());
                (before.as_ref() != Some(why)).then(|| format!("Job {job_id} is refused: {why}."))
            }
            Fate::NotLaunched { error, .. } => {
                Some(format!("Job {job_id} could not be started: {error}."))
            }
            Fate::Skipped(_) | Fate::Waits(_) | Fate::Ended { .. } => None,
        }
    }

    /// The job has run: what was said of it holds no longer.
    pub(super) fn forget(&mut self, job_id: &str) {
        self.refusals.remove(job_id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_said_once_until_it_changes_or_the_job_has_run() {
        let mut told = Told::default();
        let refused = |why: &str| Fate::Refused(why.to_owned());
        assert_eq!(
            told.news("a", &refused("no agent")).as_deref(),
            Some("Job a is refused: no agent.")
        );
        assert_eq!(told.news("a", &refused("no agent")), None);
        assert!(told.news("b", &refused("no agent")).is_some());
        assert!(told.news("a", &refused("it needs skills")).is_some());
        told.forget("a");
        assert!(told.news("a", &refused("it needs skills")).is_some());
    }
}
