//! Placing processes: transient scopes and services. Owns the negotiation of properties and the wait
//! for the job, since a reply to `StartTransientUnit` says nothing yet: a refused move is answered
//! with a job too, which then ends `failed`.

mod attempts;
mod jobs;
mod property;
mod start;

pub use property::{Limits, Scope, Service};
pub use start::{ServiceManager, StartError, Started, UnitEnd};
