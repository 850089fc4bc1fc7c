//! The two managers and what keeps the user's alive, from what the probes of the buses saw.

use super::{Guess, guess};
use crate::bus::{
    Door, DoorReport, Failure, FailureKind, LingerMarker, Placement, Stage, SystemBusReport,
    UserManagerUnit,
};
use crate::dispatch::facts::{AgentView, Seat, SystemManager, Tri, UserManager};
use crate::host::facts::{Environment, Fact, Facts, Gap, GapKind, Program, Viewpoint};
use crate::host::runtime_dir::Origin;

pub(super) fn system_manager(facts: &Facts) -> SystemManager {
    if facts.system_bus.doors.iter().any(DoorReport::answers) {
        SystemManager::Answers
    } else if facts.machine.systemd_booted {
        SystemManager::Silent
    } else {
        SystemManager::Impossible
    }
}

pub(super) fn user_manager(facts: &Facts, seat: Seat, guesses: &mut Vec<Guess>) -> UserManager {
    let bus = &facts.session_bus;
    // An answer outranks all that could be said of paths.
    if bus.answering().is_some() {
        return answering(&bus.placement, seat, guesses);
    }
    if !facts.machine.systemd_booted {
        return UserManager::Impossible;
    }
    if let Some(failure) = bus.not_tried.as_ref().or_else(|| unseen(facts)) {
        return by_hearsay(facts, failure, guesses);
    }
    if fails(&facts.system_bus) {
        return UserManager::Failing;
    }
    if is_absent(facts) {
        // A unit of the user manager runs only when that does.
        let comes_with_it = seat == Seat::UserService && facts.dispatcher.process.is_none();
        if comes_with_it {
            return UserManager::Places;
        }
        UserManager::NotRunning
    } else {
        UserManager::Stuck
    }
}

fn answering(placement: &Placement, seat: Seat, guesses: &mut Vec<Guess>) -> UserManager {
    // Within its own subtree the user manager asks nobody.
    if matches!(seat, Seat::UserService | Seat::UserScope) {
        return UserManager::Places;
    }
    match placement {
        Placement::Able => UserManager::Places,
        Placement::Unable(_) => UserManager::ServicesOnly,
        Placement::Unknown(failure) => {
            guess(
                guesses,
                "the user manager can place a process",
                &gap_of(failure),
            );
            UserManager::Places
        }
    }
}

/// A refusal that says nothing of the manager, only of who asked.
fn unseen(facts: &Facts) -> Option<&Failure> {
    let refusals = facts
        .session_bus
        .doors
        .iter()
        .filter_map(|door| door.refusal());
    refusals.map(|(_, failure)| failure).find(|failure| {
        matches!(
            failure.kind,
            FailureKind::PermissionDenied | FailureKind::Unknown | FailureKind::Other
        )
    })
}

/// What PID 1 and the marker of linger say of a manager whose doors are closed to us.
fn by_hearsay(facts: &Facts, failure: &Failure, guesses: &mut Vec<Guess>) -> UserManager {
    let state = facts
        .system_bus
        .user_manager
        .as_ref()
        .map(|unit| unit.active_state.as_str());
    let lingers = facts.linger_marker == LingerMarker::Present;
    let gap = gap_of(failure);
    match state {
        Some("active" | "reloading") => {}
        _ if fails(&facts.system_bus) => return UserManager::Failing,
        Some(_) => return UserManager::NotRunning,
        None if lingers => {}
        None => {
            guess(guesses, "the user manager does not run", &gap);
            return UserManager::NotRunning;
        }
    }
    guess(guesses, "the user manager answers its own account", &gap);
    UserManager::Places
}

/// It was started and failed, or must not be.
pub(super) fn fails(system: &SystemBusReport) -> bool {
    let failed = |unit: &UserManagerUnit| unit.active_state == "failed" && !was_killed(unit);
    let masked = |unit: &UserManagerUnit| unit.load_state == "masked";
    system
        .user_manager
        .as_ref()
        .is_some_and(|unit| failed(unit) || masked(unit))
}

/// A manager that was killed starts again without more ado.
fn was_killed(unit: &UserManagerUnit) -> bool {
    unit.result == "signal"
}

