//! `hermes cron create`: what is kept, and what is refused before it is.

use serde_json::json;

use crate::common::Sandbox;
use crate::common::jobs::{
    agent, create, document, home, job, said, script, serving, store, stored, with,
};

#[test]
fn a_job_is_kept_in_the_shape_of_the_other_program() {
    let sandbox = home();
    let words = create("every 30m", &[]);
    let (code, made, _) = document(&sandbox, &words);
    assert_eq!((code, &made["schema"]), (0, &json!("hermes.cron-create/1")));
    let kept = stored(&sandbox);
    assert_eq!(kept, [made["job"].clone()]);
    let sample = include_str!("../data/sample-home/cron/jobs.json");
    let sample: serde_json::Value = serde_json::from_str(sample).expect("the sample");
    let keys = |job: &serde_json::Value| {
        let keys = job.as_object().expect("a job").keys();
        keys.cloned().collect::<Vec<_>>()
    };
    // A job of theirs that has not run yet.
    assert_eq!(keys(&kept[0]), keys(&sample["jobs"][1]));
    assert_eq!(kept[0]["id"].as_str().map(str::len), Some(12));
    assert_eq!(kept[0]["name"], "ok.sh");
    assert_eq!(kept[0]["next_run_at"], "2026-06-17T10:30:00+00:00");
    assert_eq!(kept[0]["repeat"], json!({"times": null, "completed": 0}));
}

#[test]
fn what_is_only_ours_stands_in_our_corner() {
    let sandbox = home();
    let file = sandbox.write("job.env", "A=1\n");
    let (code, made, _) = document(
        &sandbox,
        &[
            "cron",
            "create",
            "in 2h",
            "--script",
            "ok.sh",
            "--no-agent",
            "--timeout",
            "90s",
            "--env-file",
            &file.display().to_string(),
            "--catch-up",
            "max-lateness=20m",
            "--stagger",
            "30s",
            "--deliver-command",
            "mail -s 'it is done' me",
            "--paused",
            "--paused-reason",
            "not yet",
        ],
    );
    assert_eq!(code, 0, "{made}");
    let job = &stored(&sandbox)[0];
    assert_eq!(
        job["x_hermes"],
        json!({
            "deliver_command": ["mail", "-s", "it is done", "me"],
            "timeout_seconds": 90,
            "env_file": file,
            "catch_up": {"max_lateness_seconds": 1200},
            "stagger_seconds": 30,
        })
    );
    assert_eq!(
        (&job["state"], &job["paused_reason"]),
        (&json!("paused"), &json!("not yet"))
    );
    assert_eq!(
        (&job["next_run_at"], &job["repeat"]["times"]),
        (&json!(null), &json!(1))
    );
}

#[test]
fn b76_an_instant_that_has_passed_is_refused() {
    let sandbox = home();
    let words = create("2026-06-15T10:00", &[]);
    let (code, refused, _) = document(&sandbox, &words);
    assert_eq!(code, 1);
    let message = refused["error"]["message"].as_str().expect("a message");
    assert!(message.contains("has passed, 2d ago"), "{message}");
    assert!(!sandbox.home().join("cron").exists(), "nothing was made");
    // Within the grace it still counts.
    let soon = create("2026-06-17T09:59", &[]);
    assert_eq!(document(&sandbox, &soon).0, 0);
}

/// What follows `cron create`, and what is said to it.
const REFUSED: &[(&[&str], &str)] = &[
    (&["0m", "--script", "ok.sh", "--no-agent"], "every tick"),
    (
        &["0 0 30 2 *", "--script", "ok.sh", "--no-agent"],
        "no date",
    ),
    (&["often", "--script", "ok.sh", "--no-agent"], "no schedule"),
    (
        &["every 1h", "--script", "gone.sh", "--no-agent"],
        "missing",
    ),
    (
        &["every 1h", "--script", "../x.sh", "--no-agent"],
        "leads out",
    ),
    (
        &["every 1h", "--script", "out.sh", "--no-agent"],
        "leads out",
    ),
    (
        &["every 1h", "--script", "plain", "--no-agent"],
        "not executable",
    ),
    (&["every 1h", "--no-agent"], "names no script"),
    (&["every 1h"], "neither a prompt nor a script"),
    (&["every 1h", "ask"], "no agent is configured"),
    (
        &[
            "every 1h",
            "--script",
            "ok.sh",
            "--no-agent",
            "--workdir",
            "/none",
        ],
        "not there",
    ),
    (
        &[
            "every 1h",
            "--script",
            "ok.sh",
            "--no-agent",
            "--env-file",
            "/none",
        ],
        "/none",
    ),
    (
        &[
            "every 1h",
            "--script",
            "ok.sh",
            "--no-agent",
            "--deliver",
            "telegram:1",
        ],
        "telegram:1",
    ),
];

