//! Homes in which each part of the evidence has something to tell, and the healthy one.

use serde_json::json;

use super::super::fixture::{Fixture, GONE, copy, looping, own_start};
use crate::config::layer::Layer;
use crate::config::{Config, Problem, ProblemKind};
use crate::doctor::evidence::read::{Trouble, TroubleKind};
use crate::doctor::evidence::{Evidence, Read};
use crate::host::facts::example::NOW;
use crate::host::facts::{Fact, OwnerRecord, Program, ProgramLookup, Role, Viewpoint};
use crate::host::liveness::{Death, Liveness, Signal};
use crate::host::locks::{Holder, SqliteLock, SqliteRole};

const JOB: &str = "00000000000a";
const SESSION: &str = "20261129_120000_aaaaaa";

/// All of them, the healthy home first.
pub(super) fn homes() -> Vec<Evidence> {
    let ruins: [fn(&mut Fixture); 23] = [
        |_| (),
        abroad,
        unserved,
        beside,
        bare,
        loose,
        routed,
        in_vain,
        in_vain_and_alone,
        crowded,
        naive,
        gappy,
        overdue,
        failing,
        in_want,
        claimed,
        marked,
        unfinished,
        silent_ticker,
        undriven,
        damaged,
        strict,
        asked_for_an_agent,
    ];
    let evidence = |ruin: fn(&mut Fixture)| {
        let mut fixture = Fixture::healthy();
        ruin(&mut fixture);
        fixture.evidence()
    };
    let mut homes: Vec<_> = ruins.into_iter().map(evidence).collect();
    homes.extend([worn(), locked(), sample()]);
    homes
}

/// Another zone, another environment, other rules.
fn abroad(fixture: &mut Fixture) {
    let text = "timezone: America/New_York\ncron:\n  provider: chronos\n  catch_up_missed: false\n";
    fixture.write("config.yaml", text);
    fixture.modified("config.yaml", -60);
    fixture.facts.set_variable("HERMES_CRON_TIMEOUT", "0");
    fixture
        .facts
        .set_variable("HERMES_GATEWAY_HEARTBEAT_REFRESH_S", "86400");
    fixture.facts.machine.clock.localtime_changed_at = Some(NOW - 60.0);
    fixture
        .facts
        .set_variable("TERMINAL_LOCAL_MEMORY_MAX_MB", "600");
    fixture.facts.set_variable("HERMES_TUI_SESSION_TTL_S", "0");
    fixture.facts.shell.uid = Fact::Known(4_242);
    fixture.facts.machine.namespaces.initial_user = Fact::Known(false);
    let clock = &mut fixture.facts.machine.clock;
    (clock.wall, clock.zone) = (NOW - 50_000.0, Some("America/New_York".to_owned()));
}

/// No job, no timer, and nobody there.
fn bare(fixture: &mut Fixture) {
    for name in ["cron/jobs.json", "cron/executions.db", "state.db"] {
        std::fs::remove_file(fixture.path(name)).unwrap();
    }
    fixture.write(
        "config.yaml",
        "max_concurrent_sessions: 1\ncron: {output_retention: 7}\n",
    );
    fixture.no_server();
}

/// A gateway that no unit started, and that has seen neither its zone nor its clock change.
fn beside(fixture: &mut Fixture) {
    crowded(fixture);
    let others = std::mem::take(&mut fixture.facts.others);
    fixture.no_server();
    fixture.facts.others = others;
    fixture.facts.units = Fact::Known(Vec::new());
    fixture.write("config.yaml", "");
    fixture.facts.machine.clock.localtime_changed_at = Some(NOW - 60.0);
    fixture.beat(-300, std::process::id());
    hold(fixture, std::process::id());
}

/// No unit, and programs that are not found.
fn loose(fixture: &mut Fixture) {
    let facts = &mut fixture.facts;
    facts.dispatcher.unit = None;
    facts.units = Fact::Known(Vec::new());
    facts.dispatcher.desktop = true;
    facts.machine.clock.wall = NOW + 50_000.0;
    let missing = ProgramLookup {
        name: "systemd-run".to_owned(),
        wanted_by: "hermes-agent".to_owned(),
        found: Fact::Known(None),
    };
    let of_jobs = ProgramLookup {
        name: "curl".to_owned(),
        wanted_by: ProgramLookup::JOBS.to_owned(),
        found: Fact::Known(None),
    };
    facts.dispatcher.programs = vec![missing, of_jobs];
    std::fs::remove_file(fixture.path("cron/executions.db")).unwrap();
}

