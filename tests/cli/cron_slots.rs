//! What becomes of slots, through real passes: one-shots, slots that a run by hand or a long run must not
//! take along, and what is on record of those that nobody runs.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests look at the ledger themselves"
)]

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::jobs::{document, hermes, job, said, script, store, stored, with};

const ID: &str = "aaaaaaaaaaaa";
const LATER: &str = "2026-06-17T10:03:00Z";

/// A one-shot that is due since half a minute.
fn once(more: &Value) -> Value {
    let run_at = "2026-06-17T09:59:30+00:00";
    let mut once = job(
        ID,
        &json!({
            "schedule": {"kind": "once", "run_at": run_at, "display": "once"},
            "next_run_at": run_at, "repeat": {"times": 1, "completed": 0},
        }),
    );
    let object = once.as_object_mut().expect("an object");
    object.extend(more.as_object().expect("an object").clone());
    once
}

/// One pass at an instant: its document and what it said.
fn pass(sandbox: &Sandbox, now: &str, fault: &str) -> (Value, String) {
    let output = hermes(sandbox, &["cron", "tick", "--json"])
        .env("__HERMES_NOW", now)
        .env("__HERMES_FAULT", fault)
        .output()
        .expect("it runs");
    let told = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    (told, String::from_utf8_lossy(&output.stderr).into_owned())
}

fn ledger(sandbox: &Sandbox) -> Connection {
    Connection::open(sandbox.home().join("cron/executions.db")).expect("the ledger")
}

/// Slots on record: instant, outcome and reason.
fn slots(sandbox: &Sandbox) -> Vec<(String, String, String)> {
    let ledger = ledger(sandbox);
    let sql = "SELECT scheduled_at, outcome, coalesce(reason, '') FROM cron_slots ORDER BY 1";
    let mut statement = ledger.prepare(sql).expect("a statement");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    let rows = rows.expect("rows");
    rows.collect::<rusqlite::Result<_>>().expect("rows")
}

/// Whether a document in the job's output names this outcome.
fn documents(sandbox: &Sandbox) -> String {
    let directory = sandbox.home().join("cron/output").join(ID);
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| std::fs::read_to_string(entry.path()).ok())
        .collect()
}

#[test]
fn a_one_shot_ends_with_its_run_whether_that_was_good_or_not() {
    for (text, status) in [("echo fine", "ok"), ("exit 3", "error")] {
        let sandbox = with(&[once(&json!({}))]);
        script(&sandbox, "ok.sh", text);
        let (told, _) = pass(&sandbox, "2026-06-17T10:00:00Z", "");
        assert_eq!(told["runs"].as_array().map(Vec::len), Some(1), "{told}");
        let kept = &stored(&sandbox)[0];
        assert_eq!(
            (&kept["state"], &kept["enabled"], &kept["next_run_at"]),
            (&json!("completed"), &json!(false), &Value::Null),
            "{status}"
        );
        assert_eq!(kept["repeat"]["completed"], 1);
        assert_eq!(kept["last_status"], status);
        let (told, said_) = pass(&sandbox, LATER, "");
        assert_eq!(told["runs"], json!([]), "{said_}");
        assert_eq!(stored(&sandbox).len(), 1, "its record is kept for a week");
        assert!(!documents(&sandbox).contains("once_missed"));
        let (_, list, _) = document(&sandbox, &["cron", "list", "--all"]);
        assert!(list.to_string().contains("\"completed\""), "{list}");
    }
}