#[test]
fn a_hint_names_no_job_that_does_not_exist() {
    for words in [&["every 1h", "--no-agent"][..], &["every 1h"]] {
        let words = [&["cron", "create"], words].concat();
        let (_, _, err) = said(&home(), &words);
        assert!(
            !err.contains("JOB") && err.contains("--script NAME"),
            "{err}"
        );
    }
}

#[test]
fn the_interpreter_of_a_script_is_kept_changed_and_taken_away() {
    let sandbox = home();
    sandbox.write("scripts/plain", "echo plain");
    let words = [
        "--script",
        "plain",
        "--no-agent",
        "--interpreter",
        "sh",
        "--name",
        "x",
    ];
    let words = [&["cron", "create", "every 1h"][..], &words].concat();
    assert_eq!(said(&sandbox, &words).0, 0, "it need not be executable");
    assert_eq!(stored(&sandbox)[0]["interpreter"], "sh");
    let (code, out, err) = said(&sandbox, &["cron", "run", "x"]);
    assert!(code == 0 && out.contains("plain"), "{out}{err}");
    let edit = |program: &str| said(&sandbox, &["cron", "edit", "x", "--interpreter", program]).0;
    assert_eq!(edit("bash"), 0);
    assert_eq!(stored(&sandbox)[0]["interpreter"], "bash");
    assert_eq!(edit(""), 1, "nothing runs it then");
    assert_eq!(said(&sandbox, &["cron", "delete", "x", "--yes"]).0, 0);
    assert_eq!(stored(&sandbox).len(), 0, "as Hermes Agent calls it");
}

#[test]
fn what_could_not_run_is_refused_with_the_reason() {
    let sandbox = home();
    sandbox.write("scripts/plain", "echo no");
    std::os::unix::fs::symlink("/bin/true", sandbox.home().join("scripts/out.sh")).expect("a link");
    for (words, reason) in REFUSED {
        let words = [&["cron", "create"], *words].concat();
        let (code, out, err) = said(&sandbox, &words);
        assert!(err.contains(*reason), "{words:?}: {err}");
        assert_eq!((code, out.as_str()), (1, ""), "{words:?}");
        assert!(
            err.contains("hint: ") || *reason == "/none" || *reason == "not there",
            "{err}"
        );
    }
    let usage = [
        "every 1h",
        "--script",
        "ok.sh",
        "--no-agent",
        "--repeat",
        "often",
    ];
    assert_eq!(
        said(&sandbox, &[&["cron", "create"][..], &usage].concat()).0,
        64
    );
}

#[test]
fn b52_without_a_scheduler_create_list_and_run_say_so() {
    let sandbox = home();
    let (_, _, err) = said(&sandbox, &create("every 1h", &["--name", "n"]));
    assert!(
        err.contains("no scheduler is alive") && err.contains("hermes serve"),
        "{err}"
    );
    let (code, _, err) = said(&sandbox, &["cron", "list"]);
    assert!(code == 1 && err.contains("no scheduler is alive"), "{err}");
    let (code, out, err) = said(&sandbox, &["cron", "run", "n"]);
    assert!(err.contains("no scheduler is alive"), "{err}");
    assert_eq!(
        (code, out.as_str()),
        (0, "fine\n"),
        "it ran all the same: {err}"
    );
    let _serve = serving(&sandbox, 30);
    let (code, _, err) = said(&sandbox, &["cron", "list"]);
    assert_eq!((code, err.as_str()), (0, ""));
}

#[test]
fn a_loop_is_proposed_for_a_prompt_that_comes_often() {
    let sandbox = home();
    agent(&sandbox, &["say ready"], "");
    let (_, _, err) = said(
        &sandbox,
        &["cron", "create", "every 5m", "How is it going?"],
    );
    assert!(err.contains("hermes loop start"), "{err}");
    let (_, _, err) = said(&sandbox, &create("every 5m", &[]));
    assert!(!err.contains("loop"), "a script has no conversation: {err}");
    let (_, _, err) = said(&sandbox, &["cron", "create", "30m", "How is it going?"]);
    assert!(
        err.contains("recurs"),
        "what people get wrong is told: {err}"
    );
}

