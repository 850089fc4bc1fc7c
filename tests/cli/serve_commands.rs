//! What sessions are told to do, through the binary: standing tasks, the judge of a condition, what
//! pauses a timer by itself, and commands that serve does not know.

use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::agent;
use crate::common::serving::{self, Serving};
use crate::common::ws::Ws;

/// A judge: notes what it reads, and says what the file `verdict` of the home says.
const JUDGE: &str = "\
cat >>\"$HOME/.hermes/judged\"
read -r status reason <\"$HOME/.hermes/verdict\"
echo \"$reason\"
exit \"$status\"
";

fn create(client: &mut Ws, params: &Value) -> Value {
    client.call("session.create", params)["session_id"].clone()
}

fn said(client: &mut Ws, session: &Value, name: &str, arg: &str) -> String {
    let params = json!({"session_id": session, "name": name, "arg": arg});
    let answer = client.call("command.dispatch", &params);
    answer["output"].as_str().expect("words").to_owned()
}

fn control(client: &mut Ws, session: &Value) -> Value {
    let params = json!({"session_id": session});
    client.call("session.control.read", &params)["control"].take()
}

/// Waits until the loop of a session is as it should be.
fn until(client: &mut Ws, wanted: impl Fn(&Value) -> bool) -> Value {
    loop {
        let update = client.wait_for("session.control.update");
        let looping = &update["payload"]["control"]["loop"];
        if wanted(looping) {
            return looping.clone();
        }
    }
}

#[test]
fn a_judge_decides_whether_a_condition_is_met() {
    let sandbox = Sandbox::new();
    let judge = sandbox.write("judge.sh", JUDGE);
    let judge = judge.to_str().expect("text");
    serving::configure(
        &sandbox,
        &format!("[loops]\njudge = [\"/bin/sh\", \"{judge}\"]\n"),
    );
    sandbox.write("verdict", "1 two are left\n");
    let mut serve = Serving::start(&sandbox);
    let mut client = serve.client();
    let session = create(&mut client, &json!({}));
    let text = "30m ask: how many --until the queue is empty";
    said(&mut client, &session, "loop", text);
    let judged = |looping: &Value, fired: u64| {
        looping["ticks_fired"] == fired && looping["awaiting_response"] == false
    };
    let looping = until(&mut client, |looping| judged(looping, 1));
    assert_eq!(looping["status"], "active");
    let read = || std::fs::read_to_string(sandbox.home().join("judged")).expect("a note");
    assert_eq!(
        read(),
        "Condition: the queue is empty\n\nAnswer:\nall good\n"
    );

    // A judge that breaks is no verdict.
    sandbox.write("verdict", "7 out of order\n");
    serve.clock("advance 1800");
    let looping = until(&mut client, |looping| judged(looping, 2));
    assert_eq!(looping["status"], "active");

    sandbox.write("verdict", "0 nothing is left\n");
    serve.clock("advance 1800");
    let looping = until(&mut client, |looping| looping["status"] != "active");
    assert_eq!(looping["status"], "done");
    assert_eq!(
        looping["last_stop_reason"],
        "the condition is met: nothing is left"
    );
    assert_eq!(read().matches("Condition:").count(), 3);
}

#[test]
fn a_bare_loop_works_on_the_standing_task() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let serve = Serving::start(&sandbox);
    let mut client = serve.client();
    let place = sandbox.user_home().join("work");
    std::fs::create_dir(&place).expect("a directory");
    let session = create(&mut client, &json!({"cwd": place}));
    let usage = said(&mut client, &session, "loop", "");
    assert!(usage.starts_with("usage: /loop"), "{usage}");
    assert_eq!(control(&mut client, &session)["loop"], Value::Null);

    let params = json!({"session_id": session, "text": "ask: what I said last"});
    client.call("prompt.submit", &params);
    client.wait_for("message.complete");
    let mut task = |wanted: &str| {
        said(&mut client, &session, "loop", "");
        let looping = control(&mut client, &session)["loop"].take();
        assert_eq!(looping["prompt"], wanted);
        assert_eq!(looping["mode"], "self_paced");
        said(&mut client, &session, "loop", "stop");
    };
    task("ask: what I said last");
    sandbox.write("loop.md", "ask: the task of the home\n");
    task("ask: the task of the home");
    std::fs::write(place.join("loop.md"), "ask: the task of the directory\n").expect("a file");
    task("ask: the task of the directory");
    std::fs::write(place.join("loop.md"), " \n").expect("a file");
    task("ask: what I said last");
}

