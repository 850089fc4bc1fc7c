//! The report as tab-separated records, for scripts: one fact a line, the kind of fact in the first
//! field. `docs/doctor.md` lists the records; fields are only ever added at the end.

use super::finding::Severity;
use super::report::{CheckStatus, Report, Reported, Unknown};
use crate::output::{human, quote};

/// Makes the records.
#[must_use]
pub fn render(report: &Report, least: Severity) -> String {
    let mut records = Records(String::new());
    records.verdict(report);
    records.dispatch(report);
    for found in report
        .findings
        .iter()
        .filter(|found| found.severity >= least)
    {
        records.finding(found);
    }
    for check in &report.checks {
        let reason = check.reason.as_deref().or(check.note.as_deref());
        let status = status(check.status);
        records.add(&["check", check.id, check.group, status, reason.unwrap_or("")]);
        for unknown in &check.unchecked {
            records.unknown(check.id, unknown);
        }
    }
    records.counts(report);
    records.0
}

/// The word of a status, as in the JSON document.
pub(super) fn status(status: CheckStatus) -> &'static str {
    match status {
        CheckStatus::Pass => "pass",
        CheckStatus::Fail => "fail",
        CheckStatus::Unknown => "unknown",
        CheckStatus::NotApplicable => "not_applicable",
        CheckStatus::Internal => "internal",
    }
}

struct Records(String);

impl Records {
    /// One record. A field holds no tab and no line break: control characters are escaped.
    fn add(&mut self, fields: &[&str]) {
        let fields: Vec<_> = fields.iter().map(|field| human::printable(field)).collect();
        self.0.push_str(&fields.join("\t"));
        self.0.push('\n');
    }

    fn verdict(&mut self, report: &Report) {
        let verdict = &report.verdict;
        let code = verdict.exit_code.to_string();
        let complete = if verdict.complete {
            "complete"
        } else {
            "incomplete"
        };
        self.add(&["verdict", verdict.status.word(), &code, complete]);
    }

    fn dispatch(&mut self, report: &Report) {
        let Some(dispatch) = &report.dispatch else {
            return;
        };
        let survives = match dispatch.cron.survives_restart {
            Some(true) => "survives_restart",
            Some(false) => "dies_at_restart",
            None => "unknown",
        };
        self.add(&["dispatch", "jobs", dispatch.cron.mode, survives]);
        self.add(&["dispatch", "long_lived", dispatch.long_lived.mode]);
        self.add(&["dispatch", "after_logout", dispatch.after_logout]);
        self.add(&["dispatch", "after_reboot", dispatch.after_reboot]);
        let pid = dispatch.pid.map(|pid| pid.to_string()).unwrap_or_default();
        let unit = dispatch.unit.as_deref().unwrap_or("");
        let account = &dispatch.account;
        self.add(&["viewpoint", dispatch.viewpoint, account, &pid, unit]);
        for differs in &dispatch.shell_differs {
            self.add(&["shell_differs", differs.what, &differs.text]);
        }
    }

    fn finding(&mut self, found: &Reported) {
        let cause = found.cause.as_deref().unwrap_or("");
        self.add(&[
            "finding",
            &found.id,
            found.code,
            found.severity.word(),
            found.slug,
            cause,
            &found.subject.kind,
            &found.subject.name,
            &found.summary,
        ]);
        for remedy in &found.remedies {
            let needs = match remedy.needs {
                super::finding::Needs::Root => "root",
                super::finding::Needs::User => "user",
            };
            let command = quote::command(&remedy.argv);
            let verify = quote::command(&remedy.verify);
            self.add(&["remedy", &found.id, needs, &command, &verify]);
        }
    }

    fn unknown(&mut self, check: &str, unknown: &Unknown) {
        let matters = if unknown.matters { "matters" } else { "other" };
        let tell = quote::command(&unknown.would_tell);
        self.add(&[
            "unchecked",
            check,
            matters,
            &unknown.what,
            &unknown.why,
            &tell,
        ]);
    }

    fn counts(&mut self, report: &Report) {
        let counts = report.verdict.counts;
        for (name, count) in [
            ("pass", counts.pass),
            ("info", counts.info),
            ("warning", counts.warning),
            ("error", counts.error),
            ("unknown", counts.unknown),
            ("not_applicable", counts.not_applicable),
            ("internal", counts.internal),
        ] {
            self.add(&["count", name, &count.to_string()]);
        }
    }
}
