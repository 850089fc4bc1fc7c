//! The machine of a session: `step(event, now)` gives the effects.

use super::event::{Effect, Event};
use super::exempt::{Kept, Kind, is_kept, kept, reasons};
use super::limits::{GRACE_SECONDS, Law, Limits};
use super::moment::Moment;
use super::plan::{Verdict, judge};
use super::reaper::Reaper;
use super::refusal::{Refusal, code};
use super::schedule::{Asked, TimerKind, left};
use super::session::{Client, Owner, Session};
use super::turn::{By, Stop, StopCause, Turn};

impl Session {
    /// Takes an event and says what is to be done. A session that has ended refuses clients and
    /// ignores the rest.
    pub fn step(&mut self, event: Event, law: &Law, now: Moment) -> Vec<Effect> {
        if self.ended.is_some() {
            return match event {
                Event::Attach(_) | Event::UserMessage => vec![Effect::Refuse(self.not_live(now))],
                _ => Vec::new(),
            };
        }
        let woken = event == Event::Wake;
        // Progress only puts the next look off; an early look does no harm.
        let moves = event != Event::Progress;
        let effects = self.take(event, law, now);
        if moves && self.detached.is_some() {
            self.arm(woken, law, now);
        }
        effects
    }

    fn take(&mut self, event: Event, law: &Law, now: Moment) -> Vec<Effect> {
        let at = now.awake;
        match event {
            Event::Attach(client) => self.attach(client, law, now),
            Event::Detach(client) => self.detach(&client, law, now),
            Event::Used(client) => self.used(&client, at),
            Event::UserMessage => match self.leaving() {
                Some(refusal) => vec![Effect::Refuse(refusal)],
                None => self.user_message(at),
            },
            Event::TickDue(kind) => self.tick_due(kind, at),
            Event::TurnBegan => self.progress(true, at),
            Event::Progress => self.progress(false, at),
            Event::TurnNeverBegan | Event::TurnEnded => self.turn_over(now),
            Event::Interrupt => self.interrupt(&law.limits, at),
            Event::PromptAsked => self.prompt_asked(at),
            Event::PromptAnswered => self.prompt_answered(at),
            Event::Started => self.started(),
            Event::Delegated(known) => {
                self.delegated = known;
                Vec::new()
            }
            Event::Schedules(known) => {
                self.schedules = known;
                Vec::new()
            }
            Event::Wake => self.wake(law, now),
            Event::Reap(reaper) => self.reap(reaper, law, now),
            Event::Close(reason) => self.close(reason, law, now),
        }
    }

    fn not_live(&self, now: Moment) -> Refusal {
        let reason = self.ended.as_deref().unwrap_or_default();
        let holder = format!("nobody: it has ended ({reason}); resume it from the store");
        Refusal {
            code: code::NOT_LIVE,
            holder,
            since: now.awake,
            until: None,
        }
    }

    /// Why a client may not come in now.
    fn refusal(&self, law: &Law, now: Moment) -> Option<Refusal> {
        if let Owner::Other(who) = &self.owner {
            let since = self.created_at;
            return Some(Refusal {
                code: code::HELD,
                holder: who.clone(),
                since,
                until: None,
            });
        }
        if let Some(leaving) = self.leaving() {
            return Some(leaving);
        }
        let turn = self.turn.as_ref()?;
        let stop = turn
            .stop
            .filter(|stop| stop.cause == StopCause::ClientGone)?;
        // Settled, but something other than a schedule keeps it: then nothing is gained by waiting,
        // and whoever comes takes the session over.
        if self.is_settled(now.awake)
            && reasons(self, law, now)
                .iter()
                .any(|one| one.keeps && one.kind != Kind::SoleDriver)
        {
            return None;
        }
        let holder = format!("its own turn ({}), which is being stopped", turn.by.words());
        let since = turn.claimed_at;
        Some(Refusal {
            code: code::BUSY,
            holder,
            since,
            until: Some(stop.until),
        })
    }

    fn attach(&mut self, client: String, law: &Law, now: Moment) -> Vec<Effect> {
        if let Some(refusal) = self.refusal(law, now) {
            return vec![Effect::Refuse(refusal)];
        }
        let at = now.awake;
        self.clients.insert(
            client,
            Client {
                since: at,
                last_used: at,
            },
        );
        self.detached = None;
        self.last_used = at;
        if let Some(stop) = self.turn.as_mut().and_then(|turn| turn.stop.as_mut())
            && stop.cause == StopCause::ClientGone
        {
            // The client is there again; what is left is a turn that does not stop.
            *stop = Stop {
                cause: StopCause::Stalled,
                at,
                until: at + law.limits.settle,
            };
        }
        vec![Effect::Attached]
    }

