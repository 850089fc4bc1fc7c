//! Clients that serve has never met: noise, halves, lies about lengths, ten thousand odd requests. It
//! answers or closes, does not panic, does not hang, and everything that they took comes back.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::chance::Chance;
use crate::common::serving::{self, Serving};
use crate::common::ws::{Answer, knock};

const REQUESTS: u64 = 10_000;
/// Requests before their answers are read; fewer than the frames that may wait for a client.
const AT_ONCE: u64 = 100;

/// A value of any kind.
fn value(chance: &mut Chance, depth: u32) -> Value {
    match chance.below(if depth == 0 { 8 } else { 10 }) {
        0 => Value::Null,
        1 => json!(chance.below(2) == 0),
        2 => json!(chance.below(u64::MAX)),
        3 => json!(-1),
        4 => json!(1e300),
        5 => json!("\u{0}\u{202e}\u{1b}[2J"),
        6 => json!(String::from_utf8_lossy(&chance.bytes(200))),
        7 => json!("20260601_230000_ffffff"),
        8 => json!([value(chance, depth - 1), value(chance, depth - 1)]),
        _ => json!({"session_id": value(chance, depth - 1), "": value(chance, depth - 1)}),
    }
}

const METHODS: [&str; 26] = [
    "ping",
    "gateway.capabilities",
    "client.capabilities",
    "setup.status",
    "session.create",
    "session.resume",
    "session.activate",
    "session.list",
    "session.active_list",
    "session.most_recent",
    "session.history",
    "session.status",
    "session.usage",
    "session.title",
    "session.events.since",
    "session.events.stats",
    "session.interrupt",
    "session.close",
    "session.delete",
    "session.control.read",
    "session.control",
    "slash.exec",
    "timer.history",
    "approval.respond",
    "session.steer",
    "",
];

/// The parameters that methods know.
const NAMES: [&str; 14] = [
    "session_id",
    "text",
    "name",
    "arg",
    "command",
    "action",
    "limit",
    "title",
    "last_seen",
    "cols",
    "cwd",
    "source",
    "messages",
    "idempotency_key",
];

/// What serve holds: descriptors, threads, clients; and its memory in KiB.
fn held(serve: &Serving) -> ((usize, String, String), u64) {
    let pid = serve.pid();
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("descriptors");
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a status");
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.expect("a line").trim().to_owned()
    };
    let (_, metrics) = serve.page("/metrics");
    let clients = metrics
        .lines()
        .find(|line| line.starts_with("hermes_clients "));
    let rss = of("VmRSS:");
    let rss = rss.trim_end_matches(" kB").parse().expect("a number");
    (
        (
            descriptors.count(),
            of("Threads:"),
            clients.expect("a gauge").to_owned(),
        ),
        rss,
    )
}

/// A connection that was upgraded, without manners.
fn open(serve: &Serving) -> TcpStream {
    let path = format!("/api/ws?token={}", serve.token);
    match knock(serve.port, &path, &[("Host", "localhost")]) {
        Answer::Open(ws) => ws.into_stream(),
        Answer::Refused(status) => panic!("refused with {status}"),
    }
}

/// A frame with a first byte, a length as claimed, and whatever follows.
fn frame(first: u8, claimed: u64, body: &[u8]) -> Vec<u8> {
    let mut frame = vec![first, 0x80 | 127];
    frame.extend(claimed.to_be_bytes());
    frame.extend([0; 4]);
    frame.extend(body);
    frame
}

fn text(body: &[u8]) -> Vec<u8> {
    frame(0x81, body.len() as u64, body)
}

