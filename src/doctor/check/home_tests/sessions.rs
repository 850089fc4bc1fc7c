//! Loops, heartbeats and sessions.

use serde_json::{Value, json};

use super::fixture::{Fixture, GONE, codes, looping, own_start};
use crate::doctor::check::Unchecked;
use crate::doctor::finding::{Finding, Severity};
use crate::host::facts::{Program, Role};

const SESSION: &str = "20261129_120000_aaaaaa";
const LOOP: &str = "loop:20261129_120000_aaaaaa";

/// The healthy home with this loop, and nobody who drives it.
fn undriven(change: impl FnOnce(&Fixture, &mut Value)) -> Fixture {
    let mut fixture = Fixture::healthy();
    let process = fixture.facts.dispatcher.process.as_mut().unwrap();
    process.role = Role::Gateway;
    process.program = Some(Program::HermesAgent);
    fixture.facts.dispatcher.program = Program::HermesAgent;
    fixture.theirs();
    let mut row = looping(fixture.epoch(200));
    change(&fixture, &mut row);
    fixture.timer(LOOP, &row);
    fixture
}

fn lease(fixture: &Fixture, leases: &[(u32, &str)]) {
    let entries: Vec<_> = leases
        .iter()
        .map(|(pid, surface)| {
            json!({"lease_id": "l", "session_id": SESSION, "surface": surface, "pid": pid,
                "started_at": fixture.epoch(-600), "updated_at": fixture.epoch(-60)})
        })
        .collect();
    let text = json!({"entries": entries}).to_string();
    fixture.write("runtime/active_sessions.json", &text);
}

#[test]
fn b115_a_loop_past_its_time_by_more_than_its_cadence_is_not_driven() {
    let fixture = undriven(|fixture, row| row["next_due_at"] = fixture.epoch(-4219).into());
    let found = fixture.findings("HM701");
    assert_eq!(found[0].severity, Some(Severity::Error));
    assert!(
        found[0]
            .summary
            .ends_with("is not driven: overdue by 1h 10m")
    );
    assert_eq!(
        found[0].evidence[1].observed,
        "no process holds the session"
    );
}

#[test]
fn b115_armed_and_nobody_polls_it_is_told_before_it_is_late() {
    let fixture = undriven(|_, _| ());
    let found = fixture.findings("HM701");
    assert_eq!(found[0].severity, Some(Severity::Warning));
    assert!(
        found[0]
            .summary
            .contains("nobody drives it (next in 3m 20s)")
    );
}

#[test]
fn b115_our_serve_of_the_root_drives_no_loop_of_a_profile() {
    let mut fixture = Fixture::healthy();
    let mut records = fixture.facts.homes[0].clone();
    records.path = fixture.path("profiles/ops");
    records.profile = "ops".to_owned();
    fixture.facts.homes.push(records);
    std::fs::create_dir_all(fixture.path("profiles/ops")).unwrap();
    let of_ops = fixture.path("profiles/ops/state.db");
    std::fs::copy(fixture.path("state.db"), of_ops).unwrap();
    let found = fixture.findings("HM701");
    assert_eq!(codes(&found), ["HM701"]);
    let home = found[0].home.as_ref().unwrap();
    assert!(home.ends_with("profiles/ops"), "{home:?}");
    let seen = &found[0].evidence[1].observed;
    assert_eq!(seen, "no process holds the session");
}

#[test]
fn who_drives_a_loop_decides() {
    let fixture = undriven(|_, _| ());
    lease(&fixture, &[(std::process::id(), "tui")]);
    assert!(fixture.findings("HM701").is_empty());
    lease(&fixture, &[(std::process::id(), "desktop")]);
    assert_eq!(fixture.findings("HM706")[0].severity, None);
    lease(&fixture, &[(GONE, "tui")]);
    assert!(
        fixture.findings("HM701")[0].evidence[1]
            .observed
            .contains("has ended")
    );
    assert_eq!(fixture.findings("HM711")[0].severity, Some(Severity::Info));
    // A parent that lives and this very process: two that hold one session.
    let parent = std::os::unix::process::parent_id();
    lease(
        &fixture,
        &[(std::process::id(), "tui"), (parent, "desktop")],
    );
    assert_eq!(fixture.findings("HM707").len(), 1);
}