/// A loop of the gateway's, and a session that idles, with nobody there.
fn routed(fixture: &mut Fixture) {
    fixture.no_server();
    let mut row = looping(fixture.epoch(200));
    row["route"] = json!({"platform": "telegram", "chat_id": "1"});
    fixture.timer(&format!("loop:{SESSION}"), &row);
    let then = fixture.epoch(-90_000);
    fixture.sql(
        "state.db",
        &format!("UPDATE sessions SET started_at = {then}, last_activity_at = {then}"),
    );
}

/// Ticks that end badly.
fn in_vain(fixture: &mut Fixture) {
    fixture.write(
        "cron/ticker_last_success",
        &fixture.epoch(-4_000).to_string(),
    );
    let error = format!("{}\nno space left", fixture.epoch(-20));
    fixture.write("cron/ticker_last_error", &error);
}

/// Two processes that tick, and one of them comes again and again.
fn crowded(fixture: &mut Fixture) {
    let mut gateway = fixture.facts.dispatcher.process.clone().unwrap();
    (gateway.pid, gateway.role) = (4_243, Role::Gateway);
    gateway.program = Some(Program::HermesAgent);
    gateway.start_ticks = Fact::Known(77);
    gateway.started_at = Fact::Known(NOW - 600.0);
    fixture.facts.others.push(gateway);
    let record = OwnerRecord {
        pid: 4_243,
        start_ticks: Some(77),
        started_at: Some(NOW - 9_000.0),
        boot: None,
        pid_namespace: None,
        home: Some("/home/other/.hermes".into()),
        version: None,
        command: vec!["/opt/agent/bin/hermes".to_owned(), "gateway".to_owned()],
        stopping: None,
        liveness: Liveness::Dead(Death::Gone),
    };
    fixture.facts.homes[0].gateway_pid = Fact::Known(Some(record));
    fixture
        .facts
        .edit_unit(|unit| unit.memory_max = Some(1 << 30));
    fixture.facts.homes[0].gateway_starts = vec![NOW - 90.0, NOW - 60.0, NOW - 30.0];
}

/// Stamps without an offset, which only a zone makes an instant.
fn naive(fixture: &mut Fixture) {
    let wall = |minutes: i64| fixture.ago(minutes)[..19].to_owned();
    let mut job = fixture.job(JOB);
    job["next_run_at"] = wall(-25).into();
    job["last_run_at"] = wall(50).into();
    job["last_dispatch"] = json!({"scheduled_at": wall(0), "dispatched_at": wall(-30),
        "lateness_seconds": 900.0, "kind": "late"});
    job["last_fire_error"] = json!({"at": wall(40), "detail": "no"});
    job["fire_claim"] = json!({"at": wall(3), "by": "elsewhere:1"});
    let mut seldom = fixture.hourly();
    seldom["schedule"] = json!({"kind": "cron", "expr": "30 2 29 3 *", "display": "seldom"});
    fixture.jobs(&[job, seldom]);
}

/// Slots without a row.
fn gappy(fixture: &mut Fixture) {
    fixture.jobs(&[fixture.hourly()]);
    for hours in [2, 5, 6, 7] {
        fixture.run("00000000000b", hours * 60, "completed");
    }
}

fn in_vain_and_alone(fixture: &mut Fixture) {
    fixture.no_server();
    fixture.facts.units = Fact::Known(Vec::new());
    fixture.beat(30, std::process::id());
    in_vain(fixture);
}

fn overdue(fixture: &mut Fixture) {
    let mut late = fixture.job(JOB);
    late["next_run_at"] = fixture.ago(7 * 60).into();
    let mut off = fixture.hourly();
    off["next_run_at"] = fixture.ago(-70).into();
    let mut never = fixture.once(600);
    never["id"] = "00000000000d".into();
    fixture.jobs(&[late, off, never]);
    for _ in 0..3 {
        fixture.run("00000000000d", 1, "completed");
    }
    fixture.run(JOB, -30, "running");
}

