//! Sessions that were closed: lists and orders say so, and nothing opens one again by the way.

use predicates::prelude::*;
use serde_json::Value;

use crate::common::Sandbox;
use crate::common::serving::{self, Serving};

const LATER: &str = "2026-06-02T02:00:00Z";

fn run(sandbox: &Sandbox, args: &[&str]) -> assert_cmd::assert::Assert {
    let mut hermes = sandbox.hermes();
    hermes.env("__HERMES_NOW", LATER).args(args).assert()
}

fn json(sandbox: &Sandbox, args: &[&str]) -> Value {
    let done = run(sandbox, &[args, &["--json"]].concat()).code(0);
    serde_json::from_slice(&done.get_output().stdout).expect("JSON")
}

/// A session with a loop that was closed under a serve at 23:00.
fn closed(sandbox: &Sandbox) -> (Serving, String) {
    serving::configure(sandbox, "");
    let mut serve = Serving::start(sandbox);
    let set = json(sandbox, &["loop", "start", "30m", "ask: check"]);
    let id = set["session"].as_str().expect("a session").to_owned();
    serve.clock("settle");
    run(sandbox, &["session", "close", &id]).code(0);
    serve.clock("settle");
    (serve, id)
}

fn is_open(sandbox: &Sandbox) -> bool {
    json(sandbox, &["session", "list"])["sessions"] != serde_json::json!([])
}

#[test]
fn a_closed_session_is_listed_as_such_where_all_are_asked_for() {
    let sandbox = Sandbox::new();
    let (_serve, id) = closed(&sandbox);
    run(&sandbox, &["session", "list"])
        .code(0)
        .stdout(predicate::str::contains("No session is open."))
        .stderr(predicate::str::contains(
            "1 session that has ended is not shown: --all",
        ));
    run(&sandbox, &["session", "list", "--all"])
        .code(0)
        .stdout(predicate::str::contains(&id))
        .stdout(predicate::str::contains("ended 3h ago: it was closed"));
    let all = json(&sandbox, &["session", "list", "--all"]);
    assert_eq!(all["sessions"][0]["end_reason"], "tui_close", "{all}");
    assert_eq!(all["left_out"], serde_json::json!({}));
    let few = json(&sandbox, &["session", "list"]);
    assert_eq!(few["left_out"]["tui_close"], 1, "{few}");
    run(&sandbox, &["session", "show", &id])
        .code(0)
        .stdout(predicate::str::contains("has ended, 2026-06-01 23:00:00"))
        .stdout(predicate::str::contains("it was closed (tui_close)."));
    let shown = json(&sandbox, &["session", "show", &id]);
    assert_eq!(shown["ended_at"], "2026-06-01T23:00:00Z", "{shown}");
    run(&sandbox, &["session", "close", &id])
        .code(1)
        .stderr(predicate::str::contains("has ended already: it was closed"));
}

#[test]
fn an_order_to_the_timer_of_a_closed_session_leaves_it_closed() {
    let sandbox = Sandbox::new();
    let (mut serve, id) = closed(&sandbox);
    let state = |wanted: &str| {
        let list = json(&sandbox, &["loop", "list", "--all"]);
        assert_eq!(list["loops"][0]["state"], wanted, "{list}");
    };
    state("not driven");
    run(&sandbox, &["loop", "pause", &id]).code(0);
    state("paused");
    assert!(!is_open(&sandbox), "a pause opens nothing");
    // That is what it is for, and said.
    run(&sandbox, &["loop", "resume", &id])
        .code(0)
        .stderr(predicate::str::contains(
            "had ended (it was closed (tui_close)); it is open again",
        ));
    state("active");
    assert!(is_open(&sandbox));
    run(&sandbox, &["session", "close", &id]).code(0);
    serve.clock("settle");
    run(&sandbox, &["loop", "stop", &id[..18]]).code(0);
    state("cleared");
    assert!(!is_open(&sandbox), "an end opens nothing");
    assert!(serve.stop().success());
    // Without a serve it would be armed and driven by nobody.
    run(&sandbox, &["loop", "resume", &id])
        .code(1)
        .stderr(predicate::str::contains("nobody would drive its loop"));
}

#[test]
fn reaping_tells_would_from_did_and_its_document_has_instants_that_mean_something() {
    let sandbox = Sandbox::new();
    let limits = "[dashboard]\nws_orphan_reap_grace_s = 0\n[serve]\nsession_ttl_seconds = 60\n";
    serving::configure(&sandbox, limits);
    let mut serve = Serving::start(&sandbox);
    let mut attach = sandbox.hermes();
    attach
        .args(["session", "attach"])
        .write_stdin("ask: hello\n");
    attach.assert().code(0);
    serve.clock("settle");
    let plan = json(
        &sandbox,
        &["session", "reap", "--dry-run", "--reaper", "idle"],
    );
    let row = &plan["sessions"][0];
    assert_eq!(row["verdict"], "keep", "{plan}");
    assert_eq!(row["next_check"], "2026-06-01T23:01:00Z", "{plan}");
    // As every other table has what comes.
    run(
        &sandbox,
        &["session", "reap", "--dry-run", "--reaper", "idle"],
    )
    .code(0)
    .stdout(predicate::str::contains("in 1m (23:01)"));
    serve.pass(120, 60);
    run(&sandbox, &["session", "reap", "--dry-run"])
        .code(0)
        .stdout(predicate::str::contains("would be reaped"))
        .stdout(predicate::str::contains(
            "Would reap 1 session; nothing was done.",
        ));
    assert!(is_open(&sandbox));
    run(&sandbox, &["session", "reap"])
        .code(0)
        .stdout(predicate::str::contains("would be").not())
        .stdout(predicate::str::contains("Reaped 1 session."));
    serve.clock("settle");
    assert!(!is_open(&sandbox));
    run(&sandbox, &["session", "reap"])
        .code(0)
        .stdout(predicate::str::contains("Serve holds no session."));
}

#[test]
fn a_session_is_given_a_title_whoever_holds_it_and_is_known_by_it() {
    let sandbox = Sandbox::new();
    let (serve, id) = closed(&sandbox);
    run(&sandbox, &["session", "title", &id])
        .code(1)
        .stderr(predicate::str::contains("has no title"));
    run(&sandbox, &["session", "title", &id, "the build"]).code(0);
    assert!(!is_open(&sandbox), "a title opens nothing");
    let told = json(&sandbox, &["session", "title", "the build"]);
    assert_eq!(
        (&told["session"], &told["title"]),
        (&id.as_str().into(), &"the build".into())
    );
    let open = json(&sandbox, &["loop", "start", "30m", "ask: other"]);
    let open = open["session"].as_str().expect("a session").to_owned();
    run(&sandbox, &["session", "title", &open, "another"])
        .code(0)
        .stdout("another\n");
    assert_eq!(
        json(&sandbox, &["session", "list"])["sessions"][0]["title"],
        "another"
    );
    assert!(serve.stop().success());
    run(&sandbox, &["session", "title", "another", "third"]).code(0);
    let told = json(&sandbox, &["session", "title", &open]);
    assert_eq!(told["title"], "third");
    let theirs = Sandbox::with_sample_home();
    run(&theirs, &["session", "title", "20260101_0900", "mine"])
        .code(1)
        .stderr(predicate::str::contains("is Hermes Agent's"));
}
