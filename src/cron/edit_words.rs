//! A command as a person types it, parted into words as a POSIX shell parts them: quotes and
//! backslashes, and nothing else. No shell ever runs it. Pure.

use crate::error::{Error, Result};

/// Parts a command into its words.
///
/// # Errors
/// When a quote is left open.
pub fn split(text: &str) -> Result<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' | '"' => quoted(letter, &mut letters, word.get_or_insert_default())?,
            '\\' => {
                let next = letters.next().ok_or_else(open)?;
                word.get_or_insert_default().push(next);
            }
            letter if letter.is_whitespace() => words.extend(word.take()),
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    Ok(words)
}

fn quoted(quote: char, letters: &mut std::str::Chars<'_>, word: &mut String) -> Result<()> {
    loop {
        match letters.next().ok_or_else(open)? {
            letter if letter == quote => return Ok(()),
            '\\' if quote == '"' => match letters.next().ok_or_else(open)? {
                next @ ('"' | '\\' | '$' | '`') => word.push(next),
                next => word.extend(['\\', next]),
            },
            letter => word.push(letter),
        }
    }
}

fn open() -> Error {
    Error::usage("the command ends within a quotation").with_hint("close the quote")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::output::quote;

    #[test]
    fn quotes_hold_words_together() {
        let words = |text: &str| split(text).unwrap();
        assert_eq!(
            words("mail -s 'cron says' me"),
            ["mail", "-s", "cron says", "me"]
        );
        assert_eq!(
            words(r#"a "b \"c\" $x" d\ e '' f"g"h"#),
            ["a", "b \"c\" $x", "d e", "", "fgh"]
        );
        assert!(words("  ").is_empty());
        for bad in ["'a", "\"a", "a\\"] {
            assert!(split(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn what_was_quoted_is_read_back(given in proptest::collection::vec("[ -~é]{0,8}", 0..5)) {
            let line = quote::command(&given);
            prop_assert_eq!(split(&line).unwrap(), given);
        }
    }
}
