//! A client that was written for the backend of Hermes Agent, and not for this program; and one that sends while
//! it does not read.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;

use crate::common::Sandbox;
use crate::common::serving::{self, Serving};

#[test]
#[ignore = "wants python3: tests/run long"]
fn a_client_of_the_other_program_drops_and_sees_what_it_missed_at_length() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let mut serve = Serving::start(&sandbox);
    #[expect(
        clippy::disallowed_methods,
        reason = "the client is a program of its own"
    )]
    let mut client = Command::new("python3");
    let mut client = client
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/oracle/backend_client.py"
        ))
        .arg(serve.port.to_string())
        .env("HERMES_DASHBOARD_SESSION_TOKEN", &serve.token)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3");
    let mut lines = BufReader::new(client.stdout.take().expect("its stdout")).lines();
    let mut heard = || lines.next().expect("a line").expect("text");
    assert_eq!(heard(), "dropped");
    serve.pass(660, 60);
    let mut stdin = client.stdin.take().expect("its stdin");
    writeln!(stdin, "go on").expect("it listens");
    assert_eq!(heard(), "ok");
    assert!(client.wait().expect("its end").success());
}

#[test]
fn who_sends_more_than_it_reads_meanwhile_is_read() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let serve = Serving::start(&sandbox);
    let mut client = serve.client();
    // Serve would give up a client that takes nothing for 30 s.
    client.give_up_after(Duration::from_secs(20));
    // Answers that fill the buffers of the kernel, and then requests that do.
    let long = "x".repeat(8 << 20);
    let said = json!({"messages": [{"role": "user", "content": &long}]});
    let asked = [
        ("session.create", said.clone()),
        ("session.create", said),
        ("ping", json!({"said": &long})),
        ("ping", json!({"said": &long})),
        ("ping", json!({})),
    ];
    for (id, (method, params)) in asked.iter().enumerate() {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        client.send(&request.to_string());
    }
    while client.read().expect("a frame")["id"] != 4 {}
    assert_eq!(serve.stop().code(), Some(0));
}
