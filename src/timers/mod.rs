//! Timers of a session: loops and heartbeats.
//!
//! A *loop* runs a prompt again and again, at a fixed cadence or at its own pace; a *heartbeat* asks a
//! session to report at a cadence. Both are small machines over plain data: `step(event, now)` gives
//! the effects, `next_wake()` the moment at which somebody has to look again. Nothing in this room but
//! `rows` and `driver` touches the world.
//!
//! Theory of operation. What is stored in `state.db` is shared with Hermes Agent ([`loop_row`],
//! [`heartbeat_row`]): its rows are read typed and written back as it writes them, and what only we
//! know ([`loop_state::LoopOwn`], [`heartbeat::HeartbeatOwn`]) is kept beside them, never in them. A
//! claim of a tick is a compare-and-swap of the row's text, so that two drivers that look at the same
//! row cannot both win. Fixed cadences live on a grid ([`cadence`]) that neither a restart, a long
//! turn nor a nap of the host moves; slots that passed are told in one wake-up, with their number.
//! [`fuse`] is the last safety: what fires too often or fails too often is paused, and says so.

pub mod args;
pub mod cadence;
mod claim;
pub mod differences;
pub mod digest;
pub mod driver;
pub mod event;
pub mod fuse;
pub mod goal_row;
pub mod heartbeat;
pub mod heartbeat_args;
pub mod heartbeat_row;
mod loop_answer;
pub mod loop_mistaken;
pub mod loop_row;
pub mod loop_state;
pub mod pacing;
pub mod prompt;
pub mod python;
pub mod row;
pub mod rows;

#[cfg(test)]
mod cases_tests;
#[cfg(test)]
mod ends_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod vector_tests;
