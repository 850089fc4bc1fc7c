//! Runs whose worker is gone: each is told of as a failure, counted once, and what it has saved is booked
//! and delivered once.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests look at the ledger themselves"
)]

use hermes::ledger::{Cause, Claim, Ledger, Owner, SlotAt};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::jobs::{
    agent, document, hermes, job, said, script, settled, stored, with, workers,
};

const ID: &str = "aaaaaaaaaaaa";
const SLOT: &str = "2026-06-17T09:59:00+00:00";
const RUN: &str = "0123456789abcdef0123456789abcdef";

/// A home in which one job is due, which five runs end.
fn due(own: &Value) -> Sandbox {
    let repeat = json!({"times": 5, "completed": 0});
    with(&[job(
        ID,
        &json!({"next_run_at": SLOT, "repeat": repeat, "x_hermes": own}),
    )])
}

/// A delivery that adds a line to a file of the home.
fn delivers(sandbox: &Sandbox) -> Value {
    let file = sandbox.home().join("delivered");
    let words = format!("cat >>{0}; echo >>{0}", file.display());
    json!({"deliver_command": ["/bin/sh", "-c", words]})
}

fn delivered(sandbox: &Sandbox) -> String {
    std::fs::read_to_string(sandbox.home().join("delivered")).unwrap_or_default()
}