/// No directory, or one without sockets.
fn is_absent(facts: &Facts) -> bool {
    let absent = |failure: &Failure| failure.kind == FailureKind::Absent;
    facts.session_bus.doors.iter().all(|door| {
        door.refusal()
            .is_some_and(|(stage, failure)| stage <= Stage::Connect && absent(failure))
    })
}

fn gap_of(failure: &Failure) -> Gap {
    let kind = match failure.kind {
        FailureKind::PermissionDenied => GapKind::Permission,
        FailureKind::Mute => GapKind::Deadline,
        _ => GapKind::Failed,
    };
    let why = failure.text.clone();
    Gap {
        kind,
        why: why.unwrap_or_else(|| format!("{:?}", failure.kind)),
        would_tell: Vec::new(),
    }
}

/// The marker is what logind reads at the next login and at boot; its property is only asked where
/// the marker cannot be seen. That logind knows nothing of the account says neither.
pub(super) fn linger(facts: &Facts) -> Tri {
    match facts.linger_marker {
        LingerMarker::Present => Tri::Yes,
        LingerMarker::Absent | LingerMarker::NoDirectory => Tri::No,
        LingerMarker::Unknown(_) => {
            let user = facts.system_bus.logind.user.as_ref();
            user.and_then(|user| user.linger)
                .map_or(Tri::Unknown, Tri::of)
        }
    }
}

/// A mask outlives a boot. One that hangs or crashed may come back with it, or not.
pub(super) fn logind(facts: &Facts) -> Tri {
    let logind = &facts.system_bus.logind;
    let masked = logind.file_state.as_deref() == Some("masked");
    if !facts.machine.systemd_booted || masked {
        Tri::No
    } else if logind.failure.is_some() {
        Tri::Unknown
    } else {
        Tri::Yes
    }
}

/// What Hermes Agent sees, or would see if it were the dispatcher: only what it does see is guessed.
pub(super) fn agent_view(facts: &Facts, seat: Seat, guesses: &mut Vec<Guess>) -> AgentView {
    let mut unasked = Vec::new();
    let guesses = match facts.dispatcher.program {
        Program::HermesAgent => guesses,
        Program::Ours => &mut unasked,
    };
    let programs = &facts.dispatcher.programs;
    let nowhere = programs
        .iter()
        .any(|program| program.name == "systemd-run" && program.found == Fact::Known(None));
    if nowhere {
        return AgentView::NoSystemdRun;
    }
    let bus = &facts.session_bus;
    let has_socket = |door: &&DoorReport| door.passed(Stage::Socket);
    let mut session = bus
        .doors
        .iter()
        .filter(|door| door.door == Door::SessionBus);
    if bus.answering().is_some() && !session.any(|door| has_socket(&door)) {
        return AgentView::NoBusSocket;
    }
    variables(facts, seat, guesses)
}

fn variables(facts: &Facts, seat: Seat, guesses: &mut Vec<Guess>) -> AgentView {
    let dispatcher = &facts.dispatcher;
    let unit_names = dispatcher
        .unit
        .as_ref()
        .is_some_and(|unit| names_bus(&unit.environment));
    // The user manager gives them to all of its services.
    if seat == Seat::UserService && dispatcher.process.is_none() {
        return AgentView::Clear;
    }
    let believed = facts.runtime_dir.origin == Some(Origin::Environment);
    match &dispatcher.environ {
        Fact::Known(environ) if believed || environ.get("DBUS_SESSION_BUS_ADDRESS").is_some() => {
            AgentView::Clear
        }
        Fact::Known(_) if unit_names && dispatcher.viewpoint != Viewpoint::Unit => {
            AgentView::NoVariablesYet
        }
        Fact::Known(environ) if unit_names && names_bus(environ) => AgentView::Clear,
        Fact::Known(_) => AgentView::NoVariables,
        Fact::Unknown(gap) => {
            let has = if unit_names { "names" } else { "lacks" };
            guess(
                guesses,
                format!("its environment {has} the runtime directory, as its unit does"),
                gap,
            );
            if unit_names {
                AgentView::Clear
            } else {
                AgentView::NoVariables
            }
        }
    }
}

fn names_bus(environ: &Environment) -> bool {
    ["XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"]
        .iter()
        .any(|name| environ.get(name).is_some())
}
