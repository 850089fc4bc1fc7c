//! Which processes serve a home, and which of them tick its jobs.

pub(in crate::doctor::check) use crate::cron::tick_ends::FRESH;
use crate::doctor::evidence::{Evidence, HomeEvidence, Read};
use crate::host::facts::{HomeRecords, ProcessFacts};
use crate::host::liveness::Identity;
use crate::host::scheduler_owner::{self, Scheduler, scheduler};

/// Clocks of two processes may differ by this much, in seconds.
pub(in crate::doctor::check) const SKEW: i64 = 5;

/// The processes that serve a home.
pub(in crate::doctor::check) fn servers<'a>(
    evidence: &'a Evidence,
    home: &HomeEvidence,
) -> Vec<&'a ProcessFacts> {
    scheduler_owner::servers(&evidence.facts, &home.home).collect()
}

/// Whether this process ticks jobs. Where that cannot be told it is taken for one that does.
pub(in crate::doctor::check) fn ticks(process: &ProcessFacts) -> bool {
    scheduler_owner::ticks(process) != Some(false)
}

/// Whether something runs that is to tick this home: a process that is seen, or one that its lock, its
/// unit or its record tells of; and why that cannot be told, if so.
pub(in crate::doctor::check) fn runs(
    evidence: &Evidence,
    home: &HomeEvidence,
) -> (bool, Option<String>) {
    let owner = owner(evidence, home);
    let runs = owner.as_ref().and_then(Scheduler::runs) == Some(true);
    let seen = || servers(evidence, home).into_iter().any(ticks);
    let doubt = match owner {
        Some(Scheduler::CannotTell { why }) => Some(why),
        _ => half_blind(evidence).map(str::to_owned),
    };
    (runs || seen(), doubt)
}

/// Who fires the schedules of this home, as every command has it.
pub(in crate::doctor::check) fn owner(
    evidence: &Evidence,
    home: &HomeEvidence,
) -> Option<Scheduler> {
    records(evidence, home).map(|home| scheduler(&evidence.facts, home))
}

/// What the files of this home say of who serves it.
pub(in crate::doctor::check) fn records<'a>(
    evidence: &'a Evidence,
    home: &HomeEvidence,
) -> Option<&'a HomeRecords> {
    let path = home.home.path();
    evidence.facts.homes.iter().find(|home| home.path == path)
}

/// Whether processes of this account may run that cannot be seen from here.
fn half_blind(evidence: &Evidence) -> Option<&'static str> {
    let namespaces = &evidence.facts.machine.namespaces;
    if namespaces.hidepid {
        return Some("/proc hides the processes of other users");
    }
    match namespaces.initial_pid.known() {
        Some(true) => None,
        _ => Some("processes outside of this container cannot be seen"),
    }
}

/// How the ticker of a home stands, by its heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::doctor::check) enum Beating {
    /// It has never been written.
    Never,
    /// It cannot be read, so that nothing is known of it.
    Unreadable,
    /// It is younger than [`FRESH`], and its process is not known to have ended.
    Fresh,
    /// Its process has ended, though it is young.
    Orphaned,
    /// It is this many seconds old.
    Stale(i64),
    /// It is this many seconds ahead of the clock.
    Ahead(i64),
}

/// How the ticker of a home stands.
pub(in crate::doctor::check) fn beating(evidence: &Evidence, home: &HomeEvidence) -> Beating {
    let beat = match &home.ticker.heartbeat {
        Read::Got(beat) => beat,
        Read::Absent => return Beating::Never,
        Read::Unreadable(_) => return Beating::Unreadable,
    };
    let age = evidence.now.duration_since(beat.at).as_secs();
    if age < -SKEW {
        return Beating::Ahead(-age);
    }
    if age > FRESH {
        return Beating::Stale(age);
    }
    let identity = beat.pid.map(|pid| Identity {
        pid,
        ..Identity::default()
    });
    let life = identity.and_then(|identity| home.owners.liveness(&identity));
    if life.is_some_and(|life| life.is_over()) {
        Beating::Orphaned
    } else {
        Beating::Fresh
    }
}

/// Whether something ticks this home, as far as can be seen.
pub(in crate::doctor::check) fn is_ticked(evidence: &Evidence, home: &HomeEvidence) -> bool {
    matches!(beating(evidence, home), Beating::Fresh | Beating::Ahead(_))
}

/// How many seconds ago a process was started.
pub(in crate::doctor::check) fn age(evidence: &Evidence, process: &ProcessFacts) -> Option<i64> {
    let started = crate::db::instant(*process.started_at.known()?)?;
    Some(evidence.now.duration_since(started).as_secs())
}

/// A process in words: `gateway run (pid 42)`.
pub(in crate::doctor::check) fn name(process: &ProcessFacts) -> String {
    let words = process.command.join(" ");
    if words.is_empty() {
        format!("pid {}", process.pid)
    } else {
        format!("{words} (pid {})", process.pid)
    }
}
