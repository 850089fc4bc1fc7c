//! Whether one more session may be held, and who holds the places.

use serde_json::{Value, json};

use super::Hub;
use crate::server::protocol::{Failure, code};
use crate::sessions::session::Session;
use crate::sessions::slots::{Slot, slots};

/// Most sessions that are held, drafts among them; the cap of sessions in use is a limit of its own.
const HELD: usize = 20_000;
/// Holders that a refusal names.
const SHOWN: usize = 10;

impl Hub {
    pub(super) fn need_room(&self) -> Result<(), Failure> {
        if self.draining {
            return Err(Failure::new(code::RETIRING, "serve is stopping"));
        }
        if self.sessions.len() >= HELD {
            let text = format!("{HELD} sessions are held, more are not");
            return Err(Failure::new(code::LEASE_REFUSED, text).with_data(self.slots()));
        }
        Ok(())
    }

    /// Who holds the places: how many, since when, and those that were used longest ago.
    fn slots(&self) -> Value {
        let held: Vec<Session> = self
            .sessions
            .values()
            .map(|live| live.session.clone())
            .collect();
        let slots = slots(&held, self.now);
        let oldest = slots.iter().map(|slot| slot.age).fold(0.0, f64::max);
        let text: Vec<String> = slots.iter().take(SHOWN).map(Slot::text).collect();
        json!({
            "reason": "MAX_CONCURRENT_SESSIONS",
            "holder": format!("{} sessions", held.len()),
            "since": self.now.wall - oldest,
            "until": null,
            "slots": text,
        })
    }
}
