//! What a dry run of a pass says is what the pass does: asked first, and held against it.

use hermes::host::identity_probe::own_identity;
use hermes::ledger::{Claim, Ledger, Owner, SlotAt};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::jobs::{hermes, job, script, store, with};

const ID: &str = "aaaaaaaaaaaa";
const RUN: &str = "11111111111111111111111111111111";
const SLOT: &str = "2026-06-17T10:00:00+00:00";
const NOW: &str = "2026-06-17T10:00:10Z";

fn due(more: &Value) -> Value {
    let mut due = json!({"next_run_at": SLOT});
    let object = due.as_object_mut().expect("an object");
    object.extend(more.as_object().expect("an object").clone());
    job(ID, &due)
}

fn at(text: &str) -> Timestamp {
    text.parse().expect("an instant")
}

/// A pass, or what it would do: its document, and what it says to people.
fn tick(sandbox: &Sandbox, now: &str, words: &[&str]) -> String {
    let words = [&["cron", "tick"], words].concat();
    let mut command = hermes(sandbox, &words);
    let output = command.env("__HERMES_NOW", now).output().expect("it runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn document(sandbox: &Sandbox, now: &str, words: &[&str]) -> Value {
    let text = tick(sandbox, now, &[words, &["--json"]].concat());
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// What becomes of which job, in one order of them.
type Outcomes = Vec<(String, String)>;

fn outcomes(all: &Value, of: impl Fn(&Value) -> String) -> Outcomes {
    let all = all.as_array().expect("an array").iter();
    let mut found: Outcomes = all
        .map(|one| (one["job_id"].as_str().expect("an id").to_owned(), of(one)))
        .collect();
    found.sort();
    found
}

/// What a dry run says becomes of jobs.
fn foretold(told: &Value) -> Outcomes {
    let mut found = outcomes(&told["orders"], |order| {
        let kind = order["kind"].as_str().expect("a kind");
        match kind {
            "on_time" | "late" | "catch_up" | "manual" => "run".to_owned(),
            other => other.to_owned(),
        }
    });
    found.extend(outcomes(&told["skipped"], |_| "skipped".to_owned()));
    found.sort();
    found
}

/// What a pass has made of them.
fn done(told: &Value) -> Outcomes {
    let outcome = |met: &Value| match met["outcome"].as_str() {
        Some("ok" | "failed") => "run".to_owned(),
        other => other.expect("an outcome").to_owned(),
    };
    let mut found = outcomes(&told["runs"], outcome);
    found.extend(outcomes(&told["left_out"], outcome));
    found.sort();
    found
}

/// One pass, asked beforehand what it would do: both say the same. Gives what became of the jobs, and what
/// was said of it beforehand.
fn pass(sandbox: &Sandbox, now: &str) -> (Vec<String>, String) {
    let said = tick(sandbox, now, &["--dry-run"]);
    let told = document(sandbox, now, &["--dry-run"]);
    let did = document(sandbox, now, &[]);
    assert_eq!(foretold(&told), done(&did), "{said}{told}{did}");
    let outcomes = done(&did).into_iter().map(|(_, outcome)| outcome);
    (outcomes.collect(), said)
}

/// A run of the job that goes on in this process, which is no dispatcher that the passes know.
fn goes_on(sandbox: &Sandbox, source: &str) {
    let begun = at("2026-06-17T09:59:00Z");
    let slot = (source == "builtin").then(|| SlotAt::from(at("2026-06-17T09:30:00Z")));
    let claim = Claim {
        id: RUN,
        job_id: ID,
        source,
        slot,
    };
    let owner = Owner {
        process_id: "0".repeat(32),
        ..Owner::from(&own_identity())
    };
    let path = sandbox.home().join("cron/executions.db");
    let mut ledger = Ledger::open(&path, jiff::tz::TimeZone::UTC).expect("a ledger");
    ledger.claim(&claim, &owner, begun).expect("a claim");
    ledger.start(RUN, &owner, begun).expect("a start");
}

/// Changes one row of the ledger.
#[expect(
    clippy::disallowed_methods,
    reason = "no writer of ours leaves a ledger so"
)]
fn change(sandbox: &Sandbox, sql: &str) {
    let path = sandbox.home().join("cron/executions.db");
    let ledger = rusqlite::Connection::open(path).expect("the ledger");
    assert_eq!(ledger.execute(sql, []).expect("it is taken"), 1);
}

