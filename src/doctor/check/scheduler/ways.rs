//! What starts the scheduler of a home, starts it anew, or ends one: its own unit, else the very command
//! that ran. Another home's unit is no help.

use std::path::{Path, PathBuf};

use super::serving;
use crate::doctor::check::{homes, mend};
use crate::doctor::evidence::{Evidence, HomeEvidence};
use crate::doctor::finding::{Finding, Remedy};
use crate::host::choose::owner;
use crate::host::facts::{Facts, ProcessFacts, Program, Role, UnitFacts};
use crate::host::scheduler_owner::{Place, serves};

/// Whether what it runs would tick: a plain serve of Hermes Agent never does.
fn would_tick(unit: &UnitFacts) -> bool {
    !(unit.role == Some(Role::Serve) && unit.program == Some(Program::HermesAgent))
}

/// The unit that runs, or would run, what ticks this home.
pub(in crate::doctor::check) fn unit<'a>(
    evidence: &'a Evidence,
    home: &HomeEvidence,
) -> Option<&'a UnitFacts> {
    let facts = &evidence.facts;
    let dispatcher = &facts.dispatcher;
    let served = dispatcher.home.known().map(PathBuf::as_path);
    if let Some(own) = &dispatcher.unit
        && serves_with(facts, (own, served), home)
    {
        return Some(own);
    }
    let installed = facts.units.known().map(Vec::as_slice).unwrap_or_default();
    let serving = || {
        let given = |unit: &&UnitFacts| serves_with(facts, (unit, unit.home.as_deref()), home);
        installed.iter().filter(given)
    };
    let exact = |unit: &&UnitFacts| unit.home.as_deref() == Some(home.home.path());
    serving().find(exact).or_else(|| serving().next())
}

/// Whether this unit, with the home that it gives its process, would tick this home.
fn serves_with(
    facts: &Facts,
    (unit, given): (&UnitFacts, Option<&Path>),
    home: &HomeEvidence,
) -> bool {
    let place = given.map(|given| Place {
        role: unit.role.unwrap_or(Role::Other),
        program: unit.program,
        pid: unit.main_pid,
        home: given,
    });
    would_tick(unit) && place.is_some_and(|place| serves(facts, place, &home.home))
}

/// Adds what starts a scheduler.
pub(in crate::doctor::check) fn start(
    evidence: &Evidence,
    home: &HomeEvidence,
    mut finding: Finding,
) -> Finding {
    if let Some(unit) = unit(evidence, home) {
        let mut remedy = mend::start_unit(&evidence.facts, unit);
        "starts the service that ticks".clone_into(&mut remedy.effect);
        finding = finding.remedy(remedy.verify(homes::verify(home)));
    } else if let Some(words) = recorded(evidence, home) {
        let gateway = Remedy::user(words, "starts the gateway again, in this terminal");
        finding = finding.remedy(gateway.in_this_terminal().verify(homes::verify(home)));
    }
    let serve = Remedy::user(
        homes::ours(home, ["serve"]),
        "ticks this home for as long as this terminal lives; a timer that calls 'hermes cron tick' every \
         minute does so too",
    );
    finding.remedy(serve.in_this_terminal().verify(homes::verify(home)))
}

/// The command by which the gateway of this home was started last, as it wrote it down.
fn recorded(evidence: &Evidence, home: &HomeEvidence) -> Option<Vec<String>> {
    let records = serving::records(evidence, home)?;
    let pid = records.gateway_pid.known().and_then(Option::as_ref);
    let state = records.gateway_state.known().and_then(Option::as_ref);
    let owners = pid.into_iter().chain(state.map(|state| &state.owner));
    let mut commands = owners.map(|owner| owner.command.as_slice());
    commands.find_map(|command| again(&home.label(), command))
}

