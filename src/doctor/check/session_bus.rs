//! The doors to the user manager, and whether it can place what comes through them. Pure.

use super::impact::{
    BY_INIT, because_of_the_manager, gap, has_systemd, is_placed_by_init, manager_is_down,
    needs_user_manager, said, severity,
};
use super::{Check, Group, Outcome, mend};
use crate::bus::{Door, DoorReport, Failure, FailureKind, LingerMarker, Placement, Stage};
use crate::dispatch::Mode;
use crate::dispatch::facts::{AgentView, UserManager};
use crate::doctor::evidence::{Evidence, Part};
use crate::doctor::finding::{Finding, Observation, Severity, Subject};
use crate::host::facts::Container;
use crate::host::{Facts, Gap, GapKind};

/// The checks of the session bus.
pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "session-bus",
        group: Group::SessionBus,
        title: "whether the user manager answers",
        codes: &[
            "HM201", "HM202", "HM203", "HM204", "HM205", "HM206", "HM207", "HM209",
        ],
        reads: &[
            Part::Machine,
            Part::UserManager,
            Part::Linger,
            Part::RuntimeDir,
            Part::SessionBus,
            Part::Environment,
            Part::Decision,
        ],
        run: doors,
    },
    Check {
        id: "session-bus-placement",
        group: Group::SessionBus,
        title: "whether the user manager can place a process",
        codes: &["HM208"],
        reads: &[Part::SessionBus, Part::Decision],
        run: placement,
    },
];

/// The word for a stage, as in the JSON of reports.
pub(super) fn stage_word(stage: Stage) -> &'static str {
    match stage {
        Stage::RuntimeDir => "runtime-dir",
        Stage::Socket => "socket",
        Stage::Connect => "connect",
        Stage::Authenticate => "authenticate",
        Stage::Hello => "hello",
        Stage::ManagerAnswers => "manager-answers",
        Stage::ManagerCanPlace => "manager-can-place",
    }
}

/// Where a door stopped, as evidence.
fn stop(door: &DoorReport, stage: Stage, failure: &Failure) -> Observation {
    Observation::new("connect", &door.path, said(failure))
        .at_stage(stage_word(stage))
        .with_errno(failure.errno)
}

fn stops(facts: &Facts) -> impl Iterator<Item = (&DoorReport, Stage, &Failure)> {
    facts.session_bus.doors.iter().filter_map(|door| {
        let (stage, failure) = door.refusal()?;
        (stage < Stage::ManagerCanPlace).then_some((door, stage, failure))
    })
}

fn doors(evidence: &Evidence) -> Outcome {
    let facts = &evidence.facts;
    if is_placed_by_init(evidence) {
        return Outcome::not_applicable(BY_INIT);
    }
    if !has_systemd(evidence) && facts.session_bus.answering().is_none() {
        return Outcome::not_applicable("there is no systemd here");
    }
    if let Some(failure) = &facts.session_bus.not_tried {
        return not_tried(evidence, failure);
    }
    if let Some(door) = facts.session_bus.answering() {
        return answered(evidence, door);
    }
    // A manager that does not run has no doors; that it does not is told beside linger.
    let Some(finding) = closed(evidence) else {
        let mut outcome = Outcome::not_applicable("the user manager does not run; see linger");
        if let Some(failure) = &facts.system_bus.user_manager_failure {
            outcome.could_not("whether the user manager failed", &gap(failure));
        }
        return outcome;
    };
    let mut outcome = Outcome::default();
    outcome.find(finding);
    outcome
}

fn not_tried(evidence: &Evidence, failure: &Failure) -> Outcome {
    let mut outcome = Outcome::default();
    let account = evidence.facts.account.label();
    let gap = Gap {
        kind: GapKind::Permission,
        why: said(failure),
        would_tell: ["sudo", "hermes", "cron", "doctor", "--user", &account]
            .map(str::to_owned)
            .to_vec(),
    };
    let what = format!("whether the user manager of {account} answers");
    // What PID 1 says of the manager is as good, as far as the verdict goes.
    let heard = evidence.facts.system_bus.user_manager.is_some();
    if heard || !needs_user_manager(evidence) {
        outcome.could_not(what, &gap);
    } else {
        outcome.could_not_and_it_matters(what, &gap);
    }
    if let Some(finding) = failed_manager(evidence) {
        outcome.find(finding);
    }
    outcome
}

