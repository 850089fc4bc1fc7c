//! What stops a home on purpose, and homes in which there is nothing to run.

use super::serving;
use crate::doctor::check::homes::{self, each};
use crate::doctor::check::{Check, Group, Outcome, mend};
use crate::doctor::evidence::jobs::{Job, JobStore};
use crate::doctor::evidence::{Evidence, HomeEvidence, Part, Read};
use crate::doctor::finding::{Finding, Observation, Remedy, Subject};
use crate::host::Facts;
use crate::output::human;

/// The checks of emptiness and of the emergency stop.
pub(in crate::doctor::check) const CHECKS: &[Check] = &[
    Check {
        id: "scheduler-anything",
        group: Group::Scheduler,
        title: "there is something to run",
        codes: &["HM401", "HM416"],
        reads: &[Part::Dispatcher, Part::Processes, Part::Jobs, Part::State],
        run: anything,
    },
    Check {
        id: "scheduler-stop",
        group: Group::Scheduler,
        title: "no emergency stop is in force",
        codes: &["HM415"],
        reads: &[Part::Stop],
        run: stop,
    },
];

fn holds_work(home: &HomeEvidence) -> bool {
    let jobs = match &home.jobs {
        Read::Got(store) => !(store.jobs.is_empty() && store.dropped == 0),
        Read::Absent => false,
        Read::Unreadable(_) => true,
    };
    // Of what is no directory it cannot be said that nothing is scheduled in it.
    jobs || has_timers(home) || homes::no_directory(home).is_some()
}

fn has_timers(home: &HomeEvidence) -> bool {
    match &home.databases.state {
        Read::Got(state) => !(state.loops.is_empty() && state.heartbeats.is_empty()),
        Read::Absent => false,
        Read::Unreadable(_) => true,
    }
}

/// So many paused jobs are named.
const NAMED: usize = 5;

/// So many are armed again by one line.
const IN_A_LINE: usize = 20;

/// Jobs that are paused: all that there are, or some of them.
fn paused(evidence: &Evidence, home: &HomeEvidence, store: &JobStore) -> Option<Finding> {
    let paused: Vec<_> = store.jobs.iter().filter(|job| job.is_paused()).collect();
    paused.first()?;
    let names = paused.iter().take(NAMED);
    let names: Vec<_> = names.map(|job| homes::short(job.label())).collect();
    let more = match paused.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (all, names) = (store.jobs.len(), names.join(", "));
    let are = human::count(paused.len(), "job is", "jobs are");
    let (code, summary) = if paused.len() == all && !has_timers(home) {
        let summary = format!("nothing is scheduled here: {are} paused: {names}{more}");
        ("HM401", summary)
    } else {
        let are = if paused.len() == 1 { "is" } else { "are" };
        let summary = format!("{} of {all} jobs {are} paused: {names}{more}", paused.len());
        ("HM416", summary)
    };
    Some(
        Finding::new(code, homes::subject(home), summary)
            .seen(Observation::new(
                "read",
                home.path("cron/jobs.json"),
                format!("{are} paused, of {all}"),
            ))
            .remedy(resume(&evidence.facts, home, &paused)),
    )
}

/// Arms these jobs again.
fn resume(facts: &Facts, home: &HomeEvidence, paused: &[&Job]) -> Remedy {
    let remedy = if let [only] = paused {
        let resume = homes::on(home, ["cron", "resume"], (&only.id, &[]));
        Remedy::user(resume, "arms it again")
    } else if paused.len() > IN_A_LINE {
        let effect = "lists them; 'hermes cron resume' arms each that is to run again";
        return Remedy::user(homes::ours(home, ["cron", "list"]), effect);
    } else {
        let ids: Vec<_> = paused.iter().map(|job| mend::inner(&job.id)).collect();
        let line = format!(
            "for job in {}; do {} cron resume --home {} -- \"$job\" || exit 1; done",
            ids.join(" "),
            mend::own_name(facts),
            mend::inner(&home.label())
        );
        let effect = "arms them all again; leave out those that are to stay paused";
        Remedy::user(mend::shell(line), effect)
    };
    remedy.verify(homes::verify(home))
}

fn anything(evidence: &Evidence) -> Outcome {
    if evidence.homes.is_empty() {
        return Outcome::not_applicable("no home was looked at");
    }
    let served = evidence
        .homes
        .iter()
        .any(|home| !serving::servers(evidence, home).is_empty());
    if evidence.homes.iter().any(holds_work) {
        return each(evidence, |home, outcome| {
            let store = homes::jobs(home, outcome);
            let paused = store.and_then(|store| paused(evidence, home, store));
            outcome.findings.extend(paused);
        });
    }
    if served {
        return Outcome::passed("no jobs yet; what serves the home will pick them up");
    }
    let chosen = &evidence.facts.home;
    let path = chosen.path.display().to_string();
    let there = evidence.homes.iter().any(HomeEvidence::exists);
    let mut summary = "nothing is scheduled here: ".to_owned();
    summary.push_str(if there {
        "the home has no jobs, no timers and nothing that serves it"
    } else {
        "there is no home"
    });
    let mut outcome = Outcome::default();
    outcome.find(
        Finding::new("HM401", Subject::new("home", path.clone()), summary)
            .seen(Observation::new("choice", &path, &chosen.because))
            .remedy(first_job(&evidence.facts, &path)),
    );
    outcome
}

/// A job that needs nothing: a prompt would want an agent, which a new home has not.
fn first_job(facts: &Facts, home: &str) -> Remedy {
    let (scripts, at) = (mend::inner(&format!("{home}/scripts")), mend::inner(home));
    let hermes = mend::own_name(facts);
    let line = format!(
        "mkdir -p {scripts} && echo \"echo hello\" >{scripts}/hello.sh && \
         {hermes} cron create \"every 30m\" --no-agent --script hello.sh --name hello --home {at}"
    );
    Remedy::user(
        mend::shell(line),
        "makes a first job, a script that says hello; 'hermes serve' then runs it",
    )
    .verify(["hermes", "cron", "show", "hello", "--home", home])
}

fn stop(evidence: &Evidence) -> Outcome {
    each(evidence, |home, outcome| match &home.stop {
        Read::Got(stop) => {
            let since = stop.since.map_or_else(String::new, |since| {
                format!(" since {}", human::relative(since, evidence.now))
            });
            let until = stop.until.map_or_else(String::new, |until| {
                format!(", it ends {}", human::relative(until, evidence.now))
            });
            let why = stop
                .reason
                .as_ref()
                .map_or_else(String::new, |reason| format!(": {reason}"));
            let path = stop.path.display().to_string();
            outcome.find(
                Finding::new(
                    "HM415",
                    homes::subject(home),
                    format!("an emergency stop is in force{since}{until}{why}"),
                )
                .seen(Observation::new("stat", &path, "it is there"))
                .remedy(
                    Remedy::user(homes::ours(home, ["resume"]), "lifts the stop")
                        .undo(homes::ours(home, ["pause"]))
                        .verify(["test", "!", "-e", &path]),
                ),
            );
        }
        Read::Unreadable(trouble) => {
            outcome
                .could_not_and_it_matters("whether an emergency stop is in force", &trouble.gap());
        }
        Read::Absent => {}
    })
}