#[test]
fn a_one_shot_whose_dispatcher_or_worker_is_killed_is_neither_lost_nor_run_twice() {
    // Before a worker has it: the next pass runs it.
    for place in ["dispatcher.claimed", "dispatcher.row"] {
        let sandbox = with(&[once(&json!({}))]);
        script(&sandbox, "ok.sh", "echo ran >>\"$HERMES_HOME/runs\"");
        pass(&sandbox, "2026-06-17T10:00:00Z", place);
        assert_eq!(stored(&sandbox)[0]["enabled"], true, "{place}");
        pass(&sandbox, "2026-06-17T10:00:40Z", "");
        let runs = std::fs::read_to_string(sandbox.home().join("runs")).unwrap_or_default();
        assert_eq!(runs, "ran\n", "{place}");
        assert_eq!(stored(&sandbox)[0]["state"], "completed", "{place}");
    }
    // With a worker: it was its one run, whatever became of it.
    for place in ["worker.adopted", "worker.ran"] {
        let sandbox = with(&[once(&json!({}))]);
        script(&sandbox, "ok.sh", "echo ran >>\"$HERMES_HOME/runs\"");
        pass(&sandbox, "2026-06-17T10:00:00Z", place);
        let kept = &stored(&sandbox)[0];
        assert_eq!(kept["state"], "completed", "{place}: {kept}");
        assert_eq!(kept["last_status"], "error", "{place}");
        assert_eq!(pass(&sandbox, LATER, "").0["runs"], json!([]), "{place}");
    }
}

/// A pass that is killed once it has a row for the slot, and the next one, so much later.
fn taken_and_found(due: &Value, config: &str, later: &str) -> (Sandbox, String) {
    let sandbox = with(std::slice::from_ref(due));
    sandbox.write("config.yaml", format!("timezone: UTC\n{config}"));
    script(&sandbox, "ok.sh", "echo ran >>\"$HERMES_HOME/runs\"");
    pass(&sandbox, "2026-06-17T10:00:00Z", "dispatcher.row");
    let (_, told) = pass(&sandbox, later, "");
    (sandbox, told)
}

fn ran(sandbox: &Sandbox) -> String {
    std::fs::read_to_string(sandbox.home().join("runs")).unwrap_or_default()
}

#[test]
fn a_slot_that_was_taken_and_never_begun_is_run_however_late_only_where_a_late_slot_is() {
    let noon = "2026-06-17T12:00:00Z";
    let due = |own: &Value| {
        let slot = "2026-06-17T09:59:50+00:00";
        job(ID, &json!({"next_run_at": slot, "x_hermes": own}))
    };
    let skips = json!({"catch_up": "skip"});
    let limit = json!({"catch_up": {"max_lateness_seconds": 3600}});
    let never = "cron:\n  catch_up_missed: false\n";
    for (own, config, later, why) in [
        (&skips, "", noon, "2h late, and the job catches nothing up"),
        (&limit, "", noon, "too late (2h, its limit is 1h)"),
        (&json!({}), never, noon, "missed slots are not caught up"),
        (&json!({}), "", noon, ""),
        (&skips, "", "2026-06-17T10:10:00Z", ""),
    ] {
        let (sandbox, told) = taken_and_found(&due(own), config, later);
        let found = slots(&sandbox);
        let slot = found.iter().find(|slot| slot.0.contains("09:59:50"));
        let (_, outcome, reason) = slot.expect("its slot");
        if why.is_empty() {
            assert_eq!(outcome, "run", "{own} {told}");
            assert_eq!(ran(&sandbox), "ran\n", "{own} {told}");
        } else {
            assert_eq!(outcome, "skipped", "{own} {told}");
            assert!(
                reason.contains(why) && told.contains(why),
                "{reason}: {told}"
            );
            assert_eq!(ran(&sandbox), "", "{own}");
            let kept = &stored(&sandbox)[0];
            assert_eq!(kept["next_run_at"], "2026-06-17T12:29:50+00:00", "{kept}");
            assert!(kept.get("pending_slot").is_none(), "{kept}");
        }
    }
}

