//! Hosts: HM1xx.

use super::{Fixture, evidence, findings, fixture, found};
use crate::bus::{Failure, FailureKind, Stage};
use crate::dispatch::{Mode, Policy};
use crate::doctor::evidence::Evidence;
use crate::doctor::finding::Severity::{Info, Warning};
use crate::host::Facts;
use crate::host::facts::{CgroupLayout, Container, Fact, NewestFile, OwnerRecord, ProgramLookup};
use crate::host::liveness::Liveness;

pub(super) const FIXTURES: &[Fixture] = &[
    fixture("HM101", Warning, docker, no_invocation_id_and_systemd),
    fixture("HM102", Warning, chroot, no_invocation_id_and_systemd),
    fixture("HM103", Warning, no_system_bus, heal_system_bus),
    fixture("HM104", Warning, init_mute, heal_system_bus),
    fixture(
        "HM105",
        Warning,
        logind_masked_without_linger,
        heal_system_bus,
    ),
    fixture("HM106", Info, legacy, unified),
    fixture("HM107", Info, no_controllers, memory_controller),
    fixture("HM108", Warning, small, big).parallel(8),
    fixture("HM109", Warning, wsl2, no_invocation_id_and_systemd),
    fixture("HM110", Warning, file_from_the_future, clock_right),
    fixture("HM111", Warning, clock_stepped, scheduler_restarted),
    fixture("HM112", Info, slept, scheduler_restarted),
];

/// The record of the dispatcher, written by a clock that was an hour behind.
fn clock_stepped(facts: &mut Facts) {
    let process = facts.dispatcher.process.as_ref().expect("a dispatcher");
    let then = process.started_at.known().map(|at| at - 3_600.0);
    let start_ticks = process.start_ticks.known().copied();
    let record = OwnerRecord {
        pid: process.pid,
        start_ticks,
        started_at: then,
        boot: None,
        pid_namespace: None,
        home: None,
        version: None,
        command: Vec::new(),
        stopping: None,
        liveness: Liveness::Alive,
    };
    facts.homes[0].serve = Fact::Known(Some(record));
}

fn scheduler_restarted(facts: &mut Facts) {
    *facts = Facts::example();
}

fn slept(facts: &mut Facts) {
    facts.machine.clock.monotonic = facts.machine.clock.boottime - 7_200.0;
}

#[test]
fn a_clock_that_stepped_is_told_with_its_way_and_another_process_s_record_is_not() {
    let mut facts = Facts::example();
    clock_stepped(&mut facts);
    let told = found(facts.clone(), "HM111").unwrap();
    assert!(
        told.summary.contains("set forward by 1h since pid 812"),
        "{}",
        told.summary
    );
    let edit = |facts: &mut Facts, change: fn(&mut OwnerRecord)| {
        if let Fact::Known(Some(record)) = &mut facts.homes[0].serve {
            change(record);
        }
    };
    let mut other = facts.clone();
    edit(&mut other, |record| record.start_ticks = Some(1));
    assert_eq!(found(other, "HM111"), None);
    edit(&mut facts, |record| {
        record.started_at = record.started_at.map(|at| at + 3_570.0);
    });
    assert_eq!(found(facts, "HM111"), None);
}

fn docker(facts: &mut Facts) {
    facts.without_systemd(Container::Docker);
}

fn chroot(facts: &mut Facts) {
    facts.without_systemd(Container::Chroot);
}

fn wsl2(facts: &mut Facts) {
    facts.without_systemd(Container::Wsl2);
}

fn no_invocation_id_and_systemd(facts: &mut Facts) {
    *facts = Facts::example();
}

fn no_system_bus(facts: &mut Facts) {
    facts.close_system_bus(Stage::Socket, &Failure::of(FailureKind::Absent));
}

fn init_mute(facts: &mut Facts) {
    facts.close_system_bus(Stage::ManagerAnswers, &Failure::of(FailureKind::Mute));
}

fn heal_system_bus(facts: &mut Facts) {
    let example = Facts::example();
    facts.system_bus = example.system_bus;
    facts.session_bus = example.session_bus;
}

fn logind_masked_without_linger(facts: &mut Facts) {
    facts.without_linger();
    facts.system_bus.logind.failure = Some(Failure::of(FailureKind::ErrorReply));
    facts.system_bus.logind.file_state = Some("masked".to_owned());
}

fn legacy(facts: &mut Facts) {
    facts.machine.cgroup.layout = CgroupLayout::Legacy;
}

fn unified(facts: &mut Facts) {
    facts.machine.cgroup.layout = CgroupLayout::Unified;
}

fn no_controllers(facts: &mut Facts) {
    facts.scope_controllers = Fact::Known(Vec::new());
}

fn memory_controller(facts: &mut Facts) {
    facts.scope_controllers = Fact::Known(vec!["memory".to_owned()]);
}

fn small(facts: &mut Facts) {
    facts.machine.memory.swaps = vec!["/dev/zram0".to_owned()];
}

