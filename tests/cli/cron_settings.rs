//! A configuration that cannot be read: whoever relies on it says so, with file, line and column, and
//! what cannot be known of the policy is never taken for leave.

use serde_json::json;

use crate::common::Sandbox;
use crate::common::jobs::{document, home, job, said, script, with};

const ID: &str = "aaaaaaaaaaaa";

/// A file in which the second line does not parse.
const BROKEN: [(&str, &str); 2] = [
    ("config.yaml", "timezone: UTC\ncron: [unclosed\n"),
    (
        "config.toml",
        "timezone = \"UTC\"\n[agent\npreset = \"claude\"\n",
    ),
];

#[test]
fn every_command_of_cron_says_that_a_file_does_not_parse() {
    for (file, text) in BROKEN {
        let sandbox = with(&[job(ID, &json!({}))]);
        script(&sandbox, "ok.sh", "echo ran");
        sandbox.write(file, text);
        let create = [
            "cron",
            "create",
            "every 1h",
            "--script",
            "ok.sh",
            "--no-agent",
            "--dry-run",
        ];
        for words in [
            &["cron", "list"][..],
            &["cron", "status"],
            &["cron", "next", "every 1h"],
            &["cron", "tick", "--dry-run"],
            &["cron", "tick"],
            &["cron", "run", ID],
            &create,
        ] {
            let (_, _, err) = said(&sandbox, words);
            assert!(
                err.contains(&format!("{file}:")) && err.contains("cannot be parsed"),
                "{words:?}: {err}"
            );
            assert!(err.contains("Nothing in that file counts"), "{err}");
        }
    }
}

#[test]
fn where_the_file_of_the_agent_does_not_parse_no_agent_is_not_the_reason() {
    let sandbox = home();
    sandbox.write("config.toml", BROKEN[1].1);
    for words in [
        &["agent", "check"][..],
        &["cron", "create", "every 1d", "How are things?"],
        &["loop", "start", "--foreground", "1m", "look"],
    ] {
        let (code, _, err) = said(&sandbox, words);
        assert_ne!(code, 0, "{words:?}");
        assert!(
            err.contains("the agent is not known") && err.contains("config.toml:2:"),
            "{words:?}: {err}"
        );
        assert!(!err.contains("no agent is configured"), "{words:?}: {err}");
    }
}

/// What stands under the first hint, as somebody would paste it.
fn pasted(err: &str) -> String {
    let mut lines = err.lines().skip_while(|line| !line.contains("hint: "));
    let hint = lines.next().expect("a hint");
    assert!(hint.ends_with("/config.toml:"), "{hint}");
    let lines: Vec<_> = lines.take_while(|line| !line.contains("hint: ")).collect();
    lines.join("\n") + "\n"
}

#[test]
fn the_hint_where_no_agent_is_configured_can_be_pasted() {
    let sandbox = home();
    let ask = ["cron", "create", "every 1d", "How are things?"];
    let toml = |more: &str, sandbox: &Sandbox| sandbox.write("config.toml", more);
    for before in [
        "",
        "[serve]\nport = 0\n",
        "[agent]\ntimeout = 60\n",
        "[agent]\n# none yet\n",
    ] {
        toml(before, &sandbox);
        let (_, _, err) = said(&sandbox, &ask);
        assert!(err.contains("no agent is configured"), "{err}");
        toml(&format!("{before}{}", pasted(&err)), &sandbox);
        let (code, checked, _) = document(&sandbox, &["config", "check"]);
        assert_eq!(code, 0, "{checked}");
        let (_, _, err) = said(&sandbox, &["cron", "create", "every 1d", "q", "--dry-run"]);
        assert!(!err.contains("no agent is configured"), "{err}");
    }
}

#[test]
fn a_policy_in_what_is_no_table_cannot_be_read() {
    for text in [
        "cron:\n  - require_restart_safe_scope: true\n",
        "cron: \"require_restart_safe_scope: true\"\n",
        "- cron:\n    require_restart_safe_scope: true\n",
    ] {
        let sandbox = with(&[job(ID, &json!({}))]);
        sandbox.write("config.yaml", text);
        let (_, _, err) = said(&sandbox, &["cron", "list"]);
        assert!(
            err.contains("config.yaml:1:") && err.contains("counts as on until it can be read"),
            "{text}: {err}"
        );
    }
    // A file of remarks says nothing.
    let sandbox = with(&[job(ID, &json!({}))]);
    sandbox.write("config.yaml", "# nothing yet\n");
    let (_, _, err) = said(&sandbox, &["cron", "list"]);
    assert!(!err.contains("config.yaml"), "{err}");
}

#[test]
fn a_policy_that_cannot_be_read_is_told() {
    for value in ["maybe", "\"true\"", "1"] {
        let sandbox = with(&[job(ID, &json!({}))]);
        let text = format!("cron:\n  require_restart_safe_scope: {value}\n");
        sandbox.write("config.yaml", text);
        for words in [
            &["cron", "list"][..],
            &["cron", "status"],
            &["cron", "tick"],
        ] {
            let (_, _, err) = said(&sandbox, words);
            assert!(
                err.contains("config.yaml:2:31: cron.require_restart_safe_scope is")
                    && err.contains("counts as on until it can be read"),
                "{words:?}: {err}"
            );
        }
        // What mends it is not the layer below, which does not count.
        let (_, out, _) = said(&sandbox, &["config", "check"]);
        assert!(
            out.contains("counts as on until") && !out.contains("layer below"),
            "{out}"
        );
        // Another layer over it says it.
        sandbox.write(
            "config.toml",
            "[cron]\nrequire_restart_safe_scope = false\n",
        );
        let (_, _, err) = said(&sandbox, &["cron", "list"]);
        assert!(!err.contains("counts as on"), "{err}");
    }
}
