//! Clocks that stepped or stood still under what measures time by them. Pure.

use super::{Check, Group, Outcome, mend};
use crate::doctor::evidence::{Evidence, Part};
use crate::doctor::finding::{Finding, Observation, Severity, Subject};
use crate::host::facts::{Fact, OwnerRecord, ProcessFacts};
use crate::host::scheduler_owner::processes;
use crate::host::{Facts, Gap};
use crate::output::human;

/// The check of steps.
pub(super) const CHECKS: &[Check] = &[Check {
    id: "host-clock-steps",
    group: Group::Host,
    title: "whether the clock stepped, or stood still, since the scheduler started",
    codes: &["HM111", "HM112"],
    reads: &[
        Part::Clock,
        Part::Dispatcher,
        Part::Units,
        Part::Processes,
        Part::Records,
    ],
    run: steps,
}];

/// Less is the slewing of a clock that is kept right, and the time between a start and its record, in
/// seconds.
const STEP: f64 = 60.0;
/// Less sleep than this keeps no slot, in seconds.
const SLEPT: f64 = 60.0;

fn steps(evidence: &Evidence) -> Outcome {
    let facts = &evidence.facts;
    let mut outcome = Outcome::passed("it went on evenly");
    outcome.findings.extend(stepped(facts));
    outcome.findings.extend(slept(facts));
    if outcome.findings.is_empty()
        && let Some(gap) = unread(facts)
    {
        outcome.could_not("whether the clock was set since the scheduler started", gap);
    }
    outcome
}

/// Why some record of a process is not known.
fn unread(facts: &Facts) -> Option<&Gap> {
    let of_homes = facts.homes.iter().flat_map(|home| {
        let records = [&home.serve, &home.gateway_pid, &home.gateway_lock];
        let gaps = records.into_iter().filter_map(Fact::gap);
        gaps.chain(home.gateway_state.gap())
    });
    of_homes.chain(facts.host_records.gap()).next()
}

/// All records by which processes name themselves.
fn records(facts: &Facts) -> impl Iterator<Item = &OwnerRecord> {
    let of_homes = facts.homes.iter().flat_map(|home| {
        let records = [&home.serve, &home.gateway_pid, &home.gateway_lock];
        let state = home.gateway_state.known().and_then(Option::as_ref);
        let owners = records
            .into_iter()
            .filter_map(|record| record.known()?.as_ref());
        owners.chain(state.map(|state| &state.owner))
    });
    let of_host = facts.host_records.known().into_iter().flatten();
    of_homes.chain(of_host.map(|record| &record.owner))
}

/// A process writes down when it started by the clock of then; its start in ticks, and the clock of now,
/// make the same instant, unless the clock was set in between.
fn stepped(facts: &Facts) -> Option<Finding> {
    let step = |process: &ProcessFacts| {
        let now = *process.started_at.known()?;
        let same = |record: &&OwnerRecord| {
            let ticks = record.start_ticks.map(Fact::Known);
            record.pid == process.pid && ticks.as_ref() == Some(&process.start_ticks)
        };
        let then = records(facts)
            .filter(same)
            .find_map(|record| record.started_at)?;
        Some((then, now - then)).filter(|(_, step)| step.abs() > STEP)
    };
    let mut processes = processes(facts);
    let (process, (then, by)) = processes.find_map(|process| Some((process, step(process)?)))?;
    let way = if by > 0.0 { "forward" } else { "back" };
    let summary = format!(
        "the clock was set {way} by {} since pid {} started",
        human::duration(whole(by.abs())),
        process.pid
    );
    let finding = Finding::new(
        "HM111",
        Subject::new("process", process.pid.to_string()),
        summary,
    )
    .seen(Observation::new(
        "read",
        format!("the record of pid {}", process.pid),
        format!("started at {}", super::time::utc(then)),
    ))
    .seen(Observation::new(
        "process",
        format!("pid {}", process.pid),
        format!(
            "started at {}, by the clock of now",
            super::time::utc(then + by)
        ),
    ));
    let own = facts.dispatcher.process.as_ref().map(|process| process.pid);
    Some(match &facts.dispatcher.unit {
        Some(unit) if own == Some(process.pid) => {
            let effect = "starts it anew, by the clock of now";
            finding.remedy(mend::restart_unit(facts, unit, effect))
        }
        // By hand it is started anew as it was.
        _ => finding.severity(Severity::Info),
    })
}

/// Time that went by while the machine slept: nothing fires then.
fn slept(facts: &Facts) -> Option<Finding> {
    let clock = &facts.machine.clock;
    let slept = clock.boottime - clock.monotonic;
    if slept <= SLEPT {
        return None;
    }
    let summary = format!(
        "the machine was suspended for {} since it booted: no job fires meanwhile",
        human::duration(whole(slept))
    );
    let awake = human::duration(whole(clock.monotonic));
    let seen = Observation::new("clock", "CLOCK_MONOTONIC", format!("awake for {awake}"));
    Some(Finding::new("HM112", Subject::new("host", "this host"), summary).seen(seen))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "seconds between two instants of this age need few bits"
)]
fn whole(seconds: f64) -> i64 {
    seconds.round() as i64
}
