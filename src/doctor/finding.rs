//! What the doctor states: findings, their evidence and remedies. Plain data; no I/O, no layout.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Will bite, or bites a little.
    Warning,
    /// Something does not work.
    Error,
}

impl Severity {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// What a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Subject {
    /// What kind of thing: `host`, `user`, `socket`, `unit`, `process`, `home`, `file`, `job`, …
    pub kind: String,
    /// Which one.
    pub name: String,
}

impl Subject {
    /// A thing of this kind.
    pub fn new(kind: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            name: name.into(),
        }
    }
}

/// One thing that was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// How it was seen: `connect`, `stat`, `property`, `row`, `environ`, `read`, …
    pub kind: String,
    /// Where: a path, a unit's property, a table and key.
    pub target: String,
    /// The stage at which it was seen, where there are stages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// What was seen, escaped when printed.
    pub observed: String,
    /// The error number, where there was one.
    pub errno: Option<i32>,
}

impl Observation {
    /// Something seen without stage or error number.
    pub fn new(
        kind: impl Into<String>,
        target: impl Into<String>,
        observed: impl Into<String>,
    ) -> Self {
        Self {
            kind: kind.into(),
            target: target.into(),
            stage: None,
            observed: observed.into(),
            errno: None,
        }
    }

    /// The same, at this stage.
    #[must_use]
    pub fn at_stage(mut self, stage: impl Into<String>) -> Self {
        self.stage = Some(stage.into());
        self
    }

    /// The same, with an error number.
    #[must_use]
    pub fn with_errno(mut self, errno: Option<i32>) -> Self {
        self.errno = errno;
        self
    }
}

/// Who must run a remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Needs {
    /// Root: the command starts with `sudo` where the person is somebody else.
    Root,
    /// The account that dispatches.
    User,
}

/// One way out, as data. The doctor never runs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remedy {
    /// The command, real names filled in.
    pub argv: Vec<String>,
    /// Who must run it.
    pub needs: Needs,
    /// What it does, a sentence fragment.
    pub effect: String,
    /// Whether it survives a reboot.
    pub persistent: bool,
    /// It runs until it is ended, and lasts no longer than its terminal.
    #[serde(default)]
    pub foreground: bool,
    /// It ends work that is under way.
    #[serde(default)]
    pub disruptive: bool,
    /// The command that takes it back; empty where nothing needs taking back.
    pub undo: Vec<String>,
    /// The command that shows that it worked: it exits 0 then.
    pub verify: Vec<String>,
}

/// Words as owned strings: `argv(["loginctl", "enable-linger", user])`.
pub fn argv<I, S>(words: I) -> Vec<String>
where
    I: IntoIterator<Item = S>,
    S: Into<String>,
{
    words.into_iter().map(Into::into).collect()
}

impl Remedy {
    /// A command of root's. `sudo` goes before it when it is printed for somebody else.
    pub fn root<S: Into<String>>(words: impl IntoIterator<Item = S>, effect: &str) -> Self {
        Self::new(argv(words), Needs::Root, effect)
    }

    /// A command of the account's own.
    pub fn user<S: Into<String>>(words: impl IntoIterator<Item = S>, effect: &str) -> Self {
        Self::new(argv(words), Needs::User, effect)
    }

    fn new(argv: Vec<String>, needs: Needs, effect: &str) -> Self {
        let (undo, verify) = (Vec::new(), Vec::new());
        Self {
            argv,
            needs,
            effect: effect.to_owned(),
            persistent: true,
            foreground: false,
            disruptive: false,
            undo,
            verify,
        }
    }

    /// It is gone after a reboot.
    #[must_use]
    pub fn until_reboot(mut self) -> Self {
        self.persistent = false;
        self
    }

    /// It lasts as long as the terminal that runs it.
    #[must_use]
    pub fn in_this_terminal(mut self) -> Self {
        self.persistent = false;
        self.foreground = true;
        self
    }

    /// It ends work that is under way.
    #[must_use]
    pub fn disruptive(mut self) -> Self {
        self.disruptive = true;
        self
    }

    /// How to take it back.
    #[must_use]
    pub fn undo<S: Into<String>>(mut self, words: impl IntoIterator<Item = S>) -> Self {
        self.undo = argv(words);
        self
    }

    /// How to see that it worked.
    #[must_use]
    pub fn verify<S: Into<String>>(mut self, words: impl IntoIterator<Item = S>) -> Self {
        self.verify = argv(words);
        self
    }
}

/// One stated fact that matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its code, `HM` and three digits.
    pub code: &'static str,
    /// How much it matters: the catalogue's word unless the check knows better.
    pub severity: Option<Severity>,
    /// What it is about.
    pub subject: Subject,
    /// The home that it was found in; none where it is about the host.
    pub home: Option<PathBuf>,
    /// One line, no full stop.
    pub summary: String,
    /// What was seen.
    pub evidence: Vec<Observation>,
    /// Codes of findings that would explain this one, nearest first: the report folds it under the
    /// first of them that is there (same subject before any subject).
    pub causes: Vec<&'static str>,
    /// Ways out, the best first.
    pub remedies: Vec<Remedy>,
}

impl Finding {
    /// A finding of this code about this subject.
    pub fn new(code: &'static str, subject: Subject, summary: impl Into<String>) -> Self {
        Self {
            code,
            severity: None,
            subject,
            home: None,
            summary: summary.into(),
            evidence: Vec::new(),
            causes: Vec::new(),
            remedies: Vec::new(),
        }
    }

    /// Adds evidence.
    #[must_use]
    pub fn seen(mut self, evidence: Observation) -> Self {
        self.evidence.push(evidence);
        self
    }

    /// Adds a possible cause.
    #[must_use]
    pub fn because_of(mut self, code: &'static str) -> Self {
        self.causes.push(code);
        self
    }

    /// Adds a way out.
    #[must_use]
    pub fn remedy(mut self, remedy: Remedy) -> Self {
        self.remedies.push(remedy);
        self
    }

    /// Overrides the catalogue's severity.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = Some(severity);
        self
    }

    /// Code and subject: the same finding on another day has the same fingerprint.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        format!("{}:{}:{}", self.code, self.subject.kind, self.subject.name)
    }
}
