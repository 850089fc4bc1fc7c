//! `hermes completions SHELL`: made from the one definition of the command line.

use clap::{Args, CommandFactory, ValueEnum, ValueHint};
use clap_complete::generate;
use hermes::error::{Context, Kind, Result};
use hermes::runtime::Runtime;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::offer::each_named;

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

impl Shell {
    /// The script, with what asks for the ids and names of jobs and runs: those are not known before
    /// somebody types. What asks is silent where there is no answer.
    fn with_names(self, script: &str) -> String {
        match self {
            Self::Bash => {
                script.replace("complete -F _hermes -o", "complete -F _hermes_named -o") + BASH
            }
            Self::Zsh => {
                let script = script.replace(MARK_IN_ZSH, ":_hermes_named'");
                script.replacen("_hermes() {\n", ZSH, 1)
            }
            Self::Fish => script.to_owned() + FISH,
        }
    }
}

/// Marks what names something of a home: no argument of ours takes a host.
const MARK: ValueHint = ValueHint::Hostname;
/// What the script of zsh has for it.
const MARK_IN_ZSH: &str = ":_hosts'";

const BASH: &str = r#"
_hermes_named() {
    _hermes "$@"
    case " ${COMP_WORDS[*]} " in
        *" cron "*) ;;
        *) return 0 ;;
    esac
    local named
    while IFS= read -r named; do
        COMPREPLY+=("$named")
    done < <("$1" offer -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    return 0
}
"#;

const ZSH: &str = r#"_hermes_named() {
    local -a named
    named=(${(f)"$("${(@Q)hermes_words[1]}" offer -- "${(@Q)hermes_words[2,-1]}" 2>/dev/null)"})
    compadd -a named
}

_hermes() {
    local -a hermes_words=("${(@)words[1,CURRENT]}")
"#;

const FISH: &str = r#"
function __fish_hermes_named
    set -l words (commandline -opc) (commandline -ct)
    command $words[1] offer -- $words[2..-1] 2>/dev/null
end
complete -c hermes -n "__fish_hermes_using_subcommand cron" -a "(__fish_hermes_named)"
"#;

impl Completions {
    /// Prints the script.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let shell = match self.shell {
            Shell::Bash => clap_complete::Shell::Bash,
            Shell::Zsh => clap_complete::Shell::Zsh,
            Shell::Fish => clap_complete::Shell::Fish,
        };
        let mut script = Vec::new();
        let mut command = match self.shell {
            Shell::Zsh => each_named(offered(), &|_, argument| argument.value_hint(MARK)),
            Shell::Bash | Shell::Fish => offered(),
        };
        generate(shell, &mut command, "hermes", &mut script);
        let script =
            String::from_utf8(script).context(Kind::Internal, "the script is no valid UTF-8")?;
        runtime.out.print(&self.shell.with_names(&script))?;
        Ok(Exit::OK)
    }
}

/// The command line as people have it: without what only this program calls.
pub(crate) fn offered() -> clap::Command {
    let all = Cli::command();
    let verbs = all.get_subcommands().filter(|verb| !verb.is_hide_set());
    clap::Command::new("hermes")
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_subcommand(true)
        .args(all.get_arguments())
        .subcommands(verbs)
}
