//! The orphan reaper: a client left, and nobody came back within the grace.

use super::Claim;
use crate::output::human::span;
use crate::sessions::limits::Limits;
use crate::sessions::moment::Moment;
use crate::sessions::session::Session;

/// What the orphan reaper claims.
#[must_use]
pub fn claims(sessions: &[Session], limits: &Limits, now: Moment) -> Vec<Claim> {
    sessions
        .iter()
        .map(|session| claim(session, limits, now.awake))
        .collect()
}

fn claim(session: &Session, limits: &Limits, now: f64) -> Claim {
    let Some(detached) = &session.detached else {
        return Claim::pass("a client is attached", None);
    };
    if !session.may_be_orphan(limits) {
        return Claim::pass("parked for ever: the grace is 0", None);
    }
    let over = detached.grace_from + session.grace(limits);
    if now < over {
        return Claim::pass(
            format!("within the grace, {} left", span((over - now).ceil())),
            Some(over),
        );
    }
    let alone = format!("no client for {}", span(now - detached.since));
    let Some(turn) = &session.turn else {
        return Claim::Take(alone);
    };
    match &turn.stop {
        None => {
            let silent = span(now - turn.progress_at);
            Claim::Interrupt(format!("{alone}, and no progress for {silent}"))
        }
        Some(stop) if now < stop.until => {
            Claim::pass("its turn is being stopped", Some(stop.until))
        }
        Some(_) => Claim::Take(format!("{alone}, and its turn did not stop")),
    }
}
