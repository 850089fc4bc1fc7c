//! The line of turns: so many run at once, users go before timers, and whoever waits is shown.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde_json::json;

use super::Hub;
use super::event::{Effect, End, TurnId, TurnSpec};
use super::live::{Row, TurnNow};
use crate::sessions::event::Event as SessionEvent;
use crate::sessions::schedule::TimerKind;
use crate::sessions::store::{Tick, Write, state};
use crate::sessions::turn::{By, StopCause};
use crate::timers::event::{NeverBegan, Outcome, TimerEvent};

/// How much of an answer is shown in lists of wake-ups, in characters.
const DETAIL: usize = 200;

/// The line. Sessions are named by their runtime ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    next: TurnId,
    running: BTreeMap<TurnId, String>,
    users: VecDeque<String>,
    timers: VecDeque<String>,
}

impl Line {
    /// Whether nothing runs or waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.running.is_empty() && self.users.is_empty() && self.timers.is_empty()
    }

    /// How many run, and how many wait.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.running.len(), self.users.len() + self.timers.len())
    }

    /// Takes a session out of the line.
    pub(crate) fn withdraw(&mut self, session: &str) {
        self.users.retain(|waiting| waiting != session);
        self.timers.retain(|waiting| waiting != session);
    }

    fn enter(&mut self, session: &str, by: By) -> TurnId {
        let line = match by {
            By::User => &mut self.users,
            By::Timer(_) => &mut self.timers,
        };
        line.push_back(session.to_owned());
        self.next += 1;
        self.next
    }

    fn next(&mut self, most: usize) -> Option<String> {
        if self.running.len() >= most.max(1) {
            return None;
        }
        self.users.pop_front().or_else(|| self.timers.pop_front())
    }

    /// All that run.
    pub(crate) fn running(&self) -> impl Iterator<Item = (TurnId, &str)> {
        self.running
            .iter()
            .map(|(turn, session)| (*turn, session.as_str()))
    }
}

/// A turn that is over, as its clients learn it.
struct Over<'a> {
    status: &'a str,
    text: &'a str,
    rows: &'a [i64],
    /// What went wrong, and where: layer and code.
    error: Option<(&'a str, (&'a str, &'a str))>,
}

fn origin(by: By) -> &'static str {
    match by {
        By::User => "user",
        By::Timer(kind) => kind.word(),
    }
}

fn short(text: &str) -> String {
    text.chars().take(DETAIL).collect()
}

impl Hub {
    /// The session claimed a turn: it enters the line.
    pub(super) fn claimed(&mut self, id: &str, by: By) {
        let number = self.line.enter(id, by);
        let now = self.now.wall;
        let row = if by == By::User { 0 } else { self.message_id() };
        let Some(live) = self.sessions.get_mut(id) else {
            return;
        };
        let (row, text, missed, claimed_at) = match by {
            By::User => match live.prompts.pop_front() {
                Some(waiting) => (waiting.row, waiting.text, 0, now),
                None => (row, String::new(), 0, now),
            },
            By::Timer(_) => match live.wake_up.take() {
                Some(wake) => (row, wake.text, wake.missed, wake.claimed_at),
                None => (row, String::new(), 0, now),
            },
        };
        live.turn = Some(TurnNow {
            id: number,
            by,
            row,
            text,
            said: String::new(),
            placed: false,
            claimed_at,
            missed,
        });
        self.launch();
        let waits = self.sessions.get(id).and_then(|live| live.turn.as_ref());
        if waits.is_some_and(|turn| !turn.placed && turn.id == number) {
            let (running, waiting) = self.line.counts();
            let text = format!("waiting for a place: {running} turns run, {waiting} wait");
            self.say(id, "queue", &text);
        }
    }

    /// Starts as many turns as there are places.
    pub(super) fn launch(&mut self) {
        while !self.draining {
            let Some(id) = self.line.next(self.settings.max_turns) else {
                break;
            };
            self.place(&id);
        }
    }

    fn place(&mut self, id: &str) {
        let agent = match &self.settings.agent {
            Ok(agent) => Arc::new(agent.clone()),
            Err(why) => {
                let why = why.clone();
                return self.no_agent(id, &why);
            }
        };
        let now = self.now.wall;
        let Some(live) = self.sessions.get_mut(id) else {
            return;
        };
        let agent_session = live
            .card
            .agent_session
            .clone()
            .filter(|_| agent.can_resume());
        let Some(turn) = live.turn.as_mut() else {
            return;
        };
        turn.placed = true;
        let (number, by, row, text) = (turn.id, turn.by, turn.row, turn.text.clone());
        let prompt = if agent_session.is_some() {
            text.clone()
        } else {
            super::transcript::with_window(live.window(), &text, agent.longest_prompt())
        };
        live.remember("user", &text);
        let spec = TurnSpec {
            turn: number,
            stored_id: live.card.id.clone(),
            agent,
            prompt,
            agent_session,
            cwd: live.card.cwd.clone(),
        };
        let asks = Row {
            id: row,
            origin: origin(by),
            text: &text,
            at: now,
        };
        let message = live.message(asks, state::RUNNING);
        if let By::Timer(_) = by {
            live.card.message_count += 1;
        }
        self.line.running.insert(number, id.to_owned());
        self.keep(id, true);
        self.write(Write::Message(message));
        self.tell(id, "message.start", Some(&json!({"by": by.words()})));
        self.out.push(Effect::StartTurn(Box::new(spec)));
        self.show_status();
    }

