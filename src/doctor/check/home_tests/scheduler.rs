//! The ticker: dead, hung, failing, elsewhere, twice.

use super::fixture::{Fixture, GONE, codes};
use super::serving::{begun, owner, ticker_note};
use crate::doctor::finding::{Finding, Severity};
use crate::host::facts::{Fact, GatewayState, ManagerKind, Program, Role};
use crate::host::liveness::{Death, Liveness};
use crate::host::locks::Holder;

fn summary(found: &Finding) -> &str {
    &found.summary
}

#[test]
fn b52_jobs_and_no_scheduler() {
    let mut fixture = Fixture::healthy();
    fixture.no_server();
    std::fs::remove_file(fixture.path("state.db")).unwrap();
    let found = fixture.one("HM402");
    assert_eq!(
        summary(&found),
        "nothing ticks this home (2 jobs), and nothing ever has"
    );
    assert_eq!(
        found.remedies.last().unwrap().argv[..2],
        ["hermes", "serve"]
    );
    fixture.beat(84_688, GONE);
    assert!(summary(&fixture.one("HM402")).contains("for 23h 31m now"));
}

#[test]
fn b40_a_young_heartbeat_of_a_process_that_has_ended_is_no_life() {
    let mut fixture = Fixture::healthy();
    fixture.no_server();
    fixture.beat(30, GONE);
    let found = fixture.findings("HM402").remove(0);
    assert!(summary(&found).ends_with(&format!("the one that did, pid {GONE}, is gone")));
    assert_eq!(found.severity, Some(Severity::Info));
    let success = fixture.epoch(3_600);
    fixture.write("cron/ticker_last_success", &success.to_string());
    assert_eq!(fixture.findings("HM402")[0].severity, None);
}

#[test]
fn the_unit_of_another_home_is_no_way_out() {
    let mut fixture = Fixture::healthy();
    fixture.no_server();
    let first = |fixture: &Fixture| fixture.findings("HM402")[0].remedies[0].clone();
    assert_eq!(first(&fixture).argv[..2], ["hermes", "serve"]);
    let path = fixture.path("");
    fixture.facts.edit_unit(|unit| {
        unit.home = Some(path.clone());
        unit.active_state = Some("inactive".to_owned());
        unit.main_pid = None;
    });
    let start = first(&fixture);
    assert_eq!(start.argv, ["systemctl", "start", "hermes.service"]);
    assert!(start.persistent);
    fixture.facts.edit_unit(|unit| {
        unit.manager = Some(ManagerKind::User);
        unit.file_state = Some("disabled".to_owned());
    });
    let start = first(&fixture);
    assert!(!start.persistent);
    assert_eq!(start.argv[..2], ["env", "XDG_RUNTIME_DIR=/run/user/1001"]);
}

#[test]
fn a_gateway_is_started_by_the_command_that_it_wrote_down() {
    let mut fixture = Fixture::healthy();
    fixture.no_server();
    fixture.facts.dispatcher.program = Program::HermesAgent;
    let started_by = |fixture: &mut Fixture, words: [&str; 3]| {
        let mut record = owner(4242, Liveness::Dead(Death::Gone));
        record.command = words.map(str::to_owned).to_vec();
        fixture.facts.homes[0].gateway_pid = Fact::Known(Some(record));
        fixture.findings("HM402")[0].remedies[0].argv.clone()
    };
    let home = format!("HERMES_HOME={}", fixture.home().path().display());
    let words = started_by(&mut fixture, ["/opt/agent/bin/hermes", "gateway", "run"]);
    let wanted = ["env", &home, "/opt/agent/bin/hermes", "gateway", "run"];
    assert_eq!(words, wanted);
    // That name may be ours, which has no such command.
    let words = started_by(&mut fixture, ["hermes", "gateway", "run"]);
    assert_eq!(words[..2], ["hermes", "serve"]);
}

#[test]
fn jobs_that_are_all_paused_are_told() {
    let fixture = Fixture::healthy();
    fixture.only_job(|job| job["state"] = "paused".into());
    let beside = fixture.one("HM416");
    assert!(
        summary(&beside).contains("1 of 1 jobs is paused"),
        "a loop goes on"
    );
    assert_eq!(beside.home.as_deref(), Some(fixture.home().path()));
    std::fs::remove_file(fixture.path("state.db")).unwrap();
    let found = fixture.one("HM401");
    assert!(summary(&found).contains("1 job is paused"));
    assert_eq!(found.remedies[0].argv[..3], ["hermes", "cron", "resume"]);
}

