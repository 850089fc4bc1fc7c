//! The window on SQLite: snapshots for the doctor, connections for the runtime.
//!
//! ```text
//! snapshot(path, pause) -> Result<Snapshot, Damage>     a copy in memory; touches nothing
//! Snapshot::read(|connection| …) -> Result<T, Damage>   runs a reader of a `rows` file over it
//! Snapshot::complaints(most)                            SQLite's quick check
//! Snapshot::facts()                                     size, WAL frames, rolled back, tries
//! Damage                                                missing … truncated … unsteady, typed
//! Columns, Fields                                       SELECT and rows that tolerate other versions
//! Stamp, instant                                        ISO text and epoch seconds as instants
//! connect, connect_or_create, immediate                 connections of the runtime
//! wait                                                  the pause for drivers; tests pass their own
//! ```
//!
//! Pure: `header`, `wal`, `journal`, `damage`. Touching the world: `files`, `snapshot`, `connect`.
//!
//! A snapshot belongs in a process that has none of these databases open by SQLite (the doctor);
//! see [`snapshot()`] for why.

mod columns;
mod connect;
mod damage;
mod files;
pub mod header;
mod instant;
pub mod journal;
mod snapshot;
#[cfg(test)]
pub(crate) mod testing;
pub mod wal;

use std::time::Duration;

pub use columns::{Columns, Fields, rows};
pub use connect::{BUSY, connect, connect_or_create, give, immediate};
pub use damage::{Damage, Part};
pub use instant::{Stamp, instant};
pub use snapshot::{Facts, LARGEST_COPY, Snapshot, snapshot};

/// Blocks this thread for a moment: the pause between two attempts at a snapshot.
#[expect(
    clippy::disallowed_methods,
    reason = "a writer that holds no lock we may ask for cannot be waited for otherwise"
)]
pub fn wait(time: Duration) {
    std::thread::sleep(time);
}
