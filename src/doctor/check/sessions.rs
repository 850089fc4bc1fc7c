//! Sessions: who holds the slots, and what dead processes left behind.

use super::homes::{self, Few, each};
use super::loops::driver::liveness;
use super::scheduler::serving;
use super::{Check, Group, Outcome};
use crate::config::Setting;
use crate::doctor::evidence::home::Helper;
use crate::doctor::evidence::stores::{State, identity};
use crate::doctor::evidence::{Evidence, HomeEvidence, Part};
use crate::doctor::finding::{Finding, Observation, Remedy, Severity, Subject};
use crate::host::facts::Program;
use crate::host::liveness::{Identity, Liveness};
use crate::output::human;
use crate::sessions::rows::{BackendHeartbeat, LiveLease, Maker, StoredSession};

/// The checks of sessions.
pub(super) const CHECKS: &[Check] = &[Check {
    id: "sessions",
    group: Group::Sessions,
    title: "sessions are held by processes that live, and there is room for more",
    codes: &["HM710", "HM711", "HM712", "HM713", "HM714"],
    reads: &[
        Part::Dispatcher,
        Part::Environment,
        Part::Processes,
        Part::Config,
        Part::Owners,
        Part::State,
        Part::Registry,
        Part::Helpers,
    ],
    run: sessions,
}];

/// Backends say every minute that they live; ten silent minutes are an end, in seconds.
const SILENT: i64 = 600;
/// How long a detached session may idle, in seconds, unless the environment says otherwise.
const IDLE: i64 = 21_600;

fn sessions(evidence: &Evidence) -> Outcome {
    each(evidence, |home, outcome| {
        let mut found = Few::default();
        leases(evidence, home, &mut found);
        found.extend(cap(evidence, home));
        found.extend(helpers(evidence, home, outcome));
        let registry = ("runtime/active_sessions.json", &home.databases.registry);
        homes::content(home, registry, outcome);
        if let Some(state) = homes::state(home, outcome) {
            found.extend(backends(evidence, home, state));
            found.extend(orphans(evidence, home, state));
        }
        found.tell(outcome, home);
    })
}

fn registry(home: &HomeEvidence) -> String {
    home.path("runtime/active_sessions.json")
}

/// Leases that nobody will give back: their process has ended, or their session has.
fn leases(evidence: &Evidence, home: &HomeEvidence, found: &mut Few) {
    let Some(registry) = home.databases.registry.got() else {
        return;
    };
    let state = home.databases.state.got();
    for lease in &registry.leases {
        let session = state.and_then(|state| state.session(&lease.session_id));
        let life = liveness(home, lease);
        let over = life.as_ref().is_some_and(Liveness::is_over);
        let ended = session.and_then(|session| session.ended_at);
        let (severity, why) = match (over, ended) {
            (true, _) => (Severity::Info, "its process has ended".to_owned()),
            (false, Some(at)) => {
                let ago = human::relative(at, evidence.now);
                (
                    Severity::Warning,
                    format!("its process lives, but the session ended {ago}"),
                )
            }
            (false, None) => continue,
        };
        let session = &lease.session_id;
        found.extend(Some(
            Finding::new(
                "HM711",
                Subject::new("session", session),
                format!("the lease on session {session} is left over: {why}"),
            )
            .severity(severity)
            .seen(holder(evidence, home, lease))
            .remedy(
                Remedy::user(
                    homes::on(home, ["session", "close"], (session, &[])),
                    "gives the lease back; a session of serve's is ended with it, and its loop is driven by nobody then",
                )
                .verify(homes::verify(home)),
            ),
        ));
    }
}

fn holder(evidence: &Evidence, home: &HomeEvidence, lease: &LiveLease) -> Observation {
    let pid = lease
        .pid
        .map_or_else(|| "no pid".to_owned(), |pid| format!("pid {pid}"));
    let age = |at: Option<jiff::Timestamp>| {
        at.map_or_else(|| "?".to_owned(), |at| human::relative(at, evidence.now))
    };
    let surface = lease.surface.as_deref().unwrap_or("unknown surface");
    let words = format!(
        "{surface}, {pid}, taken {}, last activity {}",
        age(lease.started_at),
        age(lease.updated_at)
    );
    Observation::new(
        "read",
        format!("{} {}", registry(home), lease.session_id),
        words,
    )
}

