//! What Python's `json` reads and writes although it is no JSON: `NaN`, `Infinity`, halves of
//! surrogate pairs, raw control characters in strings. They are read by way of stand-ins, which are put
//! back when the text is written, so that no value is lost on the way. Pure.
//!
//! A text that holds a stand-in of its own beside what it would stand for is not mended: it stays
//! unreadable, and is not written.

use std::fmt::Write as _;

/// A text that our parser reads.
#[derive(Debug)]
pub(super) struct Mended {
    /// The text.
    pub(super) text: String,
    /// Where, in this text, the first raw control character within a string became an escape.
    pub(super) control: Option<usize>,
    /// Something has a stand-in.
    pub(super) stand_ins: bool,
    edits: Vec<Edit>,
}

/// A piece of the mended text, and how long what it replaces is.
#[derive(Debug)]
struct Edit {
    at: usize,
    length: usize,
    instead_of: usize,
}

/// Numbers that no JSON has, and what stands for each: like them they are beyond every finite number.
const NUMBERS: [(&str, &str); 3] = [
    ("NaN", "1e+2147480001"),
    ("Infinity", "1e+2147480002"),
    ("-Infinity", "-1e+2147480002"),
];

/// What the stand-ins of numbers hold, however they are spelt.
const BEYOND: &str = "214748000";

/// From a half of a surrogate pair to the private character at the end of Unicode that stands for it.
const SHIFT: u32 = 0x10_f800 - 0xd800;

/// The first of these characters.
const FIRST: char = '\u{10f800}';

/// The text with stand-ins; `None`: there is nothing to mend, or it cannot be mended.
pub(super) fn mend(text: &str) -> Option<Mended> {
    let mut pass = Mender {
        rest: text,
        before: b'[',
        halves: false,
        numbers: false,
        clash: false,
        mended: Mended {
            text: String::with_capacity(text.len() + 16),
            control: None,
            stand_ins: false,
            edits: Vec::new(),
        },
    };
    while !pass.rest.is_empty() {
        pass.outside();
    }
    let clash = (pass.halves && (pass.clash || text.chars().any(|c| c >= FIRST)))
        || (pass.numbers && text.contains(BEYOND));
    let mut mended = pass.mended;
    mended.stand_ins = pass.halves || pass.numbers;
    (!clash && !mended.edits.is_empty()).then_some(mended)
}

/// A text as our writer makes it, with everything in the place of its stand-in.
pub(super) fn restore(text: &str) -> String {
    let mut restored = String::with_capacity(text.len());
    let (mut inside, mut escaped) = (false, false);
    let mut from = 0;
    let mut before = '[';
    for (at, c) in text.char_indices() {
        let starts = matches!(before, '[' | ',' | ':' | ' ' | '\n');
        before = c;
        if c >= FIRST {
            restored.push_str(text.get(from..at).unwrap_or_default());
            // Writing into a string cannot fail.
            let _ = write!(restored, "\\u{:04x}", u32::from(c) - SHIFT);
            from = at + c.len_utf8();
        }
        let quote = c == '"' && !escaped;
        escaped = inside && c == '\\' && !escaped;
        if quote {
            inside = !inside;
            continue;
        }
        if inside || !starts {
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
        let found = NUMBERS
            .iter()
            .find(|(_, stand_in)| rest.strip_prefix(stand_in).is_some_and(ends));
        if let Some((number, stand_in)) = found {
            restored.push_str(text.get(from..at).unwrap_or_default());
            restored.push_str(number);
            from = at + stand_in.len();
        }
    }
    restored.push_str(text.get(from..).unwrap_or_default());
    restored
}

/// How many stand-ins a text of our writer holds.
pub(super) fn count(text: &str) -> usize {
    text.chars().filter(|c| *c >= FIRST).count() + text.matches(BEYOND).count()
}

/// Whether a number or a word may end before this.
fn ends(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with([',', ']', '}', ' ', '\t', '\n', '\r'])
}

impl Mended {
    /// Where a place of this text lies in the original.
    pub(super) fn original(&self, offset: usize) -> usize {
        let (mut longer, mut shorter) = (0, 0);
        for edit in self.edits.iter().take_while(|edit| edit.at < offset) {
            let within = offset.saturating_sub(edit.at).min(edit.length);
            longer += within;
            shorter += if within < edit.length {
                0
            } else {
                edit.instead_of
            };
        }
        offset + shorter - longer
    }
}

struct Mender<'t> {
    rest: &'t str,
    /// The last byte outside of strings that is no white space.
    before: u8,
    halves: bool,
    numbers: bool,
    /// The text has, as an escape, a character that stands for a half.
    clash: bool,
    mended: Mended,
}