    fn detach(&mut self, client: &str, law: &Law, now: Moment) -> Vec<Effect> {
        if self.clients.remove(client).is_none() || !self.clients.is_empty() {
            return Vec::new();
        }
        self.detach_all(&law.limits, now.awake);
        let mut effects = if self.has_room() {
            vec![Effect::Idle]
        } else {
            Vec::new()
        };
        effects.extend(self.wake(law, now));
        effects
    }

    fn used(&mut self, client: &str, at: f64) -> Vec<Effect> {
        if let Some(client) = self.clients.get_mut(client) {
            client.last_used = at;
            self.last_used = at;
        }
        Vec::new()
    }

    fn user_message(&mut self, at: f64) -> Vec<Effect> {
        self.last_used = at;
        self.quiet_until = None;
        if self.turn.is_some() || self.starting_since.is_some() {
            self.queued += 1;
            return vec![Effect::Queued(self.queued)];
        }
        self.claim(By::User, at)
    }

    fn claim(&mut self, by: By, at: f64) -> Vec<Effect> {
        self.turn = Some(Turn::claim(by, at));
        self.had_turn = true;
        self.last_used = at;
        vec![Effect::StartTurn(by)]
    }

    fn tick_due(&mut self, kind: TimerKind, at: f64) -> Vec<Effect> {
        if self.has_room() {
            self.claim(By::Timer(kind), at)
        } else {
            vec![Effect::Busy(kind)]
        }
    }

    fn progress(&mut self, began: bool, at: f64) -> Vec<Effect> {
        if let Some(turn) = &mut self.turn {
            turn.began |= began;
            turn.progress_at = at;
        }
        Vec::new()
    }

    /// The end of a turn clears what was asked of it, a client-gone interrupt too.
    fn turn_over(&mut self, now: Moment) -> Vec<Effect> {
        if self.turn.take().is_none() {
            return Vec::new();
        }
        self.last_used = now.awake;
        if let Some(detached) = &mut self.detached {
            detached.grace_from = now.awake;
        }
        let mut effects = self.prompt(None);
        if let Some(reason) = self.closing.clone() {
            effects.extend(self.remove(reason));
            return effects;
        }
        effects.extend(self.serve_queue(now.awake));
        effects
    }

    /// The next message of the user, else room for timers.
    fn serve_queue(&mut self, at: f64) -> Vec<Effect> {
        if self.turn.is_some() || self.starting_since.is_some() || self.closing.is_some() {
            return Vec::new();
        }
        if self.queued > 0 {
            self.queued -= 1;
            return self.claim(By::User, at);
        }
        if self.has_room() {
            vec![Effect::Idle]
        } else {
            Vec::new()
        }
    }

    fn interrupt(&mut self, limits: &Limits, at: f64) -> Vec<Effect> {
        self.last_used = at;
        let idle = if limits.idle > 0.0 {
            limits.idle
        } else {
            f64::INFINITY
        };
        self.quiet_until = (!self.clients.is_empty()).then_some(at + idle);
        let dropped = std::mem::take(&mut self.queued);
        let mut effects = self.prompt(None);
        if dropped > 0 {
            effects.push(Effect::DropQueued(dropped));
        }
        effects.extend(self.stop_turn(StopCause::User, limits.settle, at));
        effects
    }

    /// Tells the turn to stop; an order that stands already is not renewed.
    fn stop_turn(&mut self, cause: StopCause, within: f64, at: f64) -> Vec<Effect> {
        match &mut self.turn {
            Some(turn) if turn.stop.is_none() => {
                turn.stop = Some(Stop {
                    cause,
                    at,
                    until: at + within,
                });
                vec![Effect::StopTurn(cause)]
            }
            _ => Vec::new(),
        }
    }

    /// Sets since when a prompt waits; one that nobody will answer any more is denied.
    fn prompt(&mut self, since: Option<f64>) -> Vec<Effect> {
        let waited = !matches!(self.waiting, Asked::Known(None));
        self.waiting = Asked::Known(since);
        if waited && since.is_none() {
            vec![Effect::DenyPrompt]
        } else {
            Vec::new()
        }
    }

    /// A turn that was told to stop gets no answer any more.
    fn prompt_asked(&mut self, at: f64) -> Vec<Effect> {
        match &self.turn {
            Some(turn) if turn.stop.is_none() => self.prompt(Some(at)),
            _ => vec![Effect::DenyPrompt],
        }
    }

    fn prompt_answered(&mut self, at: f64) -> Vec<Effect> {
        if matches!(self.waiting, Asked::Known(None)) {
            return Vec::new();
        }
        self.waiting = Asked::Known(None);
        self.last_used = at;
        self.progress(false, at)
    }

    fn started(&mut self) -> Vec<Effect> {
        if self.starting_since.take().is_none() {
            return Vec::new();
        }
        self.serve_queue(self.last_used)
    }

