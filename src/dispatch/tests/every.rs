//! The rules over every combination of the facts.

use super::super::facts::{
    AgentView, DispatchFacts, Launcher, Sandbox, Seat, SystemManager, Tri, UserManager,
};
use super::super::flips::{Change, Flip, flips};
use super::super::forecast::{Outlook, forecast};
use super::super::mode::{Kind, Mode, Policy, Survival, mode, supervision, survival};
use super::{LAX, healthy};
use crate::dispatch::facts::KillMode;

const LAUNCHERS: [Launcher; 3] = [
    Launcher::Ours,
    Launcher::AgentWithoutFallback,
    Launcher::Agent,
];
const SEATS: [Seat; 8] = [
    Seat::SystemService,
    Seat::UserService,
    Seat::Hidden,
    Seat::UserScope,
    Seat::SessionKilled,
    Seat::SessionSpared,
    Seat::Session,
    Seat::Elsewhere,
];
const USER_MANAGERS: [UserManager; 6] = [
    UserManager::Places,
    UserManager::ServicesOnly,
    UserManager::NotRunning,
    UserManager::Stuck,
    UserManager::Failing,
    UserManager::Impossible,
];
const SYSTEM_MANAGERS: [SystemManager; 3] = [
    SystemManager::Answers,
    SystemManager::Silent,
    SystemManager::Impossible,
];
const AGENT_VIEWS: [AgentView; 5] = [
    AgentView::Clear,
    AgentView::NoVariables,
    AgentView::NoVariablesYet,
    AgentView::NoBusSocket,
    AgentView::NoSystemdRun,
];
const SANDBOXES: [Sandbox; 3] = [Sandbox::Open, Sandbox::HomeHidden, Sandbox::NoUnixSockets];
const TRIS: [Tri; 3] = [Tri::Yes, Tri::No, Tri::Unknown];
const BOOLS: [bool; 2] = [false, true];

/// Picks one of `from` by the lowest digit of `index`, and takes that digit away.
fn pick<T: Copy>(index: &mut usize, from: &[T]) -> T {
    let value = from[*index % from.len()];
    *index /= from.len();
    value
}

/// What the mode and its flips turn on, by number; the rest is as ordinary as can be.
const OF_MODE: usize = 3 * 2 * 8 * 2 * 2 * 6 * 3 * 5 * 3 * 3 * 2;

fn of_mode(mut index: usize) -> DispatchFacts {
    let i = &mut index;
    DispatchFacts {
        launcher: pick(i, &LAUNCHERS),
        gateway: pick(i, &BOOLS),
        seat: pick(i, &SEATS),
        invocation_id: pick(i, &BOOLS),
        root: pick(i, &BOOLS),
        user_manager: pick(i, &USER_MANAGERS),
        system_manager: pick(i, &SYSTEM_MANAGERS),
        agent_view: pick(i, &AGENT_VIEWS),
        sandbox: pick(i, &SANDBOXES),
        linger: pick(i, &TRIS),
        // A logind of which nothing is known turns linger on no more than none.
        logind: pick(i, &[Tri::Yes, Tri::No]),
        kill_mode: KillMode::Mixed,
        wants_user_manager: false,
        enabled: Tri::Yes,
    }
}

/// Linger is no more than a file where no logind reads it, and a guess where that is not known.
fn boot_needs_logind(facts: DispatchFacts, kind: Kind) {
    let at_boot = |facts| forecast(facts, LAX, kind).after_reboot;
    let with = |linger, logind| {
        at_boot(DispatchFacts {
            linger,
            logind,
            ..facts
        })
    };
    let (here, off) = (at_boot(facts), with(Tri::No, Tri::Yes));
    match facts.logind {
        Tri::Yes => {}
        Tri::No => assert_eq!(here, off, "{facts:?}"),
        Tri::Unknown => {
            let on = with(facts.linger, Tri::Yes);
            let agreed = if on == off { on } else { Outlook::Unknown };
            assert_eq!(here, agreed, "{facts:?}");
        }
    }
}

