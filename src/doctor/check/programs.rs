//! The programs that the dispatcher and its jobs call by bare name, looked for on its own `PATH`. Pure.

use super::impact::{has_systemd, may_have_jobs, needs_user_manager, severity};
use super::{Check, Group, Outcome, mend};
use crate::doctor::evidence::{Evidence, Part};
use crate::doctor::finding::{Finding, Observation, Severity};
use crate::host::facts::{Environment, Fact, ProgramLookup};

/// The check of programs.
pub(super) const CHECKS: &[Check] = &[Check {
    id: "service-programs",
    group: Group::Service,
    title: "whether the programs that it and its jobs call are on its PATH",
    codes: &["HM317"],
    reads: &[
        Part::Shell,
        Part::Dispatcher,
        Part::Environment,
        Part::Programs,
        Part::Units,
        Part::Decision,
        Part::Jobs,
    ],
    run: programs,
}];

/// B31, B32: the unit's `PATH` is not the shell's.
fn programs(evidence: &Evidence) -> Outcome {
    let facts = &evidence.facts;
    let placing = needs_user_manager(evidence) && has_systemd(evidence);
    let jobs = evidence.homes.iter().any(may_have_jobs);
    let lookups: Vec<_> = facts
        .dispatcher
        .programs
        .iter()
        .filter(|program| placing || program.name != "systemd-run")
        .filter(|program| jobs || program.wanted_by != ProgramLookup::JOBS)
        .collect();
    if lookups.is_empty() {
        return Outcome::not_applicable("it calls no program by its bare name");
    }
    let mut outcome = Outcome::passed("all are found");
    let mut missing = Vec::new();
    for program in lookups {
        match &program.found {
            Fact::Known(Some(_)) => {}
            Fact::Known(None) => missing.push(program),
            Fact::Unknown(gap) => {
                outcome.could_not(format!("whether {} is found", program.name), gap);
            }
        }
    }
    if missing.is_empty() {
        return outcome;
    }
    outcome.find(not_found(evidence, &missing));
    outcome
}

fn not_found(evidence: &Evidence, missing: &[&ProgramLookup]) -> Finding {
    let facts = &evidence.facts;
    let path_of = |environ: &Fact<Environment>| {
        let environ = environ.known()?;
        environ.variables.get("PATH").cloned()
    };
    let path = path_of(&facts.dispatcher.environ);
    let mut names: Vec<_> = missing
        .iter()
        .map(|program| program.name.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    let summary = format!("not on the dispatcher's PATH: {}", names.join(", "));
    let shown = match path.as_deref() {
        None => "not set",
        Some("") => "set, and empty",
        Some(path) => path,
    };
    let shown = shown.to_owned();
    // Without systemd-run, Hermes Agent places no worker.
    let places = names.contains(&"systemd-run");
    let level = match severity(evidence) {
        Severity::Info => Severity::Warning,
        _ if !places => Severity::Warning,
        level => level,
    };
    let mut finding = Finding::new("HM317", super::service::subject(evidence), summary)
        .severity(level)
        .seen(Observation::new("environ", "PATH", shown));
    for program in missing {
        finding = finding.seen(Observation::new(
            "wanted",
            format!("by {}", program.wanted_by),
            &program.name,
        ));
    }
    let shell = path_of(&facts.shell.environ).filter(|shell| Some(shell) != path.as_ref());
    if let (Some(unit), Some(shell)) = (&facts.dispatcher.unit, shell) {
        let line = format!("Environment=PATH={shell}");
        let effect = "gives the service the PATH of this shell, and restarts it";
        let remedy = mend::drop_in(facts, unit, &[&line], effect);
        let shown = mend::verify_property(facts, unit, "Environment", &format!("PATH={shell}"));
        finding = finding.remedy(remedy.verify(shown));
    }
    finding
}