    fn no_agent(&mut self, id: &str, why: &str) {
        let turn = self.sessions.get(id).and_then(|live| live.turn.as_ref());
        let Some(number) = turn.map(|turn| turn.id) else {
            return;
        };
        self.line.running.insert(number, id.to_owned());
        self.turn_not_started(number, why);
    }

    pub(super) fn turn_began(&mut self, turn: TurnId) {
        let Some(id) = self.line.running.get(&turn).cloned() else {
            return;
        };
        self.step(&id, SessionEvent::TurnBegan);
        if let Some(By::Timer(kind)) = self.by(&id) {
            self.timer(&id, kind, TimerEvent::TurnBegan);
        }
    }

    fn by(&self, id: &str) -> Option<By> {
        let live = self.sessions.get(id)?;
        live.turn.as_ref().map(|turn| turn.by)
    }

    pub(super) fn turn_not_started(&mut self, turn: TurnId, why: &str) {
        let Some(id) = self.line.running.remove(&turn) else {
            return;
        };
        let Some(now) = self.sessions.get_mut(&id).and_then(|live| live.turn.take()) else {
            return;
        };
        self.write(Write::State(now.row, state::ERROR));
        self.tell(&id, "error", Some(&json!({"message": why})));
        let over = Over {
            status: "error",
            text: "",
            rows: &[now.row],
            error: Some((why, ("runtime", "agent_init_failed"))),
        };
        self.complete(&id, &over);
        if let By::Timer(kind) = now.by {
            self.given_back(&id, kind, &now, why);
            let never = NeverBegan::Failed(why.to_owned());
            self.timer(&id, kind, TimerEvent::TurnNeverBegan(never));
        }
        self.step(&id, SessionEvent::TurnNeverBegan);
        self.launch();
        self.show_status();
    }

    pub(super) fn turn_output(&mut self, turn: TurnId, text: &str) {
        let Some(id) = self.line.running.get(&turn).cloned() else {
            return;
        };
        self.step(&id, SessionEvent::Progress);
        if text.is_empty() {
            return;
        }
        if let Some(turn) = self
            .sessions
            .get_mut(&id)
            .and_then(|live| live.turn.as_mut())
        {
            turn.says(text);
        }
        self.tell(&id, "message.delta", Some(&json!({"text": text})));
    }

    pub(super) fn turn_progress(&mut self, turn: TurnId, words: &str) {
        let Some(id) = self.line.running.get(&turn).cloned() else {
            return;
        };
        self.step(&id, SessionEvent::Progress);
        if !words.is_empty() {
            self.say(&id, "progress", words);
        }
    }

    pub(super) fn turn_ended(&mut self, turn: TurnId, end: End) {
        let Some(id) = self.line.running.remove(&turn) else {
            return;
        };
        let cause = self.sessions.get(&id).and_then(|live| {
            let turn = live.session.turn.as_ref()?;
            turn.stop.map(|stop| stop.cause)
        });
        self.finish(&id, end, cause);
        self.step(&id, SessionEvent::TurnEnded);
        self.launch();
        self.show_status();
    }

    /// A turn that did not stop is given up; its session goes on, or ends, without it.
    pub(super) fn abandoned(&mut self, id: &str, cause: StopCause) {
        let turn = self.sessions.get(id).and_then(|live| live.turn.as_ref());
        let Some((number, placed, by)) = turn.map(|turn| (turn.id, turn.placed, turn.by)) else {
            return;
        };
        self.line.withdraw(id);
        self.line.running.remove(&number);
        if placed {
            self.out.push(Effect::StopTurn(number));
        } else if let By::Timer(kind) = by {
            self.timer(id, kind, TimerEvent::TurnNeverBegan(NeverBegan::UserFirst));
        }
        let end = End {
            cancelled: true,
            ..End::default()
        };
        self.finish(id, end, Some(cause));
        self.launch();
    }

