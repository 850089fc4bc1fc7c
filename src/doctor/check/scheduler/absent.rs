//! Nothing ticks a home: what is told of it, and what is known of the one that did.

use jiff::Timestamp;

use super::serving::{self, Beating};
use super::ways::{start, unit};
use super::{count, last_tick, unowned};
use crate::cron::view_firing::stopping_words;
use crate::doctor::check::{Outcome, homes, mend};
use crate::doctor::evidence::{Evidence, HomeEvidence, Read};
use crate::doctor::finding::{Finding, Observation, Remedy, Severity};
use crate::host::facts::{Role, Stopping};
use crate::host::scheduler_owner;
use crate::output::human;

/// Why a unit does not run, nearest first.
const UNIT: [&str; 9] = [
    "HM313", "HM310", "HM311", "HM312", "HM314", "HM318", "HM202", "HM225", "HM315",
];

/// A serve that was told to stop starts nothing more, however long it waits for jobs.
pub(super) fn ending(
    evidence: &Evidence,
    home: &HomeEvidence,
    ((pid, stopping), jobs): ((u32, Stopping), &str),
) -> Finding {
    let summary = format!(
        "nothing ticks this home ({jobs}): {} (pid {pid})",
        stopping_words(stopping.jobs)
    );
    let since = crate::db::instant(stopping.since)
        .map(|since| format!("told to stop {}", human::relative(since, evidence.now)));
    let record = home.path("run/serve.json");
    let finding = Finding::new("HM402", homes::subject(home), summary)
        .severity(Severity::Warning)
        .seen(Observation::new("read", record, since.unwrap_or_default()))
        .seen(last_tick(evidence, home));
    if let Some(unit) = unit(evidence, home) {
        let mut remedy = mend::start_unit(&evidence.facts, unit);
        "starts the service again, once it has ended".clone_into(&mut remedy.effect);
        return finding.remedy(remedy.verify(homes::verify(home)));
    }
    let next = Remedy::user(
        homes::ours(home, ["serve", "--passive"]),
        "waits for its end, and ticks from then on for as long as this terminal lives",
    );
    finding.remedy(next.in_this_terminal().verify(homes::verify(home)))
}

/// Nothing that ticks can be seen.
pub(super) fn nobody(
    evidence: &Evidence,
    home: &HomeEvidence,
    (state, waiting): (Beating, Option<usize>),
    outcome: &mut Outcome,
) {
    let jobs = count(waiting);
    let neighbour = evidence
        .homes
        .iter()
        .find(|other| other.home != home.home && serving::is_ticked(evidence, other));
    if let (Some(neighbour), false) = (neighbour, home.home.profile() == "default") {
        outcome.find(unowned(evidence, (home, neighbour), &jobs));
        return;
    }
    let plain_serve = serving::servers(evidence, home)
        .into_iter()
        .find(|process| process.role == Role::Serve);
    let killed = killed(evidence, home);
    let why = match (plain_serve, state) {
        (Some(serve), _) => format!("; {} runs no ticker", serving::name(serve)),
        (None, Beating::Stale(age)) => format!(", for {} now", human::duration(age)),
        (None, Beating::Orphaned) if let Some(pid) = killed => {
            format!(
                "; the serve that did, pid {pid}, is gone, and ended without a word: it was killed"
            )
        }
        (None, Beating::Orphaned) => format!("; {} is gone", last_by(home)),
        (None, _) => ", and nothing ever has".to_owned(),
    };
    let why = why + &elsewhere(evidence);
    let mut finding = Finding::new(
        "HM402",
        homes::subject(home),
        format!("nothing ticks this home ({jobs}){why}"),
    )
    .seen(last_tick(evidence, home));
    for cause in UNIT {
        finding = finding.because_of(cause);
    }
    if state == Beating::Orphaned && killed.is_none() && ticked_well(evidence, home) {
        finding = between_ticks(home, finding, &jobs);
    }
    if let (_, Some(doubt)) = serving::runs(evidence, home) {
        finding = finding.seen(Observation::new("list", "/proc", doubt));
    }
    outcome.find(start(evidence, home, finding));
}

/// B43: what would tick jobs may tick those of another home.
fn elsewhere(evidence: &Evidence) -> String {
    let homes: Vec<_> = evidence.homes.iter().map(|home| &home.home).collect();
    let Some((process, path)) = scheduler_owner::elsewhere(&evidence.facts, &homes) else {
        return String::new();
    };
    let jobs = match &evidence.elsewhere {
        Read::Got(count) => human::count(*count, "job", "jobs"),
        Read::Absent => "no jobs".to_owned(),
        Read::Unreadable(_) => "jobs that cannot be read".to_owned(),
    };
    let name = serving::name(process);
    format!("; {name} ticks another home, {} ({jobs})", path.display())
}

/// Nobody runs, but somebody ticked just now, as before a restart: worth knowing, and no fault yet. Passes by
/// hand, or by a timer, leave no heartbeat.
fn between_ticks(home: &HomeEvidence, mut finding: Finding, jobs: &str) -> Finding {
    finding.summary = format!(
        "this home was ticked a moment ago ({jobs}), and nothing that ticks it runs now: {} is gone",
        last_by(home)
    );
    finding.severity(Severity::Info)
}

/// Who ticked last, as far as the heartbeat tells.
fn last_by(home: &HomeEvidence) -> String {
    let pid = home.ticker.heartbeat.got().and_then(|beat| beat.pid);
    let pid = pid.map_or_else(String::new, |pid| format!(", pid {pid},"));
    format!("the one that did{pid}")
}

/// The serve that ticked last and has ended without taking its record back, as who is killed does.
fn killed(evidence: &Evidence, home: &HomeEvidence) -> Option<u32> {
    let record = serving::records(evidence, home)?.serve.known()?.as_ref()?;
    let last = home.ticker.heartbeat.got()?.pid;
    let is_it = record.liveness.is_over() && last == Some(record.pid);
    is_it.then_some(record.pid)
}

/// Whether a tick ended well a moment ago.
fn ticked_well(evidence: &Evidence, home: &HomeEvidence) -> bool {
    let age = |at: &Timestamp| evidence.now.duration_since(*at).as_secs();
    let success = home.ticker.success.got().map(age);
    success.is_some_and(|age| (-serving::SKEW..=serving::FRESH).contains(&age))
}
