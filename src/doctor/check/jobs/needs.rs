//! What jobs need of the host and of their dispatcher: scripts, directories, programs, abilities.

use super::{about, quoted};
use crate::cron::needs::{Unmet, reason};
use crate::doctor::check::homes::{self, Few, each};
use crate::doctor::check::{Check, Group, Outcome};
use crate::doctor::evidence::home::{PlaceSeen, ScriptSeen};
use crate::doctor::evidence::jobs::Job;
use crate::doctor::evidence::{Evidence, HomeEvidence, Part};
use crate::doctor::finding::{Finding, Observation, Remedy};
use crate::host::facts::{Program, Viewpoint};
use crate::host::{Gap, GapKind};
use crate::output::human;

/// The check of needs.
pub(in crate::doctor::check) const CHECKS: &[Check] = &[Check {
    id: "jobs-needs",
    group: Group::Jobs,
    title: "what armed jobs need is there",
    codes: &["HM509", "HM510", "HM517", "HM519"],
    reads: &[Part::Dispatcher, Part::Environment, Part::Jobs, Part::Needs],
    run: needs,
}];

fn needs(evidence: &Evidence) -> Outcome {
    each(evidence, |home, outcome| {
        let Some(store) = homes::jobs(home, outcome) else {
            return;
        };
        let left = home.needs.not_looked;
        if left > 0 {
            let why = "they do not answer or may not be looked at, or there are too many of them";
            let paths = human::count(
                left,
                "script, directory or program",
                "scripts, directories or programs",
            );
            let gap = Gap {
                kind: GapKind::Deadline,
                why: why.to_owned(),
                would_tell: Vec::new(),
            };
            outcome.could_not(paths, &gap);
        }
        let environ = evidence.facts.dispatcher.environ.gap();
        let scripts = store.armed().any(|job| job.needs.script.is_some());
        if let (Some(gap), true) = (environ, scripts) {
            outcome.could_not("whether the service's PATH has the programs of jobs", gap);
        }
        let mut found = Few::default();
        for job in store.armed() {
            found.extend(script(home, job));
            found.extend(workdir(home, job));
            found.extend(program(evidence, home, job));
            found.extend(ability(evidence, home, job));
        }
        found.tell(outcome, home);
    })
}

/// What is wrong with the script of this job.
pub(super) fn script(home: &HomeEvidence, job: &Job) -> Option<Finding> {
    let needs = &job.needs;
    if needs.no_agent && needs.script.is_none() {
        let finding = about(
            "HM509",
            job,
            format!("{} is a script alone, and names no script", quoted(job)),
        );
        let seen = Observation::new("field", format!("{} script", job.id), "null");
        let effect = "keeps it from failing; 'hermes cron edit' with --script names its script";
        return Some(finding.seen(seen).remedy(pause(home, job, effect)));
    }
    let named = [&needs.script, &needs.monitor_script].into_iter().flatten();
    named
        .filter_map(|name| Some((name, home.needs.scripts.get(name)?)))
        .find_map(|(name, seen)| bad_script(home, job, (name, seen)))
}

fn bad_script(
    home: &HomeEvidence,
    job: &Job,
    (name, seen): (&str, &ScriptSeen),
) -> Option<Finding> {
    let why = match &seen.place {
        PlaceSeen::File => return None,
        PlaceSeen::Missing => "is missing".to_owned(),
        PlaceSeen::Directory => "is a directory".to_owned(),
        PlaceSeen::Outside(real) => {
            format!("lies outside of scripts/, at {}", real.display())
        }
        PlaceSeen::Hangs => "is on a file system that does not answer".to_owned(),
        PlaceSeen::Denied => "cannot be looked at: permission denied".to_owned(),
        PlaceSeen::Failed(why) => format!("cannot be looked at: {why}"),
    };
    let path = seen.path.display().to_string();
    let finding = about(
        "HM509",
        job,
        format!("the script '{name}' of {} {why}", quoted(job)),
    )
    .seen(Observation::new("stat", &path, why));
    // Owner and mode do not make a file go away.
    let finding = match seen.place {
        PlaceSeen::Denied => finding.because_of("HM805"),
        _ => finding,
    };
    let effect = "keeps it from failing until the script is back";
    Some(
        finding.remedy(pause(home, job, effect)).remedy(
            Remedy::user(
                ["install", "-D", "-m", "755", name, &path],
                "puts the script where it is looked for; run it where the script is",
            )
            .verify(["test", "-f", &path]),
        ),
    )
}

