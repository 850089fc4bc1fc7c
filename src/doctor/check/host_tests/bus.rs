//! Session bus, linger, runtime directory: HM2xx.

use super::{Fixture, evidence, findings, fixture, found, severity};
use crate::bus::{Door, Failure, FailureKind, LingerMarker, Placement, Stage};
use crate::doctor::finding::Severity::{Error, Info, Warning};
use crate::host::facts::example::{BOOTED, NOW, UID, candidate};
use crate::host::facts::{Container, Fact};
use crate::host::runtime_dir::{Candidate, Origin, RuntimeDir, Seen};
use crate::host::{Facts, GapKind};

pub(super) const FIXTURES: &[Fixture] = &[
    fixture("HM201", Warning, stopped_by_hand, heal),
    fixture("HM202", Warning, manager_failed, heal),
    fixture("HM202", Warning, manager_masked, heal),
    fixture("HM203", Warning, stale, heal),
    fixture("HM204", Warning, mute, heal),
    fixture("HM205", Warning, turned_away, heal),
    fixture("HM206", Warning, bus_alone, heal),
    fixture("HM207", Info, denied, heal),
    fixture("HM208", Info, lost_system_bus, heal),
    fixture("HM208", Warning, agent_lost_system_bus, heal),
    fixture("HM209", Info, stale_bus_only, heal),
    fixture("HM209", Warning, agent_without_bus, heal),
    fixture("HM210", Warning, manager_comes_and_goes, long_up),
    fixture("HM211", Info, bus_came_later, restarted),
    fixture("HM221", Warning, Facts::without_linger, heal),
    fixture("HM221", Error, Facts::without_linger, heal).strict(),
    fixture("HM222", Warning, forgotten, heal),
    fixture("HM223", Warning, disagreeing, heal),
    fixture("HM224", Warning, Facts::session_of_login, heal),
    fixture("HM225", Warning, user_unit_without_linger, linger_on),
    fixture("HM241", Info, roots_directory, own_directory),
    fixture("HM242", Warning, writable, own_directory),
    fixture("HM243", Info, recreated, restarted),
    fixture("HM244", Info, link, own_directory),
    fixture("HM245", Error, old_agent_without_variables, with_variables),
    fixture("HM246", Info, switched_shell, own_session),
    fixture("HM247", Info, manager_elsewhere, own_directory),
];

fn heal(facts: &mut Facts) {
    let example = Facts::example();
    facts.system_bus = example.system_bus;
    facts.session_bus = example.session_bus;
    facts.linger_marker = example.linger_marker;
    facts.runtime_dir = example.runtime_dir;
}

fn linger_on(facts: &mut Facts) {
    facts.linger_marker = LingerMarker::Present;
    facts.system_bus.logind.user = Facts::example().system_bus.logind.user;
}

fn stopped_by_hand(facts: &mut Facts) {
    facts.no_runtime_dir();
    facts.user_manager_state("inactive", "success");
}

fn manager_failed(facts: &mut Facts) {
    facts.no_runtime_dir();
    facts.user_manager_state("failed", "exit-code");
}

fn manager_masked(facts: &mut Facts) {
    stopped_by_hand(facts);
    if let Some(unit) = &mut facts.system_bus.user_manager {
        unit.load_state = "masked".to_owned();
    }
}

fn stale(facts: &mut Facts) {
    let refused = Failure {
        errno: Some(111),
        ..Failure::of(FailureKind::Refused)
    };
    facts.close_doors(Stage::Connect, &refused);
}

fn mute(facts: &mut Facts) {
    facts.close_doors(Stage::Authenticate, &Failure::of(FailureKind::Mute));
}

fn turned_away(facts: &mut Facts) {
    let closed = Failure::of(FailureKind::Closed);
    facts.close_doors(Stage::Authenticate, &closed);
}

fn bus_alone(facts: &mut Facts) {
    facts.close_door(
        Door::Private,
        Stage::Socket,
        &Failure::of(FailureKind::Absent),
    );
    let nobody = Failure::of(FailureKind::NoManager);
    facts.close_door(Door::SessionBus, Stage::ManagerAnswers, &nobody);
}

fn denied(facts: &mut Facts) {
    let failure = Failure {
        errno: Some(13),
        ..Failure::of(FailureKind::PermissionDenied)
    };
    facts.close_doors(Stage::Connect, &failure);
}

fn lost_system_bus(facts: &mut Facts) {
    let lost = Failure::of(FailureKind::LostSystemBus);
    facts.session_bus.placement = Placement::Unable(lost);
}

fn agent_lost_system_bus(facts: &mut Facts) {
    facts.hermes_agent("0.22.2");
    lost_system_bus(facts);
}

fn stale_bus_only(facts: &mut Facts) {
    let refused = Failure::of(FailureKind::Refused);
    facts.close_door(Door::SessionBus, Stage::Connect, &refused);
}

fn agent_without_bus(facts: &mut Facts) {
    facts.hermes_agent("0.22.2");
    facts.close_door(
        Door::SessionBus,
        Stage::Socket,
        &Failure::of(FailureKind::Absent),
    );
}

