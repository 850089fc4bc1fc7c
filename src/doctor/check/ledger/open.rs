//! Rows that have not ended: is their owner dead, another process by now, unverified, hung, or at
//! work.

use super::{about, claimed, quoted};
use crate::doctor::check::homes::{self, Few, each};
use crate::doctor::check::{Check, Group, Outcome, mend};
use crate::doctor::evidence::stores::{Ledger, identity};
use crate::doctor::evidence::{Evidence, HomeEvidence, Part, Read};
use crate::doctor::finding::{Finding, Remedy, Severity};
use crate::host::liveness::{Death, Doubt, Liveness};
use crate::ledger::Execution;
use crate::output::human;

/// The check of open rows.
pub(in crate::doctor::check) const CHECKS: &[Check] = &[Check {
    id: "ledger-open",
    group: Group::Ledger,
    title: "what claims to be running is running",
    codes: &["HM602", "HM603", "HM604", "HM614"],
    reads: &[
        Part::Environment,
        Part::Jobs,
        Part::Ledger,
        Part::Owners,
        Part::Workers,
    ],
    run: open,
}];

/// How long a worker may take to adopt its execution, in seconds.
const HANDOVER: i64 = 30;
/// The least time without progress after which Hermes Agent calls an owner hung, in seconds.
const SILENT: i64 = 7_200;
/// From this age on an unverified owner is worth a warning, in seconds.
const LONG: i64 = 7_200;

fn open(evidence: &Evidence) -> Outcome {
    let mut running = 0;
    let mut outcome = each(evidence, |home, outcome| {
        leftovers(home, outcome);
        let Some(ledger) = homes::ledger(home, outcome) else {
            return;
        };
        let mut found = Few::default();
        for row in &ledger.open {
            found.extend(judge(evidence, home, ledger, row));
        }
        found.tell(outcome, home);
    });
    for home in &evidence.homes {
        running += home
            .databases
            .ledger
            .got()
            .map_or(0, |ledger| ledger.open.len());
    }
    if outcome.findings.is_empty() && outcome.not_applicable.is_none() {
        outcome.note = Some(human::count(running, "run under way", "runs under way"));
    }
    outcome
}

/// Whether the owner lives: the process in the row, or the worker that only we recorded.
fn owner(home: &HomeEvidence, ledger: &Ledger, row: &Execution) -> (Option<u32>, Option<Liveness>) {
    let facts = ledger.facts.get(&row.id);
    let worker = facts.and_then(|facts| identity(facts.worker_pid, facts.worker_start));
    let recorded = worker.or_else(|| identity(row.pid, row.process_started_at));
    let Some(recorded) = recorded else {
        return (None, None);
    };
    (Some(recorded.pid), home.owners.liveness(&recorded))
}

/// How long ago the row last showed life.
fn silence(evidence: &Evidence, row: &Execution) -> Option<i64> {
    let progress = row.progress_at.as_ref().and_then(|stamp| stamp.at);
    let started = row.started_at.as_ref().and_then(|stamp| stamp.at);
    let last = progress.or(started).or(claimed(row))?;
    Some(evidence.now.duration_since(last).as_secs())
}

/// After how long without progress an owner hangs; `None`: never, where no run is limited.
fn patience(evidence: &Evidence) -> Option<i64> {
    let environ = evidence.facts.dispatcher.environ.known();
    let set = environ.and_then(|environ| environ.get("HERMES_CRON_TIMEOUT"));
    match set.and_then(|text| text.trim().parse::<i64>().ok()) {
        Some(0) => None,
        Some(timeout) => Some(timeout.saturating_mul(3).max(SILENT)),
        None => Some(SILENT),
    }
}

fn judge(
    evidence: &Evidence,
    home: &HomeEvidence,
    ledger: &Ledger,
    row: &Execution,
) -> Option<Finding> {
    let silence = silence(evidence, row).unwrap_or(i64::MAX);
    let offered = row.handoff_started_at;
    let young = offered.is_some_and(|at| evidence.now.duration_since(at).as_secs() < HANDOVER);
    if row.handoff_pending && (young || worker_lives(home, row)) {
        return None;
    }
    let (pid, life) = owner(home, ledger, row);
    let who = pid.map_or_else(|| "no process".to_owned(), |pid| format!("pid {pid}"));
    let name = quoted(home, &row.job_id);
    let since = human::duration(silence);
    let finding = match life {
        Some(Liveness::Alive) => {
            let limit = patience(evidence)?;
            if silence <= limit {
                return None;
            }
            let summary = format!("{name} shows no progress for {since}, though {who} lives");
            stop(home, about("HM604", &row.job_id, summary), pid)
        }
        Some(ref life @ (Liveness::Dead(_) | Liveness::Reused)) => {
            let how = match life {
                Liveness::Dead(Death::Rebooted) => "ended with the last boot".to_owned(),
                Liveness::Reused => format!("ended; {who} is another process now"),
                _ => format!("({who}) has ended"),
            };
            let word = row.status.word();
            let summary = format!("{name} is still '{word}', but its owner {how}");
            abandoned(home, about("HM602", &row.job_id, summary))
        }
        Some(Liveness::Unverified(doubt)) => {
            let why = doubt_words(&doubt);
            let summary = format!(
                "{name} is '{}', its owner unverified: {why}",
                row.status.word()
            );
            unverified(about("HM603", &row.job_id, summary), silence)
        }
        None => {
            let summary = format!("{name} is '{}', and names no owner", row.status.word());
            unverified(about("HM603", &row.job_id, summary), silence)
        }
    };
    let seen = format!(
        "{}, owner {who}, start {}, last sign of life {since} ago",
        row.status.word(),
        row.process_started_at
            .map_or_else(|| "unknown".to_owned(), |start| start.to_string()),
    );
    Some(finding.seen(super::row(home, row, seen)))
}