#[test]
fn a_bare_heartbeat_beats_as_configured() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let serve = Serving::start(&sandbox);
    let mut client = serve.client();
    let session = create(&mut client, &json!({}));
    let params = json!({"session_id": session, "command": "/heartbeat"});
    client.call("slash.exec", &params);
    let beat = control(&mut client, &session)["heartbeat"].take();
    assert_eq!(beat["interval_seconds"], 600);
    assert_eq!(
        beat["prompt"],
        "Report what changed since your last report."
    );
    drop(serve);

    let sandbox = Sandbox::new();
    let more = "[heartbeats]\ndefault_interval = 120\ndefault_prompt = \"ask: how is it\"\n";
    serving::configure(&sandbox, more);
    let mut serve = Serving::start(&sandbox);
    let mut client = serve.client();
    let session = create(&mut client, &json!({}));
    let params = json!({"session_id": session, "command": "heartbeat"});
    client.call("slash.exec", &params);
    serve.pass(240, 60);
    assert_eq!(serving::asked(&sandbox), ["ask: how is it"; 2]);
}

#[test]
fn a_command_that_serve_does_not_know_goes_to_the_agent() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let serve = Serving::start(&sandbox);
    let mut client = serve.client();
    let session = create(&mut client, &json!({}));
    let params = json!({"session_id": session, "text": "/deploy now\nask: deploy"});
    client.call("prompt.submit", &params);
    client.wait_for("message.complete");
    assert_eq!(serving::asked(&sandbox), ["ask: deploy"]);
    let params = json!({"session_id": session});
    let history = client.call("session.history", &params);
    assert_eq!(
        history["messages"][0]["content"],
        "/deploy now\nask: deploy"
    );

    let params = json!({"session_id": session, "name": "/deploy", "arg": "now"});
    let answer = client.call("command.dispatch", &params);
    assert_eq!(answer, json!({"type": "send", "message": "/deploy now"}));
    let params = json!({"session_id": session, "command": "/deploy now"});
    let refused = client.ask("slash.exec", &params);
    assert_eq!(refused["error"]["code"], 4018, "{refused}");
}

#[test]
fn nothing_ever_waits_for_an_approval() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let serve = Serving::start(&sandbox);
    let mut client = serve.client();
    let session = create(&mut client, &json!({}));
    let params = json!({"session_id": session, "request_id": "r", "choice": "allow"});
    let pending = client.call("approval.pending", &params);
    assert_eq!(pending["pending"], json!([]));
    for method in [
        "approval.respond",
        "approval.received",
        "request.answer",
        "clarify.lock",
    ] {
        assert_eq!(
            client.ask(method, &params)["error"]["code"],
            4004,
            "{method}"
        );
        let nobody = json!({"session_id": "00000000"});
        assert_eq!(
            client.ask(method, &nobody)["error"]["code"],
            4001,
            "{method}"
        );
    }
}

