//! The cap: more sessions are held than may be. The one that was used longest ago goes first.

use super::Claim;
use crate::sessions::limits::Limits;
use crate::sessions::moment::Moment;
use crate::sessions::session::Session;

/// What the cap claims. Drafts (no turn, no schedule) hold no slot and are no victims.
#[must_use]
pub fn claims(sessions: &[Session], limits: &Limits, _now: Moment) -> Vec<Claim> {
    if limits.cap == 0 {
        return sessions
            .iter()
            .map(|_| Claim::pass("the cap is 0", None))
            .collect();
    }
    let holders = sessions
        .iter()
        .filter(|session| session.holds_slot())
        .count();
    let excess = holders.saturating_sub(limits.cap);
    let mut order: Vec<usize> = (0..sessions.len()).collect();
    order.sort_by(|a, b| {
        let used = |at: &usize| sessions.get(*at).map_or(0.0, |session| session.last_used);
        used(a).total_cmp(&used(b))
    });
    let mut places = vec![usize::MAX; sessions.len()];
    for (place, index) in order.into_iter().enumerate() {
        if let Some(slot) = places.get_mut(index) {
            *slot = place;
        }
    }
    sessions
        .iter()
        .zip(places)
        .map(|(session, place)| {
            if excess == 0 {
                Claim::pass(format!("{holders} of {} slots are held", limits.cap), None)
            } else if !session.holds_slot() {
                Claim::pass("a draft holds no slot", None)
            } else if session.turn.is_some() {
                Claim::pass("a turn runs", None)
            } else {
                Claim::Surplus { place, excess }
            }
        })
        .collect()
}
