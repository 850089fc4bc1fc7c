//! The reapers: periodic maintenance, the cap, and `session.reap`.

use serde_json::{Value, json};

use super::Hub;
use super::deadlines::Chore;
use super::event::Order;
use super::rpc::Asked;
use crate::server::protocol::{Failure, code};
use crate::sessions::event::Event as SessionEvent;
use crate::sessions::plan::{Plan, Verdict, plan};
use crate::sessions::reaper::Reaper;
use crate::sessions::session::Session;

/// The cap is looked at so many seconds after a session was made or resumed.
const CAP_SECONDS: f64 = 0.1;

impl Hub {
    pub(super) fn cap_soon(&mut self) {
        self.chore(Chore::Cap, CAP_SECONDS);
    }

    /// Looks at every session, so that a timer that was lost cannot keep one, lets the reapers run, and
    /// takes up what another process had.
    pub(super) fn maintain(&mut self) {
        if self.keeping.is_loaded() {
            self.order(Order::Freed);
        }
        let ids: Vec<String> = self.sessions.keys().cloned().collect();
        for id in ids {
            self.step(&id, SessionEvent::Wake);
            self.look_at_timers(&id);
        }
        self.run_reapers(&[Reaper::Idle, Reaper::Cap]);
    }

    fn plan(&self, which: &[Reaper]) -> Plan {
        let sessions: Vec<Session> = self
            .sessions
            .values()
            .map(|live| live.session.clone())
            .collect();
        plan(&sessions, which, &self.settings.law, self.now)
    }

    /// Executes the plan; what is to go and is still there, and why.
    pub(super) fn run_reapers(&mut self, which: &[Reaper]) -> Vec<Value> {
        let rows = self.plan(which).rows;
        let mut left = Vec::new();
        for row in rows {
            if let Verdict::Reap(reaper) | Verdict::Interrupt(reaper) = row.verdict {
                self.step(&row.id, SessionEvent::Reap(reaper));
            }
            if let Some(why) = self.why_left(&row.id, row.verdict) {
                left.push(json!({"session": row.stored_id, "because": why}));
            }
        }
        left
    }

    fn why_left(&self, id: &str, verdict: Verdict) -> Option<&'static str> {
        let live = self.sessions.get(id)?;
        let stopping = live.session.closing.is_some() || live.session.is_client_gone();
        match verdict {
            Verdict::Interrupt(_) => Some("its turn is told to stop; the session goes after it"),
            Verdict::Reap(_) => Some("it could not be removed"),
            Verdict::Keep if stopping => Some("its turn was told to stop, and runs"),
            Verdict::Keep => None,
        }
    }

    /// Sessions that an earlier serve left open are ended, once.
    pub(super) fn sweep_soon(&mut self) {
        let idle = self.settings.law.limits.idle;
        if idle > 0.0 && self.settings.law.limits.grace > 0.0 && self.keeping.is_loaded() {
            self.order(Order::LeftOpen(self.now.wall - idle));
        }
    }

    pub(super) fn reap(&mut self, asked: Asked<'_>) -> Result<Value, Failure> {
        let which: Vec<Reaper> = match asked.params.text("reaper")? {
            None => Reaper::ALL.to_vec(),
            Some(word) => {
                let found = Reaper::ALL.into_iter().find(|reaper| reaper.word() == word);
                let unknown = || {
                    let text = format!("{word} is no reaper: orphan, idle or cap");
                    Failure::new(code::BAD_ARGUMENT, text)
                };
                vec![found.ok_or_else(unknown)?]
            }
        };
        let plan = self.plan(&which);
        let left = if asked.params.flag("dry_run")? {
            Vec::new()
        } else {
            self.run_reapers(&which)
        };
        let shown = serde_json::to_value(&plan)
            .map_err(|error| Failure::new(code::INTERNAL, error.to_string()))?;
        Ok(json!({
            "plan": shown,
            "not_reaped": left,
            "now": {"wall": self.now.wall, "awake": self.now.awake},
        }))
    }
}
