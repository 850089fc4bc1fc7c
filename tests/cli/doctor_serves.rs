//! Which serve serves which home, and that the doctor, the lists and the status say the same of it: with
//! serves and gateways that run. Their ages are real: whatever a clock says, they began just now.

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::jobs::{job, script};
use crate::common::serving::{self, Serving};

/// The seconds after the beginning at which all is asked.
const SOON: i64 = 5;
/// A session of ours.
const SESSION: &str = "20260601_120000_aaaaaa";

/// It, as our serve keeps it.
const OURS: &str = "CREATE TABLE hermes_sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, title TEXT, \
    cwd TEXT, model TEXT, parent_id TEXT, hidden INTEGER NOT NULL DEFAULT 0, agent_session TEXT, \
    preview TEXT NOT NULL DEFAULT '', message_count INTEGER NOT NULL DEFAULT 0, started_at REAL NOT NULL, \
    last_active REAL NOT NULL, ended_at REAL, end_reason TEXT); \
    INSERT INTO hermes_sessions(id, source, started_at, last_active) \
    VALUES('20260601_120000_aaaaaa', 'cli', 1780300000.0, 1780300000.0);";

/// A process of a test, which ends with it.
struct Process(Child);

impl Process {
    /// One more serve, with these arguments. It has said that it is ready, or that it waits, when this
    /// word was seen on its stderr or stdout.
    fn serve(sandbox: &Sandbox, now: Timestamp, arguments: &[&str], word: &str) -> Self {
        let mut command = serving::command(sandbox, &now.to_string(), arguments);
        command.env_remove("__HERMES_CLOCK");
        let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let text: Box<dyn std::io::Read> = if word.starts_with("HERMES") {
            Box::new(out.expect("its stdout"))
        } else {
            Box::new(err.expect("its stderr"))
        };
        let mut lines = BufReader::new(text).lines().map_while(Result::ok);
        assert!(
            lines.any(|line| line.contains(word)),
            "it never said {word}"
        );
        Self(child)
    }

    /// What the doctor takes for a gateway of Hermes Agent.
    fn gateway(sandbox: &Sandbox, home: &Path) -> Self {
        std::fs::write(sandbox.user_home().join("gateway"), "echo up\nread line\n")
            .expect("a script");
        #[expect(clippy::disallowed_methods, reason = "it lives on beside the doctor")]
        let mut command = Command::new("/bin/sh");
        command.arg0("hermes").args(["gateway", "run"]);
        command.env_clear().env("HERMES_HOME", home);
        command.current_dir(sandbox.user_home());
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = pipes.spawn().expect("it starts");
        let mut up = [0; 3];
        let out = child.stdout.as_mut().expect("its stdout");
        out.read_exact(&mut up).expect("it is up");
        Self(child)
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _ended = self.0.wait();
    }
}

/// A root and its profile `ops`, each with a job and a loop, both due in an hour.
struct Homes {
    sandbox: Sandbox,
    now: Timestamp,
}

impl Homes {
    fn new() -> Self {
        let homes = Self {
            sandbox: Sandbox::new(),
            now: serving::BEGIN.parse().expect("a time"),
        };
        serving::configure(&homes.sandbox, "");
        for home in [homes.root(), homes.ops()] {
            std::fs::create_dir_all(home.join("cron")).expect("a home");
            let soon = homes.at(3_600).to_string();
            let before = homes.at(-60).to_string();
            let more = json!({"next_run_at": soon, "created_at": before});
            let store = json!({"jobs": [job("00000000000a", &more)]});
            std::fs::write(home.join("cron/jobs.json"), store.to_string()).expect("a store");
            homes.looping(&home);
        }
        script(&homes.sandbox, "ok.sh", "echo fine");
        for file in ["scripts/ok.sh", "config.toml"] {
            let to = homes.ops().join(file);
            std::fs::create_dir_all(to.parent().expect("a directory")).expect("it is made");
            std::fs::copy(homes.root().join(file), to).expect("a copy");
        }
        homes
    }

