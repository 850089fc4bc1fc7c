//! Secrets out of text that is kept or shown: values that are known, and what looks like a token.

/// What stands in their place.
pub const MASK: &str = "[redacted]";
/// Shorter values are words of the language more often than secrets.
const SHORTEST: usize = 8;
/// Starts of tokens that are known by their look.
const STARTS: [&str; 12] = [
    "sk-",
    "sk_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "hf_",
    "eyJ",
];

/// Whether a variable of this name holds a secret.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    [
        "KEY",
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "CREDENTIAL",
        "COOKIE",
    ]
    .iter()
    .any(|word| name.split('_').any(|part| part == *word) || name.ends_with(word))
}

/// Text without the values of secret variables, and without what looks like a token.
#[must_use]
pub fn redact<'a>(
    text: &str,
    variables: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> String {
    let variables = variables.into_iter();
    let secret = variables.filter(|(name, _)| is_secret_name(name));
    tokens(&without(text, secret.map(|(_, value)| value.as_str())))
}

/// Text without these values, whatever their names are.
#[must_use]
pub fn without<'a>(text: &str, values: impl Iterator<Item = &'a str>) -> String {
    let mut redacted = text.to_owned();
    let mut values: Vec<_> = values.filter(|value| value.len() >= SHORTEST).collect();
    // A secret that contains another one goes first.
    values.sort_unstable_by_key(|value| std::cmp::Reverse(value.len()));
    for value in values {
        redacted = redacted.replace(value, MASK);
    }
    redacted
}

/// Masks words that start as a token does and are long enough for one.
fn tokens(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let word = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (start, after) = rest.split_at(word);
        let token = start.len() >= 20 && STARTS.iter().any(|prefix| start.starts_with(prefix));
        masked.push_str(if token { MASK } else { start });
        let gap = after.find(is_part).unwrap_or(after.len());
        let (between, next) = after.split_at(gap);
        masked.push_str(between);
        rest = next;
    }
    masked
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_of_secret_variables_and_tokens_go() {
        let variables = [
            ("GH_TOKEN", "hunter2hunter2"),
            ("PATH", "/usr/bin"),
            ("MY_KEY", "short"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let variables = std::collections::BTreeMap::from(variables);
        let text = "auth hunter2hunter2 failed; sk-abcdefghijklmnopqrstuv, path /usr/bin short";
        let shown = redact(text, &variables);
        assert_eq!(
            shown,
            "auth [redacted] failed; [redacted], path /usr/bin short"
        );
    }

    #[test]
    fn names_of_secrets() {
        for name in [
            "API_KEY",
            "apikey",
            "X_TOKEN",
            "DB_PASSWORD",
            "CLIENT_SECRET",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["PATH", "KEYBOARD", "MONKEYS", "TOKENIZER"] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    proptest! {
        #[test]
        fn without_secrets_text_stays(text in "[a-z ,.;é\n]{0,60}") {
            prop_assert_eq!(redact(&text, []), text);
        }
    }
}
