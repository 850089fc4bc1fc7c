//! What `list`, `show`, `status` and `runs` say of homes and jobs in which something is amiss.

use serde_json::json;

use crate::common::Sandbox;
use crate::common::jobs::{NOW, create, hermes, job, said, with};
use crate::common::serving::{self, Serving};

const ID: &str = "aaaaaaaaaaaa";

/// What came of a command at a later instant: its status, stdout and stderr together.
fn at(sandbox: &Sandbox, now: &str, words: &[&str]) -> (Option<i32>, String) {
    let mut command = hermes(sandbox, words);
    let output = command.env("__HERMES_NOW", now).output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout) + &text(&output.stderr),
    )
}

#[test]
fn b40_a_serve_whose_ticks_fail_is_told_by_every_verb_as_by_the_doctor() {
    let sandbox = with(&[job(ID, &json!({}))]);
    serving::configure(&sandbox, "");
    let mut serve = Serving::at(&sandbox, NOW);
    serve.clock("settle");
    let (code, out) = at(&sandbox, NOW, &["cron", "status"]);
    assert!(code == Some(0) && out.contains("jobs fire"), "{out}");
    let lock = sandbox.home().join("cron/.tick.lock");
    std::fs::remove_file(&lock).expect("the lock of the first pass");
    std::fs::create_dir(&lock).expect("what no pass can lock");
    serve.pass(360, 60);
    let later = "2026-06-17T10:06:10Z";
    let words = "ticks have been failing for 6m";
    for verb in ["status", "list"] {
        let (code, out) = at(&sandbox, later, &["cron", verb]);
        assert_eq!(code, Some(1), "{out}");
        assert!(
            out.contains("Nothing will fire") && out.contains(words),
            "{out}"
        );
        assert!(!out.contains("jobs fire"), "{out}");
    }
    let (_, out) = at(&sandbox, later, &["cron", "status", "--json"]);
    assert!(out.contains("\"will_fire\": false"), "{out}");
    let (code, out) = at(&sandbox, later, &create("every 1h", &[]));
    assert!(code == Some(0) && out.contains(words), "{out}");
    let (_, out) = at(&sandbox, later, &["cron", "doctor", "--only", "HM406"]);
    assert!(out.contains("HM406") && out.contains(words), "{out}");
    assert_eq!(serve.stop().code(), Some(0));
}

#[test]
fn b40_a_serve_that_never_ticked_well_is_no_starting_one() {
    let sandbox = with(&[job(ID, &json!({}))]);
    serving::configure(&sandbox, "");
    std::fs::create_dir_all(sandbox.home().join("cron/.tick.lock")).expect("a directory");
    let mut serve = Serving::at(&sandbox, NOW);
    serve.clock("settle");
    let (code, out, err) = said(&sandbox, &["cron", "list"]);
    assert_eq!(code, 1, "{out}");
    assert!(err.contains("no tick has ever ended well"), "{err}");
}