    fn looping(&self, home: &Path) {
        let sample = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/data/sample-home/state.db"
        );
        std::fs::copy(sample, home.join("state.db")).expect("a copy");
        let database = hermes::db::connect_or_create(&home.join("state.db")).expect("a database");
        let timers = "DELETE FROM state_meta WHERE key LIKE 'loop:%' OR key LIKE 'heartbeat:%'";
        database.execute_batch(timers).expect("no timers");
        database.execute_batch(OURS).expect("a session of ours");
        let due = self.at(3_600).as_duration().as_secs_f64();
        let begun = self.at(-60).as_duration().as_secs_f64();
        let row = json!({"prompt": "look", "status": "active", "mode": "interval",
            "interval_seconds": 3600.0, "times": 0, "max_ticks": 50, "ticks_fired": 0,
            "created_at": begun, "next_due_at": due, "awaiting_response": false, "route": {}});
        database
            .execute(
                "INSERT INTO state_meta(key, value) VALUES(?1, ?2)",
                [format!("loop:{SESSION}"), row.to_string()],
            )
            .expect("a loop");
        let row = json!({"prompt": "look", "status": "active", "interval_seconds": 3600,
            "created_at": begun, "last_fired_at": 0.0, "fire_count": 0});
        database
            .execute(
                "INSERT INTO state_meta(key, value) VALUES(?1, ?2)",
                [format!("heartbeat:{SESSION}"), row.to_string()],
            )
            .expect("a heartbeat");
    }

    fn root(&self) -> PathBuf {
        self.sandbox.home()
    }

    fn ops(&self) -> PathBuf {
        self.root().join("profiles/ops")
    }

    /// So many seconds after the test began.
    fn at(&self, seconds: i64) -> Timestamp {
        self.now + SignedDuration::from_secs(seconds)
    }

    /// What a command says of a home, at that many seconds.
    fn ask(&self, words: &[&str], home: &Path, seconds: i64) -> Value {
        let mut command = self.sandbox.hermes();
        command.env("__HERMES_NOW", self.at(seconds).to_string());
        command.args(words).arg("--json").arg("--home").arg(home);
        let output = command.output().expect("it runs");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            let text = String::from_utf8_lossy(&output.stderr);
            panic!("{words:?}: {error}: {text}")
        })
    }

    /// A heartbeat of the ticker of a home, at that many seconds.
    fn beat(&self, home: &Path, seconds: i64, pid: u32) {
        let at = self.at(seconds).as_duration().as_secs_f64();
        let file = home.join("cron/ticker_heartbeat");
        std::fs::write(file, format!("{at} {pid}")).expect("a heartbeat");
        let file = home.join("cron/ticker_last_success");
        std::fs::write(file, format!("{at}")).expect("a good tick");
    }

    /// The doctor's report on all profiles of the root.
    fn report(&self, seconds: i64) -> Report {
        let words = ["doctor", "--only", "scheduler,loops"];
        Report(self.ask(&words, &self.root(), seconds))
    }
}

struct Report(Value);

impl Report {
    /// The codes of what was found of the root, or of its profile: that one names itself.
    fn of(&self, profile: &str) -> Vec<String> {
        let findings = self.0["findings"].as_array().expect("findings").iter();
        let of_ops = |found: &&Value| found.to_string().contains("profiles/ops");
        let mut codes: Vec<_> = findings
            .filter(|found| of_ops(found) == (profile == "ops"))
            .map(|found| text(&found["code"]))
            .collect();
        codes.sort();
        codes
    }

