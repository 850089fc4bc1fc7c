//! `hermes serve` as a process: the way in, the way out, and who may come.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::agent::{self, STALLS};
use crate::common::serving::{self, Serving};
use crate::common::ws::{Answer, knock};

fn mode(sandbox: &Sandbox, file: &str) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    let meta = std::fs::metadata(sandbox.home().join(file)).expect("the file");
    meta.permissions().mode() & 0o777
}

#[test]
fn it_says_where_it_is_and_leaves_nothing_behind() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let serve = Serving::start(&sandbox);
    for file in [
        "run/serve.token",
        "run/serve.json",
        "run/serve.sock",
        "state.db",
    ] {
        assert_eq!(mode(&sandbox, file), 0o600, "{file}");
    }
    assert_eq!(mode(&sandbox, "run"), 0o700);
    let text = std::fs::read_to_string(sandbox.home().join("run/serve.json")).expect("a record");
    let record: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(record["pid"], serve.pid());
    assert_eq!(record["port"], serve.port);
    assert!(!text.contains(&serve.token));
    assert_eq!(serve.page("/healthz"), (200, "ok\n".to_owned()));
    let (status, body) = serve.page("/readyz");
    assert_eq!(status, 200, "{body}");
    let (_, metrics) = serve.page("/metrics");
    assert!(metrics.contains("\nhermes_sessions 0\n"), "{metrics}");
    assert!(!body.contains(&serve.token) && !metrics.contains(&serve.token));
    assert_eq!(serve.page("/api/anything").0, 401);
    assert_eq!(serve.stop().code(), Some(0));
    for file in ["run/serve.token", "run/serve.json", "run/serve.sock"] {
        assert!(!sandbox.home().join(file).exists(), "{file}");
    }
}

#[test]
fn whoever_has_no_token_or_comes_from_elsewhere_stays_out() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let serve = Serving::start(&sandbox);
    let good = format!("/api/ws?token={}", serve.token);
    let refused = |path: &str, headers: &[(&str, &str)]| match knock(serve.port, path, headers) {
        Answer::Refused(status) => status,
        Answer::Open(_) => panic!("let in: {path} {headers:?}"),
    };
    let host = ("Host", "localhost");
    assert_eq!(refused("/api/ws", &[host]), 403);
    assert_eq!(refused("/api/ws?token=wrong", &[host]), 403);
    assert_eq!(refused(&good, &[("Host", "evil.example")]), 403);
    assert_eq!(
        refused(&good, &[host, ("Origin", "http://evil.example")]),
        403
    );
    assert_eq!(refused("/api/ws?ticket=guessed", &[host]), 403);
    for headers in [vec![host], vec![host, ("Origin", "http://localhost:3000")]] {
        assert!(matches!(
            knock(serve.port, &good, &headers),
            Answer::Open(_)
        ));
    }
}

#[test]
fn it_does_not_listen_to_other_hosts_without_authentication() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let refused = sandbox
        .hermes()
        .args(["serve", "--host", "0.0.0.0"])
        .assert()
        .code(1);
    let said = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(said.contains("without authentication"), "{said}");
    assert!(
        said.contains("hint: give --auth token, and set serve.token in "),
        "{said}"
    );
    sandbox
        .hermes()
        .args(["serve", "--host", "0.0.0.0", "--auth", "token"])
        .assert()
        .code(1);
}

#[test]
fn two_clients_see_the_same_turn() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let serve = Serving::start(&sandbox);
    let (mut one, mut two) = (serve.client(), serve.client());
    let made = one.call("session.create", &json!({"source": "desktop", "cols": 100}));
    let session = made["session_id"].clone();
    two.call("session.activate", &json!({"session_id": session}));
    one.call(
        "prompt.submit",
        &json!({"session_id": session, "text": "ask: hello"}),
    );
    let (first, second) = (
        one.wait_for("message.complete"),
        two.wait_for("message.complete"),
    );
    assert_eq!(first, second);
    assert_eq!(first["payload"]["text"], "all good");
    assert_eq!(first["payload"]["status"], "complete");
    assert_eq!(serving::asked(&sandbox), ["ask: hello"]);
}