fn manager_started_at(facts: &mut Facts, seconds: u32) {
    if let Some(unit) = &mut facts.system_bus.user_manager {
        unit.active_enter_us = Some(u64::from(seconds) * 1_000_000);
    }
}

fn manager_comes_and_goes(facts: &mut Facts) {
    facts.in_user_unit();
    facts.homes[0].gateway_starts = [500.0, 400.0, 60.0].map(|ago| NOW - ago).to_vec();
    manager_started_at(facts, BOOTED + 86_340);
}

fn long_up(facts: &mut Facts) {
    manager_started_at(facts, BOOTED + 20);
}

fn bus_came_later(facts: &mut Facts) {
    manager_started_at(facts, BOOTED + 80_000);
}

fn recreated(facts: &mut Facts) {
    bus_came_later(facts);
    facts.set_variable("XDG_RUNTIME_DIR", "/run/user/1001");
}

fn restarted(facts: &mut Facts) {
    if let Some(process) = &mut facts.dispatcher.process {
        process.started_at = Fact::Known(NOW);
    }
}

fn forgotten(facts: &mut Facts) {
    stopped_by_hand(facts);
    facts.system_bus.logind.user = None;
}

fn disagreeing(facts: &mut Facts) {
    if let Some(user) = &mut facts.system_bus.logind.user {
        user.linger = Some(false);
    }
}

pub(super) fn user_unit_without_linger(facts: &mut Facts) {
    facts.in_user_unit();
    facts.session_of_login();
}

fn named(facts: &mut Facts, seen: Candidate) {
    facts.set_variable("XDG_RUNTIME_DIR", &seen.path.clone());
    let own = candidate(Origin::Conventional, "/run/user/1001", UID, 0o700);
    facts.runtime_dir = RuntimeDir::choose(UID, vec![seen, own]);
}

fn roots_directory(facts: &mut Facts) {
    named(
        facts,
        candidate(Origin::Environment, "/run/user/0", 0, 0o700),
    );
}

fn manager_elsewhere(facts: &mut Facts) {
    let named = candidate(Origin::Environment, "/tmp/run", UID, 0o700);
    let usual = candidate(Origin::Conventional, "/run/user/1001", UID, 0o700);
    let chosen = RuntimeDir::choose(UID, vec![named, usual]);
    facts.runtime_dir = chosen.answered_in("/run/user/1001");
}

fn link(facts: &mut Facts) {
    let Some(Seen::There {
        uid,
        mode,
        inode,
        changed_at,
        ..
    }) = candidate(Origin::Environment, "/tmp/run", UID, 0o700).seen
    else {
        return;
    };
    let kind = crate::host::runtime_dir::Kind::Link;
    let seen = Seen::There {
        kind,
        uid,
        mode,
        changed_at,
        inode,
    };
    named(
        facts,
        Candidate::judge(Origin::Environment, "/tmp/run", Some(seen), UID),
    );
}

fn writable(facts: &mut Facts) {
    let open = candidate(Origin::Conventional, "/run/user/1001", UID, 0o777);
    let refusal = open.rejected.clone();
    facts.runtime_dir = RuntimeDir::choose(UID, vec![open]);
    facts.close_doors(
        Stage::RuntimeDir,
        &refusal.unwrap_or(Failure::of(FailureKind::Other)),
    );
}

fn own_directory(facts: &mut Facts) {
    let example = Facts::example();
    facts.runtime_dir = example.runtime_dir;
    facts.session_bus = example.session_bus;
}

fn old_agent_without_variables(facts: &mut Facts) {
    facts.hermes_agent("0.21.2");
}

fn with_variables(facts: &mut Facts) {
    facts.set_variable("XDG_RUNTIME_DIR", "/run/user/1001");
    let own = candidate(Origin::Environment, "/run/user/1001", UID, 0o700);
    facts.runtime_dir = RuntimeDir::choose(UID, vec![own]);
}

pub(super) fn switched_shell(facts: &mut Facts) {
    *facts = Facts::example_laptop();
    facts.shell.loginuid = Fact::Known(Some(1000));
    facts.system_bus.logind.user = None;
}

fn own_session(facts: &mut Facts) {
    facts.shell.loginuid = Fact::Known(Some(UID));
}

#[test]
fn b07_b13_linger_off_is_one_cause_with_its_symptoms_under_it() {
    let mut facts = Facts::example();
    facts.without_linger();
    let found = findings(&evidence(facts));
    let codes: Vec<_> = found.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["HM221", "HM301", "HM303"]);
    assert!(found[1].causes.contains(&"HM221") && found[2].causes.contains(&"HM221"));
    let remedy = &found[0].remedies[0];
    assert_eq!(remedy.argv, ["loginctl", "enable-linger", "bot"]);
    assert_eq!(remedy.undo, ["loginctl", "disable-linger", "bot"]);
}