#[test]
fn b74_a_one_shot_that_was_taken_and_never_begun_is_missed_where_nobody_comes_in_time() {
    let (sandbox, told) = taken_and_found(&once(&json!({})), "", LATER);
    assert_eq!(ran(&sandbox), "", "{told}");
    assert_eq!(stored(&sandbox), [Value::Null; 0], "{told}");
    let found = slots(&sandbox);
    let [(_, outcome, why)] = found.as_slice() else {
        panic!("one slot: {found:?}");
    };
    assert_eq!(outcome, "missed");
    assert!(why.contains("it was found 3m 30s late"), "{why}");
    assert!(documents(&sandbox).contains("once_missed"));
    let (_, incidents, _) = document(&sandbox, &["cron", "incidents"]);
    assert!(incidents.to_string().contains("3m 30s late"), "{incidents}");
}

#[test]
fn b74_a_one_shot_that_nobody_ran_is_told_of_in_every_way() {
    let sandbox = with(&[once(&json!({"name": "call home"}))]);
    let (told, said_) = pass(&sandbox, LATER, "");
    assert_eq!(told["runs"], json!([]));
    assert!(
        said_.contains("call home")
            && said_.contains("2026-06-17T09:59:30")
            && said_.contains("3m 30s"),
        "{said_}"
    );
    let found = slots(&sandbox);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (found[0].0.as_str(), found[0].1.as_str()),
        ("2026-06-17T09:59:30+00:00", "missed")
    );
    assert!(found[0].2.contains("3m 30s late"), "{found:?}");
    let (_, incidents, _) = document(&sandbox, &["cron", "incidents"]);
    assert!(incidents.to_string().contains(ID), "{incidents}");
    let kept = documents(&sandbox);
    assert!(
        kept.contains("once_missed")
            && kept.contains("2026-06-17T09:59:30+00:00")
            && kept.contains("3m 30s"),
        "{kept}"
    );
}

#[test]
fn the_document_of_a_one_shot_that_is_gone_is_kept_under_the_lock_of_its_job() {
    let sandbox = with(&[once(&json!({}))]);
    let lock = hermes::cron::fire_lock::path(&sandbox.home().join("cron"), ID);
    let patience = std::time::Duration::from_secs(10);
    let held = hermes::cron::jobs_lock::take(&lock, patience).expect("the lock");
    let (told, said_) = pass(&sandbox, LATER, "");
    assert_eq!(told["runs"], json!([]));
    assert!(
        said_.contains("The document that tells of it was not kept") && said_.contains("held by"),
        "{said_}"
    );
    assert_eq!(documents(&sandbox), "");
    assert_eq!(slots(&sandbox)[0].1, "missed", "it is told of all the same");
    let (_, incidents, _) = document(&sandbox, &["cron", "incidents"]);
    assert!(incidents.to_string().contains(ID), "{incidents}");
    drop(held);
}

#[test]
fn a_run_by_hand_leaves_a_slot_that_is_due() {
    let due = "2026-06-17T09:55:00+00:00";
    let sandbox = with(&[job(ID, &json!({"next_run_at": due}))]);
    assert_eq!(said(&sandbox, &["cron", "run", ID]).0, 0);
    assert_eq!(stored(&sandbox)[0]["next_run_at"], due);
    let (told, _) = pass(&sandbox, "2026-06-17T10:00:00Z", "");
    assert_eq!(told["runs"][0]["outcome"], "ok", "{told}");
    assert_eq!(
        slots(&sandbox),
        [(due.to_owned(), "run".to_owned(), String::new())]
    );
    assert_eq!(
        stored(&sandbox)[0]["next_run_at"],
        "2026-06-17T10:25:00+00:00"
    );
}

