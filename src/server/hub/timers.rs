//! Loops and heartbeats of live sessions, and the few lines that carry out what the session machine
//! asks for.

use serde_json::json;

use super::Hub;
use super::deadlines::{Chore, Whose};
use super::event::{Effect, Judgement, Order};
use super::live::WakeUp;
use crate::sessions::event::{Effect as SessionEffect, Event as SessionEvent};
use crate::sessions::limits::MAINTENANCE_SECONDS;
use crate::sessions::reaper::Reaper;
use crate::sessions::refusal::Refusal;
use crate::sessions::schedule::{Asked, TimerKind};
use crate::sessions::store::{Write, state};
use crate::sessions::turn::{By, StopCause};
use crate::timers::driver::{Action, STOPPED_SECONDS, Saved};
use crate::timers::event::{NeverBegan, TimerEffect, TimerEvent};

/// Both kinds of timers.
pub(super) const KINDS: [TimerKind; 2] = [TimerKind::Loop, TimerKind::Heartbeat];

impl Hub {
    /// Hands an event to a session, does what it asks for, and sets its deadlines anew.
    pub(super) fn step(&mut self, id: &str, event: SessionEvent) -> Option<Refusal> {
        let live = self.sessions.get_mut(id)?;
        let effects = live.session.step(event, &self.settings.law, self.now);
        let mut refusal = None;
        for effect in effects {
            if let SessionEffect::Refuse(why) = effect {
                refusal = Some(why);
            } else {
                self.obey(id, effect);
            }
        }
        self.arm(id);
        refusal
    }

    fn obey(&mut self, id: &str, effect: SessionEffect) {
        match effect {
            SessionEffect::Attached
            | SessionEffect::Refuse(_)
            | SessionEffect::Queued(_)
            // The agent's command asks nothing, so there is nothing to deny.
            | SessionEffect::DenyPrompt => {}
            SessionEffect::StartTurn(by) => self.claimed(id, by),
            SessionEffect::Busy(kind) => {
                let never = TimerEvent::TurnNeverBegan(NeverBegan::UserFirst);
                self.timer(id, kind, never);
            }
            SessionEffect::Idle => self.look_at_timers(id),
            SessionEffect::StopTurn(cause) => self.stop_turn(id, cause),
            SessionEffect::AbandonTurn(cause) => self.abandoned(id, cause),
            SessionEffect::DropQueued(_) => self.drop_queued(id),
            SessionEffect::NotDriven(what) => {
                let Some(live) = self.sessions.get(id) else {
                    return;
                };
                let write = Write::NotDriven {
                    session_id: live.card.id.clone(),
                    kind: what.kind.word(),
                    reason: Some(what.reason),
                    due_at: what.due_at,
                };
                self.write(write);
            }
            SessionEffect::Remove(reason) => self.remove(id, &reason),
        }
    }

    fn stop_turn(&mut self, id: &str, cause: StopCause) {
        let turn = self.sessions.get(id).and_then(|live| live.turn.as_ref());
        let Some((number, placed)) = turn.map(|turn| (turn.id, turn.placed)) else {
            return;
        };
        self.say(
            id,
            "lifecycle",
            &format!("The turn is told to stop: {}.", cause.words()),
        );
        if placed {
            self.out.push(Effect::StopTurn(number));
        } else {
            // It has no agent yet that could take its time.
            self.abandoned(id, cause);
            self.step(id, SessionEvent::TurnEnded);
        }
    }

    fn drop_queued(&mut self, id: &str) {
        let dropped = self
            .sessions
            .get_mut(id)
            .map(|live| std::mem::take(&mut live.prompts));
        for waiting in dropped.unwrap_or_default() {
            self.write(Write::State(waiting.row, state::INTERRUPTED));
        }
    }

