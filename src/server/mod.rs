//! The hall: `hermes serve`, one process that hosts sessions, drives their timers, ticks cron and
//! reaps.
//!
//! Theory of operation. One actor, the `hub`, owns all that changes: sessions, clients, timers,
//! turns. It is a plain value with `handle(event, now) -> effects`; it neither waits nor reads nor
//! writes, so that every story about it can be told in a test. `driver` is the few lines around it:
//! it takes the next event, asks the clock, hands both to the hub, carries the effects out, and sleeps
//! until the hub's next deadline. Everything else is an edge that turns the world into events:
//! `socket` and `router` (clients), `turn` (the agent's processes), `keeper` (SQLite, on
//! a thread of its own), `signals`.
//!
//! Nobody polls. There is one table of deadlines, and one look at the clocks a minute for steps of
//! the wall clock. Nobody is waited for: a client that does not read is dropped, a store that does not
//! answer keeps its thread busy and not the hub.
//!
//! What may be trusted: the kernel says who is on the Unix socket, a token says it on TCP. `instance`
//! makes sure that a home has one serve, `guard` that it still has it.

pub mod admission;
pub mod protocol;
pub mod replay;

pub mod client;
mod control;
mod cron_driver;
mod declared;
mod door;
mod driver;
pub mod drivers;
mod farewell;
pub mod foreground;
mod front;
mod guard;
mod hub;
mod instance;
mod judge;
mod keeper;
mod lease_file;
pub mod neighbours;
mod notes;
mod notify;
pub mod offline;
mod outbox;
mod router;
mod run;
pub mod service;
mod settings;
mod signals;
mod socket;
mod stand_by;
mod start;
mod steps;
mod timepiece;
mod turn;
mod unix;

#[cfg(fuzzing)]
pub use hub::trial::story;
pub use run::{Ended, Options, serve};
pub use timepiece::Timepiece;
