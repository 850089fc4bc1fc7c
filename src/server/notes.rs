//! What has to be said of this serve, in the log and in `/readyz`, as it is now: limits that are
//! lifted, other programs on the home, what is wrong with the configuration, what waits for a restart.

use std::time::Duration;

use super::neighbours::Neighbours;
use super::settings::Read;
use crate::config::Config;

/// The neighbours are looked for this often.
const LOOK: Duration = Duration::from_secs(60);

/// Settings that are used once, at the start: some by their begin.
const FIXED: [&str; 7] = [
    "serve.host",
    "serve.port",
    "serve.token",
    "serve.cron",
    "dashboard.ws_ping_interval",
    "dashboard.ws_ping_timeout",
    "agent.cron_drain_timeout",
];
/// And those that cron jobs take from the start: turns of sessions have the new ones at once.
const OF_JOBS: [&str; 2] = ["cron.", "agent."];
/// Of those, the ones that are no matter of jobs.
const OF_TURNS: [&str; 3] = [
    "agent.restart_drain_timeout",
    "agent.restart_after_turn_timeout",
    "agent.turn_liveness.timeout_s",
];

/// The notes.
pub(crate) struct Notes {
    neighbours: Neighbours,
    looked: Duration,
    /// The configuration of the start, and the one in force.
    started: Config,
    current: Config,
    others: Vec<String>,
    limits: Vec<String>,
    files: Vec<String>,
    waiting: Vec<String>,
}

impl Notes {
    /// The notes of a start; `now` is awake time.
    pub(crate) fn new(neighbours: Neighbours, read: &Read, now: Duration) -> Self {
        Self {
            others: neighbours.look(),
            neighbours,
            looked: now,
            started: read.config.clone(),
            current: read.config.clone(),
            limits: limits(read),
            files: read.problems.clone(),
            waiting: Vec::new(),
        }
    }

    /// All of them.
    pub(crate) fn all(&self) -> Vec<String> {
        let all = [&self.limits, &self.others, &self.files, &self.waiting];
        all.into_iter().flatten().cloned().collect()
    }

    /// Looks for neighbours, if it is time.
    pub(crate) fn look(&mut self, now: Duration) {
        if now >= self.looked + LOOK {
            self.looked = now;
            self.others = self.neighbours.look();
        }
    }

    /// The configuration was read again; whether it is to be taken. A file that cannot be read is no
    /// order to forget what it said.
    pub(crate) fn take(&mut self, read: &Read) -> bool {
        self.others = self.neighbours.look();
        self.files.clone_from(&read.problems);
        if read.is_broken() {
            self.files
                .push("The settings of before stay in force.".to_owned());
            return false;
        }
        let changed = read.changed(&self.current);
        if changed.is_empty() {
            tracing::info!("The configuration was read again: nothing has changed.");
        } else {
            let changed = changed.join(", ");
            tracing::info!("The configuration was read again. Changed: {changed}.");
        }
        self.current = read.config.clone();
        self.limits = limits(read);
        self.waiting = waiting(
            &read.changed(&self.started),
            self.started.flag("serve.cron"),
        );
        true
    }
}

fn limits(read: &Read) -> Vec<String> {
    let lifted = read.hub.law.limits.lifted();
    let mut notes: Vec<String> = lifted.into_iter().map(str::to_owned).collect();
    if let Err(why) = &read.hub.agent {
        notes.push(format!("Turns cannot run: {why}."));
    }
    notes
}

/// What differs from the start and counts after a restart.
fn waiting(changed: &[&str], cron: bool) -> Vec<String> {
    let fixed = |name: &&&str| FIXED.contains(*name);
    let of_jobs = |name: &&&str| {
        OF_JOBS.iter().any(|begin| name.starts_with(begin)) && !OF_TURNS.contains(*name)
    };
    let list = |names: Vec<&&str>| names.into_iter().copied().collect::<Vec<_>>().join(", ");
    let start = list(changed.iter().filter(fixed).collect());
    let jobs = list(
        changed
            .iter()
            .filter(|name| cron && of_jobs(name) && !fixed(name))
            .collect(),
    );
    let mut notes = Vec::new();
    if !start.is_empty() {
        notes.push(format!("Changed, and in force after a restart: {start}."));
    }
    if !jobs.is_empty() {
        notes.push(format!(
            "Changed, and in force for cron jobs after a restart: {jobs}."
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::waiting;

    #[test]
    fn what_needs_a_restart_is_named() {
        assert!(waiting(&[], true).is_empty());
        let at_once = ["heartbeats.max_beats", "agent.restart_drain_timeout"];
        assert!(waiting(&at_once, true).is_empty());
        let changed = ["cron.max_parallel_jobs", "agent.command", "serve.port"];
        assert_eq!(
            waiting(&changed, true),
            [
                "Changed, and in force after a restart: serve.port.",
                "Changed, and in force for cron jobs after a restart: cron.max_parallel_jobs, \
                 agent.command.",
            ]
        );
        assert_eq!(
            waiting(&changed, false),
            ["Changed, and in force after a restart: serve.port."]
        );
    }
}
