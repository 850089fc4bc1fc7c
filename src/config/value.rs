//! The types of settings, and what is written read as one of them. Pure.

use std::fmt;

use serde::{Serialize, Serializer};

use super::node::{Content, Node};
use crate::clock::zones;

/// What a setting is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// True or false, and nothing that only looks like it.
    Flag,
    /// A whole number; less than this is this.
    Count(i64),
    /// A port of TCP; 0 is any free one.
    Port,
    /// A number, mostly of seconds; less than this is this.
    Number(f64),
    /// Any text.
    Text,
    /// The name of a time zone.
    Zone,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of texts.
    Words,
}

/// The value of a setting.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing is set.
    Unset,
    /// Of [`Kind::Flag`].
    Flag(bool),
    /// Of [`Kind::Count`] and [`Kind::Port`].
    Count(i64),
    /// Of [`Kind::Number`].
    Number(f64),
    /// Of [`Kind::Text`], [`Kind::Zone`] and [`Kind::Choice`].
    Text(String),
    /// Of [`Kind::Words`].
    Words(Vec<String>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unset => f.write_str("not set"),
            Self::Flag(flag) => flag.fmt(f),
            Self::Count(number) => number.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Words(words) => write!(f, "{words:?}"),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Unset => serializer.serialize_unit(),
            Self::Flag(flag) => flag.serialize(serializer),
            Self::Count(number) => number.serialize(serializer),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => text.serialize(serializer),
            Self::Words(words) => words.serialize(serializer),
        }
    }
}

/// Why something written is no value of its setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// What is expected, a noun phrase.
    pub expected: String,
    /// What was found, a noun phrase; never a value that may be a secret.
    pub found: String,
}

impl Kind {
    /// What is expected, a noun phrase.
    #[must_use]
    pub fn expected(self) -> String {
        match self {
            Self::Flag => "true or false".to_owned(),
            Self::Count(_) => "a whole number".to_owned(),
            Self::Port => "a port from 0 to 65535".to_owned(),
            Self::Number(_) => "a number".to_owned(),
            Self::Text => "text".to_owned(),
            Self::Zone => "the name of a zone that is known here, like Europe/Berlin".to_owned(),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::Words => "a list of texts, like [\"program\", \"argument\"]".to_owned(),
        }
    }

    /// Reads what stands in a file. Null is [`Value::Unset`]: as if it were not written.
    pub fn read(self, node: &Node) -> Result<Value, Misfit> {
        let value = match (self, &node.content) {
            (_, Content::Null) => Some(Value::Unset),
            (Self::Flag, Content::Flag(flag)) => Some(Value::Flag(*flag)),
            (Self::Count(_) | Self::Port | Self::Number(_), Content::Integer(number)) => {
                self.number(*number)
            }
            (Self::Count(_) | Self::Number(_), Content::Number(number)) => self.fraction(*number),
            // Hermes Agent converts, so a quoted number is one.
            (Self::Count(_) | Self::Port | Self::Number(_), Content::Text(text)) => {
                self.digits(text)
            }
            (Self::Text | Self::Zone | Self::Choice(_), Content::Text(text)) => self.text(text),
            (Self::Words, Content::List(items)) => words(items),
            _ => None,
        };
        value.ok_or_else(|| self.misfit(&node.content))
    }

    /// Reads a variable of the environment, or what a flag was given.
    pub fn read_text(self, text: &str) -> Result<Value, Misfit> {
        let trimmed = text.trim();
        let value = match self {
            Self::Flag => match trimmed.to_ascii_lowercase().as_str() {
                "1" | "true" | "yes" | "on" => Some(Value::Flag(true)),
                "0" | "false" | "no" | "off" => Some(Value::Flag(false)),
                _ => None,
            },
            Self::Count(_) | Self::Port | Self::Number(_) => self.digits(trimmed),
            Self::Text | Self::Zone | Self::Choice(_) => self.text(trimmed),
            Self::Words => Some(Value::Words(
                trimmed.split_whitespace().map(str::to_owned).collect(),
            )),
        };
        value.ok_or_else(|| self.misfit(&Content::Text(text.to_owned())))
    }

    /// The least that a setting takes, where this number is less: it counts as that.
    #[must_use]
    pub fn raised(self, number: i64) -> Option<String> {
        match self {
            Self::Count(least) if number < least => Some(least.to_string()),
            Self::Number(least) if i32::try_from(number).is_ok_and(|it| f64::from(it) < least) => {
                Some(least.to_string())
            }
            _ => None,
        }
    }

    fn misfit(self, found: &Content) -> Misfit {
        Misfit {
            expected: self.expected(),
            found: match (self, found) {
                (Self::Choice(_) | Self::Zone | Self::Port, Content::Text(text)) => shown(text),
                (Self::Port, Content::Integer(number)) => number.to_string(),
                (Self::Words, Content::Text(text)) => begin(text),
                _ => found.name().to_owned(),
            },
        }
    }

    fn number(self, number: i64) -> Option<Value> {
        match self {
            Self::Count(least) => Some(Value::Count(number.max(least))),
            Self::Port => u16::try_from(number)
                .is_ok()
                .then_some(Value::Count(number)),
            // A whole number of this size is exact, or no sensible number of seconds.
            Self::Number(least) => i32::try_from(number)
                .ok()
                .map(|number| Value::Number(f64::from(number).max(least))),
            _ => None,
        }
    }

