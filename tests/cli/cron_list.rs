//! `hermes cron list|show|status|runs|incidents`: what they say, how they end, and that they change nothing.

use hermes::ledger::{Claim, End, Ledger, Owner};
use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::jobs::{document, home, job, said, serving, stored, with};
use crate::common::tree::{differences, tree};

const ID: &str = "aaaaaaaaaaaa";

fn at(text: &str) -> jiff::Timestamp {
    text.parse().expect("an instant")
}

/// A ledger with a run that went well and one that failed, twice seen.
pub(super) fn with_runs() -> Sandbox {
    let sandbox = with(&[job(ID, &json!({"name": "nightly"}))]);
    let path = sandbox.home().join("cron/executions.db");
    let mut ledger = Ledger::open(&path, jiff::tz::TimeZone::UTC).expect("a ledger");
    let owner = Owner {
        process_id: "0".repeat(32),
        pid: 4_000_000,
        start_ticks: Some(1),
    };
    for (id, hour, error) in [
        ("1", 7, None),
        ("2", 8, Some("script ok.sh exited with code 3")),
    ] {
        let id = id.repeat(32);
        let claim = Claim {
            id: &id,
            job_id: ID,
            source: "builtin",
            slot: Some(at(&format!("2026-06-17T0{hour}:00:00Z")).into()),
        };
        let begun = at(&format!("2026-06-17T0{hour}:00:01Z"));
        ledger.claim(&claim, &owner, begun).expect("a claim");
        ledger.start(&id, &owner, begun).expect("a start");
        let ended = at(&format!("2026-06-17T0{hour}:01:01Z"));
        let end = End {
            ok: error.is_none(),
            error,
            delivery: None,
        };
        ledger.finish(&id, &owner, end, ended).expect("an end");
        if let Some(error) = error {
            ledger
                .record_failure(ID, error, None, ended)
                .expect("an incident");
        }
    }
    sandbox
}

#[test]
fn b35_overdue_is_shown_with_the_last_tick() {
    let late = json!({"name": "hourly", "next_run_at": "2026-06-17T03:00:00+00:00"});
    let sandbox = with(&[job(ID, &late), job("bbbbbbbbbbbb", &json!({}))]);
    let serve = serving(&sandbox, 25_200);
    let (code, out, err) = said(&sandbox, &["cron", "list"]);
    assert_eq!(code, 1);
    assert!(out.contains("OVERDUE by 7h"), "{out}");
    assert!(out.contains("last tick 7h ago"), "{out}");
    assert!(
        out.contains("in 20m"),
        "a slot to come is shown as before: {out}"
    );
    assert!(err.contains("does not tick"), "{err}");
    let (code, status, _) = document(&sandbox, &["cron", "status"]);
    assert_eq!(
        (code, &status["schema"]),
        (1, &json!("hermes.cron-status/1"))
    );
    let state = &status["homes"][0];
    assert_eq!(
        (&state["will_fire"], &state["counts"]["overdue"]),
        (&json!(false), &json!(1))
    );
    assert_eq!(state["wrong"][0]["overdue_seconds"], 25_200);
    assert_eq!(state["last_tick"], "2026-06-17T03:00:00Z");
    drop(serve);
    // It ticks again: only the overdue job is wrong.
    let _serve = serving(&sandbox, 30);
    let (code, list, _) = document(&sandbox, &["cron", "list"]);
    assert_eq!((code, &list["homes"][0]["will_fire"]), (1, &json!(true)));
}

#[test]
fn b35_a_time_that_is_none_does_not_stop_the_list() {
    let odd = |id: &str, next: Value| job(id, &json!({"next_run_at": next}));
    let sandbox = with(&[
        odd("aaaaaaaaaaaa", json!("soon")),
        odd("bbbbbbbbbbbb", json!(5)),
        json!({"id": "cccccccccccc"}),
        json!({"no": "id", "origin": "not an object"}),
        odd("dddddddddddd", json!("2026-06-17T10:20:00+00:00")),
    ]);
    let _serve = serving(&sandbox, 30);
    let (code, list, _) = document(&sandbox, &["cron", "list", "--all"]);
    assert_eq!(code, 1);
    let jobs = list["homes"][0]["jobs"].as_array().expect("jobs");
    let states: Vec<_> = jobs
        .iter()
        .map(|job| job["state"].as_str().expect("a state"))
        .collect();
    // A pass makes the first two a next run.
    assert_eq!(states, ["active", "active", "never", "never", "active"]);
}