/// One visit of a client that nobody invited.
fn visit(serve: &Serving, chance: &mut Chance) {
    let kind = chance.below(12);
    if kind == 0 {
        // Noise in place of HTTP.
        let mut stream = TcpStream::connect(("127.0.0.1", serve.port)).expect("a connection");
        let _closed = stream.write_all(&chance.bytes(2000));
        return;
    }
    let mut stream = open(serve);
    let noise = chance.bytes(3000);
    let sent = match kind {
        1 => noise,
        2 => text(&noise),
        3 => text(b"{\"id\":1,\"method\":\"\xff\"}"),
        4 => frame(0x82, 4, b"1234"),
        // A length that nobody will ever send, and one beyond the limit.
        5 => frame(0x81, 1 << 40, b"x"),
        6 => frame(0x81, (16 << 20) + 1, b"x"),
        // Half a head, half a body, a message that never ends.
        7 => vec![0x81],
        8 => frame(0x81, 100, b"{\"id\":"),
        9 => frame(0x01, 3, b"{\"i"),
        // An unmasked frame, and opcodes that nobody gave a meaning.
        10 => vec![0x81, 2, b'{', b'}'],
        _ => frame(0x8b, 2, b"{}"),
    };
    let _closed = stream.write_all(&sent);
    match chance.below(3) {
        0 => {
            let _closed = stream.shutdown(Shutdown::Write);
            let mut rest = Vec::new();
            let _closed = stream.read_to_end(&mut rest);
        }
        1 => {
            let _closed = stream.write_all(&text(b"{\"id\":1,\"method\":\"ping\"}"));
        }
        _ => {}
    }
}

fn odd_requests(serve: &Serving, chance: &mut Chance, requests: u64) {
    let mut client = serve.client();
    let mut left = requests;
    while left > 0 {
        let now = AT_ONCE.min(left);
        left -= now;
        for number in 0..now {
            let mut params = serde_json::Map::new();
            for _ in 0..chance.below(5) {
                params.insert((*chance.one(&NAMES)).to_owned(), value(chance, 2));
            }
            let params = match chance.below(20) {
                0 => value(chance, 1),
                _ => Value::Object(params),
            };
            let id = match chance.below(4) {
                0 => value(chance, 1),
                _ => json!(format!("r{number}")),
            };
            let method = *chance.one(&METHODS);
            let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            client.send(&request.to_string());
        }
        client.ask("gateway.ping", &json!({}));
        client.events.clear();
    }
}

/// Lines on the Unix socket that are none.
fn local_noise(sandbox: &Sandbox, chance: &mut Chance) {
    let path = sandbox.home().join("run/serve.sock");
    for _ in 0..20 {
        let mut stream = UnixStream::connect(&path).expect("a connection");
        let _closed = stream.write_all(&chance.bytes(3000));
    }
    let mut endless = UnixStream::connect(&path).expect("a connection");
    let piece = vec![b'x'; 1 << 20];
    while endless.write_all(&piece).is_ok() {}
}

#[test]
fn whatever_clients_send_serve_lives_and_everything_comes_back() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let log = sandbox.user_home().join("serve.log");
    let mut command = serving::command(&sandbox, serving::BEGIN, &[]);
    command.stderr(std::fs::File::create(&log).expect("a log"));
    let mut serve = Serving::ready(&sandbox, command.spawn().expect("it starts"));
    let mut chance = Chance(3);
    let mut round = |serve: &Serving, visits: u32, requests: u64| {
        for _ in 0..visits {
            visit(serve, &mut chance);
        }
        odd_requests(serve, &mut chance, requests);
        local_noise(&sandbox, &mut chance);
    };
    let settled = |serve: &mut Serving| {
        // Past the grace of sessions that were left.
        serve.clock("advance 60");
        serve.clock("settle");
        loop {
            let (held, rss) = held(serve);
            if held.2 == "hermes_clients 0" {
                return (held, rss);
            }
        }
    };
    // Once for caches and for the memory that an allocator keeps.
    round(&serve, 100, REQUESTS / 10);
    let (base, rss) = settled(&mut serve);
    round(&serve, 400, REQUESTS);
    let (mut after, now) = settled(&mut serve);
    // Connections that are closed on their side leave ours a moment later.
    while after.0 > base.0 && serve.page("/healthz").0 == 200 {
        after = held(&serve).0;
    }
    // One of them may still have been open when the base was taken.
    assert!(
        after.0 <= base.0,
        "{} descriptors, {} before",
        after.0,
        base.0
    );
    assert_eq!((after.1, after.2), (base.1, base.2));
    assert!(now < rss + (16 << 10), "{rss} KiB before, {now} KiB after");

    let mut client = serve.client();
    let made = client.call("session.create", &json!({}));
    let params = json!({"session_id": made["session_id"], "text": "ask: still there"});
    client.call("prompt.submit", &params);
    client.wait_for("message.complete");
    assert_eq!(serving::asked(&sandbox), ["ask: still there"]);
    assert_eq!(serve.stop().code(), Some(0));
    let log = std::fs::read_to_string(log).expect("a log");
    assert!(!log.contains("panicked"), "{log}");
}
