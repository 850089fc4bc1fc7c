//! What `list`, `show`, `status` and `runs` say of homes and jobs in which something is amiss.

use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::jobs::{NOW, create, document, hermes, job, said, with};
use crate::common::serving::{self, Serving};

const ID: &str = "aaaaaaaaaaaa";

/// What came of a command at a later instant: its status, stdout and stderr together.
fn at(sandbox: &Sandbox, now: &str, words: &[&str]) -> (Option<i32>, String) {
    let mut command = hermes(sandbox, words);
    let output = command.env("__HERMES_NOW", now).output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout) + &text(&output.stderr),
    )
}

#[test]
fn b40_a_serve_whose_ticks_fail_is_told_by_every_verb_as_by_the_doctor() {
    let sandbox = with(&[job(ID, &json!({}))]);
    serving::configure(&sandbox, "");
    let mut serve = Serving::at(&sandbox, NOW);
    serve.clock("settle");
    let (code, out) = at(&sandbox, NOW, &["cron", "status"]);
    assert!(code == Some(0) && out.contains("jobs fire"), "{out}");
    let lock = sandbox.home().join("cron/.tick.lock");
    std::fs::remove_file(&lock).expect("the lock of the first pass");
    std::fs::create_dir(&lock).expect("what no pass can lock");
    serve.pass(360, 60);
    let later = "2026-06-17T10:06:10Z";
    let words = "ticks have been failing for 6m";
    for verb in ["status", "list"] {
        let (code, out) = at(&sandbox, later, &["cron", verb]);
        assert_eq!(code, Some(1), "{out}");
        assert!(
            out.contains("Nothing will fire") && out.contains(words),
            "{out}"
        );
        assert!(!out.contains("jobs fire"), "{out}");
    }
    let (_, out) = at(&sandbox, later, &["cron", "status", "--json"]);
    assert!(out.contains("\"will_fire\": false"), "{out}");
    let (code, out) = at(&sandbox, later, &create("every 1h", &[]));
    assert!(code == Some(0) && out.contains(words), "{out}");
    let (_, out) = at(&sandbox, later, &["cron", "doctor", "--only", "HM406"]);
    assert!(out.contains("HM406") && out.contains(words), "{out}");
    assert_eq!(serve.stop().code(), Some(0));
}

#[test]
fn b40_a_serve_that_never_ticked_well_is_no_starting_one() {
    let sandbox = with(&[job(ID, &json!({}))]);
    serving::configure(&sandbox, "");
    std::fs::create_dir_all(sandbox.home().join("cron/.tick.lock")).expect("a directory");
    let mut serve = Serving::at(&sandbox, NOW);
    serve.clock("settle");
    let (code, out, err) = said(&sandbox, &["cron", "list"]);
    assert_eq!(code, 1, "{out}");
    assert!(err.contains("no tick has ever ended well"), "{err}");
}

/// The homes of a document.
fn homes(document: &Value) -> Vec<Value> {
    document["homes"].as_array().expect("homes").clone()
}

#[test]
fn of_several_homes_each_that_cannot_be_read_is_told_and_hides_no_other() {
    let sandbox = with(&[job(ID, &json!({"name": "of root"}))]);
    for profile in ["b", "c"] {
        let store = json!({"jobs": [job("bbbbbbbbbbbb", &json!({"name": "twin"}))]});
        sandbox.write(
            &format!("profiles/{profile}/cron/jobs.json"),
            store.to_string(),
        );
        sandbox.write(
            &format!("profiles/{profile}/config.yaml"),
            "timezone: UTC\n",
        );
    }
    sandbox.write("profiles/b/cron/executions.db", [7_u8; 8192]);
    for verb in ["runs", "status", "incidents"] {
        let words = ["cron", verb, "--profile", "all"];
        let (code, told, _) = document(&sandbox, &words);
        let homes = homes(&told);
        assert_eq!((code, homes.len()), (1, 3), "{verb}: {told}");
        let error = homes[1]["error"].to_string();
        assert!(error.contains("executions.db"), "{verb}: {told}");
        let (code, out, err) = said(&sandbox, &words);
        assert!(code == 1 && err.contains("executions.db"), "{verb}: {err}");
        assert!(out.contains("profiles/c"), "{verb}: {out}");
    }
    let (code, out, err) = said(&sandbox, &["cron", "status", "--profile", "b"]);
    assert!(code == 1 && err.contains("executions.db"), "{err}");
    assert!(out.contains("1 would fail"), "the rest is told: {out}");
    // One job of two homes is no one job.
    let show = |name| said(&sandbox, &["cron", "show", name, "--profile", "all"]);
    let (code, _, err) = show("twin");
    assert!(
        code == 1 && err.contains("2 homes have a job 'twin'"),
        "{err}"
    );
    assert!(
        err.contains("--profile b") && err.contains("--profile c"),
        "{err}"
    );
    let (code, told, _) = document(&sandbox, &["cron", "tick", "--dry-run", "--profile", "all"]);
    assert_eq!((code, homes(&told).len()), (1, 3), "{told}");
    sandbox.write("profiles/b/cron/jobs.json", "{");
    let (code, out, err) = show("of root");
    assert!(code == 0 && out.contains(ID), "{err}");
    let (code, _, err) = show("nobody");
    assert!(
        code == 1 && err.contains("profiles/b/cron/jobs.json"),
        "{err}"
    );
}

