//! The window on D-Bus: our own dialler, with a deadline for each stage, over zbus.
//!
//! ```text
//! dial(door, path, owner, patience) -> (DoorReport, Option<Client>)   every refusal by stage and name
//! Client::unit, unit_of, loaded_units, installed_units                questions; nothing is loaded
//! Client::logind, placement                                           linger, sessions, who is on the bus
//! Client::right                                                       what polkit lets this process do
//! ServiceManager::place, launch, end, stop, forget                    scopes and transient services
//! ```
//!
//! Pure: `report`, `sasl`, `frame`, `bag`, `unit`, `transient/{attempts,property}`. Every call has
//! NO_AUTO_START and a deadline; an environment that a manager tells is never printed.

mod bag;
pub mod client;
pub mod dial;
#[cfg(test)]
pub(crate) mod fake;
mod frame;
#[cfg(test)]
pub(crate) mod hostile;
pub mod logind;
pub mod polkit;
pub mod report;
mod sasl;
mod socket;
pub mod systemd;
pub mod transient;
pub mod unit;

pub use client::{CallError, Client, Peer, Target};
pub use dial::{Patience, dial, failure_of};
pub use polkit::Right;
pub use report::{
    Door, DoorReport, Failure, FailureKind, LingerMarker, LogindReport, LogindSession, LogindUser,
    ManagerFacts, Placement, SessionBusReport, Stage, StageReport, SystemBusReport,
    UserManagerUnit,
};
pub use systemd::{InstalledUnit, LoadedUnit};
pub use transient::{Limits, Scope, Service, ServiceManager, StartError, Started, UnitEnd};
pub use unit::{Condition, Sensitive, Unit};
