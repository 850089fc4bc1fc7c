//! The units that run, or would run, a dispatcher: whether systemd can load, start and keep them. Pure.

mod start;

use super::{Check, Group, Outcome, mend};
use crate::dispatch::facts::Tri;
use crate::doctor::evidence::{Evidence, Part};
use crate::doctor::finding::{Finding, Observation, Severity, Subject};
use crate::host::facts::{Fact, Program, UnitFacts, Viewpoint};

/// The checks of units.
pub(super) const CHECKS: &[Check] = &[Check {
    id: "service-unit",
    group: Group::Service,
    title: "whether the unit of the dispatcher loads, starts and stays",
    codes: &[
        "HM309", "HM310", "HM311", "HM312", "HM313", "HM314", "HM315", "HM318",
    ],
    reads: &[Part::Clock, Part::Dispatcher, Part::Units, Part::Decision],
    run: units,
}];

/// So many restarts by its manager, and so short a life since the last, make a loop of them.
const RESTARTS: u32 = 3;
const SHORT_LIFE: f64 = 600.0;

fn units(evidence: &Evidence) -> Outcome {
    let facts = &evidence.facts;
    let mut outcome = Outcome::default();
    if let Fact::Unknown(gap) = &facts.units {
        outcome.could_not("which units would run a dispatcher", gap);
    }
    let own = facts.dispatcher.unit.iter();
    let installed = facts.units.known().into_iter().flatten();
    let mut seen: Vec<&UnitFacts> = Vec::new();
    for unit in own.chain(installed) {
        let same = |other: &&UnitFacts| other.name == unit.name && other.manager == unit.manager;
        if seen.iter().any(same) {
            continue;
        }
        seen.push(unit);
        judge(evidence, unit, &mut outcome);
    }
    if seen.is_empty() && outcome.unchecked.is_empty() {
        return Outcome::not_applicable("no unit runs, or would run, a dispatcher");
    }
    let names: Vec<_> = seen.iter().map(|unit| described(unit)).collect();
    outcome.note = Some(names.join("; ")).filter(|note| !note.is_empty());
    outcome
}

fn described(unit: &UnitFacts) -> String {
    let state = unit.active_state.as_deref().unwrap_or("state not told");
    let drop_ins = match unit.drop_ins.len() {
        0 => String::new(),
        1 => ", 1 drop-in".to_owned(),
        several => format!(", {several} drop-ins"),
    };
    format!("{} ({state}{drop_ins})", unit.name)
}

/// Whether jobs wait for this unit: it is the dispatcher's, and nothing else runs.
fn is_awaited(evidence: &Evidence, unit: &UnitFacts) -> bool {
    let dispatcher = &evidence.facts.dispatcher;
    let own = dispatcher
        .unit
        .as_ref()
        .is_some_and(|own| own.name == unit.name);
    own && dispatcher.viewpoint == Viewpoint::Unit
}

fn judge(evidence: &Evidence, unit: &UnitFacts, outcome: &mut Outcome) {
    // Neither a masked unit nor one that is stopped and disabled is loaded: there the file tells, and
    // that the manager has not loaded it. Where the manager said nothing, nothing is known.
    if !unit.asked && unit.active_state.is_none() && !is_masked(unit) {
        return;
    }
    if let Some(finding) = why_not_running(evidence, unit) {
        outcome.find(finding);
    }
    if unit.need_daemon_reload == Some(true) {
        outcome.find(needs_reload(evidence, unit));
    }
    let own = evidence.facts.dispatcher.unit.as_ref();
    if own.is_some_and(|own| own.name == unit.name)
        && let Some(finding) = not_enabled(evidence, unit)
    {
        outcome.find(finding);
    }
    if let Some(finding) = restarting(evidence, unit) {
        outcome.find(finding);
    }
}

/// A finding about a unit, with where it lies and what was laid over it.
fn of_unit(code: &'static str, unit: &UnitFacts, summary: impl Into<String>) -> Finding {
    let mut finding = Finding::new(code, Subject::new("unit", &unit.name), summary);
    if let Some(fragment) = &unit.fragment {
        finding = finding.seen(Observation::new("property", "FragmentPath", fragment));
    }
    if !unit.drop_ins.is_empty() {
        let drop_ins = unit.drop_ins.join(" ");
        finding = finding.seen(Observation::new("property", "DropInPaths", drop_ins));
    }
    finding
}

fn seen(name: &str, value: Option<&String>) -> Observation {
    let value = value.map_or("not told", String::as_str);
    Observation::new("property", name, value)
}

fn is_masked(unit: &UnitFacts) -> bool {
    let masked = |state: &Option<String>| state.as_deref().is_some_and(|s| s.starts_with("masked"));
    masked(&unit.load_state) || masked(&unit.file_state)
}

