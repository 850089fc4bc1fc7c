//! What is printed as a way out where something is wrong with a serve that runs, or with what it is to do.
//! Where that ends the serve and runs another one in its place, or begins one, that one is waited for.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use jiff::Timestamp;
use rustix::process::Resource;
use serde_json::{Value, json};

use super::processes::{Idle, SESSION};
use super::{changed, command, healthy, job, run, words};
use crate::common::Sandbox;
use crate::common::agent;
use crate::common::serving::Serving;

/// When the serves of recorded facts made their last pass: twenty minutes before they are looked at.
const THEN: &str = "2026-11-29T23:40:00Z";

/// A serve whose clock stands: after its first pass it makes no other. What is printed names no port.
fn standing(sandbox: &Sandbox, now: &str) -> Serving {
    sandbox.write("config.toml", "[serve]\nport = 0\n");
    let mut serve = Serving::at(sandbox, now);
    serve.clock("settle");
    serve
}

fn served(sandbox: &Sandbox) -> Serving {
    standing(sandbox, &Timestamp::now().to_string())
}

fn found(sandbox: &Sandbox, code: &str) -> Vec<Value> {
    of(sandbox.hermes().arg("doctor"), code)
}

/// The findings of a code in what the doctor says.
fn of(doctor: &mut assert_cmd::Command, code: &str) -> Vec<Value> {
    let output = doctor.args(["--json", "--only", code]).output();
    let output = output.expect("it runs");
    let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
    document["findings"].as_array().expect("findings").clone()
}

/// A process that a test began, which ends with it.
struct Process(Child);

impl Process {
    /// A serve that a way out runs, as soon as it has made its first pass over the home.
    fn ready(mut child: Child, home: &Path) -> Self {
        let out = child.stdout.take().expect("its stdout");
        let mut lines = BufReader::new(out).lines().map_while(Result::ok);
        let mut is_ready = lines.any(|line| line.starts_with("HERMES_DASHBOARD_READY"));
        let mut process = Self(child);
        // Whoever was replaced by it has had its pid.
        let pid = format!(" {}", process.0.id());
        let beat = home.join("cron/ticker_heartbeat");
        while is_ready && !std::fs::read_to_string(&beat).is_ok_and(|text| text.contains(&pid)) {
            is_ready = process.0.try_wait().expect("it can be asked").is_none();
        }
        assert!(is_ready, "it does not serve");
        process
    }

    /// What the doctor takes for a gateway of Hermes Agent.
    fn gateway(sandbox: &Sandbox) -> (Self, Option<ChildStdin>) {
        let script = sandbox.user_home().join("gateway");
        std::fs::write(script, "echo up\nread line\n").expect("a script");
        let mut command = Command::new("/bin/sh");
        command.arg0("hermes").args(["gateway", "run"]);
        command.env_clear().env("HERMES_HOME", sandbox.home());
        command.current_dir(sandbox.user_home());
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = pipes.spawn().expect("it starts");
        let mut line = String::new();
        let out = child.stdout.as_mut().expect("its stdout");
        BufReader::new(out).read_line(&mut line).expect("it is up");
        // Whoever waits for it would close what it reads.
        let stdin = child.stdin.take();
        (Self(child), stdin)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _gone_already = self.0.kill();
        let _reaped_already = self.0.wait();
    }
}

fn begun(sandbox: &Sandbox, argv: &[String]) -> Child {
    let mut command = command(sandbox, argv);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().expect("it starts")
}

/// Nothing of this is found any more, and what shows that says so.
fn is_cured(sandbox: &Sandbox, code: &str, remedy: &Value) {
    assert_eq!(found(sandbox, code), Vec::<Value>::new(), "{code}");
    let verify = words(&remedy["verify"]);
    let shown = run(sandbox, &verify);
    let said = String::from_utf8_lossy(&shown.stdout);
    assert!(shown.status.success(), "{code}: {verify:?}: {said}");
}

