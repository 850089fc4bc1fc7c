//! From the facts of a host to those that dispatch turns on. Pure.
//!
//! Where a fact is not known the likelier one is taken and said: the decision is then a guess.

mod manager;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use self::manager::{agent_view, linger, logind, system_manager, user_manager};
use super::facts::{DispatchFacts, KillMode, Launcher, Sandbox, Seat, Tri};
use crate::host::cgroup;
use crate::host::facts::{
    Dispatcher, Fact, Facts, Gap, GapKind, ManagerKind, ProcessFacts, Program, Role, UnitFacts,
    Viewpoint,
};

/// Something that was assumed, because it could not be found out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guess {
    /// What was assumed, a clause: `the user manager answers`.
    pub assumed: String,
    /// Why it is not known.
    pub gap: Gap,
}

/// The last version of Hermes Agent that launches nothing where no scope can be made.
const LAST_WITHOUT_FALLBACK: [u32; 3] = [0, 21, 2];

/// The facts that dispatch turns on, and what had to be assumed.
#[must_use]
pub fn derive(facts: &Facts) -> (DispatchFacts, Vec<Guess>) {
    let mut guesses = Vec::new();
    let dispatcher = &facts.dispatcher;
    let unit = dispatcher.unit.as_ref();
    let seat = seat(facts, &mut guesses);
    let derived = DispatchFacts {
        launcher: launcher(dispatcher, &mut guesses),
        gateway: is_gateway(dispatcher),
        seat,
        invocation_id: invocation_id(facts, seat, &mut guesses),
        root: facts.account.uid == 0,
        user_manager: user_manager(facts, seat, &mut guesses),
        system_manager: system_manager(facts),
        agent_view: agent_view(facts, seat, &mut guesses),
        sandbox: sandbox(unit),
        kill_mode: kill_mode(unit),
        linger: linger(facts),
        logind: logind(facts),
        wants_user_manager: wants_user_manager(unit, facts.account.uid),
        enabled: enabled(unit),
    };
    (derived, guesses)
}

/// The process that is judged: the dispatcher's, or this shell where nothing dispatches.
fn process(facts: &Facts) -> Option<&ProcessFacts> {
    match facts.dispatcher.viewpoint {
        Viewpoint::Shell => facts.dispatcher.process.as_ref().or(Some(&facts.shell)),
        _ => facts.dispatcher.process.as_ref(),
    }
}

fn guess(guesses: &mut Vec<Guess>, assumed: impl Into<String>, gap: &Gap) {
    guesses.push(Guess {
        assumed: assumed.into(),
        gap: gap.clone(),
    });
}

fn launcher(dispatcher: &Dispatcher, guesses: &mut Vec<Guess>) -> Launcher {
    if dispatcher.program == Program::Ours {
        return Launcher::Ours;
    }
    match &dispatcher.version {
        Fact::Known(version) => match triple(version) {
            Some(version) if version <= LAST_WITHOUT_FALLBACK => Launcher::AgentWithoutFallback,
            _ => Launcher::Agent,
        },
        Fact::Unknown(gap) => {
            guess(guesses, "Hermes Agent is of the newest version", gap);
            Launcher::Agent
        }
    }
}

/// The leading numbers of a version: `v0.22.2.post1` is 0, 22, 2.
fn triple(version: &str) -> Option<[u32; 3]> {
    let mut numbers = version
        .trim()
        .trim_start_matches('v')
        .split(['.', '-', '+'])
        .map(|part| {
            let digits = part.find(|c: char| !c.is_ascii_digit());
            part.get(..digits.unwrap_or(part.len()))
        });
    let first = numbers.next()??.parse().ok()?;
    let mut rest = || match numbers.next() {
        Some(Some(digits)) => digits.parse().unwrap_or(0),
        _ => 0,
    };
    Some([first, rest(), rest()])
}

fn is_gateway(dispatcher: &Dispatcher) -> bool {
    let role = match &dispatcher.process {
        Some(process) => Some(process.role),
        None => dispatcher.unit.as_ref().and_then(|unit| unit.role),
    };
    role == Some(Role::Gateway) || dispatcher.viewpoint == Viewpoint::Gateway
}