const KINDS: [Kind; 2] = [Kind::Job, Kind::LongLived];

fn policies() -> impl Iterator<Item = Policy> {
    BOOLS.into_iter().flat_map(|strict| {
        BOOLS.map(|unread| Policy {
            require_restart_safe_scope: strict,
            is_unread: unread,
        })
    })
}

#[test]
fn every_combination_keeps_the_rules() {
    for facts in (0..OF_MODE).map(of_mode) {
        for policy in policies() {
            for kind in KINDS {
                rules_hold(facts, policy, kind);
            }
        }
    }
}

fn rules_hold(facts: DispatchFacts, policy: Policy, kind: Kind) {
    let mode = mode(facts, policy, kind);
    let supervised = supervision(facts, kind).is_ok();
    let at = || format!("{mode:?} for {kind:?} under {policy:?}: {facts:?}");
    // In process is what is left where nothing supervises, and nowhere else.
    assert_eq!(mode == Mode::InProcess, !supervised, "{}", at());
    if kind == Kind::LongLived {
        assert_ne!(mode, Mode::Degraded, "{}", at());
    }
    if policy.require_restart_safe_scope {
        assert_ne!(mode, Mode::Degraded, "{}", at());
    }
    if policy.is_unread && facts.launcher == Launcher::Ours {
        assert_ne!(mode, Mode::Degraded, "{}", at());
    }
    match facts.launcher {
        Launcher::AgentWithoutFallback => assert_ne!(mode, Mode::Degraded, "{}", at()),
        Launcher::Agent
            if supervised && kind == Kind::Job && !policy.require_restart_safe_scope =>
        {
            assert_ne!(mode, Mode::Refused, "{}", at());
        }
        Launcher::Ours if supervised && facts.seat == Seat::Elsewhere => {
            panic!("supervised outside of a service: {}", at());
        }
        _ => {}
    }
    if mode == Mode::Scoped && facts.launcher != Launcher::Ours {
        assert_eq!(facts.user_manager, UserManager::Places, "{}", at());
        assert_eq!(facts.sandbox, Sandbox::Open, "{}", at());
    }
}

const KILL_MODES: [KillMode; 5] = [
    KillMode::ControlGroup,
    KillMode::Mixed,
    KillMode::Process,
    KillMode::None,
    KillMode::Unknown,
];

/// A restart leaves a job alone where it has a cgroup of its own, or where its unit kills the main process
/// at most, and nowhere else.
#[test]
fn every_combination_says_what_a_restart_does() {
    for facts in (0..OF_MODE).map(of_mode) {
        for (kind, policy) in KINDS.into_iter().zip(policies()) {
            let mode = mode(facts, policy, kind);
            for kill_mode in KILL_MODES {
                let facts = DispatchFacts { kill_mode, ..facts };
                let spares = matches!(kill_mode, KillMode::Process | KillMode::None);
                let wanted = match (mode, kill_mode) {
                    (Mode::Refused, _) => Survival::NothingRuns,
                    (Mode::Scoped, _) => Survival::Survives,
                    (Mode::Degraded, _) if spares => Survival::Survives,
                    (Mode::Degraded, KillMode::Unknown) => Survival::Unknown,
                    (Mode::Degraded | Mode::InProcess, _) => Survival::Dies,
                };
                assert_eq!(survival(facts, mode), wanted, "{mode:?}: {facts:?}");
            }
        }
    }
}

// One test for each program, so that they run side by side.
#[test]
fn every_flip_of_ours_gives_what_it_promises_and_no_subset_does() {
    flips_keep_their_promise(Launcher::Ours);
}

#[test]
fn every_flip_of_old_hermes_agent_gives_what_it_promises_and_no_subset_does() {
    flips_keep_their_promise(Launcher::AgentWithoutFallback);
}

