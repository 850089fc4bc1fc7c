//! `hermes service …`: units that keep serve running.

use clap::{Args, Subcommand};
use hermes::error::{Error, Kind, Result};
use hermes::home::Source;
use hermes::runtime::Runtime;
use hermes::server::service::{Account, Service as Unit};

use crate::exit::Exit;

/// Print units that keep serve running
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  hermes service print --user
  hermes service print --system")]
pub(crate) struct Service {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Print(Print),
}

/// Print a unit; nothing is installed
#[derive(Args, Debug)]
#[command(after_help = "\
A unit of the account itself runs while somebody is logged in, or always with \
    'loginctl enable-linger'.

Examples:
  mkdir -p ~/.config/systemd/user
  hermes service print --user >~/.config/systemd/user/hermes.service
  hermes service print --system | sudo tee /etc/systemd/system/hermes.service")]
struct Print {
    /// A unit of this account's own manager [default, unless root asks]
    #[arg(long, conflicts_with = "system")]
    user: bool,
    /// A unit of the system's manager that runs as this account
    #[arg(long)]
    system: bool,
}

impl Service {
    /// Runs the verb.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let Verb::Print(print) = self.verb;
        print.run(runtime)
    }
}

impl Print {
    fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let (home, source) = runtime.home()?;
        let own = source == Source::Default && runtime.options.profile.is_none();
        let program = std::env::current_exe().map_err(|error| {
            Error::new(Kind::Io, "failed to learn our own path").with_source(error)
        })?;
        let root = runtime.account.uid == 0;
        let account = (!root).then(|| Account {
            name: runtime.account.label(),
            uid: runtime.account.uid,
        });
        let unit = Unit {
            program,
            home: (!own).then(|| home.path().to_owned()),
            account,
        };
        let system = self.system || (root && !self.user);
        let text = if system { unit.system()? } else { unit.user()? };
        runtime.out.print(&text)?;
        if !root {
            let name = runtime.account.label();
            runtime.out.note(&format!(
                "It runs without anybody logged in, and jobs survive its restarts, once linger is on: \
                 loginctl enable-linger {name}"
            ));
        }
        Ok(Exit::OK)
    }
}
