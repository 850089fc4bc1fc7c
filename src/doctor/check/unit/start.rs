//! A unit that systemd cannot load, and one whose start it skips. Pure.

use super::{mend, of_unit, seen};
use crate::doctor::evidence::Evidence;
use crate::doctor::finding::{Finding, Needs, Observation, Remedy};
use crate::host::facts::{Program, UnitFacts};

/// HM310: the file is missing, or has something that systemd refuses.
pub(super) fn not_loaded(evidence: &Evidence, unit: &UnitFacts, state: &str) -> Finding {
    let (facts, name) = (&evidence.facts, &unit.name);
    let summary = format!("systemd cannot load {name} ({state})");
    let mut finding = of_unit("HM310", unit, summary)
        .seen(seen("LoadState", unit.load_state.as_ref()))
        .seen(seen("LoadError", unit.load_error.as_ref()));
    let shown = || mend::verify_property(facts, unit, "LoadState", "^loaded$");
    if let Some(remedy) = anew(evidence, unit) {
        finding = finding.remedy(remedy.verify(shown()));
    }
    // There is nothing to open where there is no file.
    if unit.fragment.is_some() {
        let effect = "opens the unit file, to mend what systemd cannot read";
        let edit = mend::of_manager(facts, unit, &["edit", "--full", name], effect);
        finding = finding.remedy(edit.verify(shown()));
    }
    finding
}

/// Writes the unit anew. A drop-in may be what is wrong, and would be laid over the new one too.
fn anew(evidence: &Evidence, unit: &UnitFacts) -> Option<Remedy> {
    let dispatcher = &evidence.facts.dispatcher;
    let own = dispatcher.unit.as_ref();
    let own = own.is_some_and(|own| own.name == unit.name && own.manager == unit.manager);
    let ours = unit.program.unwrap_or(dispatcher.program) == Program::Ours;
    if !(own && ours && unit.drop_ins.is_empty()) {
        return None;
    }
    let facts = &evidence.facts;
    let account = mend::inner(&facts.account.label());
    let us = &facts.own_name;
    let (us, kind) = match mend::of_manager(facts, unit, &[], "").needs {
        // Whoever asks for a unit is the account that it runs as.
        Needs::Root if facts.account.uid != 0 => (
            format!("runuser -u {account} -- {}", mend::inner(&us.behind_sudo())),
            "--system",
        ),
        Needs::Root => (mend::inner(&us.behind_sudo()), "--system"),
        Needs::User => (mend::own_name(facts), "--user"),
    };
    let home = unit.home.as_ref().unwrap_or(&facts.home.path);
    let folder = mend::unit_folder(facts, unit);
    let file = format!("{folder}/{}", unit.name);
    let there = unit.fragment.as_ref() == Some(&file);
    let at = |end: &str| mend::inner(&format!("{file}{end}"));
    let (file, new, saved) = (at(""), at(".new"), at(".broken"));
    // Only a unit that was printed whole takes the place of what is there.
    let print = format!(
        "{us} service print {kind} --home {} >{new}",
        mend::inner(&home.display().to_string())
    );
    let reload = mend::line(&mend::ask(facts, unit, &["daemon-reload"]));
    let (write, back) = if there {
        // A link fails where an older one is kept already: nothing is written over.
        let write = format!("{print} && ln {file} {saved} && mv {new} {file}");
        (write, format!("mv {saved} {file}"))
    } else {
        let folder = mend::inner(&folder);
        let write = format!("mkdir -p {folder} && {print} && mv {new} {file}");
        (write, format!("rm {file}"))
    };
    let effect = "writes the unit anew, and keeps what was there under another name";
    let line = mend::shell(format!("{write} && {reload}"));
    let remedy = mend::needed_by(unit, line, effect);
    Some(remedy.undo(mend::shell(format!("{back} && {reload}"))))
}

/// HM312: systemd skips the start.
pub(super) fn skipped(evidence: &Evidence, unit: &UnitFacts) -> Finding {
    let (facts, name) = (&evidence.facts, &unit.name);
    let unmet = unit.conditions.iter();
    let unmet = unmet.filter(|condition| condition.held == Some(false));
    let unmet: Vec<&str> = unmet.map(|condition| condition.line.as_str()).collect();
    let which = if unmet.is_empty() {
        String::new()
    } else {
        format!(" ({})", unmet.join(" "))
    };
    let summary = format!("a condition of {name} does not hold{which}: systemd skips its start");
    // An empty one takes all of them away, of whatever kind; the others are named again.
    let kept = unit.conditions.iter();
    let kept = kept.filter(|condition| condition.held != Some(false));
    let lines: Vec<&str> = ["[Unit]", "ConditionPathExists="]
        .into_iter()
        .chain(kept.map(|condition| condition.line.as_str()))
        .collect();
    let effect = "drops the condition by a file of its own, and starts the unit; better make it hold, where \
                  it was meant";
    let remedy = mend::drop_in_file(facts, unit, &lines, effect);
    of_unit("HM312", unit, summary)
        .seen(Observation::new("property", "ConditionResult", "no"))
        .remedy(remedy.verify(mend::ask(facts, unit, &["is-active", name])))
}
