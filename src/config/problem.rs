//! What is wrong with a configuration. Data: nothing that is written there stops a program. Pure.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::key::Key;
use super::layer::Source;
use super::node::Place;

/// What kind of problem it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// The file cannot be read.
    Unreadable,
    /// This process may not read the file: it says nothing of what is in it.
    Denied,
    /// The file is no document; nothing of it counts.
    Unparsable,
    /// A name that nobody knows; it sets nothing.
    Unknown,
    /// A name of ours in a file that is not ours; it sets nothing.
    Misplaced,
    /// A value of another type than its setting has; it sets nothing.
    IllTyped,
    /// A number below the least that its setting takes; it counts as the least.
    Raised,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// What kind.
    pub kind: ProblemKind,
    /// The file, or none for the environment and flags.
    pub file: Option<PathBuf>,
    /// Where in the file.
    pub at: Option<Place>,
    /// The setting, variable or flag, as written.
    pub key: Option<String>,
    /// What is wrong, a fragment; secrets are never in it.
    pub message: String,
    /// What was probably meant, or what to do.
    pub hint: Option<String>,
}

impl ProblemKind {
    /// Whether nothing of the file counts, whatever is in it.
    #[must_use]
    pub fn hides_the_file(self) -> bool {
        matches!(self, Self::Unreadable | Self::Denied | Self::Unparsable)
    }
}

impl Problem {
    /// The layer that it is a problem of.
    #[must_use]
    pub fn source(&self) -> Source {
        match &self.file {
            None if self.is_flag() => Source::Flag,
            None => Source::Environment,
            Some(file) if file.extension().is_some_and(|end| end == "toml") => Source::Toml,
            Some(_) => Source::Yaml,
        }
    }

    /// Flags are named as settings are; variables are not.
    fn is_flag(&self) -> bool {
        self.key
            .as_deref()
            .is_some_and(|key| Key::find(key).is_some())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}:", file.display())?;
            if let Some(at) = self.at {
                write!(f, "{}:{}:", at.line, at.column)?;
            }
            f.write_str(" ")?;
        }
        f.write_str(&self.message)
    }
}