/// The one reason that counts, the earliest on the way from file to process.
fn why_not_running(evidence: &Evidence, unit: &UnitFacts) -> Option<Finding> {
    let name = &unit.name;
    let loaded = unit.load_state.as_deref().unwrap_or("loaded");
    let active = unit.active_state.as_deref().unwrap_or("active");
    let runs = matches!(active, "active" | "activating" | "reloading");
    let level = match (runs, is_awaited(evidence, unit)) {
        (false, true) => Severity::Error,
        _ => Severity::Warning,
    };
    let finding = if is_masked(unit) {
        masked(evidence, unit)
    } else if !matches!(loaded, "loaded" | "stub" | "merged") {
        start::not_loaded(evidence, unit, loaded)
    } else if runs {
        return None;
    } else if unit.condition_result == Some(false) {
        start::skipped(evidence, unit)
    } else if active == "failed" {
        failed(evidence, unit)
    } else if is_awaited(evidence, unit) {
        let summary = format!("{name} is installed, and does not run: nothing dispatches");
        of_unit("HM318", unit, summary)
            .seen(seen("ActiveState", unit.active_state.as_ref()))
            .seen(seen("UnitFileState", unit.file_state.as_ref()))
            .remedy(mend::start_unit(&evidence.facts, unit))
            .because_of("HM225")
    } else {
        return None;
    };
    Some(deaf(evidence, unit, finding).severity(level))
}

/// Our serve ends right after each start where it may have no Unix socket to listen on.
fn deaf(evidence: &Evidence, unit: &UnitFacts, finding: Finding) -> Finding {
    let program = unit.program.unwrap_or(evidence.facts.dispatcher.program);
    let ours = program == Program::Ours;
    match unit.unix_sockets_forbidden {
        Some(true) if ours => finding.because_of("HM308"),
        _ => finding,
    }
}

fn masked(evidence: &Evidence, unit: &UnitFacts) -> Finding {
    let (facts, name) = (&evidence.facts, &unit.name);
    let effect = "lets it be started again";
    // What the mask hid may be gone.
    let pattern = r"^\(loaded\|not-found\)$";
    let shown = mend::verify_property(facts, unit, "LoadState", pattern);
    let remedy = mend::of_manager(facts, unit, &["unmask", name], effect)
        .undo(mend::ask(facts, unit, &["mask", name]))
        .verify(shown);
    of_unit(
        "HM311",
        unit,
        format!("{name} is masked: nothing can start it"),
    )
    .seen(seen("LoadState", unit.load_state.as_ref()))
    .seen(seen("UnitFileState", unit.file_state.as_ref()))
    .remedy(remedy)
}

fn failed(evidence: &Evidence, unit: &UnitFacts) -> Finding {
    let (facts, name) = (&evidence.facts, &unit.name);
    let result = unit.result.as_deref().unwrap_or("result not told");
    let join = |words: &[&str]| mend::ask(facts, unit, words).join(" ");
    let line = format!(
        "{}; {}",
        join(&["reset-failed", name]),
        join(&["start", name])
    );
    let effect = "starts it again; its journal says why it failed";
    let verify = mend::ask(facts, unit, &["is-active", name]);
    let remedy = mend::needed_by(unit, mend::shell(line), effect);
    of_unit(
        "HM313",
        unit,
        format!("{name} failed ({result}) and does not run"),
    )
    .seen(seen("Result", unit.result.as_ref()))
    .seen(seen("SubState", unit.sub_state.as_ref()))
    .remedy(remedy.verify(verify))
}

fn needs_reload(evidence: &Evidence, unit: &UnitFacts) -> Finding {
    let (facts, name) = (&evidence.facts, &unit.name);
    let effect = "reads the unit files again; nothing is restarted";
    let remedy = mend::of_manager(facts, unit, &["daemon-reload"], effect).verify(
        mend::verify_property(facts, unit, "NeedDaemonReload", "^no$"),
    );
    let summary = format!("the file of {name} has changed since systemd read it");
    of_unit("HM309", unit, summary)
        .seen(Observation::new("property", "NeedDaemonReload", "yes"))
        .remedy(remedy)
}

fn not_enabled(evidence: &Evidence, unit: &UnitFacts) -> Option<Finding> {
    if evidence.decision_jobs.facts.enabled != Tri::No {
        return None;
    }
    let (facts, name) = (&evidence.facts, &unit.name);
    if is_masked(unit) {
        return None;
    }
    let state = unit.file_state.as_deref().unwrap_or_default();
    let summary = format!("{name} is {state}: it does not start at boot");
    let finding =
        of_unit("HM315", unit, summary).seen(seen("UnitFileState", unit.file_state.as_ref()));
    if state == "transient" || state == "bad" {
        return Some(finding);
    }
    let effect = "starts it at boot from now on";
    let remedy = mend::of_manager(facts, unit, &["enable", name], effect)
        .undo(mend::ask(facts, unit, &["disable", name]))
        .verify(mend::ask(facts, unit, &["is-enabled", name]));
    Some(finding.remedy(remedy))
}

/// B17 has a code of its own where it is the user manager that goes.
fn restarting(evidence: &Evidence, unit: &UnitFacts) -> Option<Finding> {
    let restarts = unit.restarts.filter(|restarts| *restarts >= RESTARTS)?;
    let since = unit.active_since?;
    let wall = evidence.facts.machine.clock.wall;
    if wall - since > SHORT_LIFE {
        return None;
    }
    let name = &unit.name;
    let summary = format!(
        "systemd has restarted {name} {restarts} times, the last time at {}",
        super::time::utc(since)
    );
    let count = Observation::new("property", "NRestarts", restarts.to_string());
    let finding = of_unit("HM314", unit, summary)
        .seen(count)
        .seen(seen("Result", unit.result.as_ref()))
        .because_of("HM210");
    Some(deaf(evidence, unit, finding))
}
