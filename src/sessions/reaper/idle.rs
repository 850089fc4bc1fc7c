//! The idle reaper: nobody used the session for hours, whether or not a socket is open.

use super::Claim;
use crate::output::human::span;
use crate::sessions::limits::Limits;
use crate::sessions::moment::Moment;
use crate::sessions::session::Session;

/// What the idle reaper claims.
#[must_use]
pub fn claims(sessions: &[Session], limits: &Limits, now: Moment) -> Vec<Claim> {
    sessions
        .iter()
        .map(|session| claim(session, limits, now.awake))
        .collect()
}

fn claim(session: &Session, limits: &Limits, now: f64) -> Claim {
    if limits.idle <= 0.0 {
        return Claim::pass("the idle limit is 0", None);
    }
    if session.turn.is_some() {
        return Claim::pass("a turn runs", None);
    }
    let over = session.last_used.max(session.created_at) + limits.idle;
    if now < over {
        return Claim::pass(
            format!("used {} ago", span(now - session.last_used)),
            Some(over),
        );
    }
    Claim::Take(format!("not used for {}", span(now - session.last_used)))
}
