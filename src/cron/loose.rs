//! One value of a job as it stands in the store, borrowed where it is text.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// A value of any type. Absent, null and wrong are three things, and none of them is an error here.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Loose<'a> {
    /// The key is not there.
    #[default]
    Absent,
    /// `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A string.
    Text(Cow<'a, str>),
    /// A number, a list or an object.
    Other(Box<Value>),
}

impl Loose<'_> {
    /// The text, unless it is empty: the other program takes an empty text for none.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Loose::Text(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// The number, list or object.
    #[must_use]
    pub fn other(&self) -> Option<&Value> {
        match self {
            Loose::Other(value) => Some(value),
            _ => None,
        }
    }

    /// The member of an object.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.other()?.get(key)
    }

    /// Whether the key is missing or null.
    #[must_use]
    pub fn is_none(&self) -> bool {
        matches!(self, Loose::Absent | Loose::Null)
    }

    /// Truth as Python sees it: empty and zero are false.
    #[must_use]
    pub fn is_true(&self) -> bool {
        match self {
            Loose::Absent | Loose::Null => false,
            Loose::Bool(truth) => *truth,
            Loose::Text(text) => !text.is_empty(),
            Loose::Other(value) => match &**value {
                Value::Array(list) => !list.is_empty(),
                Value::Object(object) => !object.is_empty(),
                value => value.as_f64() != Some(0.0),
            },
        }
    }

    /// The value as JSON; an absent one is null.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match self {
            Loose::Absent | Loose::Null => Value::Null,
            Loose::Bool(truth) => Value::Bool(*truth),
            Loose::Text(text) => Value::from(&**text),
            Loose::Other(value) => (**value).clone(),
        }
    }

    /// The name of the type in a sentence.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Loose::Absent => "nothing",
            Loose::Null => "null",
            Loose::Bool(_) => "a boolean",
            Loose::Text(_) => "text",
            Loose::Other(value) => match &**value {
                Value::Array(_) => "a list",
                Value::Object(_) => "an object",
                _ => "a number",
            },
        }
    }
}

impl<'a> From<&'a Value> for Loose<'a> {
    fn from(value: &'a Value) -> Loose<'a> {
        match value {
            Value::Null => Loose::Null,
            Value::Bool(truth) => Loose::Bool(*truth),
            Value::String(text) => Loose::Text(Cow::Borrowed(text)),
            value => Loose::Other(Box::new(value.clone())),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Loose<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LooseVisitor)
    }
}

struct LooseVisitor;

impl<'de> Visitor<'de> for LooseVisitor {
    type Value = Loose<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Loose<'de>, E> {
        Ok(Loose::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Loose<'de>, E> {
        Ok(Loose::Bool(value))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Loose<'de>, E> {
        Ok(Loose::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Loose<'de>, E> {
        Ok(Loose::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Loose<'de>, E> {
        Ok(Loose::Other(Box::new(value.into())))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Loose<'de>, E> {
        Ok(Loose::Other(Box::new(value.into())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Loose<'de>, A::Error> {
        let value = Value::deserialize(SeqAccessDeserializer::new(list))?;
        Ok(Loose::Other(Box::new(value)))
    }

    /// An object, and also a number of any precision: only `Value` knows which.
    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Loose<'de>, A::Error> {
        let value = Value::deserialize(MapAccessDeserializer::new(object))?;
        Ok(Loose::Other(Box::new(value)))
    }
}
