//! `.env` files, and the environment that a process of Hermes Agent makes of them. Pure.
//!
//! What a process got at exec is not what it runs with: Hermes Agent lays `.env` files over it. The
//! syntax is that of python-dotenv: `export`, quotes with escapes, comments after a blank, `${NAME}`
//! and `${NAME:-default}`. Values may be secrets: this type has no way to print them.

use std::collections::BTreeMap;
use std::fmt;

/// An environment under `.env` files.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<String, String>);

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.keys()).finish()
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl Environment {
    /// A value.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The values of a `.env` file, with the names in them filled in from the file and from here. With
    /// `overrides` the file is asked first.
    #[must_use]
    pub fn values(&self, text: &str, overrides: bool) -> BTreeMap<String, String> {
        let mut new = BTreeMap::new();
        for (name, value) in parse(text) {
            let value = interpolate(&value, &|name| {
                let (here, there) = (new.get(name), self.0.get(name));
                let found = if overrides {
                    here.or(there)
                } else {
                    there.or(here)
                };
                found.cloned()
            });
            new.insert(name, value);
        }
        new
    }

    /// Lays the text of a `.env` file over it. With `overrides` the file wins over what is there.
    pub fn lay(&mut self, text: &str, overrides: bool) {
        for (name, value) in self.values(text, overrides) {
            if overrides || !self.0.contains_key(&name) {
                self.0.insert(name, value);
            }
        }
    }
}

/// The assignments of a `.env` file in their order; lines that are none are passed over.
#[must_use]
pub fn parse(text: &str) -> Vec<(String, String)> {
    let text = text.replace('\0', "");
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut rest = text;
    let mut found = Vec::new();
    while !rest.is_empty() {
        let line = rest.split('\n').next().unwrap_or_default();
        let after = |length: usize| rest.get(length..).unwrap_or_default();
        let (pair, length) = assignment(rest, line);
        found.extend(pair);
        let tail = after(length);
        rest = tail.split_once('\n').map_or("", |(_, next)| next);
    }
    found
}

/// Reads the assignment at the begin of a text; it, and how many bytes it has. A quoted value may go
/// over several lines.
fn assignment(text: &str, line: &str) -> (Option<(String, String)>, usize) {
    let Some((left, right)) = line.split_once('=') else {
        return (None, line.len());
    };
    let name = left.trim();
    let name = name.strip_prefix("export ").map_or(name, str::trim_start);
    let name = name.trim_matches('\'');
    let is_name = !name.is_empty() && !name.starts_with('#') && !name.contains(char::is_whitespace);
    if !is_name {
        return (None, line.len());
    }
    let indent = right.len() - right.trim_start_matches([' ', '\t']).len();
    let start = left.len() + 1 + indent;
    let value = text.get(start..).unwrap_or_default();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
    if let Some(quote) = quote
        && let Some((value, length)) = quoted(value, quote)
    {
        return (Some((name.to_owned(), value)), start + length);
    }
    let value = right.trim();
    let value = match value.find([' ', '\t']).and_then(|_| comment(value)) {
        Some(at) => value.get(..at).unwrap_or(value).trim_end(),
        None if value.starts_with('#') => "",
        None => value,
    };
    (Some((name.to_owned(), value.to_owned())), line.len())
}

/// Where a comment begins: a `#` after a blank.
fn comment(value: &str) -> Option<usize> {
    let bytes = value.as_bytes();
    bytes
        .windows(2)
        .position(|pair| matches!(pair, [b' ' | b'\t', b'#']))
        .or_else(|| value.starts_with('#').then_some(0))
}

/// A quoted value without its quotes and with its escapes undone, and its length with them.
fn quoted(text: &str, quote: char) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => {
                let (_, next) = letters.next()?;
                match (quote, next) {
                    (_, '\\') => value.push('\\'),
                    (_, next) if next == quote => value.push(next),
                    ('"', 'n') => value.push('\n'),
                    ('"', 't') => value.push('\t'),
                    ('"', 'r') => value.push('\r'),
                    ('"', '\'') => value.push('\''),
                    (_, next) => value.extend(['\\', next]),
                }
            }
            letter if letter == quote => return Some((value, at + 1)),
            letter => value.push(letter),
        }
    }
    None
}

/// Puts values in the place of `${NAME}` and `${NAME:-default}`; an unknown name is empty.
fn interpolate(value: &str, get: &dyn Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let Some((inside, tail)) = after.split_once('}') else {
            out.push_str("${");
            rest = after;
            continue;
        };
        let (name, default) = inside.split_once(":-").unwrap_or((inside, ""));
        out.push_str(&get(name).unwrap_or_else(|| default.to_owned()));
        rest = tail;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        parse(text)
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn assignments_are_read_as_python_dotenv_reads_them() {
        let text = "\u{feff}A=1\n# no=thing\nexport B = two words # said\nC='a#b \\' \\n'\n\
                    D=\"x\\n\\\"y\\\"\"  # why\nno assignment\nE=\nF=a#b\n=x\nG=\"over\ntwo\"\r\nH='open\nI=9\r\n";
        assert_eq!(
            pairs(text),
            [
                pair("A", "1"),
                pair("B", "two words"),
                pair("C", "a#b ' \\n"),
                pair("D", "x\n\"y\""),
                pair("E", ""),
                pair("F", "a#b"),
                pair("G", "over\ntwo"),
                pair("H", "'open"),
                pair("I", "9"),
            ]
        );
    }

    #[test]
    fn a_file_wins_or_yields_and_names_are_filled_in() {
        let mut env: Environment = [pair("A", "shell"), pair("B", "shell")]
            .into_iter()
            .collect();
        env.lay("A=file\nC=${A}-${B}-${NONE:-none}-${NONE}\n", true);
        assert_eq!(env.get("A"), Some("file"));
        assert_eq!(env.get("C"), Some("file-shell-none-"));
        env.lay("A=later\nD=${A}\nE=${open\n", false);
        assert_eq!(env.get("A"), Some("file"));
        assert_eq!(env.get("D"), Some("file"));
        assert_eq!(env.get("E"), Some("${open"));
    }

    #[test]
    fn values_are_never_printed() {
        let env: Environment = [pair("API_KEY", "hunter2")].into_iter().collect();
        let shown = format!("{env:?}");
        assert!(shown.contains("API_KEY") && !shown.contains("hunter2"));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[A-C= \\n'\"\\\\#$\\{\\}é]{0,40}") {
            let mut env = Environment::default();
            env.lay(&text, true);
            prop_assert!(env.names().all(|name| !name.is_empty()));
        }
    }
}