fn seat(facts: &Facts, guesses: &mut Vec<Guess>) -> Seat {
    let unit = facts.dispatcher.unit.as_ref();
    let of_manager = |unit: &UnitFacts| match unit.manager {
        Some(ManagerKind::User) => Seat::UserService,
        _ => Seat::SystemService,
    };
    let Some(process) = process(facts) else {
        return unit.map_or(Seat::Elsewhere, of_manager);
    };
    match (&process.cgroup, unit) {
        (Fact::Known(path), _) if !cgroup::is_hidden(path) => seat_of_path(path, facts),
        (_, Some(unit)) => of_manager(unit),
        (Fact::Known(_), None) => Seat::Hidden,
        (Fact::Unknown(gap), None) => {
            guess(
                guesses,
                "the dispatcher sits in no service that can be seen",
                gap,
            );
            Seat::Hidden
        }
    }
}

fn seat_of_path(path: &str, facts: &Facts) -> Seat {
    let Some(unit) = cgroup::unit(path) else {
        return Seat::Elsewhere;
    };
    let is_user_manager = unit.name.starts_with("user@");
    match (unit.manager, unit.name.ends_with(".service")) {
        (ManagerKind::User, true) => Seat::UserService,
        (ManagerKind::User, false) => Seat::UserScope,
        (ManagerKind::System, true) if is_user_manager => Seat::UserScope,
        (ManagerKind::System, true) => Seat::SystemService,
        (ManagerKind::System, false) if unit.name.starts_with("session-") => {
            match facts.system_bus.logind.kill_user_processes {
                Some(true) => Seat::SessionKilled,
                Some(false) => Seat::SessionSpared,
                None => Seat::Session,
            }
        }
        (ManagerKind::System, false) => Seat::Elsewhere,
    }
}

fn invocation_id(facts: &Facts, seat: Seat, guesses: &mut Vec<Guess>) -> bool {
    let in_service = matches!(seat, Seat::SystemService | Seat::UserService);
    // A unit that does not run gets the variable when it does.
    if process(facts).is_none() {
        return in_service;
    }
    let environ = match facts.dispatcher.viewpoint {
        Viewpoint::Shell => &facts.shell.environ,
        _ => &facts.dispatcher.environ,
    };
    let mut assume = |gap: &Gap| {
        let has = if in_service { "has" } else { "lacks" };
        guess(guesses, format!("its environment {has} INVOCATION_ID"), gap);
        in_service
    };
    match environ {
        // A process that gives itself a title writes it over its environment.
        Fact::Known(environ) if environ.count == 0 && in_service => assume(&Gap {
            kind: GapKind::Hidden,
            why: "the process has written over its environment".to_owned(),
            would_tell: Vec::new(),
        }),
        Fact::Known(environ) => environ.get("INVOCATION_ID").is_some(),
        Fact::Unknown(gap) => assume(gap),
    }
}

fn sandbox(unit: Option<&UnitFacts>) -> Sandbox {
    let Some(unit) = unit else {
        return Sandbox::Open;
    };
    if unit.unix_sockets_forbidden == Some(true) {
        return Sandbox::NoUnixSockets;
    }
    match unit.protect_home.as_deref() {
        // Read-only still lets a socket be connected to.
        Some("yes" | "true" | "tmpfs") => Sandbox::HomeHidden,
        _ => Sandbox::Open,
    }
}

fn kill_mode(unit: Option<&UnitFacts>) -> KillMode {
    match unit.and_then(|unit| unit.kill_mode.as_deref()) {
        Some("control-group") => KillMode::ControlGroup,
        Some("mixed") => KillMode::Mixed,
        Some("process") => KillMode::Process,
        Some("none") => KillMode::None,
        _ => KillMode::Unknown,
    }
}

fn wants_user_manager(unit: Option<&UnitFacts>, uid: u32) -> bool {
    let manager = format!("user@{uid}.service");
    unit.is_some_and(|unit| unit.wants.contains(&manager))
}

/// Whether the unit file is linked to what is started at boot. Units that something else pulls in
/// cannot be told from those that nothing does.
fn enabled(unit: Option<&UnitFacts>) -> Tri {
    match unit.and_then(|unit| unit.file_state.as_deref()) {
        Some("enabled" | "alias") => Tri::Yes,
        Some(
            "disabled" | "masked" | "masked-runtime" | "enabled-runtime" | "linked"
            | "linked-runtime" | "transient" | "bad",
        ) => Tri::No,
        _ => Tri::Unknown,
    }
}