fn failing(fixture: &mut Fixture) {
    fixture.only_job(|job| {
        job["last_status"] = "error".into();
        job["last_error"] = "no such file".into();
        job["failure_streak"] = 3.into();
    });
    for minutes in [1, 2, 3] {
        let at = fixture.ago(minutes);
        let row = json!({"status": "failed", "claimed_at": at, "finished_at": at,
            "error": "systemd-run is unavailable"});
        fixture.row(JOB, &row);
    }
}

fn in_want(fixture: &mut Fixture) {
    let mut script = fixture.job(JOB);
    script["script"] = "none.sh".into();
    script["workdir"] = "/no/such/place".into();
    let mut told = fixture.job("00000000000b");
    told["deliver"] = "telegram:42".into();
    told["script"] = "there.sh".into();
    fixture.write("scripts/there.sh", "#!/usr/bin/env no-such-program\n");
    fixture.jobs(&[script, told]);
}

fn claimed(fixture: &mut Fixture) {
    let host = rustix::system::uname();
    let by = format!("{}:{GONE}:00ff", host.nodename().to_string_lossy());
    let ran = fixture.ago(45);
    fixture.only_job(|job| {
        job["fire_claim"] = json!({"at": fixture.ago(1), "by": by});
        job["last_run_at"] = ran.into();
    });
}

/// Rows that never ended, and what their workers left behind.
fn unfinished(fixture: &mut Fixture) {
    let at = fixture.ago(300);
    for (pid, start) in [(GONE, 1), (std::process::id(), own_start())] {
        let row = json!({"status": "running", "claimed_at": at, "started_at": at, "pid": pid,
            "process_started_at": start});
        fixture.row(JOB, &row);
    }
    fixture.sql(
        "cron/executions.db",
        "UPDATE executions SET id = 'e' || rowid WHERE status = 'running'",
    );
    let ready = json!({"pid": std::process::id(), "execution_id": "e9"}).to_string();
    fixture.write("cron/external-workers/e9.ready", &ready);
    let payload = json!({"profile_home": "/home/other/.hermes"}).to_string();
    fixture.write("cron/external-workers/e8.json", &payload);
    fixture.run(JOB, 3, "unknown");
}

fn unserved(fixture: &mut Fixture) {
    fixture.no_server();
    fixture.theirs();
    let idle = "UPDATE sessions SET started_at = 1795900000, last_activity_at = 1795900000";
    fixture.sql("state.db", idle);
    fixture.beat(84_688, GONE);
    fixture.facts.homes[0].gateway_lock_held = Holder::Free;
}

fn silent_ticker(fixture: &mut Fixture) {
    fixture.beat(900, std::process::id());
    fixture.write("cron/ticker_last_success", "1");
    fixture.facts.dispatcher.program = Program::HermesAgent;
}

fn marked(fixture: &mut Fixture) {
    fixture.write("ESTOP", "{}");
    fixture.facts.dispatcher.home = Fact::Known("/srv/other/.hermes".into());
}

/// Loops, heartbeats and sessions that nobody has.
fn undriven(fixture: &mut Fixture) {
    let process = fixture.facts.dispatcher.process.as_mut().unwrap();
    process.role = Role::Gateway;
    process.program = Some(Program::HermesAgent);
    fixture.facts.dispatcher.program = Program::HermesAgent;
    let mut row = looping(fixture.epoch(-4219));
    row["awaiting_response"] = true.into();
    fixture.timer(&format!("loop:{SESSION}"), &row);
    fixture.timer("loop:none", &looping(fixture.epoch(200)));
    fixture.beats(SESSION, 95);
    hold(fixture, GONE);
    let (then, host) = (fixture.epoch(-9_000), "elsewhere");
    fixture.sql(
        "state.db",
        &format!(
            "INSERT INTO gateway_heartbeats VALUES ('b', {GONE}, {then}, {then}, 'default', '{host}')"
        ),
    );
    let helper = json!([{"pid": std::process::id(), "create_time": null, "purpose": "slash",
        "spawner_pid": GONE, "spawner_create": null}]);
    fixture.write("spawn-ledger.json", &helper.to_string());
}

