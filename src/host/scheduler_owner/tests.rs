//! Who fires the schedules of a home, case by case.

use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::host::facts::GatewayState;
use crate::host::liveness::Death;

pub(super) fn record(pid: u32, liveness: Liveness) -> OwnerRecord {
    OwnerRecord {
        pid,
        start_ticks: Some(1),
        started_at: None,
        boot: None,
        pid_namespace: None,
        home: None,
        version: None,
        command: Vec::new(),
        stopping: None,
        liveness,
    }
}

/// Nothing runs; the home is empty.
fn quiet() -> Facts {
    let mut facts = Facts::example_laptop();
    facts.others.clear();
    facts
}

fn gateway_process(pid: u32, home: Fact<PathBuf>) -> ProcessFacts {
    let mut facts = Facts::example();
    facts.hermes_agent("0.22.2");
    let mut process = facts.dispatcher.process.unwrap();
    process.pid = pid;
    process.home = home;
    process
}

fn of(facts: &Facts) -> Scheduler {
    scheduler(facts, &facts.homes[0])
}

fn own_path(facts: &Facts) -> PathBuf {
    facts.homes[0].path.clone()
}

#[test]
fn a_running_serve_of_ours_ticks() {
    let facts = Facts::example();
    assert_eq!(of(&facts), Scheduler::Serve { pid: Some(812) });
    assert_eq!(of(&facts).runs(), Some(true));
}

#[test]
fn a_gateway_keeps_the_ticks_from_our_serve() {
    let mut facts = Facts::example();
    let home = Fact::Known(own_path(&facts));
    facts.others.push(gateway_process(9, home));
    let multiplexed = false;
    assert_eq!(
        of(&facts),
        Scheduler::Gateway {
            pid: Some(9),
            multiplexed
        }
    );
}

#[test]
fn a_plain_serve_of_hermes_agent_does_not_tick_and_a_desktops_does() {
    let mut facts = quiet();
    let mut backend = gateway_process(9, Fact::Known(own_path(&facts)));
    backend.role = Role::Serve;
    facts.others.push(backend);
    assert_eq!(of(&facts).runs(), Some(false));
    facts.others[0].desktop = Fact::Known(true);
    assert_eq!(of(&facts), Scheduler::Desktop { pid: 9 });
}

#[test]
fn b105_a_left_over_pid_file_is_stale() {
    let mut facts = quiet();
    facts.homes[0].gateway_pid = Fact::Known(Some(record(77, Liveness::Dead(Death::Gone))));
    let Scheduler::None { stale } = of(&facts) else {
        panic!("{:?}", of(&facts));
    };
    assert_eq!((stale[0].file.as_str(), stale[0].pid), ("gateway.pid", 77));
}

#[test]
fn b106_a_reused_pid_is_stale_and_an_unverified_one_is_not() {
    let mut facts = quiet();
    facts.homes[0].gateway_lock_held = Holder::CannotTell {
        why: "in a container".to_owned(),
    };
    facts.homes[0].gateway_pid = Fact::Known(Some(record(77, Liveness::Reused)));
    assert_eq!(of(&facts).runs(), Some(false));
    let doubt = Liveness::Unverified(Doubt::StartUnknown);
    facts.homes[0].gateway_pid = Fact::Known(Some(record(77, doubt)));
    assert_eq!(of(&facts).runs(), None);
    facts.homes[0].gateway_lock_held = Holder::Free;
    assert_eq!(of(&facts).runs(), Some(false), "a free lock is certain");
}

#[test]
fn b45_a_probe_that_failed_is_not_a_no() {
    let mut facts = quiet();
    facts.homes[0].gateway_lock_held = Holder::CannotTell {
        why: "no /proc/locks".to_owned(),
    };
    facts.homes[0].gateway_pid = Fact::denied("gateway.pid");
    assert_eq!(of(&facts).runs(), None);
}

#[test]
fn b47_the_lock_alone_tells() {
    let mut facts = quiet();
    facts.homes[0].gateway_lock_held = Holder::Held {
        pid: 4242,
        confirmed: false,
    };
    assert_eq!(of(&facts).pid(), Some(4242));
}

