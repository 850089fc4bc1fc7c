//! The hall: what `hermes serve` shows to its clients.

pub mod admission;
pub mod protocol;
pub mod replay;
