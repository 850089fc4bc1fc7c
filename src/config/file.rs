//! Reads the files of a home. A file that cannot be read is a problem, never an empty one.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Config;
use super::layer::{Format, Layer};
use super::problem::{Problem, ProblemKind};
use crate::files::read_regular;
use crate::home::Home;

/// More than this is no configuration.
const LARGEST: u64 = 4 << 20;

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is not there.
    Absent,
    /// It was read.
    Read,
    /// It is there and could not be read or parsed.
    Failed,
}

/// A file of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigFile {
    /// Where it is looked for.
    pub path: PathBuf,
    /// What became of it.
    pub state: State,
}

impl Config {
    /// Reads the configuration of a home: its two files, the variables of an environment, and flags.
    #[must_use]
    pub fn load(
        home: &Home,
        variable: &dyn Fn(&str) -> Option<String>,
        flags: &[(&'static str, String)],
    ) -> Self {
        let mut files = Vec::new();
        let mut layers = Vec::new();
        for (format, name) in [(Format::Yaml, "config.yaml"), (Format::Toml, "config.toml")] {
            let path = home.join(name);
            let (state, layer) = read(format, &path);
            files.push(ConfigFile { path, state });
            layers.push(layer);
        }
        layers.push(Layer::of_environment(variable));
        layers.push(Layer::of_flags(flags));
        Self::of_layers(files, layers)
    }
}

fn read(format: Format, path: &Path) -> (State, Layer) {
    match read_text(path) {
        Ok(None) => (State::Absent, Layer::default()),
        Ok(Some(text)) => {
            let layer = Layer::of_text(format, path, &text);
            let broken = |problem: &Problem| problem.kind == ProblemKind::Unparsable;
            let state = if layer.problems.iter().any(broken) {
                State::Failed
            } else {
                State::Read
            };
            (state, layer)
        }
        Err((kind, why)) => {
            let problem = Problem {
                kind,
                file: Some(path.to_owned()),
                at: None,
                key: None,
                message: format!("cannot be read: {why}"),
                hint: None,
            };
            (State::Failed, Layer::wrong(problem))
        }
    }
}

/// The text of a file; none where there is none. Else the kind of trouble, and why.
pub(super) fn read_text(path: &Path) -> Result<Option<String>, (ProblemKind, String)> {
    let bytes = match read_regular(path, LARGEST) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            return Err((ProblemKind::Denied, error.to_string()));
        }
        Err(error) => return Err((ProblemKind::Unreadable, error.to_string())),
    };
    String::from_utf8(bytes)
        .map(Some)
        .map_err(|_| (ProblemKind::Unreadable, "not UTF-8".to_owned()))
}
