//! The limits of sessions, and the rules that can be switched off to prove what they are for.

/// An orphan is looked at this long after its client left (`dashboard.ws_orphan_reap_grace_s`).
pub const GRACE_SECONDS: f64 = 20.0;
/// A turn without progress for this long is stale (`dashboard.ws_orphan_activity_stale_s`).
pub const STALE_SECONDS: f64 = 600.0;
/// A session without use for this long is idle (`HERMES_TUI_SESSION_TTL_S`).
pub const IDLE_SECONDS: f64 = 21_600.0;
/// So many sessions are held (`max_live_sessions`).
pub const MAX_LIVE_SESSIONS: usize = 16;
/// An interrupted turn has this long to end before it is given up.
pub const SETTLE_SECONDS: f64 = 60.0;
/// A session has this long to start.
pub const START_SECONDS: f64 = 120.0;
/// A closed session waits this long for its turn to end.
pub const CLOSE_SECONDS: f64 = 5.0;
/// Maintenance looks at all sessions this often.
pub const MAINTENANCE_SECONDS: f64 = 300.0;

/// The limits of sessions. Seconds of awake time; 0 lifts a limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// From the last disconnect to the orphan reaper's look. 0 parks detached sessions for ever.
    pub grace: f64,
    /// From the last progress of a turn until it no longer keeps an orphan. 0: it never does.
    pub stale: f64,
    /// From the last progress of a turn until it counts as stuck, its client being there
    /// (`agent.turn_liveness.timeout_s`). 0: never.
    pub stall: f64,
    /// From the last use of a session until it counts as idle. 0: never.
    pub idle: f64,
    /// How many sessions are held. 0: any number.
    pub cap: usize,
    /// From an interrupt until the turn is given up.
    pub settle: f64,
    /// From creation until a session that still starts is no longer spared.
    pub start: f64,
    /// From `session.close` until the turn is given up.
    pub close: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            grace: GRACE_SECONDS,
            stale: STALE_SECONDS,
            stall: STALE_SECONDS,
            idle: IDLE_SECONDS,
            cap: MAX_LIVE_SESSIONS,
            settle: SETTLE_SECONDS,
            start: START_SECONDS,
            close: CLOSE_SECONDS,
        }
    }
}

impl Limits {
    /// The limits that a configuration sets; what it leaves open is 0 here.
    #[must_use]
    pub fn of(sessions: &crate::config::settings::Sessions) -> Self {
        let seconds =
            |limit: Option<std::time::Duration>| limit.map_or(0.0, |time| time.as_secs_f64());
        Self {
            grace: seconds(sessions.orphan_grace),
            stale: seconds(sessions.orphan_activity_stale),
            stall: seconds(sessions.turn_stale),
            idle: seconds(sessions.idle_ttl),
            cap: sessions
                .max_live
                .map_or(0, |cap| usize::try_from(cap).unwrap_or(usize::MAX)),
            ..Self::default()
        }
    }

    /// What the zeros among the limits mean, one sentence each.
    #[must_use]
    pub fn lifted(&self) -> Vec<&'static str> {
        let mut said = Vec::new();
        if self.grace <= 0.0 {
            said.push("The orphan grace is 0: detached sessions are parked for ever.");
        }
        if self.stale <= 0.0 {
            said.push("The activity limit is 0: a turn is stopped as soon as its client is gone for the grace.");
        }
        if self.stall <= 0.0 {
            said.push("The turn limit is 0: a turn without progress is never stopped while its client is there.");
        }
        if self.idle <= 0.0 {
            said.push("The idle limit is 0: no session is ever too old.");
        }
        if self.cap == 0 {
            said.push("The session cap is 0: any number of sessions is held.");
        }
        said
    }
}

/// Rules that are always on, as data, so that a test can show what happens without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// A client-gone interrupt that did not settle in time beats the schedule exemption.
    pub settled_interrupt_beats_schedule: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            settled_interrupt_beats_schedule: true,
        }
    }
}

/// All that a judgement needs besides the sessions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Law {
    /// The limits.
    pub limits: Limits,
    /// The rules.
    pub rules: Rules,
}
