//! `hermes agent check`: one turn of the configured agent, and what is told of it.

use std::process::{Child, Command, Stdio};

use rustix::process::Signal;
use serde_json::json;

use crate::common::Sandbox;
use crate::common::agent::{Alive, STALLS, command};
use crate::common::jobs::{agent, document, home, said};
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
