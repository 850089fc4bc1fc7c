//! The findings: each cause with its ways out, and beneath it the symptoms that it explains.

use std::collections::HashMap;

use super::Page;
use crate::doctor::finding::{Needs, Remedy};
use crate::doctor::report::{Report, Reported, worst_of};
use crate::output::human::count;

/// So many findings of one code are told in full; the rest are counted, unless all were asked for.
const IN_FULL: usize = 5;

pub(super) fn write(page: &mut Page, report: &Report) {
    let least = page.look.least;
    let trees: Vec<_> = report
        .trees()
        .filter(|tree| worst_of(*tree) >= least)
        .collect();
    let mut left: HashMap<&str, usize> = HashMap::new();
    for (root, _) in &trees {
        *left.entry(root.code).or_default() += 1;
    }
    let mut told: HashMap<&str, usize> = HashMap::new();
    let mut before: Option<&Reported> = None;
    for (root, symptoms) in trees {
        let times = told.entry(root.code).or_default();
        *times += 1;
        if *times <= IN_FULL || page.look.verbose {
            one(page, root, symptoms, before);
            before = Some(root);
        }
        let hidden = times.saturating_sub(IN_FULL);
        let left = left.entry(root.code).or_default();
        *left = left.saturating_sub(1);
        if *left == 0 && hidden > 0 && !page.look.verbose {
            let more = count(hidden, "more", "more");
            page.gap();
            let text = format!(
                "and {more} of {} {}: --verbose lists all",
                root.code, root.slug
            );
            page.paragraph(&text, "");
        }
    }
}

fn one(page: &mut Page, found: &Reported, symptoms: &[Reported], before: Option<&Reported>) {
    page.gap();
    let label = format!("{} {}: ", found.severity.word(), found.code);
    let code = page.look.style.heading(found.code);
    let painted = format!("{} {code}: ", page.severity(found.severity));
    let summary = page.safe(&found.summary);
    page.labelled(&label, &painted, &summary, "  ");
    if tells_more(page, found) {
        let subject = format!("{} {}", found.subject.kind, found.subject.name);
        let subject = page.safe(&subject);
        page.paragraph(&subject, "  ");
    }
    if page.look.verbose {
        evidence(page, found, "  ");
    }
    let before = before.filter(|before| before.code == found.code);
    let before = before.map_or(&[] as &[Remedy], |before| &before.remedies);
    for remedy in &found.remedies {
        way_out(page, remedy, before);
    }
    explained(page, symptoms);
}

/// Whether naming the subject adds anything: there is one host, the summary may have named it, and
/// where one home is judged it is that one.
fn tells_more(page: &Page, found: &Reported) -> bool {
    let named = found.summary.contains(&found.subject.name);
    match found.subject.kind.as_str() {
        "host" => false,
        "home" => !named && page.many_homes,
        _ => !named,
    }
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

/// One way out. What the finding before it, of the same code, has already said of it is not repeated.
fn way_out(page: &mut Page, remedy: &Remedy, before: &[Remedy]) {
    let said = |before: &Remedy| (&before.effect, before.needs) == (&remedy.effect, remedy.needs);
    if page.look.verbose || !before.iter().any(said) {
        what_it_does(page, remedy);
    }
    page.command(&remedy.argv, "      ");
    if !page.look.verbose {
        return;
    }
    for (label, argv) in [
        ("then this succeeds:", &remedy.verify),
        ("this takes it back:", &remedy.undo),
    ] {
        if !argv.is_empty() {
            page.paragraph(label, "    ");
            page.command(argv, "      ");
        }
    }
}

fn what_it_does(page: &mut Page, remedy: &Remedy) {
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
}

/// The symptoms, one line each: their cause has the way out.
fn explained(page: &mut Page, symptoms: &[Reported]) {
    let least = page.look.least;
    let mut shown = symptoms
        .iter()
        .filter(|found| found.severity >= least)
        .peekable();
    if shown.peek().is_none() {
        return;
    }
    page.paragraph("this explains:", "  ");
    let mut told: HashMap<&str, usize> = HashMap::new();
    for symptom in shown {
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
