//! What is known of a setting: name, type, default, variable, whose it is. Pure. The table is `keys`.

use super::keys::KEYS;
use super::value::{Kind, Value};

/// What a setting is where nobody says anything.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Default {
    /// Nothing.
    Unset,
    /// A truth value.
    Flag(bool),
    /// A whole number.
    Count(i64),
    /// A number.
    Number(f64),
    /// Text.
    Text(&'static str),
}

impl Default {
    /// The same as a value.
    #[must_use]
    pub fn value(self) -> Value {
        match self {
            Self::Unset => Value::Unset,
            Self::Flag(flag) => Value::Flag(flag),
            Self::Count(number) => Value::Count(number),
            Self::Number(number) => Value::Number(number),
            Self::Text(text) => Value::Text(text.to_owned()),
        }
    }
}

/// Which file a setting belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// Hermes Agent's, in `config.yaml`; `config.toml` may set it for us alone.
    Theirs,
    /// Ours, in `config.toml` only: in `config.yaml` the name may mean something else.
    Ours,
}

/// One setting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Key {
    /// Its name: the path in the file, with dots.
    pub name: &'static str,
    /// Another name in `config.yaml` that counts where the first is not written.
    pub also: Option<&'static str>,
    /// What it is.
    pub kind: Kind,
    /// What it is where nobody says anything.
    pub default: Default,
    /// The variable that sets it.
    pub variable: Option<&'static str>,
    /// Whose it is.
    pub owner: Owner,
    /// Never shown.
    pub secret: bool,
    /// What it does, one sentence without a full stop.
    pub help: &'static str,
}

impl Key {
    pub(super) const fn theirs(
        name: &'static str,
        kind: Kind,
        default: Default,
        help: &'static str,
    ) -> Self {
        Self {
            name,
            also: None,
            kind,
            default,
            variable: None,
            owner: Owner::Theirs,
            secret: false,
            help,
        }
    }

    pub(super) const fn ours(
        name: &'static str,
        kind: Kind,
        default: Default,
        help: &'static str,
    ) -> Self {
        let mut key = Self::theirs(name, kind, default, help);
        key.owner = Owner::Ours;
        key
    }

    pub(super) const fn variable(mut self, variable: &'static str) -> Self {
        self.variable = Some(variable);
        self
    }

    pub(super) const fn also(mut self, also: &'static str) -> Self {
        self.also = Some(also);
        self
    }

    pub(super) const fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    /// The setting of a name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }
}

/// Endings of names whose values are secrets, whoever's they are.
const SECRET_ENDINGS: [&str; 5] = ["_key", "_token", "_secret", "password", "_credentials"];

/// Whether a value of this name must never be shown.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let last = name.rsplit('.').next().unwrap_or(&name);
    matches!(last, "token" | "secret" | "key")
        || SECRET_ENDINGS.iter().any(|ending| last.ends_with(ending))
        || Key::find(&name).is_some_and(|key| key.secret)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::keys::THEIR_OTHERS;
    use super::super::value::Kind::{Choice, Count, Flag, Number, Port, Text, Zone};
    use super::*;

    #[test]
    fn names_and_variables_are_unique_and_defaults_fit_their_kinds() {
        let mut names = HashSet::new();
        let mut variables = HashSet::new();
        for key in KEYS {
            assert!(names.insert(key.name), "{}", key.name);
            assert!(
                key.variable.is_none_or(|name| variables.insert(name)),
                "{}",
                key.name
            );
            let fits = match (key.kind, key.default) {
                (_, Default::Unset) | (Flag, Default::Flag(_)) | (Text, Default::Text(_)) => true,
                (Count(least), Default::Count(number)) => number >= least,
                (Port, Default::Count(number)) => u16::try_from(number).is_ok(),
                (Number(least), Default::Number(number)) => number >= least,
                (Choice(words), Default::Text(text)) => words.contains(&text),
                (Zone, Default::Text(text)) => text.is_empty(),
                _ => false,
            };
            assert!(fits, "{}", key.name);
            assert!(
                !key.help.ends_with('.') && !key.help.is_empty(),
                "{}",
                key.name
            );
            assert_eq!(key.secret, is_secret(key.name), "{}", key.name);
        }
        assert!(THEIR_OTHERS.iter().all(|name| !names.contains(name)));
    }

    #[test]
    fn secrets_are_known_by_their_names() {
        for name in [
            "OPENAI_API_KEY",
            "a.b.bot_token",
            "db_password",
            "token",
            "x.client_secret",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["monkey", "cron.provider", "max_tokens", "keyboard"] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
