//! The doctor on hosts that tests are not on: modes, codes, hostile names, and files that hang.

use std::os::unix::ffi::OsStrExt as _;
use std::time::Duration;

use serde_json::Value;

use crate::common::Sandbox;
use crate::common::schema::validate;

fn judged(sandbox: &Sandbox, name: &str, change: impl FnOnce(&mut Value)) -> Value {
    let facts = sandbox.recorded(name, change);
    let output = sandbox.doctor_on(&facts).arg("--json").output();
    let output = output.expect("it runs");
    let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
    let schema = include_str!("../../docs/doctor.schema.json");
    let schema = serde_json::from_str(schema).expect("the schema");
    assert_eq!(validate(&schema, &document), [""; 0]);
    let code = output.status.code().map(i64::from);
    assert_eq!(document["verdict"]["exit_code"].as_i64(), code);
    document
}

fn codes(document: &Value) -> Vec<&str> {
    let findings = document["findings"].as_array().expect("findings");
    let codes = findings.iter().map(|found| found["code"].as_str());
    codes.map(|code| code.expect("a code")).collect()
}

fn host_only(command: &mut assert_cmd::Command) -> &mut assert_cmd::Command {
    command.args([
        "--only",
        "host,session-bus,linger,runtime-dir,service,policy",
    ])
}

#[test]
fn a_healthy_host_is_scoped_and_ends_with_0() {
    let sandbox = Sandbox::new();
    let document = judged(&sandbox, "healthy", |_| {});
    let dispatch = &document["dispatch"];
    assert_eq!(dispatch["cron"]["mode"], "scoped");
    assert_eq!(dispatch["cron"]["survives_restart"], true);
    assert_eq!(dispatch["viewpoint"], "serve");
    let facts = sandbox.recorded("healthy", |_| {});
    host_only(&mut sandbox.doctor_on(&facts)).assert().code(0);
    let quiet = host_only(&mut sandbox.doctor_on(&facts))
        .arg("--quiet")
        .output();
    assert!(quiet.expect("it runs").stdout.is_empty());
}

#[test]
fn without_linger_the_mode_names_its_cause_and_the_way_out() {
    let sandbox = Sandbox::new();
    let document = judged(&sandbox, "without_linger", |_| {});
    let dispatch = &document["dispatch"];
    assert_eq!(dispatch["cron"]["mode"], "degraded");
    assert_eq!(dispatch["flips_to"]["mode"], "scoped");
    let findings = document["findings"].as_array().expect("findings");
    let linger = findings
        .iter()
        .find(|found| found["code"] == "HM221")
        .expect("linger off");
    assert_eq!(dispatch["because"], serde_json::json!([linger["id"]]));
    assert_eq!(
        dispatch["flips_to"]["by"],
        serde_json::json!([linger["id"]])
    );
    assert_eq!(
        linger["remedies"][0]["argv"]
            .as_array()
            .expect("argv")
            .last(),
        Some(&"bot".into())
    );
    let kills = findings
        .iter()
        .find(|found| found["code"] == "HM301")
        .expect("kills");
    assert_eq!(kills["cause"], linger["id"]);
}

#[test]
fn the_policy_is_that_of_the_home() {
    let sandbox = Sandbox::new();
    sandbox.write("config.yaml", "cron:\n  require_restart_safe_scope: true\n");
    let document = judged(&sandbox, "without_linger", |_| {});
    assert_eq!(document["dispatch"]["cron"]["mode"], "refused");
    assert!(codes(&document).contains(&"HM302"));
    assert_eq!(document["verdict"]["status"], "error");
}

/// The mode of jobs and the state of the `policy` check, with this file in the home.
fn with_file(name: &str, text: &str) -> (Value, Value, Vec<String>) {
    let sandbox = Sandbox::new();
    sandbox.write(name, text);
    let document = judged(&sandbox, "without_linger", |_| {});
    let checks = document["checks"].as_array().expect("checks");
    let policy = checks.iter().find(|check| check["id"] == "policy");
    let codes = codes(&document).into_iter().map(str::to_owned).collect();
    let mode = document["dispatch"]["cron"]["mode"].clone();
    (mode, policy.expect("the check")["state"].clone(), codes)
}

#[test]
fn b08_a_policy_that_cannot_be_read_counts_as_on_and_is_told() {
    let named = "cron:\n  require_restart_safe_scope: true\n  provider: [\n";
    let named_in_toml = "[cron\nrequire_restart_safe_scope = true\n";
    for (name, text) in [
        ("config.yaml", named),
        (
            "config.yaml",
            "cron:\n  require_restart_safe_scope: maybe\n",
        ),
        (
            "config.yaml",
            "cron:\n  require_restart_safe_scope: \"true\"\n",
        ),
        ("config.toml", named_in_toml),
    ] {
        let (mode, policy, codes) = with_file(name, text);
        assert_eq!(mode, "refused", "{text}");
        assert!(codes.contains(&"HM302".to_owned()), "{text}: {codes:?}");
        assert_ne!(policy, "passed", "{text}");
    }
    // A file that never names it did not mean to set it.
    let (mode, ..) = with_file("config.yaml", "timezone: [\n");
    assert_eq!(mode, "degraded");
}

