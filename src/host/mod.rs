//! What is true of this host: facts as plain data, and the probes that find them.

pub mod bus_probe;
pub mod census_probe;
pub mod cgroup;
pub mod choose;
pub mod command;
pub mod container;
pub mod env_file;
pub mod facts;
pub mod home_of;
pub mod identity_probe;
pub mod liveness;
pub mod liveness_probe;
pub mod locks;
pub mod machine_probe;
pub mod placement;
pub mod probe;
pub mod proc;
pub mod process_probe;
pub mod program_probe;
pub mod records;
pub mod records_probe;
pub mod runtime_dir;
pub mod scheduler_owner;
pub mod unit_file;
pub mod unit_file_probe;
pub mod unit_probe;

pub use choose::Choice;
pub use facts::{Fact, Facts, Gap, GapKind};
pub use probe::{Caller, Observed, complete, observe};
