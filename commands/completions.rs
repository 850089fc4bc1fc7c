//! `hermes completions SHELL`: made from the one definition of the command line.

use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::generate;
use hermes::error::{Context, Kind, Result};
use hermes::runtime::Runtime;

use crate::cli::Cli;
use crate::exit::Exit;

/// Print the completions of a shell
///
/// The script goes to stdout. Install it where the shell looks for completions.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  mkdir -p ~/.local/share/bash-completion/completions
  hermes completions bash >~/.local/share/bash-completion/completions/hermes
  hermes completions zsh | sudo tee /usr/local/share/zsh/site-functions/_hermes
  mkdir -p ~/.config/fish/completions
  hermes completions fish >~/.config/fish/completions/hermes.fish")]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

/// The shells that we have completions for.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shell {
    /// GNU Bash
    Bash,
    /// Z shell
    Zsh,
    /// fish
    Fish,
}

impl Completions {
    /// Prints the script.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let shell = match self.shell {
            Shell::Bash => clap_complete::Shell::Bash,
            Shell::Zsh => clap_complete::Shell::Zsh,
            Shell::Fish => clap_complete::Shell::Fish,
        };
        let mut script = Vec::new();
        generate(shell, &mut offered(), "hermes", &mut script);
        let script =
            String::from_utf8(script).context(Kind::Internal, "the script is no valid UTF-8")?;
        runtime.out.print(&script)?;
        Ok(Exit::OK)
    }
}

/// The command line as people have it: without what only this program calls.
fn offered() -> clap::Command {
    let all = Cli::command();
    let verbs = all.get_subcommands().filter(|verb| !verb.is_hide_set());
    clap::Command::new("hermes")
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_subcommand(true)
        .args(all.get_arguments())
        .subcommands(verbs)
}
