//! `hermes agent check`: one turn of the configured agent, and what is told of it.

use std::process::{Child, Command, Stdio};

use rustix::process::Signal;
use serde_json::json;

use crate::common::Sandbox;
use crate::common::agent::{Alive, STALLS, command, does};
use crate::common::jobs::{agent, document, hermes, home, said, script};
use crate::common::serving::send;

#[test]
fn an_agent_that_answers_is_told_with_its_program_and_answer() {
    let sandbox = home();
    let ready = "say {\"result\":\"ready\",\"session_id\":\"s-1\",\"is_error\":false}";
    agent(&sandbox, &[ready], "answer = \"json-result\"");
    let (code, told, _) = document(&sandbox, &["agent", "check"]);
    assert_eq!((code, &told["ok"]), (0, &json!(true)), "{told}");
    assert_eq!(
        (&told["answer"], &told["session"]),
        (&json!("ready"), &json!("s-1"))
    );
    assert!(
        told["program"]
            .as_str()
            .is_some_and(|program| program.ends_with("/agent"))
    );
    assert_eq!(told["ended"], "exited with code 0");
    agent(&sandbox, &["echo"], "");
    let by_file = [command(&sandbox), vec!["{prompt_file}".to_owned()]].concat();
    sandbox.write("config.toml", format!("[agent]\ncommand = {by_file:?}\n"));
    let (code, out, err) = said(&sandbox, &["agent", "check"]);
    assert!(
        code == 1 && out.contains("does not answer"),
        "nothing came on stdin: {out}{err}"
    );
    agent(&sandbox, &["echo"], "");
    let (_, out, _) = said(&sandbox, &["agent", "check"]);
    assert!(
        out.contains("The agent answers.") && out.contains("single word"),
        "{out}"
    );
}

#[test]
fn each_way_to_fail_is_told_apart() {
    let sandbox = home();
    let ended = |words: &[&str], flags: &[&str]| {
        agent(&sandbox, words, "");
        let flags = [&["agent", "check"], flags].concat();
        let (code, told, _) = document(&sandbox, &flags);
        assert_eq!((code, &told["ok"]), (1, &json!(false)), "{told}");
        format!("{} {}", told["ended"], told["stderr"])
    };
    assert!(ended(&["complain no credit", "exit 5"], &[]).contains("exited with code 5"));
    assert!(ended(&["complain no credit", "exit 5"], &[]).contains("no credit"));
    assert!(ended(&["crash SIGKILL"], &[]).contains("signal 9"));
    assert!(ended(STALLS, &["--timeout", "1s"]).contains("time limit"));
    agent(&sandbox, STALLS, "inactivity_timeout = 1");
    let (code, told, _) = document(&sandbox, &["agent", "check"]);
    assert_eq!((code, &told["ok"]), (1, &json!(false)), "{told}");
    assert_eq!(told["ended"], "was stopped: it was silent for too long");
    agent(&sandbox, &["flood stdout 3000000", "say done"], "");
    let (code, told, _) = document(&sandbox, &["agent", "check"]);
    assert_eq!(code, 0);
    assert!(
        told["answer"]
            .as_str()
            .is_some_and(|text| text.ends_with("done")),
        "the end is kept"
    );
}

#[test]
fn an_agent_that_is_none_or_ourselves_is_refused_with_the_way_out() {
    let sandbox = home();
    let (code, told, _) = document(&sandbox, &["agent", "check"]);
    assert_eq!((code, &told["error"]["kind"]), (1, &json!("refused")));
    assert!(told["error"]["hints"].to_string().contains("preset"));
    sandbox.write("config.toml", "[agent]\npreset = \"hermes\"\n");
    let (code, told, _) = document(&sandbox, &["agent", "check"]);
    assert_eq!(code, 1);
    let message = told["error"]["message"].as_str().expect("a message");
    assert!(
        message.contains("this binary itself"),
        "our own directory is first: {message}"
    );
    sandbox.write("config.toml", "[agent]\ncommand = [\"no-such-agent\"]\n");
    let (code, told, _) = document(&sandbox, &["agent", "check"]);
    assert_eq!((code, &told["error"]["kind"]), (1, &json!("not_found")));
}

#[test]
fn secrets_of_the_environment_do_not_come_back_in_the_answer() {
    let sandbox = home();
    agent(&sandbox, &["environment"], "env = [\"MY_TOKEN\"]");
    sandbox.write(".env", "MY_TOKEN=hunter2hunter2\n");
    let (code, out, err) = said(&sandbox, &["agent", "check"]);
    assert!(out.contains("[redacted]"), "{out}{err}");
    assert!(code == 0 && !out.contains("hunter2"), "{out}");
}

/// An agent that goes on for ever, and so does what it starts, which leaves its group.
const LEAVES: &[&str] = &[
    "child leave; tell left; stall",
    "wait left",
    "tell up",
    "stall",
];

