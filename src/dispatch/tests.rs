//! The decision over every combination of its facts.

use super::facts::{
    AgentView, DispatchFacts, KillMode, Launcher, Sandbox, Seat, SystemManager, Tri, UserManager,
};
use super::flips::{Change, flips};
use super::forecast::{Outlook, forecast};
use super::mode::{
    Kind, Manager, Mechanism, Mode, Policy, Reason, Survival, decide, mode, supervision,
};

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
const KILL_MODES: [KillMode; 5] = [
    KillMode::ControlGroup,
    KillMode::Mixed,
    KillMode::Process,
    KillMode::None,
    KillMode::Unknown,
];
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
        logind: pick(i, &BOOLS),
        kill_mode: KillMode::Mixed,
        wants_user_manager: false,
        enabled: Tri::Yes,
    }
}

const KINDS: [Kind; 2] = [Kind::Job, Kind::LongLived];

fn policies() -> impl Iterator<Item = Policy> {
    BOOLS.into_iter().map(|strict| Policy {
        require_restart_safe_scope: strict,
    })
}

/// A serve of ours in a system unit of an account whose lingering user manager is well.
fn healthy() -> DispatchFacts {
    DispatchFacts {
        launcher: Launcher::Ours,
        gateway: false,
        seat: Seat::SystemService,
        invocation_id: true,
        root: false,
        user_manager: UserManager::Places,
        system_manager: SystemManager::Answers,
        agent_view: AgentView::Clear,
        sandbox: Sandbox::Open,
        kill_mode: KillMode::ControlGroup,
        linger: Tri::Yes,
        logind: true,
        wants_user_manager: false,
        enabled: Tri::Yes,
    }
}

fn agent() -> DispatchFacts {
    DispatchFacts {
        launcher: Launcher::Agent,
        gateway: true,
        kill_mode: KillMode::Mixed,
        ..healthy()
    }
}

const LAX: Policy = Policy {
    require_restart_safe_scope: false,
};
const STRICT: Policy = Policy {
    require_restart_safe_scope: true,
};

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
                for flip in flips(facts, policy, kind) {
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

#[test]
fn every_forecast_is_stopped_or_a_mode_that_the_facts_allow() {
    let total = 3 * 2 * 8 * 2 * 2 * 6 * 3 * 3 * 2 * 3;
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
            // A logout never mends anything.
            if later.after_logout == Outlook::Mode(Mode::Scoped) {
                assert_eq!(now, Mode::Scoped, "{facts:?}");
            }
        }
    }
}

#[test]
fn survival_follows_mode_and_kill_mode() {
    let degraded = DispatchFacts {
        user_manager: UserManager::NotRunning,
        linger: Tri::No,
        ..healthy()
    };
    let survival = |facts, kill_mode| {
        let facts = DispatchFacts { kill_mode, ..facts };
        decide(facts, LAX, Kind::Job).survives_restart
    };
    assert_eq!(survival(degraded, KillMode::Process), Survival::Survives);
    assert_eq!(survival(degraded, KillMode::None), Survival::Survives);
    assert_eq!(survival(degraded, KillMode::Mixed), Survival::Dies);
    assert_eq!(survival(degraded, KillMode::ControlGroup), Survival::Dies);
    assert_eq!(survival(degraded, KillMode::Unknown), Survival::Unknown);
    for kill_mode in KILL_MODES {
        assert_eq!(survival(healthy(), kill_mode), Survival::Survives);
    }
    let refused = decide(degraded, STRICT, Kind::Job);
    assert_eq!(refused.survives_restart, Survival::NothingRuns);
}

#[test]
fn b07_service_account_without_linger() {
    let facts = DispatchFacts {
        user_manager: UserManager::NotRunning,
        linger: Tri::No,
        ..healthy()
    };
    let job = decide(facts, LAX, Kind::Job);
    assert_eq!(job.mode, Mode::Degraded);
    assert_eq!(
        job.reasons,
        [Reason::Supervised, Reason::UserManagerNotRunning]
    );
    assert_eq!(job.flips.len(), 1);
    assert_eq!(job.flips[0].mode, Mode::Scoped);
    assert_eq!(job.flips[0].by, [Change::LingerOn]);
    let long = decide(facts, LAX, Kind::LongLived);
    assert_eq!(long.mode, Mode::Refused);
    assert_eq!(long.flips[0].by, [Change::LingerOn]);
}

#[test]
fn b08_three_modes_are_never_confused() {
    let no_bus = DispatchFacts {
        user_manager: UserManager::Impossible,
        system_manager: SystemManager::Impossible,
        seat: Seat::Hidden,
        ..healthy()
    };
    assert_eq!(mode(no_bus, LAX, Kind::Job), Mode::Degraded);
    assert_eq!(mode(no_bus, STRICT, Kind::Job), Mode::Refused);
    let bare = DispatchFacts {
        invocation_id: false,
        ..no_bus
    };
    assert_eq!(mode(bare, STRICT, Kind::Job), Mode::InProcess);
    assert_eq!(mode(bare, LAX, Kind::LongLived), Mode::InProcess);
}

