//! Loops, heartbeats and sessions from the command line, with a serve and without.

use serde_json::Value;

use crate::common::Sandbox;
use crate::common::agent::{self, STALLS};
use crate::common::serving::{self, Serving};

fn json(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    let done = sandbox
        .hermes()
        .args(arguments)
        .arg("--json")
        .assert()
        .code(0);
    serde_json::from_slice(&done.get_output().stdout).expect("JSON")
}

fn text(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let done = sandbox.hermes().args(arguments).assert().code(0);
    String::from_utf8_lossy(&done.get_output().stdout).into_owned()
}

/// A serve with a loop that ran for an hour; its session.
fn an_hour(sandbox: &Sandbox) -> (Serving, String) {
    serving::configure(sandbox, "");
    let mut serve = Serving::start(sandbox);
    let set = json(
        sandbox,
        &["loop", "start", "--times", "5", "30m", "ask:", "check"],
    );
    assert_eq!(set["loop"]["interval_seconds"], 1800.0);
    assert_eq!(set["loop"]["times"], 5);
    let id = set["session"].as_str().expect("a session").to_owned();
    serve.pass(3600, 60);
    assert_eq!(
        serving::asked(sandbox).len(),
        3,
        "nobody is attached, and it goes on"
    );
    (serve, id)
}

#[test]
fn a_loop_is_set_and_seen() {
    let sandbox = Sandbox::new();
    let (mut serve, id) = an_hour(&sandbox);

    let list = json(&sandbox, &["loop", "list"]);
    assert_eq!(list["loops"][0]["session"], id.as_str());
    assert_eq!(list["loops"][0]["state"], "active");
    let because = list["loops"][0]["because"].as_str().expect("who");
    assert!(
        because.contains(&format!("serve, pid {}", serve.pid())),
        "{because}"
    );
    let sessions = json(&sandbox, &["session", "list"]);
    assert_eq!(sessions["sessions"][0]["holder"], "serve: idle, 0 clients");
    let past = json(&sandbox, &["loop", "history", &id]);
    assert_eq!(past["ticks"].as_array().map(Vec::len), Some(3));
    assert_eq!(past["ticks"][0]["outcome"], "finished");
    let shown = text(&sandbox, &["session", "show", &id]);
    assert!(shown.contains("Loop active, every 30m"), "{shown}");
    // Its client might have come back since the last turn ended; now no more.
    serve.clock("advance 25");
    let plan = json(
        &sandbox,
        &["session", "reap", "--dry-run", "--reaper", "orphan"],
    );
    let because = plan["sessions"][0]["because"].as_str().expect("why");
    assert!(
        because.starts_with("sole driver of its live loop"),
        "{because}"
    );
}

#[test]
fn a_loop_is_controlled_with_serve_and_without() {
    let sandbox = Sandbox::new();
    let (serve, id) = an_hour(&sandbox);
    assert_eq!(
        json(&sandbox, &["loop", "pause", &id])["loop"]["status"],
        "paused"
    );
    assert_eq!(
        json(&sandbox, &["loop", "resume", &id])["loop"]["status"],
        "active"
    );
    assert_eq!(serve.stop().code(), Some(0));

    let list = json(&sandbox, &["loop", "list"]);
    assert_eq!(list["loops"][0]["state"], "not driven", "{list}");
    assert_eq!(
        json(&sandbox, &["loop", "history", &id])["ticks"]
            .as_array()
            .map(Vec::len),
        Some(3)
    );
    assert_eq!(
        json(&sandbox, &["loop", "stop", &id])["loop"]["status"],
        "cleared"
    );
    let refused = sandbox
        .hermes()
        .args(["loop", "start", "5m", "x"])
        .assert()
        .code(1);
    let said = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(said.contains("nothing would drive this loop"), "{said}");
    assert!(said.contains("hermes serve"), "{said}");
    let serve = Serving::start(&sandbox);
    assert_eq!(
        json(&sandbox, &["session", "list"])["sessions"][0]["holder"],
        Value::Null
    );
    drop(serve);
}

#[test]
fn an_emergency_stop_is_shown_with_each_timer_and_a_pause_with_its_reason() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "[heartbeats]\nmax_beats = 2\n");
    let mut serve = Serving::start(&sandbox);
    text(&sandbox, &["heartbeat", "start", "10m", "ask:", "beat"]);
    text(&sandbox, &["loop", "start", "30m", "ask:", "check"]);
    serve.pass(1860, 60);
    let list = json(&sandbox, &["heartbeat", "list"]);
    let beat = &list["heartbeats"][0];
    assert_eq!(beat["state"], "paused");
    assert_eq!(beat["because"], "2 beats without a message of the user");
    text(&sandbox, &["pause", "--reason", "a fire"]);
    let list = json(&sandbox, &["loop", "list"]);
    let looping = &list["loops"][0];
    assert_eq!(looping["state"], "stopped", "{list}");
    let because = looping["because"].as_str().expect("why");
    assert!(
        because.contains("a fire") && because.contains("driven by serve"),
        "{because}"
    );
    let sessions = json(&sandbox, &["session", "list"]);
    let all = sessions["sessions"].to_string();
    assert!(all.contains("loop stopped: an emergency stop"), "{all}");
}

