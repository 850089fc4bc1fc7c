//! `hermes session …`: the sessions of a home, and what the reapers would do with them.

mod attach;
mod close;
mod list;
mod reap;
mod show;
mod title;

use clap::{Args, Subcommand};
use hermes::error::Result;
use hermes::runtime::Runtime;

use crate::exit::Exit;

/// Show sessions, and what the reapers would do with them
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  hermes session list
  hermes session reap --dry-run")]
pub(crate) struct Session {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    List(list::List),
    Show(show::Show),
    Title(title::Title),
    Attach(attach::Attach),
    Close(close::Close),
    Reap(reap::Reap),
}

impl Session {
    /// Runs the verb.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        match self.verb {
            Verb::List(list) => list.run(runtime),
            Verb::Show(show) => show.run(runtime),
            Verb::Title(title) => title.run(runtime),
            Verb::Attach(attach) => attach.run(runtime),
            Verb::Close(close) => close.run(runtime),
            Verb::Reap(reap) => reap.run(runtime),
        }
    }
}
