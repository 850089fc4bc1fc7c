//! Runs the checks over the evidence: each timed, none able to take the others along.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::super::check::Check;
use super::super::evidence::Evidence;
use super::super::report::{Ended, Ran};
use super::budget::Budget;
use crate::bounded;
use crate::clock::Clock;

/// Runs the checks on a thread of their own until the budget is spent; none begins where nothing of it
/// is left. What has not ended by then is late; the thread is left behind and ends with the process.
#[must_use]
pub fn judge(
    checks: &[&'static Check],
    evidence: &Arc<Evidence>,
    clock: &Arc<dyn Clock>,
    budget: &Budget,
) -> Vec<Ran> {
    if let Some(why) = budget.spent() {
        return checks.iter().map(|check| late(check, &why)).collect();
    }
    let done = Arc::new(Mutex::new(Vec::with_capacity(checks.len())));
    let judging = {
        let (checks, evidence, clock) = (checks.to_vec(), Arc::clone(evidence), Arc::clone(clock));
        let done = Arc::clone(&done);
        bounded::start("checks", move || {
            for check in checks {
                let ran = run_one(check, &evidence, &*clock);
                lock(&done).push(ran);
            }
        })
    };
    // Whether all have ended or the time is up, what has ended counts.
    let _ = budget.wait(judging);
    let mut ran = std::mem::take(&mut *lock(&done));
    let spent = budget.spent();
    let why = spent.unwrap_or_else(|| "the checks broke off".to_owned());
    let rest = checks.iter().skip(ran.len());
    ran.extend(rest.map(|check| late(check, &why)));
    ran
}

/// What has ended is whole, even if a thread broke down beside it.
fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run_one(check: &'static Check, evidence: &Evidence, clock: &dyn Clock) -> Ran {
    let before = clock.now().monotonic;
    let ended = match catch_unwind(AssertUnwindSafe(|| (check.run)(evidence))) {
        Ok(outcome) => Ended::Said(outcome),
        Err(payload) => Ended::Broke(last_words(&*payload)),
    };
    let took = clock.now().monotonic.saturating_sub(before);
    Ran { check, ended, took }
}

fn last_words(payload: &(dyn std::any::Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|words| (*words).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

/// A check that could not end, or not begin.
pub(super) fn late(check: &'static Check, why: &str) -> Ran {
    Ran {
        check,
        ended: Ended::Late(why.to_owned()),
        took: Duration::ZERO,
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::clock::SystemClock;
    use crate::doctor::check::{Group, Outcome};
    use crate::host::Facts;

    const FINE: Check = Check {
        id: "fine",
        group: Group::Host,
        title: "all is well",
        codes: &[],
        reads: &[],
        run: |_| Outcome::passed("well"),
    };
    static BREAKS: Check = Check {
        id: "breaks",
        run: |_| panic!("out of luck"),
        ..FINE
    };
    static HANGS: Check = Check {
        id: "hangs",
        run: |_| {
            std::thread::park();
            std::thread::park();
            Outcome::default()
        },
        ..FINE
    };
    static PLAIN: Check = FINE;

    fn endings(checks: &[&'static Check], budget: Duration) -> Vec<Ended> {
        let facts = Facts::example();
        let evidence = Arc::new(Evidence::new(jiff::Timestamp::UNIX_EPOCH, facts));
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let ran = judge(checks, &evidence, &clock, &Budget::of(budget));
        assert_eq!(ran.len(), checks.len());
        ran.into_iter().map(|ran| ran.ended).collect()
    }

    #[test]
    fn a_check_that_breaks_down_takes_no_other_along() {
        let ended = endings(&[&BREAKS, &PLAIN], Duration::from_secs(60));
        assert!(matches!(&ended[0], Ended::Broke(words) if words == "out of luck"));
        assert!(matches!(&ended[1], Ended::Said(said) if said.note.as_deref() == Some("well")));
    }

    #[test]
    fn what_hangs_is_late_and_so_is_what_comes_after_it() {
        let ended = endings(&[&PLAIN, &HANGS, &PLAIN], Duration::from_millis(100));
        assert!(matches!(&ended[0], Ended::Said(_)));
        assert!(matches!(&ended[1..], [Ended::Late(_), Ended::Late(_)]));
    }

    #[test]
    fn none_begins_where_nothing_is_left() {
        let facts = Facts::example();
        let evidence = Arc::new(Evidence::new(jiff::Timestamp::UNIX_EPOCH, facts));
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let ran = judge(&[&BREAKS], &evidence, &clock, &Budget::of(Duration::ZERO));
        assert!(matches!(&ran[0].ended, Ended::Late(why) if why.contains("0s")));
    }
}
