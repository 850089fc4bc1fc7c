//! The last lines: what could not be checked, the checks if asked for, the tally, the next step.

use std::collections::{HashMap, HashSet};

use super::Page;
use super::header::NARROW;
use crate::doctor::finding::Severity;
use crate::doctor::plain;
use crate::doctor::report::{CheckStatus, Report, Tree};
use crate::doctor::verdict::Status;
use crate::output::human::count;

pub(super) fn write(page: &mut Page, report: &Report) {
    broken(page, report);
    unchecked(page, report);
    if page.look.verbose && !report.checks.is_empty() {
        checks(page, report);
    }
    page.gap();
    let tally = page.safe(&tally(report, page.look.least));
    page.paragraph(&tally, "");
    next(page, report);
}

/// Checks that broke down: defects of ours, said so.
fn broken(page: &mut Page, report: &Report) {
    for check in &report.checks {
        if check.status == CheckStatus::Internal {
            page.gap();
            let painted = format!("{}: ", page.look.style.error("internal error"));
            let text = format!(
                "check {}: {}",
                check.id,
                check.reason.as_deref().unwrap_or("")
            );
            let text = page.safe(&text);
            page.labelled("internal error: ", &painted, &text, "  ");
        }
    }
}

/// So many things that could not be found out for one reason are named; more are counted, unless all
/// were asked for.
const NAMED: usize = 3;

/// What could not be found out, and once each the commands that would tell.
fn unchecked(page: &mut Page, report: &Report) {
    let reasons = by_reason(report);
    if reasons.is_empty() {
        return;
    }
    page.gap();
    page.paragraph("could not be checked:", "");
    for reason in &reasons {
        one_reason(page, reason);
    }
    let mut commands: Vec<&[String]> = Vec::new();
    for (_, unknown) in report.unknowns() {
        if !unknown.would_tell.is_empty() && !commands.contains(&unknown.would_tell.as_slice()) {
            commands.push(&unknown.would_tell);
        }
    }
    if commands.is_empty() {
        return;
    }
    page.paragraph("this would tell:", "  ");
    for command in commands {
        page.command(command, "      ");
    }
}

/// Things that could not be found out, all for this reason.
struct Reason<'a> {
    why: &'a str,
    matters: bool,
    whats: Vec<&'a str>,
    /// These are whole checks.
    checks: bool,
}

fn by_reason(report: &Report) -> Vec<Reason<'_>> {
    let mut reasons: Vec<Reason<'_>> = Vec::new();
    let mut places: HashMap<(&str, bool), usize> = HashMap::new();
    let mut said: HashSet<(&str, &str)> = HashSet::new();
    for (check, unknown) in report.unknowns() {
        if !said.insert((&unknown.what, &unknown.why)) {
            continue;
        }
        let place = places.entry((&unknown.why, unknown.matters));
        let place = *place.or_insert_with(|| {
            reasons.push(Reason {
                why: &unknown.why,
                matters: unknown.matters,
                whats: Vec::new(),
                checks: true,
            });
            reasons.len() - 1
        });
        if let Some(reason) = reasons.get_mut(place) {
            reason.whats.push(&unknown.what);
            reason.checks &= unknown.is_whole(check);
        }
    }
    reasons
}

fn one_reason(page: &mut Page, reason: &Reason<'_>) {
    let mark = |one: &'static str, many: &'static str| match (reason.matters, reason.whats.len()) {
        (false, _) => "",
        (true, 0..=NAMED) => one,
        (true, _) => many,
    };
    let mark = mark(
        " (it could change the verdict)",
        " (they could change the verdict)",
    );
    let why = reason.why;
    if reason.whats.len() <= NAMED {
        for what in &reason.whats {
            let text = page.safe(&format!("{what}: {why}{mark}"));
            page.hanging(&text, "  ", "    ");
        }
        return;
    }
    let number = reason.whats.len();
    let text = if reason.checks {
        format!("{number} checks were not done: {why}{mark}")
    } else {
        format!("{number} things: {why}{mark}")
    };
    let text = page.safe(&text);
    page.hanging(&text, "  ", "    ");
    if page.look.verbose {
        for what in &reason.whats {
            let what = page.safe(what);
            page.hanging(&what, "    ", "      ");
        }
    }
}