    fn wake(&mut self, law: &Law, now: Moment) -> Vec<Effect> {
        let mut effects = Vec::new();
        if self
            .starting_since
            .is_some_and(|since| now.awake >= since + law.limits.start)
        {
            effects.extend(self.started());
        }
        if self
            .quiet_until
            .take_if(|until| now.awake >= *until)
            .is_some()
            && self.has_room()
        {
            effects.push(Effect::Idle);
        }
        effects.extend(self.watch_turn(law, now));
        // Not only at the armed moment: maintenance looks at every session, so that a timer that
        // was lost cannot keep one.
        if self.ended.is_none() && self.detached.is_some() {
            effects.extend(self.reap(Reaper::Orphan, law, now));
        }
        effects
    }

    /// Arms the orphan reaper's next look: when the reasons of today have run out. A late wake-up
    /// finds the remainder of the awake grace here again.
    fn arm(&mut self, woken: bool, law: &Law, now: Moment) {
        let possible = self.may_be_orphan(&law.limits);
        let look_at = match kept(self, law, now) {
            Kept::Until(at) => Some(at),
            Kept::Open => None,
            // Judged just now and not taken: not at once again.
            Kept::No if woken => Some(now.awake + GRACE_SECONDS.max(law.limits.grace)),
            Kept::No => Some(now.awake),
        };
        if let Some(detached) = &mut self.detached {
            detached.look_at = look_at.filter(|_| possible);
        }
    }

    /// Stops a silent turn whose client is there, and gives up a turn that did not stop. A turn
    /// whose client is gone is the orphan reaper's.
    fn watch_turn(&mut self, law: &Law, now: Moment) -> Vec<Effect> {
        let stalls_at = self.stalls_at(law);
        let Some(turn) = &self.turn else {
            return Vec::new();
        };
        match turn.stop {
            None if stalls_at.is_some_and(|at| now.awake >= at) => {
                let mut effects = self.prompt(None);
                effects.extend(self.stop_turn(StopCause::Stalled, law.limits.settle, now.awake));
                effects
            }
            Some(stop) if stop.cause != StopCause::ClientGone && now.awake >= stop.until => {
                let mut effects = vec![Effect::AbandonTurn(stop.cause)];
                effects.extend(self.turn_over(now));
                effects
            }
            _ => Vec::new(),
        }
    }

    /// Judges itself once more for a reaper, and obeys.
    fn reap(&mut self, reaper: Reaper, law: &Law, now: Moment) -> Vec<Effect> {
        // A victim of the cap was chosen among all; here only what keeps it can be asked again.
        let verdict = match reaper {
            Reaper::Cap if self.turn.is_some() || is_kept(self, law, now) => Verdict::Keep,
            Reaper::Cap => Verdict::Reap(Reaper::Cap),
            _ => judge(self, reaper, law, now).map_or(Verdict::Keep, |row| row.verdict),
        };
        match verdict {
            Verdict::Keep => Vec::new(),
            Verdict::Reap(Reaper::Orphan) if self.close_on_disconnect => {
                self.remove("ws_disconnect".to_owned())
            }
            Verdict::Reap(_) => self.remove(reaper.end_reason().to_owned()),
            Verdict::Interrupt(_) => {
                let mut effects = self.prompt(None);
                let settle = law.limits.settle;
                effects.extend(self.stop_turn(StopCause::ClientGone, settle, now.awake));
                effects
            }
        }
    }

    fn close(&mut self, reason: String, law: &Law, now: Moment) -> Vec<Effect> {
        if self.turn.is_none() {
            return self.remove(reason);
        }
        let until = now.awake + law.limits.close;
        self.closing.get_or_insert(reason);
        let mut effects = self.prompt(None);
        if let Some(turn) = &mut self.turn {
            let until = turn.stop.map_or(until, |stop| stop.until.min(until));
            turn.stop = Some(Stop {
                cause: StopCause::Closing,
                at: now.awake,
                until,
            });
            effects.push(Effect::StopTurn(StopCause::Closing));
        }
        effects
    }

    /// Removes the session. Its live schedules stay in the store, with why nobody drives them.
    fn remove(&mut self, reason: String) -> Vec<Effect> {
        let mut effects = self.prompt(None);
        if let Some(turn) = self.turn.take() {
            let cause = turn.stop.map_or(StopCause::Closing, |stop| stop.cause);
            effects.push(Effect::AbandonTurn(cause));
        }
        if let Asked::Known(schedules) = &self.schedules {
            effects.extend(left(schedules, &reason).into_iter().map(Effect::NotDriven));
        }
        self.ended = Some(reason.clone());
        self.clients.clear();
        self.detached = None;
        effects.push(Effect::Remove(reason));
        effects
    }
}