/// A check that goes on.
fn checking(sandbox: &Sandbox) -> Child {
    #[expect(
        clippy::disallowed_methods,
        reason = "what is interrupted outlives the call that starts it"
    )]
    let mut command = Command::new(env!("CARGO_BIN_EXE_hermes"));
    command
        .env_clear()
        .env("HERMES_HOME", sandbox.home())
        .env("PATH", "/usr/bin:/bin")
        .env("TMPDIR", sandbox.user_home())
        .args(["agent", "check"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command.spawn().expect("it starts")
}

#[test]
fn an_interrupted_check_ends_its_agent_and_what_that_has_started() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let sandbox = home();
        agent(&sandbox, LEAVES, "");
        let alive = Alive::of(&sandbox);
        sandbox.fifo("left");
        let up = sandbox.fifo("up");
        let mut check = checking(&sandbox);
        std::fs::read(up).expect("it is up");
        send(check.id(), signal);
        assert_eq!(check.wait().expect("its end").code(), Some(1));
        alive.ended();
        let mut said = String::new();
        let mut out = check.stdout.take().expect("its output");
        std::io::Read::read_to_string(&mut out, &mut said).expect("text");
        assert!(said.contains("was stopped on request"), "{said}");
    }
}

#[test]
fn at_its_limit_a_check_ends_what_its_agent_has_started_and_so_does_its_death() {
    let sandbox = home();
    agent(
        &sandbox,
        &["child leave; tell left; stall", "wait left", "stall"],
        "",
    );
    let alive = Alive::of(&sandbox);
    sandbox.fifo("left");
    let (code, told, _) = document(&sandbox, &["agent", "check", "--timeout", "2s"]);
    assert_eq!(code, 1, "{told}");
    alive.ended();

    agent(&sandbox, LEAVES, "");
    let up = sandbox.fifo("up");
    let mut check = checking(&sandbox);
    std::fs::read(up).expect("it is up");
    send(check.id(), Signal::KILL);
    check.wait().expect("its end");
    alive.ended();
}

/// What is wrong with an agent that has this in its section: what is told of it, and the hints.
fn refused(sandbox: &Sandbox, section: &str) -> (String, String) {
    sandbox.write("config.toml", format!("[agent]\n{section}\n"));
    let (code, told, _) = document(sandbox, &["agent", "check"]);
    assert_eq!(code, 1, "{told}");
    let error = &told["error"];
    let message = error["message"].as_str().unwrap_or_default().to_owned();
    (message, error["hints"].to_string())
}

#[test]
fn a_program_is_refused_that_a_job_would_not_find_or_a_shell_would_read() {
    let sandbox = home();
    let (message, _) = refused(&sandbox, "command = [\"./ask.sh\"]");
    assert!(
        message.contains("by a part of a path, './ask.sh'"),
        "{message}"
    );

    let file = sandbox.write("ask.sh", "echo fine\n");
    let command = format!("command = [\"{}\"]", file.display());
    let (message, hints) = refused(&sandbox, &command);
    assert!(message.contains("is not executable"), "{message}");
    assert!(hints.contains("chmod +x"), "{hints}");

    script(&sandbox, "bare.sh", "");
    let file = sandbox.home().join("scripts/bare.sh");
    std::fs::write(&file, "echo fine\n").expect("a text");
    let command = format!("command = [\"{}\"]", file.display());
    let (message, hints) = refused(&sandbox, &command);
    assert!(message.contains("names no interpreter"), "{message}");
    assert!(hints.contains("#!/bin/sh"), "{hints}");
    let (code, _, err) = said(&sandbox, &["cron", "create", "every 1h", "ask"]);
    assert!(code == 1 && err.contains("names no interpreter"), "{err}");

    let (message, hints) = refused(&sandbox, "command = [\"{prompt}\"]");
    assert!(
        message.contains("its first word is '{prompt}'"),
        "{message}"
    );
    assert!(hints.contains("my-agent"), "{hints}");
}

#[test]
fn an_empty_answer_is_none_in_a_check_and_in_a_job() {
    let sandbox = home();
    agent(&sandbox, &["exit 0"], "");
    let (code, told, _) = document(&sandbox, &["agent", "check"]);
    assert_eq!((code, &told["ok"]), (1, &json!(false)), "{told}");
    let (code, _, err) = said(
        &sandbox,
        &["cron", "create", "every 1h", "ask", "--name", "n"],
    );
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = said(&sandbox, &["cron", "run", "n"]);
    assert!(
        code == 1 && err.contains("the agent gave no answer"),
        "{err}"
    );
}