/// A command with its home. A bare name may mean either program, so it is not trusted.
fn again(home: &str, command: &[String]) -> Option<Vec<String>> {
    let program = command.first().filter(|program| program.starts_with('/'))?;
    let home = format!("HERMES_HOME={home}");
    let mut words = vec!["env".to_owned(), home, program.clone()];
    words.extend(command.iter().skip(1).cloned());
    Some(words)
}

/// Adds what starts the scheduler anew.
pub(in crate::doctor::check) fn restart(
    evidence: &Evidence,
    home: &HomeEvidence,
    finding: Finding,
) -> Finding {
    if let Some(unit) = unit(evidence, home) {
        let effect = "starts the scheduler anew";
        let remedy = mend::restart_unit(&evidence.facts, unit, effect);
        return finding.remedy(remedy.verify(homes::verify(home)));
    }
    let ticking = serving::servers(evidence, home);
    match ticking.into_iter().find(|process| serving::ticks(process)) {
        Some(process) => finding.remedy(replace(home, process)),
        None => start(evidence, home, finding),
    }
}

/// Ends a process that no unit owns, and runs the same again.
pub(in crate::doctor::check) fn replace(home: &HomeEvidence, process: &ProcessFacts) -> Remedy {
    let pid = process.pid;
    let exe = process.exe.known().map(|exe| exe.display().to_string());
    let mut command = process.command.clone();
    // Our one file is its own command; of a script the file is only the interpreter.
    if let (Some(first), Some(exe), Some(Program::Ours)) =
        (command.first_mut(), exe, process.program)
    {
        *first = exe;
    }
    // What serves a profile may be of its root.
    let served = process.home.known().map(|path| path.display().to_string());
    let served = served.unwrap_or_else(|| home.label());
    let Some(words) = again(&served, &command) else {
        return Remedy::user(
            mend::shell(mend::end(pid)),
            "ends the process; start it again the way it was started",
        )
        .until_reboot()
        .disruptive()
        .verify(mend::shell(format!("! kill -0 {pid}")));
    };
    let words: Vec<_> = words.iter().map(|word| mend::inner(word)).collect();
    let line = format!("{} && exec {}", mend::end(pid), words.join(" "));
    Remedy::user(
        mend::shell(line),
        "ends the process and runs it again in this terminal; what else stood on its command line is not \
         seen from here",
    )
    .in_this_terminal()
    .disruptive()
    .verify(homes::verify(home))
}

/// Ends one of several schedulers of a home: one that no unit would start again, if there is one.
pub(super) fn end_one(
    evidence: &Evidence,
    home: &HomeEvidence,
    ticking: &[&ProcessFacts],
) -> Option<Remedy> {
    let unit_of = |process: &ProcessFacts| unit_of(evidence, process);
    let loose = ticking
        .iter()
        .rev()
        .find(|process| owner(process).is_none());
    if let Some(process) = loose {
        let words = mend::shell(mend::end(process.pid));
        let remedy = Remedy::user(words, "ends the one that no unit started");
        return Some(
            remedy
                .until_reboot()
                .disruptive()
                .verify(homes::verify(home)),
        );
    }
    let unit = ticking.iter().rev().find_map(|process| unit_of(process))?;
    let (facts, name) = (&evidence.facts, unit.name.as_str());
    let effect = "stops the unit of the last of them, for good";
    let stop = mend::of_manager(facts, unit, &["disable", "--now", name], effect);
    let undo = mend::ask(facts, unit, &["enable", "--now", name]);
    Some(stop.undo(undo).verify(homes::verify(home)))
}

/// The unit that started a process.
fn unit_of<'a>(evidence: &'a Evidence, process: &ProcessFacts) -> Option<&'a UnitFacts> {
    let facts = &evidence.facts;
    let (name, manager) = owner(process)?;
    let installed = facts.units.known().into_iter().flatten();
    let mut units = facts.dispatcher.unit.iter().chain(installed);
    units.find(|unit| unit.name == name && unit.manager == Some(manager))
}
