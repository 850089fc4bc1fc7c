//! How Python reads characters: white space, decimal digits, integers.
//!
//! The stores and schedule texts that we share are read by a Python program. Where its idea of a
//! space or a digit is wider than ASCII, a text means the same here.

/// The zero of every run of ten decimal digits (category Nd) of Unicode 14, the version that
/// Python 3.11 knows.
const ZEROS: [u32; 66] = [
    0x30, 0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66,
    0xDE6, 0xE50, 0xED0, 0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90,
    0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10,
    0x104A0, 0x10D30, 0x11066, 0x110F0, 0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0, 0x11650,
    0x116C0, 0x11730, 0x118E0, 0x11950, 0x11C50, 0x11D50, 0x11DA0, 0x16A60, 0x16AC0, 0x16B50,
    0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6, 0x1E140, 0x1E2F0, 0x1E950, 0x1FBF0,
];

/// White space as Python's `str.isspace` sees it: Unicode's, and the four separators of ASCII.
#[must_use]
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// `text` without white space at either end.
#[must_use]
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// The words of `text`, in order; never an empty one.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// The value of a decimal digit of any script.
#[must_use]
pub fn digit(c: char) -> Option<u8> {
    if c.is_ascii() {
        return c.to_digit(10).and_then(|d| u8::try_from(d).ok());
    }
    let code = u32::from(c);
    let index = ZEROS.partition_point(|zero| *zero <= code).checked_sub(1)?;
    let value = code - ZEROS.get(index)?;
    u8::try_from(value).ok().filter(|value| *value < 10)
}

/// Whether `text` is one decimal digit or more, of any script, and nothing else.
#[must_use]
pub fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| digit(c).is_some())
}

/// The value of a run of decimal digits; numbers too large for 63 bits stand at the largest, which
/// every caller refuses as out of range. `None` where `text` is not such a run.
#[must_use]
pub fn number(text: &str) -> Option<i64> {
    if text.is_empty() {
        return None;
    }
    text.chars().try_fold(0_i64, |sum, c| {
        digit(c).map(|d| sum.saturating_mul(10).saturating_add(i64::from(d)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_other_scripts_count() {
        assert_eq!(number("１０"), Some(10));
        assert_eq!(number("٣"), Some(3));
        assert_eq!(number("½"), None);
        assert_eq!(number("²"), None);
        assert_eq!(number(""), None);
        assert_eq!(number("99999999999999999999999"), Some(i64::MAX));
    }

    #[test]
    fn the_ideographic_space_and_the_ascii_separators_are_space() {
        assert_eq!(strip("\u{3000}\u{1f} a b\n"), "a b");
        assert_eq!(words("a\u{3000}b\tc").collect::<Vec<_>>(), ["a", "b", "c"]);
    }
}
