//! From example hosts to facts, and on to the decision.

use super::*;
use crate::bus::{Door, Failure, FailureKind, LingerMarker, Placement, Stage};
use crate::dispatch::facts::{AgentView, SystemManager, UserManager};
use crate::dispatch::mode::{Kind, Mechanism, Mode, Policy, decide};
use crate::host::facts::example::candidate;
use crate::host::facts::{Container, ProgramLookup};
use crate::host::runtime_dir::{Origin, RuntimeDir};

fn example(change: impl FnOnce(&mut Facts)) -> (DispatchFacts, Vec<Guess>) {
    let mut facts = Facts::example();
    change(&mut facts);
    derive(&facts)
}

fn mode_of(facts: DispatchFacts) -> Mode {
    decide(facts, Policy::default(), Kind::Job).mode
}

#[test]
fn healthy_host_is_scoped_without_a_guess() {
    let (facts, guesses) = example(|_| ());
    assert_eq!(guesses, []);
    let decision = decide(facts, Policy::default(), Kind::Job);
    assert_eq!(decision.mode, Mode::Scoped);
    assert_eq!(decision.mechanism, Some(Mechanism::Scope));
    assert_eq!(decision.forecast.after_reboot.word(), "scoped");
}

#[test]
fn service_account_without_linger_has_no_user_manager() {
    let (facts, guesses) = example(Facts::without_linger);
    assert_eq!(facts.user_manager, UserManager::NotRunning);
    assert_eq!(facts.linger, Tri::No);
    assert_eq!(guesses, []);
    assert_eq!(mode_of(facts), Mode::Degraded);
}

#[test]
fn stale_mute_and_failed_managers_are_told_apart() {
    let manager = |change: &dyn Fn(&mut Facts)| example(|facts| change(facts)).0.user_manager;
    let stale = |facts: &mut Facts| {
        facts.close_doors(Stage::Connect, &Failure::of(FailureKind::Refused));
    };
    assert_eq!(manager(&stale), UserManager::Stuck);
    let mute = |facts: &mut Facts| {
        facts.close_doors(Stage::Authenticate, &Failure::of(FailureKind::Mute));
    };
    assert_eq!(manager(&mute), UserManager::Stuck);
    let failed = |facts: &mut Facts| {
        facts.no_runtime_dir();
        facts.user_manager_state("failed", "exit-code");
    };
    assert_eq!(manager(&failed), UserManager::Failing);
    let killed = |facts: &mut Facts| {
        facts.no_runtime_dir();
        facts.user_manager_state("failed", "signal");
    };
    assert_eq!(manager(&killed), UserManager::NotRunning);
}

#[test]
fn one_open_door_is_enough_for_us_and_hermes_agent_insists_on_the_bus() {
    let absent = Failure::of(FailureKind::Absent);
    let no_bus = |facts: &mut Facts| facts.close_door(Door::SessionBus, Stage::Socket, &absent);
    let (ours, _) = example(no_bus);
    assert_eq!(ours.user_manager, UserManager::Places);
    assert_eq!(mode_of(ours), Mode::Scoped);
    let (theirs, _) = example(|facts| {
        no_bus(facts);
        facts.hermes_agent("0.22.2");
    });
    assert_eq!(theirs.agent_view, AgentView::NoBusSocket);
    assert_eq!(mode_of(theirs), Mode::Degraded);
}

#[test]
fn lost_system_bus_matters_only_from_outside_of_the_user_manager() {
    let lost = Placement::Unable(Failure::of(FailureKind::LostSystemBus));
    let (outside, _) = example(|facts| facts.session_bus.placement = lost.clone());
    assert_eq!(outside.user_manager, UserManager::ServicesOnly);
    let (inside, _) = example(|facts| {
        facts.in_user_unit();
        facts.session_bus.placement = lost;
    });
    assert_eq!(inside.seat, Seat::UserService);
    assert_eq!(inside.user_manager, UserManager::Places);
}

#[test]
fn unit_of_the_user_manager_runs_only_when_that_does() {
    let (facts, _) = example(|facts| {
        facts.in_user_unit();
        facts.without_linger();
        facts.dispatcher.process = None;
        facts.dispatcher.viewpoint = Viewpoint::Unit;
    });
    let decision = decide(facts, Policy::default(), Kind::Job);
    assert_eq!(decision.mode, Mode::Scoped);
    assert_eq!(decision.forecast.after_reboot.word(), "stopped");
}

