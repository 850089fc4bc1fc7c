//! What the other program answers to the same texts and jobs, and where we differ on purpose.

use std::collections::HashSet;

use jiff::tz::TimeZone;
use serde_json::Value;

use super::due::{NoWitness, Policy, Scene, due};
use super::expr::CronExpr;
use super::lateness;
use super::next::{self, Zones};
use super::schedule::Schedule;
use super::stamp::Stamp;

fn load(name: &str) -> Value {
    let path = format!("{}/tests/data/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&fs_err::read_to_string(path).expect("vectors")).expect("JSON")
}

fn text<'a>(vector: &'a Value, key: &str) -> &'a str {
    vector.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn zone(vector: &Value) -> TimeZone {
    vector["timezone"]
        .as_str()
        .map_or(TimeZone::UTC, |name| TimeZone::get(name).expect("zone"))
}

/// What we make of a vector, in the shape of its `expect`.
fn answer(vector: &Value) -> Value {
    let zones = Zones {
        configured: zone(vector),
        system: TimeZone::UTC,
    };
    let now = Stamp::parse(text(vector, "now")).and_then(|now| now.instant(&zones.system));
    let now = now.expect("now");
    match Schedule::parse(text(vector, "schedule"), now, &zones.configured) {
        Err(error) => serde_json::json!({"error": error.category.as_str()}),
        Ok(reading) => {
            let schedule = &reading.schedule;
            let mut fields = reading.to_json();
            fields.shift_remove("kind");
            let next = next::next_run(schedule, vector["last_run"].as_str(), now, &zones);
            let mut answer = serde_json::json!({
                "kind": schedule.kind(), "fields": fields, "next_run": next,
            });
            if schedule.is_recurring() {
                let grace = lateness::grace(schedule, now, &zones.configured);
                answer["grace_seconds"] = Value::from(grace);
            }
            answer
        }
    }
}

fn expected(vector: &Value) -> Value {
    let expect = &vector["expect"];
    if let Some(error) = expect.get("error") {
        return serde_json::json!({"error": error["category"]});
    }
    let mut expect = expect.clone();
    let quirk = expect
        .as_object_mut()
        .and_then(|expect| expect.shift_remove("grace_quirk"));
    if let Some(quirk) = quirk {
        expect["grace_seconds"] = quirk["wall_clock_gap_would_give"].clone();
    }
    expect
}