#[test]
fn jobs_that_are_paused_beside_others_are_told_by_name() {
    let fixture = Fixture::healthy();
    let (mut first, second) = (fixture.job("00000000000a"), fixture.hourly());
    first["paused_at"] = fixture.ago(60).into();
    first["state"] = "paused".into();
    fixture.jobs(&[first.clone(), second]);
    let found = fixture.one("HM416");
    let name = first["name"].as_str().unwrap_or("00000000000a");
    assert_eq!(summary(&found), format!("1 of 2 jobs is paused: {name}"));
    assert_eq!(
        found.remedies[0].argv[..4],
        ["hermes", "cron", "resume", "00000000000a"]
    );
    assert!(fixture.findings("HM401").is_empty());
    let many: Vec<_> = (0..8)
        .map(|number| {
            let mut job = fixture.job(&format!("{number:012}"));
            job["name"] = format!("n{number}").into();
            job["state"] = if number == 7 { "scheduled" } else { "paused" }.into();
            job
        })
        .collect();
    fixture.jobs(&many);
    let found = &fixture.findings("HM416")[0];
    let wanted = "7 of 8 jobs are paused: n0, n1, n2, n3, n4 and 2 more";
    assert_eq!(summary(found), wanted);
    assert!(found.remedies[0].argv[2].contains("06; do hermes cron resume --home"));
}

#[test]
fn a_process_that_only_its_lock_tells_of_ticks_as_well() {
    let mut fixture = Fixture::healthy();
    fixture.no_server();
    fixture.beat(900, GONE);
    assert_eq!(fixture.findings("HM402").len(), 1);
    fixture.facts.homes[0].gateway_lock_held = Holder::Held {
        pid: 812,
        confirmed: true,
    };
    assert!(fixture.findings("HM402").is_empty());
    assert!(summary(&fixture.findings("HM403")[0]).contains("dead for 15m"));
}

#[test]
fn b45_a_fresh_heartbeat_is_life_although_no_process_can_be_seen() {
    let mut fixture = Fixture::healthy();
    fixture.no_server();
    fixture.beat(30, std::process::id());
    assert!(fixture.findings("HM402").is_empty());
}

#[test]
fn a_plain_serve_of_the_other_program_ticks_nothing() {
    let mut fixture = Fixture::healthy();
    let process = fixture.facts.dispatcher.process.as_mut().unwrap();
    process.program = Some(Program::HermesAgent);
    process.desktop = Fact::Known(false);
    fixture.beat(900, GONE);
    assert!(summary(&fixture.findings("HM402")[0]).contains("runs no ticker"));
}

#[test]
fn b36_b37_a_stale_heartbeat_with_the_lock_free_is_a_dead_ticker() {
    let fixture = Fixture::healthy();
    fixture.beat(900, std::process::id());
    let found = fixture.one("HM403");
    assert!(summary(&found).contains("dead for 15m"));
    assert_eq!(
        found.remedies[0].argv,
        ["systemctl", "restart", "hermes.service"]
    );
}

#[test]
fn a_dead_ticker_without_a_unit_is_ended_and_run_again() {
    let mut fixture = Fixture::healthy();
    fixture.facts.dispatcher.unit = None;
    fixture.facts.units = Fact::Known(Vec::new());
    fixture.beat(900, std::process::id());
    let process = fixture.facts.dispatcher.process.as_mut().unwrap();
    process.command = vec!["hermes".to_owned(), "serve".to_owned()];
    process.exe = Fact::Known("/usr/bin/hermes".into());
    let home = fixture.home().path().display().to_string();
    let line = fixture.one("HM403").remedies[0].argv[2].clone();
    let (end, again) = line.split_once(" && exec ").unwrap();
    assert!(end.starts_with("kill 812 && timeout"), "{line}");
    assert_eq!(
        again,
        format!("env HERMES_HOME={home} /usr/bin/hermes serve")
    );
}

#[test]
fn b36_a_stale_heartbeat_with_the_lock_held_is_a_tick_that_runs_or_hangs() {
    let fixture = Fixture::healthy();
    let judged = |age: i64| {
        fixture.beat(age, std::process::id());
        let mut evidence = fixture.evidence();
        evidence.homes[0].tick_lock = Holder::Held {
            pid: 812,
            confirmed: true,
        };
        let check = crate::doctor::check::all().find(|check| check.id == "scheduler-ticker");
        (check.unwrap().run)(&evidence).findings.remove(0)
    };
    let runs = judged(300);
    assert_eq!(
        (runs.code, runs.severity),
        ("HM404", Some(Severity::Warning))
    );
    let hangs = judged(900);
    assert_eq!(
        (hangs.code, hangs.severity),
        ("HM404", Some(Severity::Error))
    );
    assert_eq!(
        summary(&hangs),
        "a tick hangs for 15m; pid 812 holds the tick lock"
    );
}

