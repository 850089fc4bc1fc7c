//! `hermes cron doctor` through the binary: options, formats, exit codes.

#![expect(
    clippy::disallowed_methods,
    reason = "one test needs a process whose stdout it closes"
)]

use std::process::{Command as Process, Stdio};

use predicates::prelude::*;
use serde_json::Value;

use crate::common::Sandbox;
use crate::common::schema::validate;

fn schema() -> Value {
    serde_json::from_str(include_str!("../../docs/doctor.schema.json")).expect("the schema")
}

fn document(output: &[u8]) -> Value {
    serde_json::from_slice(output).expect("one document")
}

#[test]
fn the_document_is_as_the_schema_says() {
    for sandbox in [Sandbox::new(), Sandbox::with_sample_home()] {
        let output = sandbox.hermes().args(["doctor", "--json"]).output();
        let output = output.expect("it runs");
        let document = document(&output.stdout);
        assert_eq!(validate(&schema(), &document), [""; 0]);
        assert_eq!(
            document["verdict"]["exit_code"].as_i64(),
            output.status.code().map(i64::from)
        );
        assert!(output.stderr.is_empty());
    }
}

#[test]
fn every_format_ends_with_the_same_code() {
    let sandbox = Sandbox::with_sample_home();
    let code = |arguments: &[&str]| {
        let output = sandbox.hermes().arg("doctor").args(arguments).output();
        output.expect("it runs").status.code()
    };
    let human = code(&[]);
    for format in ["--json", "--plain", "--quiet", "--verbose", "--ascii"] {
        assert_eq!(code(&[format]), human, "{format}");
    }
}

#[test]
fn an_unknown_check_is_a_usage_error_that_lists_those_that_there_are() {
    let sandbox = Sandbox::new();
    for option in ["--only", "--skip"] {
        sandbox
            .hermes()
            .args(["doctor", option, "lingr"])
            .assert()
            .code(64)
            .stderr(predicate::str::contains("did you mean linger?"))
            .stderr(predicate::str::contains("session-bus"));
    }
}

#[test]
fn only_and_skip_choose_the_checks() {
    let sandbox = Sandbox::new();
    let groups = |arguments: &[&str]| -> Vec<String> {
        let output = sandbox
            .hermes()
            .args(["doctor", "--json"])
            .args(arguments)
            .output();
        let document = document(&output.expect("it runs").stdout);
        let checks = document["checks"].as_array().expect("checks").clone();
        let group = |check: &Value| check["group"].as_str().expect("a group").to_owned();
        checks.iter().map(group).collect()
    };
    let linger = groups(&["--only", "linger"]);
    assert!(!linger.is_empty() && linger.iter().all(|group| group == "linger"));
    let others = groups(&["--skip", "linger"]);
    assert!(!others.is_empty() && others.iter().all(|group| group != "linger"));
}

#[test]
fn usage_errors_end_with_64() {
    let sandbox = Sandbox::new();
    for arguments in [
        ["--json", "--plain"].as_slice(),
        &["--shell", "--pid", "1"],
        &["--deadline", "0"],
        &["--deadline", "soon"],
        &["--fail-on", "never"],
        &["--pid", "x"],
    ] {
        let mut command = sandbox.hermes();
        command.arg("doctor").args(arguments).assert().code(64);
    }
}

#[test]
fn a_reader_that_leaves_does_not_change_the_code() {
    let sandbox = Sandbox::with_sample_home();
    let whole = sandbox.hermes().arg("doctor").output().expect("it runs");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let left = Process::new(env!("CARGO_BIN_EXE_hermes"))
        .arg("doctor")
        .env_clear()
        .env("HOME", sandbox.user_home())
        .env("HERMES_HOME", sandbox.home())
        .env("PATH", "/usr/bin:/bin")
        .stdout(Stdio::from(writer))
        .stderr(Stdio::piped())
        .output()
        .expect("it runs");
    assert_eq!(left.status.code(), whole.status.code());
    assert!(left.stderr.is_empty());
}

#[test]
fn output_that_cannot_be_written_ends_with_74() {
    let sandbox = Sandbox::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let status = Process::new(env!("CARGO_BIN_EXE_hermes"))
        .arg("doctor")
        .env_clear()
        .env("HOME", sandbox.user_home())
        .env("HERMES_HOME", sandbox.home())
        .stdout(Stdio::from(full.expect("/dev/full")))
        .stderr(Stdio::null())
        .status();
    assert_eq!(status.expect("it runs").code(), Some(74));
}

#[test]
fn off_a_terminal_there_is_no_colour_unless_asked_for() {
    let sandbox = Sandbox::with_sample_home();
    let text = |arguments: &[&str], force: bool| {
        let mut command = sandbox.hermes();
        if force {
            command.env("CLICOLOR_FORCE", "1");
        }
        let output = command.arg("doctor").args(arguments).output();
        String::from_utf8(output.expect("it runs").stdout).expect("UTF-8")
    };
    assert!(!text(&[], false).contains('\u{1b}'));
    assert!(text(&[], true).contains('\u{1b}'));
    assert!(text(&["--color", "always"], false).contains('\u{1b}'));
    assert!(!text(&["--color", "never"], true).contains('\u{1b}'));
}

