//! What a pass of serve reads: the store when it has changed or a job wakes, and of it what it does not
//! know yet. Counted by `/metrics`.

use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::jobs::{job, store, stored, with};
use crate::common::serving::{self, Serving};

const START: &str = "2026-06-17T10:00:10Z";
const MANY: usize = 40;

/// Jobs that wait, each made of its number and what is said over one of them.
fn waiting(one: &Value) -> Vec<Value> {
    let id = |number: usize| format!("{number:012x}");
    let far = json!({"next_run_at": "2026-06-18T10:00:00+00:00"});
    let mut jobs: Vec<_> = (0..MANY).map(|number| job(&id(number), &far)).collect();
    jobs[MANY / 2] = job(&id(MANY / 2), one);
    jobs
}

/// A serve that has had its first pass.
fn serve(sandbox: &Sandbox) -> Serving {
    serving::configure(sandbox, "");
    let mut serve = Serving::at(sandbox, START);
    serve.clock("settle");
    serve
}

/// Reads of the store, and jobs read in it, so far.
fn looks(serve: &Serving) -> (u64, u64) {
    let (_, page) = serve.page("/metrics");
    let of = |name: &str| {
        let line = page.lines().find_map(|line| line.strip_prefix(name));
        let count = line.and_then(|count| count.trim().parse().ok());
        count.unwrap_or_else(|| panic!("no {name}: {page}"))
    };
    (
        of("hermes_cron_store_reads_total "),
        of("hermes_cron_jobs_read_total "),
    )
}

#[test]
fn a_failed_job_that_waits_does_not_make_each_pass_read_the_store() {
    let failed = json!({
        "last_status": "error", "last_error": "exit status 3",
        "last_run_at": "2026-06-17T09:50:02+00:00",
    });
    let sandbox = with(&waiting(&failed));
    let mut serve = serve(&sandbox);
    assert_eq!(looks(&serve), (1, 40), "the first look");
    serve.pass(600, 60);
    assert_eq!(looks(&serve), (1, 40), "and no other");
    assert_eq!(serve.stop().code(), Some(0));
}

#[test]
fn what_a_pass_wrote_itself_is_known_to_the_next() {
    let sandbox = with(&waiting(&json!({"next_run_at": null})));
    let mut serve = serve(&sandbox);
    let next = &stored(&sandbox)[MANY / 2]["next_run_at"];
    assert_eq!(next, "2026-06-17T10:30:10+00:00", "it got a slot");
    serve.pass(300, 60);
    assert_eq!(looks(&serve), (1, 40));
    assert_eq!(serve.stop().code(), Some(0));
}

#[test]
fn of_many_jobs_the_one_that_is_due_is_read_and_what_its_worker_wrote() {
    let each_minute = json!({
        "schedule": {"kind": "interval", "minutes": 1, "display": "every 1m"},
        "next_run_at": "2026-06-17T10:01:00+00:00",
    });
    let sandbox = with(&waiting(&each_minute));
    let mut serve = serve(&sandbox);
    assert_eq!(looks(&serve), (1, 40), "the first look");
    serve.pass(300, 60);
    assert_eq!(looks(&serve), (6, 45), "it alone, in each pass");
    let job = &stored(&sandbox)[MANY / 2];
    assert_eq!(job["repeat"]["completed"], 5, "{job}");
    assert_eq!(serve.stop().code(), Some(0));
}

#[test]
fn what_somebody_else_changes_is_read_and_nothing_else() {
    let sandbox = with(&waiting(
        &json!({"next_run_at": "2026-06-18T11:00:00+00:00"}),
    ));
    let mut serve = serve(&sandbox);
    let mut jobs = stored(&sandbox);
    jobs.remove(3);
    jobs[7]["next_run_at"] = json!("2026-06-17T10:02:00+00:00");
    jobs.push(job("ffffffffffff", &json!({})));
    store(&sandbox, &jobs);
    serve.pass(60, 60);
    assert_eq!(looks(&serve), (2, 42), "one was changed, and one came");
    serve.pass(60, 60);
    assert_eq!(stored(&sandbox)[7]["repeat"]["completed"], 1, "it ran");
    assert_eq!(serve.stop().code(), Some(0));
}
