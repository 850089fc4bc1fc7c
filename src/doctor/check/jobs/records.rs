//! Whether the records of jobs are sound: a schedule that can fire, an id, fields of the right kind.

use std::collections::HashSet;

use jiff::tz::TimeZone;

use super::{Schedules, about, quoted};
use crate::cron::next;
use crate::cron::schedule::Schedule;
use crate::doctor::check::homes::{self, Few, each};
use crate::doctor::check::{Check, Group, Outcome};
use crate::doctor::evidence::jobs::{Job, JobStore};
use crate::doctor::evidence::{Evidence, HomeEvidence, Part};
use crate::doctor::finding::{Finding, Observation, Remedy};
use crate::output::human;

/// The check of records.
pub(in crate::doctor::check) const CHECKS: &[Check] = &[Check {
    id: "jobs-records",
    group: Group::Jobs,
    title: "the records of jobs are sound",
    codes: &["HM506", "HM507", "HM508"],
    reads: &[Part::Jobs],
    run: records,
}];

fn records(evidence: &Evidence) -> Outcome {
    each(evidence, |home, outcome| {
        let Some(store) = homes::jobs(home, outcome) else {
            return;
        };
        let mut schedules = Schedules::default();
        let mut ids = HashSet::new();
        let mut found = Few::default();
        for job in &store.jobs {
            let again = !ids.insert(job.id.as_str());
            found.extend(malformed(home, job, again));
            found.extend(ended_itself(home, job));
            if job.enabled && !job.is_paused() && job.state != "completed" {
                found.extend(unusable(evidence, home, job, &mut schedules));
            }
        }
        found.extend(dropped(home, store));
        found.tell(outcome, home);
    })
}

fn field(job: &Job, name: &str, observed: impl Into<String>) -> Observation {
    Observation::new("field", format!("{} {name}", job.id), observed)
}

/// An id that every program can use as a name of files.
fn is_good_id(id: &str) -> bool {
    !(id.is_empty() || id == "." || id == ".." || id.contains(['/', '\\', '\0']))
}

fn malformed(home: &HomeEvidence, job: &Job, again: bool) -> Option<Finding> {
    let why = if job.id.is_empty() {
        "it has no id".to_owned()
    } else if again {
        "another job has the same id".to_owned()
    } else if !is_good_id(&job.id) {
        "its id cannot be the name of a file".to_owned()
    } else {
        let fields: Vec<_> = job
            .ill_typed
            .iter()
            .map(|(name, kind)| format!("{name} is {kind}"))
            .collect();
        if fields.is_empty() {
            return None;
        }
        fields.join(", ")
    };
    let mut finding = about("HM508", job, format!("{} is damaged: {why}", quoted(job)));
    for (name, kind) in &job.ill_typed {
        finding = finding.seen(field(job, name, *kind));
    }
    if finding.evidence.is_empty() {
        finding = finding.seen(field(job, "id", job.id.clone()));
    }
    let finding = edit(home, finding);
    // By its id the sound one would be removed along with it.
    let named = !(job.id.is_empty() || again);
    Some(if named {
        remove(home, job, finding)
    } else {
        finding
    })
}

fn remove(home: &HomeEvidence, job: &Job, finding: Finding) -> Finding {
    let remove = homes::on(home, ["cron", "remove"], (&job.id, &["--yes"]));
    let effect = "removes it, to be made anew";
    finding.remedy(Remedy::user(remove, effect).verify(homes::verify(home)))
}

/// What no command can name must be mended by hand.
fn edit(home: &HomeEvidence, finding: Finding) -> Finding {
    let path = home.path("cron/jobs.json");
    let remedy = Remedy::user(["vi", &path], "opens the store, with the scheduler stopped");
    finding.remedy(remedy.verify(homes::verify(home)))
}