#[test]
fn a_slot_that_was_replaced_is_on_record() {
    let stale = json!({
        "schedule": {"kind": "cron", "expr": "30 10 * * *", "display": "30 10 * * *"},
        "next_run_at": "2026-06-17T09:59:00+00:00",
    });
    let sandbox = with(&[job(ID, &stale)]);
    pass(&sandbox, "2026-06-17T10:00:00Z", "");
    let found = slots(&sandbox);
    assert_eq!(
        (found[0].0.as_str(), found[0].1.as_str()),
        ("2026-06-17T09:59:00+00:00", "skipped"),
        "{found:?}"
    );
    assert!(
        found[0].2.contains("its schedule does not have it") && found[0].2.contains("10:30"),
        "{found:?}"
    );
    let (_, shown, _) = said(&sandbox, &["cron", "runs"]);
    assert!(shown.contains("its schedule does not have it"), "{shown}");
    for words in [["cron", "runs", ID], ["cron", "show", ID]] {
        let (_, told, _) = document(&sandbox, &words);
        let told = told.to_string();
        assert!(
            told.contains("slots_not_run") && told.contains("its schedule does not have it"),
            "{told}"
        );
    }
}

#[test]
fn a_store_that_is_restored_repeats_no_slot_though_the_rows_of_its_runs_are_gone() {
    let due = job(ID, &json!({"next_run_at": "2026-06-17T09:59:00+00:00"}));
    for before in [due, once(&json!({}))] {
        let sandbox = with(std::slice::from_ref(&before));
        script(&sandbox, "ok.sh", "echo ran >>\"$HERMES_HOME/runs\"");
        pass(&sandbox, "2026-06-17T10:00:00Z", "");
        ledger(&sandbox)
            .execute("DELETE FROM executions", [])
            .expect("rows go");
        store(&sandbox, &[before]);
        for now in ["2026-06-17T10:01:00Z", LATER] {
            let (told, _) = pass(&sandbox, now, "");
            assert_eq!(told["runs"], json!([]));
        }
        let runs = std::fs::read_to_string(sandbox.home().join("runs")).unwrap_or_default();
        assert_eq!(runs, "ran\n");
        let kept = stored(&sandbox);
        assert_eq!(kept.len(), 1, "it is no missed one-shot");
        assert!(kept[0]["next_run_at"].is_null() || kept[0]["schedule"]["kind"] == "interval");
        let found = slots(&sandbox);
        assert_eq!((found.len(), found[0].1.as_str()), (1, "run"), "{found:?}");
    }
}

#[test]
fn of_a_day_of_minutes_that_nobody_was_there_for_every_slot_is_on_record() {
    let minutes = json!({"kind": "interval", "minutes": 1, "display": "every 1m"});
    let stood = json!({"schedule": minutes, "next_run_at": "2026-06-16T10:00:00+00:00"});
    let sandbox = with(&[job(ID, &stood)]);
    pass(&sandbox, "2026-06-17T10:00:30Z", "none");
    assert_eq!(
        slots(&sandbox).len(),
        501,
        "the one that ran, and as many as fit"
    );
    let (code, told, _) = document(&sandbox, &["cron", "runs"]);
    assert_eq!(code, 0, "{told}");
    let range = &told["homes"][0]["slot_ranges"][0];
    let ends = ["first_at", "last_at"].map(|end| range[end].as_str().expect("an instant"));
    assert_eq!(
        ends,
        ["2026-06-16T18:21:00+00:00", "2026-06-17T10:00:00+00:00"]
    );
    assert_eq!(
        (&range["count"], &range["outcome"]),
        (&json!(940), &json!("missed"))
    );
    for words in [["cron", "runs"].as_slice(), &["cron", "show", ID]] {
        let (_, text, _) = said(&sandbox, words);
        assert!(text.contains("940 in all"), "{text}");
    }
    let (_, text, _) = said(&sandbox, &["cron", "doctor", "--only", "ledger-missing"]);
    assert!(!text.contains("HM607"), "{text}");
}

