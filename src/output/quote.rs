//! Commands as a person can paste them: each word quoted for a POSIX shell where it needs it.

use std::fmt::Write as _;

use super::human::is_unsafe;

/// One word, quoted if a shell would read it as anything but itself. Line breaks and other control
/// characters use `$'…'`, so that a command always stays on one line.
#[must_use]
pub fn word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) && !word.starts_with('=') {
        return word.to_owned();
    }
    if word.chars().any(is_unsafe) {
        return dollar_quoted(word, false);
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn dollar_quoted(word: &str, ascii: bool) -> String {
    let mut quoted = String::from("$'");
    for c in word.chars() {
        match c {
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            '\\' => quoted.push_str("\\\\"),
            '\'' => quoted.push_str("\\'"),
            c if is_unsafe(c) || (ascii && !c.is_ascii()) => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    let _infallible = write!(quoted, "\\{byte:03o}");
                }
            }
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

/// A whole command line in ASCII, for terminals that show nothing else.
#[must_use]
pub fn ascii_command<S: AsRef<str>>(argv: &[S]) -> String {
    let ascii = |part: &str| {
        if part.is_ascii() {
            word(part)
        } else {
            dollar_quoted(part, true)
        }
    };
    argv.iter()
        .map(|part| ascii(part.as_ref()))
        .collect::<Vec<_>>()
        .join(" ")
}

/// A whole command line.
#[must_use]
pub fn command<S: AsRef<str>>(argv: &[S]) -> String {
    argv.iter()
        .map(|part| word(part.as_ref()))
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_out_as_one_line_that_a_shell_reads_back() {
        assert_eq!(word("bot-1@x.service"), "bot-1@x.service");
        assert_eq!(word(""), "''");
        assert_eq!(word("a b"), "'a b'");
        assert_eq!(word("it's"), r"'it'\''s'");
        assert_eq!(word("a\nb'"), r"$'a\nb\''");
        assert_eq!(word("\u{1b}x"), r"$'\033x'");
        assert_eq!(word("\u{202e}x"), r"$'\342\200\256x'");
        assert_eq!(command(&["é"]), "'é'");
        assert_eq!(ascii_command(&["é", "a b"]), r"$'\303\251' 'a b'");
        assert_eq!(command(&["rm", "-rf", "$HOME"]), "rm -rf '$HOME'");
    }
}
