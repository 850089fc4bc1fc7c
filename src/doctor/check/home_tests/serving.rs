//! Who serves which home: a serve of ours one, a gateway of Hermes Agent its profiles too; and who only
//! starts, or stands by.

use super::fixture::{Fixture, GONE, codes};
use crate::doctor::finding::Finding;
use crate::host::facts::{Fact, GatewayState, OwnerRecord, Program, Role};
use crate::host::liveness::Liveness;
use crate::host::locks::Holder;

/// The dispatcher was started so many seconds ago.
pub(super) fn begun(fixture: &mut Fixture, seconds: i64) {
    let started = fixture.epoch(-seconds);
    let process = fixture.facts.dispatcher.process.as_mut().unwrap();
    process.started_at = Fact::Known(started);
}

/// What the check of the ticker saw.
pub(super) fn ticker_note(fixture: &Fixture) -> String {
    note(fixture, "scheduler-ticker").unwrap_or_default()
}

fn note(fixture: &Fixture, id: &str) -> Option<String> {
    let mut checks = crate::doctor::check::all();
    let check = checks.find(|check| check.id == id).unwrap();
    (check.run)(&fixture.evidence()).note
}

/// A record of a process.
pub(super) fn owner(pid: u32, liveness: Liveness) -> OwnerRecord {
    OwnerRecord {
        pid,
        start_ticks: Some(1),
        started_at: None,
        boot: None,
        home: None,
        version: None,
        command: Vec::new(),
        pid_namespace: None,
        stopping: None,
        liveness,
    }
}

#[test]
fn b33_the_heartbeat_of_before_a_start_is_not_a_stall() {
    let mut fixture = Fixture::healthy();
    fixture.beat(2_000, GONE);
    begun(&mut fixture, 100);
    assert_eq!(codes(&fixture.findings("HM403")), [""; 0]);
    assert_eq!(ticker_note(&fixture), "starting for 1m 40s");
    begun(&mut fixture, 300);
    assert!(fixture.findings("HM403")[0].summary.contains("dead for 5m"));
}

#[test]
fn b40_a_tick_by_hand_beside_a_serve_that_runs_is_no_silence() {
    let fixture = Fixture::healthy();
    fixture.beat(30, GONE);
    assert_eq!(codes(&fixture.all_findings()), [""; 0]);
    assert_eq!(ticker_note(&fixture), "ticked by a process that has ended");
}

/// A healthy home with a profile `ops`, which has the same jobs.
fn with_profile() -> Fixture {
    let mut fixture = Fixture::healthy();
    let mut records = fixture.facts.homes[0].clone();
    records.path = fixture.path("profiles/ops");
    records.profile = "ops".to_owned();
    fixture.facts.homes.push(records);
    let jobs = std::fs::read_to_string(fixture.path("cron/jobs.json")).unwrap();
    fixture.write("profiles/ops/cron/jobs.json", &jobs);
    fixture
}

/// The profile was ticked just now.
fn ticked(fixture: &Fixture) {
    let at = fixture.epoch(-20);
    let beat = format!("{at} {}", std::process::id());
    fixture.write("profiles/ops/cron/ticker_heartbeat", &beat);
    fixture.write("profiles/ops/cron/ticker_last_success", &at.to_string());
}

/// A gateway of Hermes Agent that says which profiles it serves has the root.
fn gateway(fixture: &mut Fixture, profiles: &[&str]) {
    let process = fixture.facts.dispatcher.process.as_mut().unwrap();
    process.role = Role::Gateway;
    process.program = Some(Program::HermesAgent);
    let state = GatewayState {
        owner: owner(process.pid, Liveness::Alive),
        state: Some("running".to_owned()),
        exit_reason: None,
        served_profiles: profiles.iter().map(ToString::to_string).collect(),
        updated_at: None,
    };
    fixture.facts.dispatcher.program = Program::HermesAgent;
    fixture.facts.homes[0].gateway_state = Fact::Known(Some(state));
    fixture.facts.edit_unit(|unit| {
        unit.role = Some(Role::Gateway);
        unit.program = Some(Program::HermesAgent);
    });
}

