//! From what the checks said to the report. Pure.

use std::collections::HashMap;
use std::time::Duration;

use super::super::catalog;
use super::super::check::{Check, Outcome, Unchecked};
use super::super::finding::{Finding, Severity};
use super::super::verdict::{Seen, Status, Thresholds, judge};
use super::asked::Asked;
use super::dispatch::Dispatch;
use super::fold::{self, Placed};
use super::whose::Whose;
use super::{
    CheckReport, CheckStatus, Counts, Host, Report, Reported, Run, SCHEMA, Tool, Unknown, Verdict,
};
use crate::host::facts::{AccountFacts, OwnName};

/// How a check ended.
#[derive(Clone, Debug)]
pub enum Ended {
    /// It said this.
    Said(Outcome),
    /// It broke down, with these last words.
    Broke(String),
    /// It had not ended at the deadline, or could not begin; this is why.
    Late(String),
}

/// One check that was asked for.
#[derive(Clone)]
pub struct Ran {
    /// The check.
    pub check: &'static Check,
    /// How it ended.
    pub ended: Ended,
    /// How long it took.
    pub took: Duration,
}

/// All that the report is made of.
pub struct Input {
    /// This run.
    pub run: Run,
    /// Where it ran.
    pub host: Host,
    /// The account that dispatches; none where the host could not be looked at.
    pub account: Option<AccountFacts>,
    /// How the reader calls this program.
    pub own_name: OwnName,
    /// The words that ask this program again from the same point of view.
    pub view: Vec<String>,
    /// In which mode jobs are dispatched; which findings made it so is filled in here.
    pub dispatch: Option<Dispatch>,
    /// The checks that were asked for.
    pub ran: Vec<Ran>,
    /// What counts.
    pub thresholds: Thresholds,
}

/// Makes the report.
#[must_use]
pub fn assemble(mut input: Input) -> Report {
    let whose = Whose {
        reader: input.run.uid,
        account: input.account.as_ref(),
        own_name: &input.own_name,
    };
    let mut placed = place(&mut input.ran);
    fold::link(&mut placed);
    let findings = tell(placed, whose, &input.view);
    let checks: Vec<_> = input
        .ran
        .iter()
        .map(|ran| check_report(ran, &findings, whose))
        .collect();
    let verdict = verdict(&checks, &findings, input.thresholds);
    let dispatch = input.dispatch.map(|dispatch| dispatch.with_ids(&findings));
    Report {
        schema: SCHEMA,
        tool: Tool {
            name: "hermes",
            version: env!("CARGO_PKG_VERSION"),
            command: input.own_name.here(),
        },
        run: input.run,
        host: input.host,
        verdict,
        dispatch,
        checks,
        findings,
    }
}

/// The catalogue's severity, unless the check knew better. A code without an entry warns.
fn severity_of(finding: &Finding) -> Severity {
    let entry = || catalog::find(finding.code).map(|entry| entry.severity);
    finding.severity.or_else(entry).unwrap_or(Severity::Warning)
}

/// Takes the findings from the checks.
fn place(ran: &mut [Ran]) -> Vec<Placed> {
    let mut placed = Vec::new();
    for ran in ran {
        if let Ended::Said(outcome) = &mut ran.ended {
            placed.extend(outcome.findings.drain(..).map(|finding| Placed {
                severity: severity_of(&finding),
                finding,
                check: ran.check,
                cause: None,
            }));
        }
    }
    placed
}

fn tell(placed: Vec<Placed>, whose: Whose<'_>, view: &[String]) -> Vec<Reported> {
    let order = fold::order(&placed);
    let mut number = vec![0; placed.len()];
    for (position, index) in order.iter().enumerate() {
        if let Some(number) = number.get_mut(*index) {
            *number = position + 1;
        }
    }
    let id = |index: usize| format!("f{}", number.get(index).copied().unwrap_or(0));
    let mut of_code: HashMap<&str, usize> = HashMap::new();
    for placed in &placed {
        *of_code.entry(placed.finding.code).or_default() += 1;
    }
    let mut told: Vec<_> = placed
        .into_iter()
        .enumerate()
        .map(|(index, placed)| {
            let cause = placed.cause.map(id);
            let alone = of_code.get(placed.finding.code) == Some(&1);
            let asked = Asked::of(&placed, alone, view);
            reported(placed, (id(index), cause), (whose, &asked))
        })
        .zip(&number)
        .collect();
    told.sort_by_key(|(_, number)| **number);
    told.into_iter().map(|(reported, _)| reported).collect()
}

