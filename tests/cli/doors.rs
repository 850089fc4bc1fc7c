//! The hidden subcommand by which a root doctor asks as another account.

use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::tree::{differences, tree};

#[test]
fn doors_are_dialled_as_the_request_says() {
    let sandbox = Sandbox::new();
    let folder = sandbox.user_home();
    drop(std::os::unix::net::UnixListener::bind(folder.join("bus")).expect("a socket"));
    let request = json!({"uid": 0, "folder": folder, "stage_ms": 400, "total_ms": 900});
    let output = sandbox
        .hermes()
        .arg("__doors")
        .write_stdin(request.to_string())
        .output()
        .expect("a run");
    assert!(output.status.success(), "{output:?}");
    let doors: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let refusal = |door: usize| {
        let stages = doors[door]["stages"].as_array().expect("stages");
        let last = stages.last().expect("a stage");
        (last["stage"].clone(), last["failure"]["kind"].clone())
    };
    assert_eq!(refusal(0), (json!("socket"), json!("absent")));
    assert_eq!(refusal(1), (json!("connect"), json!("refused")));
}

/// Somebody who takes every caller and says nothing, at both doors: each is given up at its first stage
/// that wants an answer, after one wait, within the usual patience; the two are dialled side by side.
#[test]
fn a_mute_host_is_waited_for_once_at_each_door() {
    let sandbox = Sandbox::new();
    let folder = sandbox.user_home();
    std::fs::create_dir(folder.join("systemd")).expect("a directory");
    let listen =
        |name: &str| std::os::unix::net::UnixListener::bind(folder.join(name)).expect("a socket");
    let _mute = [listen("systemd/private"), listen("bus")];
    let uid = rustix::process::geteuid().as_raw();
    let patience = hermes::bus::Patience::default();
    let (stage, total) = (patience.stage.as_millis(), patience.total.as_millis());
    assert_eq!((stage, total), (500, 1500));
    let request = json!({"uid": uid, "folder": folder, "stage_ms": 500, "total_ms": 1500});
    let output = sandbox
        .hermes()
        .arg("__doors")
        .write_stdin(request.to_string())
        .output();
    let doors: Value = serde_json::from_slice(&output.expect("a run").stdout).expect("JSON");
    for door in doors.as_array().expect("doors") {
        let stages = door["stages"].as_array().expect("stages");
        let waits = stages.iter().filter(|stage| !stage["failure"].is_null());
        let waits: Vec<_> = waits
            .map(|stage| (&stage["stage"], &stage["failure"]["kind"]))
            .collect();
        assert_eq!(
            waits,
            [(&json!("authenticate"), &json!("mute"))],
            "{door:#}"
        );
    }
}

#[test]
fn a_senseless_request_is_refused_and_the_command_is_not_advertised() {
    let sandbox = Sandbox::new();
    sandbox
        .hermes()
        .arg("__doors")
        .write_stdin("{")
        .assert()
        .failure();
    let help = sandbox.hermes().arg("--help").output().expect("a run");
    assert!(!String::from_utf8_lossy(&help.stdout).contains("__doors"));
}

#[test]
fn a_worker_is_no_command_for_people_and_runs_nothing_without_its_payload() {
    let sandbox = crate::common::jobs::with(&[]);
    let before = tree(sandbox.user_home());
    for help in [&["--help"][..], &["cron", "--help"], &["help"]] {
        let output = sandbox.hermes().args(help).output().expect("a run");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let offers = said
            .lines()
            .any(|line| line.trim_start().starts_with("worker"));
        assert!(!offers, "{help:?}: {said}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let mut command = sandbox.hermes();
        let output = command.args(["completions", shell]).output();
        let script = String::from_utf8(output.expect("a run").stdout).expect("text");
        assert!(script.contains("completions"), "{shell}: {script}");
        for hidden in ["--require-placement", "survivor", "__doors"] {
            assert!(!script.contains(hidden), "{shell} offers {hidden}");
        }
    }
    let id = "a".repeat(32);
    for (words, payload) in [
        (&["worker"][..], ""),
        (&["worker", "--execution", &id], ""),
        (&["worker", "--execution", &id], "{}"),
        (&["cron", "worker"], ""),
    ] {
        let mut command = sandbox.hermes();
        let output = command.args(words).write_stdin(payload).output();
        let output = output.expect("a run");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && !said.is_empty(),
            "{words:?}: {said}"
        );
        let after = tree(sandbox.user_home());
        assert_eq!(differences(&before, &after), [""; 0], "{words:?}");
    }
}
