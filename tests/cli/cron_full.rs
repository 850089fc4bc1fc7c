//! A disk that is full: no slot is lost, what is wrong is said, and what waited runs as soon as there is
//! room. Files that would grow beyond a limit are refused in the same places; the signal is ignored.

#![expect(
    clippy::disallowed_methods,
    reason = "what is limited is started by a shell; the tests look at the ledger"
)]

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use rusqlite::Connection;
use rustix::process::Resource;
use serde_json::json;

use crate::common::jobs::{NOW, document, job, said, script, stored, with};
use crate::common::serving::{self, Serving};
use crate::common::{Sandbox, binary};

const ID: &str = "aaaaaaaaaaaa";

/// A home whose job leaves a line for each run.
fn counted(next: &str) -> Sandbox {
    let sandbox = with(&[job(ID, &json!({"next_run_at": next}))]);
    serving::configure(&sandbox, "");
    script(&sandbox, "ok.sh", "echo ran");
    sandbox
}

fn served(sandbox: &Sandbox) -> Serving {
    let command = serving::command(sandbox, NOW, &[]);
    let mut shell = serving::patient(sandbox, &command, "");
    shell.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut serve = Serving::ready(sandbox, shell.spawn().expect("serve starts"));
    serve.clock("settle");
    serve
}

fn limit(serve: &Serving, most: Option<u64>) {
    serve.limit(Resource::Fsize, most);
}

/// The number that the next file of a serve gets.
fn lowest_free(serve: &Serving) -> u64 {
    let entries = std::fs::read_dir(format!("/proc/{}/fd", serve.pid())).expect("/proc");
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("one").file_name();
    let open: std::collections::BTreeSet<u64> = entries
        .map(|entry| name(entry).to_string_lossy().parse().expect("a number"))
        .collect();
    let first = (0..=open.len() as u64).find(|number| !open.contains(number));
    first.expect("one of one more than there are")
}

/// Status and slot of each execution that had one.
fn slots(sandbox: &Sandbox) -> Vec<(String, String)> {
    let ledger = Connection::open(sandbox.home().join("cron/executions.db")).expect("the ledger");
    let sql = "SELECT status, scheduled_instant FROM executions \
               WHERE scheduled_instant IS NOT NULL ORDER BY scheduled_instant";
    let mut statement = ledger.prepare(sql).expect("a statement");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    let rows = rows.expect("rows");
    rows.collect::<rusqlite::Result<_>>().expect("rows")
}

fn completed(slot: &str) -> (String, String) {
    ("completed".to_owned(), slot.to_owned())
}

/// A pass by hand.
fn tick(sandbox: &Sandbox) -> Command {
    let mut tick = Command::new(env!("CARGO_BIN_EXE_hermes"));
    tick.args(["cron", "tick"])
        .env("HOME", sandbox.user_home())
        .env("PATH", "/usr/bin:/bin")
        .env("TZ", "UTC")
        .env("__HERMES_NOW", NOW);
    tick
}

#[test]
fn a_full_disk_under_a_pass_by_hand_is_told_and_loses_no_slot() {
    let sandbox = counted("2026-06-17T10:00:00+00:00");
    let before = std::fs::read(sandbox.home().join("cron/jobs.json")).expect("the store");
    let tick = tick(&sandbox);
    let full = serving::patient(&sandbox, &tick, "ulimit -f 0;")
        .output()
        .expect("it runs");
    let told = String::from_utf8_lossy(&full.stderr);
    assert_eq!(full.status.code(), Some(1), "{told}");
    assert!(
        told.contains("failed to") && told.contains("cron/executions.db"),
        "{told}"
    );
    let after = std::fs::read(sandbox.home().join("cron/jobs.json")).expect("the store");
    assert_eq!(before, after, "nothing half written");
    let (code, out, err) = said(&sandbox, &["cron", "tick"]);
    assert!(code == 0 && out.contains("  ok ("), "{out}{err}");
    assert_eq!(slots(&sandbox), [completed("2026-06-17T10:00:00+00:00")]);
}

