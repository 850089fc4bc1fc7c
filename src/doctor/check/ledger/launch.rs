//! Jobs that are dispatched and never start, start again and again, or start twice for one slot.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{about, claimed, jobs, quoted, row};
use crate::doctor::check::homes::{self, Few, each};
use crate::doctor::check::redact::redacted;
use crate::doctor::check::{Check, Group, Outcome};
use crate::doctor::evidence::stores::Ledger;
use crate::doctor::evidence::{Evidence, HomeEvidence, Part};
use crate::doctor::finding::{Finding, Observation, Remedy};
use crate::ledger::{Execution, Status};
use crate::output::human;

/// The check of launches.
pub(in crate::doctor::check) const CHECKS: &[Check] = &[Check {
    id: "ledger-launch",
    group: Group::Ledger,
    title: "jobs that are dispatched do start",
    codes: &["HM601", "HM612", "HM613"],
    reads: &[Part::Jobs, Part::Ledger],
    run: launch,
}];

/// So many dispatches in a row that never started are a state, not an accident.
const STREAK: usize = 3;
/// How far back slots that ran twice are told, in seconds.
const WEEK: i64 = 7 * 86_400;

fn never_launched(row: &Execution) -> bool {
    row.status == Status::Failed && row.started_at.is_none()
}

fn launch(evidence: &Evidence) -> Outcome {
    each(evidence, |home, outcome| {
        let Some(ledger) = homes::ledger(home, outcome) else {
            return;
        };
        never(evidence, home, ledger, outcome);
        let mut found = Few::default();
        for id in jobs(ledger) {
            found.extend(refiring(evidence, home, ledger, id));
            found.extend(twice(evidence, home, ledger, id));
        }
        found.tell(outcome, home);
    })
}

/// Dispatches that fail before anything runs: of all jobs, else of one.
fn never(evidence: &Evidence, home: &HomeEvidence, ledger: &Ledger, outcome: &mut Outcome) {
    let streak = streak(ledger.rows());
    if streak.len() >= STREAK {
        let mut jobs: Vec<_> = streak.iter().map(|row| row.job_id.as_str()).collect();
        jobs.sort_unstable();
        jobs.dedup();
        let summary = format!(
            "jobs never launch{}: the last {} dispatches, of {}, failed before anything ran",
            since(evidence, &streak),
            streak.len(),
            human::count(jobs.len(), "job", "jobs"),
        );
        let finding = Finding::new("HM601", homes::subject(home), summary);
        outcome.find(told(home, finding, &streak));
        return;
    }
    for id in jobs(ledger) {
        let streak = self::streak(ledger.of(id));
        if streak.len() >= STREAK {
            let summary = format!(
                "{} never launches{}: its last {} dispatches failed before anything ran",
                quoted(home, id),
                since(evidence, &streak),
                streak.len()
            );
            outcome.find(told(home, about("HM601", id, summary), &streak));
        }
    }
}

/// The newest of these that are over, as far as none of them ever started.
fn streak<'a>(rows: impl Iterator<Item = &'a Execution>) -> Vec<&'a Execution> {
    let over = rows.filter(|row| row.status.is_terminal());
    over.take_while(|row| never_launched(row)).collect()
}

fn since(evidence: &Evidence, streak: &[&Execution]) -> String {
    let first = streak.last().and_then(|row| claimed(row));
    first.map_or_else(String::new, |first| {
        format!(" since {first} ({})", human::relative(first, evidence.now))
    })
}

fn told(home: &HomeEvidence, mut finding: Finding, streak: &[&Execution]) -> Finding {
    let mut errors: BTreeMap<String, usize> = BTreeMap::new();
    for execution in streak {
        let error = execution
            .error
            .as_deref()
            .unwrap_or("no reason was recorded");
        *errors.entry(redacted(error)).or_default() += 1;
    }
    for (error, count) in errors.iter().take(5) {
        let words = format!("{count} × failed, never started: {error}");
        finding = finding.seen(Observation::new(
            "row",
            home.path("cron/executions.db"),
            words,
        ));
    }
    for cause in ["HM331", "HM304", "HM302", "HM332"] {
        finding = finding.because_of(cause);
    }
    finding.remedy(
        Remedy::user(
            homes::ours(
                home,
                ["cron", "doctor", "--only", "service,session-bus,linger"],
            ),
            "says whether workers can be started",
        )
        .verify(homes::verify(home)),
    )
}

/// So many claims of one one-shot within so many seconds are a loop.
const REFIRES: usize = 3;
const REFIRE_WINDOW: i64 = 300;
/// Claims that are as old as this, in seconds, are no loop that goes on.
const REFIRE_PAST: i64 = 86_400;

/// A one-shot that goes round in circles, and can do so again: one that has ended, or that somebody paused,
/// does not.
fn refiring(
    evidence: &Evidence,
    home: &HomeEvidence,
    ledger: &Ledger,
    id: &str,
) -> Option<Finding> {
    let job = home.jobs.got()?.job(id)?;
    if job.schedule.kind != "once" || !job.is_armed() {
        return None;
    }
    let recent = |at: &Timestamp| evidence.now.duration_since(*at).as_secs() < REFIRE_PAST;
    let mut claims: Vec<Timestamp> = ledger.of(id).filter_map(claimed).filter(recent).collect();
    claims.sort_unstable();
    let close = |window: &&[Timestamp]| match (window.first(), window.last()) {
        (Some(first), Some(last)) => last.duration_since(*first).as_secs() <= REFIRE_WINDOW,
        _ => false,
    };
    claims.windows(REFIRES).find(close)?;
    let summary = format!(
        "{} is to run once, and was started {} times in the last day",
        quoted(home, id),
        claims.len()
    );
    let mut finding = about("HM612", id, summary);
    for at in claims.iter().rev().take(5) {
        finding = finding.seen(Observation::new(
            "row",
            home.path("cron/executions.db"),
            format!("claimed at {at}"),
        ));
    }
    Some(
        finding.remedy(
            Remedy::user(
                homes::on(home, ["cron", "pause"], (id, &[])),
                "stops it from firing again",
            )
            .verify(homes::verify(home)),
        ),
    )
}

/// One slot that was run twice.
fn twice(evidence: &Evidence, home: &HomeEvidence, ledger: &Ledger, id: &str) -> Option<Finding> {
    let mut slots: BTreeMap<Timestamp, Vec<&Execution>> = BTreeMap::new();
    for execution in ledger.of(id).filter(|row| row.started_at.is_some()) {
        let slot = execution
            .scheduled_instant
            .as_ref()
            .and_then(|slot| slot.at);
        slots.entry(slot?).or_default().push(execution);
    }
    let recent = |at: &Timestamp| evidence.now.duration_since(*at).as_secs() < WEEK;
    let (slot, rows) = slots
        .iter()
        .rev()
        .find(|(at, rows)| rows.len() > 1 && recent(at))?;
    let summary = format!(
        "{} ran {} times for one slot, {slot}",
        quoted(home, id),
        rows.len()
    );
    let mut finding = about("HM613", id, summary).because_of("HM409");
    for execution in rows {
        let pid = execution
            .pid
            .map_or_else(|| "?".to_owned(), |pid| pid.to_string());
        let word = execution.status.word();
        let words = format!("{word}, by pid {pid} ({})", execution.process_id);
        finding = finding.seen(row(home, execution, words));
    }
    Some(
        finding.remedy(
            Remedy::user(
                homes::ours(home, ["cron", "doctor", "--only", "scheduler"]),
                "says whether two schedulers tick this home",
            )
            .verify(homes::verify(home)),
        ),
    )
}