/// One door is open; the other may not be.
fn answered(evidence: &Evidence, open: &DoorReport) -> Outcome {
    let facts = &evidence.facts;
    let version = open.manager.as_ref().map(|manager| manager.version.clone());
    let mut outcome = Outcome::passed(format!(
        "the user manager answers at {} ({})",
        open.path,
        version.unwrap_or_default()
    ));
    let mut broken = stops(facts).filter(|(_, _, failure)| failure.kind != FailureKind::Absent);
    let missing = evidence.decision_jobs.facts.agent_view == AgentView::NoBusSocket
        && evidence.decision_jobs.mode != Mode::Scoped;
    let stopped = broken
        .next()
        .or_else(|| missing.then(|| stops(facts).next()).flatten());
    let Some((door, stage, failure)) = stopped else {
        return outcome;
    };
    let level = if missing {
        severity(evidence)
    } else {
        Severity::Info
    };
    outcome.find(
        Finding::new(
            "HM209",
            Subject::new("socket", &door.path),
            format!(
                "one of the two doors to the user manager is closed: {}",
                said(failure)
            ),
        )
        .severity(level)
        .seen(stop(door, stage, failure))
        .seen(Observation::new("connect", &open.path, "answers"))
        // A daemon that looks names up by PID 1 hangs with it.
        .because_of("HM104")
        .remedy(match door.door {
            Door::SessionBus => mend::restart_bus(facts),
            _ => mend::restart_user_manager(facts),
        }),
    );
    outcome
}

/// Both doors are closed: the finding that says why, or nothing where linger says it all.
fn closed(evidence: &Evidence) -> Option<Finding> {
    let facts = &evidence.facts;
    if let Some(finding) = failed_manager(evidence) {
        return Some(finding);
    }
    // Of two doors, the one that tells most: something there and wrong before nothing there.
    let (door, stage, failure) = stops(facts)
        .max_by_key(|(_, stage, failure)| (failure.kind != FailureKind::Absent, *stage))?;
    // What is wrong with the directory is said by the check of it.
    if stage == Stage::RuntimeDir && failure.kind != FailureKind::Absent {
        return None;
    }
    if failure.kind == FailureKind::Absent || failure.kind == FailureKind::NotADirectory {
        return not_running(evidence);
    }
    let (code, summary) = kind_of(stage, failure);
    let mut finding = Finding::new(code, Subject::new("socket", &door.path), summary)
        .severity(severity(evidence))
        .because_of("HM243");
    for (door, stage, failure) in stops(facts) {
        finding = finding.seen(stop(door, stage, failure));
    }
    if code == "HM207" {
        return Some(denied(evidence, finding));
    }
    Some(finding.remedy(mend::restart_user_manager(facts)))
}

fn kind_of(stage: Stage, failure: &Failure) -> (&'static str, String) {
    let text = match failure.kind {
        FailureKind::PermissionDenied => {
            return (
                "HM207",
                "this account may not use the sockets of its user manager".to_owned(),
            );
        }
        FailureKind::Refused | FailureKind::NotASocket => {
            return (
                "HM203",
                "the sockets of the user manager are stale: nobody listens".to_owned(),
            );
        }
        FailureKind::Mute | FailureKind::BacklogFull => {
            return (
                "HM204",
                format!(
                    "the user manager does not answer (stage: {})",
                    stage_word(stage)
                ),
            );
        }
        FailureKind::NoManager => {
            return (
                "HM206",
                "the session bus lives, and no user manager is on it".to_owned(),
            );
        }
        _ => said(failure),
    };
    (
        "HM205",
        format!("the user manager's door turns us away: {text}"),
    )
}

/// Who owns what, and who asked: the evidence that B19 and B20 wanted.
fn denied(evidence: &Evidence, mut finding: Finding) -> Finding {
    let facts = &evidence.facts;
    for candidate in &facts.runtime_dir.candidates {
        if let Some(crate::host::runtime_dir::Seen::There { uid, mode, .. }) = &candidate.seen {
            let seen = format!("uid {uid}, mode {:04o}", mode & 0o7777);
            finding = finding.seen(Observation::new("stat", &candidate.path, seen));
        }
    }
    for name in ["XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"] {
        let environ = facts.dispatcher.environ.known();
        let value = environ.and_then(|environ| environ.get(name));
        finding = finding.seen(Observation::new(
            "environ",
            name,
            value.unwrap_or("not set"),
        ));
    }
    let uid = format!("euid {}", facts.account.uid);
    finding
        .seen(Observation::new("process", "who asks", uid))
        .remedy(mend::restart_user_manager(facts))
}

fn failed_manager(evidence: &Evidence) -> Option<Finding> {
    let facts = &evidence.facts;
    let unit = facts.system_bus.user_manager.as_ref()?;
    let masked = unit.load_state == "masked";
    if !masked && unit.active_state != "failed" {
        return None;
    }
    let name = mend::user_manager(facts);
    let finding = Finding::new(
        "HM202",
        Subject::new("unit", &name),
        if masked {
            "the user manager is masked: nothing can start it".to_owned()
        } else {
            format!("the user manager failed ({})", unit.result)
        },
    )
    .severity(severity(evidence))
    .seen(Observation::new(
        "property",
        format!("{name} LoadState"),
        &unit.load_state,
    ))
    .seen(Observation::new(
        "property",
        format!("{name} ActiveState"),
        &unit.active_state,
    ))
    .seen(Observation::new(
        "property",
        format!("{name} Result"),
        &unit.result,
    ));
    if masked {
        let line = format!("systemctl unmask user@.service {name} && systemctl start {name}");
        let remedy = crate::doctor::finding::Remedy::root(
            mend::shell(line),
            "lets the user manager be started, and starts it",
        );
        let verify = ["systemctl", "is-active", &name];
        return Some(finding.remedy(remedy.undo(["systemctl", "mask", &name]).verify(verify)));
    }
    let journal = format!("journalctl -b -u {name}");
    Some(
        finding
            .seen(Observation::new(
                "journal",
                &name,
                format!("'{journal}' says why"),
            ))
            .remedy(mend::restart_user_manager(facts)),
    )
}

