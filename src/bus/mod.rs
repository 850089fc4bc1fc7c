//! The window on D-Bus: our own dialler, with a deadline for each stage, over zbus.

pub mod report;

pub use report::{
    Door, DoorReport, Failure, FailureKind, LingerMarker, LogindReport, LogindSession, LogindUser,
    ManagerFacts, Placement, SessionBusReport, Stage, StageReport, SystemBusReport,
    UserManagerUnit,
};