/// A pass that is killed at a place.
fn killed(sandbox: &Sandbox, place: &str) {
    let mut command = hermes(sandbox, &["cron", "tick"]);
    let output = command
        .env("__HERMES_NOW", NOW)
        .env("__HERMES_FAULT", place);
    let status = output.output().expect("it runs").status;
    assert!(!status.success(), "killed at {place}");
}

#[test]
fn a_slot_that_comes_while_a_run_goes_on_elsewhere_is_foretold_as_left_out() {
    let sandbox = with(&[due(&json!({}))]);
    goes_on(&sandbox, "builtin");
    let (outcomes, said) = pass(&sandbox, NOW);
    assert_eq!(outcomes, ["skipped"]);
    let line = format!("  skip    {ID}  for 2026-06-17T10:00:00+00:00, on_time: a run of it");
    assert!(said.contains(&line) && said.contains(RUN), "{said}");
}

#[test]
fn a_slot_that_waits_for_a_run_by_hand_or_for_a_claim_is_foretold_to_wait() {
    let by_hand = with(&[due(&json!({}))]);
    goes_on(&by_hand, "direct");
    let claim = json!({"at": "2026-06-17T09:59:30+00:00", "by": "elsewhere:7:00ff"});
    let claimed = with(&[due(&json!({ "fire_claim": claim }))]);
    for sandbox in [by_hand, claimed] {
        let (outcomes, said) = pass(&sandbox, NOW);
        assert_eq!(outcomes, ["waits"], "{said}");
        assert!(said.contains("  wait    aaaaaaaaaaaa  for"), "{said}");
    }
    // Nobody has renewed it for five minutes.
    let stale = json!({"at": "2026-06-17T09:54:30+00:00", "by": "elsewhere:7:00ff"});
    let sandbox = with(&[due(&json!({ "fire_claim": stale }))]);
    assert_eq!(pass(&sandbox, NOW).0, ["run"]);
}

#[test]
fn b87_what_a_killed_pass_left_is_foretold_and_told_as_the_next_one_runs_it() {
    for place in ["scan.saved", "dispatcher.claimed", "dispatcher.row"] {
        let sandbox = with(&[due(&json!({}))]);
        killed(&sandbox, place);
        let (outcomes, said) = pass(&sandbox, "2026-06-17T10:00:40Z");
        assert_eq!(outcomes, ["run"], "{place}: {said}");
        let sandbox = with(&[due(&json!({}))]);
        killed(&sandbox, place);
        let did = tick(&sandbox, "2026-06-17T10:00:40Z", &[]);
        assert!(!did.contains("nothing is due"), "{place}: {did}");
        assert!(did.contains("aaaaaaaaaaaa  ok ("), "{place}: {did}");
    }
    // The slot that came meanwhile gives way to the one that was left.
    let sandbox = with(&[due(&json!({}))]);
    killed(&sandbox, "dispatcher.row");
    let (outcomes, said) = pass(&sandbox, "2026-06-17T10:30:10Z");
    assert_eq!(outcomes, ["run"], "{said}");
    assert!(said.contains("taken before, and never run"), "{said}");
}

#[test]
fn a_slot_that_was_left_and_comes_too_late_is_foretold_to_be_closed_and_passed_by() {
    let sandbox = with(&[due(&json!({"x_hermes": {"catch_up": "skip"}}))]);
    killed(&sandbox, "dispatcher.row");
    let (outcomes, said) = pass(&sandbox, "2026-06-17T10:50:10Z");
    assert_eq!(outcomes, ["skipped"], "{said}");
    let line = "of job aaaaaaaaaaaa: missed, skipped: 50m 10s late";
    assert!(said.contains("  close   ") && said.contains(line), "{said}");
}

