//! The last lines: what could not be checked, the checks if asked for, the tally, the next step.

use std::collections::HashSet;

use super::Page;
use crate::doctor::finding::Severity;
use crate::doctor::plain;
use crate::doctor::report::{CheckStatus, Report, Reported};
use crate::doctor::verdict::Status;
use crate::output::human::count;

pub(super) fn write(page: &mut Page, report: &Report) {
    broken(page, report);
    unchecked(page, report);
    if page.look.verbose && !report.checks.is_empty() {
        checks(page, report);
    }
    page.gap();
    let tally = page.safe(&tally(report));
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

/// What could not be found out, and once each the commands that would tell.
fn unchecked(page: &mut Page, report: &Report) {
    let mut commands: Vec<&[String]> = Vec::new();
    let mut said: HashSet<(&str, &str)> = HashSet::new();
    for (_, unknown) in report.unknowns() {
        if said.is_empty() {
            page.gap();
            page.paragraph("could not be checked:", "");
        }
        if !said.insert((&unknown.what, &unknown.why)) {
            continue;
        }
        let mark = if unknown.matters {
            " (it could change the verdict)"
        } else {
            ""
        };
        let text = page.safe(&format!("{}: {}{mark}", unknown.what, unknown.why));
        page.hanging(&text, "  ", "    ");
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
        page.hanging(&text, &label, "    ");
    }
}

fn tally(report: &Report) -> String {
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
    let took = report.run.duration_ms;
    format!("{} in {took:.0} ms, {sandbox}", parts.join(", "))
}

/// The one thing to do now.
fn next(page: &mut Page, report: &Report) {
    let unknown = report
        .unknowns()
        .find(|(_, unknown)| unknown.matters && !unknown.would_tell.is_empty());
    // A note without a way out asks for nothing.
    let worst = report
        .first_to_mend()
        .filter(|found| found.severity > Severity::Info || !found.remedies.is_empty());
    let told = unknown.map(|(_, unknown)| (unknown.would_tell.clone(), Vec::new()));
    let mended = worst.map(first_step);
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

/// The first way out of a finding, and what shows that it worked; without one, the whole story of its
/// code.
fn first_step(found: &Reported) -> (Vec<String>, Vec<String>) {
    if let Some(remedy) = found.remedies.first() {
        return (remedy.argv.clone(), remedy.verify.clone());
    }
    let explain = ["hermes", "explain", found.code];
    (explain.map(str::to_owned).to_vec(), Vec::new())
}
