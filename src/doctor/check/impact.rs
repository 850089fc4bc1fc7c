//! What a fault of the host means for the jobs of this dispatcher, as it is set up now.

use crate::bus::{Failure, FailureKind};
use crate::dispatch::facts::{Launcher, SystemManager, UserManager};
use crate::dispatch::{Mode, Outlook};
use crate::doctor::evidence::{Evidence, HomeEvidence, Read};
use crate::doctor::finding::{Finding, Severity};
use crate::host::{Gap, GapKind};

/// How much a fault on the way to the manager matters: jobs that are refused are an error, jobs that
/// a restart would kill a warning, and where jobs run well all the same it is worth knowing.
pub(super) fn severity(evidence: &Evidence) -> Severity {
    match evidence.decision_jobs.mode {
        Mode::Refused => Severity::Error,
        Mode::Degraded => Severity::Warning,
        Mode::Scoped | Mode::InProcess => Severity::Info,
    }
}

/// Whether workers of this dispatcher are placed by the user manager, or would be.
pub(super) fn needs_user_manager(evidence: &Evidence) -> bool {
    evidence.decision_jobs.mode != Mode::InProcess && !is_placed_by_init(evidence)
}

/// Whether PID 1 places workers of this dispatcher, as it does for root's of ours.
pub(super) fn is_placed_by_init(evidence: &Evidence) -> bool {
    let facts = &evidence.decision_jobs.facts;
    facts.root && facts.launcher == Launcher::Ours
}

/// Why the user manager is of no concern, where it is not.
pub(super) const BY_INIT: &str = "PID 1 places the workers of root";

/// Whether the user manager cannot be used.
pub(super) fn manager_is_down(evidence: &Evidence) -> bool {
    !matches!(
        evidence.decision_jobs.facts.user_manager,
        UserManager::Places | UserManager::ServicesOnly
    )
}

/// Whether there is a systemd at all.
pub(super) fn has_systemd(evidence: &Evidence) -> bool {
    evidence.decision_jobs.facts.system_manager != SystemManager::Impossible
}

/// Whether jobs are known to be scheduled, or may be: a home that cannot be read may hold some.
pub(super) fn has_jobs(evidence: &Evidence) -> bool {
    evidence.homes.is_empty() || evidence.homes.iter().any(may_have_jobs)
}

/// Whether jobs of this home are armed, or may be.
pub(super) fn may_have_jobs(home: &HomeEvidence) -> bool {
    match &home.jobs {
        Read::Absent => false,
        Read::Unreadable(_) => true,
        Read::Got(store) => store.armed().next().is_some(),
    }
}

/// Whether the outlook is worse than what is now.
pub(super) fn worsens(evidence: &Evidence, later: Outlook) -> bool {
    later != Outlook::Mode(evidence.decision_jobs.mode) && later != Outlook::Unknown
}

/// Names all that can keep the user manager from placing a worker as a possible cause.
pub(super) fn because_of_the_manager(mut finding: Finding) -> Finding {
    for code in WAYS_TO_FAIL {
        finding = finding.because_of(code);
    }
    finding
}

/// Findings that can keep workers from being placed, those nearest to the root first.
pub(super) const WAYS_TO_FAIL: [&str; 22] = [
    "HM308", "HM307", "HM317", "HM101", "HM102", "HM221", "HM222", "HM202", "HM242", "HM244",
    "HM241", "HM201", "HM203", "HM204", "HM205", "HM206", "HM207", "HM104", "HM103", "HM208",
    "HM209", "HM245",
];

/// A failure as a gap in what is known.
pub(super) fn gap(failure: &Failure) -> Gap {
    let kind = match failure.kind {
        FailureKind::PermissionDenied => GapKind::Permission,
        FailureKind::Mute => GapKind::Deadline,
        _ => GapKind::Failed,
    };
    Gap {
        kind,
        why: said(failure),
        would_tell: Vec::new(),
    }
}

/// A refusal in words, with its own text where it has one.
pub(super) fn said(failure: &Failure) -> String {
    let kind = match failure.kind {
        FailureKind::Absent => "not there",
        FailureKind::NotADirectory => "not a directory",
        FailureKind::NotAbsolute => "not an absolute path",
        FailureKind::ForeignOwner => "owned by somebody else",
        FailureKind::InsecureMode => "writable by others",
        FailureKind::NotASocket => "not a socket",
        FailureKind::PathTooLong => "path too long for a socket",
        FailureKind::Refused => "connection refused: nobody listens",
        FailureKind::PermissionDenied => "permission denied",
        FailureKind::BacklogFull => "the listener accepts nobody",
        FailureKind::AddressFamilyForbidden => "Unix sockets are forbidden here",
        FailureKind::ForeignPeer => "the listener belongs to another account",
        FailureKind::Closed => "the other end hung up",
        FailureKind::Garbage => "the other end does not speak D-Bus",
        FailureKind::Rejected => "the other end refused us",
        FailureKind::Mute => "no answer until the deadline",
        FailureKind::NoManager => "no service manager on this bus",
        FailureKind::ErrorReply => "an error reply",
        FailureKind::LostSystemBus => "no connection to the system bus",
        FailureKind::NoSystemBus => "no system bus",
        FailureKind::InitMute => "PID 1 does not answer",
        FailureKind::Unknown => "could not be found out",
        FailureKind::Other => "failed",
    };
    match &failure.text {
        Some(text) if !text.is_empty() => format!("{kind} ({text})"),
        _ => kind.to_owned(),
    }
}
