//! The only error a person ever sees: a kind, a message, the chain of its sources, and hints.
//!
//! Messages are lower-case fragments that name the file, the value and what was expected. What to do
//! about it is a hint, kept apart, so that the same words serve the terminal and `--json`.

use std::error::Error as StdError;
use std::fmt;

use serde::Serialize;

/// What kind of failure this is. The kind, not the message, decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The command line or one of its values makes no sense.
    Usage,
    /// The thing named does not exist, or the name is ambiguous.
    NotFound,
    /// Input that was read (a file, a store, a text) is not what it should be.
    Invalid,
    /// It was refused on purpose: policy, an emergency stop, a job that needs what we do not do.
    Refused,
    /// Somebody else holds it: a lock, a lease, the home.
    Busy,
    /// A service that is needed does not answer.
    Unavailable,
    /// The operating system said no.
    Io,
    /// The answer could not be written.
    Output,
    /// The command did its work, and what it did has failed.
    Failed,
    /// A defect of this program.
    Internal,
}

/// The error type of the whole program.
#[derive(Debug)]
pub struct Error {
    kind: Kind,
    message: String,
    hints: Vec<String>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// The result type of the whole program.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of this kind with this message.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hints: Vec::new(),
            source: None,
        }
    }

    /// The same as a usage error: what is not there was named on the command line.
    #[must_use]
    pub fn into_usage(mut self) -> Self {
        self.kind = Kind::Usage;
        self
    }

    /// A usage error.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, message)
    }

    /// An operating-system error, with what was being done.
    pub fn io(message: impl Into<String>, source: std::io::Error) -> Self {
        Self::new(Kind::Io, message).with_source(source)
    }

    /// Adds what the person can do about it: one sentence, or one command.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The same for somebody else whom it concerns: of what led to it the words.
    #[must_use]
    pub fn again(&self) -> Self {
        let causes = self.causes();
        Self {
            kind: self.kind,
            message: self.message.clone(),
            hints: self.hints.clone(),
            source: (!causes.is_empty()).then(|| causes.join(": ").into()),
        }
    }

    /// Adds the error that led to this one.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The message, without sources and hints.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The hints, in the order in which they were added. Lines after the first of one are to be written
    /// somewhere as they are.
    #[must_use]
    pub fn hints(&self) -> &[String] {
        &self.hints
    }

    /// The messages of the sources, nearest first.
    #[must_use]
    pub fn causes(&self) -> Vec<String> {
        let mut causes = Vec::new();
        let mut next = self.source();
        while let Some(error) = next {
            causes.push(error.to_string());
            next = error.source();
        }
        causes
    }

    /// Message and causes in one line, for logs and for what is kept of it.
    #[must_use]
    pub fn in_full(&self) -> String {
        let parts = std::iter::once(self.message.clone()).chain(self.causes());
        parts.collect::<Vec<_>>().join(": ")
    }

    /// The hints in one line each.
    pub fn hints_in_line(&self) -> impl Iterator<Item = String> {
        self.hints.iter().map(|hint| {
            let mut lines = hint.lines();
            let first = lines.next().unwrap_or_default().to_owned();
            let rest: Vec<_> = lines.map(|line| format!("`{line}`")).collect();
            if rest.is_empty() {
                first
            } else {
                format!("{first} {}", rest.join(" and "))
            }
        })
    }

    /// The one JSON form of an error, on every command that has `--json`.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({ "error": {
            "kind": self.kind,
            "message": self.message,
            "causes": self.causes(),
            "hint": self.hints.first(),
            "hints": self.hints,
        }})
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source
            .as_ref()
            .map(|source| &**source as &(dyn StdError + 'static))
    }
}

/// Gives an error of another library its kind and its place in the chain.
pub trait Context<T> {
    /// Wraps the error in one of ours.
    fn context(self, kind: Kind, message: impl Into<String>) -> Result<T>;
}

impl<T, E: StdError + Send + Sync + 'static> Context<T> for std::result::Result<T, E> {
    fn context(self, kind: Kind, message: impl Into<String>) -> Result<T> {
        self.map_err(|source| Error::new(kind, message).with_source(source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_carries_the_chain_and_the_first_hint() {
        let inner = std::io::Error::other("disk on fire");
        let error = Error::io("failed to read jobs.json", inner)
            .with_hint("put it out")
            .with_hint("then try again");
        let json = error.to_json();
        assert_eq!(json["error"]["kind"], "io");
        assert_eq!(json["error"]["causes"][0], "disk on fire");
        assert_eq!(json["error"]["hint"], "put it out");
        assert_eq!(json["error"]["hints"][1], "then try again");
        assert_eq!(error.in_full(), "failed to read jobs.json: disk on fire");
    }
}
