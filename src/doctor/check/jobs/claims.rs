//! Marks of runs under way that outlived their owner, and runs that left no trace.

use super::{about, quoted};
use crate::doctor::check::homes::{self, Few, each};
use crate::doctor::check::{Check, Group, Outcome};
use crate::doctor::evidence::jobs::{Claim, Job};
use crate::doctor::evidence::stores::Ledger;
use crate::doctor::evidence::{Evidence, HomeEvidence, Part};
use crate::doctor::finding::{Finding, Observation, Remedy};
use crate::host::liveness::{Identity, Liveness};
use crate::output::human;

/// The check of claims.
pub(in crate::doctor::check) const CHECKS: &[Check] = &[Check {
    id: "jobs-claims",
    group: Group::Jobs,
    title: "no job is held by a run that is over, and every run left a row",
    codes: &["HM514", "HM516"],
    reads: &[Part::Zone, Part::Jobs, Part::Ledger, Part::Owners],
    run: claims,
}];

/// How long a claim holds without being renewed, in seconds: run lease, one-shot, slot.
const FIRE: i64 = 300;
const RUN: i64 = 1_800;
const SLOT: i64 = 300;
/// How far a stamp may lie ahead of the clock.
const AHEAD: i64 = 60;

fn claims(evidence: &Evidence) -> Outcome {
    each(evidence, |home, outcome| {
        let Some(store) = homes::jobs(home, outcome) else {
            return;
        };
        let ledger = homes::ledger(home, outcome);
        let mut found = Few::default();
        for job in &store.jobs {
            let claims = &job.claims;
            found.extend(
                [
                    ("fire_claim", &claims.fire, FIRE),
                    ("run_claim", &claims.run, RUN),
                    ("pending_slot", &claims.pending, SLOT),
                ]
                .into_iter()
                .filter_map(|(name, claim, life)| Some((name, claim.as_ref()?, life)))
                // What is left on a job that is over holds nothing up, and running it would run it twice.
                .filter(|_| !job.is_over())
                .find_map(|mark| stale(evidence, home, job, mark)),
            );
            if let Some(ledger) = ledger
                && let Some((text, ran)) = unknown_run(home, ledger, job)
            {
                found.add("HM516", || {
                    ghost(evidence, home, (ledger, job), (text, ran))
                });
            }
        }
        found.tell(outcome, home);
    })
}

/// Whether the process that a claim names has ended; `None` where it names none of this host, or
/// nobody looked.
fn owner(home: &HomeEvidence, claim: &Claim) -> Option<(u32, Liveness)> {
    let pid = claim.pid_on(&home.hostname)?;
    let identity = Identity {
        pid,
        ..Identity::default()
    };
    Some((pid, home.owners.liveness(&identity)?))
}

fn stale(
    evidence: &Evidence,
    home: &HomeEvidence,
    job: &Job,
    (name, claim, life): (&'static str, &Claim, i64),
) -> Option<Finding> {
    let at = home.zone.zones.instant(&claim.at);
    let age = at.map(|at| evidence.now.duration_since(at).as_secs());
    let since = at.map_or_else(
        || format!("'{}', which is no time", claim.at),
        |at| human::relative(at, evidence.now),
    );
    let why = match (owner(home, claim), age) {
        (Some((pid, life)), _) if life.is_over() => format!("its owner, pid {pid}, has ended"),
        (Some((_, Liveness::Alive)), _) => return None,
        (_, None) => "it says no time".to_owned(),
        (_, Some(age)) if age < -AHEAD => "it is stamped in the future".to_owned(),
        (_, Some(age)) if age > life => {
            format!("it was not renewed for {}", human::duration(age))
        }
        _ => return None,
    };
    let what = match name {
        "pending_slot" => "was taken off its schedule and never claimed",
        _ => "is held by a run that is over",
    };
    let mut finding = about("HM514", job, format!("{} {what}: {why}", quoted(job)))
        .seen(Observation::new(
            "field",
            format!("{} {name}", job.id),
            format!("by '{}', {since}", claim.by),
        ))
        .because_of("HM413");
    if let (true, Some(slot)) = (name == "pending_slot", &job.claims.pending_slot) {
        finding = finding.seen(Observation::new(
            "field",
            format!("{} pending_slot.scheduled_at", job.id),
            slot,
        ));
    }
    Some(
        finding.remedy(
            Remedy::user(
                homes::on(home, ["cron", "run"], (&job.id, &[])),
                "frees it by running it; a scheduler frees it by itself at its next slot",
            )
            .verify(homes::verify(home)),
        ),
    )
}

/// How far the end in the record and the end in the ledger may lie apart, in seconds.
const APART: i64 = 120;

/// When the record says that the job ran, if that is a time at which no row has it running.
fn unknown_run<'a>(
    home: &HomeEvidence,
    ledger: &Ledger,
    job: &'a Job,
) -> Option<(&'a str, jiff::Timestamp)> {
    let text = job.stamps.last_run.as_deref()?;
    let ran = home.zone.zones.instant(text)?;
    if !reaches(ledger, ran) {
        return None;
    }
    let near = |row: &crate::ledger::Execution| {
        let claimed = row.claimed_at.as_ref().and_then(|stamp| stamp.at);
        let ended = row.finished_at.as_ref().and_then(|stamp| stamp.at);
        let began = claimed.is_none_or(|at| ran.duration_since(at).as_secs() >= -APART);
        let over = ended.is_some_and(|at| ran.duration_since(at).as_secs() > APART);
        began && !over
    };
    (!ledger.of(&job.id).any(near)).then_some((text, ran))
}

fn ghost(
    evidence: &Evidence,
    home: &HomeEvidence,
    (ledger, job): (&Ledger, &Job),
    (text, ran): (&str, jiff::Timestamp),
) -> Finding {
    let finding = about(
        "HM516",
        job,
        format!(
            "{} is marked as run {}, and no row of the ledger knows of it",
            quoted(job),
            human::relative(ran, evidence.now)
        ),
    )
    .seen(Observation::new(
        "field",
        format!("{} last_run_at", job.id),
        text,
    ))
    .seen(Observation::new(
        "row",
        home.path("cron/executions.db"),
        format!(
            "{} of this job",
            human::count(ledger.of(&job.id).count(), "row", "rows")
        ),
    ));
    finding.remedy(
        Remedy::user(
            homes::on(home, ["cron", "run"], (&job.id, &[])),
            "runs it, if it should have run",
        )
        .verify(homes::verify(home)),
    )
}

/// Whether the ledger keeps everything since this instant.
fn reaches(ledger: &Ledger, since: jiff::Timestamp) -> bool {
    let reach = ledger
        .reach
        .as_ref()
        .and_then(|reach| reach.oldest_end.as_ref()?.at);
    !ledger.cut && reach.is_some_and(|oldest| oldest < since)
}