/// Entries that are no records at all.
fn dropped(home: &HomeEvidence, store: &JobStore) -> Option<Finding> {
    if store.dropped == 0 {
        return None;
    }
    let many = human::count(store.dropped, "entry", "entries");
    let path = home.path("cron/jobs.json");
    let finding = Finding::new(
        "HM508",
        homes::file(home, "cron/jobs.json"),
        if store.dropped == 1 {
            format!("{many} of the list of jobs is no job")
        } else {
            format!("{many} of the list of jobs are no jobs")
        },
    );
    let finding = finding.seen(Observation::new("field", format!("{path} jobs"), many));
    Some(edit(home, finding))
}

/// A job that runs for ever and was written back as finished.
fn ended_itself(home: &HomeEvidence, job: &Job) -> Option<Finding> {
    let ended = job.is_recurring() && job.times.is_none() && job.state == "completed";
    if !ended || job.enabled {
        return None;
    }
    let finding = about(
        "HM506",
        job,
        format!(
            "{} recurs without a limit, and yet ended itself",
            quoted(job)
        ),
    );
    let finding = finding
        .seen(field(job, "state", job.state.clone()))
        .seen(field(job, "enabled", "false"))
        .seen(field(job, "repeat.times", "null"));
    let text = schedule_text(job)?;
    let again = homes::on(home, ["cron", "edit"], (&job.id, &["--schedule", &text]));
    let effect = "gives it its schedule anew, which switches it on again";
    Some(finding.remedy(Remedy::user(again, effect).verify(homes::verify(home))))
}

/// The schedule as a person would type it.
fn schedule_text(job: &Job) -> Option<String> {
    let stored = &job.schedule;
    let every = || Some(format!("every {}m", stored.minutes?));
    stored.expr.clone().or_else(every)
}

fn unusable<'a>(
    evidence: &Evidence,
    home: &HomeEvidence,
    job: &'a Job,
    schedules: &mut Schedules<'a>,
) -> Option<Finding> {
    let why = match schedules.of(job) {
        Err(why) => why.to_owned(),
        Ok(Schedule::Interval { minutes: 0 }) => {
            "an interval of nothing is due at every tick".to_owned()
        }
        Ok(Schedule::Once { .. }) => return state_error(home, job),
        Ok(schedule) if next::next_fire(schedule, evidence.now, &TimeZone::UTC).is_none() => {
            "no day ever matches it".to_owned()
        }
        Ok(_) => return state_error(home, job),
    };
    let stored = &job.schedule;
    let shown = stored.expr.clone().or_else(|| stored.run_at.clone());
    let shown = shown.or_else(|| {
        stored
            .minutes
            .map(|minutes| human::duration(minutes.saturating_mul(60)))
    });
    let finding = about(
        "HM507",
        job,
        format!("{} has a schedule that cannot be used: {why}", quoted(job)),
    )
    .seen(field(job, "schedule.kind", stored.kind.clone()))
    .seen(field(
        job,
        "schedule",
        shown.unwrap_or_else(|| "nothing".to_owned()),
    ));
    Some(mend(home, job, finding))
}

/// A scheduler gave up on computing its next run.
fn state_error(home: &HomeEvidence, job: &Job) -> Option<Finding> {
    if job.state != "error" || !job.is_recurring() {
        return None;
    }
    let finding = about(
        "HM507",
        job,
        format!(
            "{} is in state error: no next run could be computed for it",
            quoted(job)
        ),
    );
    let error = job.last.error.clone().unwrap_or_default();
    let finding = finding
        .seen(field(job, "state", "error"))
        .seen(field(job, "last_error", error));
    Some(mend(home, job, finding))
}

fn mend(home: &HomeEvidence, job: &Job, finding: Finding) -> Finding {
    // What was to run once is not to run for ever.
    let text = match job.schedule.kind.as_str() {
        "once" => "in 1h",
        _ => "every 1h",
    };
    let edit = homes::on(home, ["cron", "edit"], (&job.id, &["--schedule", text]));
    let effect = "gives it a schedule that can be used; choose your own";
    finding.remedy(Remedy::user(edit, effect).verify(homes::verify(home)))
}
