//! The execution ledger: one row an attempt, one immutable end.
//!
//! ```text
//! Execution, Status            one attempt, as the store has it
//! Incident, IncidentState      a failure that repeats, as the store has it
//! ExecutionFacts, Cause        what is only ours: how an attempt was launched and why it ended
//! facts::SCHEMA, facts::PRUNE  the table of it, beside the other program's in the same store
//! Group                        the process groups that attempts have made, in a table of ours
//! rows::*                      the readers; `Connection` from `db::Snapshot::read`
//! Ledger                       the store open for writing: claim, offer, adopt, finish
//! Slot, Outcome                what became of every slot, in a table of ours
//! Untold                       an end whose job is still to be told, in a table of ours
//! rows::kanban                 whether the Kanban store can be read, and what is in it
//! ```
//!
//! Readers return `Ok(None)` for a table that is not there: absent is not empty.

pub mod execution;
pub mod facts;
pub mod group;
pub mod incident;
mod incidents;
pub mod rows;
pub mod schema;
pub mod signature;
pub mod slot;
pub mod store;
pub mod untold;

pub use execution::{Execution, Status};
pub use facts::{Cause, ExecutionFacts};
pub use group::Group;
pub use incident::{Incident, IncidentState};
pub use slot::{Outcome, Slot, SlotAt, SlotRange};
pub use store::{Claim, Claimed, End, Ledger, Owner};
pub use untold::Untold;