    fn note(&self, id: &str) -> String {
        let checks = self.0["checks"].as_array().expect("checks");
        let check = checks.iter().find(|check| check["id"] == id);
        text(&check.expect("it ran")["note"])
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[test]
fn b42_b44_b115_our_serve_of_the_root_has_no_profile() {
    let homes = Homes::new();
    let mut serve = Serving::at(&homes.sandbox, &homes.now.to_string());
    serve.clock("settle");
    let report = homes.report(SOON);
    assert_eq!(report.of("ops"), ["HM407", "HM701", "HM701"]);
    assert_eq!(report.of("default"), [""; 0]);
    let findings = report.0["findings"].to_string();
    assert!(!findings.contains("kill "), "{findings}");
    let status = homes.ask(&["cron", "status"], &homes.ops(), SOON);
    assert_eq!(status["homes"][0]["will_fire"], false, "{status}");
    let list = homes.ask(&["loop", "list"], &homes.ops(), SOON);
    assert_eq!(list["loops"][0]["state"], "not driven", "{list}");
}

#[test]
fn b44_b109_one_serve_for_each_home_is_the_documented_way() {
    let homes = Homes::new();
    let mut root = Serving::at(&homes.sandbox, &homes.now.to_string());
    root.clock("settle");
    let ops = homes.ops().display().to_string();
    let begin = homes.at(0);
    let ready = "HERMES_DASHBOARD_READY";
    let _ops = Process::serve(&homes.sandbox, begin, &["--home", &ops], ready);
    let report = homes.report(SOON);
    assert_eq!(report.of("default"), [""; 0]);
    assert_eq!(report.of("ops"), [""; 0]);
    for home in [homes.root(), homes.ops()] {
        let status = homes.ask(&["cron", "status"], &home, SOON);
        assert_eq!(status["homes"][0]["will_fire"], true, "{status}");
    }
}

#[test]
fn b109_a_passive_serve_is_told_as_a_stand_by() {
    let homes = Homes::new();
    let mut first = Serving::at(&homes.sandbox, &homes.now.to_string());
    first.clock("settle");
    let begin = homes.at(0);
    let second = Process::serve(&homes.sandbox, begin, &["--passive"], "stands by");
    let report = homes.report(SOON);
    assert_eq!(report.of("default"), [""; 0]);
    let told = format!("pid {} stands by", second.pid());
    assert_eq!(report.note("scheduler-process"), told);
    let status = homes.ask(&["cron", "status"], &homes.root(), SOON);
    assert_eq!(
        status["homes"][0]["scheduler"]["pid"],
        first.pid(),
        "{status}"
    );
    assert_eq!(
        report.0["dispatch"]["pid"],
        first.pid(),
        "{}",
        report.0["dispatch"]
    );
}

/// What each command says of one home: whether jobs fire.
fn of_jobs(homes: &Homes, home: &Path) -> [(&'static str, Option<bool>); 2] {
    let name = home.file_name().expect("a name").to_string_lossy();
    let codes = ["HM402", "HM403", "HM404", "HM405", "HM407"];
    let mut found = homes.report(SOON).of(&name).into_iter();
    let status = homes.ask(&["cron", "status"], home, SOON);
    [
        (
            "doctor",
            Some(!found.any(|code| codes.contains(&code.as_str()))),
        ),
        ("cron status", status["homes"][0]["will_fire"].as_bool()),
    ]
}

/// What each command says of one home: whether its loop and its heartbeat are driven.
fn of_timers(homes: &Homes, home: &Path) -> [(&'static str, Option<bool>); 4] {
    let name = home.file_name().expect("a name").to_string_lossy();
    let found = homes.report(SOON).of(&name);
    let undriven = found.iter().filter(|code| *code == "HM701").count();
    let both = match undriven {
        0 => Some(true),
        2 => Some(false),
        _ => None,
    };
    let listed = |verb: &str| {
        let list = homes.ask(&[verb, "list"], home, SOON);
        let state = list[format!("{verb}s")][0]["state"].as_str();
        state.map(|state| state != "not driven")
    };
    let sessions = homes.ask(&["session", "list"], home, SOON);
    let sessions = sessions["sessions"].as_array().expect("sessions");
    let timers = sessions
        .iter()
        .filter_map(|session| session["timers"].as_array());
    let timers: Vec<_> = timers.flatten().map(text).collect();
    assert_eq!(timers.len(), 2, "{sessions:?}");
    let not = timers.iter().filter(|words| words.contains("not driven"));
    [
        ("doctor", both),
        ("loop list", listed("loop")),
        ("heartbeat list", listed("heartbeat")),
        ("session list", Some(not.count() == 0)),
    ]
}

/// Jobs fire, and timers are driven, by the word of every command.
fn agreed(homes: &Homes, home: &Path, (jobs, timers): (bool, bool), state: &str) {
    for (who, told) in of_jobs(homes, home) {
        assert_eq!(told, Some(jobs), "{state}: jobs: {who}");
    }
    for (who, told) in of_timers(homes, home) {
        assert_eq!(told, Some(timers), "{state}: timers: {who}");
    }
}

#[test]
fn b33_b45_every_command_has_one_answer_whatever_becomes_of_a_serve() {
    let homes = Homes::new();
    let (root, ops) = (homes.root(), homes.ops());
    agreed(&homes, &root, (false, false), "no serve");
    let mut serve = Serving::at(&homes.sandbox, &homes.now.to_string());
    serve.clock("settle");
    agreed(&homes, &root, (true, true), "a serve that ticks");
    assert_eq!(serve.page("/readyz").0, 200);
    agreed(&homes, &ops, (false, false), "a serve of another home");
    let begin = homes.at(0);
    let second = Process::serve(&homes.sandbox, begin, &["--passive"], "stands by");
    agreed(&homes, &root, (true, true), "one that ticks, one stands by");
    drop(second);
    homes.beat(&root, -2_000, serve.pid());
    agreed(&homes, &root, (true, true), "it starts after a break");
    let note = homes.report(SOON).note("scheduler-ticker");
    assert!(note.starts_with("default: starting for"), "{note}");
    std::fs::remove_file(root.join("cron/ticker_heartbeat")).expect("it was there");
    agreed(&homes, &root, (true, true), "it starts for the first time");
    homes.beat(&root, 0, serve.pid());
    serve.kill();
    agreed(&homes, &root, (false, false), "it was killed");
    // By its lock alone: a young process would only be starting.
    let lock = hermes::files::try_lock(&root.join("run/serve.lock")).expect("a lock");
    homes.beat(&root, -900, std::process::id());
    agreed(&homes, &root, (false, true), "one that hangs");
    assert_eq!(homes.report(SOON).of("default"), ["HM403"]);
    drop(lock);
}

#[test]
fn b44_b45_every_command_has_one_answer_beside_a_gateway_of_hermes_agent() {
    let homes = Homes::new();
    let (root, ops) = (homes.root(), homes.ops());
    let gateway = Process::gateway(&homes.sandbox, &root);
    homes.beat(&root, 0, gateway.pid());
    agreed(&homes, &ops, (true, false), "it starts");
    homes.beat(&ops, 0, gateway.pid());
    for home in [&root, &ops] {
        agreed(&homes, home, (true, false), "its root and its profiles");
    }
    let state = json!({"pid": gateway.pid(), "kind": "hermes-gateway",
        "gateway_state": "running", "served_profiles": ["default", "dev"]});
    std::fs::write(root.join("gateway_state.json"), state.to_string()).expect("its state");
    homes.beat(&ops, -900, gateway.pid());
    agreed(
        &homes,
        &ops,
        (false, false),
        "it does not serve the profile",
    );
    assert_eq!(homes.report(SOON).of("ops")[0], "HM407");
    agreed(&homes, &root, (true, false), "it serves its root");
    drop(gateway);
    agreed(&homes, &root, (false, false), "it was killed");
}