#[test]
fn b74_b75_a_one_shot_that_never_ran_is_missed_in_either_shape() {
    let missed = json!({
        "schedule": {"kind": "once", "run_at": "2026-06-17T05:00:00+00:00", "display": "once"},
        "next_run_at": null, "repeat": {"times": 1, "completed": 0},
    });
    let mut stored_next = missed.clone();
    stored_next["next_run_at"] = json!("2026-06-17T05:00:00+00:00");
    let sandbox = with(&[job(ID, &missed), job("bbbbbbbbbbbb", &stored_next)]);
    let _serve = serving(&sandbox, 30);
    let (code, list, _) = document(&sandbox, &["cron", "list"]);
    let jobs = &list["homes"][0]["jobs"];
    assert_eq!(
        (code, &jobs[0]["state"], &jobs[1]["state"]),
        (1, &json!("missed"), &json!("missed")),
        "one rule for both shapes"
    );
}

#[test]
fn b61_a_recurring_job_that_ended_itself_is_not_hidden() {
    let ended = json!({"enabled": false, "state": "completed", "next_run_at": null});
    let limited = json!({
        "enabled": false, "state": "completed", "next_run_at": null,
        "repeat": {"times": 3, "completed": 3},
    });
    let sandbox = with(&[job(ID, &ended), job("bbbbbbbbbbbb", &limited)]);
    let _serve = serving(&sandbox, 30);
    let (_, out, err) = said(&sandbox, &["cron", "list"]);
    assert!(
        out.contains("it recurs without a limit, and ended all the same"),
        "{out}"
    );
    assert!(
        !out.contains("bbbbbbbbbbbb") && err.contains("1 job that has ended is not shown"),
        "{out}{err}"
    );
    let (_, status, _) = document(&sandbox, &["cron", "status"]);
    assert_eq!(status["homes"][0]["wrong"][0]["id"], ID);
    assert_eq!(
        status["homes"][0]["wrong"].as_array().map(Vec::len),
        Some(1)
    );
}

#[test]
fn a_profile_that_is_not_there_is_told() {
    let sandbox = home();
    for verb in ["list", "status", "runs"] {
        let (code, _, err) = said(&sandbox, &["-p", "ops", "cron", verb]);
        assert!(
            code == 1 && err.contains("no profile 'ops'"),
            "{verb}: {err}"
        );
    }
}

