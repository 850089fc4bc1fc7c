//! The agent command: how a prompt becomes a turn.
//!
//! [`settings`] is what the operator wrote, a preset filled in; [`command`] makes an invocation of it;
//! [`answer`] finds the answer in what the agent printed. These three are pure. [`runner`] runs it.

pub mod answer;
pub mod command;
mod events;
pub mod runner;
pub mod settings;

pub use answer::{Answer, Reader, Tail};
pub use command::{Invocation, Turn};
pub use settings::{AgentCommand, Settings};
