//! One layer of the configuration: what a file, the environment or the flags say, setting by setting,
//! and what is wrong with it. Pure.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::key::{Key, Owner};
use super::keys::KEYS;
use super::node::{Content, Entry, Flaw, Node, Place};
use super::problem::{Problem, ProblemKind};
use super::value::{Misfit, Value};
use super::{toml, unknown, yaml};

/// The layers, each over the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Nobody said anything.
    Default,
    /// `config.yaml`, which is Hermes Agent's too.
    Yaml,
    /// `config.toml`, which is only ours.
    Toml,
    /// A variable of the environment.
    Environment,
    /// A flag of the command.
    Flag,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The layer.
    pub source: Source,
    /// The file, for the two that are files.
    pub file: Option<PathBuf>,
    /// Where in the file.
    pub at: Option<Place>,
    /// The name it was written under: a path in the file, a variable, a flag.
    pub name: Option<String>,
}

impl Origin {
    /// The origin of a default.
    #[must_use]
    pub fn default_value() -> Self {
        Self::named(Source::Default, None)
    }

    fn named(source: Source, name: Option<&str>) -> Self {
        Self {
            source,
            file: None,
            at: None,
            name: name.map(str::to_owned),
        }
    }
}

/// A value of a setting as one layer has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// The setting.
    pub key: &'static Key,
    /// Its value.
    pub value: Value,
    /// Where it stands.
    pub origin: Origin,
}

/// What a layer says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Layer {
    /// Its values.
    pub written: Vec<Written>,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
    /// The names at the top of `config.toml`: those of its tables, also of empty ones.
    pub sections: Vec<String>,
    /// Settings that a file that is no document names all the same: it may have meant to set them.
    pub unread: Vec<&'static str>,
}

/// Which of the two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `config.yaml`.
    Yaml,
    /// `config.toml`.
    Toml,
}

impl Layer {
    /// The layer of a file's text.
    #[must_use]
    pub fn of_text(format: Format, file: &Path, text: &str) -> Self {
        let parsed = match format {
            Format::Yaml => yaml::parse(text),
            Format::Toml => toml::parse(text),
        };
        let is_table = |root: &Node| matches!(root.content, Content::Table(_) | Content::Null);
        let parsed = parsed.and_then(|root| {
            is_table(&root).then_some(()).ok_or_else(|| Flaw {
                at: Some(root.at),
                message: format!("it is {}, not a table", root.content.name()),
            })?;
            Ok(root)
        });
        match parsed {
            Ok(root) => Self::of_document(format, file, &root),
            Err(flaw) => Self {
                unread: named_in(format, text),
                ..Self::unparsable(file, &flaw)
            },
        }
    }

    fn unparsable(file: &Path, flaw: &Flaw) -> Self {
        let problem = Problem {
            kind: ProblemKind::Unparsable,
            file: Some(file.to_owned()),
            at: flaw.at,
            key: None,
            message: format!("cannot be parsed: {}", flaw.message),
            hint: Some("nothing in this file counts until it is mended".to_owned()),
        };
        Self::wrong(problem)
    }

    /// A layer that says nothing and has one problem.
    #[must_use]
    pub fn wrong(problem: Problem) -> Self {
        Self {
            problems: vec![problem],
            ..Self::default()
        }
    }

    fn of_document(format: Format, file: &Path, root: &Node) -> Self {
        let mut layer = Self {
            problems: unknown::names(format, file, root),
            ..Self::default()
        };
        if let (Format::Toml, Content::Table(entries)) = (format, &root.content) {
            layer.sections = entries.iter().map(|entry| entry.key.clone()).collect();
        }
        for key in KEYS {
            match format {
                Format::Yaml if key.owner == Owner::Ours => {}
                Format::Yaml => {
                    let names = [Some(key.name), key.also];
                    for name in names.into_iter().flatten() {
                        if layer.read(key, name, (Source::Yaml, file), root.find(name)) {
                            break;
                        }
                    }
                }
                Format::Toml => {
                    layer.read(key, key.name, (Source::Toml, file), root.find(key.name));
                }
            }
        }
        layer
    }

    /// Reads one entry, if it is there; whether it set the key.
    fn read(
        &mut self,
        key: &'static Key,
        name: &str,
        (source, file): (Source, &Path),
        entry: Option<&Entry>,
    ) -> bool {
        let Some(entry) = entry else {
            return false;
        };
        match key.kind.read(&entry.node) {
            Ok(Value::Unset) => false,
            Ok(value) => {
                if let Content::Integer(number) = entry.node.content {
                    self.problems
                        .extend(raised(key, name, number).map(|raised| Problem {
                            file: Some(file.to_owned()),
                            at: Some(entry.node.at),
                            ..raised
                        }));
                }
                self.written.push(Written {
                    key,
                    value,
                    origin: Origin {
                        file: Some(file.to_owned()),
                        at: Some(entry.at),
                        ..Origin::named(source, Some(name))
                    },
                });
                true
            }
            Err(misfit) => {
                self.problems.push(Problem {
                    file: Some(file.to_owned()),
                    at: Some(entry.node.at),
                    ..ill_typed(name, &misfit)
                });
                false
            }
        }
    }

    /// The layer of the environment, asked variable by variable. Empty is not set.
    #[must_use]
    pub fn of_environment(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut layer = Self::default();
        for key in KEYS {
            let Some(name) = key.variable else { continue };
            if let Some(text) = variable(name).filter(|text| !text.trim().is_empty()) {
                layer.read_text(key, name, Source::Environment, &text);
            }
        }
        layer
    }

    /// The layer of flags: the name of each setting, and what the flag was given.
    #[must_use]
    pub fn of_flags(flags: &[(&'static str, String)]) -> Self {
        let mut layer = Self::default();
        for (name, text) in flags {
            if let Some(key) = Key::find(name) {
                layer.read_text(key, name, Source::Flag, text);
            }
        }
        layer
    }

    fn read_text(&mut self, key: &'static Key, name: &str, source: Source, text: &str) {
        match key.kind.read_text(text) {
            Ok(value) => {
                let number = text.trim().parse().ok();
                self.problems
                    .extend(number.and_then(|number| raised(key, name, number)));
                self.written.push(Written {
                    key,
                    value,
                    origin: Origin::named(source, Some(name)),
                });
            }
            Err(misfit) => self.problems.push(ill_typed(name, &misfit)),
        }
    }
}

/// The settings whose own name stands somewhere in a text, whatever the text is.
fn named_in(format: Format, text: &str) -> Vec<&'static str> {
    let stands = |name: &str| text.contains(name.rsplit('.').next().unwrap_or(name));
    let keys = KEYS.iter().filter(|key| {
        let may = format == Format::Toml || key.owner == Owner::Theirs;
        may && (stands(key.name) || key.also.is_some_and(stands))
    });
    keys.map(|key| key.name).collect()
}

fn raised(key: &Key, name: &str, number: i64) -> Option<Problem> {
    let least = key.kind.raised(number)?;
    Some(Problem {
        kind: ProblemKind::Raised,
        file: None,
        at: None,
        key: Some(name.to_owned()),
        message: format!("{name} is {number}, and counts as {least}"),
        hint: None,
    })
}

fn ill_typed(name: &str, misfit: &Misfit) -> Problem {
    Problem {
        kind: ProblemKind::IllTyped,
        file: None,
        at: None,
        key: Some(name.to_owned()),
        message: format!("{name} is {}, not {}", misfit.found, misfit.expected),
        hint: Some("the layer below it counts instead".to_owned()),
    }
}
