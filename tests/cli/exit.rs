//! Exit codes and errors, the same for every command.

#![expect(
    clippy::disallowed_methods,
    reason = "these tests start the binary themselves"
)]

use std::fs::OpenOptions;
use std::process::{Command, Stdio};

use predicates::prelude::*;

use crate::common::Sandbox;

#[test]
fn usage_errors_end_with_64_and_help_with_0() {
    let sandbox = Sandbox::new();
    sandbox
        .hermes()
        .arg("bogus")
        .assert()
        .code(64)
        .stderr(predicate::str::contains("bogus"));
    // A verb of other commands is told as theirs, and what is hidden is told to nobody.
    let said = |word| {
        let output = sandbox.hermes().arg(word).output().expect("it runs");
        assert_eq!(output.status.code(), Some(64));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let status = said("status");
    for verb in ["'cron status'", "'loop status'", "'heartbeat status'"] {
        assert!(status.contains(verb), "{status}");
    }
    assert!(said("sesion").contains("'session'"));
    for word in ["survivors", "workers"] {
        assert!(!said(word).contains("similar"), "{}", said(word));
    }
    sandbox
        .hermes()
        .arg("--help")
        .assert()
        .code(0)
        .stdout(predicate::str::contains("Usage"));
    sandbox.hermes().arg("--version").assert().code(0);
}

#[test]
fn with_json_a_usage_error_is_the_one_error_object() {
    let sandbox = Sandbox::new();
    let output = sandbox
        .hermes()
        .args(["bogus", "--json"])
        .assert()
        .code(64)
        .get_output()
        .clone();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one document");
    assert_eq!(json["error"]["kind"], "usage");
    assert!(
        !json["error"]["message"]
            .as_str()
            .expect("a message")
            .is_empty()
    );
    assert!(output.stderr.is_empty());
}

#[test]
fn a_panic_ends_the_process_with_70_and_says_where() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.hermes();
    command.env("__HERMES_FAULT", "defect").arg("doctor");
    let output = command.assert().code(70).get_output().clone();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("a defect that was asked for"), "{text}");
    assert!(text.contains("fault.rs"), "{text}");
}

#[test]
fn output_that_cannot_be_written_ends_with_74() {
    let sandbox = Sandbox::new();
    let full = OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .expect("/dev/full");
    let status = Command::new(env!("CARGO_BIN_EXE_hermes"))
        .args(["help", "exit-codes"])
        .env_clear()
        .env("HOME", sandbox.user_home())
        .stdout(Stdio::from(full))
        .stderr(Stdio::null())
        .status()
        .expect("it starts");
    assert_eq!(status.code(), Some(74));
}

#[test]
fn a_closed_pipe_is_quiet() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = Command::new(env!("CARGO_BIN_EXE_hermes"))
        .args(["help", "exit-codes"])
        .env_clear()
        .stdout(Stdio::from(writer))
        .stderr(Stdio::piped())
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
}
