//! Programs that stand in for agents which the presets know: what they were told, word by word.

use std::path::Path;

use super::Sandbox;

/// A turn that a stand-in was given.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Told {
    /// The words after its name.
    pub(crate) words: Vec<String>,
    /// What came on stdin.
    pub(crate) stdin: String,
}

/// Puts a program of this name on the [`path`] of this user, which does what this shell script does.
pub(crate) fn program(sandbox: &Sandbox, name: &str, does: &str) {
    let bin = sandbox.user_home().join("bin");
    std::fs::create_dir_all(&bin).expect("a directory");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/agents/standin.sh");
    let link = bin.join(name);
    if !link.is_symlink() {
        std::os::unix::fs::symlink(script, link).expect("a link");
    }
    std::fs::write(bin.join(format!("{name}.does")), does).expect("a script");
}

/// Where it is found. Our own program has the name of one of them, and comes last.
pub(crate) fn path(sandbox: &Sandbox) -> String {
    let own = Path::new(env!("CARGO_BIN_EXE_hermes")).parent();
    let bin = sandbox.user_home().join("bin");
    let own = own.expect("a directory").display();
    format!("{}:/usr/bin:/bin:{own}", bin.display())
}

/// All that it was told, turn by turn.
pub(crate) fn told(sandbox: &Sandbox, name: &str) -> Vec<Told> {
    let log = sandbox.user_home().join("bin").join(format!("{name}.log"));
    let log = std::fs::read_to_string(log).unwrap_or_default();
    let turns = log
        .split('\u{1e}')
        .filter_map(|turn| turn.split_once('\u{1d}'));
    turns
        .map(|(words, stdin)| Told {
            words: words
                .split_terminator('\u{1f}')
                .map(str::to_owned)
                .collect(),
            stdin: stdin.to_owned(),
        })
        .collect()
}
