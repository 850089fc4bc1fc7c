//! The doctor as somebody who is nobody: without root's rights what a mode forbids is forbidden. Where root
//! runs the tests, it becomes another account first.

#![expect(
    clippy::disallowed_methods,
    reason = "the binary is started as another account"
)]

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::tree::{differences, tree};
use crate::common::{Sandbox, binary};

/// The account to which no file belongs.
const NOBODY: u32 = 65_534;

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Gives a tree to that account.
fn give(path: &Path) {
    chown(path, Some(NOBODY), Some(NOBODY)).expect("a new owner");
    if path.is_dir() {
        for entry in std::fs::read_dir(path).expect("a directory") {
            give(&entry.expect("an entry").path());
        }
    }
}

/// The doctor, as an account without any rights of its own; its home is this sandbox's.
fn doctor(sandbox: &Sandbox, binary: &Path, words: &[&str], facts: Option<&Path>) -> Output {
    let mut command = Command::new(binary);
    command
        .arg("doctor")
        .args(words)
        .env_clear()
        .env("HOME", sandbox.user_home())
        .env("HERMES_HOME", sandbox.home())
        .env("PATH", "/usr/bin:/bin")
        .current_dir("/");
    if let Some(facts) = facts {
        command
            .env("__HERMES_FACTS", facts)
            .env("__HERMES_NOW", "2026-11-30T00:00:10Z");
    }
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command.output().expect("it runs")
}

#[test]
fn a_healthy_host_ends_with_0_for_an_account_without_rights() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().expect("a directory");
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).expect("a mode");
    let binary = binary(folder.path());
    let facts = sandbox.recorded("healthy", |_| {});
    if is_root() {
        give(sandbox.user_home());
    }
    let only = "host,session-bus,linger,runtime-dir,service,policy";
    let output = doctor(&sandbox, &binary, &["--only", only], Some(&facts));
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.starts_with("ok: jobs run scoped"), "{text}");
    // Not that all is well: the rest was not looked at.
    let first = text.lines().next().expect("a first line");
    assert!(
        first.contains("nothing is wrong of what was asked for (host, session-bus,"),
        "{first}"
    );
}

#[test]
fn a_home_that_may_not_be_written_is_judged_and_untouched() {
    let sandbox = Sandbox::with_sample_home();
    let folder = tempfile::tempdir().expect("a directory");
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).expect("a mode");
    let binary = binary(folder.path());
    if is_root() {
        give(sandbox.user_home());
    }
    let directories = ["", "cron", "runtime"].map(|name| sandbox.home().join(name));
    let mode = |mode| {
        for directory in &directories {
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(directory, mode).expect("a mode");
        }
    };
    mode(0o555);
    let before = tree(sandbox.user_home());
    for format in ["--verbose", "--plain", "--json"] {
        let output = doctor(&sandbox, &binary, &[format], None);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("HM805"), "{text}");
        let found = differences(&before, &tree(sandbox.user_home()));
        assert!(found.is_empty(), "{format}:\n{}", found.join("\n"));
    }
    mode(0o755);
}

#[test]
fn a_home_of_another_account_is_not_known_rather_than_at_fault() {
    // Only root can make a home that is another's.
    if !is_root() {
        return;
    }
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().expect("a directory");
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open.clone()).expect("a mode");
    std::fs::set_permissions(sandbox.user_home(), open).expect("a mode");
    let binary = binary(folder.path());
    sandbox.write("config.yaml", "timezone: UTC\n");
    sandbox.write("config.toml", "[agent]\ncommand = [\"/bin/cat\"]\n");
    sandbox.write("cron/jobs.json", "{\"jobs\": []}\n");
    let closed = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(sandbox.home(), closed).expect("a mode");
    // Read by whoever owns it it is healthy.
    let only = "config,stores-access,policy";
    let words = ["--only", only, "--home"];
    let home = sandbox.home().display().to_string();
    let own = sandbox
        .hermes()
        .arg("doctor")
        .args(words)
        .arg(&home)
        .output();
    let own = own.expect("it runs");
    let text = String::from_utf8_lossy(&own.stdout);
    assert_eq!(own.status.code(), Some(0), "{text}");
    let words = [&words[..], &[home.as_str(), "--json"]].concat();
    let mut list = Command::new(&binary);
    list.args(["cron", "list", "--home", &home]).env_clear();
    let list = list.uid(NOBODY).gid(NOBODY).current_dir("/").output();
    let told = String::from_utf8_lossy(&list.expect("it runs").stderr).into_owned();
    assert!(
        told.contains("nor whether cron.require_restart_safe_scope is on"),
        "{told}"
    );
    assert!(!told.contains("counts as on"), "{told}");
    let output = doctor(&sandbox, &binary, &words, None);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{text}");
    let report: serde_json::Value = serde_json::from_str(&text).expect("one document");
    assert_eq!(report["findings"], serde_json::json!([]), "{text}");
    let checks = report["checks"].as_array().expect("checks");
    let gaps = checks.iter().flat_map(|check| {
        let gaps = check["unchecked"].as_array().expect("gaps");
        gaps.iter()
    });
    let of_config = gaps.filter(|gap| {
        let why = gap["why"].as_str().unwrap_or_default();
        why.contains("/config.yaml cannot be read") || why.contains("/config.toml cannot be read")
    });
    let tell: Vec<_> = of_config.map(|gap| gap["would_tell"][0].clone()).collect();
    assert!(
        tell.len() >= 2 && tell.iter().all(|word| word == "sudo"),
        "{text}"
    );
}
