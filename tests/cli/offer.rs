//! What completions ask while somebody types: ids and names as the home has them, and nothing else.

#![expect(clippy::disallowed_methods, reason = "the test runs a shell")]

use std::path::Path;
use std::process::Command;

use hermes::host::identity_probe::own_identity;
use hermes::ledger::{Claim, End, Ledger, Owner};
use serde_json::json;

use crate::common::Sandbox;
use crate::common::jobs::{job, said, with};

const DIGEST: &str = "aaaaaaaaaaaa";
const OTHER: &str = "abbbbbbbbbbb";

fn home() -> Sandbox {
    with(&[
        job(DIGEST, &json!({"name": "digest"})),
        job(OTHER, &json!({"name": "two words; rm -rf x"})),
    ])
}

fn offered(sandbox: &Sandbox, words: &[&str]) -> Vec<String> {
    let words = [&["offer", "--"], words].concat();
    let (code, out, err) = said(sandbox, &words);
    assert_eq!((code, err.as_str()), (0, ""), "{words:?}");
    out.lines().map(str::to_owned).collect()
}

#[test]
fn jobs_are_offered_where_a_job_is_named_and_nowhere_else() {
    let sandbox = home();
    let all = [DIGEST, OTHER, "digest"];
    for verb in [
        "show", "edit", "pause", "resume", "remove", "rm", "run", "runs",
    ] {
        assert_eq!(offered(&sandbox, &["cron", verb, ""]), all, "{verb}");
    }
    assert_eq!(offered(&sandbox, &["cron", "show", "aa"]), [DIGEST]);
    assert_eq!(
        offered(&sandbox, &["cron", "show", "--json", "d"]),
        ["digest"]
    );
    assert_eq!(
        offered(&sandbox, &["cron", "incidents", "close", "--job", ""]),
        all
    );
    let none: [&[&str]; 7] = [
        &["cron", "show", DIGEST, ""],
        &["cron", "edit", "--name", ""],
        &["cron", "show", "--"],
        &["cron", "list", ""],
        &["cron", ""],
        &["session", "show", ""],
        &[],
    ];
    for words in none {
        assert_eq!(offered(&sandbox, words), [""; 0], "{words:?}");
    }
    let path = sandbox.home().to_string_lossy().into_owned();
    let elsewhere = Sandbox::new();
    for words in [
        ["--home", &path, "cron", "show", "dig"],
        ["cron", "show", "--home", &path, "dig"],
    ] {
        assert_eq!(offered(&elsewhere, &words), ["digest"], "{words:?}");
    }
    assert_eq!(offered(&elsewhere, &["cron", "show", ""]), [""; 0]);
    assert!(!elsewhere.home().join("cron").exists(), "it only reads");
    sandbox.write("cron/jobs.json", "{ no store");
    assert_eq!(offered(&sandbox, &["cron", "show", ""]), [""; 0]);
}

#[test]
fn runs_are_offered_to_logs_and_those_that_go_on_to_cancel() {
    let sandbox = home();
    let path = sandbox.home().join("cron/executions.db");
    let mut ledger = Ledger::open(&path, jiff::tz::TimeZone::UTC).expect("a ledger");
    let owner = Owner {
        process_id: "0".repeat(32),
        ..Owner::from(&own_identity())
    };
    let now = "2026-06-17T10:00:00Z".parse().expect("an instant");
    for id in ["1".repeat(32), "2".repeat(32)] {
        let claim = Claim {
            id: &id,
            job_id: DIGEST,
            source: "direct",
            slot: None,
        };
        ledger.claim(&claim, &owner, now).expect("a claim");
    }
    let end = End {
        ok: true,
        error: None,
        delivery: None,
    };
    let ended = ledger.finish(&"1".repeat(32), &owner, end, now);
    assert!(ended.expect("an end"));
    drop(ledger);
    let (first, second) = ("1".repeat(12), "2".repeat(12));
    // Either takes a job for its newest run; of jobs without one that goes on there is nothing to cancel.
    let logs = offered(&sandbox, &["cron", "logs", ""]);
    assert_eq!(logs, [&first, &second, DIGEST, OTHER, "digest"]);
    let cancel = offered(&sandbox, &["cron", "cancel", ""]);
    assert_eq!(cancel, [&second, DIGEST, "digest"]);
}

#[test]
fn the_script_of_bash_adds_them_to_what_it_knows() {
    let sandbox = home();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("completions/hermes.bash");
    let fill = |line: &str| {
        let words = format!(
            "source '{}'; COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _hermes_named \"${{COMP_WORDS[0]}}\" \"${{COMP_WORDS[COMP_CWORD]}}\" show; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            script.display()
        );
        let output = Command::new("bash")
            .args(["--norc", "-c", &words])
            .env_clear()
            .env("HOME", sandbox.user_home())
            .output()
            .expect("bash");
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        told.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let program = env!("CARGO_BIN_EXE_hermes");
    assert_eq!(fill(&format!("{program} cron show d")), ["digest"]);
    assert!(fill(&format!("{program} cron sh")).contains(&"show".to_owned()));
    // A program of that name which knows nothing of this says nothing.
    assert_eq!(fill("false cron show d"), [""]);
}
