//! `hermes loop` and `hermes heartbeat`: how texts are read, and who drives what is stored.

use predicates::prelude::*;
use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::tree::tree;

/// Minutes after the sample home was written.
const NOW: &str = "2026-11-29T23:00:00Z";

fn json_of(sandbox: &Sandbox, args: &[&str], code: i32) -> Value {
    let output = sandbox
        .hermes()
        .env("__HERMES_NOW", NOW)
        .args(args)
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(code), "{args:?}: {output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn read(text: &str, code: i32) -> Value {
    json_of(
        &Sandbox::new(),
        &["loop", "start", "--dry-run", "--json", "--", text],
        code,
    )
}

#[test]
fn a_text_is_read_as_the_vectors_say() {
    let file = include_str!("../data/vectors/loop-args-a.json");
    let file: Value = serde_json::from_str(file).expect("JSON");
    let vectors = file["vectors"].as_array().expect("vectors");
    let mut seen = 0;
    for vector in vectors
        .iter()
        .filter(|vector| vector["fn"] == "parse_loop_args")
    {
        let text = vector["input"].as_str().expect("a text");
        let expect = &vector["expect"]["result"];
        if expect["error"].is_null() {
            let wanted = json!({
                "interval_seconds": expect["interval_seconds"],
                "prompt": expect["prompt"],
                "times": expect["times"],
                "until": expect["until"],
            });
            assert_eq!(read(text, 0), wanted, "{text:?}");
        } else {
            let message = &read(text, 64)["error"]["message"];
            assert!(
                message.as_str().is_some_and(|text| !text.is_empty()),
                "{text:?}"
            );
        }
        seen += 1;
    }
    assert!(seen > 20);
}

#[test]
fn words_and_flags_make_a_text_too() {
    let args = [
        "loop",
        "start",
        "--dry-run",
        "--json",
        "5m",
        "check",
        "it",
        "--times",
        "3",
    ];
    let read = json_of(&Sandbox::new(), &args, 0);
    assert_eq!(
        read,
        json!({"interval_seconds": 300, "prompt": "check it", "times": 3, "until": ""})
    );
    Sandbox::new()
        .hermes()
        .args(["loop", "start", "--dry-run", "10s", "check"])
        .assert()
        .code(0)
        .stdout(predicate::str::contains("30s, raised from 10s"));
}

#[test]
fn a_timer_that_nothing_would_drive_is_not_set() {
    for kind in ["loop", "heartbeat"] {
        Sandbox::with_sample_home()
            .hermes()
            .args([kind, "start", "5m", "check"])
            .assert()
            .code(1)
            .stderr(predicate::str::contains("nothing would drive this"));
    }
}

/// A backend of Hermes Agent, as far as its command line and its environment tell. It lives as long as
/// its stdin is open.
fn backend(sandbox: &Sandbox, desktop: &str) -> std::process::Child {
    let place = sandbox.user_home();
    let interpreter = place.join("python3");
    if !interpreter.exists() {
        std::os::unix::fs::symlink("/bin/sh", &interpreter).expect("a link");
        std::fs::write(place.join("hermes"), "echo up; read line\n").expect("a script");
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "it outlives the call that starts it"
    )]
    let mut command = std::process::Command::new(interpreter);
    command
        .arg(place.join("hermes"))
        .arg("serve")
        .env_clear()
        .env("HERMES_HOME", sandbox.home())
        .env("HERMES_DESKTOP", desktop)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut line = [0; 3];
    let stdout = child.stdout.as_mut().expect("its stdout");
    std::io::Read::read_exact(stdout, &mut line).expect("it is up");
    child
}

#[test]
fn where_the_only_backend_is_a_desktop_s_one_learns_that_a_timer_ends_with_it() {
    let sandbox = Sandbox::new();
    let refused = |kind: &str| {
        let done = sandbox
            .hermes()
            .args([kind, "start", "5m", "check"])
            .assert();
        let done = done.code(1);
        String::from_utf8_lossy(&done.get_output().stderr).into_owned()
    };
    let said = |pid: u32| format!("belongs to a desktop application (pid {pid})");
    let mut desktop = backend(&sandbox, "1");
    for kind in ["loop", "heartbeat"] {
        let told = refused(kind);
        assert!(told.contains(&said(desktop.id())), "{told}");
        assert!(told.contains("ends with it"), "{told}");
        assert!(told.contains("hermes service print"), "{told}");
    }
    // One that somebody started by himself stays.
    let mut plain = backend(&sandbox, "0");
    assert!(!refused("loop").contains("desktop application"));
    for child in [&mut desktop, &mut plain] {
        drop(child.stdin.take());
        child.wait().expect("its end");
    }
}

