//! One serve a home: the second one, one that stands by, and a lock that is taken away.

use std::net::TcpListener;

use serde_json::Value;

use crate::common::Sandbox;
use crate::common::log::Log;
use crate::common::serving::{self, Serving};

#[test]
fn a_home_has_one_serve_and_the_second_names_it() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let serve = Serving::start(&sandbox);
    let second = sandbox
        .hermes()
        .args(["serve", "--port", "0"])
        .assert()
        .code(78);
    let said = String::from_utf8_lossy(&second.get_output().stderr).into_owned();
    assert!(said.contains(&format!("pid {}", serve.pid())), "{said}");
    assert!(said.contains(&format!("port {}", serve.port)), "{said}");
}

#[test]
fn a_passive_one_takes_over_whatever_became_of_the_first() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let first = Serving::start(&sandbox);
    let mut second = serving::command(&sandbox, serving::BEGIN, &["--passive"]);
    let second = second.spawn().expect("it starts");
    first.kill();
    let second = Serving::ready(&sandbox, second);
    assert_eq!(second.page("/readyz").0, 200);
    assert_eq!(second.stop().code(), Some(0));
}

#[test]
fn a_passive_one_waits_a_moment_for_the_port_of_a_first_that_was_killed() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let first = Serving::start(&sandbox);
    // The kernel may be done with the home of a dead process, and not yet with its port.
    let held = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = held.local_addr().expect("its number").port();
    let arguments = ["--passive", "--port", &port.to_string()];
    let command = serving::command(&sandbox, serving::BEGIN, &arguments);
    let (second, mut log) = Log::of(command);
    log.wait_for("It stands by");
    first.kill();
    log.wait_for("is not free yet");
    drop(held);
    let second = Serving::ready(&sandbox, second);
    assert_eq!(second.port, port);
    assert_eq!(second.page("/readyz").0, 200);
    assert_eq!(second.stop().code(), Some(0));

    // One that begins at once finds out at once.
    let held = TcpListener::bind(("127.0.0.1", port)).expect("the port");
    let mut third = sandbox.hermes();
    let refused = third.args(["serve", "--port", arguments[2]]).assert();
    let refused = refused.code(1);
    let said = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(
        said.contains("--port 0") && !said.contains("not free yet"),
        "{said}"
    );
    drop(held);
}

#[test]
fn a_serve_whose_lock_is_removed_makes_room_and_leaves_the_other_alone() {
    let sandbox = Sandbox::new();
    serving::configure(&sandbox, "");
    let (child, mut log) = Log::of(serving::command(&sandbox, serving::BEGIN, &[]));
    let mut first = Serving::ready(&sandbox, child);
    let mut stands_by = serving::command(&sandbox, serving::BEGIN, &["--passive"]);
    stands_by.env("__HERMES_CLOCK", sandbox.user_home().join("third.sock"));
    let (third, mut waits) = Log::of(stands_by);
    waits.wait_for("It stands by");
    let lock = std::fs::metadata(sandbox.home().join("run/serve.lock")).expect("the lock");
    let inode = format!(":{} ", std::os::unix::fs::MetadataExt::ino(&lock));
    // The kernel shows who waits for a lock behind an arrow.
    let waited_for = |line: &str| line.contains("->") && line.contains(&inode);
    let locks = || std::fs::read_to_string("/proc/locks").expect("the locks");
    while !locks().lines().any(waited_for) {}
    std::fs::remove_dir_all(sandbox.home().join("run")).expect("its directory");
    // Nothing is in its way now.
    let mut second = serving::command(&sandbox, serving::BEGIN, &[]);
    second.env("__HERMES_CLOCK", sandbox.user_home().join("second.sock"));
    let second = Serving::ready(&sandbox, second.spawn().expect("it starts"));
    first.begin_clock("advance 61");
    log.wait_for("was taken away");
    assert_eq!(first.wait().code(), Some(1));
    let record = std::fs::read_to_string(sandbox.home().join("run/serve.json")).expect("a record");
    let record: Value = serde_json::from_str(&record).expect("JSON");
    assert_eq!(record["pid"], second.pid());
    assert!(sandbox.home().join("run/serve.sock").exists());
    assert_eq!(second.page("/readyz").0, 200);
    // Whoever waited for the first one waits for the second one now.
    assert_eq!(second.stop().code(), Some(0));
    let third = Serving::ready(&sandbox, third);
    assert_eq!(third.page("/readyz").0, 200);
    assert_eq!(third.stop().code(), Some(0));
}