#[test]
fn b19_closed_doors_of_another_account_make_a_guess() {
    let denied = Failure {
        errno: Some(13),
        ..Failure::of(FailureKind::PermissionDenied)
    };
    let (facts, guesses) = example(|facts| {
        facts.session_bus.not_tried = Some(denied.clone());
        facts.session_bus.doors.clear();
    });
    assert_eq!(facts.user_manager, UserManager::Places);
    assert_eq!(guesses.len(), 1);
    let (facts, guesses) = example(|facts| {
        facts.session_bus.not_tried = Some(denied);
        facts.session_bus.doors.clear();
        facts.user_manager_state("inactive", "success");
    });
    assert_eq!(facts.user_manager, UserManager::NotRunning);
    assert_eq!(guesses, []);
}

#[test]
fn what_is_told_of_a_host_counts_by_itself() {
    assert!(!example(|_| ()).0.gateway);
    let gateway = |facts: &mut Facts| facts.dispatcher.viewpoint = Viewpoint::Gateway;
    assert!(example(gateway).0.gateway);
    let wants = |name: &str| {
        let (facts, _) =
            example(|facts| facts.edit_unit(|unit| unit.wants = vec![name.to_owned()]));
        facts.wants_user_manager
    };
    assert!(wants("user@1001.service") && !wants("user@0.service"));
    let (masked, _) = example(|facts| {
        facts.no_runtime_dir();
        if let Some(unit) = &mut facts.system_bus.user_manager {
            unit.load_state = "masked".to_owned();
        }
    });
    assert_eq!(masked.user_manager, UserManager::Failing);
    // Nobody may look, and the system manager says nothing of it.
    let hearsay = |marker: LingerMarker| {
        let (facts, guesses) = example(|facts| {
            let denied = Failure::of(FailureKind::PermissionDenied);
            facts.session_bus.not_tried = Some(denied);
            facts.session_bus.doors.clear();
            facts.system_bus.user_manager = None;
            facts.linger_marker = marker;
        });
        (facts.user_manager, guesses.len())
    };
    assert_eq!(hearsay(LingerMarker::Present), (UserManager::Places, 1));
    assert_eq!(hearsay(LingerMarker::Absent), (UserManager::NotRunning, 1));
}

#[test]
fn no_systemd_makes_managers_impossible() {
    let (facts, _) = example(|facts| facts.without_systemd(Container::Docker));
    assert_eq!(facts.user_manager, UserManager::Impossible);
    assert_eq!(facts.system_manager, SystemManager::Impossible);
    assert_eq!(facts.seat, Seat::Hidden);
    assert_eq!(mode_of(facts), Mode::Degraded);
    let (facts, _) = example(|facts| {
        facts.without_systemd(Container::Docker);
        if let Fact::Known(environ) = &mut facts.dispatcher.environ {
            environ.variables.remove("INVOCATION_ID");
        }
    });
    assert_eq!(mode_of(facts), Mode::InProcess);
}

#[test]
fn laptop_shell_is_in_process() {
    let (facts, guesses) = derive(&Facts::example_laptop());
    assert_eq!(facts.seat, Seat::SessionSpared);
    assert_eq!(mode_of(facts), Mode::InProcess);
    assert_eq!(guesses, []);
}

#[test]
fn unreadable_environment_of_a_service_is_guessed() {
    let gap = Fact::denied("environ of pid 812 belongs to uid 1001");
    let (facts, guesses) = example(|facts| facts.dispatcher.environ = gap);
    assert!(facts.invocation_id);
    assert!(!guesses.is_empty());
    assert_eq!(mode_of(facts), Mode::Scoped);
}

#[test]
fn environment_that_a_title_was_written_over_is_guessed() {
    let (facts, guesses) = example(|facts| {
        facts.dispatcher.environ = Fact::Known(crate::host::facts::Environment::default());
    });
    assert!(facts.invocation_id);
    assert_eq!(guesses.len(), 1);
}

