//! The first lines: what it comes to, and in which mode jobs are dispatched.

use super::Page;
use crate::doctor::finding::Severity;
use crate::doctor::report::{Dispatch, Report, Unknown};
use crate::doctor::verdict::Status;
use crate::output::human::count;

/// Where the values of the block begin.
const LABEL: usize = 16;
/// A terminal of fewer columns has no room for two of text.
pub(super) const NARROW: usize = 60;

pub(super) fn write(page: &mut Page, report: &Report) {
    let style = page.look.style;
    let word = report.verdict.status.word();
    let painted = match report.verdict.status {
        Status::Ok => style.good(word),
        Status::Info => style.info(word),
        Status::Warning | Status::Incomplete => style.warning(word),
        Status::Error | Status::Internal => style.error(word),
    };
    let headline = page.safe(&headline(report));
    page.labelled(&format!("{word}: "), &format!("{painted}: "), &headline, "");
    if let Some(dispatch) = &report.dispatch {
        page.gap();
        block(page, dispatch);
    }
}

/// One sentence: what becomes of jobs, what is the matter first of all, and how much was found.
fn headline(report: &Report) -> String {
    let mode = report.dispatch.as_ref().map(sentence);
    let parts = [mode, Some(matter(report)), tally(report)];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// What it comes to: the gap, or the finding to begin with, or that there is none.
fn matter(report: &Report) -> String {
    if report.verdict.status == Status::Incomplete
        && let Some(gap) = gap(report)
    {
        return gap;
    }
    let worst = report.first_to_mend();
    let worst = worst.filter(|tree| tree.worst() >= report.verdict.fail_on.min(Severity::Warning));
    match worst {
        Some(tree) => {
            // What makes the verdict, and what is told first beneath, which explains it.
            let found = tree.gravest();
            let cause = if found.id == tree.root.id {
                String::new()
            } else {
                format!(", explained by {}", tree.root.code)
            };
            // Of several homes, which one.
            let home = report.run.homes.len() > 1 && found.subject.kind == "home";
            let place = if home && !found.summary.contains(&found.subject.name) {
                format!(" in {}", found.subject.name)
            } else {
                String::new()
            };
            format!("{} ({}{place}{cause})", found.summary, found.code)
        }
        None if let Some(empty) = empty(report) => empty,
        None if report.verdict.counts.unknown > 0 => "nothing is known to be wrong".to_owned(),
        None if report.run.only.is_empty() => "nothing is wrong".to_owned(),
        None => {
            let only = report.run.only.join(", ");
            format!("nothing is wrong of what was asked for ({only})")
        }
    }
}

/// That there is nothing to judge is no fault, and no health either.
fn empty(report: &Report) -> Option<String> {
    if report.run.homes.len() > 1 {
        // What is said of one of several is not the matter.
        return None;
    }
    let mut findings = report.findings.iter();
    let found = findings.find(|found| found.code == "HM401")?;
    Some(format!("{} ({})", found.summary, found.code))
}

/// What was not found out and could change the verdict.
fn gap(report: &Report) -> Option<String> {
    let all = report.checks.len();
    let matter = |(_, unknown): &(_, &Unknown)| unknown.matters;
    let (_, first) = report.unknowns().find(matter)?;
    let undone = report.checks.iter().filter(|check| {
        let mut gaps = check.unchecked.iter();
        gaps.any(|gap| gap.matters && gap.is_whole(check))
    });
    let undone = undone.count();
    Some(match undone {
        0 => format!(
            "not everything could be checked: {}: {}",
            first.what, first.why
        ),
        _ if undone == all => format!("nothing was checked: {}", first.why),
        _ => format!("{undone} of {all} checks were not done: {}", first.why),
    })
}

/// How much was found.
fn tally(report: &Report) -> Option<String> {
    let counts = report.verdict.counts;
    let mut found = Vec::new();
    if counts.error > 0 {
        found.push(count(counts.error, "error", "errors"));
    }
    if counts.warning > 0 {
        found.push(count(counts.warning, "warning", "warnings"));
    }
    if counts.internal > 0 {
        found.push(count(
            counts.internal,
            "check broke down",
            "checks broke down",
        ));
    }
    (!found.is_empty()).then(|| found.join(", "))
}

/// What becomes of jobs, for whoever dispatches.
fn sentence(dispatch: &Dispatch) -> String {
    let would = !matches!(dispatch.viewpoint, "serve" | "gateway") && dispatch.pid.is_none();
    let verb = match (would, dispatch.cron.mode) {
        (false, "refused") => "jobs are refused",
        (true, "refused") => "jobs would be refused",
        (false, _) => "jobs run",
        (true, _) => "jobs would run",
    };
    match dispatch.cron.mode {
        "refused" => verb.to_owned(),
        mode => format!("{verb} {mode}"),
    }
}

/// What becomes of a running job when what dispatches is started anew.
fn at_a_restart(dispatch: &Dispatch) -> &'static str {
    match (dispatch.cron.mode, dispatch.cron.survives_restart) {
        ("refused", _) => "no job runs",
        ("in_process", _) => "running jobs end with what started them",
        (_, Some(true)) => "running jobs go on",
        (_, Some(false)) => "running jobs end",
        (_, None) => "whether running jobs end cannot be told",
    }
}

