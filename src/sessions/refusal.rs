//! A refusal says who holds the session, since when, and until when.

use serde::Serialize;

use crate::output::human::span;

/// Wire codes of refusals.
pub mod code {
    /// The session is no longer live.
    pub const NOT_LIVE: i32 = 4007;
    /// Busy, or an interrupt settles.
    pub const BUSY: i32 = 4009;
    /// Another process or surface holds the session.
    pub const HELD: i32 = 4090;
}

/// Why a request on a session is refused. Awake seconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Refusal {
    /// One of [`code`].
    pub code: i32,
    /// Who or what holds the session.
    pub holder: String,
    /// Since when.
    pub since: f64,
    /// Until when at the latest, where that is known.
    pub until: Option<f64>,
}

impl Refusal {
    /// The refusal as a sentence.
    #[must_use]
    pub fn text(&self, now: f64) -> String {
        let age = span(now - self.since);
        let rest = match self.until {
            Some(until) if until > now => format!("; ask again in {}", span((until - now).ceil())),
            Some(_) => "; ask again now".to_owned(),
            None => String::new(),
        };
        format!("the session is held by {} since {age}{rest}", self.holder)
    }
}
