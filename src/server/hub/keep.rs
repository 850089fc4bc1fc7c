//! What goes to the store and comes back from it.

use serde_json::{Value, json};

use super::Hub;
use super::deadlines::{Chore, Whose};
use super::event::{ConnId, Order, Stored, Then, What};
use super::live::Live;
use crate::server::protocol::{Failure, code};
use crate::sessions::event::Event as SessionEvent;
use crate::sessions::schedule::TimerKind;
use crate::sessions::session::Session;
use crate::sessions::store::{Card, Found, Loaded, Theirs, Write};
use crate::timers::driver::Driven;
use crate::timers::event::{Proof, TimerEvent};

/// A store that could not be read is tried again so many seconds later.
const RELOAD_SECONDS: f64 = 10.0;

/// What is known of the store.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keeping {
    /// Orders without an answer.
    open: usize,
    /// The id of the next message; none until the store was read.
    next_message: Option<i64>,
    /// What is wrong with it.
    pub(crate) trouble: Option<String>,
}

impl Keeping {
    pub(crate) fn sent(&mut self) {
        self.open += 1;
    }

    /// Whether all is stored.
    pub(crate) fn is_quiet(&self) -> bool {
        self.open == 0
    }

    /// Whether the store was read: before, nobody knows which sessions there are.
    pub(crate) fn is_loaded(&self) -> bool {
        self.next_message.is_some()
    }
}

impl Hub {
    /// The first orders of a serve.
    pub(super) fn begin(&mut self) {
        self.order(Order::Load);
        self.sign_of_life();
        let soon = self.settings.law.limits.grace.max(1.0);
        if self.settings.sweep {
            self.chore(Chore::Sweep, soon);
        }
        self.chore(
            Chore::Maintenance,
            crate::sessions::limits::MAINTENANCE_SECONDS,
        );
    }

    pub(super) fn chore(&mut self, chore: Chore, after: f64) {
        let at = self.now.awake + after;
        self.deadlines.set(Whose::Chore(chore), Some(at), None);
    }

    pub(super) fn write(&mut self, write: Write) {
        self.order(Order::Write(write));
    }

    /// The id of a new message.
    pub(super) fn message_id(&mut self) -> i64 {
        let next = self.keeping.next_message.get_or_insert(1);
        let id = *next;
        *next += 1;
        id
    }

    /// Refuses what needs the store while it was not read yet.
    pub(super) fn need_store(&self) -> Result<(), Failure> {
        if self.keeping.is_loaded() {
            return Ok(());
        }
        let why = self.keeping.trouble.as_deref();
        let text = format!(
            "the store was not read yet: {}",
            why.unwrap_or("it is being read")
        );
        Err(Failure::new(code::STORE, text))
    }

    pub(super) fn sign_of_life(&mut self) {
        let backend = self.identity.backend.clone();
        self.write(Write::Alive(backend, self.now.wall));
        if let Some(every) = self.settings.life {
            self.chore(Chore::Life, every);
        }
    }

    pub(super) fn stored(&mut self, stored: Stored) {
        let done = match &stored {
            Stored::Written(count, _) => *count,
            _ => 1,
        };
        self.keeping.open = self.keeping.open.saturating_sub(done);
        match stored {
            Stored::Loaded(Ok(loaded)) => self.loaded(loaded),
            Stored::Loaded(Err(why)) => {
                self.trouble(Some(why));
                self.chore(Chore::Load, RELOAD_SECONDS);
            }
            Stored::Written(_, trouble) => self.trouble(trouble),
            Stored::Timer(session, kind, saved) => self.timer_saved(&session, kind, saved),
            Stored::Found(found, then) => self.answer_with(then, |hub, asked| {
                let found = found.map_err(|why| Failure::new(code::STORE, why))?;
                hub.found(asked, found.map(|found| *found))
            }),
            Stored::Theirs(theirs, then) => self.answer_with(then, |_, _| Err(not_ours(&theirs))),
            Stored::Unknown(id, then) => {
                self.answer_with(then, |_, _| Err(super::sessions::unknown_id(&id)));
            }
            Stored::Deleted(deleted, then) => {
                self.answer_with(then, |_, asked| super::sessions::deleted(asked.2, deleted));
            }
            Stored::List(cards, then) => self.answer_with(then, |hub, asked| {
                let cards = cards.map_err(|why| Failure::new(code::STORE, why))?;
                Ok(hub.listed(&asked.2, &cards))
            }),
            Stored::History(messages, then) => self.answer_with(then, |_, _| {
                let messages = messages.map_err(|why| Failure::new(code::STORE, why))?;
                Ok(super::transcript::history(&messages))
            }),
            Stored::Ticks(ticks, then) => self.answer_with(then, |_, _| {
                let ticks = ticks.map_err(|why| Failure::new(code::STORE, why))?;
                Ok(super::transcript::ticks(&ticks))
            }),
            Stored::Task(task, then) => {
                let Then::Answer { conn, id, what } = then;
                if let Some(answer) = self.standing_task((conn, &id, what), task) {
                    self.answer(conn, &id, &Ok(answer));
                }
            }
            Stored::Freed(sessions) => self.freed(sessions),
            Stored::LeftOpen(cards) => self.sweep(cards.unwrap_or_default()),
        }
    }

    fn answer_with(
        &mut self,
        then: Then,
        answer: impl FnOnce(&mut Self, (ConnId, &Value, What)) -> Result<Value, Failure>,
    ) {
        let Then::Answer { conn, id, what } = then;
        let answer = answer(self, (conn, &id, what));
        self.answer(conn, &id, &answer);
    }