#[test]
fn b09_b20_both_ids_are_named_and_the_value_is_not_used() {
    let mut facts = Facts::example();
    roots_directory(&mut facts);
    facts.machine.namespaces.initial_user = Fact::Known(false);
    facts.machine.namespaces.uid_map = vec![[1, 100_001, 65_535]];
    let finding = found(facts, "HM241").unwrap();
    let mut namespace = finding.evidence.iter();
    let namespace = namespace.find(|seen| seen.kind == "namespace").unwrap();
    assert_eq!(
        namespace.observed,
        "ids are those that it maps: uid 1001 is uid 101001 outside, uid 0 stands for nobody outside"
    );
    assert_eq!(
        finding.summary,
        "/run/user/0 belongs to uid 0; the dispatcher runs as uid 1001"
    );
    let instead = finding
        .evidence
        .iter()
        .find(|seen| seen.observed == "used instead");
    assert_eq!(instead.unwrap().target, "/run/user/1001");
}

#[test]
fn b15_wsl_directory_without_sockets_is_a_manager_that_does_not_run() {
    let mut facts = Facts::example();
    facts.machine.container = Fact::Known(Container::Wsl2);
    with_variables(&mut facts);
    facts.close_doors(Stage::Socket, &Failure::of(FailureKind::Absent));
    facts.user_manager_state("inactive", "success");
    let finding = found(facts, "HM201").unwrap();
    assert!(finding.evidence.iter().any(|seen| seen.target == "WSL 2"));
    assert_eq!(
        finding.remedies[0].argv,
        ["systemctl", "restart", "user@1001.service"]
    );
}

#[test]
fn b16_directory_emptied_under_the_dispatcher_is_told() {
    let mut facts = Facts::example();
    with_variables(&mut facts);
    let seen = Seen::There {
        kind: crate::host::runtime_dir::Kind::Directory,
        uid: UID,
        mode: 0o40_700,
        changed_at: i64::from(BOOTED) + 80_000,
        inode: 7,
    };
    let emptied = Candidate::judge(Origin::Environment, "/run/user/1001", Some(seen), UID);
    facts.runtime_dir = RuntimeDir::choose(UID, vec![emptied]);
    facts.close_doors(Stage::Socket, &Failure::of(FailureKind::Absent));
    facts.user_manager_state("inactive", "success");
    let at = crate::doctor::check::time::utc(f64::from(BOOTED) + 80_000.0);
    let finding = found(facts, "HM243").unwrap();
    assert_eq!(severity(&finding), Warning);
    let told = format!("made anew at {at}, after the dispatcher had started");
    assert!(finding.summary.ends_with(&told), "{}", finding.summary);
}

#[test]
fn b17_no_linger_is_offered_where_the_manager_comes_and_goes() {
    let mut facts = Facts::example();
    manager_comes_and_goes(&mut facts);
    let finding = found(facts, "HM210").unwrap();
    assert_eq!(finding.remedies, []);
    let mut facts = Facts::example();
    manager_comes_and_goes(&mut facts);
    facts.homes[0].gateway_starts.truncate(2);
    assert_eq!(found(facts, "HM210"), None);
}

#[test]
fn b19_denied_means_unknown_and_shows_who_asked() {
    let mut facts = Facts::example();
    denied(&mut facts);
    let evidence = evidence(facts);
    assert!(!evidence.guesses.is_empty());
    let found = findings(&evidence);
    let finding = found
        .iter()
        .find(|finding| finding.code == "HM207")
        .unwrap();
    let targets: Vec<_> = finding
        .evidence
        .iter()
        .map(|seen| seen.target.as_str())
        .collect();
    for target in ["XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "who asks"] {
        assert!(targets.contains(&target), "{target}: {targets:?}");
    }
    assert!(found.iter().all(|finding| finding.code != "HM203"));
}

#[test]
fn doors_of_another_account_are_a_gap_that_hearsay_fills() {
    let matters = |change: &dyn Fn(&mut Facts)| {
        let mut facts = Facts::example();
        facts.session_bus.doors.clear();
        facts.session_bus.not_tried = Some(Failure::of(FailureKind::PermissionDenied));
        change(&mut facts);
        let check = super::checks()
            .find(|check| check.id == "session-bus")
            .unwrap();
        let outcome = (check.run)(&evidence(facts));
        assert_eq!(outcome.unchecked[0].gap.kind, GapKind::Permission);
        outcome.unchecked[0].matters
    };
    assert!(!matters(&|_| ()));
    assert!(matters(&|facts| facts.system_bus.user_manager = None));
}

#[test]
fn b24_a_failed_manager_points_at_its_journal() {
    let mut facts = Facts::example();
    manager_failed(&mut facts);
    let finding = found(facts, "HM202").unwrap();
    let journal = finding.evidence.iter().find(|seen| seen.kind == "journal");
    assert!(
        journal
            .unwrap()
            .observed
            .contains("journalctl -b -u user@1001.service")
    );
}

#[test]
fn root_s_workers_need_no_linger() {
    let mut facts = Facts::example();
    facts.without_linger();
    facts.account.uid = 0;
    let codes: Vec<_> = findings(&evidence(facts))
        .iter()
        .map(|finding| (finding.code, severity(finding)))
        .collect();
    assert_eq!(codes, [("HM319", Info)]);
}
