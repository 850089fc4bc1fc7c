//! What somebody may have meant who typed a command that there is not.

use clap::error::{ContextKind, ContextValue};
use clap::{Command, CommandFactory as _};

use crate::cli::Cli;

/// The same error with a word that is a verb of other commands told as theirs, and without the names that
/// merely look alike and are not for people.
pub(crate) fn meant(mut error: clap::Error, first: Option<&str>) -> clap::Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let root = Cli::command();
    // Below a command what looks alike there is meant.
    let found = if first == Some(word) {
        verbs(&root, word)
    } else {
        Vec::new()
    };
    let alike = match error.remove(ContextKind::SuggestedSubcommand) {
        Some(ContextValue::Strings(alike)) => alike,
        Some(ContextValue::String(alike)) => vec![alike],
        _ => Vec::new(),
    };
    let is_hidden = |name: &String| {
        let command = root.find_subcommand(name);
        command.is_some_and(Command::is_hide_set)
    };
    let told: Vec<_> = if found.is_empty() {
        alike.into_iter().filter(|name| !is_hidden(name)).collect()
    } else {
        found
    };
    if !told.is_empty() {
        error.insert(
            ContextKind::SuggestedSubcommand,
            ContextValue::Strings(told),
        );
    }
    error
}

/// The commands that have this verb, in whole.
fn verbs(root: &Command, word: &str) -> Vec<String> {
    let groups = root.get_subcommands().filter(|group| !group.is_hide_set());
    let of = |group: &Command| {
        let verb = group.find_subcommand(word)?;
        (!verb.is_hide_set()).then(|| format!("{} {}", group.get_name(), verb.get_name()))
    };
    groups.filter_map(of).collect()
}
