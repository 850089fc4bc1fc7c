//! Configuration in layers; each value knows where it came from.
//!
//! ```text
//! Config::load(home, variable, flags) -> Config      never fails: what is wrong is in `problems`
//! Config::settings() / get("cron.provider")          value, origin and what it was laid over
//! Config::flag/count/number/text/words(name)         the values alone
//! Settings::of(&config)                              everything validated, in the types of the rooms
//! dotenv::Environment                                a process's environment under `.env` files
//! Key, KEYS                                          the one table of settings
//! ```
//!
//! Three stages. *As written*: each file becomes nodes with places (`yaml`, `toml`, `scalar`), then a
//! [`Layer`] of typed values and problems. *Merged*: defaults < `config.yaml` < `config.toml` <
//! environment < flags (`merge`). *Validated*: [`Settings`], where limits are options and pairs agree.
//!
//! A file that does not parse sets nothing and is a [`Problem`]; a value of the wrong type counts as
//! not written. Only `file` and `dotenv_file` touch the world.

pub mod dotenv;
mod dotenv_file;
mod file;
pub mod key;
pub mod keys;
pub mod layer;
pub mod merge;
pub mod node;
pub mod problem;
pub mod reference;
pub mod scalar;
pub mod settings;
pub mod toml;
pub mod unknown;
pub mod value;
pub mod yaml;

pub use file::{ConfigFile, State};
pub use key::{Key, is_secret};
pub use keys::KEYS;
pub use layer::{Layer, Origin, Source};
pub use merge::{Setting, Sourced};
pub use problem::{Problem, ProblemKind};
pub use settings::Settings;
pub use value::Value;

/// The setting that says what becomes of a job that would not survive a restart.
const POLICY: &str = "cron.require_restart_safe_scope";
/// What is made of it where it is written, and nobody can say what.
const STRICT: &str = "counts as on until it can be read";

/// The configuration of a home.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    files: Vec<ConfigFile>,
    settings: Vec<Setting>,
    problems: Vec<Problem>,
    /// The names at the top of `config.toml`.
    sections: Vec<String>,
    /// What files that are no documents name, each with its layer.
    unread: Vec<(Source, &'static str)>,
}

impl Config {
    /// The configuration that layers make, the first lowest.
    #[must_use]
    pub fn of_layers(files: Vec<ConfigFile>, layers: Vec<Layer>) -> Self {
        let unread = layers.iter().flat_map(|layer| {
            let source = layer.problems.first().map(Problem::source);
            let names = layer.unread.iter();
            names.filter_map(move |name| Some((source?, *name)))
        });
        let mut config = Self {
            files,
            settings: merge::merge(&layers),
            unread: unread.collect(),
            sections: layers
                .iter()
                .flat_map(|layer| layer.sections.clone())
                .collect(),
            problems: layers
                .into_iter()
                .flat_map(|layer| layer.problems)
                .collect(),
        };
        config.tell_of_policy();
        config
    }

    /// Of the policy of jobs no layer below counts where it cannot be read.
    fn tell_of_policy(&mut self) {
        let policy = self.unknown(POLICY).cloned();
        let problems = self.problems.iter_mut();
        for problem in problems.filter(|problem| policy.as_ref() == Some(problem)) {
            let others = problem.hint.take();
            let others = others.filter(|_| problem.key.as_deref() != Some(POLICY));
            let strict = format!("{POLICY} {STRICT}");
            problem.hint = Some(match others {
                Some(others) => format!("{others}; {strict}"),
                None => strict,
            });
        }
    }

    /// The files it is read from.
    #[must_use]
    pub fn files(&self) -> &[ConfigFile] {
        &self.files
    }

