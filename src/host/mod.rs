//! What is true of this host: facts as plain data, and the probes that find them.

pub mod runtime_dir;
