//! Lists of timers and sessions as people see them: near times in words, and on a narrow terminal too.

use std::fs::File;
use std::io::Read as _;
use std::process::Command;

use crate::common::Sandbox;

/// Twenty-nine minutes after the loop of the sample home would have been due.
const LATER: &str = "2026-11-29T23:14:00Z";

fn said(sandbox: &Sandbox, args: &[&str]) -> String {
    let mut hermes = sandbox.hermes();
    let done = hermes.env("__HERMES_NOW", LATER).args(args).assert();
    String::from_utf8_lossy(&done.code(0).get_output().stdout).into_owned()
}

/// What a terminal of this width shows of stdout.
fn shown(sandbox: &Sandbox, columns: u16, args: &[&str]) -> String {
    let size = nix::pty::Winsize {
        ws_row: 24,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let pty = nix::pty::openpty(Some(&size), None).expect("a terminal");
    #[expect(clippy::disallowed_methods, reason = "its stdout is a terminal")]
    let mut command = Command::new(env!("CARGO_BIN_EXE_hermes"));
    command
        .env_clear()
        .env("HERMES_HOME", sandbox.home())
        .env("TERM", "dumb")
        .env("TZ", "UTC")
        .env("__HERMES_NOW", LATER)
        .args(args)
        .stdout(pty.slave);
    let mut child = command.spawn().expect("it starts");
    drop(command);
    let mut text = Vec::new();
    // The end of a terminal is an error on Linux, after all that was written.
    let _end = File::from(pty.master).read_to_end(&mut text);
    assert!(child.wait().expect("its end").success(), "{args:?}");
    String::from_utf8_lossy(&text).into_owned()
}

#[test]
fn lists_tell_times_as_people_do_and_documents_exactly() {
    let sandbox = Sandbox::with_sample_home();
    let loops = said(&sandbox, &["loop", "list"]);
    assert!(loops.contains("due 28m 59s ago"), "{loops}");
    let beats = said(&sandbox, &["heartbeat", "list"]);
    assert!(beats.contains("due 2"), "{beats}");
    let sessions = said(&sandbox, &["session", "list"]);
    assert!(sessions.contains("33m 59s ago"), "{sessions}");
    for text in [&loops, &beats, &sessions] {
        assert!(!text.contains("2026-11-29T"), "{text}");
    }
    let one = said(&sandbox, &["loop", "status", "20260101_0900"]);
    // By the zone of the home.
    assert!(
        one.contains("2026-11-29 23:45:00 +01:00 (28m 59s ago)"),
        "{one}"
    );
    let document = said(&sandbox, &["session", "list", "--json"]);
    assert!(
        document.contains("2026-11-29T22:40:00.135434Z"),
        "{document}"
    );
}

#[test]
fn what_is_to_come_is_told_with_its_time_of_day() {
    let sandbox = Sandbox::with_sample_home();
    let mut hermes = sandbox.hermes();
    let hermes = hermes.env("__HERMES_NOW", "2026-11-29T22:41:00Z");
    let done = hermes.args(["loop", "list"]).assert().code(0);
    let text = String::from_utf8_lossy(&done.get_output().stdout).into_owned();
    assert!(text.contains("in 4m (23:45)"), "{text}");
}

#[test]
fn on_forty_columns_nothing_runs_over_and_nothing_is_cut() {
    let sandbox = Sandbox::with_sample_home();
    let [a, b, c] = [
        "20260101_090000_aaaaaa",
        "20260101_091500_bbbbbb",
        "20260101_093000_cccccc",
    ];
    for (args, sessions) in [
        (["session", "list"].as_slice(), [a, c]),
        (&["loop", "list"], [a, b]),
        (&["heartbeat", "list"], [b, c]),
        (&["loop", "list", "--all"], [a, b]),
        (&["session", "reap", "--dry-run"], [a, c]),
    ] {
        let text = shown(&sandbox, 40, args);
        for line in text.lines() {
            assert!(line.trim_end().chars().count() <= 40, "{args:?}: {line}");
        }
        for session in sessions {
            assert!(text.contains(session), "{args:?}: {session}: {text}");
        }
        assert!(!text.contains('…'), "{args:?}: {text}");
    }
    let sessions = shown(&sandbox, 40, &["session", "list"]);
    assert!(
        sessions.contains("  timers: loop not driven\r\n"),
        "{sessions}"
    );
    // Where there is room it is a table again.
    assert!(shown(&sandbox, 80, &["session", "list"]).starts_with("SESSION "));
}