#[test]
fn thresholds_move_the_code_and_nothing_else() {
    let sandbox = Sandbox::new();
    let facts = sandbox.recorded("without_linger", |_| {});
    let code = |arguments: &[&str]| {
        let mut command = sandbox.doctor_on(&facts);
        let output = host_only(&mut command)
            .args(arguments)
            .output()
            .expect("it runs");
        (output.status.code(), output.stdout)
    };
    let (warned, text) = code(&["--plain"]);
    assert_eq!(warned, Some(1));
    assert!(!text.is_empty());
    assert_eq!(code(&["--fail-on", "error"]).0, Some(0));
    assert_eq!(
        code(&["--fail-on", "error", "--quiet"]),
        (Some(0), Vec::new())
    );
    assert_eq!(code(&["--print", "error"]).0, Some(1));
}

#[test]
fn hostile_names_come_out_escaped_and_quoted() {
    let sandbox = Sandbox::new();
    let evil = "b\u{1b}[31m'; rm -rf /\n\u{202e}t";
    let facts = sandbox.recorded("without_linger", |facts| {
        facts["account"]["name"] = evil.into();
        facts["dispatcher"]["unit"]["name"] = format!("{evil}.service").into();
    });
    for format in [
        ["--verbose"].as_slice(),
        &["--plain"],
        &["--json"],
        &["--ascii", "-v"],
    ] {
        let output = sandbox
            .doctor_on(&facts)
            .args(format)
            .output()
            .expect("it runs");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let stray =
            |c: &char| c.is_control() && *c != '\n' && (*c != '\t' || format != ["--plain"]);
        assert_eq!(text.chars().find(stray), None, "{format:?}");
        if format != ["--json"] {
            assert!(!text.contains('\u{202e}'), "{text}");
            assert!(
                text.contains(r"$'b\033[31m\'; rm -rf /\n\342\200\256t'"),
                "{format:?}: {text}"
            );
        }
        assert!(format[0] != "--ascii" || text.is_ascii());
    }
}

#[test]
fn files_that_hang_do_not_hang_the_doctor() {
    let sandbox = Sandbox::new();
    for name in [
        "config.yaml",
        "config.toml",
        "state.db",
        "gateway.pid",
        "gateway_state.json",
    ]
    .into_iter()
    .chain([
        "cron/jobs.json",
        "cron/executions.db",
        "cron/ticker_heartbeat",
        "cron/.tick.lock",
    ]) {
        let path = sandbox.home().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        let path = std::ffi::CString::new(path.as_os_str().as_bytes()).expect("a path");
        nix::unistd::mkfifo(path.as_c_str(), nix::sys::stat::Mode::S_IRWXU).expect("a FIFO");
    }
    let output = sandbox
        .hermes()
        .args(["doctor", "--json", "--deadline", "5s"])
        .timeout(Duration::from_secs(30))
        .output()
        .expect("it answers");
    let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
    assert!(
        output
            .status
            .code()
            .is_some_and(|code| code > 0 && code <= 3)
    );
    assert!(
        !codes(&document).contains(&"HM401"),
        "what hangs is not absent"
    );
}

#[test]
fn a_deadline_that_cannot_be_kept_leaves_checks_unknown() {
    let sandbox = Sandbox::new();
    let facts = sandbox.recorded("healthy", |_| {});
    let output = sandbox
        .doctor_on(&facts)
        .args(["--json", "--deadline", "1ns"])
        .output();
    let output = output.expect("it runs");
    assert_eq!(output.status.code(), Some(3));
    let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
    assert_eq!(document["verdict"]["complete"], false);
    let checks = document["checks"].as_array().expect("checks");
    assert!(checks.iter().all(|check| check["status"] == "unknown"));
}

#[test]
fn b02_a_dispatcher_of_root_s_is_told_with_what_is_wrong_the_evidence_and_a_way_to_look() {
    let sandbox = Sandbox::new();
    let document = judged(&sandbox, "healthy", |facts| {
        facts["account"]["uid"] = 0.into();
        facts["account"]["name"] = "root".into();
    });
    let findings = document["findings"].as_array().expect("findings");
    let found = findings.iter().find(|found| found["code"] == "HM319");
    let found = found.unwrap_or_else(|| panic!("{:?}", codes(&document)));
    let summary = found["summary"].as_str().expect("a text");
    assert!(
        summary.starts_with("every job and every agent has root's rights"),
        "{summary}"
    );
    assert_eq!(found["evidence"][0]["target"], "User", "{found:#}");
    let look = found["remedies"][0]["argv"].as_array().expect("a command");
    assert!(
        look.iter().any(|word| word == "User,FragmentPath"),
        "{found:#}"
    );
}
