//! Why a session ended, in words. The stores have codes of Hermes Agent's for it.

/// What an `end_reason` of a store means, as it follows "the session has ended: ". A code that nobody
/// knows is shown as it is.
#[must_use]
pub fn words(reason: Option<&str>) -> &str {
    match reason {
        Some("tui_close") => "it was closed",
        Some("ws_disconnect") => "its client left",
        Some("ws_orphan_reap") => "its client left and nobody came back",
        Some("idle_timeout") => "nobody used it for long",
        Some("lru_evict") => "too many were held",
        Some("tui_shutdown") => "its terminal ended",
        Some("startup_orphan_reap") => "its process had gone",
        Some("agent_close") => "its agent closed it",
        Some("compression") => "it goes on in another session",
        Some(code) => code,
        None => "no reason is on record",
    }
}

/// The same with the code, for those who look for it elsewhere: `it was closed (tui_close)`.
#[must_use]
pub fn in_full(reason: &str) -> String {
    match words(Some(reason)) {
        words if words == reason => reason.to_owned(),
        words => format!("{words} ({reason})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::reaper::Reaper;

    #[test]
    fn every_end_of_ours_has_words_and_a_strange_code_stays() {
        for reaper in [Reaper::Orphan, Reaper::Idle, Reaper::Cap, Reaper::Sweep] {
            let code = reaper.end_reason();
            assert_ne!(words(Some(code)), code);
        }
        assert_eq!(in_full("tui_close"), "it was closed (tui_close)");
        assert_eq!(in_full("new_code"), "new_code");
        assert_eq!(words(None), "no reason is on record");
    }
}