fn pass(sandbox: &Sandbox, fault: &str) -> String {
    let output = hermes(sandbox, &["cron", "tick"])
        .env("__HERMES_FAULT", fault)
        .output()
        .expect("it runs");
    settled(sandbox);
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Status, error and delivery of the one run.
fn row(sandbox: &Sandbox) -> (String, String, String) {
    let ledger = Connection::open(sandbox.home().join("cron/executions.db")).expect("the ledger");
    let sql = "SELECT status, coalesce(error, ''), coalesce(delivery_outcome, '') FROM executions";
    let row = ledger.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    row.expect("one run")
}

fn incidents(sandbox: &Sandbox) -> Vec<String> {
    let ledger = Connection::open(sandbox.home().join("cron/executions.db")).expect("the ledger");
    let sql = "SELECT error FROM cron_incidents WHERE state = 'detected'";
    let mut statement = ledger.prepare(sql).expect("a statement");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.collect::<rusqlite::Result<_>>().expect("rows")
}

/// A run that was adopted by a worker which is gone, with its dispatcher.
fn left(sandbox: &Sandbox) -> Ledger {
    let path = sandbox.home().join("cron/executions.db");
    let mut ledger = Ledger::open(&path, jiff::tz::TimeZone::UTC).expect("a ledger");
    let owner = Owner {
        process_id: "0".repeat(32),
        pid: 4_000_000,
        start_ticks: Some(1),
    };
    let slot: jiff::Timestamp = SLOT.parse().expect("an instant");
    let claim = Claim {
        id: RUN,
        job_id: ID,
        source: "builtin",
        slot: Some(SlotAt::from(slot)),
    };
    ledger.claim(&claim, &owner, slot).expect("a claim");
    ledger.start(RUN, &owner, slot).expect("a start");
    ledger
}

fn saved(sandbox: &Sandbox, outcome: &str) {
    let text = format!(
        "# job\n\n- job: {ID}\n- execution: {RUN}\n- ended: then after 1s\n- dispatch mode: scoped\n\
         - outcome: {outcome}\n\n---\n\nthe result\n"
    );
    sandbox.write(&format!("cron/output/{ID}/2026-06-17_09-59-30.md"), text);
}

#[test]
fn a_slot_is_counted_once_wherever_its_worker_dies() {
    for (place, status) in [
        ("worker.adopted", "error"),
        ("worker.acknowledged", "error"),
        ("worker.ran", "error"),
        ("worker.saved", "ok"),
        ("worker.delivered", "ok"),
        ("worker.marked", "ok"),
    ] {
        let sandbox = due(&json!({}));
        pass(&sandbox, place);
        let job = &stored(&sandbox)[0];
        assert_eq!(job["repeat"]["completed"], 1, "{place}: {job}");
        assert_eq!(job["last_status"], status, "{place}: {job}");
        assert!(job["fire_claim"].is_null(), "{place}: {job}");
        assert!(job.get("pending_slot").is_none(), "{place}: {job}");
    }
}

#[test]
fn b100_an_interrupted_run_is_an_incident_and_is_said() {
    let sandbox = due(&json!({}));
    let said = pass(&sandbox, "worker.ran");
    assert_eq!(row(&sandbox).0, "unknown");
    let told = incidents(&sandbox);
    assert!(
        told.len() == 1 && told[0].contains("interrupted"),
        "{told:?}"
    );
    assert!(
        said.contains("was interrupted: its worker was killed by signal 9"),
        "{said}"
    );
    // A good run is its end.
    let (code, told, _) = document(&sandbox, &["cron", "run", ID]);
    assert_eq!(code, 0, "{told}");
    assert_eq!(incidents(&sandbox), [""; 0]);
}

#[test]
fn a_run_that_is_stopped_by_sigterm_counts_once_and_is_an_incident() {
    let sandbox = due(&json!({}));
    script(
        &sandbox,
        "ok.sh",
        "echo >\"$HERMES_HOME/up\"; exec sleep 1000",
    );
    let up = sandbox.fifo("up");
    std::thread::scope(|scope| {
        let tick = scope.spawn(|| pass(&sandbox, "none"));
        std::fs::read(&up).expect("it began");
        for (pid, _) in workers(&sandbox) {
            let pid = i32::try_from(pid)
                .ok()
                .and_then(rustix::process::Pid::from_raw);
            let term = rustix::process::Signal::TERM;
            rustix::process::kill_process(pid.expect("a pid"), term).expect("it lives");
        }
        tick.join().expect("it ends");
    });
    assert_eq!(row(&sandbox).0, "unknown");
    assert_eq!(incidents(&sandbox).len(), 1);
    assert_eq!(stored(&sandbox)[0]["repeat"]["completed"], 1);
}

/// A run that somebody cancelled, and nobody ended.
fn cancelled(sandbox: &Sandbox) {
    let ledger = left(sandbox);
    let at = "2026-06-17T09:59:30Z".parse().expect("an instant");
    let cause = Cause::Other("cancelled".to_owned());
    ledger
        .record_cause(RUN, &cause, "asked", at)
        .expect("a cause");
}

#[test]
fn a_run_that_somebody_cancelled_is_no_incident() {
    let sandbox = due(&json!({}));
    cancelled(&sandbox);
    pass(&sandbox, "none");
    assert_eq!(row(&sandbox).0, "unknown");
    assert_eq!(incidents(&sandbox), [""; 0]);
}

#[test]
fn a_run_that_never_began_is_cancelled_with_its_slot() {
    let sandbox = due(&json!({}));
    pass(&sandbox, "dispatcher.row");
    assert_eq!(row(&sandbox).0, "claimed");
    let (code, out, err) = said(&sandbox, &["cron", "cancel", ID]);
    assert!(code == 0 && out.contains("never began"), "{out}{err}");
    assert_eq!(row(&sandbox).0, "unknown");
    let ledger = Connection::open(sandbox.home().join("cron/executions.db")).expect("the ledger");
    let sql = "SELECT outcome || ': ' || reason FROM cron_slots";
    let slots = || ledger.query_row(sql, [], |row| row.get::<_, String>(0));
    let told = "skipped: a person cancelled it before it began";
    assert_eq!(slots().expect("one slot"), told);
    let job = &stored(&sandbox)[0];
    let told_of = job["last_error"].as_str().expect("an error");
    assert_eq!(told_of, "a person cancelled it before it began");
    // Nobody runs it after all.
    pass(&sandbox, "none");
    assert_eq!(row(&sandbox).0, "unknown");
    assert_eq!(slots().expect("one slot"), told);
    assert_eq!(incidents(&sandbox), [""; 0]);
}

#[test]
fn a_run_on_offer_is_not_told_as_cancelled() {
    let sandbox = due(&json!({}));
    pass(&sandbox, "dispatcher.offered");
    let (code, out, err) = said(&sandbox, &["cron", "cancel", ID]);
    assert!(code == 1 && err.contains("try again in 30s"), "{out}{err}");
    assert_eq!(row(&sandbox).0, "claimed");
}

#[test]
fn what_is_left_on_a_one_shot_that_is_over_asks_for_no_second_run() {
    let found = |state: &str| {
        let claim = json!({"at": "2026-06-17T09:00:00+00:00", "by": "elsewhere:1:aa"});
        let own = json!({"state": state, "fire_claim": claim, "next_run_at": null});
        let sandbox = with(&[job(ID, &own)]);
        said(&sandbox, &["cron", "doctor", "--only", "HM514"]).0
    };
    assert_eq!((found("scheduled"), found("completed")), (1, 0));
}

#[test]
fn a_cancelled_run_that_is_booked_later_is_no_incident() {
    let sandbox = due(&json!({}));
    cancelled(&sandbox);
    saved(&sandbox, "it was asked to stop");
    pass(&sandbox, "none");
    assert_eq!(row(&sandbox).0, "failed");
    assert_eq!(incidents(&sandbox), [""; 0]);
}

#[test]
fn a_delivery_that_had_failed_is_told_wherever_its_worker_died() {
    for (place, why) in [
        ("worker.delivered", "gone before it could say why"),
        ("worker.marked", "no mailer"),
    ] {
        let sandbox = due(&json!({}));
        let own = json!({"deliver_command": ["/bin/sh", "-c", "echo no mailer >&2; exit 4"]});
        let due = job(ID, &json!({"next_run_at": SLOT, "x_hermes": own}));
        crate::common::jobs::store(&sandbox, &[due]);
        pass(&sandbox, place);
        pass(&sandbox, "none");
        let (status, _, delivery) = row(&sandbox);
        assert_eq!(
            (status.as_str(), delivery.as_str()),
            ("completed", "failed")
        );
        let job = &stored(&sandbox)[0];
        assert_eq!(job["last_status"], "delivery_failed", "{place}: {job}");
        let told = job["last_delivery_error"].as_str().expect("an error");
        assert!(told.contains(why), "{place}: {told}");
        let open = incidents(&sandbox);
        assert!(
            open.len() == 1 && open[0].contains(why),
            "{place}: {open:?}"
        );
    }
}

#[test]
fn b114_a_result_that_was_saved_and_not_delivered_is_delivered_once() {
    for (outcome, text) in [
        ("ok", "the result\n"),
        ("exited with code 3", "exited with code 3\n"),
    ] {
        let sandbox = due(&json!({}));
        let own = delivers(&sandbox);
        let sandbox = {
            crate::common::jobs::store(&sandbox, &[job(ID, &json!({"x_hermes": own}))]);
            sandbox
        };
        drop(left(&sandbox));
        saved(&sandbox, outcome);
        let said = pass(&sandbox, "none");
        assert_eq!(delivered(&sandbox), text, "{said}");
        let (status, error, delivery) = row(&sandbox);
        let good = outcome == "ok";
        assert_eq!(status, if good { "completed" } else { "failed" });
        assert!(error.contains("booked later"), "{error}");
        assert_eq!(delivery, "delivered");
        assert_eq!(incidents(&sandbox).len(), usize::from(!good));
        let job = &stored(&sandbox)[0];
        assert_eq!(job["last_status"], if good { "ok" } else { "error" });
        pass(&sandbox, "none");
        assert_eq!(delivered(&sandbox), text, "once");
    }
}

#[test]
fn b114_what_may_be_on_its_way_already_is_not_sent_again() {
    for place in ["worker.delivering", "dispatcher.booked"] {
        let sandbox = due(&json!({}));
        let own = delivers(&sandbox);
        let due = job(ID, &json!({"next_run_at": SLOT, "x_hermes": own}));
        crate::common::jobs::store(&sandbox, &[due]);
        if place == "dispatcher.booked" {
            drop(left(&sandbox));
            saved(&sandbox, "ok");
        }
        for fault in [place, "none", "none"] {
            pass(&sandbox, fault);
        }
        assert_eq!(delivered(&sandbox), "", "{place}");
        let (status, _, delivery) = row(&sandbox);
        assert_eq!(
            (status.as_str(), delivery.as_str()),
            ("completed", "unknown")
        );
        let (_, told, _) = said(&sandbox, &["cron", "doctor", "--only", "ledger-ends"]);
        assert!(told.contains("done, not delivered"), "{place}: {told}");
    }
}

#[test]
fn a_late_delivery_that_fails_is_told_in_the_job() {
    let sandbox = due(&json!({}));
    let own = json!({"deliver_command": ["/bin/sh", "-c", "echo no mailer >&2; exit 4"]});
    crate::common::jobs::store(&sandbox, &[job(ID, &json!({"x_hermes": own}))]);
    drop(left(&sandbox));
    saved(&sandbox, "ok");
    pass(&sandbox, "none");
    assert_eq!(row(&sandbox).2, "failed");
    let job = &stored(&sandbox)[0];
    assert_eq!(job["last_status"], "delivery_failed");
    let why = job["last_delivery_error"].as_str().expect("an error");
    assert!(why.contains("no mailer"), "{why}");
}

#[test]
fn what_a_monitor_has_seen_is_known_where_its_run_was_booked_later() {
    let watch = json!({
        "no_agent": false, "script": null, "prompt": "What is new?", "monitor_script": "watch.sh",
    });
    let sandbox = with(&[job(ID, &watch)]);
    agent(&sandbox, &["echo"], "");
    script(&sandbox, "watch.sh", "echo one");
    let killed = hermes(&sandbox, &["cron", "run", ID])
        .env("__HERMES_FAULT", "worker.delivered")
        .output();
    let killed = killed.expect("it runs");
    let asked = String::from_utf8_lossy(&killed.stdout);
    assert!(asked.contains("What is new?"), "{asked}");
    assert!(row(&sandbox).1.contains("booked later"));
    let (code, asked, err) = said(&sandbox, &["cron", "run", ID]);
    assert_eq!(code, 0, "{err}");
    assert!(!asked.contains("What is new?"), "nothing is: {asked}");
}

#[test]
fn a_run_that_nobody_runs_any_more_is_not_followed_for_ever() {
    let sandbox = due(&json!({}));
    drop(left(&sandbox));
    sandbox.write(&format!("run/executions/{RUN}.log"), "its last words\n");
    let output = hermes(&sandbox, &["cron", "logs", RUN, "-f"])
        .timeout(std::time::Duration::from_secs(60))
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let (out, err) = (output.stdout, String::from_utf8_lossy(&output.stderr));
    assert_eq!(out, b"its last words\n");
    assert!(err.contains("Nobody runs it any more"), "{err}");
    assert_eq!(row(&sandbox).0, "running", "who looks changes nothing");
}

#[test]
fn a_slot_that_nobody_has_begun_ends_with_its_job() {
    for (change, why) in [
        (None, "it was removed before it could start"),
        (
            Some(json!({"enabled": false, "state": "paused", "paused_at": SLOT})),
            "it was paused, or ended, before it could start",
        ),
    ] {
        let sandbox = due(&json!({}));
        pass(&sandbox, "dispatcher.row");
        assert_eq!(row(&sandbox).0, "claimed");
        let jobs: Vec<_> = change.iter().map(|change| job(ID, change)).collect();
        crate::common::jobs::store(&sandbox, &jobs);
        let told = pass(&sandbox, "none");
        assert!(told.contains("is given up: "), "{told}");
        assert_eq!(row(&sandbox).0, "unknown");
        let ledger = Connection::open(sandbox.home().join("cron/executions.db")).expect("ledger");
        let sql = "SELECT outcome || ': ' || reason FROM cron_slots";
        let slot: String = ledger.query_row(sql, [], |row| row.get(0)).expect("a slot");
        assert_eq!(slot, format!("skipped: {why}"));
    }
}

#[test]
fn a_run_whose_owner_cannot_be_told_blocks_its_job_only_as_long_as_it_may_be_heard_of() {
    let ours = i64::from(std::process::id());
    let closed = |pid: i64, heard: &str| {
        let sandbox = due(&json!({}));
        script(&sandbox, "ok.sh", "echo ran >>\"$HERMES_HOME/ran\"");
        let ledger = left(&sandbox);
        drop(ledger);
        let ledger = Connection::open(sandbox.home().join("cron/executions.db")).expect("it");
        let sql = "UPDATE executions SET pid = ?1, process_started_at = NULL, claimed_at = ?2,
             started_at = ?2, progress_at = ?2, scheduled_instant = '2026-06-17T06:00:00+00:00'";
        ledger.execute(sql, (pid, heard)).expect("a row");
        ledger.execute("DELETE FROM cron_slots", []).expect("none");
        let told = pass(&sandbox, "none");
        let sql = format!("SELECT status, coalesce(error, '') FROM executions WHERE id = '{RUN}'");
        let row = ledger.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)));
        let (status, error): (String, String) = row.expect("its row");
        let ran = sandbox.home().join("ran").exists();
        assert_eq!(ran, status == "unknown", "{pid} {heard}: {told}");
        (status, error)
    };
    // Somebody has that pid now. Whether it is the one that had the run nothing tells.
    let (status, error) = closed(ours, "2026-06-17T07:30:00+00:00");
    assert_eq!(status, "unknown");
    let why = format!("pid {ours} lives, but nothing tells that it is the one that had the run");
    assert!(error.contains(&why) && error.contains("2h 30m"), "{error}");
    let (status, _) = closed(ours, "2026-06-17T08:30:00+00:00");
    assert_eq!(
        status, "running",
        "it may be the one, and was heard of lately"
    );
    for nobody in [0, -1] {
        let (status, error) = closed(nobody, "2026-06-17T09:59:00+00:00");
        assert_eq!(status, "unknown", "{nobody}");
        assert!(error.contains("nothing tells why"), "{error}");
    }
}