/// What `list` says of one job: its exit status, and the job.
fn listed(sandbox: &Sandbox) -> (i32, Value) {
    let (code, list, _) = document(sandbox, &["cron", "list", "--all"]);
    (code, list["homes"][0]["jobs"][0].clone())
}

#[test]
fn an_overdue_job_that_a_pass_refuses_or_fails_says_both() {
    let late = "2026-06-17T08:00:00+00:00";
    for (more, state, why) in [
        (json!({"deliver": "telegram:1"}), "refused", "telegram:1"),
        (json!({"script": "gone.sh"}), "would_fail", "gone.sh"),
    ] {
        let mut more = more;
        more["next_run_at"] = json!(late);
        let sandbox = with(&[job(ID, &more)]);
        let (code, seen) = listed(&sandbox);
        assert_eq!((code, &seen["state"]), (1, &json!(state)), "{seen}");
        assert_eq!(seen["overdue_seconds"], 7200, "{seen}");
        assert!(seen["because"].to_string().contains(why), "{seen}");
        let (_, status, _) = document(&sandbox, &["cron", "status"]);
        assert_eq!(status["homes"][0]["counts"][state], 1, "{status}");
        for verb in ["list", "status"] {
            let (_, out, _) = said(&sandbox, &["cron", verb]);
            assert!(out.contains("OVERDUE by 2h") && out.contains(why), "{out}");
        }
    }
}

#[test]
fn where_no_worker_may_be_started_no_job_is_shown_as_active() {
    let sandbox = with(&[job(ID, &json!({}))]);
    let config = "timezone: UTC\ncron:\n  require_restart_safe_scope: true\n";
    sandbox.write("config.yaml", config);
    let run = |words: &[&str]| {
        let mut command = hermes(&sandbox, words);
        command.env("INVOCATION_ID", "x");
        let output = command.output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        serde_json::from_str::<Value>(&text).expect("a document")
    };
    let at = "2026-06-17T10:20:00Z";
    let pass = run(&["cron", "tick", "--dry-run", "--at", at, "--json"]);
    let refused = &pass["orders"][0]["refused"];
    assert!(refused.is_string(), "{pass}");
    let list = run(&["cron", "list", "--json"]);
    let seen = &list["homes"][0]["jobs"][0];
    assert_eq!(
        (&seen["state"], &seen["because"]),
        (&json!("refused"), refused),
        "{list}"
    );
}

#[test]
fn what_a_pass_makes_of_a_job_is_what_the_list_says() {
    let at = "2026-06-17T08:00:00+00:00";
    let dead = json!({"kind": "cron", "expr": "0 0 30 2 *"});
    let once = json!({"kind": "once", "run_at": at});
    let hand = json!({
        "schedule": once, "next_run_at": at, "repeat": {"times": 1, "completed": 0},
        "last_run_at": "2026-06-17T07:00:00+00:00", "last_status": "ok",
    });
    for (more, state, changed) in [
        (
            json!({"next_run_at": null}),
            "active",
            json!(["next_computed"]),
        ),
        (
            json!({"schedule": dead, "state": "error", "next_run_at": at}),
            "never",
            json!([]),
        ),
        (hand, "missed", json!(["once_missed"])),
    ] {
        let sandbox = with(&[job(ID, &more)]);
        let (_, pass, _) = document(&sandbox, &["cron", "tick", "--dry-run"]);
        assert_eq!(pass["orders"], json!([]), "{pass}");
        let changes = pass["changes"].as_array().expect("changes").iter();
        let reasons: Vec<_> = changes.map(|change| change["reason"].clone()).collect();
        assert_eq!(json!(reasons), changed, "{pass}");
        let (_, seen) = listed(&sandbox);
        assert_eq!(seen["state"], state, "{more}: {seen}");
        assert_eq!(seen["overdue_seconds"], json!(null), "{seen}");
        let (_, show, _) = document(&sandbox, &["cron", "show", ID]);
        assert_eq!(show["view"], seen, "'show' says the same");
    }
}