    /// All settings, in the order of the table.
    #[must_use]
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// What is wrong with it, in the order of the layers.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// A setting by its name; none for a name that is not in the table.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Setting> {
        self.settings
            .iter()
            .find(|setting| setting.key.name == name)
    }

    /// What keeps a setting from being known: over the value that counts somebody wrote another, which
    /// cannot be read. A file that is no document is read no further than to what it names.
    #[must_use]
    pub fn unknown(&self, name: &str) -> Option<&Problem> {
        let setting = self.get(name)?;
        let key = setting.key;
        let names = [Some(key.name), key.also, key.variable];
        let is_its = |problem: &Problem| {
            // A section that is none hides all that belongs there.
            let within = |name: &&str, written: &str| {
                let rest = name.strip_prefix(written);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            let written = problem.key.as_deref();
            let mut names = names.iter().flatten();
            written.is_some_and(|written| names.any(|name| within(name, written)))
        };
        let hides = |problem: &&Problem| match problem.kind {
            _ if problem.source() <= setting.current.origin.source => false,
            ProblemKind::IllTyped => is_its(problem),
            ProblemKind::Unparsable => self.unread.contains(&(problem.source(), key.name)),
            kind if kind.hides_the_file() => {
                key.owner == key::Owner::Theirs || problem.source() == Source::Toml
            }
            _ => false,
        };
        self.problems.iter().rfind(hides)
    }

    /// What somebody should know who relies on it: files of which nothing counts, and what is done
    /// where the policy of jobs cannot be read.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let policy = self.unknown(POLICY);
        let strict = format!("{POLICY} {STRICT}");
        let of_file = |problem: &Problem| {
            let is_policy = policy == Some(problem);
            // Who looks on knows less than who runs the jobs.
            if problem.kind == ProblemKind::Denied {
                let rest = if is_policy {
                    ", nor whether cron.require_restart_safe_scope is on"
                } else {
                    ""
                };
                return format!("{problem}. What is set there is not known here{rest}.");
            }
            let rest = if is_policy {
                format!("; {strict}")
            } else {
                String::new()
            };
            format!("{problem}. Nothing in that file counts until it is mended{rest}.")
        };
        let own = policy.filter(|problem| !problem.kind.hides_the_file());
        let own = own.map(|problem| format!("{problem}; {strict}."));
        self.broken().map(of_file).chain(own).collect()
    }

    /// The files of which nothing counts, each with what is wrong with it.
    pub fn broken(&self) -> impl Iterator<Item = &Problem> {
        let problems = self.problems.iter();
        problems.filter(|problem| problem.kind.hides_the_file())
    }

    fn value(&self, name: &str) -> &Value {
        self.get(name)
            .map_or(&Value::Unset, |setting| &setting.current.value)
    }

    /// A truth value; false where it is unset.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        *self.value(name) == Value::Flag(true)
    }

    /// A whole number.
    #[must_use]
    pub fn count(&self, name: &str) -> Option<u64> {
        match self.value(name) {
            Value::Count(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    }

    /// A number.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.value(name) {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Text that is set and not empty.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.value(name) {
            Value::Text(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// A list of texts.
    #[must_use]
    pub fn words(&self, name: &str) -> Option<&[String]> {
        match self.value(name) {
            Value::Words(words) => Some(words),
            _ => None,
        }
    }

    /// Whether `config.toml` has a table of this name, be it an empty one.
    #[must_use]
    pub fn has_section(&self, name: &str) -> bool {
        self.sections.iter().any(|section| section == name)
    }

    /// Our own settings of a section that somebody set, as one object without the section's name:
    /// for rooms that read a section of their own.
    #[must_use]
    pub fn section(&self, name: &str) -> serde_json::Map<String, serde_json::Value> {
        let mut section = serde_json::Map::new();
        for setting in self.settings.iter().filter(|setting| setting.is_set()) {
            let rest = setting.key.name.strip_prefix(name);
            if let Some(rest) = rest.and_then(|rest| rest.strip_prefix('.'))
                && setting.key.owner == key::Owner::Ours
                && let Ok(value) = serde_json::to_value(&setting.current.value)
            {
                section.insert(rest.to_owned(), value);
            }
        }
        section
    }
}

#[cfg(test)]
mod tests;
