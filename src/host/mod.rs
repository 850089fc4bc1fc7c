//! What is true of this host: facts as plain data, and the probes that find them.

pub mod facts;
pub mod liveness;
pub mod runtime_dir;

pub use facts::{Fact, Facts, Gap, GapKind};
