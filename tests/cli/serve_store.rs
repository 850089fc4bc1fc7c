//! A store that is read-only, full, locked or damaged under a running serve: it says so, keeps what is
//! new, runs no wake-up that it cannot claim, and goes on when the store does.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Stdio;

use rustix::process::Resource;
use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::log::Log;
use crate::common::serving::{self, Serving};

/// An account that owns nothing, for tests that run as root: root may write anything.
const NOBODY: u32 = 65534;

/// When the second serve begins.
const LATER: &str = "2026-06-01T23:10:00Z";

fn told(serve: &Serving) -> (u16, Value) {
    let (status, body) = serve.page("/readyz");
    (status, serde_json::from_str(&body).expect("JSON"))
}

fn count(sandbox: &Sandbox, text: &str) -> usize {
    let asked = serving::asked(sandbox);
    asked.iter().filter(|line| *line == text).count()
}

/// The store of a serve with a loop breaks and is mended; `start` starts the serve.
fn breaks(
    start: &dyn Fn(&Sandbox, &str) -> Serving,
    broken: &dyn Fn(&Serving, &Path),
    mended: &dyn Fn(&Serving, &Path),
) {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let mut serve = start(&sandbox, serving::BEGIN);
    let store = sandbox.home().join("state.db");
    let mut client = serve.client();
    let made = client.call("session.create", &json!({}));
    let session = made["session_id"].clone();
    let params = json!({"session_id": session, "name": "loop", "arg": "5m ask: check"});
    client.call("command.dispatch", &params);
    client.wait_for("message.complete");
    serve.clock("settle");
    assert_eq!(told(&serve).0, 200);

    broken(&serve, &store);
    serve.clock("advance 300");
    // The store answers in the order in which it was asked.
    client.ask("session.history", &json!({"session_id": session}));
    let (status, body) = told(&serve);
    assert_eq!(status, 503, "{body}");
    assert!(body["store"]["trouble"].is_string(), "{body}");
    assert_eq!(count(&sandbox, "ask: check"), 1, "it cannot be claimed");
    let params = json!({"session_id": session, "text": "ask: kept"});
    client.call("prompt.submit", &params);
    let done = &client.wait_for("message.complete")["payload"];
    assert_eq!(done["status"], "complete");
    assert_eq!(done["persisted_turn"]["complete"], false, "{done}");
    let params = json!({"session_id": session, "name": "loop", "arg": "1h ask: other"});
    let set = client.call("command.dispatch", &params);
    let output = set["output"].as_str().expect("words");
    assert!(output.contains("It is not stored yet"), "{output}");

    mended(&serve, &store);
    serve.clock("advance 10");
    serve.clock("settle");
    serve.clock("advance 10");
    serve.clock("settle");
    let (status, body) = told(&serve);
    assert_eq!(status, 200, "{body}");
    assert_eq!(count(&sandbox, "ask: other"), 1);
    serve.kill();

    let serve = start(&sandbox, LATER);
    let mut client = serve.client();
    let stored = made["stored_session_id"].clone();
    let resumed = client.call("session.resume", &json!({"session_id": stored}));
    let looping = &resumed["control"]["loop"];
    assert_eq!(looping["prompt"], "ask: other");
    assert_eq!(looping["ticks_fired"], 1);
    let messages = resumed["messages"].as_array().expect("messages");
    let kept = messages
        .iter()
        .filter(|message| message["content"] == "ask: kept");
    assert_eq!(kept.count(), 1, "{messages:?}");
    assert_eq!(count(&sandbox, "ask: check"), 1);
}

fn usual(sandbox: &Sandbox, now: &str) -> Serving {
    Serving::at(sandbox, now)
}