#[test]
fn b33_b40_starting_is_told_apart_from_never_ticked() {
    let mut fixture = Fixture::healthy();
    std::fs::remove_file(fixture.path("cron/ticker_heartbeat")).unwrap();
    assert!(summary(&fixture.one("HM405")).contains("has never ticked here"));
    begun(&mut fixture, 60);
    assert_eq!(fixture.all_findings().len(), 0);
    assert_eq!(ticker_note(&fixture), "starting for 1m");
    begun(&mut fixture, 201);
    assert!(summary(&fixture.one("HM405")).contains("has never ticked here"));
}

#[test]
fn b40_ticking_without_success_and_failing_since() {
    let fixture = Fixture::healthy();
    std::fs::remove_file(fixture.path("cron/ticker_last_success")).unwrap();
    assert_eq!(fixture.one("HM406").severity, Some(Severity::Warning));
    fixture.write(
        "cron/ticker_last_success",
        &fixture.epoch(-3600).to_string(),
    );
    let error = format!("{}\nPermissionError: jobs.json\n", fixture.epoch(-20));
    fixture.write("cron/ticker_last_error", &error);
    let found = fixture.one("HM406");
    assert_eq!(found.severity, Some(Severity::Error));
    assert!(summary(&found).contains("failing for 1h"));
    assert_eq!(found.evidence[1].observed, "PermissionError: jobs.json");
}

#[test]
fn ticks_that_were_left_out_for_a_held_lock_are_not_called_failing() {
    let fixture = Fixture::healthy();
    let before = format!("{}\nOSError: long ago\n", fixture.epoch(-9000));
    fixture.write("cron/ticker_last_error", &before);
    fixture.write(
        "cron/ticker_last_success",
        &fixture.epoch(-3600).to_string(),
    );
    let found = fixture.one("HM406");
    assert_eq!(
        summary(&found),
        "ticks have been left out for 1h, since somebody else held the tick lock"
    );
    assert!(!format!("{:?}", found.evidence).contains("long ago"));
}

#[test]
fn b43_the_scheduler_serves_another_home() {
    let mut fixture = Fixture::healthy();
    let other = tempfile::tempdir().unwrap();
    std::fs::create_dir(other.path().join("cron")).unwrap();
    std::fs::write(
        other.path().join("cron/jobs.json"),
        r#"{"jobs":[{"id":"x"}]}"#,
    )
    .unwrap();
    let path = other.path().to_path_buf();
    fixture.facts.dispatcher.home = Fact::Known(path.clone());
    fixture.facts.dispatcher.process.as_mut().unwrap().home = Fact::Known(path);
    let found = &fixture.findings("HM408")[0];
    let counts: Vec<_> = found
        .evidence
        .iter()
        .map(|seen| seen.observed.as_str())
        .collect();
    assert_eq!(counts, ["2 jobs", "1 job"]);
}

#[test]
fn b109_two_processes_tick_one_home() {
    let mut fixture = Fixture::healthy();
    let mut second = fixture.facts.dispatcher.process.clone().unwrap();
    second.pid = 900;
    fixture.facts.others.push(second.clone());
    let both = &fixture.findings("HM409")[0];
    assert!(summary(both).starts_with("2 processes would tick"));
    // Each is its unit's, which would start it again.
    let stop = ["systemctl", "disable", "--now", "hermes.service"];
    assert_eq!(both.remedies[0].argv, stop);
    fixture.facts.others[0].cgroup = Fact::Known("/user.slice/x.scope".to_owned());
    let end = &fixture.findings("HM409")[0].remedies[0];
    assert!(end.argv[2].starts_with("kill 900 && "), "{end:?}");
    second.role = Role::Gateway;
    second.program = Some(Program::HermesAgent);
    fixture.facts.others = vec![second];
    assert_eq!(fixture.findings("HM409")[0].severity, Some(Severity::Info));
}

#[test]
fn b87_starts_in_a_loop() {
    let mut fixture = Fixture::healthy();
    let starts = [-3000, -800, -500, -100].map(|at| fixture.epoch(at));
    fixture.facts.homes[0].gateway_starts = starts.to_vec();
    let look = |fixture: &Fixture| fixture.findings("HM411")[0].remedies[0].argv.join(" ");
    assert!(summary(&fixture.findings("HM411")[0]).contains("3 times in the last 15m"));
    let words = |rest: &[&str]| [&["journalctl", "-n", "50"], rest].concat().join(" ");
    assert_eq!(look(&fixture), words(&["-u", "hermes.service"]));
    fixture
        .facts
        .edit_unit(|unit| unit.manager = Some(ManagerKind::User));
    let of = format!("_UID={}", fixture.facts.account.uid);
    let (manager, own) = (
        "USER_UNIT=hermes.service",
        "_SYSTEMD_USER_UNIT=hermes.service",
    );
    assert_eq!(look(&fixture), words(&[&of, manager, "+", &of, own]));
    fixture.facts.dispatcher.unit = None;
    assert_eq!(look(&fixture), words(&[&of]));
    fixture.facts.homes[0].gateway_starts = starts[..3].to_vec();
    assert!(fixture.findings("HM411").is_empty());
}

