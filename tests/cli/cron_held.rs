//! A slot that comes while somebody else's run holds the job: what is on record of it holds at every moment,
//! and is never taken back.

use hermes::host::identity_probe::own_identity;
use hermes::ledger::{Claim, End, Ledger, Outcome, Owner, SlotAt};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::jobs::{hermes, job, script, stored, with};

const ID: &str = "aaaaaaaaaaaa";
const RUN: &str = "11111111111111111111111111111111";
const SLOT: &str = "2026-06-17T10:00:00+00:00";

fn ledger(sandbox: &Sandbox) -> Ledger {
    let path = sandbox.home().join("cron/executions.db");
    Ledger::open(&path, jiff::tz::TimeZone::UTC).expect("a ledger")
}

/// This very process: it lives as long as the test.
fn us() -> Owner {
    Owner {
        process_id: "0".repeat(32),
        ..Owner::from(&own_identity())
    }
}

fn at(text: &str) -> Timestamp {
    text.parse().expect("an instant")
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
    let mut ledger = ledger(sandbox);
    ledger.claim(&claim, &us(), begun).expect("a claim");
    ledger.start(RUN, &us(), begun).expect("a start");
}

fn ends(sandbox: &Sandbox) {
    let end = End {
        ok: true,
        error: None,
        delivery: None,
    };
    let over = at("2026-06-17T10:01:30Z");
    let ended = ledger(sandbox).finish(RUN, &us(), end, over);
    assert!(ended.expect("an end"));
}

/// What one pass says of the job.
fn pass(sandbox: &Sandbox, now: &str) -> Option<Value> {
    let output = hermes(sandbox, &["cron", "tick", "--json"])
        .env("__HERMES_NOW", now)
        .output()
        .expect("it runs");
    let told: Value = serde_json::from_slice(&output.stdout).expect("a document");
    told["runs"].get(0).cloned()
}

/// What is on record of the slot.
fn on_record(sandbox: &Sandbox) -> Option<Outcome> {
    let slots = ledger(sandbox).slots_of(ID, 10).expect("slots");
    let slot = slots.into_iter().find(|slot| slot.scheduled_at == SLOT);
    slot.map(|slot| slot.outcome)
}

fn due(more: &Value) -> Sandbox {
    let mut due = json!({"next_run_at": SLOT});
    let object = due.as_object_mut().expect("an object");
    object.extend(more.as_object().expect("an object").clone());
    let sandbox = with(&[job(ID, &due)]);
    script(&sandbox, "ok.sh", "echo ran >>\"$HERMES_HOME/runs\"");
    sandbox
}

fn runs(sandbox: &Sandbox) -> usize {
    let runs = std::fs::read_to_string(sandbox.home().join("runs")).unwrap_or_default();
    runs.lines().count()
}

#[test]
fn a_slot_that_comes_while_another_schedulers_run_goes_on_is_left_out_for_good() {
    let sandbox = due(&json!({}));
    goes_on(&sandbox, "builtin");
    let told = pass(&sandbox, "2026-06-17T10:00:10Z").expect("a fate");
    assert_eq!(told["outcome"], "skipped", "{told}");
    assert_eq!(on_record(&sandbox), Some(Outcome::Skipped));
    let kept = &stored(&sandbox)[0];
    assert!(kept.get("pending_slot").is_none(), "{kept}");
    ends(&sandbox);
    assert_eq!(pass(&sandbox, "2026-06-17T10:02:10Z"), None);
    assert_eq!(on_record(&sandbox), Some(Outcome::Skipped));
    assert_eq!(runs(&sandbox), 0);
    let told = pass(&sandbox, "2026-06-17T10:30:10Z").expect("the next slot");
    assert_eq!(told["outcome"], "ok", "{told}");
}

#[test]
fn a_slot_waits_for_the_end_of_a_run_by_hand_and_is_not_called_skipped_meanwhile() {
    let run_at = json!({
        "schedule": {"kind": "once", "run_at": SLOT, "display": "once"},
        "repeat": {"times": 1, "completed": 0},
    });
    for more in [json!({}), run_at] {
        let sandbox = due(&more);
        goes_on(&sandbox, "direct");
        for now in ["2026-06-17T10:00:10Z", "2026-06-17T10:01:10Z"] {
            let told = pass(&sandbox, now).expect("a fate");
            assert_eq!(told["outcome"], "waits", "{told}");
            assert_eq!(on_record(&sandbox), None, "{more}");
        }
        ends(&sandbox);
        let told = pass(&sandbox, "2026-06-17T10:01:50Z").expect("a fate");
        assert_eq!(told["outcome"], "ok", "{told}");
        assert_eq!(on_record(&sandbox), Some(Outcome::Run));
        assert_eq!(runs(&sandbox), 1);
    }
}

#[test]
fn a_slot_waits_where_nobody_can_tell_whose_run_holds_the_job() {
    let claim = json!({"at": "2026-06-17T09:59:30+00:00", "by": "elsewhere:7:00ff"});
    let sandbox = due(&json!({"fire_claim": claim}));
    let told = pass(&sandbox, "2026-06-17T10:00:10Z").expect("a fate");
    assert_eq!(told["outcome"], "waits", "{told}");
    let sentence = told["reason"].as_str().expect("a reason");
    assert!(sentence.contains("elsewhere:7"), "{sentence}");
    assert_eq!(on_record(&sandbox), None);
    // Nobody has renewed it for five minutes.
    let told = pass(&sandbox, "2026-06-17T10:05:10Z").expect("a fate");
    assert_eq!(told["outcome"], "ok", "{told}");
    assert_eq!(on_record(&sandbox), Some(Outcome::Run));
}

#[test]
fn a_one_shot_that_was_refused_is_not_told_as_missed_afterwards() {
    let once = json!({
        "schedule": {"kind": "once", "run_at": SLOT, "display": "once"},
        "repeat": {"times": 1, "completed": 0}, "deliver": "telegram:1",
    });
    let sandbox = due(&once);
    let told = pass(&sandbox, "2026-06-17T10:00:10Z").expect("a fate");
    assert_eq!(told["outcome"], "refused", "{told}");
    pass(&sandbox, "2026-06-17T10:03:10Z");
    assert_eq!(stored(&sandbox), [Value::Null; 0]);
    assert_eq!(on_record(&sandbox), Some(Outcome::Refused));
}
