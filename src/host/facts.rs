//! The facts of a host, as one plain struct: what the decision and every check read. Filled by the
//! probes, once; nothing else touches the world. It can be written down and read back, so that tests
//! judge hosts that they are not on.
//!
//! A fact that could not be had is [`Fact::Unknown`] with its reason. It is never a default.

mod dispatcher;
#[cfg(test)]
pub(crate) mod example;
mod machine;
mod own_name;
mod process;
mod records;
mod unit;

use serde::{Deserialize, Serialize};

use super::runtime_dir::RuntimeDir;
use crate::bus::{LingerMarker, SessionBusReport, SystemBusReport};

pub use dispatcher::{AccountFacts, ChosenHome, Dispatcher, Program, ProgramLookup, Viewpoint};
pub use machine::{
    Boot, CgroupFacts, CgroupLayout, ClockFacts, Container, Machine, Memory, Namespaces,
};
pub use own_name::OwnName;
pub use process::{Descriptors, Environment, FileId, ProcessFacts, Role};
pub use records::{
    GatewayState, HomeRecords, HostRecord, NewestFile, OwnerRecord, Recorded, Stopping,
};
pub use unit::{ManagerKind, UnitCondition, UnitFacts};

/// Something that was looked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact<T> {
    /// It is so.
    Known(T),
    /// It could not be found out.
    Unknown(Gap),
}

/// Why something could not be found out, and what would let it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// What stood in the way.
    pub kind: GapKind,
    /// The same in words, a fragment: `environ of pid 812 belongs to uid 990`.
    pub why: String,
    /// What would let it be found out: a command, or nothing where no command can.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub would_tell: Vec<String>,
}

/// What stood in the way of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GapKind {
    /// The kernel or a mode said no.
    Permission,
    /// No answer within the deadline.
    Deadline,
    /// The source of the fact is not there: no `/proc`, another pid namespace, no bus.
    Hidden,
    /// Anything else that went wrong.
    Failed,
}

impl<T> Fact<T> {
    /// The value, if it is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown(_) => None,
        }
    }

    /// The gap, if it is not.
    pub fn gap(&self) -> Option<&Gap> {
        match self {
            Self::Known(_) => None,
            Self::Unknown(gap) => Some(gap),
        }
    }

    /// An unknown for want of permission.
    pub fn denied(why: impl Into<String>) -> Self {
        Self::unknown(GapKind::Permission, why)
    }

    /// An unknown because its source is not there.
    pub fn hidden(why: impl Into<String>) -> Self {
        Self::unknown(GapKind::Hidden, why)
    }

    /// An unknown of this kind.
    pub fn unknown(kind: GapKind, why: impl Into<String>) -> Self {
        Self::Unknown(Gap {
            kind,
            why: why.into(),
            would_tell: Vec::new(),
        })
    }

    /// The fact about the value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Fact<U> {
        match self {
            Self::Known(value) => Fact::Known(f(value)),
            Self::Unknown(gap) => Fact::Unknown(gap),
        }
    }
}

/// All that is known of the host, the account, and the process that dispatches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The machine, or the container that looks like one.
    pub machine: Machine,
    /// The account that dispatches.
    pub account: AccountFacts,
    /// The account that asks: whose shell this is.
    pub caller: AccountFacts,
    /// The root home that is judged, and how it was chosen.
    pub home: ChosenHome,
    /// What the files of each home under that root say of who serves it: the root's own first.
    pub homes: Vec<HomeRecords>,
    /// What the account's programs recorded of themselves beside the homes, one for each role.
    pub host_records: Fact<Vec<HostRecord>>,
    /// This process: the shell's point of view.
    pub shell: ProcessFacts,
    /// How that shell calls this program.
    #[serde(default)]
    pub own_name: OwnName,
    /// The serve, gateway or worker that this process descends from, by pid: it is asked from inside.
    pub shell_inside: Option<u32>,
    /// The process that dispatches, or would.
    pub dispatcher: Dispatcher,
    /// Other processes of the two programs that serve a home, the dispatcher excepted.
    pub others: Vec<ProcessFacts>,
    /// Units that run, or would run, a dispatcher of this account.
    pub units: Fact<Vec<UnitFacts>>,
    /// Controllers that a scope of the account's manager can use, by what its manager was given.
    pub scope_controllers: Fact<Vec<String>>,
    /// The runtime directory as the dispatcher's environment and uid make it.
    pub runtime_dir: RuntimeDir,
    /// The way to the user manager of the account.
    pub session_bus: SessionBusReport,
    /// The system bus, PID 1 and logind.
    pub system_bus: SystemBusReport,
    /// The marker file of linger.
    pub linger_marker: LingerMarker,
}
