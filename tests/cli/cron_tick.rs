//! `hermes cron tick --dry-run` through the binary.

use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::jobs::{document, job, stored, with};
use crate::common::tree::{differences, tree};

fn vectors() -> Vec<Value> {
    let path = format!(
        "{}/tests/data/vectors/due-scan-a.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(path).expect("vectors");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    document["vectors"].as_array().expect("a list").clone()
}

/// The document of a dry run over one job at an instant.
fn tick(sandbox: &Sandbox, job: &Value, at: &str, zone: &str) -> Value {
    sandbox.write("cron/jobs.json", json!({"jobs": [job]}).to_string());
    let mut command = sandbox.hermes();
    command
        .env("HERMES_MACHINE_ID", "test-machine")
        .env("HERMES_TIMEZONE", zone);
    let output = command
        .args(["cron", "tick", "--dry-run", "--json", "--at", at])
        .output();
    let output = output.expect("it runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("one document")
}

#[test]
fn the_recorded_scans_come_out_through_the_binary() {
    let sandbox = Sandbox::new();
    for vector in vectors() {
        // The season is not a zone, another zone is acted on, a skipped slot keeps the cadence, and a one-shot
        // that was missed goes: see tests/data/intended_differences.json.
        if ["due-0027", "due-0042", "due-0047", "due-0064"]
            .iter()
            .any(|id| vector["id"] == *id)
        {
            continue;
        }
        let (id, expect) = (&vector["id"], &vector["expect"]);
        let catch_up = vector["catch_up_missed"].as_bool().expect("a boolean");
        sandbox.write(
            "config.yaml",
            format!("cron:\n  catch_up_missed: {catch_up}\n"),
        );
        let at = vector["now"].as_str().expect("now");
        let zone = vector["timezone"].as_str().expect("timezone");
        let found = tick(&sandbox, &vector["job"], at, zone);
        assert_eq!(found["at"], vector["now"], "{id}");
        let orders = found["orders"].as_array().expect("orders");
        assert_eq!(
            orders.len(),
            usize::from(expect["due"] == true),
            "{id}: {found}"
        );
        if let Some(order) = orders.first() {
            assert_eq!(
                order["scheduled_instant"], expect["scheduled_instant"],
                "{id}"
            );
        }
        let change = found["changes"]
            .get(0)
            .cloned()
            .unwrap_or_else(|| json!({"removed": false, "set": {}}));
        assert_eq!(change["removed"], expect["removed"], "{id}");
        if expect["removed"] == false {
            let mut set = change["set"].clone();
            if set.get("id").is_some() {
                let drawn = set["id"].as_str().expect("an id");
                assert!(drawn.len() == 12 && drawn.chars().all(|c| c.is_ascii_hexdigit()));
                set["id"] = json!("<generated 12 hex>");
            }
            let mut expected = expect["changed"].clone();
            // The other program moves the schedule on in a step after its scan, ours in the same.
            let advanced = change["reason"].to_string().contains("advanced");
            if let (true, Some(keys)) = (advanced, expected.as_object_mut()) {
                keys.remove("next_run_at");
                let next = set
                    .as_object_mut()
                    .and_then(|set| set.remove("next_run_at"));
                let next: jiff::Timestamp = next
                    .as_ref()
                    .and_then(Value::as_str)
                    .and_then(|next| next.parse().ok())
                    .expect("a next run");
                assert!(next >= at.parse().expect("an instant"), "{id}");
            }
            assert_eq!(set, expected, "{id}");
        }
    }
}

#[test]
fn a_ledger_without_a_byte_knows_of_no_run() {
    let sandbox = Sandbox::new();
    sandbox.write("cron/executions.db", "");
    let vector = vectors().remove(0);
    let zone = vector["timezone"].as_str().expect("timezone");
    let at = vector["now"].as_str().expect("now");
    let orders = &tick(&sandbox, &vector["job"], at, zone)["orders"];
    assert_eq!(orders.as_array().map(Vec::len), Some(1), "{orders}");
}

#[test]
fn a_dry_run_touches_nothing() {
    let sandbox = Sandbox::with_sample_home();
    let before = tree(&sandbox.home());
    let mut command = sandbox.hermes();
    let output = command
        .args(["cron", "tick", "--dry-run", "--at", "2027-01-01T00:00"])
        .output();
    let output = output.expect("it runs");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.starts_with("At 2027-01-01T00:00:00+01:00 "), "{text}");
    assert!(text.contains("catch_up"), "{text}");
    assert_eq!(differences(&before, &tree(&sandbox.home())), [""; 0]);
}

#[test]
fn b85_a_finished_slot_of_the_ledger_is_no_catch_up() {
    let sandbox = Sandbox::with_sample_home();
    let job = |id: &str| {
        json!({
            "id": id, "enabled": true, "state": "scheduled", "repeat": {"times": null, "completed": 0},
            "schedule": {"kind": "interval", "minutes": 30},
            "next_run_at": "2026-11-29T23:38:50.903790+01:00",
        })
    };
    let at = "2026-11-29T23:41:00+01:00";
    let found = tick(&sandbox, &job("a49f6beb5b17"), at, "Europe/Berlin");
    assert_eq!(found["orders"], json!([]));
    assert_eq!(found["changes"][0]["reason"], "already_run");
    assert_eq!(
        found["changes"][0]["set"],
        json!({"next_run_at": "2026-11-30T00:08:50.903790+01:00"}),
        "in the cadence of the slot that ran"
    );
    let other = tick(&sandbox, &job("b49f6beb5b17"), at, "Europe/Berlin");
    assert_eq!(
        other["orders"][0]["scheduled_instant"],
        "2026-11-29T22:38:50.903790+00:00"
    );
}

/// What a dry run shows is what the pass then does.
#[test]
fn a_dry_run_shows_the_schedules_as_the_pass_leaves_them() {
    let at = "2026-06-17T10:00:30Z";
    let own = |policy: Value| json!({"catch_up": policy});
    let due = |id: &str, next: &str, more: Value| {
        let mut more = more;
        more["next_run_at"] = json!(next);
        job(id, &more)
    };
    let sandbox = with(&[
        due("aaaaaaaaaaaa", "2026-06-17T10:00:00+00:00", json!({})),
        due("bbbbbbbbbbbb", "2026-06-17T06:10:00+00:00", json!({})),
        due(
            "cccccccccccc",
            "2026-06-17T06:10:00+00:00",
            json!({"x_hermes": own(json!("skip"))}),
        ),
        due("dddddddddddd", "2026-06-17T10:20:00+00:00", json!({})),
    ]);
    let run = |more: &[&str]| {
        let mut command = sandbox.hermes();
        command.env("__HERMES_NOW", at).args(["cron", "tick"]);
        let output = command.args(more).output().expect("it runs");
        String::from_utf8(output.stdout).expect("text")
    };
    let foreseen: Value = serde_json::from_str(&run(&["--dry-run", "--json"])).expect("JSON");
    let ids = |list: &Value| -> Vec<String> {
        let list = list.as_array().expect("a list");
        let id = |entry: &Value| entry["job_id"].as_str().expect("an id").to_owned();
        list.iter().map(id).collect()
    };
    assert_eq!(ids(&foreseen["orders"]), ["aaaaaaaaaaaa", "bbbbbbbbbbbb"]);
    assert_eq!(ids(&foreseen["skipped"]), ["cccccccccccc"]);
    let why = foreseen["skipped"][0]["reason"].as_str().expect("why");
    assert!(why.contains("catches nothing up"), "{why}");
    let text = run(&["--dry-run"]);
    assert!(
        text.contains("next_run_at 2026-06-17T10:30:00+00:00"),
        "{text}"
    );
    assert!(text.contains("skip    cccccccccccc"), "{text}");
    let next = |id: &str| {
        let changes = foreseen["changes"].as_array().expect("changes");
        let change = changes.iter().find(|change| change["job_id"] == id);
        change.map(|change| change["set"]["next_run_at"].clone())
    };
    assert_eq!(next("dddddddddddd"), None, "it is not due");
    let done: Value = serde_json::from_str(&run(&["--json"])).expect("JSON");
    assert_eq!(ids(&done["runs"]).len(), 2, "{done}");
    for job in stored(&sandbox) {
        let id = job["id"].as_str().expect("an id");
        let foreseen = next(id).unwrap_or(json!("2026-06-17T10:20:00+00:00"));
        assert_eq!(job["next_run_at"], foreseen, "{id}");
    }
}

#[test]
fn a_run_that_the_other_program_asks_for_happens_once_and_takes_no_slot() {
    let asked = |more: Value| {
        let mut more = more;
        for key in ["next_run_at", "manual_run_at"] {
            more[key] = json!("2026-06-17T09:59:10+00:00");
        }
        with(&[job("aaaaaaaaaaaa", &more)])
    };
    let pass = |sandbox: &Sandbox| {
        let (_, pass, _) = document(sandbox, &["cron", "tick"]);
        pass["runs"].clone()
    };
    for (more, outcome) in [
        (json!({}), "ok"),
        (json!({"deliver": "telegram:1"}), "refused"),
        (json!({"script": "gone.sh"}), "failed"),
    ] {
        let sandbox = asked(more);
        let runs = pass(&sandbox);
        assert_eq!(runs[0]["outcome"], outcome, "{runs}");
        let kept = &stored(&sandbox)[0];
        assert_eq!(
            kept["next_run_at"], "2026-06-17T10:29:10+00:00",
            "{outcome}"
        );
        assert_eq!(kept["repeat"]["completed"], 0, "{outcome}");
        assert_eq!(
            pass(&sandbox),
            json!([]),
            "{outcome}: it was asked for once"
        );
    }
}
