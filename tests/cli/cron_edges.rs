//! What a run leaves, and to whom: processes, secrets, and files of another user's home.

use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::json;

use crate::common::Sandbox;
use crate::common::jobs::{create, document, hermes, job, said, script, stored, with};

const ID: &str = "aaaaaaaaaaaa";
/// Somebody who is not root and owns nothing else.
const STRANGER: u32 = 54_321;

/// Starts something in a session of its own, which tells its pid through a FIFO, and waits for it.
const LEAVES: &str = "setsid sh -c 'echo $$ >\"$HERMES_HOME/up\"; exec sleep 1000' </dev/null >/dev/null 2>&1 & wait";

fn with_fifo(own: &serde_json::Value) -> Sandbox {
    let sandbox = with(&[job(ID, &json!({"x_hermes": own}))]);
    script(&sandbox, "ok.sh", LEAVES);
    sandbox.fifo("up");
    sandbox
}

/// The pid that came through the FIFO, held.
fn left(sandbox: &Sandbox) -> std::os::fd::OwnedFd {
    let told = std::fs::read_to_string(sandbox.home().join("up")).expect("a pid");
    let pid = Pid::from_raw(told.trim().parse().expect("a number")).expect("a pid");
    pidfd_open(pid, PidfdFlags::empty()).expect("it runs")
}

fn ends(held: &std::os::fd::OwnedFd) -> bool {
    let patience = Timespec {
        tv_sec: 5,
        tv_nsec: 0,
    };
    let mut fds = [PollFd::new(held, PollFlags::IN)];
    poll(&mut fds, Some(&patience)).expect("a poll") == 1
}

#[test]
fn what_left_the_group_ends_with_a_run_past_its_limit() {
    let sandbox = with_fifo(&json!({"timeout_seconds": 2}));
    let mut run = hermes(&sandbox, &["cron", "run", ID]);
    let held = std::thread::scope(|scope| {
        let seen = scope.spawn(|| left(&sandbox));
        assert_eq!(run.output().expect("it runs").status.code(), Some(1));
        seen.join().expect("it was seen")
    });
    let gone = ends(&held);
    let _ended = rustix::process::pidfd_send_signal(&held, rustix::process::Signal::KILL);
    assert!(gone, "it outlived the run");
}

#[test]
fn what_left_the_group_ends_with_a_run_that_is_cancelled() {
    let sandbox = with_fifo(&json!({}));
    let (code, told, _) = document(&sandbox, &["cron", "run", ID, "--detach"]);
    assert_eq!(code, 0, "{told}");
    let held = left(&sandbox);
    let id = told["execution"].as_str().expect("an id");
    assert_eq!(said(&sandbox, &["cron", "cancel", id]).0, 0);
    let gone = ends(&held);
    let _ended = rustix::process::pidfd_send_signal(&held, rustix::process::Signal::KILL);
    assert!(gone, "it outlived the run");
}

#[test]
fn values_of_a_jobs_own_variables_are_kept_nowhere() {
    let sandbox = with(&[job(ID, &json!({}))]);
    let secrets = sandbox.write(
        "secrets",
        "API_TOKEN=tok-12345678\nDSN='db://u:pw-87654321@h'\n",
    );
    let own = json!({
        "env_file": secrets,
        "deliver_command": ["/bin/sh", "-c", "cat >&2; exit 4"],
    });
    crate::common::jobs::store(&sandbox, &[job(ID, &json!({"x_hermes": own}))]);
    script(
        &sandbox,
        "ok.sh",
        "echo \"no $API_TOKEN, no $DSN\" >&2; exit 3",
    );
    assert_eq!(said(&sandbox, &["cron", "run", ID]).0, 1);
    let kept = &stored(&sandbox)[0];
    let error = kept["last_error"].as_str().expect("an error");
    assert!(error.contains("no [redacted], no [redacted]"), "{error}");
    assert!(kept["last_delivery_error"].is_string(), "{kept}");
    // The same in a run that is good, and whose delivery tells what it got.
    script(&sandbox, "ok.sh", "echo \"$API_TOKEN $DSN\"");
    assert_eq!(said(&sandbox, &["cron", "run", ID]).0, 0);
    assert_eq!(stored(&sandbox)[0]["last_status"], "delivery_failed");
    let (_, runs, _) = document(&sandbox, &["cron", "runs"]);
    for text in [stored(&sandbox)[0].to_string(), runs.to_string()] {
        assert!(text.contains("[redacted]"), "{text}");
        for secret in ["tok-12345678", "pw-87654321"] {
            assert!(!text.contains(secret), "{text}");
        }
    }
}

