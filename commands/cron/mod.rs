//! `hermes cron …`: one verb, one file.

pub(crate) mod doctor;
pub(crate) mod next;
pub(crate) mod tick;

use clap::{Args, Subcommand};
use hermes::error::Result;
use hermes::runtime::Runtime;

use crate::exit::Exit;

/// Manage scheduled jobs, and find out why one does not fire
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  hermes cron doctor\n  hermes help cron doctor")]
pub(crate) struct Cron {
    #[command(subcommand)]
    verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
enum Verb {
    Doctor(Box<doctor::Doctor>),
    Next(next::Next),
    Tick(tick::Tick),
}

impl Cron {
    /// Runs the verb.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        match self.verb {
            Verb::Doctor(doctor) => doctor.run(runtime),
            Verb::Next(next) => next.run(runtime),
            Verb::Tick(tick) => tick.run(runtime),
        }
    }
}