/// Does the first way out of a finding, which ends this serve and runs another one in its place.
fn replaced(sandbox: &Sandbox, finding: &Value, mut serve: Serving, ended: impl FnOnce()) {
    let remedy = &finding["remedies"][0];
    let argv = words(&remedy["argv"]);
    assert_eq!(argv[0], "sh", "{argv:?}");
    let line = argv.last().expect("a line");
    assert!(
        line.starts_with(&format!("kill {} && ", serve.pid())),
        "{line}"
    );
    let child = begun(sandbox, &argv);
    // It waits for the end of a process, as which a child that nobody has waited for goes on to count.
    serve.wait();
    ended();
    let _again = Process::ready(child, &sandbox.home());
    is_cured(sandbox, finding["code"].as_str().expect("a code"), remedy);
}

/// The one finding of a code, which what shows its end still sees.
fn one(sandbox: &Sandbox, code: &str) -> Value {
    let mut found = found(sandbox, code);
    assert_eq!(found.len(), 1, "{code}: {found:?}");
    let verify = words(&found[0]["remedies"][0]["verify"]);
    assert!(
        !run(sandbox, &verify).status.success(),
        "{code}: {verify:?}"
    );
    found.remove(0)
}

#[test]
fn a_serve_whose_ticks_fail_is_replaced() {
    let sandbox = healthy();
    let serve = served(&sandbox);
    let now = Timestamp::now().as_second();
    sandbox.write("cron/ticker_last_success", format!("{}.0", now - 3_600));
    sandbox.write(
        "cron/ticker_last_error",
        format!("{now}.0\nOSError: full\n"),
    );
    replaced(&sandbox, &one(&sandbox, "HM406"), serve, || ());
}

#[test]
fn a_serve_that_runs_out_of_descriptors_is_replaced() {
    let sandbox = healthy();
    let serve = served(&sandbox);
    let open = std::fs::read_dir(format!("/proc/{}/fd", serve.pid())).expect("its descriptors");
    let most = u64::try_from(open.count()).expect("a number") + 1;
    serve.limit(Resource::Nofile, Some(most));
    replaced(&sandbox, &one(&sandbox, "HM481"), serve, || ());
}

/// What the doctor finds where this serve, which no unit has started, has run for two hours.
fn long_since(sandbox: &Sandbox, serve: &Serving, code: &str) -> Value {
    let own = env!("CARGO_BIN_EXE_hermes");
    let facts = sandbox.recorded("healthy", |facts| {
        facts["own_name"] = json!({"file": own, "on_path": null});
        facts["units"] = json!({"known": []});
        facts["account"]["uid"] = rustix::process::getuid().as_raw().into();
        let dispatcher = &mut facts["dispatcher"];
        dispatcher["unit"] = Value::Null;
        dispatcher["process"]["pid"] = serve.pid().into();
        dispatcher["process"]["exe"] = json!({"known": own});
    });
    let mut found = of(&mut sandbox.doctor_on(&facts), code);
    assert_eq!(found.len(), 1, "{code}: {found:?}");
    found.remove(0)
}

#[test]
fn a_serve_whose_ticker_is_dead_or_never_was_alive_is_replaced() {
    for code in ["HM403", "HM405"] {
        let sandbox = healthy();
        let serve = standing(&sandbox, THEN);
        if code == "HM405" {
            std::fs::remove_file(sandbox.home().join("cron/ticker_heartbeat"))
                .expect("a heartbeat");
        }
        let finding = long_since(&sandbox, &serve, code);
        replaced(&sandbox, &finding, serve, || ());
    }
}

#[test]
fn a_serve_whose_tick_hangs_is_replaced() {
    let sandbox = healthy();
    let serve = standing(&sandbox, THEN);
    // The lock of a tick ends with its process: here both are played by two.
    let lock = hermes::files::try_lock(&sandbox.home().join("cron/.tick.lock")).expect("a lock");
    let finding = long_since(&sandbox, &serve, "HM404");
    replaced(&sandbox, &finding, serve, || drop(lock));
}

#[test]
fn a_profile_that_nobody_ticks_gets_a_serve_of_its_own() {
    let sandbox = healthy();
    let serve = served(&sandbox);
    let ops = sandbox.home().join("profiles/ops");
    let store = json!({"jobs": [job()]}).to_string();
    sandbox.write("profiles/ops/cron/jobs.json", store);
    sandbox.write("profiles/ops/config.toml", "[serve]\nport = 0\n");
    let finding = one(&sandbox, "HM407");
    let remedy = &finding["remedies"][0];
    let _more = Process::ready(begun(&sandbox, &words(&remedy["argv"])), &ops);
    is_cured(&sandbox, "HM407", remedy);
    drop(serve);
}