/// No sockets. Where linger is off and there is not even a directory, that is linger's finding.
fn not_running(evidence: &Evidence) -> Option<Finding> {
    let facts = &evidence.facts;
    let off = matches!(
        facts.linger_marker,
        LingerMarker::Absent | LingerMarker::NoDirectory
    );
    let has_directory = facts.runtime_dir.path.is_some();
    if off && !has_directory {
        return None;
    }
    let name = mend::user_manager(facts);
    let mut finding = Finding::new(
        "HM201",
        Subject::new("unit", &name),
        "the user manager does not run",
    )
    .severity(severity(evidence))
    .because_of("HM221")
    .because_of("HM222")
    .because_of("HM210");
    for (door, stage, failure) in stops(facts) {
        finding = finding.seen(stop(door, stage, failure));
    }
    if let Some(unit) = &facts.system_bus.user_manager {
        let target = format!("{name} ActiveState");
        finding = finding.seen(Observation::new("property", target, &unit.active_state));
    }
    if matches!(facts.machine.container.known(), Some(Container::Wsl2)) {
        let note =
            "WSL sets the variables and makes the directory without a login that would start it";
        finding = finding.seen(Observation::new("host", "WSL 2", note));
    }
    // A directory without sockets is a manager that went away: 'start' would find it active.
    Some(finding.remedy(if has_directory {
        mend::restart_user_manager(facts)
    } else {
        mend::start_user_manager(facts)
    }))
}

fn placement(evidence: &Evidence) -> Outcome {
    let facts = &evidence.facts;
    if is_placed_by_init(evidence) {
        return Outcome::not_applicable(BY_INIT);
    }
    if let Some(failure) = &facts.session_bus.not_tried {
        return unknown_placement(failure);
    }
    if facts.session_bus.answering().is_none() {
        return Outcome::not_applicable("the user manager does not answer");
    }
    let inside = evidence.decision_jobs.facts.user_manager == UserManager::Places
        && matches!(facts.session_bus.placement, Placement::Unable(_));
    if inside || manager_is_down(evidence) {
        return Outcome::passed("the dispatcher sits inside the user manager's own tree");
    }
    match &facts.session_bus.placement {
        Placement::Able => Outcome::passed("it holds a connection to the system bus"),
        Placement::Unknown(failure) => unknown_placement(failure),
        Placement::Unable(failure) if failure.kind == FailureKind::LostSystemBus => {
            lost(evidence, failure)
        }
        Placement::Unable(_) => Outcome::passed("it cannot, for want of the system bus"),
    }
}

fn unknown_placement(failure: &Failure) -> Outcome {
    let mut outcome = Outcome::default();
    let what = "whether the user manager can place a process";
    outcome.could_not(what, &gap(failure));
    outcome
}

fn lost(evidence: &Evidence, failure: &Failure) -> Outcome {
    let facts = &evidence.facts;
    let summary = if evidence.decision_jobs.mode == Mode::Scoped {
        "the user manager lost the system bus: workers are started as its services instead of \
         being moved into scopes"
    } else {
        "the user manager lost the system bus, and can place no process"
    };
    let mut outcome = Outcome::default();
    let finding = Finding::new(
        "HM208",
        Subject::new("unit", mend::user_manager(facts)),
        summary,
    )
    .severity(severity(evidence))
    .seen(
        Observation::new("names", "connections of the system bus", said(failure))
            .at_stage(stage_word(Stage::ManagerCanPlace)),
    )
    .remedy(mend::reexec_user_manager(facts));
    outcome.find(finding);
    outcome
}

/// A finding about what becomes of jobs, with all that could be behind it.
pub(super) fn symptom(code: &'static str, subject: Subject, summary: impl Into<String>) -> Finding {
    because_of_the_manager(Finding::new(code, subject, summary))
}

/// Whether any door is open to a private or a session socket: for the text of other checks.
pub(super) fn has_bus_socket(facts: &Facts) -> bool {
    let session = facts.session_bus.doors.iter();
    session
        .filter(|door| door.door == Door::SessionBus)
        .any(|door| door.passed(Stage::Socket))
}
