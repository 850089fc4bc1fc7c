//! A session as plain data, and what can be asked of it. How it changes is in `step`.

use std::collections::BTreeMap;

use super::limits::{Law, Limits};
use super::moment::Moment;
use super::refusal::{Refusal, code};
use super::schedule::{Asked, Schedule};
use super::turn::{StopCause, Turn};

/// Who may end a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// This serve.
    Ours,
    /// Another surface or process, by its name.
    Other(String),
    /// Nobody knows.
    Unknown,
}

/// A client of a session. Awake seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Client {
    /// When it attached.
    pub since: f64,
    /// When it last used *this* session.
    pub last_used: f64,
}

/// A session without clients. Awake seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Detached {
    /// When the last client left.
    pub since: f64,
    /// From when the grace runs: the last client left, or a later turn ended.
    pub grace_from: f64,
    /// When the orphan reaper looks; `None` is not before something happens.
    pub look_at: Option<f64>,
}

/// A session.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Its runtime id.
    pub id: String,
    /// Its id in the store.
    pub stored_id: String,
    /// Who may end it.
    pub owner: Owner,
    /// When it was made or loaded. Awake seconds.
    pub created_at: f64,
    /// The newest real use: a message, a turn, an attach. Never a poll. Awake seconds.
    pub last_used: f64,
    /// Its clients, by name.
    pub clients: BTreeMap<String, Client>,
    /// Set while there are none.
    pub detached: Option<Detached>,
    /// Whether its client asked for it to end with the connection.
    pub close_on_disconnect: bool,
    /// Whether a turn was ever claimed.
    pub had_turn: bool,
    /// Since when it starts; `None` once it has.
    pub starting_since: Option<f64>,
    /// Its turn.
    pub turn: Option<Turn>,
    /// After an interrupt of the user no timer may claim a turn until the user writes again or
    /// leaves, or, at the latest, until this moment; infinite where the idle limit is 0.
    pub quiet_until: Option<f64>,
    /// Messages of the user that wait for the turn.
    pub queued: usize,
    /// Since when a prompt waits for the user.
    pub waiting: Asked<Option<f64>>,
    /// How much delegated work runs.
    pub delegated: Asked<u32>,
    /// Its loop and heartbeat.
    pub schedules: Asked<Vec<Schedule>>,
    /// Set while it is being closed: the end reason.
    pub closing: Option<String>,
    /// Set when it is over: the end reason.
    pub ended: Option<String>,
}

impl Session {
    /// A new session that still starts and has no client yet: the grace runs.
    #[must_use]
    pub fn new(id: &str, stored_id: &str, limits: &Limits, now: Moment) -> Self {
        let mut session = Self {
            id: id.to_owned(),
            stored_id: stored_id.to_owned(),
            owner: Owner::Ours,
            created_at: now.awake,
            last_used: now.awake,
            clients: BTreeMap::new(),
            detached: None,
            close_on_disconnect: false,
            had_turn: false,
            starting_since: Some(now.awake),
            turn: None,
            quiet_until: None,
            queued: 0,
            waiting: Asked::Known(None),
            delegated: Asked::Known(0),
            schedules: Asked::Known(Vec::new()),
            closing: None,
            ended: None,
        };
        session.detach_all(limits, now.awake);
        session
    }

    /// The grace of this session: none where its client asked for none.
    #[must_use]
    pub fn grace(&self, limits: &Limits) -> f64 {
        if self.close_on_disconnect {
            0.0
        } else {
            limits.grace.max(0.0)
        }
    }

    /// Whether a client-gone interrupt is out, settled or not.
    #[must_use]
    pub fn is_client_gone(&self) -> bool {
        self.gone_until().is_some()
    }

    /// Whether a client-gone interrupt had its time and the turn still did not end.
    #[must_use]
    pub fn is_settled(&self, now: f64) -> bool {
        self.gone_until().is_some_and(|until| now >= until)
    }

    fn gone_until(&self) -> Option<f64> {
        let stop = self.turn.as_ref()?.stop?;
        (stop.cause == StopCause::ClientGone).then_some(stop.until)
    }

    /// Whether it counts against the cap: drafts do not.
    #[must_use]
    pub fn holds_slot(&self) -> bool {
        self.ended.is_none() && (self.had_turn || self.pins())
    }

    /// Whether serve is the sole driver of a live schedule of it.
    #[must_use]
    pub fn pins(&self) -> bool {
        matches!(&self.schedules, Asked::Known(all) if all.iter().any(Schedule::pins))
    }