#[test]
fn b120_more_than_ten_wake_ups_in_a_minute_pause_the_loop() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "[loops]\nmin_interval_seconds = 5\n");
    let mut serve = Serving::start(&sandbox);
    let mut client = serve.client();
    let session = create(&mut client, &json!({}));
    said(&mut client, &session, "loop", "5s ask: quick");
    serve.clock("settle");
    serve.pass(90, 5);
    assert_eq!(serving::asked(&sandbox).len(), 10);
    let looping = control(&mut client, &session)["loop"].take();
    assert_eq!(looping["status"], "paused");
    assert_eq!(
        looping["paused_reason"],
        "it fired more than 10 times in a minute"
    );
    let told = client.events.iter().any(|event| {
        let text = event["payload"]["text"].as_str().unwrap_or_default();
        event["type"] == "status.update" && text.contains("more than 10 times")
    });
    assert!(told);
}

#[test]
fn b125_ten_failures_in_a_row_pause_the_loop_and_free_its_session() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    agent::does(&sandbox, &["complain it broke", "exit 3"]);
    let mut serve = Serving::start(&sandbox);
    let mut client = serve.client();
    let session = create(&mut client, &json!({"source": "tui"}));
    said(&mut client, &session, "loop", "5m ask: broken");
    drop(client);
    serve.clock("settle");
    serve.pass(9 * 300 + 60, 60);
    assert_eq!(serving::asked(&sandbox).len(), 10);
    serve.pass(3600, 300);
    assert_eq!(serving::asked(&sandbox).len(), 10);
    let mut client = serve.client();
    let live = client.call("session.active_list", &json!({}));
    assert_eq!(live["sessions"], json!([]));
    let list = sandbox.hermes().args(["loop", "list"]).assert().code(0);
    let list = String::from_utf8_lossy(&list.get_output().stdout).into_owned();
    assert!(list.contains("paused"), "{list}");
    assert!(list.contains("failed 10 times in a row"), "{list}");
}

#[test]
fn a_timer_of_a_desktop_application_ends_with_it_and_that_is_said() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let mut command = serving::command(&sandbox, serving::BEGIN, &[]);
    command.env("HERMES_DESKTOP", "1");
    let _serve = Serving::ready(&sandbox, command.spawn().expect("it starts"));
    for words in [
        ["loop", "start", "5m", "ask: x"],
        ["heartbeat", "start", "5m", "ask: x"],
    ] {
        let done = sandbox.hermes().args(words).assert().code(0);
        let said = String::from_utf8_lossy(&done.get_output().stdout).into_owned();
        assert!(
            said.contains("belongs to a desktop application: the timer ends with it"),
            "{said}"
        );
        assert!(said.contains("hermes service print"), "{said}");
    }
}

#[test]
fn what_is_too_long_is_refused_with_the_limit_and_changes_nothing() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let serve = Serving::start(&sandbox);
    let mut client = serve.client();
    let session = create(&mut client, &json!({"title": "short"}));
    let long = |bytes| "x".repeat(bytes);
    for (method, params, most) in [
        (
            "prompt.submit",
            json!({"text": long((4 << 20) + 1)}),
            "text has 4194304",
        ),
        (
            "session.title",
            json!({"title": long(4097)}),
            "title has 4096",
        ),
        ("session.create", json!({"cwd": long(4097)}), "cwd has 4096"),
    ] {
        let mut params = params;
        params["session_id"] = session.clone();
        let refused = client.ask(method, &params);
        assert_eq!(refused["error"]["code"], 4004, "{method}");
        let words = refused["error"]["message"].as_str().expect("words");
        assert!(words.starts_with(most), "{words}");
    }
    for name in ["loop", "heartbeat"] {
        let text = format!("5m {}", long(1 << 16));
        let told = said(&mut client, &session, name, &text);
        assert!(told.contains("65536 bytes at most"), "{name}");
    }
    let params = json!({"session_id": session});
    assert_eq!(client.call("session.title", &params)["title"], "short");
    let held = control(&mut client, &session);
    assert!(
        held["loop"].is_null() && held["heartbeat"].is_null(),
        "{held}"
    );
    assert_eq!(serving::asked(&sandbox), [""; 0]);
}
