//! Homes with jobs for the tests of the verbs: the store, scripts, the test agent, and the binary.

use std::os::unix::fs::PermissionsExt as _;

use assert_cmd::Command;
use serde_json::{Value, json};

use super::{Sandbox, agent};

/// The instant at which the wall clock of these tests stands.
pub(crate) const NOW: &str = "2026-06-17T10:00:00Z";

/// A home in which UTC is the zone, with a script that does well.
pub(crate) fn home() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("config.yaml", "timezone: UTC\n");
    script(&sandbox, "ok.sh", "echo fine");
    sandbox
}

/// A script of the home.
pub(crate) fn script(sandbox: &Sandbox, name: &str, text: &str) {
    let path = sandbox.write(&format!("scripts/{name}"), format!("#!/bin/sh\n{text}\n"));
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
}

/// Makes the agent of the tests the one of the home, which does these steps.
pub(crate) fn agent(sandbox: &Sandbox, steps: &[&str], more: &str) {
    agent::configure(sandbox, more);
    agent::does(sandbox, steps);
}

/// One job of the store, armed, a script that does well, with what is said over it.
pub(crate) fn job(id: &str, more: &Value) -> Value {
    let mut job = json!({
        "id": id, "name": format!("job {id}"), "prompt": "", "script": "ok.sh", "no_agent": true,
        "schedule": {"kind": "interval", "minutes": 30, "display": "every 30m"},
        "schedule_display": "every 30m", "repeat": {"times": null, "completed": 0},
        "enabled": true, "state": "scheduled", "paused_at": null, "paused_reason": null,
        "created_at": "2026-06-17T09:00:00+00:00", "next_run_at": "2026-06-17T10:20:00+00:00",
        "last_run_at": null, "last_status": null, "deliver": "local", "workdir": null,
        "future_key": [1.50]
    });
    let object = job.as_object_mut().expect("an object");
    for (key, value) in more.as_object().expect("an object") {
        object.insert(key.clone(), value.clone());
    }
    job
}

/// Writes the store.
pub(crate) fn store(sandbox: &Sandbox, jobs: &[Value]) {
    let store = json!({"jobs": jobs, "updated_at": "2026-06-17T09:00:00+00:00"});
    sandbox.write("cron/jobs.json", store.to_string());
}

/// A home with these jobs.
pub(crate) fn with(jobs: &[Value]) -> Sandbox {
    let sandbox = home();
    store(&sandbox, jobs);
    sandbox
}

/// The jobs as they stand in the store.
pub(crate) fn stored(sandbox: &Sandbox) -> Vec<Value> {
    let text = std::fs::read_to_string(sandbox.home().join("cron/jobs.json")).expect("the store");
    let store: Value = serde_json::from_str(&text).expect("a store");
    store["jobs"].as_array().expect("jobs").clone()
}

/// The binary with these words, at the instant at which the clock stands.
pub(crate) fn hermes(sandbox: &Sandbox, words: &[&str]) -> Command {
    let mut command = sandbox.hermes();
    command.env("__HERMES_NOW", NOW).args(words);
    command
}

/// The words that make a job of the script that does well, with more of them.
pub(crate) fn create<'a>(schedule: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let words = [
        "cron",
        "create",
        schedule,
        "--script",
        "ok.sh",
        "--no-agent",
    ];
    [&words, more].concat()
}

/// What came of a command: its status, its document, and its stderr.
pub(crate) fn document(sandbox: &Sandbox, words: &[&str]) -> (i32, Value, String) {
    let output = hermes(sandbox, words)
        .arg("--json")
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let value = serde_json::from_str(&text).unwrap_or_else(|error| {
        let said = String::from_utf8_lossy(&output.stderr);
        panic!("{words:?}: no document ({error}): {text} {said}")
    });
    (
        output.status.code().expect("a status"),
        value,
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

/// What came of a command: its status, its stdout and its stderr.
pub(crate) fn said(sandbox: &Sandbox, words: &[&str]) -> (i32, String, String) {
    let output = hermes(sandbox, words).output().expect("it runs");
    (
        output.status.code().expect("a status"),
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

/// Somebody who holds the lock of a serve of this home, as long as it is held.
pub(crate) struct Serving {
    _lock: hermes::files::Lock,
}

/// Pretends that our serve runs, and ticked so many seconds ago.
pub(crate) fn serving(sandbox: &Sandbox, ago: i64) -> Serving {
    let path = sandbox.write("run/serve.lock", "");
    // A process that another test starts holds every lock of this one until it has become itself.
    let patience = std::time::Duration::from_secs(10);
    let lock = hermes::cron::jobs_lock::take(&path, patience).expect("a lock");
    let now: jiff::Timestamp = NOW.parse().expect("an instant");
    let beat = now.as_second() - ago;
    sandbox.write(
        "cron/ticker_heartbeat",
        format!("{beat}.0 {}", std::process::id()),
    );
    Serving { _lock: lock }
}

/// Blocks until no worker of this home is left: each is a process whose end can be waited for, and another may
/// have opened a file of the home meanwhile.
pub(crate) fn settled(sandbox: &Sandbox) {
    loop {
        let held: Vec<_> = workers(sandbox)
            .into_iter()
            .filter_map(|(_, fd)| fd)
            .collect();
        if held.is_empty() {
            return;
        }
        held.iter().for_each(ended);
    }
}

/// Blocks until a process has ended, which is a matter of seconds: a test that waits for ever tells nothing.
pub(crate) fn ended(process: &std::os::fd::OwnedFd) {
    let patience = rustix::event::Timespec {
        tv_sec: 120,
        tv_nsec: 0,
    };
    let mut fds = [rustix::event::PollFd::new(
        process,
        rustix::event::PollFlags::IN,
    )];
    let ready = rustix::event::poll(&mut fds, Some(&patience));
    if ready != Ok(1) {
        let kill = rustix::process::Signal::KILL;
        let _for_the_next_test = rustix::process::pidfd_send_signal(process, kill);
        panic!("it goes on: {ready:?}");
    }
}

/// The end of a child, within the same time.
pub(crate) fn end_of(child: &mut std::process::Child) -> std::process::ExitStatus {
    let pid = i32::try_from(child.id())
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    let flags = rustix::process::PidfdFlags::empty();
    let held = rustix::process::pidfd_open(pid.expect("a pid"), flags);
    ended(&held.expect("it is not reaped"));
    child.wait().expect("its end")
}

/// The workers of this home that are there, each held by its pidfd as long as it lives.
pub(crate) fn workers(sandbox: &Sandbox) -> Vec<(u32, Option<std::os::fd::OwnedFd>)> {
    let home = sandbox.home();
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_string_lossy().parse::<i32>().ok());
    pids.filter(|pid| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let is_worker = words.split(|byte| *byte == 0).any(|word| word == b"worker");
        let open = std::fs::read_dir(format!("/proc/{pid}/fd"));
        let mut open = open.into_iter().flatten().flatten();
        is_worker
            && open
                .any(|fd| std::fs::read_link(fd.path()).is_ok_and(|path| path.starts_with(&home)))
    })
    .filter_map(|pid| {
        let held = rustix::process::Pid::from_raw(pid)?;
        let fd = rustix::process::pidfd_open(held, rustix::process::PidfdFlags::empty());
        Some((pid.unsigned_abs(), fd.ok()))
    })
    .collect()
}
