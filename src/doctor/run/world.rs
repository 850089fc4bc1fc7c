//! The two stages in which the world is looked at, and the confinement between them.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::super::confine::{Sandbox, confine};
use super::super::evidence::{HomeEvidence, Read};
use super::super::gather;
use super::budget::Budget;
use super::{Choice, FACTS_VARIABLE, Request};
use crate::bounded;
use crate::error::{Context, Error, Kind, Result};
use crate::home::{self, Home};
use crate::host::locks::LockTable;
use crate::host::probe::{self, Caller};
use crate::host::{Fact, Facts};
use crate::runtime::Runtime;

/// What other processes may take of the time: reading the environment of one that is stuck in the
/// kernel can hang.
const PROCESSES: Duration = Duration::from_secs(2);

/// The host as it was found, or why it was not, and what confines this process from now on. Where its
/// processes do not let themselves be looked at in time, nothing can be said of who dispatches.
///
/// # Errors
/// When what was named is not there.
pub(super) fn host(
    runtime: &Runtime,
    request: &Request,
    locks: &Arc<LockTable>,
    budget: &Budget,
) -> Result<(std::result::Result<Facts, String>, Sandbox)> {
    if let Some(path) = runtime.environ.text(FACTS_VARIABLE) {
        let facts = recorded(path)?;
        return Ok((Ok(facts), confine()));
    }
    let (choice, caller) = (request.choice.clone(), Caller::of(runtime));
    let seen = bounded::start("processes", move || probe::observe(&choice, &caller));
    let observed = budget.at_most(PROCESSES).wait(seen).transpose()?;
    let sandbox = confine();
    let complete = |observed| probe::complete(observed, locks, budget.left());
    let Some(facts) = observed.map(complete).transpose()? else {
        let hung = || "reading the processes of this host did not end in time".to_owned();
        let why = budget.spent().unwrap_or_else(hung);
        return Ok((Err(why), sandbox.left_behind()));
    };
    named(&request.choice, &facts, budget)?;
    Ok((Ok(facts), sandbox))
}

/// A home that was named must be there: a slip of the pen is no healthy home. What the probes saw of it
/// is asked, not the file system, which may hang.
fn named(choice: &Choice, facts: &Facts, budget: &Budget) -> Result<()> {
    let by_profile = choice.profile.as_deref().is_some_and(|name| name != "all");
    let is_named = choice.home.is_some() || by_profile;
    let path = &facts.home.path;
    let mut homes = facts.homes.iter();
    let seen = homes.find(|home| home.path == *path);
    if !is_named || seen.is_none_or(|home| home.exists != Fact::Known(false)) {
        return Ok(());
    }
    let error = Error::new(
        Kind::NotFound,
        format!("there is no home at '{}'", path.display()),
    );
    if !by_profile {
        return Err(error.with_hint("name the directory that holds cron/"));
    }
    let root = Home::at(path).root();
    let listing = bounded::start("profiles", move || profiles(&root));
    let names = budget.wait(listing).unwrap_or_default();
    Err(error.with_hint(format!("the profiles there are {}", names.join(", "))))
}

/// The names of the profiles under a root.
fn profiles(root: &Home) -> Vec<String> {
    let homes = home::list(root).unwrap_or_default();
    homes.iter().map(|home| home.profile().to_owned()).collect()
}

/// The facts of another host, as a test brought them.
fn recorded(path: &str) -> Result<Facts> {
    let text = fs_err::read_to_string(path).context(Kind::Usage, "failed to read the facts")?;
    serde_json::from_str(&text).context(Kind::Usage, format!("'{path}' holds no facts of a host"))
}

/// What the homes hold.
pub(super) struct Held {
    /// Each of them.
    pub(super) homes: Vec<HomeEvidence>,
    /// How many jobs the home of the dispatcher holds, where that is none of these.
    pub(super) elsewhere: Read<usize>,
}

/// What the homes hold, or those whose reading did not end: a file system may hang.
pub(super) fn homes(
    facts: &Facts,
    now: Timestamp,
    locks: &Arc<LockTable>,
    budget: &Budget,
) -> std::result::Result<Held, Vec<String>> {
    let homes: Vec<_> = facts
        .homes
        .iter()
        .map(|home| Home::at(&home.path))
        .collect();
    let names = homes.iter().map(|home| home.path().display().to_string());
    let names = names.collect();
    let (facts, locks) = (facts.clone(), Arc::clone(locks));
    let reading = bounded::start("homes", move || {
        let scope = gather::Scope {
            facts: &facts,
            locks: &locks,
            now,
        };
        Held {
            elsewhere: gather::elsewhere(&homes, &facts),
            homes: gather::homes(&homes, scope),
        }
    });
    budget.wait(reading).ok_or(names)
}