#[test]
fn b57_a_store_that_cannot_be_read_is_never_written_over() {
    let sandbox = home();
    script(&sandbox, "ok.sh", "echo fine");
    for broken in [
        "{\"jobs\": [",
        "null",
        "",
        "{\"jobs\": [{\"id\": \"a\", \"prompt\": \"x\u{0}",
    ] {
        let path = sandbox.write("cron/jobs.json", broken);
        for words in [
            &create("every 1h", &[])[..],
            &["cron", "edit", "a", "--name", "b"],
            &["cron", "pause", "a"],
            &["cron", "resume", "a"],
            &["cron", "remove", "a", "--yes"],
            &["cron", "list"],
            &["cron", "status"],
        ] {
            let (code, refused, _) = document(&sandbox, words);
            assert_eq!(code, 1, "{words:?}");
            let message = refused["error"]["message"].as_str().expect("a message");
            assert!(message.contains("line 1, column"), "{words:?}: {message}");
        }
        assert_eq!(std::fs::read_to_string(path).expect("the store"), broken);
    }
}

#[test]
fn a_home_is_made_for_its_first_job_and_a_deleted_profile_is_not() {
    let sandbox = Sandbox::new();
    let (code, _, err) = said(
        &sandbox,
        &["-p", "ops", "cron", "create", "in 1h", "--no-agent"],
    );
    assert_eq!(code, 1, "{err}");
    assert!(!sandbox.home().exists());
    let sandbox = home();
    let words = [
        "-p",
        "all",
        "cron",
        "create",
        "in 1h",
        "--no-agent",
        "--script",
        "ok.sh",
    ];
    assert_eq!(
        said(&sandbox, &words).0,
        64,
        "one home is written at a time"
    );
}

#[test]
fn a_name_that_is_taken_is_told() {
    let sandbox = home();
    store(&sandbox, &[job("aaaaaaaaaaaa", &json!({"name": "Backup"}))]);
    let words = create("in 1h", &["--name", "backup"]);
    let (code, _, err) = said(&sandbox, &words);
    assert_eq!(code, 0);
    assert!(err.contains("Job aaaaaaaaaaaa has the same name"), "{err}");
}

#[test]
fn a_command_is_no_target_of_a_delivery_and_the_flag_for_it_is_named() {
    let sandbox = with(&[job("aaaaaaaaaaaa", &json!({}))]);
    let before = stored(&sandbox);
    let deliver = ["--deliver", "command:mail -s hi me"];
    let create = create("every 1h", &[]);
    for words in [&create[..], &["cron", "edit", "aaaaaaaaaaaa"]] {
        let (code, _, err) = said(&sandbox, &[words, &deliver].concat());
        assert_eq!(code, 64, "{err}");
        assert!(err.contains("--deliver-command 'mail -s hi me'"), "{err}");
        assert!(!err.contains("Hermes Agent"), "{err}");
    }
    assert_eq!(stored(&sandbox), before);
}

#[test]
fn programs_that_a_job_names_and_that_are_nowhere_are_told() {
    let sandbox = home();
    for (more, told) in [
        (
            &["--interpreter", "nosuch"][..],
            "the interpreter 'nosuch' was not found",
        ),
        (
            &["--deliver-command", "nomail me"],
            "the delivery command 'nomail' was not found",
        ),
        (&["--interpreter", "sh", "--deliver-command", "cat"], ""),
    ] {
        let (code, made, _) = document(&sandbox, &create("every 1h", more));
        assert_eq!(code, 0, "a service may have another path: {made}");
        let warnings = made["warnings"].to_string();
        assert_eq!(
            warnings.contains("was not found"),
            !told.is_empty(),
            "{warnings}"
        );
        assert!(warnings.contains(told), "{warnings}");
    }
    let (code, made, _) = document(&sandbox, &create("every 1h", &["--repeat", "0"]));
    assert_eq!(
        (code, &made["job"]["repeat"]["times"]),
        (0, &serde_json::Value::Null)
    );
    assert!(
        made["warnings"].to_string().contains("of 0 is for ever"),
        "{made}"
    );
    let (code, _, err) = said(&sandbox, &create("in 10m", &["--repeat", "5"]));
    assert!(
        code == 64 && err.contains("fires once, and not 5 times") && err.contains("'every 10m'"),
        "{err}"
    );
    let words = ["cron", "create", "every 1h", "ask", "--interpreter", "sh"];
    let (code, _, err) = said(&sandbox, &words);
    assert!(
        code == 64 && err.contains("runs a script, and none is named"),
        "{err}"
    );
}
