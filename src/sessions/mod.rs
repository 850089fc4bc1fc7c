//! Sessions: who keeps them, and who may reap them.
//!
//! Theory of operation. A [`session::Session`] is plain data that changes by `step(event, now)`: who
//! is attached, which turn runs, what drives it. Three reapers ([`reaper`]) look at such data and
//! each says whom it would take, for its own reason and without a thought of mercy: the orphan reaper
//! (nobody came back within the grace), the idle reaper (nobody used it for hours), the cap (too many
//! are held). [`plan`] asks [`exempt`] once for every session and lets a claim pass only where nothing
//! keeps it. `session reap --dry-run` prints that plan and the real run executes it, so the two cannot
//! drift apart. A session judges itself once more at the moment of its removal: whoever attached in
//! between has won.
//!
//! Every reason that keeps a session has a bound, in time or by an event, unless somebody lifted the
//! limit with an explicit 0; then it is called `unbounded` wherever it is shown. The one subtle rule:
//! a client-gone interrupt that did not settle in time beats a schedule. Otherwise the session of a
//! wedged turn would be kept by its loop, while no tick could claim a turn and every client that came
//! back would be told to wait ([`session::Session::is_settled`]; `explore_tests` shows the deadlock
//! with the rule switched off).
//!
//! Grace, freshness and idleness are counted in awake time: a night of sleep makes nobody an orphan.
//! Due times of schedules are wall time.

pub mod driven;
pub mod ending;
pub mod event;
pub mod exempt;
pub mod gather;
pub mod lease;
pub mod limits;
pub mod listing;
pub mod moment;
pub mod plan;
pub mod reaper;
pub mod refusal;
pub mod rows;
pub mod schedule;
pub mod session;
pub mod slots;
mod step;
pub mod store;
pub mod stored;
pub mod turn;

#[cfg(test)]
mod cases_tests;
#[cfg(test)]
mod explore_tests;
#[cfg(test)]
mod rules_tests;
#[cfg(test)]
mod story_tests;
#[cfg(test)]
mod world_tests;
