//! A hub under any sequence of frames, comings and goings, and passing time: for the fuzzer and for
//! properties. The store answers from memory, or fails; agents run until a line ends them.
//!
//! Bytes become a story line by line. The first byte of a line says what happens: `c` and `d` let a
//! client come and go, `t` lets time pass, `e` ends a turn, `f` breaks or mends the store; all else is a
//! frame. `$S` in a frame stands for a session that is live.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use jiff::tz::TimeZone;
use serde_json::Value;

use super::{
    ConnId, Effect, End, Event, Hub, Identity, Judgement, Order, Settings, Stored, TurnId,
};
use crate::clock::{Clock as _, ManualClock};
use crate::sessions::limits::Law;
use crate::sessions::schedule::Schedule;
use crate::sessions::store::{Backend, Loaded};
use crate::timers::driver::Saved;
use crate::timers::event::TimerRules;

/// Clients.
const CLIENTS: u64 = 3;
/// Looks at what is due that one moment may need; more is a circle.
const LOOKS: usize = 10_000;

struct Trial {
    hub: Hub,
    clock: ManualClock,
    clients: BTreeSet<ConnId>,
    running: Vec<TurnId>,
    broken: bool,
}

/// Tells a story.
///
/// # Panics
/// When the hub turns in a circle, sends what is no frame, or keeps a session that nothing keeps.
#[cfg_attr(
    not(fuzzing),
    expect(unreachable_pub, reason = "only the fuzzer is outside")
)]
pub fn story(bytes: &[u8]) {
    let mut trial = Trial::new();
    for line in bytes.split(|byte| *byte == b'\n').take(200) {
        trial.line(line);
    }
    trial.end();
}

fn settings() -> Settings {
    let agent = serde_json::from_value(serde_json::json!({"command": ["agent"]}));
    let agent: crate::agent::Settings = agent.unwrap_or_default();
    Settings {
        law: Law::default(),
        rules: TimerRules {
            judge: true,
            ..TimerRules::default()
        },
        max_turns: 2,
        beat_interval: 600,
        beat_prompt: "report".to_owned(),
        life: Some(60.0),
        sweep: true,
        agent: agent.resolve().map_err(|error| error.to_string()),
        zone: TimeZone::UTC,
    }
}

