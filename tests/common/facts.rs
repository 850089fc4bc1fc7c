//! Recorded hosts, for the hidden variable that takes the place of the probes.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Sandbox;

/// The home of the recorded dispatcher.
const HOME: &str = "/srv/bot/.hermes";

impl Sandbox {
    /// Writes the recorded host of this name, after a change, with this sandbox's home as the one that
    /// its dispatcher serves. Answers the path for `__HERMES_FACTS`.
    pub(crate) fn recorded(&self, name: &str, change: impl FnOnce(&mut Value)) -> PathBuf {
        let path = format!("tests/data/facts/{name}.snap");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let text = std::fs::read_to_string(path).expect("a recorded host");
        let (_, json) = text.split_once("\n---\n").expect("its heading");
        let home = self.home().display().to_string();
        let mut facts = serde_json::from_str(&json.replace(HOME, &home)).expect("facts");
        change(&mut facts);
        let path = self.user_home().join("facts.json");
        std::fs::write(&path, facts.to_string()).expect("facts written");
        path
    }

    /// The doctor on that host, ten seconds after it was looked at.
    pub(crate) fn doctor_on(&self, facts: &Path) -> assert_cmd::Command {
        let mut command = self.hermes();
        command
            .env("__HERMES_FACTS", facts)
            .env("__HERMES_NOW", "2026-11-30T00:00:10Z")
            .arg("doctor");
        command
    }
}
