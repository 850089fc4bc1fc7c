//! Setting loops and heartbeats, and what is said of them.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::Hub;
use crate::output::human::span;
use crate::sessions::schedule::TimerKind;
use crate::timers::args::{LoopArgs, loop_format_interval};
use crate::timers::driver::Driven;
use crate::timers::heartbeat::Heartbeat;
use crate::timers::heartbeat_args::heartbeat_format_interval;
use crate::timers::loop_row::Mode;
use crate::timers::loop_state::LoopState;
use crate::timers::row::Status;

impl Hub {
    pub(super) fn set_loop(&mut self, id: &str, args: &LoopArgs) {
        let state = LoopState::start(args, &self.settings.rules, self.now.wall);
        let now = self.now.wall;
        let Some(live) = self.sessions.get_mut(id) else {
            return;
        };
        live.preview(&args.prompt);
        let actions = if let Some(driven) = &mut live.looping {
            driven.replace(state, now)
        } else {
            let (driven, actions) = Driven::set(state, None);
            live.looping = Some(driven);
            actions
        };
        self.keep(id, true);
        self.act(id, TimerKind::Loop, actions);
        self.sync_schedules(id);
    }

    pub(super) fn set_heartbeat(&mut self, id: &str, interval: u128, prompt: &str) {
        let now = self.now.wall;
        let mut state = Heartbeat::start(prompt, interval, now);
        let Some(live) = self.sessions.get_mut(id) else {
            return;
        };
        live.preview(prompt);
        let actions = if let Some(driven) = &mut live.heartbeat {
            state.gateway_owned = driven.state.gateway_owned;
            driven.replace(state, now)
        } else {
            let (driven, actions) = Driven::set(state, None);
            live.heartbeat = Some(driven);
            actions
        };
        self.keep(id, true);
        self.act(id, TimerKind::Heartbeat, actions);
        self.sync_schedules(id);
    }

    /// What whoever sets a timer should know.
    pub(super) fn caveats(&self) -> String {
        let mut text = String::new();
        if let Err(why) = &self.settings.agent {
            let _infallible = write!(text, " It cannot run yet: {why}.");
        }
        if let Some(why) = &self.stopped {
            let _infallible = write!(text, " It does not fire now: {why}.");
        }
        if let Some(why) = &self.keeping.trouble {
            let _infallible = write!(text, " It is not stored yet: {why}.");
        }
        if self.identity.desktop {
            text.push_str(
                " This serve belongs to a desktop application: the timer ends with it. A serve of its \
                 own would go on: see hermes service print; hermes serve --passive takes over.",
            );
        }
        text
    }

    /// A moment of the wall clock for people.
    fn at(&self, seconds: f64) -> String {
        let ahead = seconds - self.now.wall;
        if ahead <= 0.0 {
            return "now".to_owned();
        }
        #[expect(clippy::cast_possible_truncation, reason = "`as` saturates")]
        let at = Timestamp::from_second(seconds as i64).unwrap_or(self.wall);
        let at = at.to_zoned_datetime(self.settings.zone.clone());
        format!("at {} (in {})", at.strftime("%H:%M:%S"), span(ahead))
    }

    /// That what was asked of a timer last is still to come, where it is.
    fn still_to_come(&self, is_behind: bool) -> String {
        match &self.keeping.trouble {
            Some(why) if is_behind => {
                format!(
                    " What was asked of it last is not stored yet, and is done when it can be: {why}."
                )
            }
            _ => String::new(),
        }
    }

    /// The loop of a session in words.
    pub(super) fn loop_text(&self, id: &str) -> String {
        let driven = self.sessions.get(id).and_then(|live| live.looping.as_ref());
        let Some(driven) = driven else {
            return "There is no loop in this session.".to_owned();
        };
        let row = &driven.state.row;
        let pace = if row.mode == Mode::Interval {
            format!("every {}", loop_format_interval(row.interval_seconds))
        } else {
            let delay = loop_format_interval(row.current_delay);
            format!("self-paced, {delay} apart now")
        };
        let mut text = format!("Loop {}, {pace}: {}.", row.status.word(), row.prompt.trim());
        let budget = match (row.times, row.max_ticks) {
            (0, 0) => "without any limit".to_owned(),
            (0, most) => format!("of {most}, then it pauses"),
            (times, _) => format!("of {times}"),
        };
        let _infallible = write!(text, " {} wake-ups {budget}.", row.ticks_fired);
        if !row.until.is_empty() {
            let _infallible = write!(text, " It ends when: {}.", row.until);
        }
        match (&row.status, &row.paused_reason, &row.last_stop_reason) {
            (Status::Active, _, _) if row.is_routed() => {
                text.push_str(" A messaging gateway drives it.");
            }
            (Status::Active, _, _) if row.awaiting_response => text.push_str(" A wake-up runs."),
            (Status::Active, _, _) => {
                let _infallible = write!(text, " Next {}.", self.at(row.next_due_at));
            }
            (Status::Paused, Some(why), _) | (_, _, Some(why)) => {
                let _infallible = write!(text, " Because: {why}.");
            }
            _ => {}
        }
        text.push_str(&self.still_to_come(driven.is_behind()));
        text
    }

    /// The heartbeat of a session in words.
    pub(super) fn heartbeat_text(&self, id: &str) -> String {
        let driven = self
            .sessions
            .get(id)
            .and_then(|live| live.heartbeat.as_ref());
        let Some(driven) = driven else {
            return "There is no heartbeat in this session.".to_owned();
        };
        let row = &driven.state.row;
        let interval = i64::try_from(row.interval_seconds).unwrap_or(i64::MAX);
        let mut text = format!(
            "Heartbeat {}, every {}: {}. {} beats.",
            row.status.word(),
            heartbeat_format_interval(interval),
            row.prompt.trim(),
            row.fire_count
        );
        if let Some(why) = driven.state.paused_reason() {
            let _infallible = write!(text, " Because: {why}.");
        }
        if driven.state.gateway_owned {
            text.push_str(" A messaging gateway drives it.");
        } else if row.status == Status::Active {
            let due = driven.state.due_at(&self.settings.rules);
            let _infallible = write!(text, " Next {}.", self.at(due));
        }
        text.push_str(&self.still_to_come(driven.is_behind()));
        text
    }

    /// What a session does, in words.
    pub(super) fn status_text(&self, id: &str) -> String {
        let Some(live) = self.sessions.get(id) else {
            return String::new();
        };
        let mut text = format!(
            "Session {} ({}): {}, {} messages, {} clients.",
            live.card.id,
            id,
            live.status(),
            live.card.message_count,
            live.viewers.len()
        );
        if let Some(turn) = &live.turn {
            let age = span(self.now.wall - turn.claimed_at);
            let _infallible = write!(text, " Its turn ({}) is {age} old.", turn.by.words());
        }
        if live.looping.is_some() {
            let _infallible = write!(text, "\n{}", self.loop_text(id));
        }
        if live.heartbeat.is_some() {
            let _infallible = write!(text, "\n{}", self.heartbeat_text(id));
        }
        text
    }
}
