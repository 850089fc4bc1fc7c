//! Field cases of several schedulers: of one home, one runs a job and delivers its result; of several
//! homes, each runs its own.

#![expect(
    clippy::disallowed_methods,
    reason = "passes run beside each other, and are looked at while they stand still"
)]

use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;
use serde_json::json;

use super::cron_cases::{heard, ledger, rows};
use super::cron_workers::stands_still;
use super::serve_cases::{RAN, counted, row, runs};
use crate::common::Sandbox;
use crate::common::jobs::{NOW, job, script, store, with};
use crate::common::serving::{self, Serving, send};

/// A slot that has just come.
const DUE: &str = "2026-06-17T09:59:50+00:00";

/// A pass by hand.
fn tick(sandbox: &Sandbox, now: &str, fault: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_hermes"))
        .env_clear()
        .env("HOME", sandbox.user_home())
        .env("PATH", "/usr/bin:/bin")
        .env("__HERMES_NOW", now)
        .env("__HERMES_FAULT", fault)
        .args(["cron", "tick"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts")
}

/// A job that is due now, whose result is delivered into a file.
fn delivered() -> Sandbox {
    let sandbox = counted(&[]);
    let file = sandbox.home().join("delivered");
    let deliver = format!("cat >>{}", file.display());
    let own = json!({"deliver_command": ["/bin/sh", "-c", deliver]});
    script(&sandbox, "ok.sh", &format!("{RAN}; echo fine"));
    store(
        &sandbox,
        &[job("a", &json!({"next_run_at": DUE, "x_hermes": own}))],
    );
    sandbox
}

fn ran_once(sandbox: &Sandbox) {
    let text = std::fs::read_to_string(sandbox.home().join("delivered")).unwrap_or_default();
    assert_eq!(text, "fine\n", "one delivery");
    assert_eq!(runs(sandbox), 1);
    assert_eq!(rows(sandbox), [row("a", "completed", DUE)]);
}

#[test]
fn b109_of_many_that_tick_at_once_one_runs_a_job_and_delivers_once() {
    let sandbox = delivered();
    let ticks: Vec<_> = (0..5).map(|_| tick(&sandbox, NOW, "none")).collect();
    let mut serve = Serving::at(&sandbox, NOW);
    for mut tick in ticks {
        tick.wait().expect("its end");
    }
    serve.clock("settle");
    ran_once(&sandbox);
    assert_eq!(serve.stop().code(), Some(0));
}

#[test]
fn b109_a_second_ticker_leaves_alone_what_a_first_one_is_about_to_start() {
    for place in ["dispatcher.claimed", "dispatcher.row", "dispatcher.offered"] {
        let sandbox = delivered();
        let mut first = tick(&sandbox, NOW, &format!("{place}~"));
        while !stands_still(first.id()) {
            assert_eq!(first.try_wait().expect("it can be asked"), None, "{place}");
        }
        // Its guard is in no memory of its own.
        let later = "2026-06-17T10:00:28Z";
        let mut second = tick(&sandbox, later, "none");
        assert!(second.wait().expect("its end").success(), "{place}");
        assert_eq!(runs(&sandbox), 0, "{place}");
        send(first.id(), Signal::CONT);
        assert!(first.wait().expect("its end").success(), "{place}");
        ran_once(&sandbox);
    }
}

/// A home with a job that is due, which delivers in the name of its home's own account.
fn account(home: &Path, id: &str) {
    let own = json!({"deliver_command": ["/bin/sh", "-c",
        "echo \"$(cat) as $ACCOUNT\" >>\"$HERMES_HOME/delivered\"; echo ran >\"$HERMES_HOME/told\""]});
    let due = json!({"next_run_at": DUE, "x_hermes": own});
    let store = json!({"jobs": [job(id, &due)]}).to_string();
    let write = |file: &str, text: String| {
        let path = home.join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("it is made");
        std::fs::write(path, text).expect("a file");
    };
    write("cron/jobs.json", store);
    write("scripts/ok.sh", "echo \"$HERMES_HOME\"\n".to_owned());
    write(".env", format!("ACCOUNT={id}\n"));
    write("config.yaml", "timezone: UTC\n".to_owned());
}

#[test]
fn b111_each_serve_runs_the_jobs_of_its_own_home_and_delivers_as_that_says() {
    let sandbox = with(&[]);
    let (root, ops) = (sandbox.home(), sandbox.home().join("profiles/ops"));
    for (home, id) in [(&root, "a"), (&ops, "b")] {
        account(home, id);
    }
    for pipe in ["told", "profiles/ops/told"] {
        sandbox.fifo(pipe);
    }
    let serve = Serving::at(&sandbox, NOW);
    let of_ops = ops.display().to_string();
    let mut command = serving::command(&sandbox, NOW, &["--home", &of_ops]);
    let mut other = command
        .env_remove("__HERMES_CLOCK")
        .spawn()
        .expect("it starts");
    for pipe in ["told", "profiles/ops/told"] {
        heard(&sandbox, pipe);
    }
    assert_eq!(serve.stop().code(), Some(0));
    send(other.id(), Signal::TERM);
    assert_eq!(other.wait().expect("its end").code(), Some(0));
    for (home, id) in [(&root, "a"), (&ops, "b")] {
        let delivered = std::fs::read_to_string(home.join("delivered")).expect("a delivery");
        assert_eq!(delivered, format!("{} as {id}\n", home.display()));
        let sql = "SELECT group_concat(job_id) FROM executions";
        let ran = ledger(home).query_row(sql, [], |row| row.get::<_, String>(0));
        assert_eq!(ran.as_deref(), Ok(id));
    }
}