    /// The session is over: its clients learn it, its row says why.
    fn remove(&mut self, id: &str, reason: &str) {
        let Some(mut live) = self.sessions.remove(id) else {
            return;
        };
        self.by_stored.remove(&live.card.id);
        self.deadlines
            .set(Whose::Session(id.to_owned()), None, None);
        self.line.withdraw(id);
        self.replay.forget(id);
        for conn in live.viewers.keys() {
            if let Some(client) = self.clients.get_mut(*conn) {
                client.views.remove(id);
            }
        }
        // The clean-up of a desktop application's session is no end of it: it will be resumed.
        let automatic = Reaper::ALL
            .iter()
            .any(|reaper| reaper.end_reason() == reason)
            || reason == "ws_disconnect";
        if live.stored && !(automatic && live.card.source == "desktop") {
            live.card.ended_at = Some(self.now.wall);
            live.card.end_reason = Some(reason.to_owned());
            self.write(Write::Card(live.card.clone()));
        }
        if live.stored {
            self.order(Order::Lease(live.card.id.clone(), None));
        }
        self.unpark_all(id, reason);
        self.log(format!("The session {} is over ({reason}).", live.card.id));
        let payload = json!({
            "session_id": id,
            "stored_session_id": live.card.id,
            "reason": reason,
        });
        self.tell_all("session.reclaimed", &payload);
        self.show_status();
    }

    /// Sets the deadlines of a session anew.
    pub(super) fn arm(&mut self, id: &str) {
        let Some(live) = self.sessions.get(id) else {
            return;
        };
        let awake = live.session.next_wake(&self.settings.law);
        let wall = live
            .next_fire(&self.settings.rules)
            .filter(|_| !self.draining);
        self.deadlines
            .set(Whose::Session(id.to_owned()), awake, wall);
    }

    /// Something is due.
    pub(super) fn wake(&mut self) {
        for whose in self.deadlines.take_due(self.now) {
            match whose {
                Whose::Session(id) => {
                    self.step(&id, SessionEvent::Wake);
                    self.look_at_timers(&id);
                    self.arm(&id);
                }
                Whose::Chore(Chore::Maintenance) => {
                    self.maintain();
                    self.chore(Chore::Maintenance, MAINTENANCE_SECONDS);
                }
                Whose::Chore(Chore::Cap) => drop(self.run_reapers(&[Reaper::Cap])),
                Whose::Chore(Chore::Life) => self.sign_of_life(),
                Whose::Chore(Chore::Sweep) => self.sweep_soon(),
                Whose::Chore(Chore::Load) => self.order(Order::Load),
            }
        }
    }

    /// Due timers of a session may have their turn, if there is room.
    pub(super) fn look_at_timers(&mut self, id: &str) {
        if self.draining {
            return;
        }
        for kind in KINDS {
            let Some(live) = self.sessions.get_mut(id) else {
                return;
            };
            if self.stopped.is_some() {
                let until = self.now.wall + STOPPED_SECONDS;
                live.looping.iter_mut().for_each(|one| one.put_off(until));
                live.heartbeat.iter_mut().for_each(|one| one.put_off(until));
                continue;
            }
            // A wake-up of the other timer that is being claimed comes first.
            let busy = !live.session.has_room() || live.is_claiming(kind);
            self.timer(id, kind, TimerEvent::Due { busy });
        }
    }

    /// Hands an event to a timer and does what it asks for.
    pub(super) fn timer(&mut self, id: &str, kind: TimerKind, event: TimerEvent) {
        let (rules, now) = (&self.settings.rules, self.now.wall);
        let Some(live) = self.sessions.get_mut(id) else {
            return;
        };
        let actions = match kind {
            TimerKind::Loop => live.looping.as_mut().map(|one| one.step(event, rules, now)),
            TimerKind::Heartbeat => live
                .heartbeat
                .as_mut()
                .map(|one| one.step(event, rules, now)),
        };
        self.act(id, kind, actions.unwrap_or_default());
    }

    /// The store's answer to a save.
    pub(super) fn timer_saved(&mut self, id: &str, kind: TimerKind, saved: Saved) {
        if let Saved::Failed(why) = &saved {
            self.keeping.trouble = Some(why.clone());
        }
        let (rules, now) = (&self.settings.rules, self.now.wall);
        let Some(live) = self.sessions.get_mut(id) else {
            return;
        };
        let actions = match kind {
            TimerKind::Loop => live
                .looping
                .as_mut()
                .map(|one| one.saved(saved, rules, now)),
            TimerKind::Heartbeat => live
                .heartbeat
                .as_mut()
                .map(|one| one.saved(saved, rules, now)),
        };
        self.act(id, kind, actions.unwrap_or_default());
        self.unpark(id, kind);
    }

