//! Whether the user manager itself comes and goes, and the dispatcher with it. Pure.

use super::{Check, Group, Outcome, mend};
use crate::dispatch::facts::{Seat, Tri};
use crate::doctor::evidence::{Evidence, Part};
use crate::doctor::finding::{Finding, Observation, Subject};
use crate::host::facts::Container;

/// The check of restarts.
pub(super) const CHECKS: &[Check] = &[Check {
    id: "session-bus-restarts",
    group: Group::SessionBus,
    title: "whether the user manager is being restarted",
    codes: &["HM210"],
    reads: &[
        Part::Machine,
        Part::Clock,
        Part::UserManager,
        Part::Records,
        Part::Decision,
    ],
    run: restarts,
}];

/// B17: so many starts in this time, in seconds.
const STARTS: usize = 3;
const WITHIN: f64 = 600.0;

fn restarts(evidence: &Evidence) -> Outcome {
    let facts = &evidence.facts;
    let derived = &evidence.decision_jobs.facts;
    if derived.seat != Seat::UserService || derived.linger != Tri::Yes {
        return Outcome::not_applicable("the dispatcher does not live on a lingering user manager");
    }
    let wall = facts.machine.clock.wall;
    let recent = |at: f64| at > wall - WITHIN && at <= wall;
    let starts: Vec<f64> = facts
        .homes
        .iter()
        .flat_map(|home| home.gateway_starts.iter().copied())
        .filter(|at| recent(*at))
        .collect();
    let manager = facts
        .system_bus
        .user_manager
        .as_ref()
        .and_then(|unit| unit.active_enter_us)
        .and_then(|micros| u32::try_from(micros / 1_000_000).ok())
        .map(f64::from);
    if let Some(failure) = &facts.system_bus.user_manager_failure {
        let mut outcome = Outcome::default();
        outcome.could_not(
            "when the user manager started",
            &super::impact::gap(failure),
        );
        return outcome;
    }
    let Some(manager) = manager else {
        return Outcome::not_applicable("when the user manager started is not known");
    };
    let earliest = starts.iter().copied().fold(f64::INFINITY, f64::min);
    // One start of the manager after the first of several of the gateway: it went in between.
    let moved = recent(manager) && manager > earliest;
    if starts.len() < STARTS || !moved || recent(facts.machine.boot.booted_at) {
        return Outcome::passed("it has been up longer than the dispatcher");
    }
    let name = mend::user_manager(facts);
    let times: Vec<_> = starts.iter().map(|at| super::time::utc(*at)).collect();
    let summary = format!(
        "the user manager is being restarted, and the dispatcher with it ({} starts in ten minutes)",
        starts.len()
    );
    let mut finding = Finding::new("HM210", Subject::new("unit", &name), summary)
        .seen(Observation::new(
            "property",
            format!("{name} ActiveEnterTimestamp"),
            super::time::utc(manager),
        ))
        .seen(Observation::new(
            "read",
            "gateway-starts.log",
            times.join(" "),
        ));
    if facts.machine.container.known() == Some(&Container::Wsl2) {
        let note = "WSL stops a distribution, and its user managers, when the last session ends";
        finding = finding.seen(Observation::new("host", "WSL 2", note));
    }
    let mut outcome = Outcome::default();
    outcome.find(finding);
    outcome
}
