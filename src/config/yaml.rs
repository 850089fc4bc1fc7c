//! YAML to nodes, as PyYAML reads it: the last of two equal keys counts, `<<` merges, and plain
//! scalars mean what `scalar` says. Pure.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Location, Options, Spanned};

use super::node::{Content, Entry, Flaw, Node, Place};
use super::scalar;

/// Reads a document.
pub fn parse(text: &str) -> Result<Node, Flaw> {
    let options = serde_saphyr::options! {
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
    };
    let options: Options = options;
    let raw: Spanned<Raw> =
        serde_saphyr::from_str_with_options(text, options).map_err(|error| Flaw {
            at: error.location().map(place),
            message: message(&error.without_snippet().to_string()),
        })?;
    Ok(node(text, raw))
}

/// The parser's message without its tail about the place, which is told separately.
fn message(full: &str) -> String {
    let line = full.lines().next().unwrap_or_default();
    line.rsplit_once(" at line ")
        .map_or(line, |(message, _)| message)
        .to_owned()
}

fn place(location: Location) -> Place {
    let count = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    Place {
        line: count(location.line()),
        column: count(location.column()),
    }
}

fn node(text: &str, raw: Spanned<Raw>) -> Node {
    let content = match raw.value {
        Raw::List(items) => Content::List(items.into_iter().map(|item| node(text, item)).collect()),
        Raw::Table(entries) => Content::Table(
            entries
                .into_iter()
                .map(|(key, value)| entry(text, key, value))
                .collect(),
        ),
        Raw::Scalar(read) => scalar(text, raw.defined, read),
    };
    Node {
        at: place(raw.defined),
        content,
    }
}

fn entry(text: &str, key: Spanned<Raw>, value: Spanned<Raw>) -> Entry {
    let at = place(key.defined);
    let written = source(text, key.defined).map(|(_, written)| written.to_owned());
    let key = match node(text, key).content {
        Content::Text(key) => key,
        _ => written.unwrap_or_default(),
    };
    Entry {
        key,
        at,
        node: node(text, value),
    }
}

/// What stands before a place, and the scalar at it, as written.
fn source(text: &str, location: Location) -> Option<(&str, &str)> {
    let span = location.span();
    let start = usize::try_from(span.byte_offset()?).ok()?;
    let length = usize::try_from(span.byte_len()?).ok()?;
    Some((
        text.get(..start)?,
        text.get(start..start.checked_add(length)?)?,
    ))
}

/// The parser's reading of a scalar counts where it is quoted, tagged or a block; a plain one is
/// read anew.
fn scalar(text: &str, location: Location, read: Content) -> Content {
    let Some((before, written)) = source(text, location) else {
        return read;
    };
    let introduced = before
        .split_whitespace()
        .next_back()
        .is_some_and(|word| word.starts_with(['!', '|', '>']));
    if introduced || written.starts_with(['"', '\'']) || written.contains('\n') {
        read
    } else {
        scalar::resolve(written)
    }
}

/// A value as the parser gives it, before its scalars are read anew.
enum Raw {
    Scalar(Content),
    List(Vec<Spanned<Raw>>),
    Table(Vec<(Spanned<Raw>, Spanned<Raw>)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Anything)
    }
}

struct Anything;

impl<'de> Visitor<'de> for Anything {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Scalar(Content::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Scalar(Content::Flag(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Raw, E> {
        Ok(Raw::Scalar(Content::Integer(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Raw, E> {
        let scalar = match i64::try_from(value) {
            Ok(value) => Content::Integer(value),
            Err(_) => scalar::resolve(&value.to_string()),
        };
        Ok(Raw::Scalar(scalar))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Raw, E> {
        Ok(Raw::Scalar(Content::Number(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Raw, E> {
        Ok(Raw::Scalar(Content::Text(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Raw, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Raw::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Raw, A::Error> {
        let mut table = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            table.push(entry);
        }
        Ok(Raw::Table(table))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn content(text: &str, path: &str) -> Content {
        parse(text)
            .unwrap()
            .find(path)
            .unwrap()
            .node
            .content
            .clone()
    }

    fn words(text: &str) -> Content {
        Content::Text(text.to_owned())
    }

    #[test]
    fn values_have_their_places() {
        let root = parse("# first\ncron:\n  catch_up_missed: yes\n").unwrap();
        let entry = root.find("cron.catch_up_missed").unwrap();
        assert_eq!(entry.at, Place { line: 3, column: 3 });
        assert_eq!(
            entry.node.at,
            Place {
                line: 3,
                column: 20
            }
        );
        assert_eq!(entry.node.content, Content::Flag(true));
    }

    #[test]
    fn plain_scalars_are_pyyamls_and_others_are_as_they_are_written() {
        assert_eq!(content("a: 012", "a"), Content::Integer(10));
        assert_eq!(content("a: y", "a"), words("y"));
        assert_eq!(content("a: 1:30", "a"), Content::Integer(90));
        assert_eq!(content("a: '12'", "a"), words("12"));
        assert_eq!(content("a: \"yes\"", "a"), words("yes"));
        assert_eq!(content("a: !!str 12", "a"), words("12"));
        assert_eq!(content("a: |-\n  12\n", "a"), words("12"));
        assert_eq!(content("a: two\n  words\n", "a"), words("two words"));
        assert_eq!(content("a:\n", "a"), Content::Null);
        assert_eq!(content("n: 1\n1: 2\n", "n"), Content::Integer(1));
        assert_eq!(content("n: 1\n1: 2\n", "1"), Content::Integer(2));
        assert_eq!(content("a: .inf", "a"), Content::Number(f64::INFINITY));
        assert_eq!(content("\u{feff}a: 1", "a"), Content::Integer(1));
    }

    #[test]
    fn the_last_of_two_equal_keys_counts_and_merges_are_followed() {
        assert_eq!(content("a: 1\na: 2\n", "a"), Content::Integer(2));
        let merged = "x: &x {k: 1, l: 2}\ny:\n  <<: *x\n  k: 3\n";
        assert_eq!(content(merged, "y.k"), Content::Integer(3));
        assert_eq!(content(merged, "y.l"), Content::Integer(2));
    }

    #[test]
    fn a_flaw_has_a_place() {
        for text in [
            "a: [1\nb: 2\n",
            "a: 1\n\tb: 2\n",
            "a: 1\n---\nb: 2\n",
            "a: 1\n b: 2\n",
        ] {
            let flaw = parse(text).unwrap_err();
            assert!(flaw.at.is_some(), "{text:?}");
            assert!(
                !flaw.message.is_empty() && !flaw.message.contains("at line"),
                "{flaw:?}"
            );
        }
        assert_eq!(parse("").unwrap().content, Content::Null);
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in "[-a-c0-2:,{}\\[\\]&*!|>'\"#%@ \\n\\t<]{0,40}", any in "\\PC{0,40}") {
            for text in [text, any] {
                if let Err(flaw) = parse(&text) {
                    prop_assert!(!flaw.message.is_empty());
                }
            }
        }
    }
}
