//! The sweep at the start of a serve: rows that a process left open which has ended. Both the start and
//! the newest activity have to be older than the idle limit.

use super::Claim;
use crate::output::human::span;
use crate::sessions::limits::Limits;
use crate::sessions::moment::Moment;
use crate::sessions::session::Session;

/// What the sweep claims. It is off where the grace or the idle limit is 0, as both say that detached
/// sessions are to stay.
#[must_use]
pub fn claims(sessions: &[Session], limits: &Limits, now: Moment) -> Vec<Claim> {
    let claim = |session: &Session| {
        if limits.grace <= 0.0 || limits.idle <= 0.0 {
            return Claim::pass("the sweep is off: a limit is 0", None);
        }
        let used = session.last_used.max(session.created_at);
        let ago = span(now.awake - used);
        if now.awake < used + limits.idle {
            return Claim::pass(format!("used {ago} ago"), Some(used + limits.idle));
        }
        Claim::Take(format!(
            "no process holds it, and it was not used for {ago}"
        ))
    };
    sessions.iter().map(claim).collect()
}