/// The findings that tell of who ticks.
fn of_the_ticker(fixture: &Fixture) -> Vec<Finding> {
    let all = fixture.all_findings().into_iter();
    all.filter(|found| found.code.starts_with("HM40")).collect()
}

#[test]
fn b42_b44_a_profile_that_no_ticker_owns_although_our_serve_ticks_the_root() {
    let mut fixture = with_profile();
    let unowned = |fixture: &Fixture| {
        let found = of_the_ticker(fixture);
        assert_eq!(codes(&found), ["HM407"]);
        let wanted = "no ticker owns the store of profile ops (2 jobs), while default is ticked";
        assert_eq!(found[0].summary, wanted);
        found[0].remedies.clone()
    };
    // Our serve has the root and no more: a restart of it would mend nothing, its end would break it.
    let home = fixture.path("profiles/ops").display().to_string();
    let start = ["hermes", "serve", "--home", &home];
    for remedies in [unowned(&fixture), {
        begun(&mut fixture, 20);
        unowned(&fixture)
    }] {
        assert_eq!(remedies.len(), 1);
        assert_eq!(remedies[0].argv, start);
    }
    // Nor does anybody need to be seen: its heartbeat tells that somebody ticks the root.
    fixture.no_server();
    fixture.beat(30, std::process::id());
    let advice = format!("{:?}", unowned(&fixture));
    assert!(!advice.contains("install"), "{advice}");
}

#[test]
fn b44_a_profile_that_the_roots_gateway_ticks_is_no_matter() {
    let mut fixture = with_profile();
    ticked(&fixture);
    for profiles in [[].as_slice(), &["default", "ops"]] {
        gateway(&mut fixture, profiles);
        assert_eq!(codes(&of_the_ticker(&fixture)), [""; 0], "{profiles:?}");
        assert_eq!(ticker_note(&fixture), "default: ticking; ops: ticking");
    }
}

#[test]
fn b42_b44_a_profile_that_the_roots_gateway_passes_over_wants_a_restart_of_that_one() {
    let mut fixture = with_profile();
    // By its own word it serves that profile; it does not know it; it is not told apart.
    for profiles in [["ops"].as_slice(), &["dev"], &[]] {
        gateway(&mut fixture, profiles);
        let found = of_the_ticker(&fixture);
        assert_eq!(codes(&found), ["HM407"], "{profiles:?}");
        let remedy = &found[0].remedies[0];
        let restart = ["systemctl", "restart", "hermes.service"];
        assert_eq!(remedy.argv, restart, "{profiles:?}");
        let asked = remedy.verify.join(" ");
        assert!(asked.contains("profiles/ops"), "{asked}");
        let advice = format!("{:?}", found[0].remedies);
        assert!(!advice.contains("install") && !advice.contains("serve --home"));
    }
    begun(&mut fixture, 20);
    gateway(&mut fixture, &[]);
    assert_eq!(codes(&of_the_ticker(&fixture)), [""; 0]);
    let wanted = "default: ticking; ops: starting for 20s";
    assert_eq!(ticker_note(&fixture), wanted);
}

#[test]
fn b44_b109_one_serve_for_each_profile_is_no_second_scheduler() {
    let mut fixture = with_profile();
    let mut second = fixture.facts.dispatcher.process.clone().unwrap();
    second.pid = 900;
    second.home = Fact::Known(fixture.path("profiles/ops"));
    fixture.facts.others.push(second);
    ticked(&fixture);
    assert_eq!(codes(&of_the_ticker(&fixture)), [""; 0]);
}

#[test]
fn b109_a_stand_by_is_told_and_is_no_second_scheduler() {
    let mut fixture = Fixture::healthy();
    let mut second = fixture.facts.dispatcher.process.clone().unwrap();
    second.pid = 900;
    fixture.facts.others.push(second);
    fixture.facts.homes[0].serve_lock_held = Holder::Held {
        pid: 812,
        confirmed: true,
    };
    assert_eq!(codes(&fixture.all_findings()), [""; 0]);
    let told = note(&fixture, "scheduler-process");
    assert_eq!(told.as_deref(), Some("pid 900 stands by"));
    // It does not tick for the one that has ended its ticks, either.
    fixture.beat(900, std::process::id());
    assert!(
        fixture.findings("HM403")[0]
            .summary
            .contains("dead for 15m")
    );
}
