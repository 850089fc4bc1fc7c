//! Completions and manual pages are generated from the command line's one definition and checked in.
//! `tests/run regenerate` writes them anew.

use std::collections::BTreeMap;
use std::path::Path;

use crate::common::Sandbox;

const HOW: &str = "run 'tests/run regenerate' and commit what it writes";

fn checked_in(relative: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(relative)
}

fn files(directory: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(directory).expect("the generated files");
    let file = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        (
            name.into_owned(),
            std::fs::read_to_string(&path).expect("a page"),
        )
    };
    entries.map(file).collect()
}

#[test]
fn completions_are_those_of_this_command_line() {
    let sandbox = Sandbox::new();
    for (shell, file) in [
        ("bash", "hermes.bash"),
        ("zsh", "_hermes"),
        ("fish", "hermes.fish"),
    ] {
        let output = sandbox.hermes().args(["completions", shell]).output();
        let output = output.expect("it runs");
        assert!(output.status.success());
        let kept = std::fs::read(checked_in("completions").join(file)).expect("a script");
        assert!(output.stdout == kept, "completions/{file}: {HOW}");
    }
}

#[test]
fn manual_pages_are_those_of_this_command_line() {
    let sandbox = Sandbox::new();
    let written = sandbox.user_home().join("man");
    sandbox.hermes().arg("man").arg(&written).assert().code(0);
    let (kept, made) = (files(&checked_in("man")), files(&written));
    let names = |pages: &BTreeMap<String, String>| pages.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&kept), names(&made), "{HOW}");
    for (name, text) in &kept {
        assert!(text == &made[name], "man/{name}: {HOW}");
    }
}

#[test]
fn every_command_has_examples_and_no_full_stop_on_its_first_line() {
    for (name, text) in files(&checked_in("man")) {
        assert!(text.contains("EXAMPLES"), "{name} has no examples");
        let summary = text
            .lines()
            .find(|line| line.starts_with("hermes") && line.contains(" \\- "))
            .unwrap_or_else(|| panic!("{name} has no summary"));
        assert!(!summary.ends_with('.'), "{name}: {summary}");
        // What is folded at 80 columns cannot be pasted.
        let (_, examples) = text.split_once(".SH \"EXAMPLES\"").expect("they are there");
        for line in examples.lines().map(|line| line.replace('\\', "")) {
            let is_example = line.starts_with("  ");
            assert!(!is_example || line.len() < 80, "{name}: {line}");
        }
    }
}
