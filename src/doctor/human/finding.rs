//! The findings: each cause with its ways out, and beneath it the symptoms that it explains.

use std::collections::HashMap;

use super::Page;
use crate::doctor::finding::{Needs, Remedy};
use crate::doctor::report::{Report, Reported, Tree};
use crate::output::human::count;

/// So many findings of one code are told in full; the rest are counted, unless all were asked for.
const IN_FULL: usize = 5;

pub(super) fn write(page: &mut Page, report: &Report) {
    let least = page.look.least;
    let trees: Vec<_> = report
        .trees()
        .filter(|tree| tree.worst() >= least)
        .collect();
    let mut left: HashMap<&str, usize> = HashMap::new();
    for tree in &trees {
        *left.entry(tree.root.code).or_default() += 1;
    }
    let mut told: HashMap<&str, usize> = HashMap::new();
    let mut before: Option<&Reported> = None;
    for tree in trees {
        let root = tree.root;
        let times = told.entry(root.code).or_default();
        *times += 1;
        if *times <= IN_FULL || page.look.verbose {
            one(page, tree, before);
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

fn one(page: &mut Page, tree: Tree<'_>, before: Option<&Reported>) {
    let found = tree.root;
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
    ways_out(page, found, before, "  ");
    explained(page, tree);
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

/// The ways out. What the finding before this one, of the same code, has already said is not repeated.
fn ways_out(page: &mut Page, found: &Reported, before: Option<&Reported>, indent: &str) {
    let before = before.filter(|before| before.code == found.code);
    let before = before.map_or(&[] as &[Remedy], |before| &before.remedies);
    for remedy in &found.remedies {
        way_out(page, remedy, before, indent);
    }
}

fn way_out(page: &mut Page, remedy: &Remedy, before: &[Remedy], indent: &str) {
    let said = |before: &Remedy| (&before.effect, before.needs) == (&remedy.effect, remedy.needs);
    if page.look.verbose || !before.iter().any(said) {
        what_it_does(page, remedy, indent);
    }
    let deeper = format!("{indent}    ");
    page.command(&remedy.argv, &deeper);
    if !page.look.verbose {
        return;
    }
    for (label, argv) in [
        ("then this succeeds:", &remedy.verify),
        ("this takes it back:", &remedy.undo),
    ] {
        if !argv.is_empty() {
            page.paragraph(label, &format!("{indent}  "));
            page.command(argv, &deeper);
        }
    }
}

fn what_it_does(page: &mut Page, remedy: &Remedy, indent: &str) {
    let who = match remedy.needs {
        Needs::Root => " as root",
        Needs::User => "",
    };
    let disruptive = if remedy.disruptive {
        ", disruptive"
    } else {
        ""
    };
    // What runs in a terminal says itself that it ends with that.
    let until = if remedy.persistent || remedy.foreground {
        ""
    } else {
        " (until the next reboot)"
    };
    let effect = page.safe(&remedy.effect);
    let label = format!("{indent}remedy{who}{disruptive}: ");
    let painted = page.look.style.hint(&label);
    let rest = format!("{indent}  ");
    page.labelled(&label, &painted, &format!("{effect}{until}"), &rest);
}

/// The symptoms, one line each: their cause has the way out. Where it has none, theirs are told.
fn explained(page: &mut Page, tree: Tree<'_>) {
    let least = page.look.least;
    let mut shown = tree.explained(least).peekable();
    if shown.peek().is_none() {
        return;
    }
    page.paragraph("this explains:", "  ");
    let mut told: HashMap<&str, usize> = HashMap::new();
    let mut before: Option<&Reported> = None;
    for (symptom, mended) in shown {
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
        if !mended {
            ways_out(page, symptom, before, "      ");
            before = Some(symptom);
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
