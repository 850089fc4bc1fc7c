//! What is true of this host: facts as plain data, and the probes that find them.

pub mod bus_probe;
pub mod cgroup;
pub mod container;
pub mod facts;
pub mod liveness;
pub mod locks;
pub mod machine_probe;
pub mod placement;
pub mod proc;
pub mod runtime_dir;
pub mod unit_probe;

pub use facts::{Fact, Facts, Gap, GapKind};