#[test]
fn beside_our_serve_no_second_one_is_offered_and_want_of_an_agent_is_the_cause() {
    let mut fixture = Fixture::healthy();
    fixture.timer(LOOP, &looping(fixture.epoch(-4_219)));
    lease(&fixture, &[(GONE, "desktop")]);
    std::fs::remove_file(fixture.path("config.toml")).unwrap();
    let found = fixture.findings("HM701");
    assert_eq!(found[0].evidence[1].observed, "serve, pid 812");
    assert!(found[0].causes.contains(&"HM904"), "{found:?}");
    let serves = |found: &Finding| {
        let mut remedies = found.remedies.iter();
        remedies.any(|remedy| remedy.argv[..2] == ["hermes", "serve"])
    };
    assert!(!serves(&found[0]), "{found:?}");
    assert_eq!(fixture.findings("HM904").len(), 1);
    // What a desktop holds goes on when that ends.
    fixture.timer(LOOP, &looping(fixture.epoch(200)));
    lease(&fixture, &[(std::process::id(), "desktop")]);
    assert!(fixture.findings("HM706").is_empty());
    fixture.no_server();
    fixture.timer(LOOP, &looping(fixture.epoch(-4_219)));
    lease(&fixture, &[(GONE, "desktop")]);
    assert!(serves(&fixture.findings("HM701")[0]));
}

#[test]
fn a_routed_loop_is_the_gateways() {
    let mut fixture =
        undriven(|_, row| row["route"] = json!({"platform": "telegram", "chat_id": "1"}));
    assert!(fixture.findings("HM701").is_empty());
    fixture.no_server();
    let found = fixture.findings("HM701");
    assert_eq!(
        found[0].evidence[1].observed,
        "no gateway of this home runs"
    );
    assert_eq!(
        found[0].evidence[1].target,
        "the messaging gateway of this home"
    );
}

#[test]
fn b116_a_wake_up_that_nobody_answers() {
    let fixture = undriven(|fixture, row| {
        row["awaiting_response"] = true.into();
        row["last_fired_at"] = fixture.epoch(-700).into();
    });
    lease(&fixture, &[(std::process::id(), "tui")]);
    assert_eq!(fixture.findings("HM702").len(), 1);
    let until = fixture.epoch(60);
    fixture.sql(
        "state.db",
        &format!("INSERT INTO session_turn_leases VALUES ('{SESSION}', 'h', 0, {until})"),
    );
    assert!(fixture.findings("HM702").is_empty());
}

#[test]
fn a_budget_that_is_nearly_used() {
    let fixture = Fixture::healthy();
    let mut row = looping(fixture.epoch(200));
    row["ticks_fired"] = 90.into();
    fixture.timer(LOOP, &row);
    assert!(fixture.one("HM703").summary.contains("90 of 100"));
    row["times"] = 95.into();
    fixture.timer(LOOP, &row);
    assert_eq!(codes(&fixture.all_findings()), [""; 0]);
}

#[test]
fn a_heartbeat_that_nobody_answered_for_long_pauses_soon() {
    let fixture = Fixture::healthy();
    fixture.beats(SESSION, 89);
    assert_eq!(codes(&fixture.all_findings()), [""; 0]);
    fixture.beats(SESSION, 90);
    let found = fixture.one("HM703");
    assert_eq!(found.subject.kind, "heartbeat");
    assert!(found.summary.contains("90 of 100"), "{}", found.summary);
    fixture.write("config.toml", "[heartbeats]\nmax_beats = 0\n");
    assert!(fixture.findings("HM703").is_empty(), "0 is no limit");
}

