//! Timers and sessions of a home as people and scripts see them. An armed timer that nobody drives is
//! never shown as plain `active`.

use jiff::Timestamp;
use serde::Serialize;

use super::driven::{Driven, driven};
use super::gather::View;
use super::plan::{Plan, plan};
use super::reaper::Reaper;
use super::rows::{Maker, StoredSession};
use super::schedule::Asked;
use super::stored::UNSEEN;
use crate::db;
use crate::timers::args::loop_format_interval;
use crate::timers::heartbeat_args::heartbeat_format_interval;
use crate::timers::heartbeat_row::HeartbeatRow;
use crate::timers::loop_row::{LoopRow, Mode};
use crate::timers::row::Status;

/// A timer in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimerLine {
    /// The stored session.
    pub session: String,
    /// `active`, `stopped`, `paused`, `done`, `cleared`, `not driven`, `cannot tell`, `unreadable`.
    pub state: &'static str,
    /// Why: who drives it, why nobody does, why it is paused or has ended.
    pub because: Option<String>,
    /// The cadence in words.
    pub every: String,
    /// When it is due: RFC 3339; none unless it is armed.
    pub next_due_at: Option<String>,
    /// When it fired last: RFC 3339; none before the first time.
    pub last_fired_at: Option<String>,
    /// How often it fired.
    pub fired: u64,
    /// After how many times it ends or pauses; none is never.
    pub of: Option<u64>,
    /// Whether no limit ends it.
    pub unbounded: bool,
    /// What it asks for.
    pub prompt: String,
    /// The row as it is stored, where it can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<serde_json::Value>,
}

fn rfc3339(seconds: f64) -> Option<String> {
    (seconds > 0.0)
        .then(|| db::instant(seconds))
        .flatten()
        .map(|at| at.to_string())
}

/// The state of a timer and why: a live one is only `active` where somebody drives it.
fn state(status: &Status, why: Option<&str>, driven: &Driven) -> (&'static str, Option<String>) {
    let reason = why.map(str::to_owned);
    match (status, driven) {
        (Status::Active, Driven::By(_)) => ("active", Some(driven.words())),
        (Status::Active, Driven::Not(why)) => ("not driven", Some(why.clone())),
        (Status::Active, Driven::CannotTell(why)) => ("cannot tell", Some(why.clone())),
        (Status::Paused, _) => ("paused", reason),
        (Status::Done, _) => ("done", reason),
        (Status::Cleared, _) => ("cleared", reason),
        (Status::Other(word), _) => ("unknown", Some(format!("its status is '{word}'"))),
    }
}

