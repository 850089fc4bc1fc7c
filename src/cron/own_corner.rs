//! What a job says in our own corner of it, `x_hermes`, as far as somebody may have written it by hand. Pure.

use serde_json::Value;

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

fn fits(key: &str, value: &Value) -> bool {
    let is_word = |word: &str| matches!(word, "once" | "skip");
    match key {
        "catch_up" => {
            let limit = value.get("max_lateness_seconds");
            value.as_str().is_some_and(is_word) || limit.and_then(Value::as_u64).is_some()
        }
        "deliver_command" => {
            let words = value.as_array();
            words.is_some_and(|words| words.iter().all(Value::is_string))
        }
        "env_file" => value.is_string(),
        _ => value.as_u64().is_some(),
    }
}
