//! Jobs whose ids will not do: an id that leads out of the home's outputs runs nothing and removes nothing.

use serde_json::json;

use crate::common::Sandbox;
use crate::common::jobs::{document, job, said, stored, with};

const DUE: &str = "2026-06-17T09:59:00+00:00";

fn names(sandbox: &Sandbox, folder: &str) -> usize {
    let folder = sandbox.home().join(folder);
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

#[test]
fn an_id_that_leads_elsewhere_is_refused_and_no_file_is_touched() {
    let due = json!({"next_run_at": DUE});
    let outside = tempfile::tempdir().expect("a folder");
    let abs = outside.path().join("abs").to_string_lossy().into_owned();
    let sandbox = with(&[
        job("../../memories", &due),
        job(&abs, &due),
        job("aaaaaaaaaaaa", &due),
        job("a\\b", &due),
    ]);
    for number in 0..60 {
        sandbox.write(&format!("memories/2026-01-01_00-00-{number:02}.md"), "kept");
    }
    let (code, told, _) = document(&sandbox, &["cron", "tick"]);
    assert_eq!(code, 0, "a refusal is no failure of the pass: {told}");
    assert_eq!(names(&sandbox, "memories"), 60, "what is not ours stays");
    assert!(!std::path::Path::new(&abs).exists());
    assert_eq!(
        names(&sandbox, "cron/output/aaaaaaaaaaaa"),
        1,
        "the others run"
    );

    let (_, list, _) = document(&sandbox, &["cron", "list"]);
    let first = &list["homes"][0]["jobs"][0];
    assert_eq!(first["state"], "never", "{list}");
    let why = first["because"].as_str().expect("a reason");
    assert!(why.contains("no single name"), "{why}");
    let (code, status, _) = said(&sandbox, &["cron", "status"]);
    assert!(code == 1 && status.contains("no single name"), "{status}");
    let (_, incidents, _) = document(&sandbox, &["cron", "incidents"]);
    let told: Vec<_> = incidents["homes"][0]["incidents"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|incident| incident["job_id"].as_str())
        .collect();
    assert!(told.contains(&"../../memories"), "{incidents}");
    assert!(told.contains(&"a\\b"), "as in Hermes Agent: {incidents}");
    assert_eq!(names(&sandbox, "cron/output"), 1);
    let (code, ..) = said(&sandbox, &["cron", "run", "../../memories"]);
    assert_eq!(code, 2, "not by hand either");
    assert_eq!(names(&sandbox, "memories"), 60);
}

#[test]
fn a_job_that_no_command_can_find_says_that_it_never_fires() {
    let mut numbered = job("x", &json!({}));
    numbered["id"] = json!(7);
    let sandbox = with(&[
        numbered,
        job("aaaaaaaaaaaa", &json!({"name": "first"})),
        job("aaaaaaaaaaaa", &json!({"name": "second"})),
    ]);
    let (code, list, _) = document(&sandbox, &["cron", "list"]);
    assert_eq!(code, 1, "{list}");
    let jobs = list["homes"][0]["jobs"].as_array().expect("jobs");
    let seen: Vec<_> = jobs
        .iter()
        .map(|job| (job["state"].as_str(), job["because"].as_str()))
        .collect();
    assert_eq!(
        seen,
        [
            (Some("never"), Some("its id is no text")),
            (Some("active"), None),
            (
                Some("never"),
                Some("a job before it in the store has the same id")
            ),
        ]
    );
}

#[test]
fn jobs_of_one_id_are_removed_together_and_that_is_said_before() {
    let id = "aaaaaaaaaaaa";
    let second = json!({"name": "the second"});
    let sandbox = with(&[
        job(id, &json!({})),
        job(id, &second),
        job("bbbbbbbbbbbb", &json!({})),
    ]);
    let (code, out, err) = said(&sandbox, &["cron", "remove", id, "--dry-run"]);
    assert_eq!(code, 0);
    assert!(
        out.contains("and 1 other job of the same id (the second)"),
        "{out}"
    );
    assert!(err.contains("give it another id"), "{err}");
    let words = ["cron", "remove", id, "--dry-run"];
    let (_, told, _) = document(&sandbox, &words);
    assert_eq!(told["with_its_id"][0]["name"], "the second", "{told}");
    assert_eq!(stored(&sandbox).len(), 3);
    let (_, out, _) = said(&sandbox, &["cron", "remove", id, "--yes"]);
    assert!(out.contains("(the second)"), "{out}");
    assert_eq!(stored(&sandbox).len(), 1);
    let (_, out, _) = said(&sandbox, &["cron", "remove", "bbbbbbbbbbbb", "--dry-run"]);
    assert!(!out.contains("other"), "{out}");
}

#[test]
fn a_verb_changes_the_job_that_was_named_or_none() {
    let named = |id: serde_json::Value, name: &str| {
        let mut job = job("x", &json!({"name": name}));
        job["id"] = id;
        job
    };
    let mut bare = named(json!(""), "bare");
    bare.as_object_mut().expect("a job").remove("id");
    let sandbox = with(&[
        named(json!("dup"), "good"),
        named(json!("dup"), "two"),
        named(json!(""), "other"),
        named(json!(7), "seven"),
        bare,
    ]);
    let before = stored(&sandbox);
    for (name, why) in [
        ("two", "a job before it in the store has the same id"),
        ("other", "it has no id"),
        ("bare", "it has no id"),
        ("seven", "its id is no text"),
    ] {
        for (verb, more) in [
            ("pause", &[][..]),
            ("resume", &[]),
            ("edit", &["--name", "new"]),
            ("run", &[]),
            ("remove", &["--yes"]),
        ] {
            let words = [&["cron", verb, name], more].concat();
            let (code, out, err) = said(&sandbox, &words);
            assert!(code != 0 && err.contains(why), "{words:?}: {out} {err}");
            assert!(!err.contains("meanwhile"), "{words:?}: {err}");
        }
    }
    assert_eq!(stored(&sandbox), before, "nothing was changed");
    let (code, out, err) = said(&sandbox, &["cron", "pause", "good"]);
    assert!(code == 0 && out.contains("(good)"), "{out} {err}");
    let states: Vec<_> = stored(&sandbox)
        .iter()
        .map(|job| job["state"].clone())
        .collect();
    assert_eq!(
        states,
        ["paused", "scheduled", "scheduled", "scheduled", "scheduled"]
    );
}

#[test]
fn a_dry_run_refuses_the_ids_that_a_pass_refuses() {
    let due = json!({"next_run_at": DUE});
    let mut numbered = job("x", &due);
    numbered["id"] = json!(7);
    let sandbox = with(&[numbered, job("dup", &due), job("dup", &due)]);
    let (_, seen, _) = document(&sandbox, &["cron", "tick", "--dry-run"]);
    let refused: Vec<_> = seen["orders"]
        .as_array()
        .expect("orders")
        .iter()
        .map(|order| order["refused"].as_str())
        .collect();
    assert_eq!(
        refused,
        [
            Some("its id is no text"),
            None,
            Some("a job before it in the store has the same id"),
        ]
    );
    let (code, out, err) = said(&sandbox, &["cron", "tick"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("dup  ok"), "{out}");
    assert_eq!(out.matches("ok (").count(), 1, "{out}");
}
