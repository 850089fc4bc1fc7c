//! How the report calls this program: on many hosts `hermes` is another one.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use serde_json::Value;

use crate::common::Sandbox;

const OURS: &str = env!("CARGO_BIN_EXE_hermes");

/// The report on a home with something of everything, where this is first on the `PATH`.
fn report(sandbox: &Sandbox, first: &Path) -> Value {
    let path = format!("{}:/usr/bin:/bin", first.display());
    let output = sandbox
        .hermes()
        .env("PATH", path)
        .args(["doctor", "--json", "--only"])
        .arg("config,stores,scheduler,jobs,ledger,loops,sessions")
        .output()
        .expect("it runs");
    serde_json::from_slice(&output.stdout).expect("one document")
}

/// All words of the commands that the report prints.
fn commands(report: &Value) -> Vec<Vec<String>> {
    let findings = report["findings"].as_array().expect("findings");
    let remedies = findings.iter().flat_map(|found| {
        let remedies = found["remedies"].as_array().expect("remedies");
        remedies.iter()
    });
    let all = remedies.flat_map(|remedy| [&remedy["argv"], &remedy["undo"], &remedy["verify"]]);
    all.map(|words| {
        let words = words.as_array().expect("words").iter();
        words
            .map(|word| word.as_str().expect("a word").to_owned())
            .collect()
    })
    .collect()
}

/// Whether these words, or a line for `sh` among them, start a program of this name.
fn starts(words: &[String], name: &str) -> bool {
    let line = words.iter().flat_map(|word| word.split(" && "));
    let mut programs = words.iter().take(1).map(String::as_str).chain(line);
    programs.any(|command| command == name || command.starts_with(&format!("{name} ")))
}

#[test]
fn where_hermes_is_another_program_ours_is_called_by_its_file() {
    for sandbox in [Sandbox::new(), Sandbox::with_sample_home()] {
        let bin = sandbox.user_home().join("bin");
        std::fs::create_dir(&bin).expect("a directory");
        let other = bin.join("hermes");
        std::fs::write(&other, "#!/bin/sh\nexit 7\n").expect("a program");
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&other, executable).expect("a mode");
        for first in [bin.as_path(), Path::new("/nowhere")] {
            let report = report(&sandbox, first);
            let commands = commands(&report);
            let bare = commands.iter().find(|words| starts(words, "hermes"));
            assert_eq!(bare, None);
            assert!(commands.iter().any(|words| starts(words, OURS)));
            assert_eq!(report["tool"]["command"], OURS);
        }
        let report = sandbox.hermes().arg("doctor").output().expect("it runs");
        let text = String::from_utf8_lossy(&report.stdout);
        assert!(
            !text.contains("\n  hermes ") && !text.contains("&& hermes "),
            "{text}"
        );
    }
}

#[test]
fn where_hermes_is_our_file_it_is_called_by_its_name() {
    for sandbox in [Sandbox::new(), Sandbox::with_sample_home()] {
        let bin = sandbox.user_home().join("bin");
        std::fs::create_dir(&bin).expect("a directory");
        symlink(OURS, bin.join("hermes")).expect("a link");
        let report = report(&sandbox, &bin);
        let commands = commands(&report);
        assert!(commands.iter().any(|words| starts(words, "hermes")));
        assert!(!commands.iter().any(|words| starts(words, OURS)));
        assert_eq!(report["tool"]["command"], "hermes");
    }
}
