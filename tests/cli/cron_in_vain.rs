//! Jobs that could not run: what lists and `create` say of them.

use serde_json::{Value, json};

use crate::common::jobs::{agent, document, home, job, said, serving, store, with};

const ID: &str = "aaaaaaaaaaaa";

#[test]
fn a_job_that_needs_the_other_program_is_listed_with_the_reason() {
    let sandbox = with(&[job(ID, &json!({"deliver": "telegram:1"}))]);
    let _serve = serving(&sandbox, 30);
    for verb in ["list", "status"] {
        let (code, out, err) = said(&sandbox, &["cron", verb]);
        assert_eq!(code, 1, "nothing fires: {out}");
        assert!(
            out.contains("refused") && out.contains("it needs delivery to telegram:1"),
            "{out}"
        );
        assert!(
            err.contains("Nothing will fire: the only armed job"),
            "{err}"
        );
        assert!(!out.contains("jobs fire"), "{out}");
    }
    let (_, status, _) = document(&sandbox, &["cron", "status"]);
    assert_eq!(status["homes"][0]["will_fire"], false, "{status}");
    // With one that runs, jobs fire.
    store(
        &sandbox,
        &[
            job(ID, &json!({"deliver": "telegram:1"})),
            job("bbbbbbbbbbbb", &json!({})),
        ],
    );
    for verb in ["list", "status"] {
        assert_eq!(said(&sandbox, &["cron", verb]).0, 0, "{verb}");
    }
}

#[test]
fn what_a_pass_would_refuse_or_fail_is_not_shown_as_active() {
    let odd = |id: &str, more: Value| job(&id.repeat(12), &more);
    let jobs = [
        odd("1", json!({"script": "../../bin/true"})),
        odd("2", json!({"script": null})),
        odd("3", json!({"script": "gone.sh"})),
        odd("4", json!({"workdir": "/none/such"})),
        odd("5", json!({"x_hermes": {"env_file": "/none/such.env"}})),
    ];
    let sandbox = with(&jobs);
    let _serve = serving(&sandbox, 30);
    let (code, list, _) = document(&sandbox, &["cron", "list"]);
    let states: Vec<_> = list["homes"][0]["jobs"]
        .as_array()
        .expect("jobs")
        .iter()
        .map(|job| job["state"].as_str().expect("a state"))
        .collect();
    assert_eq!(
        (code, states.as_slice()),
        (
            1,
            &[
                "refused",
                "refused",
                "would_fail",
                "would_fail",
                "would_fail"
            ][..]
        )
    );
    let (_, out, _) = said(&sandbox, &["cron", "list"]);
    for why in [
        "leads out",
        "names no script",
        "gone.sh is missing",
        "/none/such is not there",
    ] {
        assert!(out.contains(why), "{why}: {out}");
    }
    let (_, out, _) = said(&sandbox, &["cron", "show", &"3".repeat(12)]);
    assert!(
        out.contains("would fail: ") && out.contains("gone.sh"),
        "{out}"
    );
}

#[test]
fn a_prompt_without_an_agent_is_listed_as_refused() {
    let asks = json!({"no_agent": false, "script": null, "prompt": "p"});
    let sandbox = with(&[job(ID, &asks)]);
    let _serve = serving(&sandbox, 30);
    let (_, out, _) = said(&sandbox, &["cron", "list"]);
    assert!(out.contains("refused: no agent is configured"), "{out}");
    agent(&sandbox, &["say ready"], "");
    let (_, list, _) = document(&sandbox, &["cron", "list"]);
    assert_eq!(list["homes"][0]["jobs"][0]["state"], "active");
}

#[test]
fn a_prompt_needs_an_agent_that_is_not_this_binary() {
    let sandbox = home();
    agent(&sandbox, &["say ready"], "");
    let ask = [
        "cron",
        "create",
        "every weekday at 9am",
        "Summarise the inbox",
    ];
    let (code, made, _) = document(&sandbox, &ask);
    assert_eq!(
        (code, &made["job"]["name"]),
        (0, &json!("Summarise the inbox"))
    );
    assert_eq!(made["job"]["schedule"]["expr"], "0 9 * * 1-5");
    let own = env!("CARGO_BIN_EXE_hermes");
    sandbox.write("config.toml", format!("[agent]\ncommand = [\"{own}\"]\n"));
    let (code, _, err) = said(&sandbox, &ask);
    assert_eq!(code, 1);
    assert!(err.contains("is this binary itself"), "{err}");
    // Another path of programs may have it: told, not refused.
    sandbox.write("config.toml", "[agent]\ncommand = [\"no-such-agent\"]\n");
    let (code, _, err) = said(&sandbox, &ask);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("no-such-agent"), "{err}");
}

#[test]
fn an_agent_that_is_written_wrong_is_told_with_line_value_and_what_is_allowed() {
    let sandbox = home();
    let ask = ["cron", "create", "every 1d", "How are things?"];
    for (text, told) in [
        (
            "[agent]\npreset = \"foo\"\n",
            [
                "config.toml:2:",
                "agent.preset is 'foo'",
                "hermes, claude, codex",
            ],
        ),
        (
            "[serve]\n\n[agent]\ncommand = \"my-agent --once\"\n",
            ["config.toml:4:", "'my-agent …'", "a list of texts"],
        ),
    ] {
        sandbox.write("config.toml", text);
        let (code, _, err) = said(&sandbox, &ask);
        assert_eq!(code, 1, "{err}");
        assert!(!err.contains("no agent is configured"), "{err}");
        for part in told {
            assert!(err.contains(part), "{part}: {err}");
        }
    }
    // What needs no agent is run all the same.
    store(&sandbox, &[job("aaaaaaaaaaaa", &json!({}))]);
    assert_eq!(said(&sandbox, &["cron", "run", "aaaaaaaaaaaa"]).0, 0);
}

#[test]
fn a_schedule_that_cannot_be_read_fires_once_more_and_the_list_says_so() {
    let schedules = [
        json!({}),
        json!({"kind": "lunar"}),
        json!({"kind": "cron", "expr": "61 * * * *"}),
        json!({"kind": "interval", "minutes": 1.5}),
    ];
    for schedule in schedules {
        let at = |next: &str| job(ID, &json!({"schedule": schedule, "next_run_at": next}));
        let sandbox = with(&[at("2026-06-17T09:59:30+00:00")]);
        let (code, list, _) = document(&sandbox, &["cron", "list"]);
        let seen = &list["homes"][0]["jobs"][0];
        assert_eq!((code, &seen["state"]), (1, &json!("once_more")), "{list}");
        let why = seen["because"].as_str().expect("why");
        assert!(why.contains("is its last"), "{why}");
        let (_, told, _) = document(&sandbox, &["cron", "tick"]);
        assert_eq!(
            told["runs"].as_array().map(Vec::len),
            Some(1),
            "{schedule}: {told}"
        );
        let (_, list, _) = document(&sandbox, &["cron", "list"]);
        let seen = &list["homes"][0]["jobs"][0]["state"];
        assert!(seen == "never" || seen == "error", "{schedule}: {list}");
        let (_, told, _) = document(&sandbox, &["cron", "tick"]);
        assert_eq!(told["runs"], json!([]), "{schedule}: {told}");
    }
}
