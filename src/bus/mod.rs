//! The window on D-Bus: our own dialler, with a deadline for each stage, over zbus.

pub mod client;
pub mod dial;
#[cfg(test)]
pub(crate) mod fake;
mod frame;
pub mod report;
mod sasl;
mod socket;

pub use client::{CallError, Client, Peer, Target};
pub use dial::{Patience, dial};
pub use report::{
    Door, DoorReport, Failure, FailureKind, LingerMarker, LogindReport, LogindSession, LogindUser,
    ManagerFacts, Placement, SessionBusReport, Stage, StageReport, SystemBusReport,
    UserManagerUnit,
};
