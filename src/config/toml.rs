//! TOML to nodes. Pure.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::node::{Content, Entry, Flaw, Node, Place, Places};

/// Reads a document.
pub fn parse(text: &str) -> Result<Node, Flaw> {
    let places = Places::of(text);
    let table = DeTable::parse(text).map_err(|error| Flaw {
        at: error.span().map(|span| places.at(span.start)),
        message: error.message().lines().collect::<Vec<_>>().join(", "),
    })?;
    let at = Place { line: 1, column: 1 };
    let content = entries(&places, table.into_inner());
    Ok(Node { at, content })
}

fn entries(places: &Places<'_>, table: DeTable<'_>) -> Content {
    let at = |span: Range<usize>| places.at(span.start);
    let entries = table
        .into_iter()
        .map(|(key, value)| Entry {
            at: at(key.span()),
            key: key.into_inner().into_owned(),
            node: node(places, value),
        })
        .collect();
    Content::Table(entries)
}

fn node(places: &Places<'_>, value: Spanned<DeValue<'_>>) -> Node {
    let at = places.at(value.span().start);
    let content = match value.into_inner() {
        DeValue::String(text) => Content::Text(text.into_owned()),
        DeValue::Boolean(flag) => Content::Flag(flag),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(
                |_| Content::Text(number.as_str().to_owned()),
                Content::Integer,
            ),
        DeValue::Float(number) => number.as_str().parse().map_or_else(
            |_| Content::Text(number.as_str().to_owned()),
            Content::Number,
        ),
        DeValue::Datetime(datetime) => Content::Text(datetime.to_string()),
        DeValue::Array(items) => {
            Content::List(items.into_iter().map(|item| node(places, item)).collect())
        }
        DeValue::Table(table) => entries(places, table),
    };
    Node { at, content }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_places() {
        let root = parse("[serve]\nport = 0x10 # six\nhost = \"::1\"\n[agent]\ncommand = [\"a\", 'b']\nx = 1.5\n").unwrap();
        let port = root.find("serve.port").unwrap();
        assert_eq!(port.at, Place { line: 2, column: 1 });
        assert_eq!(port.node.at, Place { line: 2, column: 8 });
        assert_eq!(port.node.content, Content::Integer(16));
        assert_eq!(
            root.find("agent.x").unwrap().node.content,
            Content::Number(1.5)
        );
        let Content::List(words) = &root.find("agent.command").unwrap().node.content else {
            unreachable!()
        };
        assert_eq!(words[1].content, Content::Text("b".to_owned()));
    }

    #[test]
    fn a_flaw_has_a_place() {
        let flaw = parse("[serve]\nport = \n").unwrap_err();
        assert_eq!(flaw.at.unwrap().line, 2);
        let twice = parse("a = 1\na = 2\n").unwrap_err();
        assert_eq!(twice.at.unwrap().line, 2);
    }
}
