//! The hidden subcommand by which a root doctor asks as another account.

use serde_json::{Value, json};

use crate::common::Sandbox;

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