#[test]
fn a_store_that_cannot_be_written_is_on_record_and_its_slot_runs_at_the_next_pass() {
    let sandbox = counted("2026-06-17T10:02:00+00:00");
    let mut serve = served(&sandbox);
    let error = sandbox.home().join("cron/ticker_last_error");
    // The markers are small enough, the store is not.
    limit(&serve, Some(256));
    serve.pass(180, 60);
    let told = std::fs::read_to_string(&error).expect("a failed pass");
    assert!(
        told.contains("cron/jobs.json") && told.contains("OSError"),
        "{told}"
    );
    assert_eq!(
        stored(&sandbox)[0]["next_run_at"],
        "2026-06-17T10:02:00+00:00"
    );
    let (_, told, _) = document(&sandbox, &["cron", "status"]);
    let told = told["homes"][0]["last_tick_error"]["error"].to_string();
    assert!(told.contains("cron/jobs.json"), "{told}");
    limit(&serve, None);
    serve.pass(60, 60);
    assert_eq!(slots(&sandbox), [completed("2026-06-17T10:02:00+00:00")]);
    assert!(!error.exists(), "a good pass takes it away");
    assert_eq!(serve.stop().code(), Some(0));
}

#[test]
fn a_ledger_that_cannot_be_written_gives_the_slot_back() {
    let sandbox = counted("2026-06-17T10:02:00+00:00");
    let mut serve = served(&sandbox);
    assert_eq!(
        said(&sandbox, &["cron", "run", ID]).0,
        0,
        "there is a ledger now"
    );
    // The store is small enough, a page of the ledger is not.
    limit(&serve, Some(4000));
    serve.pass(180, 60);
    assert_eq!(slots(&sandbox), []);
    let kept = &stored(&sandbox)[0];
    assert_eq!(
        kept["pending_slot"]["scheduled_at"], "2026-06-17T10:02:00+00:00",
        "{kept}"
    );
    limit(&serve, None);
    serve.pass(60, 60);
    assert_eq!(slots(&sandbox), [completed("2026-06-17T10:02:00+00:00")]);
    let kept = &stored(&sandbox)[0];
    assert!(
        kept.get("pending_slot").is_none() && kept["fire_claim"].is_null(),
        "{kept}"
    );
    assert_eq!(kept["next_run_at"], "2026-06-17T10:32:00+00:00");
    serve.pass(60, 60);
    assert_eq!(slots(&sandbox).len(), 1, "and once");
    assert_eq!(serve.stop().code(), Some(0));
}

#[test]
fn b39_a_pass_without_descriptors_is_a_failed_one_and_its_slot_runs_when_there_are_some() {
    let sandbox = counted("2026-06-17T10:01:00+00:00");
    let mut serve = served(&sandbox);
    // Enough for the lock of a pass, or for the words of its failure. What is open for a moment only does
    // not count.
    let looks = (0..5).map(|_| {
        serve.clock("settle");
        lowest_free(&serve)
    });
    let free = looks.min().expect("a number");
    serve.limit(Resource::Nofile, Some(free + 1));
    serve.pass(60, 60);
    let told = std::fs::read_to_string(sandbox.home().join("cron/ticker_last_error"));
    let told = told.expect("a failed pass");
    assert!(
        told.contains("OSError") && told.contains("Too many open files"),
        "{told}"
    );
    assert_eq!(
        stored(&sandbox)[0]["next_run_at"],
        "2026-06-17T10:01:00+00:00"
    );
    serve.limit(Resource::Nofile, None);
    serve.pass(180, 60);
    assert_eq!(slots(&sandbox), [completed("2026-06-17T10:01:00+00:00")]);
    assert_eq!(serve.stop().code(), Some(0));
}

#[test]
fn a_change_that_cannot_be_written_leaves_the_old_store_and_says_why() {
    let sandbox = counted("2026-06-17T10:20:00+00:00");
    let path = sandbox.home().join("cron/jobs.json");
    let before = std::fs::read(&path).expect("the store");
    let mut pause = Command::new(env!("CARGO_BIN_EXE_hermes"));
    pause
        .args(["cron", "pause", ID])
        .env("HOME", sandbox.user_home())
        .env("PATH", "/usr/bin:/bin");
    let refused = serving::patient(&sandbox, &pause, "ulimit -f 0;")
        .output()
        .expect("it runs");
    let told = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{told}");
    assert!(
        told.contains("cron/jobs.json") && told.contains("File too large"),
        "{told}"
    );
    assert_eq!(std::fs::read(&path).expect("the store"), before);
}