    /// What comes of a turn that is over: the transcript, the clients, its timer.
    fn finish(&mut self, id: &str, end: End, cause: Option<StopCause>) {
        let now = self.now.wall;
        let answer_row = self.message_id();
        let Some(live) = self.sessions.get_mut(id) else {
            return;
        };
        let Some(turn) = live.turn.take() else {
            return;
        };
        let text = if end.text.is_empty() {
            turn.said.clone()
        } else {
            end.text
        };
        let cut = end.cancelled || self.draining && end.failed.is_some();
        let (status, kept) = match (&end.failed, cut) {
            (_, true) => ("interrupted", state::INTERRUPTED),
            (Some(_), false) => ("error", state::ERROR),
            (None, false) => ("complete", state::DONE),
        };
        if end.agent_session.is_some() || end.lost_session {
            live.card.agent_session = end.agent_session;
        }
        let mut rows = vec![turn.row];
        self.write(Write::State(turn.row, kept));
        if let Some(live) = self.sessions.get_mut(id).filter(|_| !text.is_empty()) {
            live.remember("assistant", &text);
            live.card.message_count += 1;
            let answer = Row {
                id: answer_row,
                origin: "agent",
                text: &text,
                at: now,
            };
            let message = live.message(answer, kept);
            rows.push(answer_row);
            self.write(Write::Message(message));
        }
        self.keep(id, false);
        let why = end.failed.as_deref().filter(|_| !cut);
        let over = Over {
            status,
            text: &text,
            rows: &rows,
            error: why.map(|why| (why, ("agent", "agent_failed"))),
        };
        self.complete(id, &over);
        if let By::Timer(kind) = turn.by {
            let outcome = self.outcome(&text, end.failed, end.cancelled, cause);
            self.ticked(id, kind, &turn, &outcome);
            self.timer(id, kind, TimerEvent::Answered(outcome));
        }
    }

    /// What a turn's end means to its timer.
    fn outcome(
        &self,
        text: &str,
        failed: Option<String>,
        cancelled: bool,
        cause: Option<StopCause>,
    ) -> Outcome {
        match (cancelled, cause, failed) {
            (true, Some(StopCause::User), _) => Outcome::Interrupted,
            (true, Some(cause), _) if cause.is_failure() => {
                Outcome::Failed(cause.words().to_owned())
            }
            (true, _, _) => Outcome::Cut,
            (false, _, Some(_)) if self.draining => Outcome::Cut,
            (false, _, Some(why)) => Outcome::Failed(why),
            (false, _, None) => Outcome::Finished(text.to_owned()),
        }
    }

    fn complete(&mut self, id: &str, over: &Over<'_>) {
        // What waits for a store in trouble is kept, but not there.
        let stored = over.status == "complete" && self.keeping.trouble.is_none();
        let mut payload = json!({
            "text": over.text,
            "usage": {},
            "status": over.status,
            "persisted_turn": {"row_ids": over.rows, "complete": stored},
        });
        if let (Some((why, surface)), Some(payload)) = (over.error, payload.as_object_mut()) {
            payload.insert("error".into(), why.into());
            payload.insert("recoverable".into(), true.into());
            let (layer, code) = surface;
            let surface = json!({"layer": layer, "code": code, "retryable": true});
            payload.insert("error_surface".into(), surface);
        }
        self.tell(id, "message.complete", Some(&payload));
    }

    fn ticked(&mut self, id: &str, kind: TimerKind, turn: &TurnNow, outcome: &Outcome) {
        let (word, detail) = match outcome {
            Outcome::Finished(text) => ("finished", short(text)),
            Outcome::Failed(why) => ("failed", short(why)),
            Outcome::Interrupted => ("interrupted", String::new()),
            Outcome::Cut => ("cut", String::new()),
        };
        self.tick_row(id, kind, turn, (word, detail));
    }

    /// A wake-up whose turn never began is no wake-up; that it was claimed is told all the same.
    pub(super) fn given_back(&mut self, id: &str, kind: TimerKind, turn: &TurnNow, why: &str) {
        self.tick_row(id, kind, turn, ("given back", short(why)));
    }

    fn tick_row(
        &mut self,
        id: &str,
        kind: TimerKind,
        turn: &TurnNow,
        (outcome, detail): (&'static str, String),
    ) {
        let Some(live) = self.sessions.get(id) else {
            return;
        };
        let fired = match kind {
            TimerKind::Loop => live.looping.as_ref().map(|one| one.state.row.ticks_fired),
            TimerKind::Heartbeat => live.heartbeat.as_ref().map(|one| one.state.row.fire_count),
        };
        let tick = Tick {
            session_id: live.card.id.clone(),
            kind: kind.word(),
            number: fired.unwrap_or(0),
            missed: turn.missed,
            claimed_at: turn.claimed_at,
            ended_at: self.now.wall,
            outcome,
            detail,
        };
        self.write(Write::Tick(tick));
    }
}