impl Mender<'_> {
    fn take(&mut self, length: usize) {
        if let Some((taken, rest)) = self.rest.split_at_checked(length) {
            self.mended.text.push_str(taken);
            self.rest = rest;
        } else {
            self.mended.text.push_str(std::mem::take(&mut self.rest));
        }
    }

    fn replace(&mut self, length: usize, by: &str) {
        self.mended.edits.push(Edit {
            at: self.mended.text.len(),
            length: by.len(),
            instead_of: length,
        });
        self.mended.text.push_str(by);
        self.rest = self.rest.get(length..).unwrap_or_default();
    }

    /// Up to the next string and through it, or through a number that is none.
    fn outside(&mut self) {
        let rest = self.rest;
        if matches!(self.before, b'[' | b',' | b':') {
            let found = NUMBERS
                .iter()
                .find(|(number, _)| rest.strip_prefix(number).is_some_and(ends));
            if let Some((number, stand_in)) = found {
                self.replace(number.len(), stand_in);
                self.numbers = true;
                self.before = b'0';
                return;
            }
        }
        let Some(c) = rest.chars().next() else {
            return;
        };
        self.take(c.len_utf8());
        if c == '"' {
            while self.inside() {}
            self.before = b'"';
        } else if !c.is_ascii_whitespace() {
            self.before = u8::try_from(c).unwrap_or(b'?');
        }
    }

    /// One step within a string; `false`: it has ended.
    fn inside(&mut self) -> bool {
        let plain = |c: char| c != '"' && c != '\\' && c >= ' ';
        let length = self.rest.find(|c| !plain(c)).unwrap_or(self.rest.len());
        self.take(length);
        match self.rest.chars().next() {
            None => return false,
            Some('"') => {
                self.take(1);
                return false;
            }
            Some('\\') => self.escape(),
            Some(control) => {
                let at = self.mended.text.len();
                self.mended.control.get_or_insert(at);
                self.replace(1, &format!("\\u{:04x}", u32::from(control)));
            }
        }
        true
    }

    /// An escape, as it is or as a stand-in.
    fn escape(&mut self) {
        let rest = self.rest;
        let second = || unit(rest.get(6..)?).filter(|unit| (0xdc00..0xe000).contains(unit));
        match unit(rest) {
            Some(0xd800..0xdc00) if second().is_some() => {
                self.clash |= unit(rest).is_some_and(|first| first >= 0xdbfe);
                self.take(12);
            }
            Some(half @ 0xd800..0xe000) => {
                let stand_in = char::from_u32(half + SHIFT).unwrap_or(FIRST);
                self.replace(6, stand_in.encode_utf8(&mut [0; 4]));
                self.halves = true;
            }
            Some(_) => self.take(6),
            // What else follows is the parser's to judge.
            None => {
                let next = rest.chars().nth(1).map_or(0, char::len_utf8);
                self.take(1 + next);
            }
        }
    }
}

/// The code unit of an escape that this begins with.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    hex.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn through(text: &str) -> String {
        let mended = mend(text).expect("something to mend");
        let value: Value = serde_json::from_str(&mended.text).expect("JSON");
        restore(&value.to_string())
    }

    #[test]
    fn what_is_no_json_goes_through_unharmed() {
        for text in [
            r"[NaN,Infinity,-Infinity]",
            r#"{"a":NaN,"b":"NaN 1e2147480001 Infinity","c":-Infinity}"#
                .replace(" 1e2147480001", "")
                .as_str(),
            r#"["\ud800","x\udfff\ud800y","\ude00\ud83d"]"#,
            r#"{"\ud83d":"\"\ud83d\\"}"#,
            r#"["\"",NaN,"\\",NaN]"#,
        ] {
            assert_eq!(through(text), text);
        }
        // A whole pair is a character, and raw control characters become escapes.
        assert_eq!(
            through("[\"\\ud83d\\ude00 \\ud83d\"]"),
            "[\"\u{1f600} \\ud83d\"]"
        );
        assert_eq!(through("[\"a\tb\u{1}\"]"), "[\"a\\tb\\u0001\"]");
    }

    #[test]
    fn what_is_wrong_stays_wrong_and_what_clashes_is_left_alone() {
        for text in [
            "[1NaN]",
            "[NaNa]",
            "[-NaN]",
            "[NaN NaN]",
            "{NaN:1}",
            "[+Infinity]",
            "[\"\\\n\"]",
            "[\"\\ud8\"]",
        ] {
            let mended = mend(text);
            let read = |text: &str| serde_json::from_str::<Value>(text).is_ok();
            assert!(
                !read(text) && !mended.is_some_and(|mended| read(&mended.text)),
                "{text}"
            );
        }
        for text in [
            "[\"\\ud800\u{10f801}\"]",
            r#"["\ud800\udbfe\udc00"]"#,
            "[NaN,1e2147480001]",
            "[1]",
            "\"\u{10f801}\"",
        ] {
            assert!(mend(text).is_none(), "{text}");
        }
        assert_eq!(count("[\"\u{10f801}\",1e2147480002]"), 2);
    }

    #[test]
    fn places_are_those_of_the_original() {
        let text = "[\"\t\", NaN, \"\\ud800\", x]";
        let mended = mend(text).expect("mended");
        let at = mended.text.find('x').expect("there");
        assert_eq!(text.find('x'), Some(mended.original(at)));
        assert_eq!(mended.original(0), 0);
        assert_eq!(mended.original(3), 2);
    }

    proptest! {
        #[test]
        fn any_text_is_answered(
            text in "[\\[\\]{},:\"\\\\ \\n\\tud8D0NaInfity1-]{0,60}",
            strings in proptest::collection::vec("([a\\t\u{1f600}]|\\\\u[dD][89aAcC][0-9]{2}|\\\\\\\\|\\\\\"){0,6}", 0..4),
        ) {
            if let Some(mended) = mend(&text) {
                for offset in 0..=mended.text.len() {
                    prop_assert!(mended.original(offset) <= text.len());
                }
            }
            let whole = format!("[{}]", strings.iter().map(|s| format!("\"{s}\"")).collect::<Vec<_>>().join(",NaN,"));
            let mended = mend(&whole).map_or_else(|| whole.clone(), |mended| mended.text);
            let value: Value = serde_json::from_str(&mended).expect("all of it is read");
            // Written and read again it is the same.
            let written = restore(&value.to_string());
            let again = mend(&written).map_or_else(|| written.clone(), |mended| mended.text);
            prop_assert_eq!(serde_json::from_str::<Value>(&again).expect("read again"), value);
        }
    }
}