#[test]
fn a_slot_that_is_skipped_keeps_the_cadence_and_says_that_nothing_runs() {
    let late = "2026-06-17T09:02:00+00:00";
    for (policy, config) in [
        (json!("skip"), ""),
        (json!({"max_lateness_seconds": 900}), ""),
        (json!("once"), "cron:\n  catch_up_missed: false\n"),
    ] {
        let own = json!({"next_run_at": late, "x_hermes": {"catch_up": policy}});
        let sandbox = with(&[job(ID, &own)]);
        sandbox.write("config.yaml", format!("timezone: UTC\n{config}"));
        let words = ["cron", "tick", "--dry-run"];
        let (_, foreseen, _) = document(&sandbox, &words);
        let (told, _) = pass(&sandbox, "2026-06-17T10:00:00Z", "none");
        assert_eq!(told["runs"], json!([]), "{told}");
        let next = &stored(&sandbox)[0]["next_run_at"];
        assert_eq!(next, "2026-06-17T10:02:00+00:00", "{policy} {config}");
        let set = &foreseen["changes"][0]["set"];
        assert_eq!(&set["next_run_at"], next, "{foreseen}");
        let on_record = slots(&sandbox);
        assert_eq!(on_record.len(), 2, "{on_record:?}");
        assert!(on_record[0].2.contains("skipped"), "{on_record:?}");
        assert!(on_record[1].2.contains("no late run"), "{on_record:?}");
        let (_, shown, _) = said(&sandbox, &["cron", "show", ID]);
        assert_eq!(
            shown.contains("catch_up_missed is false"),
            !config.is_empty()
        );
    }
}

#[test]
fn jobs_that_no_id_leads_to_have_their_slots_on_record_and_run_no_other() {
    let due = json!({"next_run_at": "2026-06-17T09:59:00+00:00"});
    let mut numbered = job("x", &due);
    numbered["id"] = json!(7);
    let sandbox = with(&[job(ID, &json!({})), job(ID, &due), numbered]);
    let (told, _) = pass(&sandbox, "2026-06-17T10:00:00Z", "none");
    assert_eq!(told["runs"], json!([]), "the first is not due: {told}");
    let on_record = slots(&sandbox);
    assert_eq!(on_record.len(), 2, "{on_record:?}");
    for (_, outcome, why) in on_record {
        assert_eq!(outcome, "refused");
        assert!(why.contains("same id") || why.contains("no text"), "{why}");
    }
    for job in &stored(&sandbox)[1..] {
        assert_eq!(job["next_run_at"], "2026-06-17T10:29:00+00:00");
    }
}

#[test]
fn slots_that_a_command_takes_off_the_schedule_are_on_record() {
    let stood = "2026-06-17T09:00:00+00:00";
    let paused = json!({
        "next_run_at": stood, "enabled": false, "state": "paused",
        "paused_at": "2026-06-17T08:50:00+00:00",
    });
    let due = json!({"next_run_at": stood});
    for (more, words, why) in [
        (&paused, ["resume", ID].as_slice(), "paused"),
        (&due, &["edit", ID, "--schedule", "every 2h"], "changed"),
        (&due, &["remove", ID, "--yes"], "removed"),
    ] {
        let sandbox = with(&[job(ID, more)]);
        let words: Vec<_> = ["cron"].iter().chain(words).copied().collect();
        let dry: Vec<_> = words.iter().copied().chain(["--dry-run"]).collect();
        assert_eq!(said(&sandbox, &dry).0, 0, "{words:?}");
        let ledger = sandbox.home().join("cron/executions.db");
        assert!(!ledger.exists(), "{words:?}: a dry run records nothing");
        let (_, _, error) = said(&sandbox, &words);
        let on_record = slots(&sandbox);
        let at: Vec<_> = on_record.iter().map(|(at, ..)| &at[11..16]).collect();
        assert_eq!(at, ["09:00", "09:30", "10:00"], "{words:?} {error}");
        let told = |(_, outcome, reason): &(String, String, String)| {
            outcome == "skipped" && reason.contains(why)
        };
        assert!(on_record.iter().all(told), "{on_record:?}");
    }
}