#[test]
fn heartbeat_texts_are_read() {
    let args = [
        "heartbeat",
        "start",
        "--dry-run",
        "--json",
        "--",
        "every 10m check mail",
    ];
    let read = json_of(&Sandbox::new(), &args, 0);
    assert_eq!(
        read,
        json!({"interval_seconds": 600, "prompt": "check mail"})
    );
    let args = [
        "heartbeat",
        "start",
        "--dry-run",
        "--json",
        "--",
        "30s ping",
    ];
    let error = json_of(&Sandbox::new(), &args, 64);
    assert_eq!(
        error["error"]["message"],
        "a heartbeat beats at most once a minute"
    );
}

#[test]
fn b115_an_armed_timer_without_a_driver_is_never_shown_as_active() {
    let sandbox = Sandbox::with_sample_home();
    let list = json_of(&sandbox, &["loop", "list", "--json"], 0);
    assert_eq!(list["schema"], "hermes.loop.list/1");
    let first = &list["loops"][0];
    assert_eq!(first["session"], "20260101_090000_aaaaaa");
    assert_eq!(first["state"], "not driven");
    assert_eq!(first["next_due_at"], "2026-11-29T22:45:00.277079Z");
    assert_eq!(list["loops"][1]["state"], "paused");
    sandbox
        .hermes()
        .env("__HERMES_NOW", NOW)
        .args(["loop", "list"])
        .assert()
        .code(0)
        .stdout(predicate::str::contains("not driven: "))
        .stdout(predicate::str::contains("active").not());
    let beats = json_of(&sandbox, &["heartbeat", "list", "--json"], 0);
    assert_eq!(beats["heartbeats"][0]["state"], "not driven");
    assert_eq!(
        beats["heartbeats"][0]["because"],
        "no serve runs for this home, and no process holds the session"
    );
}

#[test]
fn one_timer_by_the_beginning_of_its_session() {
    let sandbox = Sandbox::with_sample_home();
    let status = json_of(&sandbox, &["loop", "status", "20260101_0900", "--json"], 0);
    assert_eq!(
        status["loop"]["row"]["next_due_at"].to_string(),
        "1795992300.2770793"
    );
    json_of(&sandbox, &["loop", "status", "20260101_09", "--json"], 1);
    json_of(&sandbox, &["heartbeat", "status", "nobody", "--json"], 1);
}

#[test]
fn b121_looking_needs_no_model_no_serve_and_changes_nothing() {
    let sandbox = Sandbox::with_sample_home();
    let before = tree(&sandbox.home());
    for args in [
        ["loop", "list"].as_slice(),
        &["heartbeat", "list"],
        &["session", "list"],
        &["session", "reap", "--dry-run"],
    ] {
        sandbox.hermes().args(args).assert().code(0);
    }
    assert_eq!(before, tree(&sandbox.home()));
}

#[test]
fn a_store_that_cannot_be_read_is_not_an_empty_one() {
    let sandbox = Sandbox::with_sample_home();
    sandbox.write("state.db", b"no database");
    for args in [["loop", "list"], ["heartbeat", "list"], ["session", "list"]] {
        sandbox
            .hermes()
            .args(args)
            .assert()
            .code(1)
            .stderr(predicate::str::contains("failed to read"));
    }
}

#[test]
fn words_that_people_take_for_an_interval_are_no_silent_part_of_the_prompt() {
    for words in [
        ["every", "5", "minutes", "watch CI"].as_slice(),
        &["5", "minutes", "watch", "CI"],
        &["every 5min watch CI"],
    ] {
        for how in ["--foreground", "--times=3"] {
            Sandbox::with_sample_home()
                .hermes()
                .args(["loop", "start", how])
                .args(words)
                .assert()
                .code(64)
                .stderr(predicate::str::contains("is no interval of a loop"))
                .stderr(predicate::str::contains("hermes loop start 5m PROMPT"));
        }
    }
    // How Hermes Agent and /loop read it is told all the same, and what is odd about it.
    let args = [
        "loop",
        "start",
        "--dry-run",
        "--json",
        "--",
        "every 5 minutes watch CI",
    ];
    let read = json_of(&Sandbox::new(), &args, 0);
    assert_eq!(
        read,
        json!({"interval_seconds": null, "prompt": "5 minutes watch CI", "times": 0, "until": ""})
    );
    Sandbox::new()
        .hermes()
        .args(args)
        .assert()
        .stderr(predicate::str::contains("write 5m for it"));
}

#[test]
fn a_length_of_time_that_is_none_is_told_with_those_that_are() {
    Sandbox::with_sample_home()
        .hermes()
        .args(["pause", "--for", "5x"])
        .assert()
        .code(64)
        .stderr(predicate::str::contains(
            "'5x' is no length of time: write it like 90s, 15m, 2h, 1h30m or 3d",
        ));
}
