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

/// The words that a shell would read from a command line of ours, for tests.
#[cfg(test)]
pub(crate) fn read_back(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("$'") {
            let (text, after) = dollar_unquoted(after);
            word.get_or_insert_default().extend(text);
            rest = after;
        } else if let Some(after) = rest.strip_prefix('\'') {
            let (text, after) = after.split_once('\'').expect("a closing quote");
            word.get_or_insert_default().extend(text.bytes());
            rest = after;
        } else if let Some(after) = rest.strip_prefix(' ') {
            words.extend(word.take());
            rest = after;
        } else {
            let (c, skip) = match rest.strip_prefix('\\') {
                Some(escaped) => (escaped.chars().next().expect("something escaped"), 1),
                None => (c, 0),
            };
            assert!(
                skip == 1 || !"\"`$;&|<>()#*?[]~!{}\n".contains(c),
                "{c} is bare in {line}"
            );
            let bytes = &mut [0; 4];
            word.get_or_insert_default()
                .extend(c.encode_utf8(bytes).bytes());
            rest = rest.get(skip + c.len_utf8()..).expect("the rest");
        }
    }
    words.extend(word);
    let text = |word| String::from_utf8(word).expect("UTF-8");
    words.into_iter().map(text).collect()
}

#[cfg(test)]
fn dollar_unquoted(text: &str) -> (Vec<u8>, &str) {
    let mut bytes = Vec::new();
    let mut rest = text;
    loop {
        let c = rest.chars().next().expect("a closing quote");
        rest = rest.get(c.len_utf8()..).expect("the rest");
        match c {
            '\'' => return (bytes, rest),
            '\\' => {
                let (byte, length) = match rest.as_bytes() {
                    [b'n', ..] => (b'\n', 1),
                    [b't', ..] => (b'\t', 1),
                    [b'r', ..] => (b'\r', 1),
                    [c @ (b'\\' | b'\''), ..] => (*c, 1),
                    _ => {
                        let octal = rest.get(..3).expect("three digits");
                        (u8::from_str_radix(octal, 8).expect("octal"), 3)
                    }
                };
                bytes.push(byte);
                rest = rest.get(length..).expect("the rest");
            }
            c => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn what_was_quoted_is_read_back(argv in proptest::collection::vec("\\PC{0,6}|[\\x00-\\x20'\"\\\\$`~#=\\u{200b}]{0,8}", 1..4)) {
            for line in [command(&argv), ascii_command(&argv)] {
                proptest::prop_assert!(!line.contains('\n'));
                proptest::prop_assert_eq!(&read_back(&line), &argv);
            }
        }
    }

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