/// The process of this pid has the session.
fn hold(fixture: &Fixture, pid: u32) {
    let lease = json!({"entries": [{"lease_id": "l", "session_id": SESSION, "surface": "tui",
        "pid": pid, "started_at": fixture.epoch(-600), "updated_at": fixture.epoch(-60)}]});
    fixture.write("runtime/active_sessions.json", &lease.to_string());
}

fn damaged(fixture: &mut Fixture) {
    let text = std::fs::read_to_string(fixture.path("cron/jobs.json")).unwrap();
    fixture.write("cron/jobs.json.bak", &text);
    fixture.write("cron/jobs.json", "{");
    let junk = "not a database at all, but long enough to be taken for one";
    fixture.write("kanban.db", junk);
}

fn strict(fixture: &mut Fixture) {
    let text = "timezone: Mars/Olympus\ncron:\n  require_restart_safe_scope: true\n  max_parallel_jobs: 3\n";
    fixture.write("config.yaml", text);
    let ours = std::fs::read_to_string(fixture.path("config.toml")).unwrap();
    fixture.write(
        "config.toml",
        &format!("{ours}\n[heartbeats]\nmax_beats = 1000\n"),
    );
    fixture.facts.machine.memory.total = Some(1 << 30);
}

fn asked_for_an_agent(fixture: &mut Fixture) {
    std::fs::remove_file(fixture.path("config.toml")).unwrap();
    fixture.facts.dispatcher.viewpoint = Viewpoint::Serve;
}

/// What only a host in need has: a full disk, files of another account, locks that are held.
fn worn() -> Evidence {
    let mut evidence = Fixture::healthy().evidence();
    let home = &mut evidence.homes[0];
    if let Read::Got(disk) = &mut home.disk {
        (disk.read_only, disk.free, disk.kind) = (true, 0, "nfs".to_owned());
    }
    home.reader.uid = 77;
    for file in home.files.values_mut() {
        if let Read::Got(stat) = file {
            (stat.uid, stat.gid, stat.mode) = (5, 5, 0o600);
        }
    }
    if let Read::Got(output) = &mut home.output {
        (output.files, output.fullest) = (90_000, Some((JOB.to_owned(), 90_000)));
    }
    let held = Holder::Held {
        pid: GONE,
        confirmed: false,
    };
    (home.tick_lock, home.jobs_lock) = (held.clone(), held.clone());
    home.tick_holder = "held by pid 4243 (hermes serve, 3h old)".to_owned();
    let lock = SqliteLock {
        role: SqliteRole::Exclusive,
        holder: held,
    };
    home.held_databases = [("state.db", Read::Got(lock))].into();
    let complaint = vec!["row 1 missing from index".to_owned()];
    home.databases.complaints.insert("state.db", complaint);
    evidence
}

/// A home that lets nobody in, and whose processes have ended.
fn locked() -> Evidence {
    let mut evidence = Fixture::healthy().evidence();
    let home = &mut evidence.homes[0];
    let denied = || Trouble::new(TroubleKind::Permission, "permission", "permission denied");
    home.jobs = Read::Unreadable(denied());
    home.databases.ledger = Read::Unreadable(denied());
    let problem = Problem {
        kind: ProblemKind::Denied,
        file: Some(home.home.join("config.toml")),
        at: None,
        key: None,
        message: "permission denied".to_owned(),
        hint: None,
    };
    home.config = Config::of_layers(Vec::new(), vec![Layer::wrong(problem)]);
    home.files.insert("", Read::Unreadable(denied()));
    for owner in home.owners.0.values_mut() {
        owner.signal = Signal::Gone;
    }
    evidence
}

/// The real home, made anonymous.
fn sample() -> Evidence {
    let mut fixture = Fixture::healthy();
    for name in ["cron", "scripts"] {
        std::fs::remove_dir_all(fixture.path(name)).unwrap();
    }
    for name in ["state.db", "config.toml"] {
        std::fs::remove_file(fixture.path(name)).unwrap();
    }
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sample-home");
    copy(&data, &fixture.path(""));
    fixture.no_server();
    fixture.evidence()
}