#[test]
fn a_run_whose_worker_is_gone_stands_in_no_slots_way_and_is_closed() {
    let sandbox = with(&[due(&json!({}))]);
    killed(&sandbox, "dispatcher.row");
    change(&sandbox, "UPDATE executions SET status = 'running'");
    let (outcomes, said) = pass(&sandbox, "2026-06-17T10:30:10Z");
    assert_eq!(outcomes, ["run"], "the slot that came since: {said}");
    assert!(said.contains("  close   "), "{said}");
    assert!(
        said.contains("of job aaaaaaaaaaaa: whoever had it is gone"),
        "{said}"
    );
}

#[test]
fn a_job_whose_last_run_is_closed_by_the_pass_is_foretold_to_run_no_more() {
    let last = json!({"repeat": {"times": 1, "completed": 0}});
    let sandbox = with(&[due(&last)]);
    killed(&sandbox, "dispatcher.row");
    change(&sandbox, "UPDATE executions SET status = 'running'");
    let (outcomes, said) = pass(&sandbox, "2026-06-17T10:30:10Z");
    assert_eq!(outcomes, [""; 0], "{said}");
    assert!(said.contains("  close   "), "{said}");
}

#[test]
fn a_slot_that_has_an_attempt_already_is_foretold_as_left_out() {
    let sandbox = with(&[due(&json!({}))]);
    script(&sandbox, "ok.sh", "exit 3");
    assert_eq!(pass(&sandbox, NOW).0, ["run"]);
    // A store that is restored shows the slot again, whose attempt was the other program's.
    store(&sandbox, &[due(&json!({}))]);
    change(&sandbox, "DELETE FROM cron_slots");
    let (outcomes, said) = pass(&sandbox, "2026-06-17T10:00:40Z");
    assert_eq!(outcomes, ["skipped"], "{said}");
    assert!(said.contains("has an execution already"), "{said}");
}

#[test]
fn b41_a_job_that_is_refused_is_told_so_and_not_as_nothing_due() {
    let needs = json!({"deliver": "telegram:1"});
    let first = job(ID, &json!({}));
    let strict = "timezone: UTC\ncron: {require_restart_safe_scope: true}\n";
    for (jobs, config) in [
        (vec![due(&needs)], None),
        // The first of its id is the only one that is found by it.
        (vec![first, due(&json!({"name": "second"}))], None),
        (vec![due(&json!({}))], Some(strict)),
    ] {
        let sandboxes = [with(&jobs), with(&jobs)];
        for sandbox in &sandboxes {
            if let Some(config) = config {
                sandbox.write("config.yaml", config);
            }
        }
        let supervised = |sandbox: &Sandbox, words: &[&str]| {
            let mut command = hermes(sandbox, &[&["cron", "tick"], words].concat());
            command.env("__HERMES_NOW", NOW);
            if config.is_some() {
                command.env("INVOCATION_ID", "0".repeat(32));
            }
            let output = command.output().expect("it runs");
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let [asked, other] = &sandboxes;
        let said = supervised(asked, &["--dry-run"]);
        assert!(said.contains("  refuse  aaaaaaaaaaaa  for"), "{said}");
        let parsed = |words: &[&str]| -> Value {
            serde_json::from_str(&supervised(asked, words)).expect("a document")
        };
        let told = parsed(&["--dry-run", "--json"]);
        assert_eq!(told["orders"][0]["kind"], "refused", "{told}");
        assert_eq!(told["orders"][0]["lateness"], "on_time", "{told}");
        assert!(told["orders"][0]["reason"].is_string(), "{told}");
        let did = parsed(&["--json"]);
        assert_eq!(foretold(&told), done(&did), "{told}{did}");
        let did = supervised(other, &[]);
        assert!(!did.contains("nothing is due"), "{did}");
        assert!(did.contains("aaaaaaaaaaaa  refused: "), "{did}");
    }
}

#[test]
fn a_slot_that_its_own_policy_passes_by_is_told_by_the_pass_as_well() {
    let late =
        json!({"next_run_at": "2026-06-17T06:00:00+00:00", "x_hermes": {"catch_up": "skip"}});
    let sandbox = with(&[job(ID, &late)]);
    let (outcomes, said) = pass(&sandbox, NOW);
    assert_eq!(outcomes, ["skipped"], "{said}");
}