/// Every check, its status, its duration and what it saw.
fn checks(page: &mut Page, report: &Report) {
    page.gap();
    page.paragraph("checks:", "");
    for check in &report.checks {
        let status = plain::status(check.status).replace('_', " ");
        let said = check.reason.as_deref().or(check.note.as_deref());
        let text = match said {
            Some(said) => format!("{}: {said}", check.id),
            None => check.id.to_owned(),
        };
        let text = page.safe(&text);
        let label = format!("  {status:14} {:8.3} ms  ", check.duration_ms);
        if page.look.width.is_some_and(|width| width < NARROW) {
            page.paragraph(label.trim(), "  ");
            page.paragraph(&text, "    ");
        } else {
            page.hanging(&text, &label, "    ");
        }
    }
}

fn tally(report: &Report, least: Severity) -> String {
    let counts = report.verdict.counts;
    let mut parts = vec![format!("{} passed", count(counts.pass, "check", "checks"))];
    if counts.unknown > 0 {
        parts.push(format!("{} could not be completed", counts.unknown));
    }
    if counts.not_applicable > 0 {
        parts.push(format!("{} not applicable here", counts.not_applicable));
    }
    for (number, one, many) in [
        (counts.error, "error", "errors"),
        (counts.warning, "warning", "warnings"),
        (counts.info, "note", "notes"),
    ] {
        if number > 0 {
            parts.push(count(number, one, many));
        }
    }
    let sandbox = match report.run.sandbox {
        "none" => "not confined",
        _ => "confined by landlock",
    };
    let gap = report.run.sandbox_gap.as_ref();
    let gap = gap.map_or_else(String::new, |gap| format!(" ({gap})"));
    let took = report.run.duration_ms;
    let hidden = report.trees().map(|tree| {
        let below = tree
            .symptoms
            .iter()
            .filter(|found| found.severity < least)
            .count();
        // What explains something that is shown is shown.
        let root = tree.root.severity < least && below == tree.symptoms.len();
        below + usize::from(root)
    });
    let hidden = match hidden.sum() {
        0 => String::new(),
        hidden => format!("; {} by --print", count(hidden, "is hidden", "are hidden")),
    };
    format!(
        "{} in {took:.0} ms, {sandbox}{gap}{hidden}",
        parts.join(", ")
    )
}

/// The one thing to do now.
fn next(page: &mut Page, report: &Report) {
    let unknown = report
        .unknowns()
        .find(|(_, unknown)| unknown.matters && !unknown.would_tell.is_empty());
    let worst = report.first_to_mend();
    let told = unknown.map(|(_, unknown)| (unknown.would_tell.clone(), Vec::new()));
    let mended = worst.and_then(|tree| first_step(tree, &report.tool.command));
    let step = match report.verdict.status {
        Status::Incomplete => told.or(mended),
        _ => mended.or(told),
    };
    let Some((command, verify)) = step else {
        return;
    };
    page.gap();
    page.paragraph("next:", "");
    page.command(&command, "  ");
    if !verify.is_empty() {
        page.paragraph("then this succeeds:", "");
        page.command(&verify, "  ");
    }
}

/// The first way out, and what shows that it worked; without one, the whole story of the code. A note
/// without a way out asks for nothing.
fn first_step(tree: Tree<'_>, own: &str) -> Option<(Vec<String>, Vec<String>)> {
    if let Some(remedy) = tree.way_out() {
        return Some((remedy.argv.clone(), remedy.verify.clone()));
    }
    let explain = [own, "explain", tree.gravest().code];
    (tree.worst() > Severity::Info).then(|| (explain.map(str::to_owned).to_vec(), Vec::new()))
}