    /// Whether a timer may claim a turn now.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.ended.is_none()
            && self.closing.is_none()
            && self.starting_since.is_none()
            && self.turn.is_none()
            && self.queued == 0
            && self.quiet_until.is_none()
    }

    /// Who holds it: the client that used it last, else its turn, else its schedule.
    #[must_use]
    pub fn holder(&self) -> Option<String> {
        if let Owner::Other(who) = &self.owner {
            return Some(who.clone());
        }
        let used = |client: &(&String, &Client)| client.1.last_used;
        let newest = self
            .clients
            .iter()
            .max_by(|a, b| used(a).total_cmp(&used(b)));
        if let Some((name, _)) = newest {
            return Some(name.clone());
        }
        if let Some(turn) = &self.turn {
            return Some(format!("its own turn ({})", turn.by.words()));
        }
        match &self.schedules {
            Asked::Known(all) => all
                .iter()
                .find(|one| one.pins())
                .map(|one| format!("its {}", one.kind.word())),
            Asked::Unreadable(_) => None,
        }
    }

    /// The refusal for a request that needs the session idle, where it is not. It names the turn,
    /// its age, and since when it makes no progress.
    #[must_use]
    pub fn busy(&self, law: &Law, now: f64) -> Option<Refusal> {
        let turn = self.turn.as_ref()?;
        let silent = crate::output::human::span(now - turn.progress_at);
        let until = match turn.stop {
            Some(stop) => Some(stop.until),
            None if law.limits.stall > 0.0 => {
                Some(turn.progress_at + law.limits.stall + law.limits.settle)
            }
            None => None,
        };
        Some(Refusal {
            code: code::BUSY,
            holder: format!(
                "its own turn ({}, last progress {silent} ago)",
                turn.by.words()
            ),
            since: turn.claimed_at,
            until,
        })
    }

    /// The refusal while it is being closed: it ends with its turn, and takes nothing new.
    #[must_use]
    pub fn leaving(&self) -> Option<Refusal> {
        let reason = self.closing.as_ref()?;
        let turn = self.turn.as_ref()?;
        Some(Refusal {
            code: code::BUSY,
            holder: format!(
                "its own turn ({}), it is being closed ({reason})",
                turn.by.words()
            ),
            since: turn.claimed_at,
            until: turn.stop.map(|stop| stop.until),
        })
    }

    /// When to look again, in awake seconds; an earlier look does no harm and changes nothing.
    #[must_use]
    pub fn next_wake(&self, law: &Law) -> Option<f64> {
        if self.ended.is_some() {
            return None;
        }
        let look = self.detached.as_ref().and_then(|detached| detached.look_at);
        let turn = self.turn.as_ref().and_then(|turn| match turn.stop {
            // The orphan reaper's; it is armed for it.
            Some(stop) if stop.cause == StopCause::ClientGone => None,
            Some(stop) => Some(stop.until),
            None => self.stalls_at(law),
        });
        let starting = self.starting_since.map(|since| since + law.limits.start);
        let quiet = self.quiet_until.filter(|until| until.is_finite());
        [look, turn, starting, quiet]
            .into_iter()
            .flatten()
            .min_by(f64::total_cmp)
    }

    /// When a turn without progress counts as stuck, where that is for this machine to judge: a
    /// client is there, or orphans are parked. A prompt that waits for the user gives it as long as
    /// a session may be idle.
    pub(super) fn stalls_at(&self, law: &Law) -> Option<f64> {
        let limits = &law.limits;
        let turn = self.turn.as_ref()?;
        if limits.stall <= 0.0 || (self.clients.is_empty() && limits.grace > 0.0) {
            return None;
        }
        let silent = turn.progress_at + limits.stall;
        match self.waiting {
            Asked::Known(None) => Some(silent),
            Asked::Known(Some(since)) if limits.idle > 0.0 => Some(silent.max(since + limits.idle)),
            Asked::Known(Some(_)) | Asked::Unreadable(_) => None,
        }
    }

    pub(super) fn detach_all(&mut self, limits: &Limits, now: f64) {
        self.quiet_until = None;
        let look_at = self
            .may_be_orphan(limits)
            .then_some(now + self.grace(limits));
        self.detached = Some(Detached {
            since: now,
            grace_from: now,
            look_at,
        });
    }

    /// Whether the orphan reaper may ever take it: not where the grace is 0, which parks.
    #[must_use]
    pub fn may_be_orphan(&self, limits: &Limits) -> bool {
        limits.grace > 0.0 || self.close_on_disconnect
    }
}