#[test]
fn the_stop_the_dispatch_mode_and_its_reasons_are_shown() {
    let sandbox = with(&[job(ID, &json!({}))]);
    let _serve = serving(&sandbox, 30);
    let (code, list, _) = document(&sandbox, &["cron", "list"]);
    assert_eq!(code, 0, "{list}");
    let dispatch = &list["homes"][0]["dispatch"];
    let modes = ["in_process", "scoped", "degraded"];
    assert!(
        modes.contains(&dispatch["mode"].as_str().expect("a mode")),
        "{dispatch}"
    );
    assert!(!dispatch["reasons"].as_array().expect("reasons").is_empty());
    sandbox.write("ESTOP", r#"{"reason":"rollout"}"#);
    for verb in ["list", "status"] {
        let (code, out, err) = said(&sandbox, &["cron", verb]);
        assert_eq!(code, 1, "{verb}");
        assert!(
            out.contains("rollout") && err.contains("hermes resume"),
            "{verb}: {out}{err}"
        );
    }
}

#[test]
fn without_jobs_a_list_is_well_and_a_status_is_not() {
    let sandbox = home();
    let (code, out, err) = said(&sandbox, &["cron", "list"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("There are no jobs."), "{out}");
    assert_eq!(
        said(&sandbox, &["cron", "status"]).0,
        1,
        "nothing will fire"
    );
    let _serve = serving(&sandbox, 30);
    assert_eq!(said(&sandbox, &["cron", "status"]).0, 0);
}

#[test]
fn reading_verbs_leave_every_byte_and_make_nothing() {
    let sandbox = with_runs();
    let before = tree(sandbox.user_home());
    let whole = "2".repeat(32);
    for words in [
        &["cron", "list"][..],
        &["cron", "list", "--all", "-p", "all"],
        &["cron", "status"],
        &["cron", "show", "nightly"],
        &["cron", "runs"],
        &["cron", "runs", "nightly"],
        &["cron", "incidents"],
        &["cron", "logs", &whole],
        &["cron", "cancel", &whole, "--dry-run"],
    ] {
        for more in [&[][..], &["--json"]] {
            said(&sandbox, &[words, more].concat());
            let after = tree(sandbox.user_home());
            assert_eq!(differences(&before, &after), [""; 0], "{words:?}");
        }
    }
    let empty = Sandbox::new();
    for verb in ["list", "status", "runs", "incidents"] {
        said(&empty, &["cron", verb]);
        assert!(!empty.home().exists(), "{verb}");
    }
}

#[test]
fn runs_are_told_with_how_they_ended() {
    let sandbox = with_runs();
    let (code, runs, _) = document(&sandbox, &["cron", "runs", "nightly"]);
    assert_eq!((code, &runs["schema"]), (0, &json!("hermes.cron-runs/1")));
    let rows = runs["homes"][0]["runs"].as_array().expect("runs");
    let states: Vec<_> = rows
        .iter()
        .map(|row| row["status"].as_str().expect("one"))
        .collect();
    assert_eq!(states, ["failed", "completed"]);
    let (_, out, _) = said(&sandbox, &["cron", "runs", "-n", "1"]);
    assert!(
        out.contains("222222222222") && out.contains("nightly"),
        "{out}"
    );
    assert!(
        out.contains("exited with code 3") && !out.contains("111111111111"),
        "{out}"
    );
    assert_eq!(said(&sandbox, &["cron", "runs", "nightyl"]).0, 1);
}

#[test]
fn runs_that_failed_are_found_behind_newer_good_ones() {
    let sandbox = with_runs();
    let (code, runs, _) = document(&sandbox, &["cron", "runs", "--failed", "-n", "1"]);
    let rows = runs["homes"][0]["runs"].as_array().expect("runs");
    assert_eq!(
        (code, rows.len(), &rows[0]["status"]),
        (0, 1, &json!("failed"))
    );
    let good = with(&[job(ID, &json!({"name": "nightly"}))]);
    let (code, out, _) = said(&good, &["cron", "runs", "--failed"]);
    assert!(
        code == 0 && out.contains("No run that failed is on record"),
        "{out}"
    );
    assert_eq!(
        said(&sandbox, &["cron", "runs", "--failed", "nightyl"]).0,
        1
    );
}

#[test]
fn an_incident_is_closed_by_a_person_and_opened_again_by_its_failure() {
    let sandbox = with_runs();
    let states = || {
        let (_, told, _) = document(&sandbox, &["cron", "incidents", "--state", "all"]);
        let incidents = told["homes"][0]["incidents"].as_array().expect("some");
        let state = |one: &Value| {
            let id = one["id"].as_str().expect("an id").to_owned();
            (id, one["state"].clone(), one["closed_at"].is_string())
        };
        incidents.iter().map(state).collect::<Vec<_>>()
    };
    let (id, _, _) = states()[0].clone();
    let open = vec![(id.clone(), json!("detected"), false)];
    let closed = vec![(id.clone(), json!("closed"), true)];
    let dry = [
        "cron",
        "incidents",
        "close",
        "--job",
        "nightly",
        "--dry-run",
    ];
    let (code, out, _) = said(&sandbox, &dry);
    assert!(
        code == 0 && out.contains(&format!("Would close incident {id}.")),
        "{out}"
    );
    assert_eq!(states(), open);
    let (code, told, _) = document(&sandbox, &["cron", "incidents", "close", &id]);
    assert_eq!((code, &told["incidents"]), (0, &json!([id])));
    assert_eq!(states(), closed);
    let (code, _, err) = said(&sandbox, &["cron", "incidents", "close", &id]);
    assert!(code == 1 && err.contains("is closed already"), "{err}");
    let (code, out, _) = said(&sandbox, &["cron", "incidents", "close", "--job", ID]);
    assert!(code == 0 && out.contains("no open incident"), "{out}");
    assert_eq!(
        said(&sandbox, &["cron", "incidents", "close", "--job", "x"]).0,
        1
    );
    assert_eq!(said(&sandbox, &["cron", "incidents", "close"]).0, 64);
    let path = sandbox.home().join("cron/executions.db");
    let ledger = Ledger::open(&path, jiff::tz::TimeZone::UTC).expect("a ledger");
    let error = "script ok.sh exited with code 3";
    let again = ledger.record_failure(ID, error, None, at("2026-06-17T09:00:00Z"));
    assert_eq!(again.expect("an incident"), id);
    assert_eq!(states(), open);
}

#[test]
fn b143_the_last_success_survives_later_failures() {
    let failed = json!({
        "last_status": "error", "last_run_at": "2026-06-17T09:30:00+00:00",
        "last_error": "auth with sk-abcdefghijklmnopqrstuvwxyz failed",
        "last_failure": {"at": "2026-06-17T09:30:00+00:00", "detail": "x"},
        "x_hermes": {"last_success_at": "2026-06-17T08:00:00+00:00"},
    });
    let sandbox = with(&[job(ID, &failed)]);
    let (_, out, _) = said(&sandbox, &["cron", "show", ID]);
    assert!(out.contains("2026-06-17 08:00:00 +00:00 (2h ago)"), "{out}");
    assert!(out.contains("failed 30m ago"), "{out}");
    assert!(!out.contains("sk-abcdef"), "{out}");
    let (_, out, _) = said(&sandbox, &["cron", "list"]);
    assert!(out.contains("2h ago"), "{out}");
    let (_, status, _) = document(&sandbox, &["cron", "status"]);
    assert_eq!(
        status["homes"][0]["last_success_at"],
        "2026-06-17T08:00:00+00:00"
    );
}

#[test]
fn an_incident_is_listed_and_can_be_marked_as_seen() {
    let sandbox = with_runs();
    let (code, list, _) = document(&sandbox, &["cron", "incidents"]);
    assert_eq!(code, 0);
    let (_, same, _) = document(&sandbox, &["cron", "incidents", "list", "--state", "open"]);
    assert_eq!(same, list, "as Hermes Agent writes it");
    let incident = &list["homes"][0]["incidents"][0];
    let id = incident["id"].as_str().expect("an id").to_owned();
    assert_eq!(
        (&incident["state"], &incident["failure_type"]),
        (&json!("detected"), &json!("script"))
    );
    let before = tree(sandbox.user_home());
    assert_eq!(
        said(&sandbox, &["cron", "incidents", "ack", &id, "--dry-run"]).0,
        0
    );
    assert_eq!(differences(&before, &tree(sandbox.user_home())), [""; 0]);
    assert_eq!(said(&sandbox, &["cron", "incidents", "ack", &id]).0, 0);
    let (_, list, _) = document(&sandbox, &["cron", "incidents"]);
    assert_eq!(
        list["homes"][0]["incidents"][0]["acked_at"],
        "2026-06-17T10:00:00+00:00"
    );
    let (code, _, err) = said(&sandbox, &["cron", "incidents", "ack", "nothing"]);
    assert!(code == 1 && err.contains("no incident 'nothing'"), "{err}");
}

#[test]
fn b141_one_look_over_all_profiles_and_one_broken_store_hides_no_other() {
    let sandbox = with(&[job(ID, &json!({}))]);
    let late = json!({"next_run_at": "2026-06-17T03:00:00+00:00"});
    let store = json!({"jobs": [job("bbbbbbbbbbbb", &late)]});
    sandbox.write("profiles/ops/cron/jobs.json", store.to_string());
    sandbox.write("profiles/ops/scripts/ok.sh", "true\n");
    sandbox.write("profiles/web/cron/jobs.json", "{\"jobs\": [");
    let (code, list, _) = document(&sandbox, &["-p", "all", "cron", "list"]);
    assert_eq!(code, 1);
    let homes = list["homes"].as_array().expect("homes");
    let profiles: Vec<_> = homes
        .iter()
        .map(|home| home["profile"].as_str().expect("one"))
        .collect();
    assert_eq!(profiles, ["default", "ops", "web"]);
    assert_eq!(homes[1]["jobs"][0]["state"], "overdue");
    assert!(
        homes[2]["error"]["message"]
            .as_str()
            .is_some_and(|text| text.contains("line 1"))
    );
    assert_eq!(
        document(&sandbox, &["-p", "all", "cron", "show", "bbbbbbbbbbbb"]).1["profile"],
        "ops"
    );
    assert_eq!(stored(&sandbox).len(), 1);
}

#[test]
fn what_stands_in_a_store_cannot_act_on_the_terminal() {
    let sandbox = with(&[job(ID, &json!({"name": "a\u{1b}[31mb\nc"}))]);
    for words in [
        &["cron", "list"][..],
        &["cron", "show", ID],
        &["cron", "status"],
    ] {
        let (_, out, err) = said(&sandbox, words);
        assert!(
            !out.contains('\u{1b}') && !err.contains('\u{1b}'),
            "{words:?}"
        );
    }
}

#[test]
fn a_job_is_shown_with_its_runs_and_how_they_were_run() {
    let sandbox = with(&[job(ID, &json!({}))]);
    assert_eq!(said(&sandbox, &["cron", "run", ID]).0, 0);
    let (_, out, _) = said(&sandbox, &["cron", "show", ID]);
    let table: Vec<_> = out
        .lines()
        .skip_while(|line| !line.starts_with("RUN "))
        .collect();
    let [head, row, ..] = table.as_slice() else {
        panic!("no runs: {out}");
    };
    assert!(head.contains("MODE") && !head.contains("JOB"), "{head}");
    assert!(row.contains("in_process") && !row.contains(" - "), "{row}");
    let (_, shown, _) = document(&sandbox, &["cron", "show", ID]);
    assert_eq!(shown["next"][0], "2026-06-17T10:20:00+00:00", "{shown}");
    assert_eq!(shown["runs"][0]["facts"]["mode"], "in_process", "{shown}");
}
