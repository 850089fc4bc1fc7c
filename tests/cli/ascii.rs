//! `--ascii`: nothing else is printed, and nothing is lost by that.

use serde_json::{Value, json};

use crate::common::jobs::{job, said, with};

const NAME: &str = "Täglich 日本 👍 – 5 µs…";

#[test]
fn with_ascii_nothing_else_is_printed_and_names_can_be_told_apart() {
    let sandbox = with(&[
        job("aaaaaaaaaaaa", &json!({"name": NAME})),
        job("bbbbbbbbbbbb", &json!({"name": "plain"})),
    ]);
    for words in [
        ["cron", "list"].as_slice(),
        &["cron", "list", "--json"],
        &["cron", "show", "aaaaaaaaaaaa"],
        &["cron", "show", "no such jöb"],
        &[
            "cron",
            "edit",
            "aaaaaaaaaaaa",
            "--name",
            "Über",
            "--dry-run",
        ],
        &["cron", "status"],
        &["cron", "runs"],
        &["cron", "tick", "--dry-run", "--at", "2027-01-01T00:00:00Z"],
        &["cron", "doctor", "--only", "jobs", "--verbose"],
        &["cron", "doctor", "--only", "jobs", "--plain"],
        &["cron", "doctor", "--only", "jobs", "--json"],
        &["session", "list"],
    ] {
        let (_, out, err) = said(&sandbox, &[&["--ascii"], words].concat());
        assert!(out.is_ascii() && err.is_ascii(), "{words:?}: {out}{err}");
    }
    let (_, list, _) = said(&sandbox, &["--ascii", "cron", "list"]);
    let name = r"T\u{e4}glich \u{65e5}\u{672c} \u{1f44d} - 5 us...";
    let line = list.lines().find(|line| line.contains(name));
    let column = line.and_then(|line| line.find("active"));
    let other = list.lines().find(|line| line.contains("plain"));
    assert!(column.is_some(), "{list}");
    assert_eq!(column, other.and_then(|line| line.find("active")), "{list}");
    let (_, document, _) = said(&sandbox, &["--ascii", "cron", "list", "--json"]);
    let document: Value = serde_json::from_str(&document).expect("JSON");
    let names = document["homes"][0]["jobs"].as_array().expect("jobs");
    assert!(names.iter().any(|job| job["name"] == NAME), "{document}");
    // Who did not ask for it has the name as it is.
    let (_, list, _) = said(&sandbox, &["cron", "list"]);
    assert!(list.contains(NAME), "{list}");
}
