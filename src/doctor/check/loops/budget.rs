//! How much of its budget a timer has used: at its end it pauses.

use super::super::Outcome;
use super::super::homes;
use super::{row, subject};
use crate::doctor::evidence::HomeEvidence;
use crate::doctor::evidence::stores::State;
use crate::doctor::finding::{Finding, Remedy};
use crate::timers::heartbeat_row::HeartbeatRow;
use crate::timers::loop_row::LoopRow;
use crate::timers::row::Status;

/// Of a tick budget, in percent.
const NEARLY: u128 = 90;

/// The budget of a loop. One that ends by its own count is no surprise.
pub(super) fn of_loop(home: &HomeEvidence, session: &str, row: &LoopRow) -> Option<Finding> {
    let (fired, most) = (row.ticks_fired, row.max_ticks);
    let words = format!("ticks_fired {fired}, max_ticks {most}");
    budget(home, ("loop", session), (fired, most), words)
        .filter(|_| row.times == 0 || row.times > most)
}

/// The budgets of heartbeats: beats since the user last wrote something.
pub(super) fn of_heartbeats(
    home: &HomeEvidence,
    state: &State,
    outcome: &mut Outcome,
) -> Vec<Finding> {
    let is_armed = |row: &HeartbeatRow| row.status == Status::Active;
    let armed = state.heartbeats.iter().filter(|stored| {
        let row = stored.row.as_ref();
        row.is_ok_and(is_armed)
    });
    let counted: Vec<(&str, u64)> = armed
        .filter_map(|stored| {
            let beats = state.beats.get(&stored.session_id)?;
            Some((stored.session_id.as_str(), *beats))
        })
        .collect();
    if counted.is_empty() {
        return Vec::new();
    }
    if let Some(gap) = homes::unknown(home, "heartbeats.max_beats") {
        outcome.could_not("how many beats a heartbeat may make unheard", &gap);
        return Vec::new();
    }
    let most = home.settings().heartbeats.max_beats.unwrap_or(0);
    let nearly = counted.into_iter().filter_map(|(session, beats)| {
        let words = format!("{beats} beats without a message, heartbeats.max_beats {most}");
        budget(home, ("heartbeat", session), (beats, most), words)
    });
    nearly.collect()
}

fn budget(
    home: &HomeEvidence,
    of: (&'static str, &str),
    (used, most): (u64, u64),
    words: String,
) -> Option<Finding> {
    if most == 0 || u128::from(used) * 100 < u128::from(most) * NEARLY {
        return None;
    }
    let (kind, session) = of;
    Some(
        Finding::new(
            "HM703",
            subject(kind, session),
            format!(
                "the {kind} of session {session} pauses soon: {used} of {most} wake-ups are used"
            ),
        )
        .seen(row(home, of, words))
        .remedy(
            Remedy::user(
                homes::on(home, [kind, "resume"], (session, &[])),
                "arms it again when it has paused",
            )
            .verify(homes::verify(home)),
        ),
    )
}