#[test]
fn every_flip_of_hermes_agent_gives_what_it_promises_and_no_subset_does() {
    flips_keep_their_promise(Launcher::Agent);
}

fn flips_keep_their_promise(launcher: Launcher) {
    let of_launcher = |facts: &DispatchFacts| facts.launcher == launcher;
    for facts in (0..OF_MODE).map(of_mode).filter(of_launcher) {
        for policy in policies() {
            for kind in KINDS {
                let found = flips(facts, policy, kind);
                a_way_is_found((facts, policy, kind), &found);
                for flip in found {
                    let full = (1u32 << flip.by.len()) - 1;
                    for set in 0..=full {
                        let changes = flip
                            .by
                            .iter()
                            .enumerate()
                            .filter(|(at, _)| set & (1 << at) != 0)
                            .map(|(_, change)| *change);
                        let (then, policy) =
                            changes.fold((facts, policy), |now, change| change.apply(now.0, now.1));
                        let reached = mode(then, policy, kind) == flip.mode;
                        assert_eq!(reached, set == full, "{flip:?} at {set:b} for {facts:?}");
                    }
                }
            }
        }
    }
}

/// Where all changes together, or a single one, lead to a better mode, a way is named, and the short one.
fn a_way_is_found((facts, policy, kind): (DispatchFacts, Policy, Kind), found: &[Flip]) {
    let now = mode(facts, policy, kind);
    let better = |(facts, policy): (DispatchFacts, Policy)| {
        let then = mode(facts, policy, kind);
        let runs = now == Mode::Refused && then == Mode::Degraded;
        now != Mode::Scoped && (then == Mode::Scoped || runs)
    };
    let all = Change::ALL.into_iter();
    let all = all.fold((facts, policy), |now, change| change.apply(now.0, now.1));
    let mut each = Change::ALL.into_iter();
    let single = each.any(|change| better(change.apply(facts, policy)));
    assert!(!(single || better(all)) || !found.is_empty(), "{facts:?}");
    assert!(
        !single || found.iter().any(|flip| flip.by.len() == 1),
        "{facts:?}"
    );
}

#[test]
fn every_forecast_is_stopped_or_a_mode_that_the_facts_allow() {
    let total = 3 * 2 * 8 * 2 * 2 * 6 * 3 * 3 * 3 * 2 * 3;
    for index in 0..total {
        let mut rest = index;
        let i = &mut rest;
        let facts = DispatchFacts {
            launcher: pick(i, &LAUNCHERS),
            gateway: pick(i, &BOOLS),
            seat: pick(i, &SEATS),
            invocation_id: pick(i, &BOOLS),
            root: pick(i, &BOOLS),
            user_manager: pick(i, &USER_MANAGERS),
            system_manager: pick(i, &SYSTEM_MANAGERS),
            linger: pick(i, &TRIS),
            logind: pick(i, &TRIS),
            wants_user_manager: pick(i, &BOOLS),
            enabled: pick(i, &TRIS),
            ..healthy()
        };
        for kind in KINDS {
            let now = mode(facts, LAX, kind);
            let later = forecast(facts, LAX, kind);
            for outlook in [later.after_logout, later.after_reboot] {
                // Neither a logout nor a boot changes who supervises.
                if let Outlook::Mode(then) = outlook {
                    assert_eq!(now == Mode::InProcess, then == Mode::InProcess, "{facts:?}");
                }
            }
            // With linger, the last logout changes nothing but what sat in the session itself.
            if facts.linger == Tri::Yes
                && !matches!(facts.seat, Seat::SessionKilled | Seat::Session)
            {
                assert_eq!(later.after_logout, Outlook::Mode(now), "{facts:?}");
            }
            boot_needs_logind(facts, kind);
            // A logout never mends anything.
            if later.after_logout == Outlook::Mode(Mode::Scoped) {
                assert_eq!(now, Mode::Scoped, "{facts:?}");
            }
        }
    }
}