/// Pauses a job until what it needs is there.
fn pause(home: &HomeEvidence, job: &Job, effect: &str) -> Remedy {
    Remedy::user(homes::on(home, ["cron", "pause"], (&job.id, &[])), effect)
        .undo(homes::on(home, ["cron", "resume"], (&job.id, &[])))
        .verify(homes::verify(home))
}

fn workdir(home: &HomeEvidence, job: &Job) -> Option<Finding> {
    let path = job.needs.workdir.as_ref()?;
    let why = match home.needs.workdirs.get(path)? {
        PlaceSeen::Directory | PlaceSeen::Outside(_) => return None,
        PlaceSeen::Missing => "is gone".to_owned(),
        PlaceSeen::File => "is not a directory".to_owned(),
        PlaceSeen::Hangs => "does not answer within 2s".to_owned(),
        PlaceSeen::Denied => "cannot be looked at: permission denied".to_owned(),
        PlaceSeen::Failed(why) => format!("cannot be looked at: {why}"),
    };
    let finding = about(
        "HM510",
        job,
        format!("the working directory of {} {why}", quoted(job)),
    )
    .seen(Observation::new("stat", path, why));
    let here = homes::on(home, ["cron", "edit"], (&job.id, &["--workdir", ""]));
    let effect = "keeps it from failing until the directory is back";
    Some(
        finding.remedy(pause(home, job, effect)).remedy(
            Remedy::user(here, "has it run in the home instead").verify(homes::verify(home)),
        ),
    )
}

/// Programs that a job needs, and that are not there or that its dispatcher's `PATH` has not: what runs its
/// script, and what that calls.
fn program(evidence: &Evidence, home: &HomeEvidence, job: &Job) -> Option<Finding> {
    let here = job
        .needs
        .works_in(&home.home, evidence.facts.dispatcher.program);
    let mut wanted = home.needs.programs_of(&job.needs);
    wanted.retain(|name| home.needs.lacks(name, here.as_deref()));
    let (whole, bare): (Vec<_>, Vec<_>) = wanted.iter().partition(|name| name.contains('/'));
    let (missing, which) = match (bare.len(), whole.first()) {
        (0, Some(first)) => (vec![*first], "which is not there"),
        (0, None) => return None,
        (1, _) => (bare, "which is not on the service's PATH"),
        _ => (bare, "which are not on the service's PATH"),
    };
    let first = *missing.first()?;
    let list = missing.join("', '");
    let summary = format!("{} needs '{list}', {which}", quoted(job));
    let source = &evidence.facts.dispatcher.environ_source;
    let seen = match &home.needs.search_path {
        Some(path) if path.is_empty() => {
            Observation::new("environ", source, "PATH is set, and empty")
        }
        Some(path) => Observation::new("environ", source, format!("PATH={path}")),
        None => Observation::new("stat", first, "is not there"),
    };
    let finding = about("HM517", job, summary).because_of("HM317").seen(seen);
    let effect = "says where this shell has it; add that directory to PATH in the unit";
    let find = [
        "sh",
        "-c",
        &format!("command -v {}", crate::doctor::check::mend::inner(first)),
    ];
    Some(finding.remedy(Remedy::user(find, effect).verify(homes::verify(home))))
}

/// What our dispatcher does not do. It refuses such a job with the reason and never runs half of it.
fn ability(evidence: &Evidence, home: &HomeEvidence, job: &Job) -> Option<Finding> {
    let dispatcher = &evidence.facts.dispatcher;
    if dispatcher.program != Program::Ours || dispatcher.viewpoint == Viewpoint::Shell {
        return None;
    }
    let needs = &job.needs;
    if needs.unmet.is_empty() {
        return None;
    }
    let reason = reason(&needs.unmet);
    let mut finding = about(
        "HM519",
        job,
        format!("{} would be refused: {reason}", quoted(job)),
    );
    for unmet in &needs.unmet {
        finding = finding.seen(Observation::new("field", &job.id, unmet.to_string()));
    }
    // An edit must leave a job that can run: where it needs more than that, it would be refused.
    let delivers = |unmet: &Unmet| matches!(unmet, Unmet::Delivery(_));
    if needs.unmet.iter().all(delivers) {
        let local = homes::on(home, ["cron", "edit"], (&job.id, &["--deliver", "local"]));
        let effect = "keeps its output in files";
        finding = finding.remedy(Remedy::user(local, effect).verify(homes::verify(home)));
    }
    let effect = "keeps it from being refused at each of its slots";
    Some(finding.remedy(pause(home, job, effect)))
}