#[test]
fn b02_root_uses_the_system_manager_and_hermes_agent_does_not() {
    let root = DispatchFacts {
        root: true,
        user_manager: UserManager::NotRunning,
        linger: Tri::No,
        ..healthy()
    };
    let ours = decide(root, LAX, Kind::LongLived);
    assert_eq!(ours.mode, Mode::Scoped);
    assert_eq!(ours.manager, Some(Manager::System));
    let theirs = DispatchFacts {
        launcher: Launcher::AgentWithoutFallback,
        gateway: true,
        agent_view: AgentView::NoVariables,
        ..root
    };
    let job = decide(theirs, LAX, Kind::Job);
    assert_eq!(job.mode, Mode::Refused);
    assert!(job.reasons.contains(&Reason::VersionHasNoFallback));
    let sets: Vec<_> = job
        .flips
        .iter()
        .map(|flip| (flip.mode, flip.by.clone()))
        .collect();
    assert_eq!(
        sets,
        [
            (Mode::Scoped, vec![Change::LingerOn, Change::VariablesSet]),
            (Mode::Scoped, vec![Change::ProgramSwitched]),
            (Mode::Degraded, vec![Change::ProgramUpdated]),
        ]
    );
}

#[test]
fn lost_system_bus_means_a_service_for_us_and_degraded_for_hermes_agent() {
    let lost = DispatchFacts {
        user_manager: UserManager::ServicesOnly,
        ..healthy()
    };
    let ours = decide(lost, STRICT, Kind::LongLived);
    assert_eq!(ours.mode, Mode::Scoped);
    assert_eq!(ours.mechanism, Some(Mechanism::Service));
    let theirs = DispatchFacts {
        user_manager: UserManager::ServicesOnly,
        ..agent()
    };
    let job = decide(theirs, LAX, Kind::Job);
    assert_eq!(job.mode, Mode::Degraded);
    assert_eq!(job.flips[0].by, [Change::UserManagerReconnected]);
}

#[test]
fn hermes_agent_looks_at_its_role_and_not_at_its_cgroup() {
    let in_scope = DispatchFacts {
        seat: Seat::UserScope,
        ..agent()
    };
    assert_eq!(mode(in_scope, LAX, Kind::Job), Mode::Scoped);
    let ours = DispatchFacts {
        launcher: Launcher::Ours,
        ..in_scope
    };
    assert_eq!(mode(ours, LAX, Kind::Job), Mode::InProcess);
    let backend = DispatchFacts {
        gateway: false,
        ..agent()
    };
    let job = decide(backend, LAX, Kind::Job);
    assert_eq!(
        (job.mode, job.reasons),
        (Mode::InProcess, vec![Reason::NotGateway])
    );
    assert_eq!(mode(backend, LAX, Kind::LongLived), Mode::Scoped);
}

#[test]
fn b03_old_hermes_agent_needs_the_variables_and_new_derives_them() {
    let view = |launcher, agent_view| {
        let facts = DispatchFacts {
            launcher,
            agent_view,
            ..agent()
        };
        decide(facts, LAX, Kind::Job)
    };
    let old = view(Launcher::AgentWithoutFallback, AgentView::NoVariables);
    assert_eq!(old.mode, Mode::Refused);
    assert_eq!(old.flips[0].by, [Change::VariablesSet]);
    let waiting = view(Launcher::AgentWithoutFallback, AgentView::NoVariablesYet);
    assert_eq!(waiting.flips[0].by, [Change::DispatcherRestarted]);
    assert_eq!(
        view(Launcher::Agent, AgentView::NoVariables).mode,
        Mode::Scoped
    );
}

#[test]
fn b13_b14_user_unit_without_linger_stops_at_logout_and_reboot() {
    let facts = DispatchFacts {
        seat: Seat::UserService,
        linger: Tri::No,
        ..healthy()
    };
    let decision = decide(facts, LAX, Kind::Job);
    assert_eq!(decision.mode, Mode::Scoped);
    assert_eq!(decision.forecast.after_logout, Outlook::Stopped);
    assert_eq!(decision.forecast.after_reboot, Outlook::Stopped);
}

#[test]
fn manager_held_by_a_login_is_scoped_until_the_last_logout() {
    let facts = DispatchFacts {
        linger: Tri::No,
        ..healthy()
    };
    let job = decide(facts, LAX, Kind::Job).forecast;
    assert_eq!(job.after_logout, Outlook::Mode(Mode::Degraded));
    assert_eq!(job.after_reboot, Outlook::Mode(Mode::Degraded));
    let long = decide(facts, LAX, Kind::LongLived).forecast;
    assert_eq!(long.after_logout, Outlook::Mode(Mode::Refused));
    let pulled_in = DispatchFacts {
        wants_user_manager: true,
        ..facts
    };
    let pulled_in = decide(pulled_in, LAX, Kind::Job).forecast;
    assert_eq!(pulled_in.after_logout, Outlook::Mode(Mode::Degraded));
    assert_eq!(pulled_in.after_reboot, Outlook::Mode(Mode::Scoped));
    let unknown = DispatchFacts {
        linger: Tri::Unknown,
        ..facts
    };
    let unknown = decide(unknown, LAX, Kind::Job).forecast;
    assert_eq!(unknown.after_logout, Outlook::Unknown);
}

#[test]
fn names_of_changes_come_back_as_changes() {
    for change in Change::ALL {
        assert_eq!(Change::named(change.name()), Some(change));
        let json = serde_json::to_string(&change).unwrap();
        assert_eq!(json, format!("{:?}", change.name()));
    }
}
