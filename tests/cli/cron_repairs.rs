//! Jobs that are mended step by step by `hermes cron edit`.

use serde_json::{Value, json};

use crate::common::jobs::{agent, create, document, home, job, said, stored, with};

const ID: &str = "aaaaaaaaaaaa";

#[test]
fn a_job_that_needs_several_things_is_mended_one_by_one() {
    let needs = json!({
        "no_agent": false, "prompt": "p", "model": "gpt", "deliver": "telegram:1", "skills": ["x"],
        "skill": "x", "enabled_toolsets": [], "context_from": ["b"], "failure_deliver": "telegram:1",
    });
    let sandbox = with(&[job(ID, &needs)]);
    agent(&sandbox, &["say fine"], "");
    let edit = |more: &[&str]| said(&sandbox, &[&["cron", "edit", ID], more].concat());
    let (code, _, err) = edit(&["--deliver", "local"]);
    assert_eq!(code, 0, "{err}");
    assert!(
        err.contains("needs skills") && !err.contains("delivery to telegram:1"),
        "{err}"
    );
    let (code, _, err) = edit(&["--deliver", "telegram:2"]);
    assert_eq!(code, 1, "what is added is refused: {err}");
    for flag in [
        "--unpin",
        "--clear-skills",
        "--clear-toolsets",
        "--clear-context",
    ] {
        assert_eq!(edit(&[flag]).0, 0, "{flag}");
    }
    let (code, _, err) = edit(&["--clear-failure-deliver"]);
    assert_eq!((code, err.contains("does not do")), (0, false), "{err}");
    let kept = &stored(&sandbox)[0];
    for key in ["model", "skill", "enabled_toolsets", "context_from"] {
        assert_eq!(kept[key], Value::Null, "{key}");
    }
    assert_eq!(kept["skills"], json!([]));
    assert_eq!(kept.get("failure_deliver"), None);
}

#[test]
fn an_edit_is_not_refused_for_what_it_does_not_touch() {
    let broken = json!({"script": "gone.sh", "workdir": "/nowhere"});
    let sandbox = with(&[job(ID, &broken)]);
    let (code, _, err) = said(&sandbox, &["cron", "edit", ID, "--name", "new"]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("gone.sh is missing"), "it is told: {err}");
    assert_eq!(stored(&sandbox)[0]["name"], "new");
    for brought in [["--script", "other.sh"], ["--workdir", "/nowhere/else"]] {
        let words = [&["cron", "edit", ID][..], &brought].concat();
        let (code, _, err) = said(&sandbox, &words);
        let is_named = err.contains(brought[1]);
        assert_eq!((code, is_named), (1, true), "{brought:?}: {err}");
    }
    let (code, _, err) = said(&sandbox, &["cron", "edit", ID, "--workdir", "/usr"]);
    assert_eq!(code, 0, "the script may come later: {err}");
}

#[test]
fn an_empty_text_takes_a_limit_and_a_name_away() {
    let named = json!({"x_hermes": {"timeout_seconds": 300, "stagger_seconds": 9}});
    let sandbox = with(&[job(ID, &named)]);
    let words = [
        "cron",
        "edit",
        ID,
        "--timeout",
        "",
        "--stagger",
        "",
        "--name",
        "",
    ];
    let (code, _, err) = said(&sandbox, &words);
    assert_eq!(code, 0, "{err}");
    let kept = &stored(&sandbox)[0];
    assert_eq!(kept["name"], "ok.sh", "as a new job is named");
    assert_eq!(kept["x_hermes"], json!({}));
}

#[test]
fn a_refusal_at_create_names_no_job_that_is_not_there() {
    let sandbox = home();
    let (code, _, err) = said(&sandbox, &create("every 1h", &["--deliver", "telegram:1"]));
    assert!(
        code == 1 && err.contains("telegram:1") && !err.contains("cron edit"),
        "{err}"
    );
}

#[test]
fn what_changes_nothing_for_a_one_shot_is_told() {
    let sandbox = home();
    let words = create("in 2h", &["--catch-up", "max-lateness=10h"]);
    let (code, made, _) = document(&sandbox, &words);
    assert_eq!(code, 0);
    assert!(
        made["warnings"]
            .to_string()
            .contains("whatever --catch-up says"),
        "{made}"
    );
    let id = made["job"]["id"].as_str().expect("an id");
    let (_, out, _) = said(&sandbox, &["cron", "show", id]);
    assert!(out.contains("a one-shot counts as missed"), "{out}");
    let (_, made, _) = document(
        &sandbox,
        &create("every 2h", &["--catch-up", "skip", "--name", "b"]),
    );
    assert_eq!(made["warnings"], json!([]));
}

#[test]
fn a_wrong_command_line_is_told_with_what_is_wrong() {
    let sandbox = home();
    let (code, answer, _) = document(&sandbox, &["cron", "show"]);
    assert_eq!(code, 64);
    assert!(
        answer["error"]["message"].to_string().contains("<JOB>"),
        "{answer}"
    );
    let (code, _, err) = said(&sandbox, &create("every 1h", &["--timeout", "-5"]));
    assert!(
        code == 64 && err.contains("no length of time") && !err.contains("-- -5"),
        "{err}"
    );
    let (code, _, err) = said(&sandbox, &create("every 1h", &["--workdir", "/etc/passwd"]));
    assert!(code == 1 && err.contains("is no directory"), "{err}");
}