#[test]
fn b105_b106_a_left_over_pid_file() {
    let mut fixture = Fixture::healthy();
    let pid = |liveness| Fact::Known(Some(owner(4242, liveness)));
    fixture.facts.homes[0].gateway_pid = pid(Liveness::Dead(Death::Gone));
    assert!(summary(&fixture.one("HM412")).contains("pid 4242, which has ended"));
    fixture.facts.homes[0].gateway_pid = pid(Liveness::Reused);
    let reused = fixture.one("HM412").summary;
    assert!(reused.ends_with("which is another process now"), "{reused}");
    let unsure = Liveness::Unverified(crate::host::liveness::Doubt::StartUnknown);
    fixture.facts.homes[0].gateway_pid = pid(unsure);
    assert!(fixture.findings("HM412").is_empty());
    fixture.facts.homes[0].gateway_pid = pid(Liveness::Reused);
    fixture.facts.homes[0].gateway_lock_held = Holder::Held {
        pid: 1,
        confirmed: true,
    };
    assert!(fixture.findings("HM412").is_empty());
}

#[test]
fn a_gateway_that_says_nothing_else_is_no_finding() {
    let mut fixture = Fixture::healthy();
    let state = GatewayState {
        owner: owner(812, Liveness::Alive),
        state: Some("running".to_owned()),
        exit_reason: None,
        served_profiles: Vec::new(),
        updated_at: None,
    };
    fixture.facts.homes[0].gateway_state = Fact::Known(Some(state));
    assert_eq!(codes(&fixture.all_findings()), [""; 0]);
}

#[test]
fn b71_stamps_of_the_future_are_a_clock_that_went_backwards() {
    let fixture = Fixture::healthy();
    fixture.beat(-7200, std::process::id());
    let found = fixture.one("HM413");
    assert!(summary(&found).contains("2h ahead"));
    assert!(!format!("{found:?}").contains("-2h"));
}

#[test]
fn b66_b72_a_zone_that_was_changed_under_the_scheduler() {
    let mut fixture = Fixture::healthy();
    fixture.modified("config.yaml", -60);
    assert!(fixture.findings("HM414").is_empty(), "ours notices it");
    let process = fixture.facts.dispatcher.process.as_mut().unwrap();
    process.role = Role::Gateway;
    process.program = Some(Program::HermesAgent);
    let found = &fixture.findings("HM414")[0];
    assert_eq!(found.severity, Some(Severity::Info));
    fixture.write("config.yaml", "");
    let changed = fixture.epoch(-60);
    fixture.facts.machine.clock.localtime_changed_at = Some(changed);
    let found = fixture.findings("HM414");
    assert_eq!(found[0].severity, Some(Severity::Warning));
    assert!(summary(&found[0]).starts_with("/etc/localtime is newer than"));
    fixture.facts.machine.clock.localtime_changed_at = Some(1.0);
    assert!(fixture.findings("HM414").is_empty());
}

#[test]
fn nothing_is_scheduled_is_a_result_of_its_own() {
    let mut fixture = Fixture::healthy();
    fixture.no_server();
    for name in ["cron", "state.db"] {
        let path = fixture.path(name);
        if path.is_dir() {
            std::fs::remove_dir_all(path).unwrap();
        } else {
            std::fs::remove_file(path).unwrap();
        }
    }
    let found = fixture.findings("HM401");
    assert!(summary(&found[0]).starts_with("nothing is scheduled here: the home has no jobs"));
    let missing = fixture.path("not-there");
    fixture.facts.homes[0].path.clone_from(&missing);
    fixture.facts.home.path = missing;
    assert!(summary(&fixture.findings("HM401")[0]).ends_with("there is no home"));
}

#[test]
fn an_emergency_stop_is_shown_with_its_reason() {
    let fixture = Fixture::healthy();
    fixture.write(
        "ESTOP",
        r#"{"reason": "rollout", "engaged_at": "2026-11-29T23:00:00+00:00"}"#,
    );
    let found = fixture.one("HM415");
    assert_eq!(
        summary(&found),
        "an emergency stop is in force since 2h ago: rollout"
    );
    fixture.write("ESTOP", "");
    assert_eq!(fixture.findings("HM415").len(), 1);
}
