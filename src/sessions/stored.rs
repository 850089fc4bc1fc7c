//! Sessions of a store as the reapers see them, where no serve can be asked. Pure.
//!
//! What only the memory of a process knows (clients, turns, prompts) is not in a store. So a session
//! that a live process holds belongs to that process, one whose holder cannot be checked is nobody's
//! to reap, and the rest is judged by the idle limit, counted from the newest of start, activity and
//! message. Stamps are wall time.

use super::moment::Moment;
use super::schedule::{Asked, Schedule};
use super::session::{Owner, Session};
use super::turn::{By, Turn};

/// What the store and the records say of one open session.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// Its id in the store.
    pub id: String,
    /// Its source: `tui`, `desktop`, a messaging platform.
    pub source: String,
    /// Whether this program made it; all others are Hermes Agent's.
    pub ours: bool,
    /// When it was begun.
    pub started_at: Option<f64>,
    /// The newest activity or message.
    pub last_activity_at: Option<f64>,
    /// Kept by a person.
    pub pinned: bool,
    /// Until when a turn or a compression of it is leased.
    pub leased_until: Option<f64>,
    /// The live process that holds it.
    pub held_by: Option<String>,
    /// Why its holder could not be checked.
    pub unsure: Option<String>,
    /// How much delegated work runs.
    pub delegated: Asked<u32>,
    /// Its loop and heartbeat.
    pub schedules: Asked<Vec<Schedule>>,
}

/// The session that this evidence shows.
#[must_use]
pub fn session(evidence: &Evidence, now: Moment) -> Session {
    let started = evidence.started_at.unwrap_or(now.wall);
    let newest = evidence
        .last_activity_at
        .map_or(started, |at| at.max(started));
    let turn = evidence
        .leased_until
        .filter(|until| *until > now.wall)
        .map(|_| Turn {
            began: true,
            ..Turn::claim(By::User, now.awake)
        });
    Session {
        id: evidence.id.clone(),
        stored_id: evidence.id.clone(),
        owner: owner(evidence),
        created_at: started,
        last_used: newest,
        clients: std::collections::BTreeMap::new(),
        detached: None,
        close_on_disconnect: false,
        had_turn: true,
        starting_since: None,
        turn,
        quiet_until: None,
        queued: 0,
        waiting: Asked::Known(None),
        delegated: evidence.delegated.clone(),
        // Whoever runs this plan for real is serve, and serve drives them all.
        schedules: evidence.schedules.clone(),
        closing: None,
        ended: None,
    }
}

fn owner(evidence: &Evidence) -> Owner {
    if let Some(holder) = &evidence.held_by {
        return Owner::Other(holder.clone());
    }
    // Nobody else has a session of ours, wherever it was begun.
    if evidence.ours {
        return Owner::Ours;
    }
    if evidence.unsure.is_some() {
        return Owner::Unknown;
    }
    if evidence.pinned {
        return Owner::Other("a person, who pinned it".to_owned());
    }
    let source = &evidence.source;
    Owner::Other(format!("Hermes Agent ('{source}'), which ends its own"))
}

/// What a judgement from the store alone cannot see, one sentence each.
pub const UNSEEN: [&str; 3] = [
    "No serve was asked: clients, turns and waiting prompts of live sessions are not seen.",
    "When a client left is not seen: sessions whose process has ended are judged by the idle limit, as at the start of a serve.",
    "How many sessions are held is not seen: the cap is not judged.",
];

#[cfg(test)]
mod tests {
    use super::super::limits::Law;
    use super::super::plan::{Verdict, plan};
    use super::super::reaper::Reaper;
    use super::*;

    const NOW: f64 = 1_800_000_000.0;
    const DAY: f64 = 86_400.0;

    fn old() -> Evidence {
        Evidence {
            id: "s".into(),
            source: "cli".into(),
            ours: true,
            started_at: Some(NOW - 50.0 * DAY),
            last_activity_at: Some(NOW - 40.0 * DAY),
            pinned: false,
            leased_until: None,
            held_by: None,
            unsure: None,
            delegated: Asked::Known(0),
            schedules: Asked::Known(Vec::new()),
        }
    }

    fn verdict(evidence: &Evidence) -> (Verdict, String) {
        let now = Moment::of_store(NOW);
        let law = Law::default();
        let plan = plan(&[session(evidence, now)], &[Reaper::Sweep], &law, now);
        (plan.rows[0].verdict, plan.rows[0].because.clone())
    }

    #[test]
    fn b129_an_open_row_of_a_dead_owner_idle_past_the_limit_is_listed() {
        assert_eq!(verdict(&old()).0, Verdict::Reap(Reaper::Sweep));
        let fresh_start = Evidence {
            started_at: Some(NOW - 60.0),
            ..old()
        };
        assert_eq!(
            verdict(&fresh_start).0,
            Verdict::Keep,
            "both the start and the newest activity"
        );
    }

    #[test]
    fn b138_activity_of_five_minutes_ago_keeps_it() {
        let active = Evidence {
            last_activity_at: Some(NOW - 300.0),
            ..old()
        };
        assert_eq!(verdict(&active).0, Verdict::Keep);
    }

    #[test]
    fn b136_another_surface_an_unknown_holder_or_a_pin_keeps_it() {
        for (evidence, word) in [
            (
                Evidence {
                    source: "telegram".into(),
                    ours: false,
                    ..old()
                },
                "Hermes Agent ('telegram')",
            ),
            (
                Evidence {
                    unsure: Some("pid of another container".into()),
                    ours: false,
                    ..old()
                },
                "unknown",
            ),
            (
                Evidence {
                    held_by: Some("desktop, pid 7".into()),
                    ..old()
                },
                "desktop, pid 7",
            ),
            (
                Evidence {
                    pinned: true,
                    ours: false,
                    ..old()
                },
                "pinned",
            ),
        ] {
            let (verdict, because) = verdict(&evidence);
            assert_eq!(verdict, Verdict::Keep);
            assert!(because.contains(word), "{because}");
        }
    }

    #[test]
    fn b135_leased_turns_and_delegated_work_keep_it() {
        let leased = Evidence {
            leased_until: Some(NOW + 30.0),
            ..old()
        };
        assert!(verdict(&leased).1.starts_with("turn running"));
        let lapsed = Evidence {
            leased_until: Some(NOW - 30.0),
            ..old()
        };
        assert_eq!(verdict(&lapsed).0, Verdict::Reap(Reaper::Sweep));
        let working = Evidence {
            delegated: Asked::Known(1),
            ..old()
        };
        assert_eq!(verdict(&working).0, Verdict::Keep);
        let unreadable = Evidence {
            delegated: Asked::Unreadable("locked".into()),
            ..old()
        };
        assert_eq!(verdict(&unreadable).0, Verdict::Keep);
    }
}