#[test]
fn an_agent_gets_no_secret_of_serve() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "env = [\"HERMES_*\", \"VISIBLE\"]\n");
    agent::does(&sandbox, &["environment"]);
    let mut command = serving::command(&sandbox, serving::BEGIN, &[]);
    command.env("HERMES_DASHBOARD_SESSION_TOKEN", "t".repeat(40));
    command.env("VISIBLE", "yes").env("SECRET", "no");
    let serve = Serving::ready(&sandbox, command.spawn().expect("it starts"));
    assert_eq!(serve.token, "t".repeat(40));
    let mut client = serve.client();
    let made = client.call("session.create", &json!({}));
    let params = json!({"session_id": made["session_id"], "text": "hi"});
    client.call("prompt.submit", &params);
    let over = client.wait_for("message.complete");
    let text = over["payload"]["text"].as_str().expect("text");
    assert!(text.contains("VISIBLE=yes"), "{text}");
    assert!(!text.contains("SECRET") && !text.contains("tttt"), "{text}");
    let stored = made["stored_session_id"].as_str().expect("an id");
    assert!(
        text.contains(&format!("HERMES_SESSION_ID={stored}")),
        "{text}"
    );
}

#[test]
fn a_client_that_does_not_read_is_dropped_and_nobody_waits_for_it() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let serve = Serving::start(&sandbox);
    let (mut slow, mut quick) = (serve.client(), serve.client());
    let made = slow.call("session.create", &json!({}));
    let session = made["session_id"].clone();
    quick.call("session.activate", &json!({"session_id": session}));
    let params = json!({"session_id": session, "title": "x".repeat(4096)});
    let title = json!({"jsonrpc": "2.0", "id": "t", "method": "session.title", "params": params});
    let title = title.to_string();
    let mut clients = json!(2);
    // Each is an event for both, until there are more than the kernel and serve keep for a client.
    for _ in 0..400 {
        for _ in 0..50 {
            quick.send(&title);
        }
        quick.call("session.status", &json!({"session_id": session}));
        quick.events.clear();
        let (_, body) = serve.page("/readyz");
        let mut ready: Value = serde_json::from_str(&body).expect("JSON");
        clients = ready["clients"].take();
        if clients == 1 {
            break;
        }
    }
    assert_eq!(clients, 1);
    while slow.read().is_some() {}
    assert_eq!(serve.page("/healthz").0, 200);
}

#[test]
fn a_reload_changes_what_comes_next() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let serve = Serving::start(&sandbox);
    let mut client = serve.client();
    let made = client.call("session.create", &json!({}));
    let session = made["session_id"].clone();
    serving::configure(&sandbox, "[heartbeats]\ndefault_interval = 3600\n");
    serve.signal(Signal::HUP);
    let command = json!({"session_id": session, "command": "/heartbeat"});
    let mut said = String::new();
    // The signal and the request are not in order.
    while !said.contains("every 1h") {
        let clear = json!({"session_id": session, "command": "/heartbeat stop"});
        client.call("slash.exec", &clear);
        let answer = client.call("slash.exec", &command);
        said = answer["output"].as_str().expect("text").to_owned();
        assert!(
            said.contains("every 10m") || said.contains("every 1h"),
            "{said}"
        );
    }
    assert_eq!(serve.page("/healthz").0, 200);
}

#[test]
fn a_stop_ends_a_turn_and_says_so_at_the_next_start() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    agent::does(&sandbox, STALLS);
    let serve = Serving::start(&sandbox);
    let mut client = serve.client();
    let made = client.call("session.create", &json!({}));
    let params = json!({"session_id": made["session_id"], "text": "ask: a long one"});
    client.call("prompt.submit", &params);
    client.wait_for("message.delta");
    assert_eq!(serve.stop().code(), Some(0));
    let serve = Serving::start(&sandbox);
    let mut client = serve.client();
    let params = json!({"session_id": made["stored_session_id"]});
    let resumed = client.call("session.resume", &params);
    let messages = resumed["messages"].as_array().expect("messages");
    assert_eq!(messages[0]["state"], "interrupted");
    assert_eq!(messages[1]["content"], "I begin");
}

#[test]
fn a_unit_names_this_program_and_the_home() {
    let sandbox = Sandbox::new();
    let home = sandbox.user_home().join("other home");
    let done = sandbox
        .hermes()
        .env("HERMES_HOME", &home)
        .args(["service", "print", "--system"])
        .assert()
        .code(0);
    let text = String::from_utf8_lossy(&done.get_output().stdout).into_owned();
    assert!(text.contains("/hermes serve\n"), "{text}");
    let variable = format!("Environment=\"HERMES_HOME={}\"", home.display());
    assert!(text.contains(&variable), "{text}");
}