#[test]
fn a_row_that_cannot_be_read_is_not_an_absent_one() {
    let fixture = Fixture::healthy();
    fixture.sql(
        "state.db",
        "UPDATE state_meta SET value = '{' WHERE key LIKE 'loop:%'",
    );
    assert_eq!(fixture.one("HM704").subject.kind, "loop");
    fixture.sql(
        "state.db",
        "UPDATE state_meta SET key = 'heartbeat:x', value = '[]' WHERE key LIKE 'loop:%'",
    );
    assert_eq!(fixture.one("HM704").subject.kind, "heartbeat");
}

#[test]
fn a_session_that_was_ended_or_reaped_under_its_timer() {
    let fixture = Fixture::healthy();
    fixture.theirs();
    fixture.sql(
        "state.db",
        "UPDATE sessions SET ended_at = 1795999000, end_reason = 'ws_orphan_reap'",
    );
    assert!(
        fixture
            .one("HM705")
            .summary
            .contains("has ended (ws_orphan_reap)")
    );
    fixture.sql("state.db", "DELETE FROM sessions");
    assert!(
        fixture
            .one("HM705")
            .summary
            .contains("is not there any more")
    );
}

#[test]
fn a_session_of_our_serve_is_known_by_its_own_table() {
    let fixture = Fixture::healthy();
    assert_eq!(codes(&fixture.all_findings()), Vec::<&str>::new());
    fixture.sql(
        "state.db",
        "CREATE TABLE hermes_timers (session_id TEXT, kind TEXT, own TEXT, not_driven TEXT);
         INSERT INTO hermes_timers VALUES
            ('20261129_120000_aaaaaa', 'loop', '{}', 'no agent is configured')",
    );
    let found = fixture.findings("HM701");
    assert_eq!(found[0].evidence[1].observed, "no agent is configured");
    fixture.sql(
        "state.db",
        "UPDATE hermes_sessions SET ended_at = 1795999100, end_reason = 'tui_close'",
    );
    assert!(
        fixture
            .one("HM705")
            .summary
            .contains("has ended (tui_close)")
    );
}

#[test]
fn a_session_of_hermes_agents_that_nobody_has_is_not_driven_by_our_serve() {
    let fixture = Fixture::healthy();
    fixture.theirs();
    let found = fixture.findings("HM701");
    assert_eq!(found[0].severity, Some(Severity::Warning));
    let driver = &found[0].evidence[1].observed;
    assert!(driver.contains("the sessions that it made"), "{driver}");
    // Where it cannot be read who has sessions, somebody may have this one.
    fixture.write("runtime/active_sessions.json", "{");
    assert!(fixture.findings("HM701").is_empty());
    let unchecked = fixture.unchecked();
    let gap = |gap: &Unchecked| gap.what.starts_with("who drives the loop of session");
    assert!(unchecked.iter().any(gap), "{unchecked:?}");
}

#[test]
fn heartbeats_are_judged_like_loops() {
    let fixture = undriven(|_, row| row["status"] = "paused".into());
    let key = format!("heartbeat:{SESSION}");
    let row = |since: i64| {
        json!({"prompt": "stand up", "interval_seconds": 600, "status": "active",
            "created_at": fixture.epoch(-90_000), "last_fired_at": fixture.epoch(since),
            "fire_count": 1})
    };
    fixture.timer(&key, &row(-4000));
    let found = fixture.findings("HM701");
    assert_eq!(
        (found[0].subject.kind.as_str(), found[0].severity),
        ("heartbeat", Some(Severity::Error))
    );
    // The routing index of the gateway answers for it.
    let entry = json!({"session_id": SESSION, "origin": {"chat": 1}}).to_string();
    fixture.sql(
        "state.db",
        &format!("INSERT INTO gateway_routing VALUES ('', 'k', '{entry}', 1)"),
    );
    fixture.timer(&key, &row(-30));
    assert!(fixture.findings("HM701").is_empty());
}

