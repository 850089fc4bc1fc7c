//! What is printed as a way out ends a process: the process is the test's own, and it is waited for.

use std::process::{Child, Command, Stdio};

use hermes::clock::{Clock as _, SystemClock};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{GONE, found, healthy, rows, run, words};
use crate::common::Sandbox;

/// The session of the sample home that has an armed loop.
pub(super) const SESSION: &str = "20260101_090000_aaaaaa";

/// A process that does nothing until it is ended.
pub(super) struct Idle(Child);

impl Idle {
    /// One more.
    pub(super) fn new() -> Self {
        let mut command = Command::new("tail");
        command.args(["-f", "/dev/null"]).stdin(Stdio::null());
        Self(command.spawn().expect("tail"))
    }

    /// Its pid.
    pub(super) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// When it started, in ticks since the boot.
    fn ticks(&self) -> u64 {
        let path = format!("/proc/{}/stat", self.pid());
        let text = std::fs::read_to_string(path).expect("a process");
        let (_, rest) = text.rsplit_once(')').expect("a name");
        let start = rest.split_whitespace().nth(19).expect("a start");
        start.parse().expect("a number")
    }

    /// The same, in seconds since the epoch.
    pub(super) fn epoch(&self) -> f64 {
        let now = SystemClock.now();
        let booted = now.wall.as_duration().as_secs_f64() - now.boottime.as_secs_f64();
        let ticks = u32::try_from(self.ticks()).expect("a number");
        booted + f64::from(ticks) / 100.0
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        let _gone_already = self.0.kill();
        let _reaped_already = self.0.wait();
    }
}

/// Does the one way out of the one finding of this code, which ends these processes, and looks again.
fn ends(sandbox: &Sandbox, code: &str, mut ended: Vec<Idle>) {
    let before = found(sandbox, code);
    assert_eq!(before.len(), 1, "{code}: {before:?}");
    let remedy = &before[0]["remedies"][0];
    let (argv, verify) = (words(&remedy["argv"]), words(&remedy["verify"]));
    let pids: Vec<_> = ended.iter().map(|idle| idle.pid().to_string()).collect();
    assert_eq!(argv[0], "kill", "{code}");
    assert_eq!(argv[1..], pids, "{code}");
    assert!(
        !run(sandbox, &verify).status.success(),
        "{code}: {verify:?} before"
    );
    assert!(run(sandbox, &argv).status.success(), "{code}: {argv:?}");
    for idle in &mut ended {
        let status = idle.0.wait().expect("an end");
        assert!(!status.success(), "{code}");
    }
    assert_eq!(found(sandbox, code), Vec::<Value>::new(), "{code}");
    let after = run(sandbox, &verify);
    let said = String::from_utf8_lossy(&after.stdout);
    assert!(after.status.success(), "{code}: {verify:?}: {said}");
}

#[test]
fn a_run_that_hangs_is_ended() {
    let (sandbox, idle) = (healthy(), Idle::new());
    rows::running(&sandbox, (idle.pid(), idle.ticks()), 5 * 3_600);
    ends(&sandbox, "HM604", vec![idle]);
}

#[test]
fn the_second_of_two_that_hold_a_session_is_ended() {
    let sandbox = Sandbox::with_sample_home();
    let both = [Idle::new(), Idle::new()];
    let now = Timestamp::now().as_duration().as_secs_f64();
    let entry = |(number, idle): (usize, &Idle)| {
        json!({"lease_id": format!("{number:032}"), "session_id": SESSION, "surface": "tui",
            "pid": idle.pid(), "process_start_time": idle.epoch(), "started_at": now, "updated_at": now})
    };
    let entries: Vec<_> = both.iter().enumerate().map(entry).collect();
    let registry = json!({"entries": entries}).to_string();
    sandbox.write("runtime/active_sessions.json", registry);
    let [_first, second] = both;
    ends(&sandbox, "HM707", vec![second]);
}

#[test]
fn helpers_that_outlived_their_backend_are_ended() {
    let sandbox = healthy();
    let both = [Idle::new(), Idle::new()];
    let long_ago = Timestamp::now() - SignedDuration::from_secs(86_400);
    let entry = |idle: &Idle| {
        json!({"pid": idle.pid(), "create_time": idle.epoch(), "purpose": "slash worker",
            "spawner_pid": GONE, "spawner_create": long_ago.as_second()})
    };
    let entries: Vec<_> = both.iter().map(entry).collect();
    sandbox.write("spawn-ledger.json", json!(entries).to_string());
    ends(&sandbox, "HM714", both.into());
}