#[test]
fn a_second_scheduler_is_ended() {
    let sandbox = healthy();
    let both = [Process::gateway(&sandbox), Process::gateway(&sandbox)];
    let (mut both, _reading): (Vec<_>, Vec<_>) = both.into_iter().unzip();
    let finding = one(&sandbox, "HM409");
    let remedy = &finding["remedies"][0];
    let argv = words(&remedy["argv"]);
    let line = argv.last().expect("a line").clone();
    let is_ended = |process: &Process| line.starts_with(&format!("kill {} && ", process.0.id()));
    let ended = both.iter_mut().find(|process| is_ended(process));
    let mut ends = begun(&sandbox, &argv);
    ended.expect("one of them").0.wait().expect("its end");
    let status = ends.wait().expect("its end");
    assert!(status.success(), "{line}: {status}");
    is_cured(&sandbox, "HM409", remedy);
}

#[test]
fn a_job_that_serve_would_refuse_runs_without_that_or_waits() {
    for way in 0..2 {
        let sandbox = healthy();
        changed(&sandbox, &json!({"deliver": "telegram:1"}));
        let _serve = served(&sandbox);
        let finding = one(&sandbox, "HM519");
        assert_eq!(finding["remedies"].as_array().map(Vec::len), Some(2));
        let remedy = &finding["remedies"][way];
        let done = run(&sandbox, &words(&remedy["argv"]));
        assert!(done.status.success(), "{done:?}");
        is_cured(&sandbox, "HM519", remedy);
    }
}

#[test]
fn an_agent_is_named_in_the_editor() {
    let sandbox = healthy();
    changed(
        &sandbox,
        &json!({"no_agent": false, "script": null, "prompt": "Well?"}),
    );
    let _serve = served(&sandbox);
    // It writes what a person would.
    let section = format!("[agent]\ncommand = {:?}\n", agent::command(&sandbox));
    let text = sandbox.user_home().join("section");
    std::fs::write(&text, section).expect("a text");
    let editor = format!("#!/bin/sh\ncat {} >>\"$1\"\n", text.display());
    let bin = sandbox.user_home().join("bin");
    std::fs::create_dir(&bin).expect("a directory");
    std::fs::write(bin.join("vi"), editor).expect("an editor");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(bin.join("vi"), mode).expect("a mode");
    let finding = one(&sandbox, "HM904");
    let remedy = &finding["remedies"][0];
    let argv = words(&remedy["argv"]);
    assert_eq!(argv[0], "vi");
    assert!(run(&sandbox, &argv).status.success());
    is_cured(&sandbox, "HM904", remedy);
}

#[test]
fn a_loop_that_ends_with_an_application_gets_a_serve() {
    let (sandbox, application) = (Sandbox::with_sample_home(), Idle::new());
    sandbox.write("config.toml", "[serve]\nport = 0\n");
    let now = Timestamp::now().as_duration().as_secs_f64();
    let entry = json!({"lease_id": "0".repeat(32), "session_id": SESSION, "surface": "desktop",
        "pid": application.pid(), "process_start_time": application.epoch(), "started_at": now,
        "updated_at": now});
    let registry = json!({"entries": [entry]}).to_string();
    sandbox.write("runtime/active_sessions.json", registry);
    let state = hermes::db::connect(&sandbox.home().join("state.db")).expect("a database");
    let due = "UPDATE state_meta SET value = json_set(value, '$.next_due_at', ?1) WHERE key = ?2";
    let row = format!("loop:{SESSION}");
    state.execute(due, (now + 600.0, row)).expect("a loop");
    let finding = one(&sandbox, "HM706");
    let remedy = &finding["remedies"][0];
    let argv = words(&remedy["argv"]);
    let _serve = Process::ready(begun(&sandbox, &argv), &sandbox.home());
    is_cured(&sandbox, "HM706", remedy);
}