    /// The store is in trouble, or no longer: said once.
    fn trouble(&mut self, trouble: Option<String>) {
        match (&self.keeping.trouble, &trouble) {
            (before, Some(why)) if before.as_ref() != Some(why) => {
                self.log(format!(
                    "The store takes nothing, what is new is kept: {why}."
                ));
            }
            (Some(_), None) => self.log("The store works again."),
            _ => {}
        }
        self.keeping.trouble = trouble;
    }

    fn loaded(&mut self, loaded: Loaded) {
        if self.keeping.is_loaded() {
            return;
        }
        self.trouble(None);
        self.keeping.next_message = Some(loaded.next_message);
        let count = loaded.revived.len();
        for found in loaded.revived {
            self.load(found);
        }
        if count > 0 || loaded.interrupted > 0 {
            self.log(format!(
                "{count} sessions go on; {} turns were cut short by the end of the last serve.",
                loaded.interrupted
            ));
        }
        self.show_status();
    }

    /// Takes a stored session up; its runtime id.
    pub(super) fn load(&mut self, found: Found) -> String {
        if let Some(id) = self.by_stored.get(&found.card.id) {
            return id.clone();
        }
        let id = self.hex(8);
        let session = Session::new(&id, &found.card.id, &self.settings.law.limits, self.now);
        let mut live = Live::new(session, found.card);
        live.stored = true;
        live.session.had_turn = live.card.message_count > 0;
        live.session.queued = 0;
        live.recall(&found.messages);
        let mut unreadable = Vec::new();
        let mut left = Vec::new();
        if let Some(stored) = found.looping {
            match stored.looping() {
                Ok(state) => {
                    left.extend(stored.not_driven.map(|_| TimerKind::Loop));
                    live.looping = Some(Driven::stored(state, stored.text));
                }
                Err(why) => unreadable.push(("loop", why.to_string())),
            }
        }
        if let Some(stored) = found.heartbeat {
            match stored.heartbeat(found.gateway_owned) {
                Ok(state) => {
                    left.extend(stored.not_driven.map(|_| TimerKind::Heartbeat));
                    live.heartbeat = Some(Driven::stored(state, stored.text));
                }
                Err(why) => unreadable.push(("heartbeat", why.to_string())),
            }
        }
        // Nobody drove it, now serve does; the next start has to know.
        for kind in left {
            self.write(Write::NotDriven {
                session_id: live.card.id.clone(),
                kind: kind.word(),
                reason: None,
                due_at: None,
            });
        }
        self.enter(&id, live);
        for (kind, why) in unreadable {
            self.say(
                &id,
                kind,
                &format!("The {kind} is not driven: its row cannot be read ({why})."),
            );
        }
        id
    }

    /// A session enters: it has started, what waits is asked, and wake-ups of a dead serve are
    /// given back or given up.
    pub(super) fn enter(&mut self, id: &str, live: Live) {
        let waiting = live.prompts.len();
        self.by_stored.insert(live.card.id.clone(), id.to_owned());
        self.sessions.insert(id.to_owned(), live);
        self.lease(id);
        self.sync_schedules(id);
        for kind in super::timers::KINDS {
            self.timer(id, kind, TimerEvent::Recover(Proof::OwnerGone));
        }
        self.step(id, SessionEvent::Started);
        for _ in 0..waiting {
            self.step(id, SessionEvent::UserMessage);
        }
        self.arm(id);
    }

    /// Stores a session as it is, if it has a row or gets one now.
    pub(super) fn keep(&mut self, id: &str, make: bool) {
        let now = self.now.wall;
        let Some(live) = self.sessions.get_mut(id) else {
            return;
        };
        let new = make && !live.stored;
        live.stored |= make;
        if live.stored {
            live.card.last_active = now;
            let card = live.card.clone();
            self.write(Write::Card(card));
        }
        if new {
            self.lease(id);
        }
    }

    /// Other programs learn that we hold a session, once it is one: a draft has no row.
    fn lease(&mut self, id: &str) {
        let stored = self.sessions.get(id).filter(|live| live.stored);
        if let Some(stored) = stored.map(|live| live.card.id.clone()) {
            self.order(Order::Lease(stored, Some(id.to_owned())));
        }
    }

    /// Sessions whose other holder is gone are driven here again.
    fn freed(&mut self, sessions: Vec<Found>) {
        if self.draining {
            return;
        }
        for found in sessions {
            let id = found.card.id.clone();
            if !self.by_stored.contains_key(&id) {
                self.load(found);
                self.log(format!(
                    "The session {id} goes on here: the process that held it is gone."
                ));
            }
        }
    }

    fn sweep(&mut self, cards: Vec<Card>) {
        let open = cards
            .into_iter()
            .filter(|card| !self.by_stored.contains_key(&card.id))
            .collect::<Vec<_>>();
        if !open.is_empty() {
            self.log(format!(
                "{} sessions that an earlier serve left open were ended.",
                open.len()
            ));
        }
        for mut card in open {
            card.ended_at = Some(self.now.wall);
            card.end_reason = Some("startup_orphan_reap".to_owned());
            self.write(Write::Card(card));
        }
    }
}

/// Two programs must not have one session: its timers would have two drivers. Until when is not known:
/// it is theirs as long as they want.
fn not_ours(theirs: &Theirs) -> Failure {
    let holder = &theirs.holder;
    let text = format!("the session belongs to {holder}: ask for it there");
    let data = json!({
        "reason": "SESSION_NOT_OWNED", "holder": holder, "since": theirs.since, "until": null,
    });
    Failure::new(code::LEASE_REFUSED, text).with_data(data)
}
