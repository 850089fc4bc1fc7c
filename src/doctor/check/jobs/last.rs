//! How jobs went last: history, which the next good run clears.

use jiff::Timestamp;

use super::{about, needs, quoted};
use crate::doctor::check::homes::{self, Few, each};
use crate::doctor::check::redact::redacted;
use crate::doctor::check::{Check, Group, Outcome};
use crate::doctor::evidence::jobs::Job;
use crate::doctor::evidence::{Evidence, HomeEvidence, Part};
use crate::doctor::finding::{Finding, Observation, Remedy, Severity};
use crate::ledger::{Execution, Incident, IncidentState, Status};
use crate::output::human;

/// The check of last runs.
pub(in crate::doctor::check) const CHECKS: &[Check] = &[Check {
    id: "jobs-last-run",
    group: Group::Jobs,
    title: "every job's last run was good, on time, and its message arrived",
    codes: &["HM511", "HM512", "HM513", "HM518"],
    reads: &[
        Part::Zone,
        Part::Jobs,
        Part::Needs,
        Part::Ticker,
        Part::Ledger,
    ],
    run: last,
}];

/// From so many failures in a row on, it is an error.
const ROW: i64 = 3;

fn last(evidence: &Evidence) -> Outcome {
    each(evidence, |home, outcome| {
        let Some(store) = homes::jobs(home, outcome) else {
            return;
        };
        let mut found = Few::default();
        for job in store
            .jobs
            .iter()
            .filter(|job| job.enabled && !job.is_paused())
        {
            found.extend(failed(evidence, home, job));
            found.extend(undelivered(evidence, home, job));
            found.extend(late(home, job));
            found.extend(unfired(evidence, home, job));
        }
        found.tell(outcome, home);
    })
}

/// When the job last ended well, as far as the ledger goes back.
fn last_good(home: &HomeEvidence, job: &Job) -> Option<Timestamp> {
    let ledger = home.databases.ledger.got()?;
    let good = ledger
        .of(&job.id)
        .filter(|row| row.status == Status::Completed);
    good.filter_map(|row| row.finished_at.as_ref()?.at).max()
}

/// Why it failed: by its own word, else by that of its last row.
fn reason<'a>(home: &'a HomeEvidence, job: &'a Job) -> (&'a str, Observation) {
    let row = last_row(home, job).filter(|row| row.status != Status::Completed);
    let of_row = row.and_then(|row| Some((row, row.error.as_deref()?)));
    match (job.last.error.as_deref(), of_row) {
        (None, Some((row, error))) => {
            let target = format!("{} {}", home.path("cron/executions.db"), row.id);
            (error, Observation::new("row", target, redacted(error)))
        }
        (error, _) => {
            let error = error.unwrap_or("no reason was recorded");
            (error, field(job, "last_error", error))
        }
    }
}

/// The last run that is kept and over.
fn last_row<'a>(home: &'a HomeEvidence, job: &Job) -> Option<&'a Execution> {
    let mut rows = home.databases.ledger.got()?.of(&job.id);
    rows.find(|row| row.status.is_terminal())
}

fn success(evidence: &Evidence, home: &HomeEvidence, job: &Job) -> Observation {
    let words = match last_good(home, job) {
        Some(at) => format!("last good run {}", human::relative(at, evidence.now)),
        None => "no good run is kept in the ledger".to_owned(),
    };
    Observation::new("row", home.path("cron/executions.db"), words)
}

fn field(job: &Job, name: &str, observed: &str) -> Observation {
    Observation::new("field", format!("{} {name}", job.id), redacted(observed))
}

fn look(home: &HomeEvidence, job: &Job, finding: Finding) -> Finding {
    finding.remedy(
        Remedy::user(
            homes::on(home, ["cron", "run"], (&job.id, &[])),
            "runs it again; a good run clears this",
        )
        .verify(homes::verify(home)),
    )
}

fn failed(evidence: &Evidence, home: &HomeEvidence, job: &Job) -> Option<Finding> {
    let status = job.last.status.as_deref()?;
    let what = match status {
        "error" => "failed in its last run",
        "blocked_config" => "was not run, for its configuration",
        _ => return None,
    };
    let row = if job.last.streak > 1 {
        format!(", the {} time in a row", ordinal(job.last.streak))
    } else {
        String::new()
    };
    let (error, seen) = reason(home, job);
    let first = error.lines().next().unwrap_or_default();
    let finding = about(
        "HM511",
        job,
        format!("{} {what}{row}: {}", quoted(job), redacted(first)),
    )
    .severity(if job.last.streak >= ROW {
        Severity::Error
    } else {
        Severity::Warning
    })
    .seen(seen)
    .seen(success(evidence, home, job));
    let mut finding = incidents(home, job, finding);
    // A script that is not there explains its own job's failures, and nobody else's.
    if needs::script(home, job).is_some() {
        finding = finding.because_of("HM509");
    }
    // What keeps jobs from starting explains no run that did start.
    let started = last_row(home, job).is_some_and(|row| row.started_at.is_some());
    if !started {
        finding = finding.because_of("HM601");
    }
    // What is missing now explains a failure only if that speaks of something missing.
    let absent = ["not found", "no such file", "missing", "127"];
    let lower = error.to_ascii_lowercase();
    let finding = if absent.iter().any(|word| lower.contains(word)) {
        ["HM510", "HM517"]
            .into_iter()
            .fold(finding, Finding::because_of)
    } else {
        finding
    };
    Some(look(home, job, finding))
}

