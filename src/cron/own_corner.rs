//! What a job says in our own corner of it, `x_hermes`, as far as somebody may have written it by hand. Pure.

use serde_json::Value;

use super::catch_up::CatchUp;
use super::loose::Loose;

/// The keys that a person chooses, and what each is where it is understood.
const CHOSEN: [(&str, &str); 5] = [
    ("x_hermes.timeout_seconds", "whole number of seconds"),
    ("x_hermes.stagger_seconds", "whole number of seconds"),
    ("x_hermes.catch_up", "policy that is known"),
    ("x_hermes.deliver_command", "list of words"),
    ("x_hermes.env_file", "text"),
];

/// What cannot be understood: each counts as if it were not written.
pub(super) fn oddities(corner: &Loose<'_>) -> Vec<(&'static str, String)> {
    let is_odd = |(field, what): &(&'static str, &str)| {
        let key = field.trim_start_matches("x_hermes.");
        let value = corner.get(key).filter(|value| !value.is_null())?;
        (!fits(key, value)).then(|| (*field, format!("is no {what}, and counts as not written")))
    };
    CHOSEN.iter().filter_map(is_odd).collect()
}

/// A length of time as it is written there.
pub(super) fn seconds(value: &Value) -> Option<u64> {
    value.as_u64()
}

fn fits(key: &str, value: &Value) -> bool {
    match key {
        "catch_up" => CatchUp::read(value).is_some(),
        "deliver_command" => {
            let words = value.as_array();
            words.is_some_and(|words| words.iter().all(Value::is_string))
        }
        "env_file" => value.is_string(),
        _ => seconds(value).is_some(),
    }
}
