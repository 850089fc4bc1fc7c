//! How a job is launched: one pure decision, and the launchers that follow it.

pub mod derive;
pub mod ending;
pub mod facts;
pub mod flips;
pub mod forecast;
pub mod handover;
pub mod launcher;
pub mod memory;
pub mod mode;
pub mod placement;
mod policy;
pub mod verdict_probe;

pub use derive::{Guess, derive};
pub use facts::DispatchFacts;
pub use flips::{Change, Flip};
pub use forecast::{Forecast, Outlook};
pub use mode::{Decision, Kind, Manager, Mechanism, Mode, Policy, Reason, Survival, decide};

#[cfg(test)]
mod tests;
