//! A serve without processes and sockets: the hub, a store on disk, a clock that is driven.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::time::Duration;

use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::super::{
    ConnId, Effect, End, Event, Hub, Identity, Order, Settings, Stored, TurnId, TurnSpec,
};
use crate::clock::{Clock as _, ManualClock};
use crate::server::keeper::Desk;
use crate::sessions::limits::Law;
use crate::sessions::store::Backend;
use crate::timers::event::TimerRules;

/// What the agent does with a prompt.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Agent {
    /// Answers at once.
    Says(&'static str),
    /// Fails at once.
    Fails,
    /// Runs until told otherwise.
    Runs,
    /// Cannot be started.
    Missing,
    /// Runs, and does not stop either.
    Wedged,
}

pub(crate) struct World {
    pub(crate) hub: Hub,
    pub(crate) clock: ManualClock,
    pub(crate) agent: Agent,
    pub(crate) frames: BTreeMap<ConnId, Vec<Value>>,
    pub(crate) running: Vec<TurnSpec>,
    /// What the agent was asked and when, without what went before it.
    pub(crate) prompts: Vec<(f64, String)>,
    /// The last prompt as it was.
    pub(crate) last_prompt: String,
    pub(crate) settings: Settings,
    /// How often time passed up to a deadline.
    pub(crate) wakes: usize,
    /// Set: the store refuses everything.
    pub(crate) broken: bool,
    desk: Desk,
    path: PathBuf,
    seed: u64,
    next_id: u64,
    _directory: Option<tempfile::TempDir>,
}

fn settings() -> Settings {
    let agent: crate::agent::Settings = serde_json::from_value(json!({"command": ["a"]})).unwrap();
    Settings {
        law: Law::default(),
        rules: TimerRules::default(),
        max_turns: 4,
        beat_interval: 600,
        beat_prompt: "report".to_owned(),
        life: Some(60.0),
        sweep: true,
        agent: agent.resolve().map_err(|error| error.to_string()),
        zone: TimeZone::UTC,
    }
}

fn hub(settings: &Settings, seed: u64, now: crate::clock::Now) -> Hub {
    let identity = Identity {
        backend: Backend {
            id: "default@box:1:00000000".to_owned(),
            pid: 1,
            started_at: 0.0,
            profile: "default".to_owned(),
            host: "box".to_owned(),
        },
        epoch: format!("epoch {seed}"),
        notes: Vec::new(),
        home_task: "/nonexistent/loop.md".into(),
        desktop: false,
    };
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let random = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        state.rotate_left(29) ^ state
    };
    Hub::new(settings.clone(), identity, Box::new(random), now)
}

impl World {
    /// 23:00, a home of Hermes Agent.
    pub(crate) fn beside_the_other_program() -> Self {
        let mut world = Self::new();
        std::fs::copy("tests/data/stores/state.db", &world.path).unwrap();
        world.killed();
        world
    }

    /// 23:00, an empty home.
    pub(crate) fn new() -> Self {
        Self::with(settings())
    }

    pub(crate) fn tuned(tune: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = settings();
        tune(&mut settings);
        Self::with(settings)
    }

    fn with(settings: Settings) -> Self {
        // In memory where there is such a place: these stories write a lot.
        let directory = tempfile::tempdir_in("/dev/shm")
            .or_else(|_| tempfile::tempdir())
            .unwrap();
        let path = directory.path().join("state.db");
        let clock = ManualClock::at("2026-06-01T23:00:00Z".parse().unwrap());
        let mut world = Self {
            hub: hub(&settings, 1, clock.now()),
            agent: Agent::Says("all good"),
            frames: BTreeMap::new(),
            running: Vec::new(),
            prompts: Vec::new(),
            last_prompt: String::new(),
            broken: false,
            wakes: 0,
            desk: Desk::new(path.clone(), None),
            seed: 1,
            next_id: 0,
            _directory: Some(directory),
            settings,
            clock,
            path,
        };
        let effects = world.hub.take_effects();
        world.carry(effects);
        world
    }

    /// SIGKILL and a new start: only the store is left. Turns that ran are gone.
    pub(crate) fn killed(&mut self) {
        self.seed += 1;
        self.frames.clear();
        self.running.clear();
        self.desk = Desk::new(self.path.clone(), None);
        self.hub = hub(&self.settings, self.seed, self.clock.now());
        let effects = self.hub.take_effects();
        self.carry(effects);
    }

