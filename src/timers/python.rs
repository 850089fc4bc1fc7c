//! How the other program reads and writes small things: Python's white space, digits, integers,
//! floats and `json.dumps`. Owns no rule of a timer.

use serde_json::{Number, Value};

/// The zero of every run of ten decimal digits (category Nd, Unicode 16). Python's `int`, `float` and
/// the `\d` of its expressions take them all.
const ZEROS: [u32; 74] = [
    0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66,
    0xde6, 0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90,
    0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
    0x10_4a0, 0x10_d30, 0x10_d40, 0x11_066, 0x11_0f0, 0x11_136, 0x11_1d0, 0x11_2f0, 0x11_450,
    0x11_4d0, 0x11_650, 0x11_6c0, 0x11_6d0, 0x11_6da, 0x11_730, 0x11_8e0, 0x11_950, 0x11_bf0,
    0x11_c50, 0x11_d50, 0x11_da0, 0x11_f50, 0x16_a60, 0x16_ac0, 0x16_b50, 0x1c_cf0, 0x1d_7ce,
    0x1d_7d8, 0x1d_7e2, 0x1d_7ec, 0x1d_7f6, 0x1e_140, 0x1e_2f0, 0x1e_4f0, 0x1e_5f1, 0x1e_950,
    0x1f_bf0,
];

/// The longest text that Python's `int` reads (`sys.int_info.default_max_str_digits`).
const MAX_DIGITS: usize = 4300;

/// Whether Python's `str.isspace` holds: Unicode white space and the four separators U+001C–U+001F.
#[must_use]
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// `str.strip()`.
#[must_use]
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// The value of a decimal digit of any script.
#[must_use]
pub fn digit(c: char) -> Option<u8> {
    let code = u32::from(c);
    let run = ZEROS.partition_point(|zero| *zero <= code).checked_sub(1)?;
    u8::try_from(code - ZEROS.get(run)?)
        .ok()
        .filter(|value| *value < 10)
}

/// `int(text)`: a sign, digits of any script, single underscores between digits. The sign and the
/// magnitude, saturated at `u128::MAX`; `None` where Python raises `ValueError`.
#[must_use]
pub fn int(text: &str) -> Option<(bool, u128)> {
    let text = strip(text);
    let (negative, body) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut value = 0_u128;
    let mut digits = 0;
    let mut may_part = false;
    for c in body.chars() {
        match digit(c) {
            Some(d) => {
                value = value.saturating_mul(10).saturating_add(u128::from(d));
                digits += 1;
                may_part = true;
            }
            None if c == '_' && may_part => may_part = false,
            None => return None,
        }
    }
    (may_part && digits <= MAX_DIGITS).then_some((negative, value))
}

/// `repr` of a float, as `json.dumps` writes it: `300.0`, `1e+16`, `1e-05`.
#[must_use]
pub fn float_text(value: f64) -> String {
    if value == 0.0 {
        return if value.is_sign_negative() {
            "-0.0".into()
        } else {
            "0.0".into()
        };
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = format!("{value}");
        return if plain.contains('.') {
            plain
        } else {
            plain + ".0"
        };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

/// A float as a JSON number with Python's text; what JSON cannot say (NaN, the infinities) is 0.0.
#[must_use]
pub fn float(value: f64) -> Value {
    let value = if value.is_finite() { value } else { 0.0 };
    float_text(value)
        .parse::<Number>()
        .map_or(Value::Null, Value::Number)
}

/// `json.dumps(value, ensure_ascii=False)`: one line, `", "` and `": "` between the parts.
#[must_use]
pub fn dumps(value: &Value) -> String {
    let mut text = String::new();
    write_value(&mut text, value);
    text
}

fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                write_value(out, item);
            }
            out.push(']');
        }
        Value::Object(entries) => {
            out.push('{');
            for (at, (key, item)) in entries.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                out.push_str(&Value::String(key.clone()).to_string());
                out.push_str(": ");
                write_value(out, item);
            }
            out.push('}');
        }
        plain => out.push_str(&plain.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_every_script() {
        assert_eq!(digit('7'), Some(7));
        assert_eq!(digit('٣'), Some(3));
        assert_eq!(digit('５'), Some(5));
        assert_eq!(digit('\u{1d7d9}'), Some(1));
        for c in ['²', 'ⅷ', 'a', ':', '/', '\u{0}', '\u{10ffff}'] {
            assert_eq!(digit(c), None, "{c:?}");
        }
        assert!(ZEROS.is_sorted());
    }

    #[test]
    fn integers_as_python_reads_them() {
        assert_eq!(int("+3"), Some((false, 3)));
        assert_eq!(int("1_000"), Some((false, 1000)));
        assert_eq!(int("-0"), Some((true, 0)));
        assert_eq!(int(&"9".repeat(4300)), Some((false, u128::MAX)));
        for bad in [
            "", "+", "_1", "1_", "1__0", "0x3", "3.0", "++3", "+_3", "−3", "²",
        ] {
            assert_eq!(int(bad), None, "{bad:?}");
        }
        assert_eq!(int(&"9".repeat(4301)), None);
    }

    #[test]
    fn floats_as_python_writes_them() {
        for (value, text) in [
            (300.0, "300.0"),
            (0.0, "0.0"),
            (1_795_992_000.270_856_4, "1795992000.2708564"),
            (1e16, "1e+16"),
            (1.5e-5, "1.5e-05"),
            (0.0001, "0.0001"),
            (9_007_199_254_740_992.0, "9007199254740992.0"),
            (-2.5, "-2.5"),
            (1e22, "1e+22"),
            (1e100, "1e+100"),
        ] {
            assert_eq!(float_text(value), text);
        }
    }

    #[test]
    fn dumps_has_pythons_spaces() {
        let value: Value = serde_json::from_str(r#"{"a":[1,2.50,"é\n"],"b":{},"c":null}"#).unwrap();
        assert_eq!(
            dumps(&value),
            r#"{"a": [1, 2.50, "é\n"], "b": {}, "c": null}"#
        );
    }
}
