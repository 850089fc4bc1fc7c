//! Fills the part of the evidence that lies in homes. Reads only, takes no lock, makes no file; what
//! it may spend on each source is bounded here.

mod disk;
mod files;
mod gateway;
mod markers;
mod output;
mod stop;

use std::path::PathBuf;

use jiff::Timestamp;

use super::evidence::HomeEvidence;
use crate::home::Home;
use crate::host::Facts;

/// What gathering needs to know beforehand.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The host, as the probes found it.
    pub facts: &'a Facts,
    /// The instant of the report.
    pub now: Timestamp,
}

/// Looks at each home.
#[must_use]
pub fn homes(homes: &[Home], scope: Scope<'_>) -> Vec<HomeEvidence> {
    homes.iter().map(|home| gather(home, scope)).collect()
}

fn gather(home: &Home, scope: Scope<'_>) -> HomeEvidence {
    let mut evidence = HomeEvidence::empty(home.clone());
    evidence.files = files::look(home);
    if !evidence.exists() {
        return evidence;
    }
    evidence.disk = disk::look(&[&home.cron(), home.path()]);
    evidence.ticker = markers::look(&home.cron());
    evidence.gateway = gateway::look(home, registry(scope.facts).as_deref());
    evidence.stop = stop::look(home, scope.now);
    evidence.output = output::look(&home.join("cron/output"));
    evidence
}

/// Where the account's registry of running programs is, by the environment of the dispatcher.
fn registry(facts: &Facts) -> Option<PathBuf> {
    let environ = facts.dispatcher.environ.known();
    let variable = |name| environ.and_then(|environ| environ.get(name));
    if let Some(directory) = variable("HERMES_GATEWAY_LOCK_DIR") {
        return Some(directory.into());
    }
    let state = variable("XDG_STATE_HOME").map(PathBuf::from);
    let base = state.filter(|path| path.is_absolute()).or_else(|| {
        let home = facts.account.home.as_ref()?;
        Some(home.join(".local/state"))
    });
    base.map(|base| base.join("hermes/gateway-locks"))
}