    /// Hands an event to the hub, and what is due at once with it.
    pub(crate) fn handle(&mut self, event: Event) {
        let effects = self.hub.handle(event, self.clock.now());
        self.carry(effects);
        let mut wakes = 0;
        while self.hub.idle_for(self.clock.now()) == Some(0.0) {
            wakes += 1;
            assert!(wakes < 1000, "the hub turns in a circle");
            if wakes % 10 == 0 {
                // Less than a microsecond may be left of what counts as due.
                self.clock.advance(Duration::from_micros(1));
            }
            let effects = self.hub.handle(Event::Wake, self.clock.now());
            self.carry(effects);
        }
    }

    fn carry(&mut self, effects: Vec<Effect>) {
        let mut effects = VecDeque::from(effects);
        while let Some(effect) = effects.pop_front() {
            for event in self.obey(effect) {
                effects.extend(self.hub.handle(event, self.clock.now()));
            }
        }
    }

    fn obey(&mut self, effect: Effect) -> Vec<Event> {
        match effect {
            Effect::Send(conn, frame) => {
                let frame = serde_json::from_str(&frame).unwrap();
                self.frames.entry(conn).or_default().push(frame);
                Vec::new()
            }
            Effect::Store(order) => self.store(order),
            Effect::StartTurn(spec) => self.start(*spec),
            Effect::StopTurn(turn) if self.agent != Agent::Wedged => self.end(turn, true),
            Effect::StopTurn(_)
            | Effect::RunJob(_)
            | Effect::Judge { .. }
            | Effect::Status(_)
            | Effect::Log(_) => Vec::new(),
        }
    }

    fn store(&mut self, order: Order) -> Vec<Event> {
        let answers = if self.broken {
            match order {
                Order::SaveTimer { session, kind, .. } => {
                    let failed = crate::timers::driver::Saved::Failed("disk full".to_owned());
                    vec![Stored::Timer(session, kind, failed)]
                }
                Order::Write(_) | Order::Lease(..) => {
                    vec![Stored::Written(1, Some("disk full".to_owned()))]
                }
                _ => Vec::new(),
            }
        } else {
            self.desk.take(vec![order])
        };
        let stored = |answer| Event::Stored(Box::new(answer));
        answers.into_iter().map(stored).collect()
    }

    fn start(&mut self, spec: TurnSpec) -> Vec<Event> {
        let turn = spec.turn;
        let asked = spec
            .prompt
            .rsplit("Now answer this:\n\n")
            .next()
            .unwrap_or_default();
        self.prompts.push((self.now(), asked.to_owned()));
        self.last_prompt.clone_from(&spec.prompt);
        let mut events = vec![Event::TurnBegan(turn)];
        let end = |end| Event::TurnEnded(turn, Box::new(end));
        match self.agent {
            Agent::Missing => {
                return vec![Event::TurnNotStarted(turn, "no such program".to_owned())];
            }
            Agent::Says(text) => {
                events.push(Event::TurnOutput(turn, text.to_owned()));
                events.push(end(End {
                    text: text.to_owned(),
                    ..End::default()
                }));
            }
            Agent::Fails => events.push(end(End {
                failed: Some("the agent ended with status 1".to_owned()),
                ..End::default()
            })),
            Agent::Runs | Agent::Wedged => self.running.push(spec),
        }
        events
    }

    fn end(&mut self, turn: TurnId, cancelled: bool) -> Vec<Event> {
        let there = self.running.iter().any(|spec| spec.turn == turn);
        self.running.retain(|spec| spec.turn != turn);
        let end = End {
            text: if cancelled {
                String::new()
            } else {
                "late answer".to_owned()
            },
            cancelled,
            ..End::default()
        };
        let event = Event::TurnEnded(turn, Box::new(end));
        if there { vec![event] } else { Vec::new() }
    }

    /// All turns that run end well.
    pub(crate) fn finish(&mut self) {
        for turn in self
            .running
            .iter()
            .map(|spec| spec.turn)
            .collect::<Vec<_>>()
        {
            for event in self.end(turn, false) {
                self.handle(event);
            }
        }
    }