fn reported(
    placed: Placed,
    (id, cause): (String, Option<String>),
    (whose, asked): (Whose<'_>, &Asked<'_>),
) -> Reported {
    let finding = placed.finding;
    Reported {
        id,
        code: finding.code,
        slug: catalog::find(finding.code).map_or("unlisted", |entry| entry.slug),
        severity: placed.severity,
        fingerprint: finding.fingerprint(),
        cause,
        check: placed.check.id,
        group: placed.check.group.name(),
        subject: finding.subject,
        summary: finding.summary,
        evidence: finding.evidence,
        remedies: finding
            .remedies
            .into_iter()
            .map(|remedy| whose.told(asked.of_it_alone(remedy)))
            .collect(),
    }
}

fn check_report(ran: &Ran, findings: &[Reported], whose: Whose<'_>) -> CheckReport {
    let mut report = CheckReport {
        id: ran.check.id,
        group: ran.check.group.name(),
        title: ran.check.title,
        reads: ran.check.reads.iter().map(|part| part.name()).collect(),
        status: CheckStatus::Pass,
        duration_ms: milliseconds(ran.took),
        reason: None,
        note: None,
        unchecked: Vec::new(),
        findings: Vec::new(),
    };
    match &ran.ended {
        Ended::Broke(words) => {
            report.status = CheckStatus::Internal;
            report.reason = Some(format!("it broke down: {words}"));
        }
        Ended::Late(why) => {
            report.status = CheckStatus::Unknown;
            let unknown = Unknown {
                what: ran.check.title.to_owned(),
                why: why.clone(),
                would_tell: Vec::new(),
                matters: true,
            };
            report.reason = Some(unknown.why.clone());
            report.unchecked.push(unknown);
        }
        Ended::Said(outcome) => {
            report.unchecked = outcome
                .unchecked
                .iter()
                .map(|gap| unknown(gap, whose))
                .collect();
            said(&mut report, outcome, findings);
        }
    }
    report
}

fn said(report: &mut CheckReport, outcome: &Outcome, findings: &[Reported]) {
    report.note.clone_from(&outcome.note);
    let own = || findings.iter().filter(|found| found.check == report.id);
    let worst = own().map(|found| found.severity).max();
    let ids = own().map(|found| found.id.clone()).collect();
    // The gap that counts most is the reason; any gap at all is no pass.
    let counted = report.unchecked.iter().find(|gap| gap.matters);
    let counted = counted.or(report.unchecked.first());
    (report.status, report.reason) = if worst >= Some(Severity::Warning) {
        (CheckStatus::Fail, None)
    } else if let Some(gap) = counted {
        (CheckStatus::Unknown, Some(gap.why.clone()))
    } else if let Some(why) = &outcome.not_applicable {
        (CheckStatus::NotApplicable, Some(why.clone()))
    } else {
        (CheckStatus::Pass, None)
    };
    report.findings = ids;
}

fn unknown(gap: &Unchecked, whose: Whose<'_>) -> Unknown {
    let mut would_tell = gap.gap.would_tell.clone();
    whose.name(&mut would_tell);
    Unknown {
        what: gap.what.clone(),
        why: gap.gap.why.clone(),
        would_tell,
        matters: gap.matters,
    }
}

fn verdict(checks: &[CheckReport], findings: &[Reported], thresholds: Thresholds) -> Verdict {
    let gaps = || checks.iter().flat_map(|check| &check.unchecked);
    let seen = Seen {
        worst: findings.iter().map(|found| found.severity).max(),
        incomplete: gaps().any(|gap| gap.matters),
        other_gaps: gaps().any(|gap| !gap.matters),
        broken: checks
            .iter()
            .any(|check| check.status == CheckStatus::Internal),
    };
    let status: Status = judge(seen, thresholds);
    Verdict {
        status,
        exit_code: status.exit_code(),
        complete: !(seen.broken || seen.incomplete || (thresholds.strict && seen.other_gaps)),
        counts: count(checks, findings),
        fail_on: thresholds.fail_on,
    }
}

fn count(checks: &[CheckReport], findings: &[Reported]) -> Counts {
    let mut counts = Counts::default();
    for found in findings {
        match found.severity {
            Severity::Info => counts.info += 1,
            Severity::Warning => counts.warning += 1,
            Severity::Error => counts.error += 1,
        }
    }
    for check in checks {
        match check.status {
            CheckStatus::Pass => counts.pass += 1,
            CheckStatus::NotApplicable => counts.not_applicable += 1,
            CheckStatus::Internal => counts.internal += 1,
            CheckStatus::Fail | CheckStatus::Unknown => {}
        }
        if !check.unchecked.is_empty() {
            counts.unknown += 1;
        }
    }
    counts
}

/// Milliseconds with three decimals: more would be noise.
#[must_use]
pub fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1_000_000.0).round() / 1000.0
}
