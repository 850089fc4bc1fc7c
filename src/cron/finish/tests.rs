//! Jobs as a run, good or not, leaves them.

use super::*;

fn job(json: &Value) -> RawJob {
    json.as_object().unwrap().clone()
}

fn now() -> Timestamp {
    "2026-06-17T10:00:00Z".parse().unwrap()
}

fn run(ok: bool) -> Run<'static> {
    Run {
        ok,
        error: (!ok).then_some("Script exited with code 3"),
        delivery_error: None,
        with_agent: false,
        manual: false,
        claim: Some("host:1:aa"),
        monitor_digest: None,
        settles: Settles::Naive(now()),
    }
}

fn recurring() -> RawJob {
    job(&json!({
        "id": "a", "enabled": true, "state": "scheduled",
        "schedule": {"kind": "interval", "minutes": 30, "display": "every 30m"},
        "repeat": {"times": null, "completed": 4},
        "next_run_at": "2026-06-17T10:30:00+00:00",
        "fire_claim": {"at": "x", "by": "host:1:aa"}, "pending_slot": {"x": 1}, "future": [1]
    }))
}

#[test]
fn b73_a_good_run_keeps_the_slot_that_was_planned() {
    let mut job = recurring();
    mark(&mut job, &run(true), now(), &TimeZone::UTC);
    assert_eq!(job["next_run_at"], "2026-06-17T10:30:00+00:00");
    assert_eq!(
        (&job["last_status"], &job["repeat"]["completed"]),
        (&json!("ok"), &json!(5))
    );
    assert_eq!(job["fire_claim"], Value::Null);
    assert!(!job.contains_key("pending_slot") && job.contains_key("future"));
}

#[test]
fn a_slot_that_was_set_aside_is_that_of_the_run_it_was_set_aside_for() {
    let mut job = recurring();
    ask_for(
        &mut job,
        "2026-06-17T10:00:00+00:00",
        "2026-06-17T10:30:00+00:00",
    );
    assert_eq!(set_aside(&job), Some("2026-06-17T10:30:00+00:00"));
    // Hermes Agent was asked for another one since.
    for key in ["manual_run_at", "next_run_at"] {
        job.insert(key.into(), json!("2026-06-18T08:00:00+00:00"));
    }
    assert_eq!(set_aside(&job), None);
}

#[test]
fn b143_the_last_success_survives_a_failure_and_a_delivery_error() {
    let mut job = recurring();
    mark(&mut job, &run(true), now(), &TimeZone::UTC);
    let later = now() + jiff::SignedDuration::from_hours(1);
    mark(&mut job, &run(false), later, &TimeZone::UTC);
    let undelivered = Run {
        delivery_error: Some("no mailer"),
        ..run(true)
    };
    assert_eq!(
        job["x_hermes"]["last_success_at"],
        "2026-06-17T10:00:00+00:00"
    );
    assert_eq!(job["last_failure"]["detail"], "Script exited with code 3");
    mark(&mut job, &undelivered, later, &TimeZone::UTC);
    assert_eq!(job["last_status"], "delivery_failed");
    assert_eq!(
        job["last_failure"]["detail"], "Script exited with code 3",
        "it is sticky"
    );
}

#[test]
fn a_slot_that_passed_during_the_run_is_still_to_be_run() {
    let mut job = recurring();
    let by_hand = Run {
        manual: true,
        settles: Settles::Nothing,
        ..run(true)
    };
    let of_nine = Run {
        settles: Settles::Slot("2026-06-17T09:00:00Z".parse().unwrap()),
        ..run(true)
    };
    for run in [&by_hand, &of_nine] {
        job.insert("next_run_at".into(), json!("2026-06-17T09:30:00+00:00"));
        mark(&mut job, run, now(), &TimeZone::UTC);
        assert_eq!(job["next_run_at"], "2026-06-17T09:30:00+00:00");
    }
    job.insert("next_run_at".into(), json!("2026-06-17T09:59:00+00:00"));
    job.insert("manual_run_at".into(), json!("2026-06-17T09:59:00+00:00"));
    mark(&mut job, &by_hand, now(), &TimeZone::UTC);
    assert!(
        job["next_run_at"].as_str() > Some("2026-06-17T10:00:00"),
        "a run that somebody asked for is no slot"
    );
}

