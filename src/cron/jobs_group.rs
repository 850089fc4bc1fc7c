//! Changes of the store that are made together: one after the other over the same jobs, each with an
//! answer of its own. Pure.
//!
//! What one leaves is what it would leave alone: a change that refuses, or that has nothing to write,
//! leaves no trace in what the others see, and its error is its own. That the jobs could not be written is
//! everybody's error, also of those who wrote nothing: they have judged by what the others did.

use super::job_list::JobList;
use super::jobs_file::Change;
use crate::error::{Error, Kind, Result};

/// A change that waits until it is made.
pub(in crate::cron) trait Waiting: Send {
    /// Makes it, maybe again over what somebody else has written.
    fn make(&mut self, jobs: &mut JobList<'_>) -> Change<()>;

    /// Answers, after the jobs were written, or could not be.
    fn tell(&mut self, failed: Option<&Error>);
}

/// A change, what came of it, and who is told.
struct Step<T, F, A> {
    change: F,
    given: Option<Result<T>>,
    answer: Option<A>,
}

/// A change that waits, and what is done with its answer.
pub(in crate::cron) fn waiting<T: Send + 'static>(
    change: impl FnMut(&mut JobList<'_>) -> Result<Change<T>> + Send + 'static,
    answer: impl FnOnce(Result<T>) + Send + 'static,
) -> Box<dyn Waiting> {
    Box::new(Step {
        change,
        given: None,
        answer: Some(answer),
    })
}

impl<T, F, A> Waiting for Step<T, F, A>
where
    T: Send,
    F: FnMut(&mut JobList<'_>) -> Result<Change<T>> + Send,
    A: FnOnce(Result<T>) + Send,
{
    fn make(&mut self, jobs: &mut JobList<'_>) -> Change<()> {
        let (asked, given) = match (self.change)(jobs) {
            Ok(Change::Write(given)) => (Change::Write(()), Ok(given)),
            Ok(Change::WriteAfterBackup(given)) => (Change::WriteAfterBackup(()), Ok(given)),
            Ok(Change::Nothing(given)) => (Change::Nothing(()), Ok(given)),
            Err(refused) => (Change::Nothing(()), Err(refused)),
        };
        self.given = Some(given);
        asked
    }

    fn tell(&mut self, failed: Option<&Error>) {
        let told = match (self.given.take(), failed) {
            (Some(Err(refused)), _) => Err(refused),
            (_, Some(failed)) => Err(failed.again()),
            (Some(given), None) => given,
            (None, None) => Err(broke()),
        };
        if let Some(answer) = self.answer.take() {
            answer(told);
        }
    }
}

/// What is told of a change that was never made, nor refused.
pub(in crate::cron) fn broke() -> Error {
    Error::new(Kind::Internal, "a change of the job store broke off")
}

/// Makes all changes in their order, and says what they ask for together.
pub(in crate::cron) fn make_all(
    group: &mut [Box<dyn Waiting>],
    jobs: &mut JobList<'_>,
) -> Change<()> {
    let is_alone = group.len() == 1;
    let mut all = Change::Nothing(());
    for step in group {
        let before = (!is_alone).then(|| jobs.clone());
        match (step.make(jobs), before) {
            (Change::Nothing(()), Some(before)) => *jobs = before,
            (Change::Nothing(()), None) => {}
            (Change::Write(()), _) if !matches!(all, Change::Nothing(())) => {}
            (asked, _) => all = asked,
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use proptest::prelude::*;
    use serde_json::json;

    use super::super::job_list::tests::written;
    use super::super::jobs_text::JobsText;
    use super::*;

    /// What one change does: to which job, what, and what it asks for at the end.
    type Plan = (String, u8, u8);

    fn change(
        (id, what, asks): Plan,
    ) -> impl FnMut(&mut JobList<'_>) -> Result<Change<usize>> + Send + 'static {
        move |jobs| {
            match what {
                0 => jobs.push(json!({"id": id, "new": true}).as_object().unwrap().clone()),
                1 => drop(jobs.remove(&id)),
                2 => drop(jobs.find(&id)),
                _ => {
                    if let Some(job) = jobs.find(&id) {
                        let seen = job.get("seen").and_then(serde_json::Value::as_u64);
                        job.insert("seen".into(), json!(seen.unwrap_or(0) + u64::from(what)));
                    }
                }
            }
            let mut count = 0;
            jobs.look(|_, _| count += 1);
            match asks {
                0 => Err(Error::new(Kind::Refused, format!("refused {id}"))),
                1 => Ok(Change::Nothing(count)),
                2 => Ok(Change::WriteAfterBackup(count)),
                _ => Ok(Change::Write(count)),
            }
        }
    }

    /// An answer; of an error its kind, its message and its hints.
    type Told = std::result::Result<usize, (Kind, String, Vec<String>)>;

    fn told_of(error: &Error) -> (Kind, String, Vec<String>) {
        let message = error.message().to_owned();
        (error.kind(), message, error.hints().to_vec())
    }

    /// Makes a group of changes over a text; the new one, whether a backup was asked for, and the answers.
    fn made(text: &str, plans: &[Plan], failed: Option<&Error>) -> (String, bool, Vec<Told>) {
        let source = JobsText::new(text.as_bytes()).unwrap();
        let mut jobs = source.list().unwrap();
        let told = Arc::new(Mutex::new(Vec::new()));
        let steps = plans.iter().cloned().map(|plan| {
            let told = Arc::clone(&told);
            waiting(change(plan), move |given: Result<usize>| {
                let given = given.map_err(|error| told_of(&error));
                told.lock().unwrap().push(given);
            })
        });
        let mut group: Vec<_> = steps.collect();
        let asked = make_all(&mut group, &mut jobs);
        for step in &mut group {
            step.tell(failed);
        }
        let written = match asked {
            Change::Nothing(()) => text.to_owned(),
            _ => written(&jobs, "now"),
        };
        let backup = matches!(asked, Change::WriteAfterBackup(()));
        let told = told.lock().unwrap().clone();
        (written, backup, told)
    }

    proptest! {
        #[test]
        fn a_group_leaves_what_its_changes_leave_one_after_the_other(
            jobs in prop::collection::vec("[a-c]", 0..5),
            plans in prop::collection::vec(("[a-d]", 0..6_u8, 0..6_u8), 0..7),
        ) {
            let jobs: Vec<_> = jobs.iter().map(|id| format!("{{\"id\":  \"{id}\"}}")).collect();
            let text = format!("{{\"jobs\": [{}], \"top\": 1.50}}", jobs.join(","));
            let together = made(&text, &plans, None);
            let mut alone = (text, false, Vec::new());
            for plan in &plans {
                let (text, backup, told) = made(&alone.0, std::slice::from_ref(plan), None);
                alone = (text, alone.1 || backup, [alone.2, told].concat());
            }
            prop_assert_eq!(together, alone);
        }
    }

    #[test]
    fn what_could_not_be_written_is_everybodys_error_and_a_refusal_its_own() {
        let plan = |id: &str, asks| (id.to_owned(), 3, asks);
        let plans = [plan("a", 3), plan("b", 0), plan("a", 1)];
        let full = Error::new(Kind::Io, "full").with_hint("make room");
        let (_, _, told) = made(r#"{"jobs":[{"id":"a"}]}"#, &plans, Some(&full));
        let full = || Err((Kind::Io, "full".to_owned(), vec!["make room".to_owned()]));
        let refused = Err((Kind::Refused, "refused b".to_owned(), Vec::new()));
        assert_eq!(told, [full(), refused, full()]);
    }
}