#[test]
fn an_agent_that_leads_back_here_ends_somewhere() {
    let sandbox = home();
    let own = env!("CARGO_BIN_EXE_hermes");
    let (message, hints) = refused(
        &sandbox,
        &format!("command = [\"env\"]\nresume = [\"{own}\"]"),
    );
    assert!(message.contains("is this binary itself"), "{message}");
    assert!(hints.contains("agent.resume"), "{hints}");
    let (message, _) = refused(
        &sandbox,
        "command = [\"env\"]\nresume = [\"no-such-agent\"]",
    );
    assert!(
        message.contains("'no-such-agent' was not found"),
        "{message}"
    );

    let nests = format!("command = [\"env\", \"{own}\", \"agent\", \"check\"]");
    sandbox.write("config.toml", format!("[agent]\n{nests}\n"));
    let (code, told, _) = document(&sandbox, &["agent", "check", "--timeout", "1m"]);
    assert_eq!((code, &told["ended"]), (1, &json!("exited with code 1")));
    let inner = told["answer"].as_str().unwrap_or_default();
    assert!(inner.contains("inside of 3 agents already"), "{told}");
    // The first asks a second, and that a third, which asks nobody.
    assert_eq!(
        inner.matches("The agent does not answer.").count(),
        2,
        "{inner}"
    );
    let words =
        format!("command = [\"env\", \"_HERMES_AGENT_DEPTH=3\", \"{own}\", \"agent\", \"check\"]");
    sandbox.write("config.toml", format!("[agent]\n{words}\n"));
    let (code, told, _) = document(&sandbox, &["agent", "check"]);
    let inner = told["stderr"].as_str().unwrap_or_default();
    assert!(
        code == 1 && inner.contains("inside of 3 agents already"),
        "{told}"
    );
}

#[test]
fn what_is_wrong_beside_the_program_is_told_too() {
    let sandbox = home();
    let wrong = "answer = \"json\"\ntimeout = \"10m\"\nenv = \"FOO\"\ntiemout = 5";
    agent(&sandbox, &["say fine"], wrong);
    let (code, told, err) = document(&sandbox, &["agent", "check"]);
    assert_eq!(code, 0, "{told}");
    let create = ["cron", "create", "every 1h", "ask", "--dry-run"];
    let (_, _, created) = said(&sandbox, &create);
    for key in [
        "agent.answer",
        "agent.timeout",
        "agent.env",
        "agent.tiemout",
    ] {
        assert!(err.contains(key), "{key}: {err}");
        assert!(told["problems"].to_string().contains(key), "{key}: {told}");
        assert!(created.contains(key), "{key}: {created}");
    }
}

#[test]
fn where_a_prompt_can_be_read_and_what_is_given_as_it_stands_is_told() {
    let sandbox = home();
    agent(&sandbox, &["say fine"], "");
    let words = [
        command(&sandbox),
        vec!["{prompt}".to_owned(), "{promt}".to_owned()],
    ]
    .concat();
    let section = format!("[agent]\ncommand = {words:?}\nprompt = \"stdin\"\n");
    sandbox.write("config.toml", section);
    does(&sandbox, &["say fine"]);
    let (_, _, err) = said(&sandbox, &["agent", "check"]);
    assert!(
        err.contains("every user of this host can read them"),
        "{err}"
    );
    assert!(err.contains("{promt} as it stands"), "{err}");
}

#[test]
fn no_limit_is_none() {
    let sandbox = home();
    for (flag, setting, code) in [("0", 0, 0), ("0", 1, 1), ("1s", 0, 1)] {
        let setting = format!("timeout = {setting}");
        // Byte by byte it takes longer than a second.
        agent(&sandbox, &["drip 0123456789012345678901234567"], &setting);
        let (ended, told, _) = document(&sandbox, &["agent", "check", "--timeout", flag]);
        assert_eq!(ended, code, "{flag}, {setting}: {told}");
    }
}

#[test]
fn a_prompt_that_a_killed_check_left_goes_with_the_next_one() {
    let sandbox = home();
    let by_file = [command(&sandbox), vec!["{prompt_file}".to_owned()]].concat();
    sandbox.write("config.toml", format!("[agent]\ncommand = {by_file:?}\n"));
    does(&sandbox, &["tell up", "stall"]);
    let up = sandbox.fifo("up");
    let left = || {
        let entries = std::fs::read_dir(sandbox.user_home())
            .expect("a directory")
            .flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names
            .filter(|name| name.starts_with("hermes-prompt-"))
            .count()
    };
    let answers = || {
        let mut check = hermes(&sandbox, &["agent", "check"]);
        check.env("TMPDIR", sandbox.user_home()).assert().success();
    };
    let mut check = checking(&sandbox);
    std::fs::read(up).expect("it is up");
    assert_eq!(left(), 1);
    // One whose owner lives is left alone.
    does(&sandbox, &["say fine"]);
    answers();
    assert_eq!(left(), 1);
    send(check.id(), Signal::KILL);
    check.wait().expect("its end");
    answers();
    assert_eq!(left(), 0);
}