/// The doctor of this home, in a shell that limits itself first.
fn limited(sandbox: &Sandbox, limit: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let script = format!("ulimit {limit}; exec \"$0\" doctor \"$@\"");
    let output = Process::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_hermes")])
        .args(arguments)
        .env_clear()
        .env("HOME", sandbox.user_home())
        .env("HERMES_HOME", sandbox.home())
        .env("PATH", "/usr/bin:/bin")
        .output()
        .expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn too_few_descriptors_or_too_little_memory_are_named_and_judge_nothing() {
    let sandbox = Sandbox::with_sample_home();
    for (limit, named) in [
        ("-n 7", "7 files open at once"),
        ("-n 12", "ulimit -n"),
        ("-n 20", "descriptors"),
        ("-v 90000", "ulimit -v"),
    ] {
        let (code, text, errors) = limited(&sandbox, limit, &[]);
        assert_eq!((code, errors.as_str()), (Some(3), ""), "{limit}: {text}");
        let first = text.lines().next().expect("a first line");
        let begins = first.starts_with("incomplete: nothing was checked: ");
        assert!(begins && first.contains(named), "{first}");
        let (code, json, _) = limited(&sandbox, limit, &["--json"]);
        assert_eq!(code, Some(3));
        let document: Value = serde_json::from_str(&json).expect("one document");
        assert_eq!(validate(&schema(), &document), [""; 0]);
        let checks = document["checks"].as_array().expect("checks");
        let unknown = |check: &Value| check["status"] == "unknown" && check["reason"].is_string();
        assert!(!checks.is_empty() && checks.iter().all(unknown));
    }
    let whole = sandbox.hermes().arg("doctor").output().expect("it runs");
    // Enough for the program, too little for the stacks of its threads: then one after the other.
    for limit in ["-n 60", "-S -n 12", "-v 170000"] {
        let (code, text, errors) = limited(&sandbox, limit, &[]);
        assert_eq!(
            (code, errors.as_str()),
            (whole.status.code(), ""),
            "{limit}: {text}"
        );
    }
}

#[test]
fn what_a_deadline_cut_off_is_counted_once_and_listed_when_asked_for() {
    let sandbox = Sandbox::with_sample_home();
    let told = |arguments: &[&str]| {
        let mut command = sandbox.hermes();
        let output = command
            .args(["doctor", "--deadline", "1us"])
            .args(arguments)
            .output();
        let output = output.expect("it runs");
        assert_eq!(output.status.code(), Some(3));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let text = told(&[]);
    let reason = "the deadline of 1µs had passed";
    assert!(
        text.starts_with(&format!("incomplete: nothing was checked: {reason}\n")),
        "{text}"
    );
    let folded = text
        .lines()
        .filter(|line| line.contains("checks were not done: "));
    assert_eq!(folded.count(), 1, "{text}");
    assert!(
        text.lines().count() < 10 && !text.contains("something to run"),
        "{text}"
    );
    assert!(told(&["--verbose"]).contains("    there is something to run\n"));
    let document: Value = serde_json::from_str(&told(&["--json"])).expect("one document");
    for check in document["checks"].as_array().expect("checks") {
        assert_eq!(check["status"], "unknown");
        assert_eq!(check["unchecked"][0]["why"], reason);
    }
    assert_eq!(document["verdict"]["complete"], false);
    assert_eq!(document["verdict"]["counts"]["pass"], 0);
}

#[test]
fn an_empty_home_is_not_told_to_be_well() {
    let sandbox = Sandbox::new();
    let words = ["doctor", "--only", "scheduler"];
    let output = sandbox.hermes().args(words).output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let first = text.lines().next().expect("a first line");
    assert!(first.contains("; nothing is scheduled here: "), "{first}");
    assert!(
        first.contains("(HM401)") && !first.contains("nothing is wrong"),
        "{first}"
    );
}

#[test]
fn the_first_line_names_the_verdict_the_mode_and_what_to_begin_with() {
    let sandbox = Sandbox::with_sample_home();
    let output = sandbox.hermes().arg("doctor").output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let first = text.lines().next().expect("a first line");
    assert!(
        first.starts_with("error: jobs would run in_process; nothing ticks this home"),
        "{first}"
    );
    assert!(
        first.contains("(HM402); ") && first.ends_with("warnings"),
        "{first}"
    );
}

#[test]
fn of_several_homes_the_first_line_says_which_one() {
    let sandbox = Sandbox::with_sample_home();
    let store = std::fs::read(sandbox.home().join("cron/jobs.json")).expect("the store");
    sandbox.write("profiles/two/cron/jobs.json", store);
    let output = sandbox.hermes().arg("doctor").output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let first = text.lines().next().expect("a first line");
    let home = sandbox.home().display().to_string();
    assert!(first.contains(&format!("(HM402 in {home}); ")), "{first}");
    let causes = text.lines().filter(|line| line.starts_with("error HM402"));
    assert_eq!(causes.count(), 2, "{text}");
}
