//! The keys of a job in the terms of those who change it: the words of the command line. Pure.

/// Keys whose name is not the word for them; an empty word is for what follows from the others.
const TERMS: [(&str, &str); 21] = [
    ("schedule_display", "schedule"),
    ("next_run_at", "next run"),
    ("last_run_at", ""),
    ("enabled", "state"),
    ("paused_at", "state"),
    ("paused_reason", "reason"),
    ("no_agent", "no-agent"),
    ("monitor_script", "monitor-script"),
    ("pending_slot", ""),
    ("fire_claim", ""),
    ("run_claim", ""),
    ("manual_run_at", ""),
    ("manual_run_prompt", ""),
    ("unreachable_retry", ""),
    ("quota_hold_until", ""),
    ("quota_hold_cron_expr", ""),
    ("x_hermes.timeout_seconds", "timeout"),
    ("x_hermes.env_file", "env-file"),
    ("x_hermes.deliver_command", "deliver-command"),
    ("x_hermes.catch_up", "catch-up"),
    ("x_hermes.stagger_seconds", "stagger"),
];

/// The words for these keys, each once, in their order.
#[must_use]
pub fn terms(keys: &[String]) -> Vec<&str> {
    let mut words = Vec::new();
    for key in keys {
        let known = TERMS.iter().find(|(name, _)| name == key);
        let word = known.map_or(key.as_str(), |(_, word)| *word);
        if !word.is_empty() && !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_in_the_words_of_the_command_line() {
        let keys = [
            "schedule",
            "schedule_display",
            "next_run_at",
            "pending_slot",
            "x_hermes.timeout_seconds",
            "future_key",
        ];
        assert_eq!(
            terms(&keys.map(str::to_owned)),
            ["schedule", "next run", "timeout", "future_key"]
        );
    }
}