impl Trial {
    fn new() -> Self {
        let clock = ManualClock::at(jiff::Timestamp::UNIX_EPOCH + jiff::Span::new().hours(480_000));
        let identity = Identity {
            backend: Backend {
                id: "default@host:1:00000000".to_owned(),
                pid: 1,
                started_at: 0.0,
                profile: "default".to_owned(),
                host: "host".to_owned(),
            },
            epoch: "epoch".to_owned(),
            notes: Vec::new(),
            home_task: "loop.md".into(),
            desktop: false,
        };
        let mut state = 1_u64;
        let random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005) ^ 1;
            state.rotate_left(17)
        };
        let mut hub = Hub::new(settings(), identity, Box::new(random), clock.now());
        let effects = hub.take_effects();
        let mut trial = Self {
            hub,
            clock,
            clients: BTreeSet::new(),
            running: Vec::new(),
            broken: false,
        };
        trial.carry(effects);
        for conn in 0..CLIENTS {
            trial.connect(conn);
        }
        trial
    }

    fn line(&mut self, line: &[u8]) {
        let (first, rest) = line.split_first().unwrap_or((&b' ', &[]));
        let number = rest.first().copied().unwrap_or_default();
        match first {
            b'c' => self.connect(u64::from(number) % CLIENTS),
            b'd' => self.disconnect(u64::from(number) % CLIENTS),
            b't' => self.pass(Duration::from_secs(1 << (number % 13))),
            b'e' => self.end_turn(number),
            b'f' => self.broken = !self.broken,
            _ => {
                let conn = line.len() as u64 % CLIENTS;
                let session = self.hub.sessions.keys().next_back().cloned();
                let text = String::from_utf8_lossy(line);
                let text = text.replace("$S", &session.unwrap_or_default());
                self.handle(Event::Frame { conn, text });
            }
        }
    }

    fn connect(&mut self, conn: ConnId) {
        if self.clients.insert(conn) {
            let label = format!("client {conn}");
            self.handle(Event::Connected { conn, label });
        }
    }

    fn disconnect(&mut self, conn: ConnId) {
        if self.clients.remove(&conn) {
            self.handle(Event::Disconnected(conn));
        }
    }

    fn end_turn(&mut self, how: u8) {
        if self.running.is_empty() {
            return;
        }
        let turn = self.running.remove(0);
        self.handle(Event::TurnOutput(turn, "some".to_owned()));
        let end = End {
            text: "an answer\nLOOP_COMPLETE"
                .chars()
                .take(usize::from(how))
                .collect(),
            failed: how.is_multiple_of(3).then(|| "it broke".to_owned()),
            ..End::default()
        };
        self.handle(Event::TurnEnded(turn, Box::new(end)));
    }

    fn pass(&mut self, time: Duration) {
        let until = self.clock.now().monotonic + time;
        for _ in 0..LOOKS {
            let now = self.clock.now();
            let left = until.saturating_sub(now.monotonic);
            if left.is_zero() {
                return;
            }
            let idle = self.hub.idle_for(now).map_or(left, |seconds| {
                Duration::try_from_secs_f64(seconds).unwrap_or(left)
            });
            self.clock
                .advance(idle.max(Duration::from_millis(1)).min(left));
            self.handle(Event::Wake);
        }
        // So often within the time of one line that the rest may go by unseen.
        self.clock
            .advance(until.saturating_sub(self.clock.now().monotonic));
        self.handle(Event::Wake);
    }

    fn handle(&mut self, event: Event) {
        let effects = self.hub.handle(event, self.clock.now());
        self.carry(effects);
    }

    fn carry(&mut self, effects: Vec<Effect>) {
        let mut effects = VecDeque::from(effects);
        let mut carried = 0;
        while let Some(effect) = effects.pop_front() {
            carried += 1;
            assert!(carried < LOOKS, "the hub turns in a circle");
            if let Some(event) = self.obey(effect) {
                effects.extend(self.hub.handle(event, self.clock.now()));
            }
        }
    }

    fn obey(&mut self, effect: Effect) -> Option<Event> {
        match effect {
            Effect::Send(conn, frame) => {
                let frame: Result<Value, _> = serde_json::from_str(&frame);
                assert!(frame.is_ok_and(|frame| frame.is_object()), "no frame");
                assert!(self.clients.contains(&conn), "nobody is there");
                None
            }
            Effect::Store(order) => Some(Event::Stored(Box::new(self.stored(order)))),
            Effect::StartTurn(spec) => {
                self.running.push(spec.turn);
                Some(Event::TurnBegan(spec.turn))
            }
            Effect::StopTurn(turn) => {
                self.running.retain(|running| *running != turn);
                let end = End {
                    cancelled: true,
                    ..End::default()
                };
                Some(Event::TurnEnded(turn, Box::new(end)))
            }
            Effect::Judge { session, until, .. } => Some(Event::Judged(Judgement {
                session,
                met: until.len().is_multiple_of(2),
                reason: until,
            })),
            Effect::RunJob(_) | Effect::Status(_) | Effect::Log(_) => None,
        }
    }

    fn stored(&self, order: Order) -> Stored {
        let why = self.broken.then(|| "disk full".to_owned());
        match order {
            Order::Load => Stored::Loaded(match why {
                Some(why) => Err(why),
                None => Ok(Loaded {
                    next_message: 1,
                    revived: Vec::new(),
                    interrupted: 0,
                }),
            }),
            Order::Write(_) | Order::Lease(..) => Stored::Written(1, why),
            Order::SaveTimer { session, kind, .. } => {
                let saved = why.map_or(Saved::Done, Saved::Failed);
                Stored::Timer(session, kind, saved)
            }
            Order::Find(_, then) => Stored::Found(why.map_or(Ok(None), Err), then),
            Order::Delete(_, then) => Stored::Deleted(why.map_or(Ok(true), Err), then),
            Order::List { then, .. } => Stored::List(why.map_or(Ok(Vec::new()), Err), then),
            Order::History(_, _, then) => Stored::History(why.map_or(Ok(Vec::new()), Err), then),
            Order::Ticks(_, _, _, then) => Stored::Ticks(why.map_or(Ok(Vec::new()), Err), then),
            Order::Freed => Stored::Freed(Vec::new()),
            Order::LeftOpen(_) => Stored::LeftOpen(why.map_or(Ok(Vec::new()), Err)),
            Order::Task(_, then) => Stored::Task(Some("a task".to_owned()), then),
        }
    }

    /// Everybody goes, everything ends: what is still there half a day later has a timer that keeps it.
    fn end(&mut self) {
        self.broken = false;
        for conn in 0..CLIENTS {
            self.disconnect(conn);
        }
        for _ in 0..12 {
            while !self.running.is_empty() {
                self.end_turn(1);
            }
            self.pass(Duration::from_secs(3600));
        }
        let rules = &self.hub.settings.rules;
        for (id, live) in &self.hub.sessions {
            let kept = live.turn.is_some() || live.schedules(rules).iter().any(Schedule::pins);
            assert!(kept, "nothing keeps the session {id}");
        }
        assert!(self.hub.clients.len() == 0, "a client that left is kept");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Trial, story};

    const METHODS: &str = "session\\.(resume|activate|list|active_list|most_recent|history|\
        status|usage|title|events\\.since|events\\.stats|interrupt|close|delete|reap|control|\
        control\\.read)";

    fn method() -> impl Strategy<Value = String> {
        let named = |name: &str| Just(name.to_owned());
        prop_oneof![
            2 => named("session.create"),
            3 => named("prompt.submit"),
            3 => named("command.dispatch"),
            2 => named("slash.exec"),
            6 => METHODS,
            1 => "timer\\.history|approval\\.(pending|respond)|ping|client\\.capabilities",
            1 => "[a-z.]{0,12}",
        ]
    }

    fn value() -> impl Strategy<Value = String> {
        let words = "\\$S|loop|heartbeat|loop\\.(pause|resume|stop)|heartbeat\\.(pause|clear)|\
            5m check|watch it --until done|every 5m beat|/loop 5m x|/heartbeat|\\PC{0,20}";
        let text = proptest::string::string_regex(words).expect("a pattern");
        prop_oneof![
            8 => text.prop_map(|text| serde_json::Value::from(text).to_string()),
            1 => Just("null".to_owned()),
            1 => any::<f64>().prop_map(|number| serde_json::Value::from(number).to_string()),
            1 => Just("[{}]".to_owned()),
            1 => Just("true".to_owned()),
        ]
    }

    fn frame() -> impl Strategy<Value = String> {
        let names = "session_id|text|name|arg|command|action|limit|title|last_seen|reaper|cwd";
        let pair = (names, value()).prop_map(|(name, value)| format!("\"{name}\":{value}"));
        let params = proptest::collection::vec(pair, 0..4);
        (method(), params, any::<bool>()).prop_map(|(method, mut params, session)| {
            if session {
                params.push("\"session_id\":\"$S\"".to_owned());
            }
            let params = params.join(",");
            format!("{{\"id\":\"1\",\"method\":\"{method}\",\"params\":{{{params}}}}}")
        })
    }

    fn line() -> impl Strategy<Value = String> {
        prop_oneof![
            8 => frame(),
            2 => "t[a-q]",
            1 => "[cd][a-c]",
            2 => "e[a-z]",
            1 => Just("f".to_owned()),
            1 => "\\PC{0,30}",
        ]
    }

    #[test]
    fn a_frame_of_a_client_that_was_dropped_attaches_nobody() {
        let create = b"{\"id\":1,\"method\":\"session.create\"}";
        let mut trial = Trial::new();
        trial.line(create);
        assert_eq!(trial.hub.sessions.len(), 1);
        trial.end();
        trial.line(create);
        assert!(trial.hub.sessions.is_empty());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn no_story_of_frames_breaks_the_hub(lines in proptest::collection::vec(line(), 1..60)) {
            story(lines.join("\n").as_bytes());
        }

        #[test]
        fn nor_does_noise(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
            story(&bytes);
        }
    }
}
