//! The findings: each cause with its ways out, and beneath it the symptoms that it explains.

use std::collections::HashMap;

use super::Page;
use crate::doctor::finding::{Needs, Remedy};
use crate::doctor::report::{Report, Reported};
use crate::output::human::count;

/// So many findings of one code are told in full; the rest are counted, unless all were asked for.
const IN_FULL: usize = 5;

pub(super) fn write(page: &mut Page, report: &Report) {
    let mut told: HashMap<&str, usize> = HashMap::new();
    for (root, symptoms) in report.trees() {
        let least = page.look.least;
        if root.severity < least && symptoms.iter().all(|found| found.severity < least) {
            continue;
        }
        let times = told.entry(root.code).or_default();
        *times += 1;
        if *times <= IN_FULL || page.look.verbose {
            one(page, root, symptoms);
        }
    }
    rest(page, report, &told);
}

/// What was not told in full, by code, in the order of the report.
fn rest(page: &mut Page, report: &Report, told: &HashMap<&str, usize>) {
    if page.look.verbose {
        return;
    }
    let mut done: Vec<&str> = Vec::new();
    for root in report.roots() {
        let times = told.get(root.code).copied().unwrap_or(0);
        if times > IN_FULL && !done.contains(&root.code) {
            done.push(root.code);
            let more = count(times - IN_FULL, "more finding", "more findings");
            page.gap();
            let text = format!(
                "and {more} of {} {}: --verbose lists all",
                root.code, root.slug
            );
            page.paragraph(&text, "");
        }
    }
}

fn one(page: &mut Page, found: &Reported, symptoms: &[Reported]) {
    page.gap();
    let label = format!("{} {}: ", found.severity.word(), found.code);
    let code = page.look.style.heading(found.code);
    let painted = format!("{} {code}: ", page.severity(found.severity));
    let summary = page.safe(&found.summary);
    page.labelled(&label, &painted, &summary, "  ");
    if found.subject.kind != "host" && !found.summary.contains(&found.subject.name) {
        let subject = format!("{} {}", found.subject.kind, found.subject.name);
        let subject = page.safe(&subject);
        page.paragraph(&subject, "  ");
    }
    if page.look.verbose {
        evidence(page, found, "  ");
    }
    for remedy in &found.remedies {
        way_out(page, remedy);
    }
    explained(page, symptoms);
}

fn evidence(page: &mut Page, found: &Reported, indent: &str) {
    for seen in &found.evidence {
        let stage = seen.stage.as_ref().map(|stage| format!(" at {stage}"));
        let errno = seen.errno.map(|errno| format!(" (errno {errno})"));
        let text = format!(
            "{} {}{}: {}{}",
            seen.kind,
            seen.target,
            stage.unwrap_or_default(),
            seen.observed,
            errno.unwrap_or_default()
        );
        let text = page.safe(&text);
        let rest = format!("{indent}  ");
        page.hanging(&text, &format!("{indent}seen: "), &rest);
    }
}

fn way_out(page: &mut Page, remedy: &Remedy) {
    let who = match remedy.needs {
        Needs::Root => " as root",
        Needs::User => "",
    };
    let until = if remedy.persistent {
        ""
    } else {
        " (until the next reboot)"
    };
    let effect = page.safe(&remedy.effect);
    let label = format!("  remedy{who}: ");
    let painted = page.look.style.hint(&label);
    page.labelled(&label, &painted, &format!("{effect}{until}"), "    ");
    page.command(&remedy.argv, "      ");
    if !remedy.verify.is_empty() {
        page.paragraph("then this succeeds:", "    ");
        page.command(&remedy.verify, "      ");
    }
    if page.look.verbose && !remedy.undo.is_empty() {
        page.paragraph("this takes it back:", "    ");
        page.command(&remedy.undo, "      ");
    }
}

/// The symptoms, one line each: their cause has the way out.
fn explained(page: &mut Page, symptoms: &[Reported]) {
    if symptoms.is_empty() {
        return;
    }
    page.paragraph("this explains:", "  ");
    let mut told: HashMap<&str, usize> = HashMap::new();
    for symptom in symptoms {
        let times = told.entry(symptom.code).or_default();
        *times += 1;
        if *times > IN_FULL && !page.look.verbose {
            continue;
        }
        let label = format!("    {} {}: ", symptom.severity.word(), symptom.code);
        let painted = format!("    {} {}: ", page.severity(symptom.severity), symptom.code);
        let summary = page.safe(&symptom.summary);
        page.labelled(&label, &painted, &summary, "      ");
        if page.look.verbose {
            evidence(page, symptom, "      ");
        }
    }
    let hidden: usize = told
        .values()
        .map(|times| times.saturating_sub(IN_FULL))
        .sum();
    if hidden > 0 && !page.look.verbose {
        page.paragraph(&format!("and {}", count(hidden, "more", "more")), "    ");
    }
}
