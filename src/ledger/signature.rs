//! The signature of a failure: equal for the same trouble on another day, so that one incident stands
//! for many runs. The rule is Hermes Agent's, since both write the same table.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// How much of an error counts, in characters.
const COUNTED: usize = 200;

/// The kind of a failure to deliver.
pub const DELIVERY: &str = "delivery";

/// First 12 hex digits of SHA-256 over job and normalised error.
#[must_use]
pub fn signature(job_id: &str, error: &str) -> String {
    let counted: String = normalise(error).chars().take(COUNTED).collect();
    let digest = Sha256::digest(format!("{job_id}{counted}").as_bytes());
    let mut hex = String::new();
    for byte in digest.iter().take(6) {
        let _infallible = write!(hex, "{byte:02x}");
    }
    hex
}

/// The id of an incident: the start of the job's id and the signature.
#[must_use]
pub fn incident_id(job_id: &str, signature: &str) -> String {
    let start: String = job_id.chars().take(6).collect();
    format!("{start}_{signature}")
}

/// White space collapsed, lower case, durations masked.
fn normalise(error: &str) -> String {
    let words = error.split_whitespace().map(|word| {
        let word = word.to_lowercase();
        if is_duration(&word) {
            "<duration>".to_owned()
        } else {
            word
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// `12s`, `3.5ms`, `2h`: digits, and a unit.
fn is_duration(word: &str) -> bool {
    let word = word
        .trim_end_matches(['.', ',', ')', ';', ':'])
        .trim_start_matches('(');
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    unit.len() < word.len()
        && matches!(
            unit,
            "ms" | "s" | "sec" | "secs" | "m" | "min" | "mins" | "h" | "hours" | "seconds"
        )
}

/// What kind of failure an error tells of: the first that matches, in this order.
#[must_use]
pub fn failure_type(error: &str) -> &'static str {
    const KINDS: [(&str, &[&str]); 7] = [
        ("rate_limit", &["rate limit", "rate_limit", "429", "quota"]),
        (
            "timeout",
            &["timeout", "timed out", "time limit", "silent for"],
        ),
        (
            "auth",
            &[
                "401",
                "403",
                "unauthorized",
                "forbidden",
                "api key",
                "authentication",
            ],
        ),
        (DELIVERY, &["deliver"]),
        ("config", &["config", "not configured", "refused"]),
        ("script", &["script"]),
        ("agent", &["agent"]),
    ];
    let error = error.to_lowercase();
    let found = KINDS
        .iter()
        .find(|(_, marks)| marks.iter().any(|mark| error.contains(mark)));
    found.map_or("unknown", |(kind, _)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_trouble_has_the_same_signature() {
        let first = signature("f645462fda68", "Timed out  after 12.5s\n");
        assert_eq!(first, signature("f645462fda68", "timed out after 3s"));
        assert_ne!(first, signature("a49f6beb5b17", "timed out after 3s"));
        assert_eq!(
            incident_id("f645462fda68", &first),
            format!("f64546_{first}")
        );
    }

    #[test]
    fn the_sample_of_the_other_program_is_met() {
        let signature = signature("f645462fda68", "Script exited with code 3");
        assert_eq!(signature, "33c4b0178cef");
    }

    #[test]
    fn failures_have_kinds() {
        assert_eq!(failure_type("HTTP 429 from the provider"), "rate_limit");
        assert_eq!(failure_type("Script exited with code 3"), "script");
        assert_eq!(failure_type("who knows"), "unknown");
    }
}
