//! Runs the checks over the evidence: each timed, none able to take the others along.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use super::super::check::Check;
use super::super::evidence::Evidence;
use super::super::report::{Ended, Ran};
use super::budget::Budget;
use crate::clock::Clock;

/// Runs the checks on a thread of their own and waits for each until the budget is spent. What has
/// not ended by then is late; the thread is left behind and ends with the process.
#[must_use]
pub fn judge(
    checks: &[&'static Check],
    evidence: &Arc<Evidence>,
    clock: &Arc<dyn Clock>,
    budget: &Budget,
) -> Vec<Ran> {
    let (sender, receiver) = mpsc::channel();
    let started = {
        let (checks, evidence, clock) = (checks.to_vec(), Arc::clone(evidence), Arc::clone(clock));
        thread::Builder::new()
            .name("checks".to_owned())
            .spawn(move || run_all(&checks, &evidence, &*clock, &sender))
    };
    let mut ran = Vec::with_capacity(checks.len());
    if started.is_ok() {
        while ran.len() < checks.len() {
            match receiver.recv_timeout(budget.left()) {
                Ok(one) => ran.push(one),
                Err(_) => break,
            }
        }
    }
    ran.extend(checks.iter().skip(ran.len()).map(|check| late(check)));
    ran
}

fn run_all(checks: &[&'static Check], evidence: &Evidence, clock: &dyn Clock, out: &Sender<Ran>) {
    for check in checks {
        if out.send(run_one(check, evidence, clock)).is_err() {
            return;
        }
    }
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

fn late(check: &'static Check) -> Ran {
    Ran {
        check,
        ended: Ended::Late,
        took: Duration::ZERO,
    }
}
