//! How runs ended: cut short, booked for the wrong slot, not booked, not delivered.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{about, claimed, ended, jobs, quoted, row};
use crate::doctor::check::homes::{self, Few, each};
use crate::doctor::check::redact::redacted;
use crate::doctor::check::{Check, Group, Outcome};
use crate::doctor::evidence::stores::Ledger;
use crate::doctor::evidence::{Evidence, HomeEvidence, Part};
use crate::doctor::finding::{Finding, Observation, Remedy, Severity};
use crate::ledger::{Cause, Execution, Status};
use crate::output::human;

/// The check of ends.
pub(in crate::doctor::check) const CHECKS: &[Check] = &[Check {
    id: "ledger-ends",
    group: Group::Ledger,
    title: "runs end by themselves, and are booked and delivered",
    codes: &["HM605", "HM608", "HM610", "HM611"],
    reads: &[Part::Jobs, Part::Ledger],
    run: ends,
}];

/// How far back kills are told, in seconds.
const WEEK: i64 = 7 * 86_400;
/// How long a result may wait for its delivery, in seconds.
const DELIVERY: i64 = 600;
/// A claim this much before its slot carries no slot, in seconds.
const EARLY: i64 = 60;

fn ends(evidence: &Evidence) -> Outcome {
    each(evidence, |home, outcome| {
        let Some(ledger) = homes::ledger(home, outcome) else {
            return;
        };
        let mut found = Few::default();
        for id in jobs(ledger) {
            found.extend(kills(evidence, home, ledger, id));
            found.extend(ahead_of_run(evidence, home, ledger, id));
            found.extend(booking(home, ledger, id));
            found.extend(delivery(evidence, home, ledger, id));
        }
        found.tell(outcome, home);
    })
}

/// Why a run that did not end by itself ended, and in which mode it ran: what was recorded, else what
/// its error says, and said so. What nobody recorded is not guessed.
fn cause(ledger: &Ledger, row: &Execution) -> Option<String> {
    let facts = ledger.facts.get(&row.id);
    let recorded = facts.and_then(|facts| facts.cause.as_ref());
    if recorded.is_none() && row.status != Status::Unknown {
        return None;
    }
    let mode = facts.map_or("mode unknown", |facts| &facts.mode);
    let said = || said(row.error.as_deref().unwrap_or(""));
    Some(match (recorded, said()) {
        (Some(Cause::CannotTell), None) => format!("nothing that is left tells why ({mode})"),
        (Some(Cause::CannotTell) | None, Some(said)) => {
            format!("{} by its error ({mode})", in_words(&said))
        }
        (Some(cause), _) => format!("{} ({mode})", in_words(cause)),
        (None, None) => format!("cause not recorded ({mode})"),
    })
}

fn in_words(cause: &Cause) -> String {
    cause.word().replace('_', " ")
}

/// Hermes Agent keeps no cause; its error text says at times how the worker ended.
fn said(error: &str) -> Option<Cause> {
    let error = error.to_lowercase();
    let apart =
        |c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '.' | '(' | ')' | '\'');
    let words: Vec<_> = error.split(apart).filter(|word| !word.is_empty()).collect();
    let phrase = |phrase: &[&str]| words.windows(phrase.len()).any(|at| at == phrase);
    let any = |phrases: &[&[&str]]| phrases.iter().any(|words| phrase(words));
    if any(&[
        &["out", "of", "memory"],
        &["oom"],
        &["oom-killed"],
        &["oom-killer"],
    ]) {
        return Some(Cause::Oom);
    }
    let restarts: &[&[&str]] = &[
        &["gateway", "restart"],
        &["gateway", "restarted"],
        &["gateway", "shutdown"],
        &["scheduler", "restart"],
        &["scheduler", "restarted"],
        &["scheduler", "shutdown"],
        &["shutting", "down"],
    ];
    if any(restarts) {
        return Some(Cause::GatewayRestart);
    }
    let signals: &[&[&str]] = &[
        &["sigkill"],
        &["sigterm"],
        &["signal", "9"],
        &["signal", "15"],
        &["status", "-9"],
        &["status", "-15"],
        &["code", "-9"],
        &["code", "-15"],
    ];
    any(signals).then_some(Cause::Signal)
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
        let (Some(at), Some(cause)) = (recent, cause(ledger, execution)) else {
            continue;
        };
        killed.count += 1;
        *killed.causes.entry(cause).or_default() += 1;
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
    let finding = about("HM605", id, summary)
        .severity(severity)
        .because_of("HM612")
        .because_of("HM411")
        .because_of("HM314")
        .because_of("HM301")
        .seen(row(
            home,
            last,
            format!("{}, {ago}: {error}", last.status.word()),
        ));
    Some(
        finding.remedy(
            Remedy::user(
                homes::on(home, ["cron", "run"], (id, &[])),
                "runs it again; a good run clears this",
            )
            .verify(homes::verify(home)),
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
    // A good run since then has made up for the slot: one that came after it, where it has passed.
    let end = ended(execution)?;
    let since = if slot > evidence.now { end } else { slot };
    let makes_up = |row: &Execution| {
        let well = row.status == Status::Completed && !early(&row);
        well && claimed(row).is_some_and(|at| at >= since)
    };
    if ledger.of(id).any(makes_up) {
        return None;
    }
    let name = quoted(home, id);
    let summary = if slot > evidence.now {
        format!("{name} has its future slot {slot} already marked done: it will not run then")
    } else {
        format!("{name} has the slot {slot} stamped on an older run: it did not run then")
    };
    let finding = about("HM608", id, summary).seen(row(
        home,
        execution,
        format!("completed at {end}, scheduled_instant {slot}"),
    ));
    Some(
        finding.remedy(
            Remedy::user(
                homes::on(home, ["cron", "run"], (id, &[])),
                "runs it now: a good run makes up for the slot",
            )
            .verify(homes::verify(home)),
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
                homes::on(home, ["cron", "runs"], (id, &[])),
                "shows its runs; look at the output before you run it again",
            )
            .verify(homes::verify(home)),
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
        Some("unknown") => {
            "whoever sent its message was gone before he could say what became of it"
        }
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
                homes::on(home, ["cron", "run"], (id, &[])),
                "runs it again, and sends its message",
            )
            .verify(homes::verify(home)),
        ),
    )
}