    pub(super) fn act(&mut self, id: &str, kind: TimerKind, actions: Vec<Action>) {
        if actions.is_empty() {
            return self.arm(id);
        }
        for action in actions {
            match action {
                Action::Save(save) => {
                    let Some(live) = self.sessions.get(id) else {
                        return;
                    };
                    let order = Order::SaveTimer {
                        session: id.to_owned(),
                        stored_id: live.card.id.clone(),
                        kind,
                        save,
                    };
                    self.order(order);
                    self.control_changed(id);
                }
                Action::Do(effect) => self.timer_effect(id, kind, effect),
                Action::Gone(why) => self.timer_gone(id, kind, &why),
            }
        }
        self.sync_schedules(id);
        self.arm(id);
    }

    fn timer_effect(&mut self, id: &str, kind: TimerKind, effect: TimerEffect) {
        match effect {
            TimerEffect::Save => {}
            TimerEffect::Wake { text, missed } => self.wake_up(id, kind, text, missed),
            TimerEffect::Judge { until, answer } => self.out.push(Effect::Judge {
                session: id.to_owned(),
                until,
                answer,
            }),
            TimerEffect::Notice(text) => {
                self.say(id, kind.word(), &text);
                let stored = self.sessions.get(id).map(|live| live.card.id.clone());
                self.log(format!("{} {text}", stored.unwrap_or_default()));
            }
        }
    }

    /// A wake-up was claimed: it becomes a turn, unless the session is busy by now.
    fn wake_up(&mut self, id: &str, kind: TimerKind, text: String, missed: u64) {
        if self.draining {
            return self.timer(id, kind, TimerEvent::TurnNeverBegan(NeverBegan::Stopping));
        }
        let claimed_at = self.now.wall;
        if let Some(live) = self.sessions.get_mut(id) {
            live.wake_up = Some(WakeUp {
                kind,
                text,
                missed,
                claimed_at,
            });
        }
        let note = match missed {
            0 => format!("The {} wakes up.", kind.word()),
            1 => format!("The {} wakes up; 1 was missed before.", kind.word()),
            n => format!("The {} wakes up; {n} were missed before.", kind.word()),
        };
        self.say(id, kind.word(), &note);
        self.step(id, SessionEvent::TickDue(kind));
        if let Some(live) = self.sessions.get_mut(id) {
            live.wake_up = None;
        }
    }

    fn timer_gone(&mut self, id: &str, kind: TimerKind, why: &str) {
        if let Some(live) = self.sessions.get_mut(id) {
            match kind {
                TimerKind::Loop => live.looping = None,
                TimerKind::Heartbeat => live.heartbeat = None,
            }
        }
        self.say(
            id,
            kind.word(),
            &format!("The {} is not driven: {why}.", kind.word()),
        );
    }

    /// Tells the session machine what drives it.
    pub(super) fn sync_schedules(&mut self, id: &str) {
        if let Some(live) = self.sessions.get_mut(id) {
            let schedules = live.schedules(&self.settings.rules);
            let event = SessionEvent::Schedules(Asked::Known(schedules));
            let _no_effects = live.session.step(event, &self.settings.law, self.now);
        }
    }

    pub(super) fn judged(&mut self, judgement: Judgement) {
        let Judgement {
            session,
            met,
            reason,
        } = judgement;
        self.timer(
            &session,
            TimerKind::Loop,
            TimerEvent::Judged { met, reason },
        );
        self.look_at_timers(&session);
    }

    /// Serve is asked to stop: nothing new begins, what waits is given back or stays stored.
    pub(super) fn drain(&mut self) {
        if self.draining {
            return;
        }
        self.draining = true;
        let (running, waiting) = self.line.counts();
        self.log(format!("Serve stops: {running} turns run, {waiting} wait."));
        let ids: Vec<String> = self.sessions.keys().cloned().collect();
        for id in ids {
            let turn = self.sessions.get(&id).and_then(|live| live.turn.as_ref());
            let waits = turn.filter(|turn| !turn.placed).map(|turn| turn.by);
            match waits {
                Some(By::Timer(kind)) => self.withdraw(&id, kind, NeverBegan::Stopping),
                // Its message is stored as one that waits.
                Some(By::User) => self.line.withdraw(&id),
                None => {}
            }
            self.arm(&id);
        }
        let gone = self.identity.backend.id.clone();
        self.write(Write::Gone(gone));
        self.out.push(Effect::Status("draining".to_owned()));
    }

    /// The time for that is over: what still runs is stopped.
    pub(super) fn drain_over(&mut self) {
        let running: Vec<_> = self.line.running().map(|(turn, _)| turn).collect();
        for turn in running {
            self.out.push(Effect::StopTurn(turn));
        }
    }
}