/// The worker of a hand-over that nobody adopted yet has shown itself and lives.
fn worker_lives(home: &HomeEvidence, row: &Execution) -> bool {
    let mut workers = match &home.workers {
        Read::Got(workers) => workers.iter(),
        Read::Absent => return false,
        // Whether it has shown itself is not known: nothing is taken from it.
        Read::Unreadable(_) => return true,
    };
    let worker = workers.find(|worker| worker.execution == row.id);
    let pid = worker.and_then(|worker| worker.pid).map(i64::from);
    let life = identity(pid, None).and_then(|identity| home.owners.liveness(&identity));
    life.is_some_and(|life| !life.is_over())
}

fn doubt_words(doubt: &Doubt) -> String {
    match doubt {
        Doubt::OtherNamespace => "it ran in another container".to_owned(),
        Doubt::OtherInit => "it ran in an earlier life of this container, or beside it".to_owned(),
        Doubt::StartUnknown => "the pid lives, and its start is not known".to_owned(),
        Doubt::ClockMoved => "the pid lives, and the clock was set since".to_owned(),
        Doubt::Unasked(why) => why.clone(),
    }
}

fn unverified(finding: Finding, silence: i64) -> Finding {
    let severity = if silence > LONG {
        Severity::Warning
    } else {
        Severity::Info
    };
    finding.severity(severity)
}

fn abandoned(home: &HomeEvidence, finding: Finding) -> Finding {
    let finding = finding
        .because_of("HM402")
        .because_of("HM403")
        .because_of("HM411");
    finding.remedy(
        Remedy::user(
            homes::ours(home, ["cron", "tick"]),
            "closes the rows of dead owners, and runs what is due",
        )
        .verify(homes::verify(home)),
    )
}

fn stop(home: &HomeEvidence, finding: Finding, pid: Option<u32>) -> Finding {
    let Some(pid) = pid else {
        return finding;
    };
    finding.remedy(
        Remedy::user(["kill", &pid.to_string()], "ends the run that hangs")
            .until_reboot()
            .disruptive()
            .verify(homes::verify(home)),
    )
}

/// Files of workers whose execution is not under way.
fn leftovers(home: &HomeEvidence, outcome: &mut Outcome) {
    let ledger = &home.databases.ledger;
    if ledger.trouble().is_some() {
        // Which of them are under way cannot be told.
        return;
    }
    let open = |id: &str| {
        let ledger = ledger.got();
        ledger.is_some_and(|ledger| ledger.open.iter().any(|row| row.id == id))
    };
    // B94: of whom it is not known whether he lives, nothing is taken.
    let may_live = |pid: Option<u32>| {
        let life = identity(pid.map(i64::from), None);
        life.is_some_and(|identity| {
            let life = home.owners.liveness(&identity);
            !life.is_some_and(|life| life.is_over())
        })
    };
    let workers = ("cron/external-workers", &home.workers);
    let left: Vec<_> = homes::content(home, workers, outcome)
        .into_iter()
        .flatten()
        .filter(|worker| !open(&worker.execution) && !may_live(worker.pid))
        .collect();
    if left.is_empty() {
        return;
    }
    let directory = home.path("cron/external-workers");
    let many = human::count(left.len(), "worker", "workers");
    let payload = left.iter().filter(|worker| worker.payload).count();
    let mut finding = Finding::new(
        "HM614",
        homes::file(home, "cron/external-workers"),
        format!("files of {many} are left over, {payload} of them never picked up"),
    );
    for worker in left.iter().take(homes::EACH) {
        let said = worker.last_words.as_deref().unwrap_or("nothing");
        let said = crate::doctor::check::redact::redacted(said);
        let words = format!("{}, last words: {said}", worker.execution);
        finding = finding.seen(crate::doctor::finding::Observation::new(
            "list", &directory, words,
        ));
    }
    // Files of workers under way lie in the same directory.
    let files: Vec<String> = left
        .iter()
        .take(homes::EACH)
        .flat_map(|worker| {
            let file = |ending| format!("{directory}/{}.{ending}", worker.execution);
            ["json", "ready", "stderr"].map(file)
        })
        .collect();
    let effect = if left.len() > homes::EACH {
        "removes those of the first of them; a payload holds the text of a job"
    } else {
        "removes them; a payload holds the text of a job"
    };
    let shown: Vec<_> = files.iter().map(|file| mend::inner(file)).collect();
    let none = format!(
        "for file in {}; do test ! -e \"$file\" || exit 1; done",
        shown.join(" ")
    );
    let remove = ["rm", "-f"].map(str::to_owned).into_iter().chain(files);
    outcome.find(finding.remedy(Remedy::user(remove, effect).verify(mend::shell(none))));
}