/// Adds the incidents of this job that nobody has closed.
fn incidents(home: &HomeEvidence, job: &Job, mut finding: Finding) -> Finding {
    let ledger = home.databases.ledger.got();
    let all = ledger.into_iter().flat_map(|ledger| &ledger.incidents);
    let open = |incident: &&Incident| {
        let state = &incident.state;
        incident.job_id == job.id
            && matches!(state, IncidentState::Detected | IncidentState::Alerted)
    };
    for incident in all.filter(open).take(3) {
        let first = incident.first_seen_at.as_ref().map_or("?", |at| &at.text);
        let acked = if incident.acked_at.is_some() {
            ", taken note of"
        } else {
            ""
        };
        let words = format!(
            "incident {} ({}), {}{acked}, first seen {first}",
            incident.id,
            incident.failure_type,
            incident.state.word()
        );
        finding = finding.seen(Observation::new(
            "row",
            home.path("cron/executions.db"),
            words,
        ));
    }
    finding
}

fn ordinal(number: i64) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

fn undelivered(evidence: &Evidence, home: &HomeEvidence, job: &Job) -> Option<Finding> {
    let last = &job.last;
    let error = last
        .delivery_error
        .as_deref()
        .filter(|error| !error.is_empty());
    let failed = last.status.as_deref() == Some("delivery_failed") || error.is_some();
    if !failed && !last.delivery_unverified {
        return None;
    }
    let what = if failed {
        "ran, but its message did not arrive"
    } else {
        "ran, but whether its message arrived is not known"
    };
    let error = error.unwrap_or("no reason was recorded");
    let finding = about("HM512", job, format!("{} {what}", quoted(job)))
        .severity(if failed {
            Severity::Warning
        } else {
            Severity::Info
        })
        .seen(field(job, "last_delivery_error", error))
        .seen(success(evidence, home, job));
    Some(look(home, job, finding))
}

fn late(home: &HomeEvidence, job: &Job) -> Option<Finding> {
    let dispatch = job.last.dispatch.as_ref()?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "float casts saturate; these are seconds"
    )]
    let late = human::duration(dispatch.lateness as i64);
    let slot = dispatch.scheduled.as_deref().unwrap_or("an unknown time");
    let what = match dispatch.kind.as_str() {
        "late" => format!("ran {late} late"),
        "catch_up" => format!("ran {late} late, once for all that it had missed"),
        _ => return None,
    };
    let mut finding = about(
        "HM513",
        job,
        format!("{} {what} (slot {slot})", quoted(job)),
    )
    .seen(field(job, "last_dispatch.scheduled_at", slot));
    // Where somebody ticked after this run, that nobody does now does not explain it.
    let ran = dispatch.at.as_deref();
    let ran = ran.and_then(|at| home.zone.zones.instant(at));
    let beat = home.ticker.heartbeat.got().map(|beat| beat.at);
    if ran.is_none() || beat.is_none() || ran > beat {
        finding = finding.because_of("HM402");
    }
    if let Some(at) = &dispatch.at {
        finding = finding.seen(field(job, "last_dispatch.dispatched_at", at));
    }
    if let Some(count) = home.ticker.catch_ups.got() {
        finding = finding.seen(Observation::new(
            "read",
            home.path("cron/catch_up_occurrences"),
            format!("{count} catch-up runs in this home so far"),
        ));
    }
    Some(look(home, job, finding))
}

/// A slot that could not be fired at all, after the last run that could.
fn unfired(evidence: &Evidence, home: &HomeEvidence, job: &Job) -> Option<Finding> {
    let (at, detail) = job.last.fire_error.as_ref()?;
    let zones = &home.zone.zones;
    let when = zones.instant(at);
    let run = job
        .stamps
        .last_run
        .as_deref()
        .and_then(|text| zones.instant(text));
    if when.is_some() && run.is_some() && run > when {
        return None;
    }
    let ago = when.map_or_else(
        || "at an unknown time".to_owned(),
        |when| human::relative(when, evidence.now),
    );
    let first = redacted(detail.lines().next().unwrap_or_default());
    let finding = about(
        "HM518",
        job,
        format!("{} could not be fired, {ago}: {first}", quoted(job)),
    )
    .seen(field(job, "last_fire_error", detail));
    Some(look(home, job, finding))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals() {
        for (number, words) in [
            (1, "1st"),
            (2, "2nd"),
            (3, "3rd"),
            (4, "4th"),
            (12, "12th"),
            (22, "22nd"),
        ] {
            assert_eq!(ordinal(number), words);
        }
    }
}
