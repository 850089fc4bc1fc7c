//! The layers laid over each other: every setting with its value, and what it was laid over. Pure.

use serde::Serialize;

use super::key::Key;
use super::keys::KEYS;
use super::layer::{Layer, Origin, Source};
use super::value::Value;

/// A value and where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sourced {
    /// The value.
    pub value: Value,
    /// Where it comes from.
    pub origin: Origin,
}

/// A setting as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Which one.
    pub key: &'static Key,
    /// The value that counts.
    pub current: Sourced,
    /// Values below it that do not count, the nearest first; the default is the last.
    pub overridden: Vec<Sourced>,
}

impl Setting {
    /// Whether anybody said anything.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.current.origin.source != Source::Default
    }
}

/// Lays the layers over the defaults, the first lowest.
#[must_use]
pub fn merge(layers: &[Layer]) -> Vec<Setting> {
    KEYS.iter().map(|key| setting(key, layers)).collect()
}

fn setting(key: &'static Key, layers: &[Layer]) -> Setting {
    let default = Sourced {
        value: key.default.value(),
        origin: Origin::default_value(),
    };
    let written = layers.iter().flat_map(|layer| &layer.written);
    let mut stack: Vec<Sourced> = written
        .filter(|written| written.key.name == key.name)
        .map(|written| Sourced {
            value: written.value.clone(),
            origin: written.origin.clone(),
        })
        .collect();
    stack.reverse();
    stack.push(default);
    let current = stack.remove(0);
    Setting {
        key,
        current,
        overridden: stack,
    }
}