type State = (&'static str, Option<String>);

/// Under an emergency stop neither serve nor the messaging gateway fires; other processes do not look
/// for one.
fn stopped(view: &View, session: &str, routed: bool, (state, why): State) -> State {
    match (&view.stop, &why) {
        (Some(stop), Some(driven)) if state == "active" && (routed || view.is_ours(session)) => {
            ("stopped", Some(format!("{stop}; {driven}")))
        }
        _ => (state, why),
    }
}

fn unreadable(session: &str, why: &str) -> TimerLine {
    TimerLine {
        session: session.to_owned(),
        state: "unreadable",
        because: Some(why.to_owned()),
        every: String::new(),
        next_due_at: None,
        last_fired_at: None,
        fired: 0,
        of: None,
        unbounded: false,
        prompt: String::new(),
        row: None,
    }
}

/// All loops of the home.
#[must_use]
pub fn loops(view: &View) -> Vec<TimerLine> {
    view.loops
        .iter()
        .map(|stored| match &stored.row {
            Ok(row) => loop_line(view, &stored.session_id, row),
            Err(why) => unreadable(&stored.session_id, &why.to_string()),
        })
        .collect()
}

fn loop_line(view: &View, session: &str, row: &LoopRow) -> TimerLine {
    let why = row
        .paused_reason
        .as_deref()
        .or(row.last_stop_reason.as_deref());
    let known = state(
        &row.status,
        why,
        &driven(session, row.is_routed(), &view.drivers),
    );
    let (state, because) = stopped(view, session, row.is_routed(), known);
    let every = match row.mode {
        Mode::Interval => loop_format_interval(row.interval_seconds),
        _ => format!(
            "self-paced, now {}",
            loop_format_interval(row.current_delay)
        ),
    };
    let armed = row.status == Status::Active;
    TimerLine {
        session: session.to_owned(),
        state,
        because,
        every,
        next_due_at: rfc3339(row.next_due_at).filter(|_| armed),
        last_fired_at: rfc3339(row.last_fired_at),
        fired: row.ticks_fired,
        of: [row.times, row.max_ticks]
            .into_iter()
            .filter(|limit| *limit > 0)
            .min(),
        unbounded: row.is_unbounded(),
        prompt: row.prompt.clone(),
        row: serde_json::from_str(&row.text()).ok(),
    }
}

/// All heartbeats of the home.
#[must_use]
pub fn heartbeats(view: &View) -> Vec<TimerLine> {
    view.heartbeats
        .iter()
        .map(|stored| match &stored.row {
            Ok(row) => heartbeat_line(view, &stored.session_id, row),
            Err(why) => unreadable(&stored.session_id, &why.to_string()),
        })
        .collect()
}

fn heartbeat_line(view: &View, session: &str, row: &HeartbeatRow) -> TimerLine {
    let beat = view.heartbeat(session, row);
    let driven = driven(session, beat.gateway_owned, &view.drivers);
    let known = state(&row.status, beat.paused_reason(), &driven);
    let (state, because) = stopped(view, session, beat.gateway_owned, known);
    let armed = row.status == Status::Active;
    TimerLine {
        session: session.to_owned(),
        state,
        because,
        every: heartbeat_format_interval(i64::try_from(row.interval_seconds).unwrap_or(i64::MAX)),
        next_due_at: rfc3339(beat.due_at(&view.rules)).filter(|_| armed),
        last_fired_at: rfc3339(row.last_fired_at),
        fired: row.fire_count,
        of: None,
        unbounded: view.rules.max_beats == 0,
        prompt: row.prompt.clone(),
        row: serde_json::from_str(&row.text()).ok(),
    }
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionLine {
    /// Its id in the store.
    pub session: String,
    /// Where it lives: `tui`, `desktop`, a messaging platform.
    pub source: String,
    /// Whose it is: `hermes`, this program, or `Hermes Agent`.
    pub owner: &'static str,
    /// Who holds it; none is nobody.
    pub holder: Option<String>,
    /// The newest of start, activity and message: RFC 3339.
    pub last_used_at: Option<String>,
    /// Its live timers, with who drives them or why nobody does.
    pub timers: Vec<String>,
    /// What a person knows it by.
    pub title: Option<String>,
    /// How many messages it has.
    pub messages: i64,
    /// When it ended: RFC 3339; none while it is open.
    pub ended_at: Option<String>,
    /// Why it ended, by the code of the store.
    pub end_reason: Option<String>,
}

/// The open sessions of the home, the newest use first.
#[must_use]
pub fn sessions(view: &View) -> Vec<SessionLine> {
    let judged = view.sessions();
    let mut lines: Vec<(f64, SessionLine)> = view
        .open
        .iter()
        .zip(judged)
        .map(|(stored, session)| {
            let line = SessionLine {
                session: stored.id.clone(),
                source: stored.source.clone(),
                owner: if view.is_ours(&stored.id) {
                    "hermes"
                } else {
                    "Hermes Agent"
                },
                holder: view.holder(&stored.id),
                last_used_at: rfc3339(session.last_used),
                timers: timers(view, &stored.id),
                title: stored.title.clone(),
                messages: stored.message_count,
                ended_at: None,
                end_reason: None,
            };
            (session.last_used, line)
        })
        .collect();
    lines.sort_by(|a, b| b.0.total_cmp(&a.0));
    lines.into_iter().map(|(_, line)| line).collect()
}

/// A session that has ended.
#[must_use]
pub fn past(stored: StoredSession) -> SessionLine {
    let text = |at: Option<Timestamp>| at.map(|at| at.to_string());
    let used = stored.last_activity_at.max(stored.started_at);
    SessionLine {
        session: stored.id,
        source: stored.source,
        owner: match stored.maker {
            Maker::Serve => "hermes",
            Maker::HermesAgent => "Hermes Agent",
        },
        holder: None,
        last_used_at: text(used),
        timers: Vec::new(),
        title: stored.title,
        messages: stored.message_count,
        ended_at: text(stored.ended_at),
        end_reason: stored.end_reason,
    }
}

fn timers(view: &View, id: &str) -> Vec<String> {
    match view.schedules(id) {
        Asked::Known(known) => known
            .iter()
            .filter(|one| one.active)
            .map(|one| {
                let driven = driven(id, one.elsewhere, &view.drivers);
                let known = ("active", Some(driven.words()));
                let known = stopped(view, id, one.elsewhere, known);
                match (known, driven) {
                    (("stopped", Some(words)), Driven::By(_)) => {
                        format!("{} stopped: {words}", one.kind.word())
                    }
                    (_, driven) => format!("{} {}", one.kind.word(), driven.words()),
                }
            })
            .collect(),
        Asked::Unreadable(why) => vec![format!("cannot be read: {why}")],
    }
}

/// What a serve that starts now would do with the sessions of a store, and what cannot be seen from
/// there.
#[must_use]
pub fn sweep(view: &View) -> (Plan, Vec<String>) {
    let mut plan = plan(&view.sessions(), &[Reaper::Sweep], &view.law, view.now);
    for row in &mut plan.rows {
        row.holder = view.holder(&row.stored_id);
    }
    for (why, count) in &view.ended {
        plan.left_out.insert(format!("ended: {why}"), *count);
    }
    let unseen = UNSEEN
        .iter()
        .map(|line| (*line).to_owned())
        .chain(view.gaps.clone())
        .collect();
    (plan, unseen)
}
