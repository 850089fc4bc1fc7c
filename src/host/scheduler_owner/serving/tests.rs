//! Which processes serve which home, program by program; and which of them only wait.

use super::super::{Scheduler, scheduler};
use super::*;
use crate::host::facts::{Fact, FileId, HostRecord, OwnerRecord};
use crate::host::liveness::Liveness;
use crate::host::locks::Holder;

const ROOT: &str = "/srv/bot/.hermes";
const FIRST: u32 = 812;
const SECOND: u32 = 900;

/// Our serve has the root; the profile `ops` is there too.
fn with_profile() -> (Facts, Home) {
    let mut facts = Facts::example();
    let root = Home::at(ROOT);
    let ops = root.with_profile("ops").unwrap();
    facts.homes.truncate(1);
    let mut records = facts.homes[0].clone();
    records.path = ops.path().to_owned();
    records.profile = "ops".to_owned();
    facts.homes.push(records);
    (facts, ops)
}

fn pids(facts: &Facts, home: &Home) -> Vec<u32> {
    servers(facts, home).map(|process| process.pid).collect()
}

fn edit(facts: &mut Facts, change: impl FnOnce(&mut ProcessFacts)) {
    change(facts.dispatcher.process.as_mut().unwrap());
}

fn is_agents(process: &mut ProcessFacts, role: Role) {
    (process.program, process.role) = (Some(Program::HermesAgent), role);
    process.desktop = Fact::Known(false);
}

#[test]
fn b42_b44_our_serve_of_the_root_serves_no_profile() {
    let (facts, ops) = with_profile();
    assert_eq!(pids(&facts, &ops.root()), [FIRST]);
    assert_eq!(pids(&facts, &ops), [0; 0]);
    assert_eq!(scheduler(&facts, &facts.homes[1]).runs(), Some(false));
}

#[test]
fn b42_b44_our_serve_of_a_profile_serves_that_one() {
    let (mut facts, ops) = with_profile();
    edit(&mut facts, |process| {
        process.home = Fact::Known(ops.path().to_owned());
    });
    assert_eq!(pids(&facts, &ops), [FIRST]);
    assert_eq!(pids(&facts, &ops.root()), [0; 0]);
    assert_eq!(
        pids(&facts, &ops.root().with_profile("dev").unwrap()),
        [0; 0]
    );
}

#[test]
fn b44_a_gateway_of_the_root_serves_the_profiles_that_it_names_or_all() {
    let (mut facts, ops) = with_profile();
    edit(&mut facts, |process| is_agents(process, Role::Gateway));
    assert_eq!(pids(&facts, &ops), [FIRST]);
    facts.homes[0].gateway_state = Fact::Known(Some(crate::host::facts::GatewayState {
        owner: record(FIRST),
        state: Some("running".to_owned()),
        exit_reason: None,
        served_profiles: vec!["dev".to_owned()],
        updated_at: None,
    }));
    assert_eq!(pids(&facts, &ops), [0; 0]);
    let dev = ops.root().with_profile("dev").unwrap();
    assert_eq!(pids(&facts, &dev), [FIRST]);
}

fn record(pid: u32) -> OwnerRecord {
    super::super::tests::record(pid, Liveness::Alive)
}

#[test]
fn a_serve_of_hermes_agent_serves_the_profiles_that_it_names() {
    let (mut facts, ops) = with_profile();
    edit(&mut facts, |process| is_agents(process, Role::Serve));
    assert_eq!(pids(&facts, &ops), [0; 0]);
    facts.host_records = Fact::Known(vec![HostRecord {
        role: "serve".to_owned(),
        path: "/srv/bot/locks/host-serve.json".into(),
        owner: record(FIRST),
        profiles: vec!["default".to_owned(), "ops".to_owned()],
    }]);
    assert_eq!(pids(&facts, &ops), [FIRST]);
    assert_eq!(scheduler(&facts, &facts.homes[1]).runs(), Some(false));
    edit(&mut facts, |process| process.desktop = Fact::Known(true));
    let backend = Scheduler::Desktop { pid: FIRST };
    assert_eq!(scheduler(&facts, &facts.homes[1]), backend);
}

/// A second serve of ours beside the first, which has the lock.
fn two() -> (Facts, Home) {
    let mut facts = Facts::example();
    let mut second = facts.dispatcher.process.clone().unwrap();
    second.pid = SECOND;
    facts.others.push(second);
    facts.homes[0].serve_lock_held = held(FIRST);
    (facts, Home::at(ROOT))
}

fn held(pid: u32) -> Holder {
    Holder::Held {
        pid,
        confirmed: true,
    }
}

fn some_lock() -> Fact<Vec<FileId>> {
    Fact::Known(vec![FileId {
        device: (8, 1),
        inode: 7,
    }])
}

fn waiting(facts: &Facts, home: &Home) -> Vec<u32> {
    stand_bys(facts, home).map(|process| process.pid).collect()
}

#[test]
fn b109_a_serve_that_waits_for_the_lock_stands_by_and_serves_nothing() {
    let (mut facts, home) = two();
    assert_eq!(pids(&facts, &home), [FIRST]);
    assert_eq!(waiting(&facts, &home), [SECOND]);
    facts.homes[0].serve_lock_held = held(SECOND);
    assert_eq!(pids(&facts, &home), [SECOND]);
    let now = Scheduler::Serve { pid: Some(SECOND) };
    assert_eq!(scheduler(&facts, &facts.homes[0]), now);
}

#[test]
fn b109_a_serve_that_holds_a_lock_does_not_wait_for_one() {
    let (mut facts, home) = two();
    // As where the lock file was deleted under it: it goes on, and so does the other.
    facts.others.last_mut().unwrap().flocks = some_lock();
    assert_eq!(pids(&facts, &home), [FIRST, SECOND]);
    assert_eq!(waiting(&facts, &home), [0; 0]);
}

#[test]
fn b109_where_nobody_is_seen_to_have_the_lock_only_a_serve_without_any_waits() {
    let (mut facts, home) = two();
    edit(&mut facts, |process| process.flocks = some_lock());
    facts.homes[0].serve_lock_held = Holder::HeldOutside;
    assert_eq!(waiting(&facts, &home), [SECOND]);
    for free in [
        Holder::Free,
        Holder::Absent,
        Holder::CannotTell {
            why: "no /proc/locks".to_owned(),
        },
    ] {
        facts.homes[0].serve_lock_held = free.clone();
        assert_eq!(
            waiting(&facts, &home),
            [0; 0],
            "{free:?}: it is about to take it"
        );
    }
}

#[test]
fn b109_the_unit_of_a_stand_by_is_not_who_ticks() {
    let (mut facts, _) = two();
    let (first, mut unit) = (
        facts.dispatcher.process.take().unwrap(),
        facts.dispatcher.unit.clone().unwrap(),
    );
    unit.home = Some(ROOT.into());
    unit.main_pid = Some(SECOND);
    facts.units = Fact::Known(vec![unit]);
    // Of the first only the lock is seen.
    let by_lock = Scheduler::Serve { pid: Some(FIRST) };
    assert_eq!(scheduler(&facts, &facts.homes[0]), by_lock);
    facts.others.push(first);
    assert_eq!(scheduler(&facts, &facts.homes[0]), by_lock);
}
