//! The job store: can it be read, is it what it should be; and was the home written where it lies.

use super::databases::{damaged, newer};
use crate::cron::jobs_text::ShapeNote;
use crate::doctor::check::homes::{self, each};
use crate::doctor::check::{Check, Group, Outcome, mend};
use crate::doctor::evidence::read::{Trouble, TroubleKind};
use crate::doctor::evidence::{Evidence, HomeEvidence, Part, Read};
use crate::doctor::finding::{Finding, Observation, Remedy, Severity};
use crate::host::Fact;
use crate::output::human;

/// The checks of content.
pub(in crate::doctor::check) const CHECKS: &[Check] = &[
    Check {
        id: "stores-jobs",
        group: Group::Stores,
        title: "the job store can be read, and is what it should be",
        codes: &["HM802", "HM803", "HM804"],
        reads: &[
            Part::Shell,
            Part::Files,
            Part::Jobs,
            Part::Backups,
            Part::Ledger,
        ],
        run: jobs,
    },
    Check {
        id: "stores-origin",
        group: Group::Stores,
        title: "the home was written where it lies",
        codes: &["HM814"],
        reads: &[Part::Records, Part::Workers],
        run: origin,
    },
];

const JOBS: &str = "cron/jobs.json";

fn jobs(evidence: &Evidence) -> Outcome {
    let mut outcome = each(evidence, |home, outcome| match &home.jobs {
        Read::Got(store) => odd(home, &store.oddities, outcome),
        Read::Absent => missing(home, outcome),
        Read::Unreadable(trouble) => troubled(evidence, home, (JOBS, trouble), outcome),
    });
    for home in &evidence.homes {
        if let Some(trouble) = homes::no_directory(home) {
            let mut finding = unreadable(home, "", &trouble);
            finding.home = Some(home.home.path().to_owned());
            outcome.find(finding);
        }
    }
    outcome
}

