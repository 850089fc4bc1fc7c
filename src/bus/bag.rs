//! Properties of a D-Bus object, read by name and type. Owns the distrust: a property that is absent,
//! or of another type than promised, is `None`, never a default.

use std::collections::HashMap;

use zbus::{OwnedVariant, Variant};

/// What `GetAll` returned.
#[derive(Default)]
pub(crate) struct Bag(HashMap<String, OwnedVariant>);

impl Bag {
    /// Adds the properties of another interface of the same object.
    pub(crate) fn extend(&mut self, more: HashMap<String, OwnedVariant>) {
        self.0.extend(more);
    }

    fn value(&self, name: &str) -> Option<&Variant<'static>> {
        self.0.get(name).map(|value| &**value)
    }

    /// A string or an object path.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        text(self.value(name)?)
    }

    /// A string that is not empty.
    pub(crate) fn word(&self, name: &str) -> Option<String> {
        self.text(name).filter(|text| !text.is_empty())
    }

    /// A boolean.
    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        flag(self.value(name)?)
    }

    /// An unsigned number of either width.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        match self.value(name)? {
            Variant::U32(number) => Some(u64::from(*number)),
            Variant::U64(number) => Some(*number),
            _ => None,
        }
    }

    /// The same, where the largest number means "infinity".
    pub(crate) fn limit(&self, name: &str) -> Option<u64> {
        self.number(name).filter(|number| *number != u64::MAX)
    }

    /// A number of 32 bits, signed or not.
    pub(crate) fn status(&self, name: &str) -> Option<i32> {
        match self.value(name)? {
            Variant::I32(number) => Some(*number),
            _ => None,
        }
    }

    /// A process id; 0 is none.
    pub(crate) fn pid(&self, name: &str) -> Option<u32> {
        self.number(name)
            .and_then(|pid| u32::try_from(pid).ok())
            .filter(|pid| *pid > 0)
    }

    /// An array of strings.
    pub(crate) fn texts(&self, name: &str) -> Option<Vec<String>> {
        items(self.value(name)?)?.map(text).collect()
    }

    /// An array of bytes, in hexadecimal; an empty one is none.
    pub(crate) fn hexadecimal(&self, name: &str) -> Option<String> {
        let digits: Option<String> = items(self.value(name)?)?
            .map(|item| match item {
                Variant::U8(byte) => Some(format!("{byte:02x}")),
                _ => None,
            })
            .collect();
        digits.filter(|digits| !digits.is_empty())
    }

    /// An array of structures, each as its fields.
    pub(crate) fn rows(&self, name: &str) -> Option<Vec<&[Variant<'static>]>> {
        items(self.value(name)?)?.map(fields).collect()
    }

    /// One structure, as its fields.
    pub(crate) fn row(&self, name: &str) -> Option<&[Variant<'static>]> {
        fields(self.value(name)?)
    }
}

/// A string or an object path.
pub(crate) fn text(value: &Variant<'_>) -> Option<String> {
    match value {
        Variant::Str(text) => Some(text.to_string()),
        Variant::ObjectPath(path) => Some(path.to_string()),
        _ => None,
    }
}

/// A boolean.
pub(crate) fn flag(value: &Variant<'_>) -> Option<bool> {
    match value {
        Variant::Bool(flag) => Some(*flag),
        _ => None,
    }
}

/// The strings of an array.
pub(crate) fn strings(value: &Variant<'_>) -> Option<Vec<String>> {
    items(value)?.map(text).collect()
}

fn items<'v, 'd>(value: &'v Variant<'d>) -> Option<impl Iterator<Item = &'v Variant<'d>>> {
    match value {
        Variant::Array(array) => Some(array.iter()),
        _ => None,
    }
}

fn fields<'v, 'd>(value: &'v Variant<'d>) -> Option<&'v [Variant<'d>]> {
    match value {
        Variant::Structure(structure) => Some(structure.fields()),
        _ => None,
    }
}
