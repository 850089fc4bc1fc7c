//! What PyYAML makes of a plain scalar. Pure.
//!
//! Hermes Agent reads `config.yaml` with PyYAML, whose rules are those of YAML 1.1 with its own
//! omissions: `yes` is true but `y` is text, `012` is ten, `1:30` is ninety, `1e3` is text. What it
//! would read is what we must read.

use super::node::Content;

/// Reads a plain (unquoted, untagged) scalar.
#[must_use]
pub fn resolve(plain: &str) -> Content {
    match plain {
        "" | "~" | "null" | "Null" | "NULL" => Content::Null,
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Content::Flag(true)
        }
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Content::Flag(false)
        }
        ".nan" | ".NaN" | ".NAN" => Content::Number(f64::NAN),
        _ => integer(plain)
            .or_else(|| float(plain))
            .unwrap_or_else(|| Content::Text(plain.to_owned())),
    }
}

fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

fn only(text: &str, allowed: fn(char) -> bool) -> bool {
    !text.is_empty() && text.chars().all(|letter| allowed(letter) || letter == '_')
}

/// The digits without the underscores that may separate them.
fn bare(text: &str) -> String {
    text.replace('_', "")
}

fn integer(plain: &str) -> Option<Content> {
    let (negative, text) = signed(plain);
    let is_octal = |letter: char| ('0'..='7').contains(&letter);
    let (digits, radix) = if let Some(binary) = text.strip_prefix("0b") {
        (
            only(binary, |letter| matches!(letter, '0' | '1')).then_some(binary)?,
            2,
        )
    } else if let Some(hex) = text.strip_prefix("0x") {
        (
            only(hex, |letter| letter.is_ascii_hexdigit()).then_some(hex)?,
            16,
        )
    } else if text.len() > 1 && text.starts_with('0') {
        (only(text, is_octal).then_some(text)?, 8)
    } else if text.contains(':') {
        return sexagesimal(negative, text);
    } else {
        let decimal = text.starts_with(|letter: char| letter.is_ascii_digit());
        (
            (decimal && only(text, |l| l.is_ascii_digit())).then_some(text)?,
            10,
        )
    };
    let digits = bare(digits);
    let value = i128::from_str_radix(&digits, radix).ok();
    let value = value.map(|value| if negative { -value } else { value });
    match value.and_then(|value| i64::try_from(value).ok()) {
        Some(value) => Some(Content::Integer(value)),
        // Python's integers have no end; for us it only matters that it is a number.
        None => digits.parse().ok().map(Content::Number),
    }
}

/// `1:30` is one and a half in sixties: ninety.
fn sexagesimal(negative: bool, text: &str) -> Option<Content> {
    let mut parts = text.split(':');
    let first = parts.next()?;
    if !first.starts_with(|letter: char| ('1'..='9').contains(&letter)) {
        return None;
    }
    let mut value: i64 = only(first, |l| l.is_ascii_digit())
        .then(|| bare(first))?
        .parse()
        .ok()?;
    for part in parts {
        let short = (1..=2).contains(&part.len()) && part.chars().all(|l| l.is_ascii_digit());
        let part: i64 = short
            .then_some(part)?
            .parse()
            .ok()
            .filter(|&part| part < 60)?;
        value = value.checked_mul(60)?.checked_add(part)?;
    }
    Some(Content::Integer(if negative { -value } else { value }))
}

fn float(plain: &str) -> Option<Content> {
    let (negative, text) = signed(plain);
    let sign = if negative { -1.0 } else { 1.0 };
    if matches!(text, ".inf" | ".Inf" | ".INF") {
        return Some(Content::Number(sign * f64::INFINITY));
    }
    // A point is needed, and an exponent needs its sign: `1e3` is text.
    let (whole, rest) = text.split_once('.')?;
    let (fraction, exponent) = match rest.split_once(['e', 'E']) {
        Some((fraction, exponent)) => (fraction, Some(exponent)),
        None => (rest, None),
    };
    let digits = |text: &str| text.chars().all(|l| l.is_ascii_digit() || l == '_');
    let starts = |text: &str| text.starts_with(|l: char| l.is_ascii_digit());
    let shape = if whole.is_empty() {
        starts(fraction) && plain.starts_with('.')
    } else {
        starts(whole)
    };
    let exponent_fits = exponent.is_none_or(|text| {
        text.strip_prefix(['+', '-'])
            .is_some_and(|digits| !digits.is_empty() && digits.chars().all(|l| l.is_ascii_digit()))
    });
    if !shape || !digits(whole) || !digits(fraction) || !exponent_fits {
        return None;
    }
    let number: f64 = format!(
        "0{}.{}0e{}",
        bare(whole),
        bare(fraction),
        exponent.unwrap_or("0")
    )
    .parse()
    .ok()?;
    Some(Content::Number(sign * number))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_mean_what_pyyaml_says() {
        let integers = [
            ("0", 0),
            ("-0", 0),
            ("12", 12),
            ("+12", 12),
            ("1_000", 1000),
            ("012", 10),
            ("-010", -8),
            ("0b101", 5),
            ("0x_1F", 31),
            ("1:30", 90),
            ("-1:00:00", -3600),
        ];
        for (text, value) in integers {
            assert_eq!(resolve(text), Content::Integer(value), "{text}");
        }
        let numbers = [
            ("1.5", 1.5),
            ("-1.", -1.0),
            (".5", 0.5),
            ("1.0e+3", 1000.0),
            ("1_0.2_5", 10.25),
            ("-.inf", f64::NEG_INFINITY),
        ];
        for (text, value) in numbers {
            assert_eq!(resolve(text), Content::Number(value), "{text}");
        }
        let huge = "9".repeat(60);
        assert!(matches!(resolve(&huge), Content::Number(number) if number > 1e59));
    }

    #[test]
    fn words_mean_what_pyyaml_says() {
        for text in [
            "y",
            "n",
            "tRue",
            "1e3",
            "1.0e3",
            "089",
            "1:60",
            "0:30",
            "08:30",
            "-.5",
            "_1",
            "0x",
            "2026-01-01",
            "1.2.3",
            "-",
            "+",
            "nil",
            "one",
        ] {
            assert_eq!(resolve(text), Content::Text(text.to_owned()), "{text}");
        }
        for (text, value) in [
            ("yes", true),
            ("On", true),
            ("off", false),
            ("FALSE", false),
        ] {
            assert_eq!(resolve(text), Content::Flag(value));
        }
        for text in ["", "~", "null"] {
            assert_eq!(resolve(text), Content::Null);
        }
    }

    proptest! {
        #[test]
        fn any_text_has_a_meaning(text in "\\PC{0,12}", number in "[-+]?[0-9_.:eExb]{1,12}") {
            for text in [text, number] {
                if let Content::Text(same) = resolve(&text) {
                    prop_assert_eq!(same, text);
                }
            }
        }
    }
}
