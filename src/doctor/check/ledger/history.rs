//! What the ledger tells of the past: jobs that never launch, runs that were killed, slots marked done
//! too early, results that were not delivered.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{about, claimed, ended, jobs, quoted, row, verify};
use crate::doctor::check::homes::{self, each};
use crate::doctor::check::redact::redacted;
use crate::doctor::check::{Check, Group, Outcome};
use crate::doctor::evidence::stores::Ledger;
use crate::doctor::evidence::{Evidence, HomeEvidence};
use crate::doctor::finding::{Finding, Observation, Remedy, Severity};
use crate::ledger::{Cause, Execution, Status};
use crate::output::human;

/// The checks of ends.
pub(in crate::doctor::check) const CHECKS: &[Check] = &[
    Check {
        id: "ledger-launch",
        group: Group::Ledger,
        title: "jobs that are dispatched do start",
        codes: &["HM601", "HM612", "HM613"],
        run: launch,
    },
    Check {
        id: "ledger-ends",
        group: Group::Ledger,
        title: "runs end by themselves, and are booked and delivered",
        codes: &["HM605", "HM608", "HM610", "HM611"],
        run: ends,
    },
];

/// So many dispatches in a row that never started are a state, not an accident.
const STREAK: usize = 3;
/// How far back kills are told, in seconds.
const WEEK: i64 = 7 * 86_400;
/// How long a result may wait for its delivery, in seconds.
const DELIVERY: i64 = 600;
/// A claim this much before its slot carries no slot, in seconds.
const EARLY: i64 = 60;

fn never_launched(row: &Execution) -> bool {
    row.status == Status::Failed && row.started_at.is_none()
}

fn launch(evidence: &Evidence) -> Outcome {
    each(evidence, |home, outcome| {
        let Some(ledger) = home.databases.ledger.got() else {
            return;
        };
        never(evidence, home, ledger, outcome);
        let mut found = Vec::new();
        for id in jobs(ledger) {
            found.extend(refiring(home, ledger, id));
            found.extend(twice(evidence, home, ledger, id));
        }
        homes::bounded(outcome, home, found);
    })
}

/// Dispatches that fail before anything runs: of all jobs, else of one.
fn never(evidence: &Evidence, home: &HomeEvidence, ledger: &Ledger, outcome: &mut Outcome) {
    let over: Vec<_> = ledger
        .rows()
        .filter(|row| row.status.is_terminal())
        .collect();
    let streak = streak(over.iter().copied());
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
        let rows = over.iter().copied().filter(|row| row.job_id == id);
        let streak = self::streak(rows);
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

fn streak<'a>(rows: impl Iterator<Item = &'a Execution>) -> Vec<&'a Execution> {
    rows.take_while(|row| never_launched(row)).collect()
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
        .verify(verify(home)),
    )
}

/// So many claims of one one-shot within so many seconds are a loop.
const REFIRES: usize = 3;
const REFIRE_WINDOW: i64 = 300;

fn refiring(home: &HomeEvidence, ledger: &Ledger, id: &str) -> Option<Finding> {
    let job = home.jobs.got()?.job(id)?;
    if job.schedule.kind != "once" {
        return None;
    }
    let mut claims: Vec<Timestamp> = ledger.of(id).filter_map(claimed).collect();
    claims.sort_unstable();
    let close = |window: &&[Timestamp]| match (window.first(), window.last()) {
        (Some(first), Some(last)) => last.duration_since(*first).as_secs() <= REFIRE_WINDOW,
        _ => false,
    };
    claims.windows(REFIRES).find(close)?;
    let summary = format!(
        "{} is to run once, and was started {} times",
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
                homes::ours(home, ["cron", "pause", id]),
                "stops it from firing again",
            )
            .verify(homes::ours(
                home,
                ["cron", "doctor", "--only", "ledger-launch"],
            )),
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
            .verify(verify(home)),
        ),
    )
}

fn ends(evidence: &Evidence) -> Outcome {
    each(evidence, |home, outcome| {
        let Some(ledger) = home.databases.ledger.got() else {
            return;
        };
        let (mut killed, mut ahead, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        for id in jobs(ledger) {
            killed.extend(kills(evidence, home, ledger, id));
            ahead.extend(ahead_of_run(evidence, home, ledger, id));
            rest.extend(booking(home, ledger, id));
            rest.extend(delivery(evidence, home, ledger, id));
        }
        for found in [killed, ahead, rest] {
            homes::bounded(outcome, home, found);
        }
    })
}

/// Why a run that did not end by itself ended, as far as anything tells.
fn cause(ledger: &Ledger, row: &Execution) -> Option<(Cause, String)> {
    let facts = ledger.facts.get(&row.id);
    let mode = facts.map_or_else(|| "mode unknown".to_owned(), |facts| facts.mode.clone());
    if let Some(cause) = facts.and_then(|facts| facts.cause.clone()) {
        return Some((cause, mode));
    }
    (row.status == Status::Unknown).then(|| (guess(row.error.as_deref().unwrap_or("")), mode))
}

/// Hermes Agent has no word for the cause; its error text says at times how the worker ended.
fn guess(error: &str) -> Cause {
    let error = error.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| error.contains(word));
    if says(&["out of memory", "oom"]) {
        Cause::Oom
    } else if says(&["shutdown", "restart"]) {
        Cause::GatewayRestart
    } else if says(&["signal", "sigkill", "sigterm", "-9", "-15", "killed"]) {
        Cause::Signal
    } else {
        Cause::CannotTell
    }
}

/// The runs of a job that did not end by themselves, in the last seven days.
#[derive(Default)]
struct Killed<'a> {
    count: usize,
    causes: BTreeMap<String, usize>,
    newest: Option<(&'a Execution, Timestamp)>,
}

