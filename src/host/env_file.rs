//! Files of variables: systemd's `EnvironmentFile=` and the `.env` of Hermes Agent. Parsing only, and
//! only as far as the variables of our selection need it: nothing is substituted.

use super::unit_file::{joined, words};

/// The pairs of an `EnvironmentFile=`.
#[must_use]
pub fn environment_file(text: &str) -> Vec<(String, String)> {
    let pairs = joined(text);
    let pairs = pairs.iter().filter_map(|line| pair(line));
    pairs
        .map(|(name, value)| (name.to_owned(), words(value).join(" ")))
        .collect()
}

/// The pairs of a `.env`: `export` may stand before, and what follows a `#` after a blank is a comment.
#[must_use]
pub fn dotenv(text: &str) -> Vec<(String, String)> {
    text.trim_start_matches('\u{feff}')
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .filter_map(|line| {
            let line = line.trim();
            let (name, value) = pair(line.strip_prefix("export ").unwrap_or(line))?;
            Some((name.to_owned(), unquoted(value)))
        })
        .collect()
}

fn pair(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.trim().split_once('=')?;
    let name = name.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!name.is_empty() && name.chars().all(plain)).then(|| (name, value.trim()))
}

fn unquoted(value: &str) -> String {
    for quote in ['"', '\''] {
        let inside = value
            .strip_prefix(quote)
            .and_then(|rest| Some(rest.split_once(quote)?.0));
        if let Some(inside) = inside {
            return inside.to_owned();
        }
    }
    let end = value.find(" #").unwrap_or(value.len());
    value.get(..end).unwrap_or(value).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(pairs: &[(String, String)]) -> Vec<String> {
        let line = |(name, value): &(String, String)| format!("{name}={value}");
        pairs.iter().map(line).collect()
    }

    #[test]
    fn files_of_systemd() {
        let pairs =
            environment_file("# c\nHERMES_HOME=\"/srv/h\"\nBAD NAME=1\nA=b c\nB=\nC=x\\\ny\n");
        assert_eq!(text(&pairs), ["HERMES_HOME=/srv/h", "A=b c", "B=", "C=x y"]);
    }

    #[test]
    fn files_of_hermes_agent() {
        let pairs =
            dotenv("export TZ='Europe/Berlin'\nA=b # why\nB=\"x # y\"\n#C=1\n D = e\nE=#f\nno\n");
        assert_eq!(
            text(&pairs),
            ["TZ=Europe/Berlin", "A=b", "B=x # y", "D=e", "E=#f"]
        );
    }

    proptest! {
        #[test]
        fn no_text_panics(file in ".{0,60}", value in "[ #\"'\\\\a=]{0,12}") {
            drop((environment_file(&file), dotenv(&file)));
            prop_assert_eq!(dotenv(&format!("A={value}")).len(), 1);
        }
    }
}
