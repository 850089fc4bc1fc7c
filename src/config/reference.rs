//! The table of settings as a page of the documentation. Pure.

use std::fmt::Write as _;

use super::key::{Key, Owner};
use super::keys::KEYS;
use super::value::Value;

const HEAD: &str = "# Settings

Defaults < `config.yaml` < `config.toml` < environment < flags; `hermes config show` says where each
value stands, `hermes config check` what is wrong. Both files lie in the home. `config.yaml` is Hermes
Agent's and is never written; `config.toml` is ours, and may set any of these for us alone.

This page is written by `hermes config show --markdown`.

| setting | default | variable | in `config.yaml` | what it does |
| --- | --- | --- | --- | --- |
";

/// The page.
#[must_use]
pub fn markdown() -> String {
    let mut page = String::from(HEAD);
    for key in KEYS {
        // Writing to a String cannot fail.
        _ = writeln!(page, "{}", row(key));
    }
    page
}

fn row(key: &Key) -> String {
    let default = match key.default.value() {
        Value::Unset => "not set".to_owned(),
        value => format!("`{value}`"),
    };
    let variable = key
        .variable
        .map_or(String::new(), |name| format!("`{name}`"));
    let theirs = match (key.owner, key.also) {
        (Owner::Ours, _) => "no".to_owned(),
        (Owner::Theirs, None) => "yes".to_owned(),
        (Owner::Theirs, Some(also)) => format!("yes, else `{also}`"),
    };
    let help = key.help.replace('|', "\\|");
    format!(
        "| `{}` | {default} | {variable} | {theirs} | {help} |",
        key.name
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_that_of_the_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/configuration.md");
        let kept = std::fs::read_to_string(path).unwrap();
        assert!(
            kept == markdown(),
            "write docs/configuration.md anew: hermes config show --markdown"
        );
    }
}
