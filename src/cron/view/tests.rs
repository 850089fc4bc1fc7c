//! Where jobs stand.

use jiff::tz::TimeZone;
use serde_json::json;

use super::*;

fn seen(job: &Value) -> View {
    let now: Timestamp = "2026-06-17T10:00:00Z".parse().unwrap();
    let object = job.as_object().unwrap();
    view(&Job::read(object), now, &Zones::of(TimeZone::UTC))
}

fn armed(next: &Value) -> Value {
    json!({
        "id": "a", "name": "n", "enabled": true, "state": "scheduled", "no_agent": true,
        "script": "x.sh", "schedule": {"kind": "interval", "minutes": 60, "display": "every 60m"},
        "next_run_at": next,
    })
}

#[test]
fn b35_a_slot_seven_hours_past_is_overdue_by_seven_hours() {
    let late = seen(&armed(&json!("2026-06-17T03:00:00+00:00")));
    assert_eq!(
        (late.state, late.overdue_seconds),
        (Standing::Overdue, Some(25_200))
    );
    let soon = seen(&armed(&json!("2026-06-17T10:05:00+00:00")));
    assert_eq!((soon.state, soon.overdue_seconds), (Standing::Active, None));
    let now = seen(&armed(&json!("2026-06-17T09:59:00+00:00")));
    assert_eq!(now.state, Standing::Active, "the next tick takes it");
}

#[test]
fn a_job_whose_id_will_not_do_never_fires_and_says_why() {
    let with = |id: Value| {
        let mut job = armed(&json!("2026-06-17T11:00:00+00:00"));
        job["id"] = id;
        seen(&job)
    };
    for (id, why) in [(json!(7), "no text"), (json!("../x"), "no single name")] {
        let view = with(id);
        assert_eq!(view.state, Standing::Never);
        assert!(view.because.unwrap().contains(why));
    }
    assert_eq!(with(json!("")).state, Standing::Active, "it gets an id");
    let second = with(json!("a")).behind_another();
    assert_eq!(second.state, Standing::Never);
}

#[test]
fn b60_a_next_run_that_is_none_or_no_time_never_fires() {
    for next in [json!(null), json!("soon"), json!(5)] {
        let view = seen(&armed(&next));
        assert_eq!(view.state, Standing::Never, "{next}");
        assert!(view.because.is_some());
    }
    let broken = json!({"id": "a", "enabled": true, "schedule": "hourly", "next_run_at": null});
    assert_eq!(seen(&broken).state, Standing::Never);
}

#[test]
fn b74_a_one_shot_that_was_never_run_is_missed_in_either_shape() {
    for next in [json!(null), json!("2026-06-17T05:00:00+00:00")] {
        let mut job = armed(&next);
        job["schedule"] = json!({"kind": "once", "run_at": "2026-06-17T05:00:00+00:00"});
        assert_eq!(seen(&job).state, Standing::Missed, "{next}");
        job["last_run_at"] = json!("2026-06-17T05:00:01+00:00");
        assert_ne!(seen(&job).state, Standing::Missed);
    }
}

#[test]
fn b61_a_recurring_job_that_ended_itself_is_told() {
    let mut job = armed(&Value::Null);
    job["enabled"] = json!(false);
    job["state"] = json!("completed");
    let view = seen(&job);
    assert_eq!(view.state, Standing::Completed);
    assert!(view.because.unwrap().contains("without a limit"));
    job["repeat"] = json!({"times": 3, "completed": 3});
    assert_eq!(seen(&job).because, None);
}

#[test]
fn a_job_of_the_other_program_is_refused_with_the_reason() {
    let mut job = armed(&json!("2026-06-17T11:00:00+00:00"));
    job["deliver"] = json!("telegram:1");
    let view = seen(&job);
    assert_eq!(view.state, Standing::Refused);
    assert!(view.because.unwrap().contains("telegram:1"));
}

#[test]
fn pauses_and_ends_are_told_apart() {
    let with = |pairs: &[(&str, Value)]| {
        let mut job = armed(&json!("2026-06-17T03:00:00+00:00"));
        for (key, value) in pairs {
            job[*key] = value.clone();
        }
        seen(&job).state
    };
    assert_eq!(with(&[("enabled", json!(false))]), Standing::Disabled);
    assert_eq!(with(&[("paused_at", json!("x"))]), Standing::Paused);
    assert_eq!(with(&[("state", json!("paused"))]), Standing::Paused);
    let once = json!({"kind": "once", "run_at": "2026-06-18T05:00:00+00:00"});
    let failed = [("state", json!("error")), ("schedule", once)];
    assert_eq!(with(&failed), Standing::Error);
}

#[test]
fn b143_the_last_success_is_its_own() {
    let mut job = armed(&json!("2026-06-17T11:00:00+00:00"));
    job["last_status"] = json!("error");
    job["last_run_at"] = json!("2026-06-17T09:00:00+00:00");
    assert_eq!(seen(&job).last_success_at, None);
    job["x_hermes"] = json!({"last_success_at": "2026-06-17T08:00:00+00:00"});
    assert_eq!(
        seen(&job).last_success_at.unwrap(),
        "2026-06-17T08:00:00+00:00"
    );
}

#[test]
fn b72_a_slot_of_another_zone_is_shown_as_the_next_pass_plans_it() {
    let mut job = armed(&json!("2026-06-18T09:00:00+09:00"));
    job["schedule"] = json!({"kind": "cron", "expr": "0 9 * * *"});
    let view = seen(&job);
    let nine = "2026-06-18T09:00:00Z".parse().ok();
    assert_eq!((view.state, view.next), (Standing::Active, nine));
    let why = view.because.clone().unwrap_or_default();
    assert!(
        why.contains("sets it to 2026-06-18T09:00:00+00:00"),
        "{why}"
    );
    let theirs = view.run_by_agent();
    assert_eq!(theirs.next, "2026-06-18T00:00:00Z".parse().ok());
    assert_eq!(theirs.because, None);
    job["enabled"] = json!(false);
    assert_eq!(seen(&job).because, None);
}