/// What to say of something that cannot be read, by the kind of trouble.
pub(super) fn troubled(
    evidence: &Evidence,
    home: &HomeEvidence,
    (path, trouble): (&'static str, &Trouble),
    outcome: &mut Outcome,
) {
    let ours = evidence.facts.shell.uid.known() == Some(&home.reader.uid);
    match trouble.kind {
        // Where not even its owner and mode can be seen, the directory above is what is told.
        TroubleKind::Permission if !ours || home.file(path).trouble().is_some() => {
            homes::unread(home, (path, trouble), outcome);
        }
        TroubleKind::Permission | TroubleKind::NotAFile => {
            outcome.find(unreadable(home, path, trouble));
        }
        TroubleKind::Damaged if path == JOBS => outcome.find(broken(evidence, home, trouble)),
        TroubleKind::Damaged => outcome.find(damaged(home, path, trouble)),
        TroubleKind::Newer => outcome.find(newer(home, path, &trouble.words())),
        TroubleKind::CouldNotCheck => homes::unread(home, (path, trouble), outcome),
    }
}

pub(super) fn seen(home: &HomeEvidence, path: &str, trouble: &Trouble) -> Observation {
    Observation::new("read", home.path(path), trouble.words()).with_errno(trouble.errno)
}

fn unreadable(home: &HomeEvidence, path: &'static str, trouble: &Trouble) -> Finding {
    let name = home.path(path);
    Finding::new(
        "HM802",
        homes::file(home, path),
        format!("{name} cannot be read: {}", trouble.words()),
    )
    .seen(seen(home, path, trouble))
    .because_of("HM805")
    .remedy(Remedy::user(["ls", "-la", &name], "shows what lies there").verify(homes::verify(home)))
}

/// The text of the job store is broken. Nothing writes over it, so that it can be mended.
fn broken(evidence: &Evidence, home: &HomeEvidence, trouble: &Trouble) -> Finding {
    let path = home.path(JOBS);
    let mut finding = Finding::new(
        "HM803",
        homes::file(home, JOBS),
        format!(
            "the job store is damaged, so no job runs: {}",
            trouble.words()
        ),
    )
    .seen(seen(home, JOBS, trouble))
    .because_of("HM807");
    let usable = home.backups.iter().find_map(|copy| {
        let jobs = copy.jobs.as_ref().ok().filter(|jobs| **jobs > 0)?;
        Some((copy, *jobs))
    });
    if let Some((copy, jobs)) = usable {
        let from = home.path(&format!("cron/{}", copy.name));
        let age = human::relative(copy.modified, evidence.now);
        let jobs = human::count(jobs, "job", "jobs");
        let words = format!("a usable copy: {jobs}, written {age}");
        finding = finding
            .seen(Observation::new("list", &from, words))
            .remedy(restore(&from, &path).verify(homes::verify(home)));
    } else {
        let words = "no usable copy lies beside it";
        finding = finding.seen(Observation::new("list", home.path("cron"), words));
    }
    let place = trouble
        .at
        .map_or_else(|| "1".to_owned(), |(line, _)| line.to_string());
    finding.remedy(
        Remedy::user(
            ["vi", &format!("+{place}"), &path],
            "opens it where it breaks",
        )
        .verify(["python3", "-m", "json.tool", &path]),
    )
}

/// Puts a copy in the place of the store, which is kept: it may hold jobs that the copy has not.
fn restore(copy: &str, path: &str) -> Remedy {
    let (aside, new) = (format!("{path}.damaged"), format!("{path}.new"));
    let [from, path, put_by, new] = [copy, path, &aside, &new].map(mend::inner);
    let line = format!("ln {path} {put_by} && cp -p {from} {new} && mv {new} {path}");
    let effect = "puts the newest usable copy in its place, and keeps the damaged one beside it";
    Remedy::user(mend::shell(line), effect).undo(mend::shell(format!("mv {put_by} {path}")))
}

/// No job store, although there was one.
fn missing(home: &HomeEvidence, outcome: &mut Outcome) {
    let ledger = homes::ledger(home, outcome);
    let rows = ledger.map_or(0, |ledger| ledger.rows().count());
    let copy = home
        .backups
        .iter()
        .find(|copy| copy.jobs.as_ref().is_ok_and(|jobs| *jobs > 0));
    if rows == 0 && copy.is_none() {
        return;
    }
    let finding = Finding::new(
        "HM803",
        homes::file(home, JOBS),
        format!(
            "the job store is missing, though {} of runs are kept",
            human::count(rows, "row", "rows")
        ),
    )
    .seen(Observation::new("stat", home.path(JOBS), "no such file"));
    outcome.find(match copy {
        Some(copy) => {
            let from = home.path(&format!("cron/{}", copy.name));
            finding.remedy(
                Remedy::user(
                    ["cp", "-p", &from, &home.path(JOBS)],
                    "puts a copy in its place",
                )
                .verify(homes::verify(home)),
            )
        }
        None => finding.remedy(
            Remedy::user(
                ["ls", &home.path("cron/output")],
                "shows whose outputs are kept; make the jobs anew",
            )
            .verify(homes::verify(home)),
        ),
    });
}

fn odd(home: &HomeEvidence, oddities: &[ShapeNote], outcome: &mut Outcome) {
    if oddities.is_empty() {
        return;
    }
    let harmless = |note: &ShapeNote| matches!(note, ShapeNote::Bom | ShapeNote::NotJson);
    let worst = if oddities.iter().all(harmless) {
        Severity::Info
    } else {
        Severity::Warning
    };
    let words: Vec<_> = oddities.iter().map(ShapeNote::words).collect();
    let words = words.join("; ");
    outcome.find(
        Finding::new(
            "HM804",
            homes::file(home, JOBS),
            format!("the job store can be read, but is odd: {words}"),
        )
        .severity(worst)
        .seen(Observation::new("read", home.path(JOBS), words))
        .remedy(
            Remedy::user(
                homes::ours(home, ["cron", "list"]),
                "shows that the jobs are read; the next change of a job writes it anew",
            )
            .verify(homes::verify(home)),
        ),
    );
}

/// Records that name another home: it was copied or moved.
fn origin(evidence: &Evidence) -> Outcome {
    each(evidence, |home, outcome| {
        let workers = ("cron/external-workers", &home.workers);
        let workers = homes::content(home, workers, outcome);
        let records = crate::doctor::check::scheduler::serving::records(evidence, home);
        let pid = records.map(|records| &records.gateway_pid);
        if let Some(Fact::Unknown(gap)) = pid {
            let path = home.path("gateway.pid");
            outcome.could_not(format!("which home {path} names"), gap);
        }
        let by_pid = pid.and_then(|pid| {
            let owner = pid.known()?.as_ref()?;
            Some(("gateway.pid", owner.home.clone()?))
        });
        let by_worker = workers
            .into_iter()
            .flatten()
            .find_map(|worker| Some(("cron/external-workers", worker.home.clone()?)));
        let here = home.home.path();
        let other = by_pid
            .into_iter()
            .chain(by_worker)
            .find(|(_, named)| named != here && named != home.home.root().path());
        let Some((path, named)) = other else {
            return;
        };
        let named = named.display();
        outcome.find(
            Finding::new(
                "HM814",
                homes::subject(home),
                format!("this home was written as {named}: it was copied or moved"),
            )
            .seen(Observation::new("read", home.path(path), named.to_string())),
        );
    })
}