fn killed<'a>(evidence: &Evidence, ledger: &'a Ledger, id: &'a str) -> Killed<'a> {
    let mut killed = Killed::default();
    for execution in ledger.of(id) {
        let at = ended(execution).or(claimed(execution));
        let recent = at.filter(|at| evidence.now.duration_since(*at).as_secs() <= WEEK);
        let (Some(at), Some((cause, mode))) = (recent, cause(ledger, execution)) else {
            continue;
        };
        killed.count += 1;
        let words = format!("{} ({mode})", cause.word().replace('_', " "));
        *killed.causes.entry(words).or_default() += 1;
        if killed.newest.is_none_or(|(_, best)| at > best) {
            killed.newest = Some((execution, at));
        }
    }
    killed
}

fn kills(evidence: &Evidence, home: &HomeEvidence, ledger: &Ledger, id: &str) -> Option<Finding> {
    let killed = killed(evidence, ledger, id);
    let (last, at) = killed.newest?;
    let well = ledger
        .of(id)
        .any(|row| row.status == Status::Completed && ended(row).is_some_and(|end| end > at));
    let causes: Vec<_> = killed
        .causes
        .iter()
        .map(|(words, count)| format!("{count} × {words}"))
        .collect();
    let (severity, since) = if well {
        (Severity::Info, "it has run well since")
    } else {
        (Severity::Warning, "it has not run well since")
    };
    let summary = format!(
        "{} was cut short {} in the last 7 days: {}; {since}",
        quoted(home, id),
        human::count(killed.count, "time", "times"),
        causes.join(", ")
    );
    let error = redacted(last.error.as_deref().unwrap_or("no reason was recorded"));
    let ago = human::relative(at, evidence.now);
    let finding = about("HM605", id, summary).severity(severity).seen(row(
        home,
        last,
        format!("{}, {ago}: {error}", last.status.word()),
    ));
    Some(
        finding.remedy(
            Remedy::user(
                homes::ours(home, ["cron", "run", id]),
                "runs it again; a good run clears this",
            )
            .verify(verify(home)),
        ),
    )
}

/// A run that is booked for a slot that came after its end.
fn ahead_of_run(
    evidence: &Evidence,
    home: &HomeEvidence,
    ledger: &Ledger,
    id: &str,
) -> Option<Finding> {
    let early = |row: &&Execution| {
        let slot = row.scheduled_instant.as_ref().and_then(|slot| slot.at);
        let end = ended(row);
        row.status == Status::Completed
            && matches!((slot, end), (Some(slot), Some(end))
                if slot.duration_since(end).as_secs() > EARLY)
    };
    let execution = ledger.of(id).find(early)?;
    let slot = execution.scheduled_instant.as_ref()?.at?;
    let name = quoted(home, id);
    let summary = if slot > evidence.now {
        format!("{name} has its future slot {slot} already marked done: it will not run then")
    } else {
        format!("{name} has the slot {slot} stamped on an older run: it did not run then")
    };
    let end = ended(execution)?;
    let finding = about("HM608", id, summary).seen(row(
        home,
        execution,
        format!("completed at {end}, scheduled_instant {slot}"),
    ));
    Some(
        finding.remedy(
            Remedy::user(
                homes::ours(home, ["cron", "run", id]),
                "makes up for the slot",
            )
            .verify(verify(home)),
        ),
    )
}

/// The work was done, and its claim was lost before it could be booked.
fn booking(home: &HomeEvidence, ledger: &Ledger, id: &str) -> Option<Finding> {
    let last = ledger.of(id).find(|row| row.status.is_terminal())?;
    let error = last
        .error
        .as_deref()
        .filter(|_| last.status == Status::Failed)?;
    if !error.to_ascii_lowercase().contains("ownership lost") {
        return None;
    }
    let summary = format!("{} is done, but its bookkeeping was lost", quoted(home, id));
    let finding = about("HM610", id, summary).seen(row(home, last, redacted(error)));
    Some(
        finding.remedy(
            Remedy::user(
                homes::ours(home, ["cron", "runs", id]),
                "shows its runs; look at the output before you run it again",
            )
            .verify(verify(home)),
        ),
    )
}

/// A good run whose message is not known to have been sent.
fn delivery(
    evidence: &Evidence,
    home: &HomeEvidence,
    ledger: &Ledger,
    id: &str,
) -> Option<Finding> {
    let last = ledger.of(id).find(|row| row.status.is_terminal())?;
    let end = ended(last).filter(|_| last.status == Status::Completed)?;
    let job = home.jobs.got()?.job(id)?;
    let local = job.needs.deliver.as_deref().is_none_or(|to| to == "local");
    let old = evidence.now.duration_since(end).as_secs() > DELIVERY;
    let why = match last.delivery_outcome.as_deref() {
        Some("failed") => "its delivery failed",
        Some("not_configured") if !local => "its target is not configured",
        Some("queued") if old => "its message still waits",
        None if !local && old => "nothing says that its message was sent",
        _ => return None,
    };
    let summary = format!("{} is done, not delivered: {why}", quoted(home, id));
    let outcome = last.delivery_outcome.as_deref().unwrap_or("null");
    let finding = about("HM611", id, summary)
        .because_of("HM512")
        .seen(row(
            home,
            last,
            format!("completed, delivery_outcome {outcome}"),
        ))
        .seen(Observation::new(
            "list",
            home.path("cron/output"),
            format!("{id}/"),
        ));
    Some(
        finding.remedy(
            Remedy::user(
                homes::ours(home, ["cron", "run", id]),
                "runs it again, and sends its message",
            )
            .verify(verify(home)),
        ),
    )
}