#[test]
fn a_store_that_is_damaged_and_mended() {
    let was = std::cell::RefCell::new(Vec::new());
    let damaged = [b'x'; 4096];
    let begin = |store: &Path, bytes: &[u8]| {
        use std::os::unix::fs::FileExt as _;
        let file = std::fs::File::options().write(true).open(store);
        file.expect("the store").write_all_at(bytes, 0).expect("it");
    };
    breaks(
        &usual,
        &|_, store| {
            was.replace(std::fs::read(store).expect("the store"));
            begin(store, &damaged);
        },
        &|_, store| {
            let mut expected = was.borrow().clone();
            expected[..4096].copy_from_slice(&damaged);
            let there = std::fs::read(store).expect("the store");
            assert!(there == expected, "a damaged store is left as it is");
            begin(store, &was.borrow()[..4096]);
        },
    );
}

/// Everything that belongs to a user is `NOBODY`'s.
fn give_away(place: &Path) {
    std::os::unix::fs::chown(place, Some(NOBODY), Some(NOBODY)).expect("an owner");
    if place.is_dir() {
        for entry in std::fs::read_dir(place).expect("a directory") {
            give_away(&entry.expect("an entry").path());
        }
    }
}

#[test]
fn a_store_that_becomes_read_only_and_writable_again() {
    let start = |sandbox: &Sandbox, now: &str| {
        let mut command = serving::command(sandbox, now, &[]);
        if rustix::process::geteuid().is_root() {
            give_away(sandbox.user_home());
            command.uid(NOBODY).gid(NOBODY);
        }
        Serving::ready(sandbox, command.spawn().expect("serve starts"))
    };
    let mode = |store: &Path, directory: u32, file: u32| {
        let set = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
        };
        set(store, file);
        set(store.parent().expect("a home"), directory);
    };
    breaks(
        &start,
        &|_, store| mode(store, 0o500, 0o400),
        &|_, store| mode(store, 0o700, 0o600),
    );
}

#[test]
fn a_store_that_cannot_grow_and_can_again() {
    let start = |sandbox: &Sandbox, now: &str| {
        let serve = serving::command(sandbox, now, &[]);
        let mut shell = serving::patient(sandbox, &serve, "");
        shell.stdout(Stdio::piped()).stderr(Stdio::null());
        Serving::ready(sandbox, shell.spawn().expect("serve starts"))
    };
    let limit = |serve: &Serving, most| serve.limit(Resource::Fsize, most);
    breaks(&start, &|serve, _| limit(serve, Some(4096)), &|serve, _| {
        limit(serve, None);
    });
}

#[test]
#[ignore = "waits for a lock as long as serve does: tests/run long"]
fn a_store_that_is_locked_for_thirty_seconds_at_length() {
    let lock = std::cell::RefCell::new(None);
    breaks(
        &usual,
        &|_, store| {
            let connection = hermes::db::connect(store).expect("a connection");
            connection.execute_batch("BEGIN EXCLUSIVE").expect("a lock");
            lock.replace(Some(connection));
        },
        &|_, _| {
            let connection = lock.take().expect("a lock");
            connection.execute_batch("ROLLBACK").expect("its end");
        },
    );
}

#[test]
#[ignore = "waits for the store as long as a stop does: tests/run long"]
fn what_the_store_never_took_is_said_at_the_end_at_length() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let command = serving::command(&sandbox, serving::BEGIN, &[]);
    let mut shell = serving::patient(&sandbox, &command, "");
    shell.stdout(Stdio::piped());
    let (child, mut log) = Log::of(shell);
    let serve = Serving::ready(&sandbox, child);
    serve.limit(Resource::Fsize, Some(4096));
    let mut client = serve.client();
    let made = client.call("session.create", &json!({}));
    let params = json!({"session_id": made["session_id"], "text": "ask: kept"});
    client.call("prompt.submit", &params);
    client.wait_for("message.complete");
    assert_eq!(serve.stop().code(), Some(0));
    let lost = log.wait_for("is lost");
    assert!(lost.contains("(2 messages)"), "{lost}");
}
