//! The decision over hosts of the field, and, in `every`, over all that there can be.

mod every;

use super::facts::{
    AgentView, DispatchFacts, KillMode, Launcher, Sandbox, Seat, SystemManager, Tri, UserManager,
};
use super::flips::Change;
use super::forecast::Outlook;
use super::mode::{Kind, Manager, Mechanism, Mode, Policy, Reason, Survival, decide, mode};

const KILL_MODES: [KillMode; 5] = [
    KillMode::ControlGroup,
    KillMode::Mixed,
    KillMode::Process,
    KillMode::None,
    KillMode::Unknown,
];

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
        logind: Tri::Yes,
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
    is_unread: false,
};
const STRICT: Policy = Policy {
    require_restart_safe_scope: true,
    is_unread: false,
};

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
fn linger_that_no_logind_reads_is_none_after_a_reboot() {
    let after = |logind, wants_user_manager| {
        let facts = DispatchFacts {
            logind,
            wants_user_manager,
            ..healthy()
        };
        decide(facts, LAX, Kind::Job).forecast.after_reboot
    };
    assert_eq!(after(Tri::Yes, false), Outlook::Mode(Mode::Scoped));
    assert_eq!(after(Tri::No, false), Outlook::Mode(Mode::Degraded));
    assert_eq!(after(Tri::Unknown, false), Outlook::Unknown);
    for logind in [Tri::Yes, Tri::No, Tri::Unknown] {
        assert_eq!(after(logind, true), Outlook::Mode(Mode::Scoped));
    }
}

#[test]
fn names_of_changes_come_back_as_changes() {
    for change in Change::ALL {
        assert_eq!(Change::named(change.name()), Some(change));
        let json = serde_json::to_string(&change).unwrap();
        assert_eq!(json, format!("{:?}", change.name()));
    }
}