fn big(facts: &mut Facts) {
    facts.machine.memory.total = Some(256 << 30);
}

fn file_from_the_future(facts: &mut Facts) {
    let modified_at = facts.machine.clock.wall + 3600.0;
    facts.homes[0].newest_file = Some(NewestFile {
        path: "/srv/bot/.hermes/cron/jobs.json".into(),
        modified_at,
    });
}

fn clock_right(facts: &mut Facts) {
    facts.machine.clock.wall += 7200.0;
}

#[test]
fn b30_the_sum_of_limits_and_zram_are_named() {
    let mut facts = Facts::example();
    small(&mut facts);
    let evidence = evidence(facts).with_policy(Policy::default(), Some(8));
    let found = findings(&evidence);
    let finding = found
        .iter()
        .find(|finding| finding.code == "HM108")
        .unwrap();
    assert!(finding.summary.contains("32768 MiB"), "{}", finding.summary);
    assert!(
        finding
            .evidence
            .iter()
            .any(|seen| seen.observed.contains("zram"))
    );
}

#[test]
fn b30_no_more_workers_are_counted_than_there_are_jobs() {
    let mut evidence = evidence(Facts::example()).with_homes(vec![super::home_after("")]);
    evidence.max_parallel = Some(8);
    let codes = |evidence: &Evidence| findings(evidence).iter().any(|found| found.code == "HM108");
    assert!(!codes(&evidence), "a home without jobs");
    evidence.homes.clear();
    assert!(codes(&evidence));
}

#[test]
fn b29_the_limit_of_a_worker_is_told() {
    let evidence = evidence(Facts::example());
    let check = super::checks()
        .find(|check| check.id == "host-memory")
        .unwrap();
    let note = (check.run)(&evidence).note.unwrap();
    assert_eq!(note, "a worker may use 4096 MiB");
}

#[test]
fn system_bus_that_only_others_may_use_is_a_gap_and_no_finding() {
    let mut facts = Facts::example();
    facts.close_system_bus(Stage::Connect, &Failure::of(FailureKind::PermissionDenied));
    let check = super::checks()
        .find(|check| check.id == "host-system-bus")
        .unwrap();
    let outcome = (check.run)(&evidence(facts));
    assert_eq!(outcome.findings, []);
    assert_eq!(outcome.unchecked.len(), 1);
}

#[test]
fn a_system_bus_that_was_not_asked_in_time_is_no_pass() {
    let mut facts = Facts::example();
    facts.system_bus.doors.clear();
    facts.system_bus.logind.failure = Some(Failure::of(FailureKind::Mute));
    let bus = super::checks()
        .find(|check| check.id == "host-system-bus")
        .unwrap();
    let outcome = (bus.run)(&evidence(facts.clone()));
    assert!(outcome.unchecked[0].matters && outcome.note.is_none());
    let logind = found(facts, "HM105").unwrap();
    assert_eq!(super::severity(&logind), Warning);
}

#[test]
fn a_mute_bus_is_no_pass_even_where_no_job_needs_it() {
    for close in [no_system_bus, init_mute] {
        let mut facts = Facts::example_laptop();
        close(&mut facts);
        let evidence = evidence(facts);
        for id in ["host-system-bus", "host-logind"] {
            let check = super::checks().find(|check| check.id == id).unwrap();
            let outcome = (check.run)(&evidence);
            let warns = |found| super::severity(found) == Warning;
            let silent = id == "host-logind" && outcome.note.is_some();
            assert!(
                silent || outcome.findings.iter().any(warns),
                "{id}: {outcome:?}"
            );
        }
    }
}

#[test]
fn masked_logind_under_a_good_manager_is_only_told() {
    let mut facts = Facts::example();
    facts.system_bus.logind.failure = Some(Failure::of(FailureKind::ErrorReply));
    facts.system_bus.logind.file_state = Some("masked".to_owned());
    let finding = found(facts, "HM105").unwrap();
    assert_eq!(super::severity(&finding), Info);
    assert!(finding.summary.contains("masked"));
}

#[test]
fn wsl1_has_no_remedy_and_wsl2_has() {
    let remedies = |kind| {
        let mut facts = Facts::example();
        facts.without_systemd(kind);
        found(facts, "HM109").unwrap().remedies.len()
    };
    assert_eq!(remedies(Container::Wsl1), 0);
    assert_eq!(remedies(Container::Wsl2), 1);
}

#[test]
fn b05_no_program_is_needed_to_place_a_worker() {
    let mut facts = Facts::example();
    facts.set_variable("PATH", "/nowhere");
    facts.dispatcher.programs = ["systemd-run", "true"]
        .map(|name| ProgramLookup {
            name: name.to_owned(),
            wanted_by: "hermes".to_owned(),
            found: Fact::Known(None),
        })
        .to_vec();
    assert_eq!(evidence(facts).decision_jobs.mode, Mode::Scoped);
}