    fn fraction(self, number: f64) -> Option<Value> {
        match self {
            Self::Number(least) if number.is_finite() => Some(Value::Number(number.max(least))),
            // Python's `int()` cuts the fraction off.
            Self::Count(_) if number.abs() < 1e15 =>
            {
                #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
                self.number(number.trunc() as i64)
            }
            _ => None,
        }
    }

    fn digits(self, text: &str) -> Option<Value> {
        match text.trim().parse::<i64>() {
            Ok(number) => self.number(number),
            Err(_) => self.fraction(text.trim().parse().ok()?),
        }
    }

    fn text(self, text: &str) -> Option<Value> {
        let fits = match self {
            Self::Choice(words) => words.contains(&text),
            Self::Zone => text.is_empty() || zones::named(text).is_ok(),
            _ => true,
        };
        fits.then(|| Value::Text(text.to_owned()))
    }
}

/// The start of a text, in quotes.
fn shown(text: &str) -> String {
    let start: String = text.chars().take(60).collect();
    format!("'{}'", start.escape_debug())
}

/// The first word of a command: whatever comes after it may be a secret, and so may a variable be that
/// is set before it.
fn begin(text: &str) -> String {
    let mut words = text.split_whitespace();
    match (words.next(), words.next()) {
        (Some(first), _) if first.contains('=') => "one text".to_owned(),
        (Some(first), Some(_)) => format!("one text, {}", shown(&format!("{first} …"))),
        (first, _) => format!("one text, {}", shown(first.unwrap_or_default())),
    }
}

fn words(items: &[Node]) -> Option<Value> {
    let text = |item: &Node| match &item.content {
        Content::Text(text) => Some(text.clone()),
        Content::Integer(number) => Some(number.to_string()),
        _ => None,
    };
    Some(Value::Words(items.iter().map(text).collect::<Option<_>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::yaml;

    fn read(kind: Kind, text: &str) -> Option<Value> {
        kind.read(&yaml::parse(text).unwrap()).ok()
    }

    #[test]
    fn what_is_written_is_read_as_what_it_should_be() {
        assert_eq!(read(Kind::Flag, "off"), Some(Value::Flag(false)));
        assert_eq!(read(Kind::Flag, "'off'"), None);
        assert_eq!(read(Kind::Flag, "0"), None);
        assert_eq!(read(Kind::Count(0), "7"), Some(Value::Count(7)));
        assert_eq!(read(Kind::Count(5), "-7"), Some(Value::Count(5)));
        assert_eq!(read(Kind::Count(0), "7.9"), Some(Value::Count(7)));
        assert_eq!(read(Kind::Count(0), "'7'"), Some(Value::Count(7)));
        assert_eq!(read(Kind::Count(0), "yes"), None);
        assert_eq!(read(Kind::Count(0), "[7]"), None);
        assert_eq!(read(Kind::Port, "65535"), Some(Value::Count(65_535)));
        for port in ["65536", "-1", "80.5", "http"] {
            assert_eq!(read(Kind::Port, port), None, "{port}");
        }
        assert_eq!(Kind::Port.read_text("70000").unwrap_err().found, "'70000'");
        assert_eq!(read(Kind::Number(0.0), "1:30"), Some(Value::Number(90.0)));
        assert_eq!(read(Kind::Number(0.0), ".inf"), None);
        assert_eq!(read(Kind::Number(0.0), "~"), Some(Value::Unset));
        assert_eq!(read(Kind::Text, "12"), None);
        assert_eq!(
            read(Kind::Words, "[a, 1]"),
            Some(Value::Words(vec!["a".to_owned(), "1".to_owned()]))
        );
        assert_eq!(read(Kind::Choice(&["a", "b"]), "c"), None);
        assert_eq!(
            read(Kind::Zone, "Europe/Berlin"),
            Some(Value::Text("Europe/Berlin".into()))
        );
        assert_eq!(read(Kind::Zone, "Europe/Berlinn"), None);
    }

    #[test]
    fn variables_are_read_as_text() {
        assert_eq!(Kind::Flag.read_text(" Yes "), Ok(Value::Flag(true)));
        assert_eq!(Kind::Number(0.0).read_text("-3"), Ok(Value::Number(0.0)));
        assert_eq!(Kind::Number(0.0).read_text("2.5"), Ok(Value::Number(2.5)));
        assert!(Kind::Count(0).read_text("soon").is_err());
        assert!(Kind::Flag.read_text("maybe").is_err());
    }

    #[test]
    fn a_misfit_shows_no_value_that_may_be_a_secret() {
        let misfit = Kind::Count(0).read_text("hunter2").unwrap_err();
        assert!(!format!("{misfit:?}").contains("hunter2"));
        let found = |kind: Kind, text: &str| {
            let node = yaml::parse(text).unwrap();
            kind.read(&node).unwrap_err().found
        };
        assert_eq!(found(Kind::Choice(&["a"]), "b"), "'b'");
        assert_eq!(found(Kind::Words, "ask"), "one text, 'ask'");
        assert_eq!(
            found(Kind::Words, "ask --token hunter2"),
            "one text, 'ask …'"
        );
        for text in ["API_KEY=hunter2 ask", "TOKEN=hunter2"] {
            assert_eq!(found(Kind::Words, text), "one text");
        }
    }
}
