//! What a client missed: the last events of each session, numbered from 1, within bounds. Pure.
//!
//! The epoch is the serve that numbered them; after a restart numbers begin anew, and a client that
//! comes back with numbers of another epoch learns that from it.

use std::collections::{HashMap, VecDeque};

/// Most events kept of one session, as the backend of Hermes Agent keeps.
pub const EVENTS: usize = 512;
/// Most bytes kept of one session.
pub const BYTES: usize = 4 << 20;
/// Most sessions of which events are kept.
pub const SESSIONS: usize = 64;
/// Most bytes kept in all.
pub const TOTAL_BYTES: usize = 64 << 20;

/// The events of one session.
#[derive(Clone, Debug, Default)]
struct Ring {
    latest: u64,
    frames: VecDeque<(u64, String)>,
    bytes: usize,
    /// When it was last added to, in the order of all additions.
    touched: u64,
}

impl Ring {
    fn drop_oldest(&mut self) {
        if let Some((_, frame)) = self.frames.pop_front() {
            self.bytes -= frame.len();
        }
    }
}

/// The events of all sessions.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    rings: HashMap<String, Ring>,
    bytes: usize,
    additions: u64,
}

/// What somebody missed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missed {
    /// The frames after the last one seen, oldest first.
    pub frames: Vec<String>,
    /// Number of the latest event.
    pub latest: u64,
    /// Some are gone: older than what is kept, or numbered by another serve.
    pub truncated: bool,
}

impl Replay {
    /// The number that the session's next event gets.
    #[must_use]
    pub fn next_seq(&self, session: &str) -> u64 {
        self.rings.get(session).map_or(0, |ring| ring.latest) + 1
    }

    /// Keeps an event, whose frame carries the number of [`Replay::next_seq`].
    pub fn push(&mut self, session: &str, frame: String) {
        self.additions += 1;
        let ring = self.rings.entry(session.to_owned()).or_default();
        let before = ring.bytes;
        ring.latest += 1;
        ring.touched = self.additions;
        ring.bytes += frame.len();
        ring.frames.push_back((ring.latest, frame));
        while ring.frames.len() > EVENTS || (ring.bytes > BYTES && !ring.frames.is_empty()) {
            ring.drop_oldest();
        }
        self.bytes = self.bytes + ring.bytes - before;
        self.shrink();
    }

    /// The events after the last one seen.
    #[must_use]
    pub fn since(&self, session: &str, last_seen: u64) -> Missed {
        let Some(ring) = self.rings.get(session) else {
            return Missed {
                truncated: last_seen > 0,
                ..Missed::default()
            };
        };
        let ahead = last_seen > ring.latest;
        let last_seen = if ahead { 0 } else { last_seen };
        let oldest = ring.frames.front().map_or(ring.latest + 1, |(seq, _)| *seq);
        let after = ring.frames.iter().filter(|(seq, _)| *seq > last_seen);
        Missed {
            frames: after.map(|(_, frame)| frame.clone()).collect(),
            latest: ring.latest,
            truncated: ahead || last_seen + 1 < oldest,
        }
    }

    /// Forgets a session that has ended.
    pub fn forget(&mut self, session: &str) {
        if let Some(ring) = self.rings.remove(session) {
            self.bytes -= ring.bytes;
        }
    }

    /// Keeps the whole within its bounds: the frames of the session that was quiet longest go first.
    /// Its count stays, so that numbers never start anew within one epoch.
    fn shrink(&mut self) {
        loop {
            let kept = self
                .rings
                .values()
                .filter(|ring| !ring.frames.is_empty())
                .count();
            if kept <= SESSIONS && self.bytes <= TOTAL_BYTES {
                return;
            }
            let quietest = self
                .rings
                .values_mut()
                .filter(|ring| !ring.frames.is_empty());
            let Some(ring) = quietest.min_by_key(|ring| ring.touched) else {
                return;
            };
            self.bytes -= ring.bytes;
            ring.frames.clear();
            ring.bytes = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filled(events: u64) -> Replay {
        let mut replay = Replay::default();
        for number in 1..=events {
            assert_eq!(replay.next_seq("s"), number);
            replay.push("s", format!("e{number}"));
        }
        replay
    }

    #[test]
    fn one_gets_what_one_missed() {
        let missed = filled(3).since("s", 1);
        assert_eq!(
            (missed.frames, missed.latest, missed.truncated),
            (vec!["e2".into(), "e3".into()], 3, false)
        );
        assert_eq!(filled(3).since("s", 3).frames, Vec::<String>::new());
    }

    #[test]
    fn what_is_gone_is_said() {
        let replay = filled(EVENTS as u64 + 10);
        assert!(replay.since("s", 5).truncated);
        assert!(!replay.since("s", 10).truncated);
        assert!(
            replay.since("s", 9_999).truncated,
            "a number of another serve"
        );
        assert!(replay.since("other", 4).truncated);
        assert!(!replay.since("other", 0).truncated);
    }

    #[test]
    fn the_quietest_session_goes_first_and_numbers_go_on() {
        let mut replay = Replay::default();
        for session in 0..=SESSIONS {
            replay.push(&session.to_string(), "e".to_owned());
        }
        assert!(replay.since("0", 0).truncated);
        assert_eq!(replay.next_seq("0"), 2);
        assert!(!replay.since("1", 0).truncated);
    }

    proptest! {
        #[test]
        fn the_bounds_hold(sizes in proptest::collection::vec((0_u8..80, 0_usize..600_000), 1..200)) {
            let mut replay = Replay::default();
            for (session, size) in sizes {
                replay.push(&session.to_string(), "x".repeat(size));
                let bytes: usize = replay.rings.values().map(|ring| ring.bytes).sum();
                prop_assert_eq!(bytes, replay.bytes);
                prop_assert!(bytes <= TOTAL_BYTES);
                prop_assert!(replay.rings.values().all(|ring| ring.bytes <= BYTES && ring.frames.len() <= EVENTS));
            }
        }
    }
}
