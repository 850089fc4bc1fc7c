//! Jobs that are made and changed, as they stand in the store afterwards.

use serde_json::json;

use super::*;

fn now() -> Timestamp {
    "2026-06-17T10:00:00Z".parse().unwrap()
}

fn zones() -> Zones {
    Zones::of(jiff::tz::TimeZone::fixed(jiff::tz::offset(2)))
}

fn read(text: &str) -> Reading {
    Schedule::parse(text, now(), &zones().configured).unwrap()
}

fn new(wishes: &Wishes) -> RawJob {
    make(wishes, "a1b2c3d4e5f6", None, (now(), &zones())).unwrap()
}

#[test]
fn a_new_job_has_all_keys_in_the_order_of_the_other_program() {
    let wishes = Wishes {
        schedule: Some(read("0 9 * * 1-5")),
        prompt: Some("Summarise the inbox".to_owned()),
        ..Wishes::default()
    };
    let job = new(&wishes);
    let sample = include_str!("../../../tests/data/sample-home/cron/jobs.json");
    let sample: Value = serde_json::from_str(sample).unwrap();
    let digest = sample["jobs"][1].as_object().unwrap();
    assert_eq!(
        job.keys().collect::<Vec<_>>(),
        digest.keys().collect::<Vec<_>>()
    );
    let same = |key: &str| job[key].is_null() == digest[key].is_null() && !key.contains("_at");
    assert!(same("workdir") && same("repeat"));
    assert_eq!(job["name"], "Summarise the inbox");
    assert_eq!(job["next_run_at"], "2026-06-18T09:00:00+02:00");
    assert_eq!(job["created_at"], "2026-06-17T12:00:00+02:00");
    assert_eq!(
        job["schedule"],
        json!({"kind": "cron", "expr": "0 9 * * 1-5", "display": "0 9 * * 1-5"})
    );
}

#[test]
fn a_one_shot_runs_once_and_a_paused_job_has_no_slot() {
    let once = new(&Wishes {
        schedule: Some(read("in 2h")),
        script: Some("a.sh".to_owned()),
        no_agent: Some(true),
        ..Wishes::default()
    });
    assert_eq!(once["repeat"], json!({"times": 1, "completed": 0}));
    assert_eq!(once["next_run_at"], once["schedule"]["run_at"]);
    assert_eq!(once["name"], "a.sh");
    let wishes = Wishes {
        schedule: Some(read("every 30m")),
        prompt: Some("p".to_owned()),
        own: vec![("timeout_seconds", json!(90)), ("env_file", Value::Null)],
        ..Wishes::default()
    };
    let pause = Some(Pause {
        reason: Some("not yet"),
    });
    let paused = make(&wishes, "a", pause, (now(), &zones())).unwrap();
    assert_eq!(paused["next_run_at"], Value::Null);
    assert_eq!(
        (
            &paused["enabled"],
            &paused["state"],
            &paused["paused_reason"]
        ),
        (&json!(false), &json!("paused"), &json!("not yet"))
    );
    assert_eq!(paused["x_hermes"], json!({"timeout_seconds": 90}));
}

#[test]
fn b86_a_moved_one_shot_fires_at_its_new_time() {
    let mut job = new(&Wishes {
        schedule: Some(read("2026-06-17T15:00:00+02:00")),
        prompt: Some("p".to_owned()),
        ..Wishes::default()
    });
    job.insert("future_key".into(), json!([1]));
    let later = Wishes {
        schedule: Some(read("2026-06-18T15:00:00+02:00")),
        ..Wishes::default()
    };
    let keys = edit(&mut job, &later, now(), &zones()).unwrap();
    assert_eq!(job["next_run_at"], "2026-06-18T15:00:00+02:00");
    assert_eq!(keys, ["schedule", "schedule_display", "next_run_at"]);
    assert_eq!(job["future_key"], json!([1]));
}

#[test]
fn b86_a_one_shot_that_has_run_is_armed_again_by_a_new_time() {
    let mut job = new(&Wishes {
        schedule: Some(read("in 1h")),
        prompt: Some("p".to_owned()),
        ..Wishes::default()
    });
    for (key, value) in [
        ("enabled", json!(false)),
        ("state", json!("completed")),
        ("next_run_at", Value::Null),
        ("last_run_at", json!("2026-06-17T11:00:00+02:00")),
        ("repeat", json!({"times": 1, "completed": 1})),
    ] {
        job.insert(key.into(), value);
    }
    let again = Wishes {
        schedule: Some(read("in 3h")),
        ..Wishes::default()
    };
    edit(&mut job, &again, now(), &zones()).unwrap();
    assert_eq!(job["next_run_at"], "2026-06-17T15:00:00+02:00");
    assert_eq!(
        (&job["enabled"], &job["state"]),
        (&json!(true), &json!("scheduled"))
    );
    assert_eq!(job["repeat"], json!({"times": 1, "completed": 0}));
}

#[test]
fn an_edit_of_the_words_leaves_the_slot_and_an_empty_text_takes_away() {
    let mut job = new(&Wishes {
        schedule: Some(read("every 30m")),
        prompt: Some("p".to_owned()),
        workdir: Some("/srv".to_owned()),
        own: vec![("env_file", json!("/etc/x"))],
        ..Wishes::default()
    });
    let slot = job["next_run_at"].clone();
    let words = Wishes {
        prompt: Some("q".to_owned()),
        workdir: Some(String::new()),
        own: vec![("env_file", Value::Null)],
        ..Wishes::default()
    };
    let later = now() + jiff::SignedDuration::from_mins(10);
    assert_eq!(
        edit(&mut job, &words, later, &zones()).unwrap(),
        ["prompt", "workdir", "x_hermes.env_file"]
    );
    assert_eq!(job["next_run_at"], slot);
    assert_eq!(
        (&job["workdir"], &job["x_hermes"]),
        (&Value::Null, &json!({}))
    );
    assert!(
        edit(&mut job, &Wishes::default(), later, &zones())
            .unwrap()
            .is_empty()
    );
}

