//! What somebody may have meant who typed a command that there is not.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};
use clap::{Command, CommandFactory as _};

use crate::cli::Cli;

/// The first word of a command line that is neither an option of every command nor the value of one.
pub(crate) fn first_word(arguments: &[OsString]) -> Option<String> {
    let root = Cli::command();
    let takes_value = |word: &str| {
        root.get_arguments()
            .filter(|option| option.get_action().takes_values())
            .any(|option| {
                let long = word.strip_prefix("--");
                let short = word.strip_prefix('-').and_then(|word| word.parse().ok());
                (long.is_some() && long == option.get_long())
                    || (short.is_some() && short == option.get_short())
            })
    };
    let mut words = arguments.iter().skip(1).filter_map(|word| word.to_str());
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            return Some(word.to_owned());
        }
        if takes_value(word) {
            words.next();
        }
    }
    None
}

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
