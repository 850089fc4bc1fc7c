//! hermes keeps scheduled agent work alive, and tells an operator why it is not.
//!
//! The floor plan. Windows touch the world and hold no opinion; rooms hold opinions; the doors are
//! in `commands/`. Imports run doors → rooms → windows, never up (`tests/house.rs` holds this plan
//! as a test).
//!
//! Windows:
pub mod bounded;
pub mod bus;
pub mod child;
pub mod clock;
pub mod db;
pub mod error;
pub mod fault;
pub mod files;
pub mod home;
pub mod output;
pub mod runtime;

// Rooms, in the order in which they may look at each other.
pub mod config;
pub mod host;

pub mod ledger;

pub mod agent;
pub mod cron;
pub mod dispatch;
pub mod doctor;
pub mod sessions;
pub mod timers;

// The hall.
pub mod server;