/// How many sessions may be live. Hermes Agent knows its own default only where it is written down.
fn slots(evidence: &Evidence, home: &HomeEvidence) -> Option<usize> {
    let settings = home.settings().sessions;
    let ours = evidence.facts.dispatcher.program == Program::Ours;
    let written = home
        .config
        .get("max_live_sessions")
        .is_some_and(Setting::is_set);
    let live = settings.max_live.filter(|_| ours || written);
    let caps = [live, settings.max_concurrent].into_iter().flatten();
    usize::try_from(caps.min()?).ok()
}

/// All slots are taken: by whom.
fn cap(evidence: &Evidence, home: &HomeEvidence) -> Option<Finding> {
    let cap = slots(evidence, home)?;
    let registry = home.databases.registry.got()?;
    let live: Vec<_> = registry
        .leases
        .iter()
        .filter(|lease| !liveness(home, lease).is_some_and(|life| life.is_over()))
        .collect();
    if live.len() < cap {
        return None;
    }
    let state = home.databases.state.got();
    let drafts = live
        .iter()
        .filter(|lease| {
            let session = state.and_then(|state| state.session(&lease.session_id));
            session.is_none_or(|session| session.message_count == 0)
        })
        .count();
    let mut finding = Finding::new(
        "HM712",
        homes::subject(home),
        format!("all {cap} session slots are taken, {drafts} of them by drafts without a message"),
    );
    for lease in live.iter().take(homes::EACH) {
        finding = finding.seen(holder(evidence, home, lease));
    }
    Some(
        finding.remedy(
            Remedy::user(
                homes::ours(home, ["session", "reap", "--dry-run"]),
                "shows which sessions could go, and why the others stay",
            )
            .verify(homes::verify(home)),
        ),
    )
}

/// Rows of backends that do not live any more.
fn backends(evidence: &Evidence, home: &HomeEvidence, state: &State) -> Option<Finding> {
    let silence = |backend: &BackendHeartbeat| {
        let last = backend.last_heartbeat?;
        Some(evidence.now.duration_since(last).as_secs())
    };
    let is_left = |backend: &&BackendHeartbeat| {
        let here = backend.host == home.hostname;
        let life = identity(backend.pid, None).filter(|_| here);
        let life = life.and_then(|identity| home.owners.liveness(&identity));
        life.is_some_and(|life| life.is_over()) || silence(backend).is_none_or(|age| age > SILENT)
    };
    let left: Vec<_> = state.backends.iter().filter(is_left).collect();
    if left.is_empty() {
        return None;
    }
    let rows = human::count(left.len(), "row", "rows");
    let mut finding = Finding::new(
        "HM710",
        homes::subject(home),
        format!("{rows} of backends that have ended still say that they live"),
    );
    for backend in left.iter().take(homes::EACH) {
        let age = silence(backend).map_or_else(|| "?".to_owned(), human::duration);
        let target = format!("{} gateway_heartbeats", home.path("state.db"));
        let words = format!("{}, silent for {age}", backend.backend_id);
        finding = finding.seen(Observation::new("row", target, words));
    }
    Some(
        finding.remedy(
            Remedy::user(
                homes::ours(home, ["session", "reap", "--dry-run"]),
                "shows what they protect in Hermes Agent; for us they protect nothing",
            )
            .verify(homes::verify(home)),
        ),
    )
}

