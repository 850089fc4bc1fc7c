//! Sessions: who keeps them, and who may reap them.

pub mod rows;