#[test]
fn an_edited_schedule_forgets_what_was_planned_by_the_old_one_and_keeps_a_pause() {
    let mut job = new(&Wishes {
        schedule: Some(read("every 30m")),
        prompt: Some("p".to_owned()),
        ..Wishes::default()
    });
    job.insert("pending_slot".into(), json!({"scheduled_at": "x"}));
    pause(&mut job, Some("holidays"), now(), &zones()).unwrap();
    assert_eq!(job["paused_reason"], "holidays");
    let hourly = Wishes {
        schedule: Some(read("every 1h")),
        ..Wishes::default()
    };
    edit(&mut job, &hourly, now(), &zones()).unwrap();
    assert!(!job.contains_key("pending_slot"));
    assert_eq!(
        (&job["enabled"], &job["next_run_at"]),
        (&json!(false), &Value::Null)
    );
    resume(&mut job, now(), &zones()).unwrap();
    assert_eq!(job["next_run_at"], "2026-06-17T13:00:00+02:00");
    assert_eq!(
        (&job["paused_at"], &job["paused_reason"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn what_has_ended_or_passed_is_not_resumed() {
    let mut job = new(&Wishes {
        schedule: Some(read("in 1h")),
        prompt: Some("p".to_owned()),
        ..Wishes::default()
    });
    let late = now() + jiff::SignedDuration::from_hours(3);
    let error = resume(&mut job.clone(), late, &zones()).unwrap_err();
    assert_eq!(error.kind(), Kind::Refused);
    assert!(error.hints()[0].contains("a1b2c3d4e5f6"));
    job.insert("state".into(), json!("completed"));
    assert_eq!(
        resume(&mut job.clone(), now(), &zones())
            .unwrap_err()
            .kind(),
        Kind::Refused
    );
    assert_eq!(
        pause(&mut job, None, now(), &zones()).unwrap_err().kind(),
        Kind::Refused
    );
}

#[test]
fn a_one_shot_is_not_kept_with_a_count_that_it_cannot_have() {
    let asked = |schedule: &str, times| Wishes {
        schedule: Some(read(schedule)),
        prompt: Some("p".to_owned()),
        repeat: Some(times),
        ..Wishes::default()
    };
    let made = |wishes: &Wishes| make(wishes, "a1b2c3d4e5f6", None, (now(), &zones()));
    for (schedule, times, fits) in [
        ("in 1h", Some(5), false),
        ("in 1h", None, false),
        ("in 1h", Some(1), true),
        ("every 1h", Some(5), true),
        ("every 1h", None, true),
    ] {
        let kept = made(&asked(schedule, times));
        assert_eq!(kept.is_ok(), fits, "{schedule} {times:?}");
        if let Err(error) = kept {
            assert!(error.hints_in_line().any(|hint| hint.contains("recurs")));
        }
    }
    // An edit is held to what the job is after it.
    let mut hourly = made(&asked("every 1h", Some(5))).unwrap();
    let count = Wishes {
        repeat: Some(Some(3)),
        ..Wishes::default()
    };
    assert!(edit(&mut hourly, &count, now(), &zones()).is_ok());
    let before = hourly.clone();
    assert!(edit(&mut hourly, &asked("in 1h", Some(3)), now(), &zones()).is_err());
    assert_eq!(hourly, before);
    let later = Wishes {
        repeat: None,
        ..asked("in 1h", None)
    };
    edit(&mut hourly, &later, now(), &zones()).unwrap();
    assert_eq!(hourly["repeat"]["times"], 1);
    assert!(edit(&mut hourly, &count, now(), &zones()).is_err());
}

#[test]
fn counts_and_lengths_are_read_as_people_write_them() {
    for (text, times) in [
        ("3", Some(3)),
        ("once", Some(1)),
        ("Forever", None),
        ("0", None),
    ] {
        assert_eq!(repeat(text).unwrap(), times, "{text}");
    }
    assert_eq!(repeat("often").unwrap_err().kind(), Kind::Usage);
    for (text, length) in [
        ("90", 90),
        ("90s", 90),
        ("15m", 900),
        ("1h30m", 5400),
        ("2 days", 172_800),
    ] {
        assert_eq!(seconds(text).unwrap(), length, "{text}");
    }
    for bad in ["", "-1m", "soon", "1e9h", "999999999999999999d"] {
        assert_eq!(seconds(bad).unwrap_err().kind(), Kind::Usage, "{bad}");
    }
}

#[test]
fn the_schedule_starts_after_a_run_that_is_asked_for_at_the_time_of_a_slot() {
    let mut job = new(&Wishes {
        schedule: Some(read("0 9 * * *")),
        prompt: Some("look".to_owned()),
        ..Wishes::default()
    });
    let at = "2026-06-18T07:00:00Z".parse().unwrap();
    resume_with_run(&mut job, at, (now(), &zones())).unwrap();
    assert_eq!(job["next_run_at"], "2026-06-18T09:00:00+02:00");
    assert_eq!(
        crate::cron::finish::set_aside(&job),
        Some("2026-06-19T09:00:00+02:00")
    );
}
