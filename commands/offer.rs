//! `hermes offer`: what the completions of a shell ask while somebody types. It prints the ids and names of
//! jobs, or the ids of runs, that fit the word; it only reads, and says nothing of what it cannot read.

use std::ffi::OsString;

use clap::{Args, Command, CommandFactory as _, FromArgMatches as _};
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
use crate::cron::reference::short;
use crate::exit::Exit;

/// Verbs that name a job.
const OF_JOBS: [&str; 7] = ["show", "edit", "pause", "resume", "remove", "run", "runs"];
/// What tells our own offers from those that the scripts make by themselves.
const TAG: &str = "of this home";
/// The newest runs of each home that are offered.
const RUNS: u32 = 50;

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
        let here = homes.clone();
        let named = candidates(move || jobs(&here));
        let mut command = OF_JOBS.iter().fold(offered(), |command, verb| {
            offering(command, (verb, "job"), &named)
        });
        for (verb, open) in [("logs", false), ("cancel", true)] {
            let here = homes.clone();
            let named = candidates(move || runs(&here, open));
            command = offering(command, (verb, "execution"), &named);
        }
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

fn offering(
    command: Command,
    (verb, argument): (&'static str, &'static str),
    candidates: &ArgValueCandidates,
) -> Command {
    let candidates = candidates.clone();
    command.mut_subcommand("cron", |cron| {
        cron.mut_subcommand(verb, |verb| {
            verb.mut_arg(argument, |argument| argument.add(candidates))
        })
    })
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

fn jobs(homes: &[Home]) -> Vec<String> {
    let stores = homes
        .iter()
        .filter_map(|home| JobsFile::new(home, TimeZone::UTC).read().ok());
    let jobs = stores.flat_map(|store| store.jobs.jobs);
    let words = jobs.flat_map(|job| {
        let job = Job::read(&job);
        let words = [job.id(), job.name.text()].into_iter().flatten();
        words.map(str::to_owned).collect::<Vec<_>>()
    });
    words.collect()
}

/// The ids of the newest runs, as short as people see them, or of those that have not ended.
fn runs(homes: &[Home], open: bool) -> Vec<String> {
    let copies = homes
        .iter()
        .filter_map(|home| db::snapshot(&home.ledger(), &db::wait).ok());
    let rows = copies.filter_map(|copy| {
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
        .map(|row| short(&row.id).to_owned())
        .collect()
}