    /// Seconds since 23:00.
    pub(crate) fn now(&self) -> f64 {
        let begin: jiff::Timestamp = "2026-06-01T23:00:00Z".parse().unwrap();
        self.clock.now().wall.as_duration().as_secs_f64() - begin.as_duration().as_secs_f64()
    }

    /// Lets awake time pass, with a wake-up at each deadline.
    pub(crate) fn pass(&mut self, seconds: f64) {
        let until = self.now() + seconds;
        self.handle(Event::Wake);
        loop {
            let left = until - self.now();
            if left <= 1e-6 {
                return;
            }
            self.wakes += 1;
            let idle = self.hub.idle_for(self.clock.now()).unwrap_or(left);
            let step = idle.max(0.001).min(left);
            self.clock.advance(Duration::from_secs_f64(step));
            self.handle(Event::Wake);
        }
    }

    /// The host sleeps.
    pub(crate) fn sleep(&mut self, seconds: u64) {
        self.clock.suspend(Duration::from_secs(seconds));
        self.handle(Event::Wake);
    }

    pub(crate) fn connect(&mut self, conn: ConnId) {
        let label = format!("client {conn}");
        self.handle(Event::Connected { conn, label });
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "every caller makes them on the spot"
    )]
    pub(crate) fn ask(&mut self, conn: ConnId, method: &str, params: Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        let text = json!({"id": id, "method": method, "params": params}).to_string();
        self.handle(Event::Frame { conn, text });
        let frames = self.frames.get(&conn).into_iter().flatten();
        let answer = frames.rev().find(|frame| frame["id"] == id).cloned();
        answer.unwrap_or_else(|| panic!("{method} was not answered"))
    }

    /// Asks all of it before the store has answered any of it; how many answers each got.
    pub(crate) fn together(&mut self, conn: ConnId, asked: &[(&str, Value)]) -> Vec<Vec<Value>> {
        let mut effects = Vec::new();
        let first = self.next_id + 1;
        for (method, params) in asked {
            self.next_id += 1;
            let text = json!({"id": self.next_id, "method": method, "params": params}).to_string();
            let now = self.clock.now();
            effects.extend(self.hub.handle(Event::Frame { conn, text }, now));
        }
        self.carry(effects);
        let frames = self.frames.get(&conn).cloned().unwrap_or_default();
        let of = |id| {
            frames
                .iter()
                .filter(|frame| frame["id"] == id)
                .cloned()
                .collect()
        };
        (first..=self.next_id).map(of).collect()
    }

    /// What the store holds under a key of `state_meta`.
    pub(crate) fn meta(&self, key: &str) -> Option<String> {
        let connection = crate::db::connect_or_create(&self.path).unwrap();
        let sql = "SELECT value FROM state_meta WHERE key = ?1";
        connection.query_row(sql, [key], |row| row.get(0)).ok()
    }

    /// A new session of this client; its runtime and stored id.
    pub(crate) fn create(&mut self, conn: ConnId) -> (String, String) {
        let answer = self.ask(conn, "session.create", json!({"source": "tui"}));
        let text = |key: &str| answer["result"][key].as_str().unwrap().to_owned();
        (text("session_id"), text("stored_session_id"))
    }

    pub(crate) fn command(&mut self, conn: ConnId, session: &str, text: &str) -> String {
        let params = json!({"session_id": session, "command": text});
        let answer = self.ask(conn, "slash.exec", params);
        answer["result"]["output"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// Stored ids of the live sessions.
    pub(crate) fn live(&mut self, conn: ConnId) -> Vec<String> {
        let answer = self.ask(conn, "session.active_list", json!({}));
        let rows = answer["result"]["sessions"].as_array().unwrap().clone();
        let key = |row: &Value| row["session_key"].as_str().unwrap().to_owned();
        rows.iter().map(key).collect()
    }

    /// Events of one kind that a client got.
    pub(crate) fn events(&self, conn: ConnId, kind: &str) -> Vec<&Value> {
        let frames = self.frames.get(&conn).into_iter().flatten();
        let params = frames.filter_map(|frame| frame.get("params"));
        params.filter(|params| params["type"] == kind).collect()
    }

    /// How many prompts hold this text.
    pub(crate) fn asked(&self, text: &str) -> usize {
        self.prompts
            .iter()
            .filter(|(_, prompt)| prompt.contains(text))
            .count()
    }
}