#[test]
fn versions_of_hermes_agent() {
    let launcher = |version: &str| example(|facts| facts.hermes_agent(version)).0.launcher;
    assert_eq!(launcher("0.21.2"), Launcher::AgentWithoutFallback);
    assert_eq!(launcher("v0.9"), Launcher::AgentWithoutFallback);
    assert_eq!(launcher("0.21.3"), Launcher::Agent);
    assert_eq!(launcher("0.22.2.post1"), Launcher::Agent);
    assert_eq!(launcher("0.22.0rc1"), Launcher::Agent);
    let (facts, guesses) = example(|facts| {
        facts.hermes_agent("");
        facts.dispatcher.version = Fact::hidden("no file names it");
    });
    assert_eq!(facts.launcher, Launcher::Agent);
    assert_eq!(guesses.len(), 1);
}

#[test]
fn b03_view_of_hermes_agent_follows_its_environment() {
    let view = |change: &dyn Fn(&mut Facts)| {
        example(|facts| {
            facts.hermes_agent("0.21.2");
            change(facts);
        })
        .0
        .agent_view
    };
    assert_eq!(view(&|_| ()), AgentView::NoVariables);
    let named = |facts: &mut Facts| {
        facts.set_variable("XDG_RUNTIME_DIR", "/run/user/1001");
        let own = candidate(Origin::Environment, "/run/user/1001", 1001, 0o700);
        facts.runtime_dir = RuntimeDir::choose(1001, vec![own]);
    };
    assert_eq!(view(&named), AgentView::Clear);
    let in_unit = |facts: &mut Facts| {
        facts.edit_unit(|unit| {
            let variables = &mut unit.environment.variables;
            variables.insert("XDG_RUNTIME_DIR".to_owned(), "/run/user/1001".to_owned());
        });
    };
    assert_eq!(view(&in_unit), AgentView::NoVariablesYet);
    let nowhere = |facts: &mut Facts| {
        named(facts);
        facts.dispatcher.programs.push(ProgramLookup {
            name: "systemd-run".to_owned(),
            wanted_by: "hermes-gateway.service".to_owned(),
            found: Fact::Known(None),
        });
    };
    assert_eq!(view(&nowhere), AgentView::NoSystemdRun);
}

#[test]
fn b21_marker_decides_and_logind_stands_in_for_it() {
    let linger = |change: &dyn Fn(&mut Facts)| example(|facts| change(facts)).0.linger;
    assert_eq!(
        linger(&|facts| facts.system_bus.logind.user = None),
        Tri::Yes
    );
    let hidden = LingerMarker::Unknown(Failure::of(FailureKind::Unknown));
    assert_eq!(
        linger(&|facts| facts.linger_marker = hidden.clone()),
        Tri::Yes
    );
    let neither = |facts: &mut Facts| {
        facts.linger_marker = hidden.clone();
        facts.system_bus.logind.user = None;
    };
    assert_eq!(linger(&neither), Tri::Unknown);
}

#[test]
fn sandboxes_of_the_unit_are_seen() {
    let sandbox =
        |change: &dyn Fn(&mut UnitFacts)| example(|facts| facts.edit_unit(change)).0.sandbox;
    let protect =
        |word: &'static str| sandbox(&move |unit| unit.protect_home = Some(word.to_owned()));
    assert_eq!(protect("yes"), Sandbox::HomeHidden);
    assert_eq!(protect("tmpfs"), Sandbox::HomeHidden);
    assert_eq!(protect("read-only"), Sandbox::Open);
    let forbidden = sandbox(&|unit| unit.unix_sockets_forbidden = Some(true));
    assert_eq!(forbidden, Sandbox::NoUnixSockets);
}

#[test]
fn a_masked_logind_reads_no_marker_at_a_boot_and_a_mute_one_may() {
    let mut facts = Facts::example();
    let logind = |facts: &Facts| derive(facts).0.logind;
    assert_eq!(logind(&facts), Tri::Yes);
    facts.system_bus.logind.failure = Some(Failure::of(FailureKind::NoManager));
    assert_eq!(logind(&facts), Tri::Unknown);
    facts.system_bus.logind.file_state = Some("masked".to_owned());
    assert_eq!(logind(&facts), Tri::No);
}
