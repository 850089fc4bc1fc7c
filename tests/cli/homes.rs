//! A home that is not there: one that was named is refused by all alike, one that may still come is told.

use predicates::prelude::*;

use crate::common::Sandbox;

const READING: [&[&str]; 9] = [
    &["cron", "list"],
    &["cron", "runs"],
    &["cron", "incidents"],
    &["cron", "status"],
    &["loop", "list"],
    &["heartbeat", "list"],
    &["session", "list"],
    &["session", "reap", "--dry-run"],
    &["config", "check"],
];

const CHANGING: [&[&str]; 9] = [
    &["cron", "create", "5m", "--script", "a.sh", "--no-agent"],
    &["cron", "remove", "x"],
    &["cron", "run", "x"],
    &["cron", "tick"],
    &["loop", "pause", "x"],
    &["heartbeat", "stop", "x"],
    &["session", "close", "x"],
    &["pause"],
    &["resume"],
];

#[test]
fn a_home_or_profile_that_was_named_and_is_not_there_is_refused_by_every_verb() {
    let sandbox = Sandbox::with_sample_home();
    let nowhere = sandbox.user_home().join("nowhere");
    let nowhere = nowhere.to_str().expect("UTF-8");
    let making = format!("mkdir -m 700 {nowhere}");
    for verb in READING.iter().chain(&CHANGING) {
        sandbox
            .hermes()
            .args(["--home", nowhere])
            .args(*verb)
            .assert()
            .code(1)
            .stdout("")
            .stderr(predicate::str::contains("there is no home at"))
            .stderr(predicate::str::contains(&making));
        sandbox
            .hermes()
            .args(*verb)
            .args(["-p", "ops"])
            .assert()
            .code(1)
            .stdout("")
            .stderr(predicate::str::contains("there is no profile 'ops'"))
            .stderr(predicate::str::contains("the profiles there are: default"));
    }
    assert!(!sandbox.user_home().join("nowhere").exists());
    assert!(!sandbox.home().join("profiles").exists());
    // To the doctor it is the command line that is wrong, as ever.
    let doctor = ["--home", nowhere, "cron", "doctor"];
    sandbox.hermes().args(doctor).assert().code(64);
}

#[test]
fn the_default_home_may_still_come_and_lists_say_so() {
    let sandbox = Sandbox::new();
    for verb in READING {
        let code = i32::from(verb == ["cron", "status"]);
        let done = sandbox.hermes().args(verb).assert().code(code);
        let told = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
        let lists = verb.contains(&"list") || verb[0] == "cron";
        assert!(
            !lists || told.contains("there is no home at"),
            "{verb:?}: {told}"
        );
    }
    for verb in [["loop", "pause", "x"], ["session", "close", "x"]] {
        sandbox.hermes().args(verb).assert().code(1);
    }
    assert!(!sandbox.home().exists(), "nothing of that makes it");
    let make = ["cron", "create", "5m", "--script", "a.sh", "--no-agent"];
    sandbox.hermes().args(make).assert().code(1);
    assert!(!sandbox.home().exists());
}

#[test]
fn the_value_of_an_option_is_no_verb() {
    for before in [["--home", "/tmp"], ["--color", "never"], ["-p", "default"]] {
        Sandbox::new()
            .hermes()
            .args(before)
            .arg("status")
            .assert()
            .code(64)
            .stderr(predicate::str::contains("'cron status'"));
    }
}
