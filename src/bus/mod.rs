//! The window on D-Bus: our own dialler, with a deadline for each stage, over zbus.

mod bag;
pub mod client;
pub mod dial;
#[cfg(test)]
pub(crate) mod fake;
mod frame;
pub mod logind;
pub mod report;
mod sasl;
mod socket;
pub mod systemd;
pub mod transient;
pub mod unit;

pub use client::{CallError, Client, Peer, Target};
pub use dial::{Patience, dial, failure_of};
pub use report::{
    Door, DoorReport, Failure, FailureKind, LingerMarker, LogindReport, LogindSession, LogindUser,
    ManagerFacts, Placement, SessionBusReport, Stage, StageReport, SystemBusReport,
    UserManagerUnit,
};
pub use systemd::{InstalledUnit, LoadedUnit};
pub use transient::{Limits, Scope, Service, ServiceManager, StartError, Started, UnitEnd};
pub use unit::{Sensitive, Unit};
