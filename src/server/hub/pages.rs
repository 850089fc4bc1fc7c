//! What serve shows to those who watch it: `/readyz`, `/metrics`, the status of the service.

use std::fmt::Write as _;

use serde_json::json;

use super::Hub;
use super::event::{Effect, Page, Shown};
use crate::clock::Now;
use crate::sessions::moment::Moment;

impl Hub {
    /// A page; `stuck` are drivers that do not turn.
    pub(crate) fn page(&self, page: Page, stuck: &[&str], now: Now) -> Shown {
        match page {
            Page::Ready => self.ready(stuck, now),
            Page::Metrics => Shown {
                good: true,
                body: self.metrics(stuck, now),
            },
        }
    }

    fn uptime(&self, now: Now) -> f64 {
        Moment::from(now).awake - self.started.awake
    }

    fn ready(&self, stuck: &[&str], now: Now) -> Shown {
        let loaded = self.keeping.is_loaded();
        let good = loaded && self.keeping.trouble.is_none() && !self.draining && stuck.is_empty();
        let (running, waiting) = self.line.counts();
        let body = json!({
            "ready": good,
            "version": env!("CARGO_PKG_VERSION"),
            "uptime_seconds": self.uptime(now),
            "draining": self.draining,
            "store": {"loaded": loaded, "trouble": self.keeping.trouble},
            "stuck": stuck,
            "emergency_stop": self.stopped,
            "agent": self.settings.agent.as_ref().err(),
            "sessions": self.sessions.len(),
            "clients": self.clients.len(),
            "turns": {"running": running, "waiting": waiting},
            "notes": self.identity.notes,
        });
        Shown {
            good,
            body: body.to_string(),
        }
    }

    fn metrics(&self, stuck: &[&str], now: Now) -> String {
        let (running, waiting) = self.line.counts();
        let armed = |kind: &str| {
            let all = self.sessions.values();
            all.flat_map(|live| live.schedules(&self.settings.rules))
                .filter(|schedule| schedule.kind.word() == kind && schedule.pins())
                .count()
        };
        let count = |number: usize| u32::try_from(number).map_or(f64::INFINITY, f64::from);
        let events = u32::try_from(self.events).map_or(f64::INFINITY, f64::from);
        let gauges = [
            ("hermes_up", 1.0),
            ("hermes_uptime_seconds", self.uptime(now)),
            ("hermes_sessions", count(self.sessions.len())),
            ("hermes_clients", count(self.clients.len())),
            ("hermes_turns_running", count(running)),
            ("hermes_turns_waiting", count(waiting)),
            ("hermes_loops_active", count(armed("loop"))),
            ("hermes_heartbeats_active", count(armed("heartbeat"))),
            ("hermes_deadlines", count(self.deadlines.len())),
            (
                "hermes_store_trouble",
                f64::from(u8::from(self.keeping.trouble.is_some())),
            ),
            ("hermes_drivers_stuck", count(stuck.len())),
            ("hermes_draining", f64::from(u8::from(self.draining))),
        ];
        let mut text = String::new();
        for (name, value) in gauges {
            let _infallible = writeln!(text, "# TYPE {name} gauge\n{name} {value}");
        }
        let name = "hermes_events_total";
        let _infallible = writeln!(text, "# TYPE {name} counter\n{name} {events}");
        text
    }

    /// Tells the service manager in one line what serve does, and clients that lists of sessions have
    /// changed: as promised to them (`change_events`).
    pub(super) fn show_status(&mut self) {
        self.tell_all("sessions.changed", &json!({}));
        if self.draining {
            return;
        }
        let (running, waiting) = self.line.counts();
        let text = format!(
            "{} sessions, {running} turns run, {waiting} wait",
            self.sessions.len()
        );
        self.out.push(Effect::Status(text));
    }
}