/// Where we differ on purpose.
fn differences() -> Vec<Value> {
    let path = format!(
        "{}/tests/data/intended_differences.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let list: Value =
        serde_json::from_str(&fs_err::read_to_string(path).expect("list")).expect("JSON");
    list["differences"].as_array().expect("differences").clone()
}

/// The ids of vectors whose answers differ on purpose, each with its difference and a reason.
fn intended(prefix: &str) -> Vec<String> {
    let mut ids = Vec::new();
    for difference in &differences() {
        assert!(
            text(difference, "reason").len() > 40,
            "{difference} has no reason"
        );
        let vectors = difference["vectors"].as_array().expect("vectors").iter();
        ids.extend(
            vectors
                .filter_map(Value::as_str)
                .filter(|id| id.starts_with(prefix))
                .map(str::to_owned),
        );
    }
    ids
}

/// Holds answers and expectations against each other; `both` gives (id, what it is, ours, theirs).
fn compare(prefix: &str, both: impl Iterator<Item = (String, String, Value, Value)>) {
    let mut intended = intended(prefix);
    let mut wrong = Vec::new();
    for (id, what, ours, theirs) in both {
        let listed = intended.iter().position(|listed| *listed == id);
        match (ours == theirs, listed) {
            (false, None) => wrong.push(format!("{id} {what}\n  ours   {ours}\n  theirs {theirs}")),
            (true, Some(_)) => wrong.push(format!("{id} {what} is listed, but does not differ")),
            _ => {}
        }
        intended.retain(|listed| *listed != id);
    }
    wrong.extend(
        intended
            .iter()
            .map(|id| format!("{id} is listed, but there is no such vector")),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A difference that no vector tells of names the test that shows it.
#[test]
fn every_intended_difference_is_shown() {
    for difference in &differences() {
        let Some((file, test)) = text(difference, "shown_by").split_once("::") else {
            let vectors = difference["vectors"].as_array().expect("vectors");
            assert!(!vectors.is_empty(), "{difference} is shown by nothing");
            continue;
        };
        let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
        let source = fs_err::read_to_string(path).expect("its file");
        assert!(source.contains(&format!("fn {test}(")), "{difference}");
    }
}

#[test]
fn what_no_vector_shows_is_shown_here() {
    assert!(
        CronExpr::parse("R 9 * * *").is_err(),
        "drawn anew each time"
    );
    let fraction = serde_json::json!({"kind": "interval", "minutes": 1.5});
    assert!(Schedule::from_json(&fraction).is_err());
    let scanned = |schedule: Value, repeat: Value| {
        scanned(&serde_json::json!({
            "now": "2026-06-17T10:00:30+00:00", "timezone": "UTC", "catch_up_missed": true,
            "job": {
                "id": "a", "enabled": true, "state": "scheduled", "schedule": schedule,
                "repeat": repeat, "next_run_at": "2026-06-17T10:00:00+00:00",
            },
        }))
    };
    let in_text = serde_json::json!({"kind": "interval", "minutes": "30"});
    assert_eq!(scanned(in_text, Value::Null)["due"], true);
    let once = serde_json::json!({"kind": "once", "run_at": "2026-06-17T10:00:00+00:00"});
    assert_eq!(scanned(once, Value::from("twice"))["due"], true);
}

#[test]
fn every_schedule_vector_is_met_or_differs_on_purpose() {
    let vectors = load("schedule-a.json");
    let vectors = vectors["vectors"].as_array().expect("vectors");
    assert_eq!(vectors.len(), 245);
    compare(
        "sch-",
        vectors.iter().map(|vector| {
            let what = text(vector, "schedule").to_owned();
            (
                text(vector, "id").to_owned(),
                what,
                answer(vector),
                expected(vector),
            )
        }),
    );
}

/// The outcome of a scan in the shape of a vector's `expect`.
fn scanned(vector: &Value) -> Value {
    let zones = Zones {
        configured: zone(vector),
        system: TimeZone::UTC,
    };
    let running = HashSet::new();
    let catch_up_missed = vector["catch_up_missed"]
        .as_bool()
        .expect("catch_up_missed");
    let scene = Scene {
        now: zones.instant(text(vector, "now")).expect("now"),
        last_pass: None,
        zones: &zones,
        policy: Policy {
            catch_up_missed,
            ..Policy::default()
        },
        machine: "test-machine",
        running: &running,
        witness: &NoWitness,
    };
    let job = vector["job"].as_object().expect("job");
    let found = due([(0, job)], &scene, &mut || "<generated 12 hex>".into());
    let mut answer = serde_json::json!({"due": !found.orders.is_empty(), "removed": false});
    if let Some(order) = found.orders.first() {
        answer["scheduled_instant"] = Value::from(order.scheduled_instant());
    }
    answer["catch_up_counter"] = Value::from(found.catch_ups);
    answer["changed"] = serde_json::json!({});
    if let Some(change) = found.changes.first() {
        let mut set = change.set.clone();
        set.extend(change.unset.iter().map(|key| (key.clone(), Value::Null)));
        answer["changed"] = Value::Object(set);
        answer["removed"] = Value::from(change.removed);
        if change.removed {
            let written = change
                .reasons
                .iter()
                .any(|reason| reason.leaves_diagnostic());
            answer["diagnostic_written"] = Value::from(written);
            answer
                .as_object_mut()
                .and_then(|answer| answer.shift_remove("changed"));
        }
    }
    answer
}

#[test]
fn every_due_scan_vector_is_met_or_differs_on_purpose() {
    let vectors = load("due-scan-a.json");
    let vectors = vectors["vectors"].as_array().expect("vectors");
    assert_eq!(vectors.len(), 48);
    compare(
        "due-",
        vectors.iter().map(|vector| {
            let mut expect = vector["expect"].clone();
            // Their rows come in an order of their own, which is not ours to keep.
            expect.sort_all_objects();
            let mut ours = scanned(vector);
            ours.sort_all_objects();
            (
                text(vector, "id").to_owned(),
                text(vector, "group").to_owned(),
                ours,
                expect,
            )
        }),
    );
}

/// What croniter makes of an expression, or what we make of it, in the form of the recorded file.
fn steps(expr: &str, base: &str) -> String {
    let Ok(cron) = CronExpr::parse(expr) else {
        return "bad".to_owned();
    };
    let mut wall = Stamp::parse(base).expect("a base").wall();
    let mut said = Vec::new();
    for _ in 0..3 {
        let Some(next) = cron.next_after(wall) else {
            said.push("none".to_owned());
            break;
        };
        let step = next.duration_since(wall);
        let (seconds, micros) = (step.as_secs(), step.subsec_micros());
        let fraction = if micros == 0 {
            String::new()
        } else {
            format!(".{micros:06}")
        };
        said.push(format!("{seconds}{fraction}"));
        wall = next;
    }
    said.join(" ")
}

/// Regenerated by `tests/oracle/ask_croniter.py`, which says how.
#[test]
fn croniter_agrees_or_we_differ_on_purpose() {
    let path = format!(
        "{}/tests/data/vectors/croniter.tsv",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = fs_err::read_to_string(path).expect("the recorded answers");
    let lines: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.splitn(4, '\t').collect())
        .collect();
    assert!(lines.len() >= 4000);
    compare(
        "orc-",
        lines.iter().map(|line| {
            let [id, base, theirs, expr] = line.as_slice() else {
                panic!("{line:?}")
            };
            let what = format!("{expr:?} from {base}");
            let (ours, theirs) = (Value::from(steps(expr, base)), Value::from(*theirs));
            ((*id).to_owned(), what, ours, theirs)
        }),
    );
}