#[test]
fn a_damaged_store_is_said_left_alone_and_read_once_it_is_well() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let damaged = sandbox.write("state.db", [b'x'; 8192]);
    let mut serve = Serving::start(&sandbox);
    let (status, body) = serve.page("/readyz");
    assert_eq!(status, 503, "{body}");
    assert!(body.contains("state.db"), "{body}");
    let mut client = serve.client();
    let refused = client.ask("session.create", &json!({}));
    assert_eq!(refused["error"]["code"], 5000, "{refused}");
    assert_eq!(std::fs::read(&damaged).expect("the file"), [b'x'; 8192]);
    std::fs::remove_file(&damaged).expect("it goes");
    serve.clock("advance 11");
    serve.clock("settle");
    let made = client.call("session.create", &json!({}));
    assert!(made["session_id"].is_string());
    assert_eq!(serve.page("/readyz").0, 200);
}

/// Asks for a ticket with this header; the status, and the ticket.
fn ticket(serve: &Serving, header: &str) -> (u16, Option<String>) {
    let (status, body) = serve.ask("POST /api/ws-ticket", &[header]);
    let body: Value = serde_json::from_str(&body).unwrap_or_default();
    (status, body["ticket"].as_str().map(str::to_owned))
}

#[test]
fn a_ticket_opens_once_in_the_query_or_as_a_subprotocol() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let mut serve = Serving::start(&sandbox);
    assert_eq!(ticket(&serve, "X-Hermes-Session-Token: wrong"), (401, None));
    let by_header = format!("X-Hermes-Session-Token: {}", serve.token);
    let by_bearer = format!("Authorization: Bearer {}", serve.token);
    let host = ("Host", "localhost");
    let open = |path: &str, headers: &[(&str, &str)]| match knock(serve.port, path, headers) {
        Answer::Open(mut ws) => {
            assert_eq!(ws.call("ping", &json!({})), json!({"pong": true}));
            true
        }
        Answer::Refused(status) => {
            assert_eq!(status, 403);
            false
        }
    };
    let (status, first) = ticket(&serve, &by_header);
    assert_eq!(status, 200);
    let path = format!("/api/ws?ticket={}", first.expect("a ticket"));
    assert!(open(&path, &[host]));
    assert!(!open(&path, &[host]), "it is used up");
    let (_, second) = ticket(&serve, &by_bearer);
    let second = second.expect("a ticket");
    let protocol = format!("hermes-gateway-v1, hermes-gateway-ticket.{second}");
    let headers = [host, ("Sec-WebSocket-Protocol", protocol.as_str())];
    assert!(open("/api/ws", &headers));
    assert!(!open("/api/ws", &headers), "it is used up");
    let (_, late) = ticket(&serve, &by_bearer);
    serve.clock("advance 30");
    let path = format!("/api/ws?ticket={}", late.expect("a ticket"));
    assert!(matches!(
        knock(serve.port, &path, &[host]),
        Answer::Refused(403)
    ));
}

#[test]
fn with_a_token_of_its_own_it_listens_to_other_hosts_at_every_address() {
    let sandbox = Sandbox::new();
    let token = "k".repeat(32);
    serving::configure(&sandbox, &format!("[serve]\ntoken = \"{token}\"\n"));
    let words = ["--host", "0.0.0.0", "--auth", "token"];
    let mut command = serving::command(&sandbox, serving::BEGIN, &words);
    let serve = Serving::ready(&sandbox, command.spawn().expect("it starts"));
    assert_eq!(serve.token, token);
    let good = format!("/api/ws?token={token}");
    // By an address of this machine that is not what it is bound to by name.
    for (path, host, open) in [
        (good.as_str(), "127.0.0.1", true),
        (good.as_str(), "192.0.2.7:9119", true),
        (good.as_str(), "evil.example", false),
        ("/api/ws?token=wrong", "192.0.2.7:9119", false),
    ] {
        let came = match knock(serve.port, path, &[("Host", host)]) {
            Answer::Open(mut ws) => ws.call("ping", &json!({}))["pong"] == true,
            Answer::Refused(status) => {
                assert_eq!(status, 403);
                false
            }
        };
        assert_eq!(came, open, "{path} {host}");
    }
}