#[test]
fn a_file_of_variables_that_is_a_pipe_is_told_and_not_waited_for() {
    let sandbox = with(&[]);
    let pipe = sandbox.fifo("variables");
    let own = json!({"x_hermes": {"env_file": pipe}});
    crate::common::jobs::store(&sandbox, &[job(ID, &own)]);
    let pipe = pipe.to_string_lossy().into_owned();
    let create = create("every 30m", &["--env-file", &pipe]);
    for (words, code) in [
        (&["cron", "run", ID][..], 2),
        (&["cron", "list"], 1),
        (&create, 1),
    ] {
        let output = hermes(&sandbox, words)
            .timeout(std::time::Duration::from_secs(60))
            .output()
            .expect("it runs");
        let told = [output.stdout, output.stderr].concat();
        let told = String::from_utf8_lossy(&told);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {told}");
        assert!(told.contains("no regular file"), "{words:?}: {told}");
    }
}

#[test]
fn a_log_that_cannot_be_read_fails_no_run() {
    let sandbox = with(&[job(ID, &json!({}))]);
    sandbox.write("run/executions", "in the way");
    let (code, out, err) = said(&sandbox, &["cron", "run", ID]);
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    assert_eq!(err.matches("cannot be shown").count(), 1, "{err}");
    assert_eq!(stored(&sandbox)[0]["last_status"], "ok");
}

#[test]
fn a_pipe_among_the_outputs_of_a_job_is_passed_over() {
    let sandbox = with(&[job(ID, &json!({}))]);
    assert_eq!(said(&sandbox, &["cron", "run", ID]).0, 0);
    std::fs::remove_dir_all(sandbox.home().join("run/executions")).expect("its log goes");
    sandbox.fifo(&format!("cron/output/{ID}/9999.md"));
    let output = hermes(&sandbox, &["cron", "logs", ID])
        .timeout(std::time::Duration::from_secs(60))
        .output()
        .expect("it runs");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("fine"), "{told}");
}

fn give(path: &Path) {
    chown(path, Some(STRANGER), Some(STRANGER)).expect("root may");
    if path.is_dir() {
        for entry in std::fs::read_dir(path).expect("a directory") {
            give(&entry.expect("an entry").path());
        }
    }
}

/// Everything below that is somebody else's.
fn foreign(path: &Path) -> Vec<String> {
    let meta = std::fs::symlink_metadata(path).expect("it is there");
    let mut found = Vec::new();
    if meta.uid() != STRANGER {
        found.push(path.display().to_string());
    }
    if meta.is_dir() {
        for entry in std::fs::read_dir(path).expect("a directory") {
            found.extend(foreign(&entry.expect("an entry").path()));
        }
    }
    found
}

#[test]
fn root_runs_nothing_in_another_users_home_and_leaves_all_that_it_makes_to_him() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let due = job(ID, &json!({"next_run_at": "2026-06-17T09:59:00+00:00"}));
    let sandbox = with(&[due]);
    script(&sandbox, "ok.sh", "id -u >\"$HERMES_HOME/ran\"");
    give(&sandbox.home());
    for words in [
        ["cron", "tick"].as_slice(),
        &["serve", "--port", "0"],
        &["cron", "run", ID],
    ] {
        let (code, _, err) = said(&sandbox, words);
        assert_ne!(code, 0, "{words:?}: {err}");
        assert!(err.contains("belongs to uid 54321"), "{words:?}: {err}");
    }
    assert!(!sandbox.home().join("ran").exists(), "root ran it");
    let create = create("every 30m", &["--name", "more"]);
    assert_eq!(said(&sandbox, &create).0, 0);
    let (code, _, err) = said(&sandbox, &["cron", "remove", "more", "--yes"]);
    assert_eq!(code, 0, "{err}");
    assert!(sandbox.home().join("cron/backups").is_dir());
    assert_eq!(foreign(&sandbox.home()), [""; 0]);
    // A home whose cron/ is made by root.
    std::fs::remove_dir_all(sandbox.home().join("cron")).expect("it goes");
    assert_eq!(said(&sandbox, &create).0, 0);
    assert_eq!(foreign(&sandbox.home()), [""; 0]);
}

#[test]
fn what_a_change_would_put_right_in_the_shape_of_a_store_is_told_before() {
    let sandbox = with(&[]);
    let odd = json!([job(ID, &json!({})), 5]);
    sandbox.write("cron/jobs.json", odd.to_string());
    let told = "it is a bare list, not an object with a list; one of its entries is no job";
    let verbs = [
        &["cron", "list"][..],
        &["cron", "show", ID],
        &["cron", "pause", ID, "--dry-run"],
        &["cron", "run", ID, "--dry-run"],
    ];
    for words in verbs {
        let (_, _, err) = said(&sandbox, words);
        assert!(err.contains(told), "{words:?}: {err}");
    }
    for words in [&["cron", "list"][..], &["cron", "show", ID]] {
        let (_, listed, _) = document(&sandbox, words);
        assert!(listed.to_string().contains(told), "{words:?}: {listed}");
    }
    assert_eq!(said(&sandbox, &["cron", "pause", ID]).0, 0);
    let kept = std::fs::read_dir(sandbox.home().join("cron/backups")).expect("backups");
    assert_eq!(kept.count(), 1);
    let (_, _, err) = said(&sandbox, &["cron", "list"]);
    assert!(!err.contains("is read, though"), "{err}");
}
