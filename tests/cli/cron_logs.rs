//! `hermes cron logs` of runs that Hermes Agent made, whose documents name no run but a time; and what the log of
//! a serve says of its runs.

use serde_json::json;

use crate::common::Sandbox;
use crate::common::jobs::{NOW, document, job, said, script, with};
use crate::common::log::Log;
use crate::common::serving::{self, Serving};

/// A run of the sample's ledger that failed, and its job.
const RUN: &str = "e9b76168b3764724a7f2ab092e0a2482";
const JOB: &str = "f645462fda68";

#[test]
fn the_document_of_a_run_of_hermes_agent_s_is_found_by_its_time() {
    let sandbox = Sandbox::with_sample_home();
    for named in [RUN, &RUN[..12], JOB, "failing-script"] {
        let (code, out, err) = said(&sandbox, &["cron", "logs", named]);
        assert_eq!(code, 0, "{named}: {out}{err}");
        assert!(
            out.contains("Script exited with code 3"),
            "{named}: {out}{err}"
        );
    }
    let (_, told, _) = document(&sandbox, &["cron", "logs", RUN]);
    let text = told["output"].as_str().expect("a text");
    assert!(text.starts_with("# Cron Job: failing-script"), "{told}");
    // One of another time is not of this run, nor is one that names its own.
    let folder = format!("cron/output/{JOB}");
    sandbox.write(&format!("{folder}/2026-11-29_23-39-56.md"), "before");
    sandbox.write(&format!("{folder}/2026-11-29_23-39-59.md"), "after");
    let ours = "# x\n\n- execution: 0\n\n---\n";
    sandbox.write(&format!("{folder}/2026-11-29_23-39-58.md"), ours);
    let (code, out, _) = said(&sandbox, &["cron", "logs", RUN]);
    assert!(code == 0 && out.contains("code 3"), "{out}");
    // Of two nobody can tell which.
    sandbox.write(&format!("{folder}/2026-11-29_23-39-58_2.md"), "another");
    let (code, out, err) = said(&sandbox, &["cron", "logs", RUN]);
    assert!(code == 1 && out.is_empty(), "{out}");
    assert!(err.contains("2 documents of the job"), "{err}");
    assert!(
        err.contains("23-39-57.md") && err.contains("23-39-58_2.md"),
        "{err}"
    );
}

#[test]
fn without_any_row_the_newest_document_of_the_job_is_shown() {
    let sandbox = Sandbox::with_sample_home();
    std::fs::remove_file(sandbox.home().join("cron/executions.db")).expect("the ledger");
    let (code, out, err) = said(&sandbox, &["cron", "logs", "failing-script"]);
    assert!(code == 0 && out.contains("code 3"), "{out}{err}");
    assert!(err.contains("No run of it is on record"), "{err}");
    let (code, _, err) = said(&sandbox, &["cron", "logs", RUN]);
    assert_eq!(code, 1, "{err}");
}

#[test]
fn the_log_of_serve_has_a_line_where_a_run_begins_and_one_where_it_ends_and_nothing_of_its_own() {
    let due = |script: &str| json!({"next_run_at": "2026-06-17T10:01:00+00:00", "script": script});
    let (good, bad) = ("aaaaaaaaaaaa", "bbbbbbbbbbbb");
    let sandbox = with(&[job(good, &due("ok.sh")), job(bad, &due("no.sh"))]);
    script(
        &sandbox,
        "no.sh",
        "echo key=sk-0123456789abcdef >&2; exit 3",
    );
    serving::configure(&sandbox, "");
    let (child, log) = Log::of(serving::command(&sandbox, NOW, &[]));
    let mut serve = Serving::ready(&sandbox, child);
    serve.pass(120, 60);
    assert_eq!(serve.stop().code(), Some(0));
    let lines: Vec<String> = log.rest().collect();
    let (_, runs, _) = document(&sandbox, &["cron", "runs"]);
    let runs = runs["homes"][0]["runs"].as_array().expect("runs").clone();
    assert_eq!(runs.len(), 2, "{runs:?}");
    for run in &runs {
        let (id, job) = (run["id"].as_str(), run["job_id"].as_str());
        let (id, job) = (id.expect("an id"), job.expect("a job"));
        let outcome = if job == good { "completed" } else { "failed" };
        let mode = run["facts"]["mode"].as_str().expect("a mode");
        for words in [
            format!("Run {id} of job {job} began: {mode}, pid "),
            format!("Run {id} of job {job} ended: {outcome}."),
        ] {
            let told = lines.iter().filter(|line| line.contains(&words));
            assert_eq!(told.count(), 1, "{words}: {lines:#?}");
        }
    }
    assert!(!lines.join("").contains("sk-0123"), "{lines:#?}");
}