#[test]
fn a_heartbeat_and_a_closed_session() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let mut serve = Serving::start(&sandbox);
    let set = json(
        &sandbox,
        &["heartbeat", "start", "every", "10m", "ask:", "beat"],
    );
    let id = set["session"].as_str().expect("a session").to_owned();
    serve.pass(1260, 60);
    assert_eq!(serving::asked(&sandbox).len(), 2);
    text(&sandbox, &["session", "close", "--dry-run", &id]);
    assert!(json(&sandbox, &["session", "list"])["sessions"][0]["holder"].is_string());
    text(&sandbox, &["session", "close", &id]);
    serve.pass(1260, 60);
    assert_eq!(serving::asked(&sandbox).len(), 2);
    let list = json(&sandbox, &["heartbeat", "list"]);
    assert_eq!(list["heartbeats"][0]["state"], "not driven");
    let because = list["heartbeats"][0]["because"].as_str().expect("why");
    assert!(
        because.contains("its session has ended: it was closed (tui_close)"),
        "{because}"
    );
}

#[test]
fn one_can_talk_to_a_session_from_a_pipe() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let _serve = Serving::start(&sandbox);
    let done = sandbox
        .hermes()
        .args(["session", "attach"])
        .write_stdin("ask: hello\n/status\n")
        .assert()
        .code(0);
    let said = String::from_utf8_lossy(&done.get_output().stdout).into_owned();
    assert!(said.contains("all good\n"), "{said}");
    assert!(said.contains("Session 2026"), "{said}");
}

#[test]
fn a_loop_in_the_foreground_needs_no_serve() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    agent::does(&sandbox, &["say nothing is left", "say LOOP_COMPLETE"]);
    let done = sandbox
        .hermes()
        .args(["loop", "start", "--foreground", "5m", "ask:", "once"])
        .assert()
        .code(0);
    let output = done.get_output();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        said.contains("  #1  ") && said.ends_with("LOOP_COMPLETE\n"),
        "{said}"
    );
    let noted = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        noted.contains("loop done (the agent says it is complete) after 1 ticks"),
        "{noted}"
    );
    assert_eq!(serving::asked(&sandbox).len(), 1);
    assert!(!sandbox.home().join("state.db").exists());
}

#[test]
fn the_judge_ends_a_loop_in_the_foreground() {
    let sandbox = Sandbox::new();
    let judge =
        "[loops]\njudge = [\"/bin/sh\", \"-c\", \"grep -q 'the build is green' && echo it is\"]\n";
    serving::configure(&sandbox, judge);
    let done = sandbox
        .hermes()
        .args(["loop", "start", "--foreground", "5m", "ask:", "once"])
        .args(["--until", "the build is green"])
        .timeout(std::time::Duration::from_secs(60))
        .assert()
        .code(0);
    let noted = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
    let ended = "loop done (the condition is met: it is) after 1 ticks";
    assert!(noted.contains(ended), "{noted}");
}

/// Starts a loop in the foreground with the agent of the tests, under these words.
fn foreground(sandbox: &Sandbox, words: &[&str]) -> std::process::Child {
    let (program, arguments) = words.split_first().expect("a program");
    #[expect(
        clippy::disallowed_methods,
        reason = "the test sends it a signal while it runs"
    )]
    let mut command = std::process::Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .env("HOME", sandbox.user_home())
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", "C.UTF-8")
        .current_dir(sandbox.user_home())
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    command.spawn().expect("it starts")
}

fn ctrl_c(child: &std::process::Child) {
    let pid = i32::try_from(child.id()).expect("a pid");
    let pid = rustix::process::Pid::from_raw(pid).expect("a pid");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it lives");
}

#[test]
fn ctrl_c_pauses_a_loop_in_the_foreground() {
    use std::io::{BufRead as _, BufReader, Read as _};
    let program = env!("CARGO_BIN_EXE_hermes");
    let words = [program, "loop", "start", "--foreground", "1h", "ask:", "x"];
    for (steps, why) in [
        (
            &["say all good"][..],
            "loop paused (Ctrl-C) after 1 ticks\n",
        ),
        (
            STALLS,
            "loop paused (its wake-up was interrupted) after 1 ticks\n",
        ),
    ] {
        let sandbox = Sandbox::new();
        serving::configure(&sandbox, "");
        agent::does(&sandbox, steps);
        let pipe = sandbox.fifo("agent-alive");
        let mut child = foreground(&sandbox, &words);
        let mut lines = BufReader::new(child.stdout.take().expect("its stdout"));
        let mut line = String::new();
        if steps == STALLS {
            // The agent holds the pipe open while it runs.
            let _opened_by_the_agent = std::fs::File::open(&pipe).expect("the agent");
        } else {
            lines.read_line(&mut line).expect("a line");
            assert!(line.ends_with("  all good\n"), "{line}");
        }
        ctrl_c(&child);
        let mut said = String::new();
        let stderr = child.stderr.as_mut().expect("its stderr");
        stderr.read_to_string(&mut said).expect("its last words");
        assert!(child.wait().expect("its end").success());
        assert!(said.ends_with(why), "{said}");
        assert!(!said.contains("next in"), "no countdown off a terminal");
        assert!(!sandbox.home().join("state.db").exists());
    }
}

#[test]
fn a_loop_in_the_foreground_counts_down_on_a_terminal() {
    use std::io::Read as _;
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let program = env!("CARGO_BIN_EXE_hermes");
    let inner = format!("{program} loop start --foreground 1h ask: x");
    let words = ["/usr/bin/script", "-q", "-e", "-c", &inner, "typescript"];
    let mut child = foreground(&sandbox, &words);
    let mut stdout = child.stdout.take().expect("its stdout");
    let mut seen = Vec::new();
    let mut byte = [0];
    while !seen.ends_with(b"next in ") {
        stdout.read_exact(&mut byte).expect("a countdown");
        seen.push(byte[0]);
    }
    let seen = String::from_utf8_lossy(&seen).into_owned();
    assert!(seen.contains("  #1  "), "one line for the tick: {seen}");
    // Its terminal goes with it, and with that the loop.
    child.kill().expect("it lives");
    child.wait().expect("its end");
}