#[test]
fn b44_a_profile_served_by_the_roots_gateway_needs_none_of_its_own() {
    let mut facts = quiet();
    let root = own_path(&facts);
    let mut profile = facts.homes[0].clone();
    profile.path = root.join("profiles/ops");
    profile.profile = "ops".to_owned();
    facts.homes.push(profile);
    facts.others.push(gateway_process(9, Fact::Known(root)));
    let multiplexed = true;
    let served = Scheduler::Gateway {
        pid: Some(9),
        multiplexed,
    };
    assert_eq!(scheduler(&facts, &facts.homes[1]), served);
    facts.homes[0].gateway_state = Fact::Known(Some(GatewayState {
        owner: record(9, Liveness::Alive),
        state: Some("running".to_owned()),
        exit_reason: None,
        served_profiles: vec!["other".to_owned()],
        updated_at: None,
    }));
    assert_eq!(scheduler(&facts, &facts.homes[1]).runs(), Some(false));
    let serving = |home: &HomeRecords| {
        let home = Home::at(&home.path);
        let found = servers(&facts, &home);
        found.map(|process| process.pid).collect::<Vec<_>>()
    };
    assert!(serving(&facts.homes[0]).contains(&9));
    assert!(!serving(&facts.homes[1]).contains(&9));
}

#[test]
fn b12_what_runs_is_told_without_any_variable_of_the_caller() {
    let mut facts = Facts::example();
    let before = of(&facts);
    facts.shell.environ = Fact::Known(crate::host::facts::Environment::default());
    assert_eq!(of(&facts), before);
}

#[test]
fn a_process_that_hides_its_home_is_cannot_tell() {
    let mut facts = quiet();
    let hidden = gateway_process(9, Fact::denied("environ of pid 9"));
    facts.others.push(hidden);
    assert_eq!(of(&facts).runs(), None);
    facts.others[0].uid = Fact::Known(55);
    assert_eq!(of(&facts).runs(), Some(false), "another account's");
}

#[test]
fn hidepid_hides_what_another_account_runs() {
    let mut facts = quiet();
    facts.machine.namespaces.hidepid = true;
    assert_eq!(of(&facts).runs(), Some(false));
    facts.homes[0].owner = Some(55);
    assert_eq!(of(&facts).runs(), None);
    facts.caller.uid = 0;
    assert_eq!(of(&facts).runs(), Some(false));
}

#[test]
fn a_unit_that_runs_tells_what_proc_hides() {
    let mut facts = quiet();
    facts.machine.namespaces.hidepid = true;
    facts.homes[0].owner = Some(55);
    let mut unit = Facts::example().dispatcher.unit.unwrap();
    unit.home = Some(own_path(&facts));
    facts.units = Fact::Known(vec![unit]);
    assert_eq!(of(&facts), Scheduler::Serve { pid: Some(812) });
    let Fact::Known(units) = &mut facts.units else {
        panic!("it was just set");
    };
    units[0].active_state = Some("failed".to_owned());
    assert_eq!(of(&facts).runs(), None);
}

fn liveness() -> impl Strategy<Value = Liveness> {
    prop_oneof![
        Just(Liveness::Alive),
        Just(Liveness::Dead(Death::Gone)),
        Just(Liveness::Reused),
        Just(Liveness::Unverified(Doubt::StartUnknown)),
        Just(Liveness::Unverified(Doubt::OtherInit)),
    ]
}

fn holder() -> impl Strategy<Value = Holder> {
    prop_oneof![
        Just(Holder::Free),
        Just(Holder::Absent),
        Just(Holder::HeldOutside),
        Just(Holder::Held {
            pid: 7,
            confirmed: true
        }),
        Just(Holder::CannotTell {
            why: "x".to_owned()
        }),
    ]
}

proptest! {
    /// "None" is said only where no lock is held, no record lives, and what is unverified is outdone by
    /// a lock that is certainly free.
    #[test]
    fn none_is_never_a_guess(pid in liveness(), serve in liveness(), locks in (holder(), holder())) {
        let mut facts = quiet();
        let home = &mut facts.homes[0];
        home.gateway_pid = Fact::Known(Some(record(70, pid.clone())));
        home.serve = Fact::Known(Some(record(71, serve.clone())));
        (home.gateway_lock_held, home.serve_lock_held) = locks.clone();
        let unsure = |liveness: &Liveness, lock: &Holder| {
            matches!(liveness, Liveness::Unverified(_)) && *lock != Holder::Free
        };
        let any_unsure = unsure(&pid, &locks.0) || unsure(&serve, &locks.1);
        let any_held = locks.0.is_held() || locks.1.is_held();
        let any_alive = pid.is_alive() || serve.is_alive();
        let said = of(&facts).runs();
        prop_assert_eq!(said == Some(true), any_held || any_alive);
        if any_unsure {
            prop_assert_ne!(said, Some(false));
        }
    }
}