#[test]
fn b134_a_lease_whose_session_has_ended_though_its_process_lives() {
    let fixture = undriven(|_, row| row["status"] = "paused".into());
    lease(&fixture, &[(std::process::id(), "tui")]);
    fixture.sql("state.db", "UPDATE sessions SET ended_at = 1795999000");
    assert_eq!(
        fixture.findings("HM711")[0].severity,
        Some(Severity::Warning)
    );
}

#[test]
fn b133_the_holders_of_all_slots_are_listed() {
    let fixture = Fixture::healthy();
    lease(&fixture, &[(std::process::id(), "desktop")]);
    fixture.write(
        "config.yaml",
        "timezone: Europe/Berlin\nmax_concurrent_sessions: 1\n",
    );
    fixture.modified("config.yaml", -86_400);
    let found = &fixture.findings("HM712")[0];
    assert!(found.summary.starts_with("all 1 session slots are taken"));
    assert!(found.evidence[0].observed.contains("desktop, pid"));
    fixture.write(
        "config.yaml",
        "timezone: Europe/Berlin\nmax_concurrent_sessions: 2\n",
    );
    assert!(fixture.findings("HM712").is_empty());
}

#[test]
fn b139_helpers_that_outlived_their_backend() {
    let mut fixture = Fixture::healthy();
    let boot = crate::clock::SystemClock;
    let now = crate::clock::Clock::now(&boot);
    // The start of this very process, by the clocks of the host that runs the test.
    let wall = now.wall.as_duration().as_secs_f64();
    let booted = wall - now.boottime.as_secs_f64();
    fixture.facts.machine.boot.booted_at = booted;
    let ticks = u32::try_from(own_start()).unwrap();
    let started = booted + f64::from(ticks) / 100.0;
    let ledger = |spawner: u32| {
        let entry = json!([{"pid": std::process::id(), "create_time": started, "purpose": "slash worker",
            "spawner_pid": spawner, "spawner_create": 1.0}]);
        fixture.write("spawn-ledger.json", &entry.to_string());
        fixture.findings("HM714")
    };
    let found = ledger(GONE);
    assert!(
        found[0]
            .summary
            .starts_with("1 helper process outlived the backend")
    );
    assert!(
        found[0].evidence[0]
            .observed
            .starts_with("slash worker, started ")
    );
    assert!(ledger(std::os::unix::process::parent_id()).is_empty());
}

#[test]
fn rows_of_backends_that_have_ended() {
    let fixture = Fixture::healthy();
    let host = rustix::system::uname();
    let host = host.nodename().to_string_lossy().into_owned();
    let insert = |id: &str, pid: u32, host: &str, silent: i64| {
        let (began, last) = (fixture.epoch(-9000), fixture.epoch(-silent));
        fixture.sql(
            "state.db",
            &format!("INSERT INTO gateway_heartbeats VALUES ('{id}', {pid}, {began}, {last}, 'default', '{host}')"),
        );
    };
    insert("a", std::process::id(), &host, 30);
    insert("b", 1, "elsewhere", 30);
    assert_eq!(codes(&fixture.all_findings()), [""; 0]);
    insert("c", GONE, &host, 30);
    insert("d", 1, "elsewhere", 3600);
    assert!(fixture.one("HM710").summary.starts_with("2 rows"));
}

#[test]
fn b129_sessions_that_no_process_can_have_any_more() {
    let mut fixture = Fixture::healthy();
    fixture.theirs();
    fixture.no_server();
    fixture.sql(
        "state.db",
        "UPDATE sessions SET started_at = 1795900000, last_activity_at = NULL",
    );
    assert_eq!(fixture.findings("HM713").len(), 1);
    // B138: the newest activity counts, not the age.
    let recent = fixture.epoch(-300);
    fixture.sql(
        "state.db",
        &format!("UPDATE sessions SET last_activity_at = {recent}"),
    );
    assert!(fixture.findings("HM713").is_empty());
}