#[test]
fn a_one_shot_ends_with_its_one_run_however_that_went() {
    for ok in [true, false] {
        let mut job = recurring();
        job.insert(
            "schedule".into(),
            json!({"kind": "once", "run_at": "2026-06-17T09:59:00+00:00"}),
        );
        job.insert("repeat".into(), json!({"times": 1, "completed": 0}));
        let by_hand = Run {
            manual: true,
            ..run(ok)
        };
        mark(&mut job, &by_hand, now(), &TimeZone::UTC);
        assert_eq!(job["enabled"], true, "a run by hand is not its one run");
        count_once(&mut job);
        mark(&mut job, &run(ok), now(), &TimeZone::UTC);
        assert_eq!(job["repeat"]["completed"], 1);
        assert_eq!(
            (&job["enabled"], &job["state"], &job["next_run_at"]),
            (&json!(false), &json!("completed"), &Value::Null)
        );
    }
}

#[test]
fn b61_a_recurring_job_never_ends_itself() {
    let mut job = recurring();
    job.insert(
        "schedule".into(),
        json!({"kind": "cron", "expr": "no such thing"}),
    );
    job.insert("next_run_at".into(), Value::Null);
    mark(&mut job, &run(true), now(), &TimeZone::UTC);
    assert_eq!(
        (&job["enabled"], &job["state"]),
        (&json!(true), &json!("error"))
    );
}

#[test]
fn runs_that_are_used_up_end_the_job() {
    let mut job = recurring();
    job.insert("repeat".into(), json!({"times": 5, "completed": 4}));
    mark(&mut job, &run(true), now(), &TimeZone::UTC);
    assert_eq!(
        (&job["enabled"], &job["state"]),
        (&json!(false), &json!("completed"))
    );
    assert_eq!(job["next_run_at"], Value::Null);
}

#[test]
fn a_run_by_hand_counts_for_nothing_and_leaves_the_slot() {
    let mut job = recurring();
    let manual = Run {
        manual: true,
        ..run(true)
    };
    mark(&mut job, &manual, now(), &TimeZone::UTC);
    assert_eq!(job["repeat"]["completed"], 4);
    assert_eq!(job["next_run_at"], "2026-06-17T10:30:00+00:00");
}

#[test]
fn a_claim_of_somebody_else_stays() {
    let mut job = recurring();
    let stranger = Run {
        claim: Some("host:2:bb"),
        ..run(true)
    };
    mark(&mut job, &stranger, now(), &TimeZone::UTC);
    assert_eq!(job["fire_claim"]["by"], "host:1:aa");
}

#[test]
fn failures_of_the_agent_are_counted_and_a_success_clears_them() {
    let mut job = recurring();
    let failed = Run {
        with_agent: true,
        ..run(false)
    };
    mark(&mut job, &failed, now(), &TimeZone::UTC);
    mark(&mut job, &failed, now(), &TimeZone::UTC);
    assert_eq!(job["failure_streak"], 2);
    let good = Run {
        with_agent: true,
        ..run(true)
    };
    mark(&mut job, &good, now(), &TimeZone::UTC);
    assert_eq!(job["failure_streak"], 0);
}

#[test]
fn a_run_that_was_asked_for_and_refused_is_not_asked_for_again() {
    let mut job = recurring();
    for key in ["next_run_at", "manual_run_at"] {
        job.insert(key.into(), json!("2026-06-17T09:59:00+00:00"));
    }
    let by = ("host:1:aa", Settles::Nothing);
    decline(&mut job, by, now(), &TimeZone::UTC);
    assert!(job["next_run_at"].as_str() > Some("2026-06-17T10:00:00"));
    assert!(job.contains_key("pending_slot"), "that is another slot's");
    // A slot that was refused was taken off the schedule when it was found.
    let mut job = recurring();
    job.insert("next_run_at".into(), json!("2026-06-17T09:59:00+00:00"));
    decline(
        &mut job,
        ("host:1:aa", Settles::Naive(now())),
        now(),
        &TimeZone::UTC,
    );
    assert_eq!(job["next_run_at"], "2026-06-17T09:59:00+00:00");
    assert!(!job.contains_key("pending_slot"));
}

#[test]
fn a_run_that_could_not_be_recorded_is_still_asked_for() {
    let mut asked = recurring();
    let at = "2026-06-17T09:59:00+00:00";
    asked.insert("next_run_at".into(), json!(at));
    asked.insert("manual_run_at".into(), json!(at));
    let mut of_another = asked.clone();
    assert!(put_back(&mut asked, "host:1:aa"));
    assert_eq!(asked["fire_claim"], Value::Null);
    assert!(Job::read(&asked).is_manual() && asked["next_run_at"] == at);
    assert!(!put_back(&mut of_another, "host:1:bb"));
    assert_eq!(of_another["fire_claim"]["by"], "host:1:aa");
}