#[test]
fn a_client_on_another_host_has_its_time_to_answer_a_ping() {
    for (timeout, stays) in [("3600", true), ("0.05", false)] {
        let sandbox = Sandbox::new();
        let more = format!(
            "[serve]\ntoken = \"{}\"\n[dashboard]\nws_ping_interval = 0.02\nws_ping_timeout = {timeout}\n",
            "k".repeat(32)
        );
        serving::configure(&sandbox, &more);
        let words = ["--host", "0.0.0.0", "--auth", "token"];
        let mut command = serving::command(&sandbox, serving::BEGIN, &words);
        let serve = Serving::ready(&sandbox, command.spawn().expect("it starts"));
        assert_eq!(serve.client().hears_pings(30), stays, "{timeout}");
    }
}

#[test]
fn the_kernel_says_who_is_on_the_unix_socket() {
    use std::os::unix::fs::PermissionsExt as _;

    if !rustix::process::geteuid().is_root() {
        // Who is not root cannot come as another account.
        return;
    }
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let serve = Serving::start(&sandbox);
    let socket = sandbox.home().join("run/serve.sock");
    // As if somebody had opened all the doors before it.
    for place in socket.ancestors().take(4) {
        let open = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(place, open).expect("a mode");
    }
    let ask = move |uid: u32| {
        let uid = rustix::process::Uid::from_raw(uid);
        // The ids of this thread alone.
        rustix::thread::set_thread_res_uid(uid, uid, uid).expect("another account");
        let mut stream = UnixStream::connect(&socket).expect("a way in");
        let request = b"{\"id\":1,\"method\":\"ping\"}\n";
        let _closed_already = stream.write_all(request);
        let mut answer = [0; 1];
        stream.read(&mut answer).unwrap_or(0)
    };
    let of = |uid: u32| {
        let ask = ask.clone();
        std::thread::spawn(move || ask(uid)).join().expect("an end")
    };
    assert_eq!(of(0), 1, "root is heard");
    assert_eq!(of(65534), 0, "nobody is not");
    assert_eq!(serve.page("/healthz").0, 200);
}

/// A request on the Unix socket, as a line.
fn line(id: u32, method: &str, params: &Value) -> String {
    let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    format!("{request}\n")
}

#[test]
fn who_has_said_everything_on_the_unix_socket_still_gets_the_answer() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let _serve = Serving::start(&sandbox);
    let socket = sandbox.home().join("run/serve.sock");
    for _ in 0..20 {
        let mut client = UnixStream::connect(&socket).expect("a connection");
        let asked = line(1, "ping", &json!({})) + &line(2, "session.active_list", &json!({}));
        client.write_all(asked.as_bytes()).expect("it takes lines");
        client.shutdown(Shutdown::Write).expect("half an end");
        let mut told = String::new();
        client.read_to_string(&mut told).expect("its end");
        let told: Vec<Value> = told
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        let ids: Vec<_> = told.iter().map(|frame| &frame["id"]).collect();
        assert_eq!(ids, [&Value::Null, &json!(1), &json!(2)], "{told:?}");
    }
}

#[test]
fn who_sends_more_on_the_unix_socket_than_it_reads_meanwhile_is_read() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let _serve = Serving::start(&sandbox);
    let socket = sandbox.home().join("run/serve.sock");
    let client = UnixStream::connect(socket).expect("a connection");
    // Answers that fill the socket's buffer, and then requests that do.
    let long = "x".repeat(1 << 19);
    let said = json!([{"role": "user", "content": long}]);
    let mut asked = line(1, "session.create", &json!({"messages": said}));
    asked += &line(2, "ping", &json!({"said": "x".repeat(1 << 19)}));
    asked += &line(3, "ping", &json!({}));
    // Serve would give up a client that takes nothing for 30 s.
    let patience = Some(std::time::Duration::from_secs(20));
    client.set_write_timeout(patience).expect("a deadline");
    (&client).write_all(asked.as_bytes()).expect("it is read");
    let mut lines = BufReader::new(client).lines();
    let mut id = Value::Null;
    while id != 3 {
        let line = lines.next().expect("a line").expect("text");
        id = serde_json::from_str::<Value>(&line).expect("JSON")["id"].take();
    }
}
