//! `hermes config`: values with their places, problems with theirs, and no secrets.

use predicates::prelude::*;

use crate::common::Sandbox;

fn with_files(yaml: &str, toml: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("config.yaml", yaml);
    sandbox.write("config.toml", toml);
    sandbox
}

fn document(sandbox: &Sandbox, arguments: &[&str]) -> serde_json::Value {
    let output = sandbox.hermes().args(arguments).output().expect("it runs");
    serde_json::from_slice(&output.stdout).expect("one document")
}

#[test]
fn show_names_the_layer_and_the_line() {
    let sandbox = with_files(
        "cron:\n  output_retention: 7\n",
        "[cron]\nmax_parallel_jobs = 3\n",
    );
    sandbox
        .hermes()
        .env("HERMES_CRON_MAX_PARALLEL", "4")
        .args(["config", "show"])
        .assert()
        .code(0)
        .stdout(
            predicate::str::is_match(r"cron\.output_retention +7 +config\.yaml:2\n")
                .expect("a pattern"),
        )
        .stdout(
            predicate::str::is_match(r"cron\.max_parallel_jobs +4 +HERMES_CRON_MAX_PARALLEL\n")
                .expect("a pattern"),
        )
        .stdout(predicate::str::is_match(r"loops\.max_ticks +100 +default\n").expect("a pattern"));
    sandbox
        .hermes()
        .env("HERMES_CRON_MAX_PARALLEL", "4")
        .args(["config", "show", "cron.max_parallel_jobs"])
        .assert()
        .code(0)
        .stdout(predicate::str::contains("= 4  (HERMES_CRON_MAX_PARALLEL)"))
        .stdout(predicate::str::contains("instead of 3  (config.toml:2)"))
        .stdout(predicate::str::contains("instead of 8  (default)"));
    let set = document(&sandbox, &["config", "show", "--set", "--json"]);
    assert_eq!(set["schema"], "hermes.config-show/1");
    let names: Vec<_> = set["homes"][0]["settings"]
        .as_array()
        .expect("settings")
        .iter()
        .map(|setting| setting["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, ["cron.max_parallel_jobs", "cron.output_retention"]);
}

#[test]
fn a_setting_that_is_none_is_answered_with_the_nearest() {
    Sandbox::new()
        .hermes()
        .args(["config", "show", "cron.max_paralel_jobs"])
        .assert()
        .code(1)
        .stderr(predicate::str::contains(
            "did you mean cron.max_parallel_jobs?",
        ));
}

#[test]
fn secrets_are_not_shown() {
    let sandbox = with_files("", "[serve]\ntoken = \"hunter2\"\n");
    for arguments in [
        &["config", "show"][..],
        &["config", "show", "serve.token"],
        &["config", "show", "--json"],
        &["config", "check", "--json"],
    ] {
        let output = sandbox.hermes().args(arguments).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(!text.contains("hunter2"), "{arguments:?}");
    }
    let shown = document(&sandbox, &["config", "show", "serve.token", "--json"]);
    let token = &shown["homes"][0]["settings"][0];
    assert_eq!(
        (&token["value"], &token["secret"]),
        (&"(hidden)".into(), &true.into())
    );
}

#[test]
fn check_names_file_line_and_what_was_meant() {
    let sandbox = with_files("cron:\n  max_paralel_jobs: 3\n", "[serve]\nport = \"x\"\n");
    let home = sandbox.home();
    sandbox
        .hermes()
        .args(["config", "check"])
        .assert()
        .code(1)
        .stdout(predicate::str::contains(format!(
            "{}/config.yaml:2:3: unknown name cron.max_paralel_jobs\n  did you mean cron.max_parallel_jobs?",
            home.display()
        )))
        .stdout(predicate::str::contains("config.toml:2:8: serve.port is 'x', not a port from 0 to 65535"));
    let broken = with_files("a: [1\nb: 2\n", "");
    let checked = document(&broken, &["config", "check", "--json"]);
    let problem = &checked["homes"][0]["problems"][0];
    assert_eq!(
        (&problem["kind"], &problem["at"]["line"]),
        (&"unparsable".into(), &2.into())
    );
    broken.hermes().args(["config", "check"]).assert().code(1);
}

#[test]
fn without_files_all_is_sound_and_nothing_is_made() {
    let sandbox = Sandbox::new();
    sandbox.hermes().args(["config", "check"]).assert().code(0);
    sandbox
        .hermes()
        .args(["config", "path"])
        .assert()
        .code(0)
        .stdout(predicate::str::contains("config.yaml  (absent)"))
        .stdout(predicate::str::contains("config.toml  (absent)"));
    assert!(!sandbox.home().exists());
}

#[test]
fn fifty_thousand_unknown_names_are_counted_in_time() {
    let lines = |end: &str| {
        (0..50_000).fold(String::new(), |text, i| {
            text + &format!("timezon{i}{end} 1\n")
        })
    };
    let sandbox = with_files(&lines(":"), &lines(" ="));
    sandbox.write("cron/jobs.json", "{\"jobs\": []}");
    // Looked up one by one in the text and in all names this took minutes.
    let patience = std::time::Duration::from_secs(100);
    sandbox
        .hermes()
        .args(["config", "check"])
        .timeout(patience)
        .assert()
        .code(1)
        .stdout(predicate::str::contains("config.yaml: 49900 more names"))
        .stdout(predicate::str::contains(
            "config.toml: 49900 more unknown names",
        ));
    let words = ["doctor", "--json", "--deadline", "100s"];
    let output = sandbox.hermes().args(words).output();
    let report: serde_json::Value =
        serde_json::from_slice(&output.expect("it runs").stdout).expect("one document");
    let checks = report["checks"].as_array().expect("checks");
    let config = checks.iter().find(|check| check["id"] == "config");
    assert_eq!(config.expect("the check")["status"], "fail");
    assert_eq!(report["verdict"]["complete"], true, "{}", report["verdict"]);
}
