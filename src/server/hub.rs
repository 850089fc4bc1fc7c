//! The hub: the one owner of all that changes. `handle(event, now)` gives effects; it never waits.
//!
//! [`live`] is a session with all that belongs to it; [`rpc`] answers clients, [`create`] those that
//! want a new one; [`turns`] is the line
//! of turns; [`timers`] drives loops and heartbeats; [`reap`] asks the reapers; [`deadlines`] is the
//! one table of what is due; [`keep`] is what goes to the store and comes back from it.

mod clients;
mod commands;
mod control;
mod create;
mod deadlines;
mod event;
mod keep;
mod live;
mod pages;
mod parked;
mod places;
mod prompt;
mod reap;
mod rpc;
mod schedule;
mod sessions;
#[cfg(test)]
mod tests;
mod timers;
mod transcript;
#[cfg(any(test, fuzzing))]
pub(crate) mod trial;
mod turns;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use jiff::tz::TimeZone;

use self::clients::Clients;
use self::deadlines::Deadlines;
pub(crate) use self::event::{
    ConnId, Effect, End, Event, Judgement, Order, Page, RunJob, Shown, Stored, Then, TurnId,
    TurnSpec,
};
use self::keep::Keeping;
use self::live::Live;
use self::turns::Line;
use super::replay::Replay;
use crate::agent::AgentCommand;
use crate::clock::Now;
use crate::sessions::limits::Law;
use crate::sessions::moment::Moment;
use crate::sessions::store::Backend;
use crate::timers::event::TimerRules;

/// What the hub goes by; a reload replaces it.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Limits of sessions.
    pub(crate) law: Law,
    /// Limits of timers.
    pub(crate) rules: TimerRules,
    /// Turns at once.
    pub(crate) max_turns: usize,
    /// Seconds between beats where none are named.
    pub(crate) beat_interval: u64,
    /// What a beat asks where nothing is named.
    pub(crate) beat_prompt: String,
    /// Between signs of life in the store; none gives one.
    pub(crate) life: Option<f64>,
    /// Whether sessions that were left open are ended at start.
    pub(crate) sweep: bool,
    /// The agent, or why there is none.
    pub(crate) agent: Result<AgentCommand, String>,
    /// The zone of session ids.
    pub(crate) zone: TimeZone,
}

/// Who this serve is.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    /// Its sign of life.
    pub(crate) backend: Backend,
    /// Changes with every start.
    pub(crate) epoch: String,
    /// What else is said in `/readyz`: other programs on the home, lifted limits.
    pub(crate) notes: Vec<String>,
    /// The home's standing task for a bare `/loop` is in this file.
    pub(crate) home_task: PathBuf,
    /// This serve belongs to a desktop application and ends with it.
    pub(crate) desktop: bool,
}

/// The hub.
pub(crate) struct Hub {
    settings: Settings,
    identity: Identity,
    clients: Clients,
    sessions: BTreeMap<String, Live>,
    /// Runtime ids by stored ids.
    by_stored: HashMap<String, String>,
    replay: Replay,
    deadlines: Deadlines,
    line: Line,
    keeping: Keeping,
    parked: Vec<parked::Parked>,
    created: create::Created,
    random: Box<dyn FnMut() -> u64 + Send>,
    draining: bool,
    /// An emergency stop of the home, in words.
    stopped: Option<String>,
    started: Moment,
    now: Moment,
    wall: jiff::Timestamp,
    events: u64,
    out: Vec<Effect>,
}

impl Hub {
    /// A hub without sessions; the first thing that it asks for is the store.
    pub(crate) fn new(
        settings: Settings,
        identity: Identity,
        random: Box<dyn FnMut() -> u64 + Send>,
        now: Now,
    ) -> Self {
        let moment = Moment::from(now);
        let mut hub = Self {
            line: Line::default(),
            clients: Clients::default(),
            sessions: BTreeMap::new(),
            by_stored: HashMap::new(),
            replay: Replay::default(),
            deadlines: Deadlines::default(),
            keeping: Keeping::default(),
            parked: Vec::new(),
            created: create::Created::default(),
            draining: false,
            stopped: None,
            started: moment,
            now: moment,
            wall: now.wall,
            events: 0,
            out: Vec::new(),
            settings,
            identity,
            random,
        };
        hub.begin();
        hub
    }

    /// What was asked for before the first event.
    pub(crate) fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.out)
    }

    /// Takes an event; what is to be done for it, in this order.
    pub(crate) fn handle(&mut self, event: Event, now: Now) -> Vec<Effect> {
        self.now = Moment::from(now);
        self.wall = now.wall;
        self.events += 1;
        match event {
            Event::Connected { conn, label } => self.connected(conn, label),
            Event::Frame { conn, text } => self.frame(conn, &text),
            Event::Disconnected(conn) => self.disconnected(conn),
            Event::Wake => self.wake(),
            Event::TurnBegan(turn) => self.turn_began(turn),
            Event::TurnNotStarted(turn, why) => self.turn_not_started(turn, &why),
            Event::TurnOutput(turn, text) => self.turn_output(turn, &text),
            Event::TurnProgress(turn, words) => self.turn_progress(turn, &words),
            Event::TurnEnded(turn, end) => self.turn_ended(turn, *end),
            Event::Judged(judgement) => self.judged(judgement),
            Event::JobBegun { conn, id, begun } => self.answer(conn, &id, &begun),
            Event::Stored(stored) => self.stored(*stored),
            Event::Reloaded(settings) => self.reloaded(*settings),
            Event::Notes(notes) => self.identity.notes = notes,
            Event::EmergencyStop(stop) => self.emergency_stop(stop),
            Event::Drain => self.drain(),
            Event::DrainOver => self.drain_over(),
        }
        self.take_effects()
    }

    /// How long nothing is due, in seconds of awake time.
    pub(crate) fn idle_for(&self, now: Now) -> Option<f64> {
        self.deadlines.idle_for(Moment::from(now))
    }

    /// Whether no turn runs or waits, and all is stored.
    pub(crate) fn is_quiet(&self) -> bool {
        self.line.is_empty() && self.keeping.is_quiet()
    }

    /// Whether the store was read, or could not be.
    pub(crate) fn has_looked(&self) -> bool {
        self.keeping.is_loaded() || self.keeping.trouble.is_some()
    }

    /// Whether it drains and nothing is left to wait for.
    pub(crate) fn is_over(&self) -> bool {
        self.draining && self.is_quiet()
    }

    /// New hexadecimal digits.
    fn hex(&mut self, digits: usize) -> String {
        let text = format!("{:016x}", (self.random)());
        text.get(..digits).unwrap_or(&text).to_owned()
    }

    fn log(&mut self, text: impl Into<String>) {
        self.out.push(Effect::Log(text.into()));
    }

    fn reloaded(&mut self, settings: Settings) {
        self.settings = settings;
        // It may come more often now, or at all.
        self.sign_of_life();
        let ids: Vec<String> = self.sessions.keys().cloned().collect();
        for id in ids {
            self.arm(&id);
        }
        self.launch();
    }

    fn emergency_stop(&mut self, stop: Option<String>) {
        if self.stopped == stop {
            return;
        }
        match &stop {
            Some(why) => self.log(format!("No timer fires: {why}.")),
            None => self.log("The emergency stop is lifted: timers fire again."),
        }
        self.stopped = stop;
    }
}