/// Somebody who is not root, and the binary where he may run it.
const NOBODY: u32 = 65_534;

#[test]
fn a_store_in_a_folder_that_may_not_be_written_stays_and_says_why() {
    let sandbox = counted("2026-06-17T10:20:00+00:00");
    let paused = said(&sandbox, &["cron", "pause", ID]).0;
    assert_eq!(paused, 0, "its lock is there");
    let binary = binary(sandbox.user_home());
    let is_root = rustix::process::geteuid().is_root();
    let cron = sandbox.home().join("cron");
    if is_root {
        let owned = Command::new("chown")
            .args(["-R", "65534:65534"])
            .arg(sandbox.user_home())
            .status();
        assert!(owned.expect("chown").success());
    }
    let mode = |mode| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(&cron, mode).expect("a mode");
    };
    mode(0o500);
    let before = std::fs::read(cron.join("jobs.json")).expect("the store");
    let mut resume = Command::new(binary);
    resume
        .args(["cron", "resume", ID])
        .env_clear()
        .env("HOME", sandbox.user_home())
        // No slot has passed meanwhile, so the ledger has nothing to say before the store.
        .env("__HERMES_NOW", NOW)
        .current_dir("/");
    if is_root {
        resume.uid(NOBODY).gid(NOBODY);
    }
    let refused = resume.output().expect("it runs");
    mode(0o700);
    let told = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{told}");
    assert!(
        told.contains("cron/") && told.contains("Permission denied"),
        "{told}"
    );
    assert_eq!(
        std::fs::read(cron.join("jobs.json")).expect("the store"),
        before
    );
    let names: Vec<_> = std::fs::read_dir(&cron)
        .expect("cron")
        .map(|entry| {
            entry
                .expect("one")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| name.starts_with(".jobs_"))
        .collect();
    assert_eq!(names, [""; 0], "nothing half written is left");
}

#[test]
fn a_run_whose_end_cannot_be_written_was_started_all_the_same_and_runs_once() {
    let sandbox = counted("2026-06-17T10:00:00+00:00");
    // From here on neither its worker nor the pass can write; the job can.
    let fills = "read -r _ _ _ pass _ <\"/proc/$PPID/stat\"\n\
                 for pid in \"$PPID\" \"$pass\"; do prlimit --pid \"$pid\" --fsize=0 || exit 9; done\n\
                 echo ran >>\"$HERMES_HOME/ran\"";
    script(&sandbox, "ok.sh", fills);
    let mut tick = tick(&sandbox);
    // Between its attempts to write that end the worker pauses for no longer than this.
    tick.env("__HERMES_PACE", "1");
    let pass = serving::patient(&sandbox, &tick, "").output();
    let pass = pass.expect("it runs");
    let told = String::from_utf8_lossy(&pass.stderr).into_owned();
    let out = String::from_utf8_lossy(&pass.stdout).into_owned();
    assert!(out.contains("its end is not on record"), "{out}{told}");
    assert!(
        told.contains("is over, but its end is not on record"),
        "{told}"
    );
    assert!(!told.contains("could not be started"), "{told}");
    // The next one closes its row, and leaves it at one run.
    script(&sandbox, "ok.sh", "echo again >>\"$HERMES_HOME/ran\"");
    let (code, _, told) = said(&sandbox, &["cron", "tick"]);
    assert_eq!(code, 0, "{told}");
    let ran = std::fs::read_to_string(sandbox.home().join("ran")).expect("it ran");
    assert_eq!(ran, "ran\n");
    let slot = "2026-06-17T10:00:00+00:00".to_owned();
    assert_eq!(slots(&sandbox), [("unknown".to_owned(), slot)]);
    let kept = &stored(&sandbox)[0];
    assert_eq!(kept["last_status"], "error", "{kept}");
    assert!(kept["fire_claim"].is_null(), "{kept}");
}
