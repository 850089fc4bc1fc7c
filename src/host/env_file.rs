//! The files of systemd's `EnvironmentFile=`. Parsing only.

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

fn pair(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.trim().split_once('=')?;
    let name = name.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!name.is_empty() && name.chars().all(plain)).then(|| (name, value.trim()))
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

    proptest! {
        #[test]
        fn no_text_panics(file in ".{0,60}", value in "[ #\"'a=]{0,12}") {
            drop(environment_file(&file));
            prop_assert_eq!(environment_file(&format!("A={value}")).len(), 1);
        }
    }
}
