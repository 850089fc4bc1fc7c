//! Who holds the slots, for the refusal of one more session. Pure.

use serde::Serialize;

use super::moment::Moment;
use super::session::Session;
use crate::output::human::span;

/// The holder of a slot.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Slot {
    /// The runtime id of the session.
    pub session: String,
    /// Who holds it: a client, its own turn, its schedule; none is nobody.
    pub holder: Option<String>,
    /// How old it is, in seconds.
    pub age: f64,
    /// How long ago it was used, in seconds.
    pub idle: f64,
}

impl Slot {
    /// The slot as a line of a refusal.
    #[must_use]
    pub fn text(&self) -> String {
        let holder = self.holder.as_deref().unwrap_or("nobody");
        let (age, idle) = (span(self.age), span(self.idle));
        format!(
            "{}: held by {holder}, {age} old, used {idle} ago",
            self.session
        )
    }
}

/// The holders of slots, the one used longest ago first. Drafts hold none.
#[must_use]
pub fn slots(sessions: &[Session], now: Moment) -> Vec<Slot> {
    let mut slots: Vec<Slot> = sessions
        .iter()
        .filter(|session| session.holds_slot())
        .map(|session| Slot {
            session: session.id.clone(),
            holder: session.holder(),
            age: now.awake - session.created_at,
            idle: now.awake - session.last_used,
        })
        .collect();
    slots.sort_by(|a, b| b.idle.total_cmp(&a.idle));
    slots
}

#[cfg(test)]
mod tests {
    use super::super::cases_tests::{at, attached, go, started};
    use super::super::event::Event;
    use super::*;

    #[test]
    fn b133_each_holder_is_named_with_its_age_and_last_use() {
        let mut used = attached("one", 0.0);
        go(&mut used, Event::UserMessage, 60.0);
        go(&mut used, Event::TurnEnded, 90.0);
        let sessions = [started("draft", 0.0), used];
        let slots = slots(&sessions, at(840.0));
        let lines: Vec<String> = slots.iter().map(Slot::text).collect();
        assert_eq!(lines, ["one: held by tui, 14m old, used 12m 30s ago"]);
    }
}