/// Sessions that are open and that no process can have any more.
fn orphans(evidence: &Evidence, home: &HomeEvidence, state: &State) -> Option<Finding> {
    let environ = evidence.facts.dispatcher.environ.known();
    let set = environ.and_then(|environ| environ.get("HERMES_TUI_SESSION_TTL_S"));
    let limit = set
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(IDLE);
    if limit <= 0 || !serving::servers(evidence, home).is_empty() {
        // Who serves the home keeps them in memory, or reaps them.
        return None;
    }
    let old = |at: Option<jiff::Timestamp>| {
        at.is_none_or(|at| evidence.now.duration_since(at).as_secs() > limit)
    };
    let orphaned = |session: &&StoredSession| {
        let reaped = matches!(
            session.source.as_str(),
            "tui" | "desktop" | "subagent" | "unknown"
        ) && session.maker == Maker::HermesAgent;
        let begun = session.started_at.is_some() && old(session.started_at);
        reaped
            && !session.pinned
            && begun
            && old(session.last_activity_at)
            && !is_held(home, session)
    };
    let left: Vec<_> = state.open.iter().filter(orphaned).collect();
    if left.is_empty() {
        return None;
    }
    let many = human::count(left.len(), "session is", "sessions are");
    let mut finding = Finding::new(
        "HM713",
        homes::subject(home),
        format!(
            "{many} open, idle for over {}, and held by no process",
            human::duration(limit)
        ),
    );
    for session in left.iter().take(homes::EACH) {
        let last = session.last_activity_at.or(session.started_at);
        let ago = last.map_or_else(|| "?".to_owned(), |at| human::relative(at, evidence.now));
        let target = format!("{} sessions {}", home.path("state.db"), session.id);
        let words = format!("{}, last activity {ago}", session.source);
        finding = finding.seen(Observation::new("row", target, words));
    }
    Some(
        finding.remedy(
            Remedy::user(
                homes::ours(home, ["session", "reap", "--dry-run"]),
                "shows what would be ended, and why",
            )
            .verify(homes::verify(home)),
        ),
    )
}

/// Helpers that outlived the process that started them.
fn helpers(evidence: &Evidence, home: &HomeEvidence, outcome: &mut Outcome) -> Option<Finding> {
    let helpers = homes::content(home, ("spawn-ledger.json", &home.helpers), outcome)?;
    let life = |pid, started_at| {
        home.owners.liveness(&Identity {
            pid,
            started_at,
            ..Identity::default()
        })
    };
    let orphaned = |helper: &&Helper| {
        let spawner = helper.spawner.and_then(|(pid, start)| life(pid, start));
        spawner.is_some_and(|life| life.is_over())
            && life(helper.pid, helper.started_at) == Some(Liveness::Alive)
    };
    let left: Vec<_> = helpers.iter().filter(orphaned).collect();
    if left.is_empty() {
        return None;
    }
    let resident: u64 = left.iter().filter_map(|helper| helper.resident).sum();
    let many = human::count(left.len(), "helper process", "helper processes");
    let mut finding = Finding::new(
        "HM714",
        homes::subject(home),
        format!(
            "{many} outlived the backend that started them, with {} in memory",
            human::bytes(resident)
        ),
    );
    for helper in left.iter().take(homes::EACH) {
        let since = helper.started_at.and_then(crate::db::instant);
        let ago = since.map_or_else(|| "?".to_owned(), |at| human::relative(at, evidence.now));
        let memory = helper.resident.map_or_else(|| "?".to_owned(), human::bytes);
        let words = format!("{}, started {ago}, {memory}", helper.purpose);
        finding = finding.seen(Observation::new(
            "process",
            format!("pid {}", helper.pid),
            words,
        ));
    }
    let pids = left
        .iter()
        .take(homes::EACH)
        .map(|helper| helper.pid.to_string());
    let words = std::iter::once("kill".to_owned()).chain(pids);
    let effect = if left.len() > homes::EACH {
        "ends the first of them"
    } else {
        "ends what nothing uses any more"
    };
    Some(
        finding.remedy(
            Remedy::user(words, effect)
                .until_reboot()
                .verify(homes::verify(home)),
        ),
    )
}

/// Whether a process that is not known to have ended holds this session.
fn is_held(home: &HomeEvidence, session: &StoredSession) -> bool {
    let registry = home.databases.registry.got();
    registry.is_some_and(|registry| {
        registry.leases.iter().any(|lease| {
            lease.session_id == session.id
                && !liveness(home, lease).is_some_and(|life| life.is_over())
        })
    })
}