fn block(page: &mut Page, dispatch: &Dispatch) {
    let jobs = with_reasons(dispatch.cron.mode, &dispatch.cron.reasons);
    // What both kinds of work share is said once.
    let shared = &dispatch.cron.reasons;
    let own = dispatch.long_lived.reasons.iter();
    let own: Vec<_> = own
        .filter(|reason| !shared.contains(reason))
        .cloned()
        .collect();
    let long = with_reasons(dispatch.long_lived.mode, &own);
    row(page, "jobs", &jobs);
    row(page, "long-lived work", &long);
    row(page, "after a restart", at_a_restart(dispatch));
    let [logout, reboot] = dispatch.unknown_because;
    row(
        page,
        "after logout",
        &outlook(dispatch.after_logout, logout),
    );
    row(
        page,
        "after reboot",
        &outlook(dispatch.after_reboot, reboot),
    );
    row(page, "judged for", &judged_for(dispatch));
    let differs = dispatch.shell_differs.iter();
    let differs: Vec<_> = differs.map(|found| found.text.as_str()).collect();
    if !differs.is_empty() {
        row(page, "this shell", &differs.join("; "));
    }
    if let Some(flip) = &dispatch.flips_to {
        let changes: Vec<_> = flip.changes.iter().map(|change| change.text).collect();
        let changes = changes.join(", and ");
        row(page, &format!("to be {}", flip.mode), &changes);
    }
}

/// A forecast, or why there is none.
fn outlook(word: &str, why: &str) -> String {
    match word {
        "unknown" if !why.is_empty() => format!("unknown ({why})"),
        word => word.to_owned(),
    }
}

fn with_reasons(mode: &str, reasons: &[String]) -> String {
    if reasons.is_empty() {
        mode.to_owned()
    } else {
        format!("{mode} ({})", reasons.join("; "))
    }
}

fn judged_for(dispatch: &Dispatch) -> String {
    let program = match dispatch.program {
        "hermes-agent" => "Hermes Agent",
        other => other,
    };
    let mut details = Vec::new();
    details.extend(dispatch.pid.map(|pid| format!("pid {pid}")));
    details.extend(dispatch.unit.clone());
    details.push(match &dispatch.version {
        Some(version) => format!("{program} {version}"),
        None => program.to_owned(),
    });
    let details = details.join(", ");
    let whom = format!("{} of {} ({details})", dispatch.viewpoint, dispatch.account);
    if dispatch.chosen_because.is_empty() {
        whom
    } else {
        format!("{whom}: {}", dispatch.chosen_because)
    }
}

fn row(page: &mut Page, label: &str, value: &str) {
    let narrow = page.look.width.is_some_and(|width| width < NARROW);
    let (first, rest) = if narrow {
        (format!("  {label}: "), "    ".to_owned())
    } else {
        let first = format!("  {label:LABEL$} ");
        let rest = " ".repeat(first.len());
        (first, rest)
    };
    let painted = page.look.style.dim(&first);
    let value = page.safe(value);
    page.labelled(&first, &painted, &value, &rest);
}
