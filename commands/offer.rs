//! `hermes offer`: what the completions of a shell ask while somebody types. It prints the ids and names of
//! jobs, or the ids of runs and incidents, that fit the word; it only reads, and says nothing of what it cannot read.

use std::collections::HashSet;
use std::ffi::OsString;

use clap::{Arg, Args, Command, CommandFactory as _, FromArgMatches as _};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate, complete};
use hermes::cron::job::Job;
use hermes::cron::jobs_file::JobsFile;
use hermes::db;
use hermes::error::Result;
use hermes::home::Home;
use hermes::ledger::rows;
use hermes::runtime::Runtime;
use jiff::tz::TimeZone;

use crate::cli::{Cli, Global};
use crate::completions::offered;
use crate::cron::incidents::{MOST as KEPT, is_open};
use crate::cron::reference::short;
use crate::exit::Exit;

/// What tells our own offers from those that the scripts make by themselves.
const TAG: &str = "of this home";
/// The newest runs of each home that are offered.
const RUNS: u32 = 50;

/// What of a home an argument names, by the name that its value has in the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// A job: its id or its name.
    Job,
    /// A run, or a job for its newest one.
    Run,
    /// A run that has not ended, or the job that it is of.
    OpenRun,
    /// An open incident.
    Incident,
}

impl Named {
    fn by(verb: &str, argument: &Arg) -> Option<Self> {
        let value = argument.get_value_names()?.first()?;
        match (value.as_str(), verb) {
            ("JOB", _) => Some(Self::Job),
            ("RUN", "cancel") => Some(Self::OpenRun),
            ("RUN", _) => Some(Self::Run),
            ("INCIDENT", _) => Some(Self::Incident),
            _ => None,
        }
    }

    fn words(self, homes: &[Home]) -> Vec<String> {
        match self {
            Self::Job => jobs(homes, |_| true),
            Self::Run => {
                let runs = runs(homes, false).into_iter().map(|(run, _)| run);
                runs.chain(jobs(homes, |_| true)).collect()
            }
            Self::OpenRun => {
                let (runs, of): (Vec<_>, HashSet<_>) = runs(homes, true).into_iter().unzip();
                let jobs = jobs(homes, |id| of.contains(id));
                runs.into_iter().chain(jobs).collect()
            }
            Self::Incident => incidents(homes),
        }
    }
}

/// Changes every argument of the command line that names something of a home.
pub(crate) fn each_named(command: Command, change: &impl Fn(Named, Arg) -> Arg) -> Command {
    let verb = command.get_name().to_owned();
    let command = command.mut_args(|argument| match Named::by(&verb, &argument) {
        Some(named) => change(named, argument),
        None => argument,
    });
    command.mut_subcommands(|verb| each_named(verb, change))
}

/// Print what fits a word of a command line
#[derive(Args, Debug)]
pub(crate) struct Offer {
    /// The words behind the name of the program, up to the one that is typed
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

impl Offer {
    /// Prints one a line.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        for word in self.fitting().unwrap_or_default() {
            runtime.out.line(&word)?;
        }
        Ok(Exit::OK)
    }

    fn fitting(self) -> Option<Vec<String>> {
        let at = self.words.len();
        let words: Vec<OsString> = std::iter::once("hermes".into()).chain(self.words).collect();
        let homes = homes(&words)?;
        let mut command = each_named(offered(), &|named, argument| {
            let here = homes.clone();
            argument.add(candidates(move || named.words(&here)))
        });
        let found = complete(&mut command, words, at, None).ok()?;
        let ours =
            |found: &CompletionCandidate| found.get_tag().is_some_and(|tag| tag.to_string() == TAG);
        let ours = found.into_iter().filter(ours);
        Some(
            ours.map(|found| found.get_value().to_string_lossy().into_owned())
                .collect(),
        )
    }
}

/// The homes that a command line means which nobody has typed to its end.
fn homes(words: &[OsString]) -> Option<Vec<Home>> {
    let typed = Cli::command().ignore_errors(true);
    let typed = typed.try_get_matches_from(words).ok()?;
    let global = Global::from_arg_matches(&typed).ok()?;
    Runtime::from_process(global.options()).ok()?.homes().ok()
}

/// What is looked up only where the word that is typed is of this kind.
fn candidates(look: impl Fn() -> Vec<String> + Send + Sync + 'static) -> ArgValueCandidates {
    ArgValueCandidates::new(move || {
        let mut words = look();
        words.retain(|word| is_plain(word));
        words.sort_unstable();
        words.dedup();
        let words = words.into_iter();
        words
            .map(|word| CompletionCandidate::new(word).tag(Some(TAG.into())))
            .collect()
    })
}

/// Whether every shell takes it for one word, as it stands.
fn is_plain(word: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-+@".contains(letter);
    !word.is_empty() && !word.starts_with('-') && word.chars().all(plain)
}

/// The ids and names of the jobs whose ids are wanted.
fn jobs(homes: &[Home], wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let stores = homes
        .iter()
        .filter_map(|home| JobsFile::new(home, TimeZone::UTC).read().ok());
    let jobs = stores.flat_map(|store| store.jobs.jobs);
    let words = jobs.flat_map(|job| {
        let job = Job::read(&job);
        let id = job.id().filter(|id| wanted(id));
        let words = [id, id.and(job.name.text())].into_iter().flatten();
        words.map(str::to_owned).collect::<Vec<_>>()
    });
    words.collect()
}

fn ledgers(homes: &[Home]) -> impl Iterator<Item = db::Snapshot> {
    let copies = homes.iter();
    copies.filter_map(|home| db::snapshot(&home.ledger(), &db::wait).ok())
}

fn incidents(homes: &[Home]) -> Vec<String> {
    let rows = ledgers(homes).filter_map(|copy| copy.read(|c| rows::incidents(c, KEPT)).ok()?);
    let open = rows.flatten().filter(is_open);
    open.map(|incident| incident.id).collect()
}

/// The ids of the newest runs, as short as people see them, or of those that have not ended; each with its job.
fn runs(homes: &[Home], open: bool) -> Vec<(String, String)> {
    let rows = ledgers(homes).filter_map(|copy| {
        let rows = copy.read(|c| {
            if open {
                rows::open_executions(c, RUNS)
            } else {
                rows::executions(c, RUNS)
            }
        });
        rows.ok().flatten()
    });
    rows.flatten()
        .map(|row| (short(&row.id).to_owned(), row.job_id))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every argument that says in its help that it takes what is offered, with the words of its verb.
    fn told(command: &Command, verbs: &str, found: &mut Vec<(String, Option<Named>)>) {
        for argument in command.get_arguments().filter(|one| !one.is_hide_set()) {
            let help = argument.get_help().map(ToString::to_string);
            let help = help.unwrap_or_default();
            let takes = ["its id or", "The incident"];
            if takes.iter().any(|words| help.contains(words)) && !help.contains("session") {
                let name = format!("{verbs} {}", argument.get_id());
                found.push((name, Named::by(command.get_name(), argument)));
            }
        }
        for verb in command.get_subcommands() {
            told(verb, &format!("{verbs} {}", verb.get_name()), found);
        }
    }

    #[test]
    fn whatever_takes_the_id_of_a_job_a_run_or_an_incident_is_offered_it() {
        let mut found = Vec::new();
        told(&offered(), "", &mut found);
        assert!(found.len() >= 12, "{found:?}");
        for (name, named) in found {
            assert!(named.is_some(), "{name}");
        }
    }
}
